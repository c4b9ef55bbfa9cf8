"""softlabel plan: from numbers, files and a saved diagnosis; pages, JSON, exit codes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from softlabel import Diagnosis, Plan, diagnose, plan

ROLES = ["--outcome", "days", "--group", "g", "--score", "p", "--controls", "age", "frailty"]
NUMBERS = ["--tau", "2", "--noise-sd", "3", "--group-variance", "0.2", "--v-star", "0.05", "--n-unlabelled", "40000"]
Run = Callable[..., tuple[int, str, str]]


def _pilot(visits: str) -> Diagnosis:
    asked = {"outcome": "days", "group": "g", "score": "p", "controls": ["age", "frailty"]}
    return diagnose([visits], **asked, thresholds=(), confident=())  # type: ignore[arg-type]


def test_from_numbers(run: Run) -> None:
    expected = plan(target_se=0.1, tau=2, noise_sd=3, group_variance=0.2, v_star=0.05, n_unlabelled=40_000)
    assert run("plan", "--target-se", "0.1", *NUMBERS) == (0, expected.summary(), "")


def test_every_number_arrives(run: Run) -> None:
    more = [
        "--uncertainty",
        "0.1",
        "--n-labelled",
        "500",
        "--labels",
        "100",
        "200",
        "--richer",
        "0.5",
        "--level",
        "0.9",
    ]
    code, out, err = run("plan", "--target-se", "0.1", *NUMBERS, *more, "--json", "-")
    expected = plan(
        target_se=0.1,
        tau=2,
        noise_sd=3,
        group_variance=0.2,
        v_star=0.05,
        n_unlabelled=40_000,
        uncertainty=0.1,
        n_labelled=500,
        labels=[100, 200],
        richer=[0.5],
        level=0.9,
    )
    assert (code, Plan.from_json(out), err) == (0, expected, "")


def test_from_files(run: Run, visits: str) -> None:
    assert run("plan", visits, *ROLES, "--target-se", "0.1") == (0, plan(_pilot(visits), target_se=0.1).summary(), "")


def test_from_a_saved_diagnosis(run: Run, visits: str, tmp_path: Path) -> None:
    saved, target = tmp_path / "diagnosis.json", tmp_path / "plan.json"
    assert run("diagnose", visits, *ROLES, "--json", str(saved))[0] == 0
    asked = ["plan", "--pilot", str(saved), "--target-se", "0.1", "--n-unlabelled", "100000"]
    code, out, err = run(*asked, "--json", str(target))
    expected = plan(Diagnosis.from_json(saved.read_bytes()), target_se=0.1, n_unlabelled=100_000)
    assert (code, out, err) == (0, expected.summary(), "")
    assert Plan.from_json(target.read_bytes()) == expected


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["--target-se", "0", *NUMBERS], 2, "target_se to be a number above 0"),
        (["--target-se", "0.1"], 2, "a pilot, or the numbers"),
        (["--target-se", "0.1", *NUMBERS[:-4], "--v-star", "0.22"], 2, "at most group_variance"),
        (["--target-se", "0.1", "--pilot", "nowhere.json"], 2, "Check the spelling"),
        (["--target-se", "0.1", "--outcome", "days", *NUMBERS], 2, "--outcome"),
        (["--target-se", "0.1", "--missing", "drop", *NUMBERS], 2, "--missing"),
        (["VISITS", "--target-se", "0.1", "--outcome", "days"], 2, "no --score and no --group"),
        (["VISITS", *ROLES, "--target-se", "0.1", "--pilot", "d.json"], 2, "one pilot"),
        (["VISITS", *ROLES, "--target-se", "0.1", "--tau", "1"], 2, "a pilot and tau="),
        (["VISITS", *ROLES, "--target-se", "0.1", "--json", "VISITS"], 2, "another file than the data"),
        (["--target-se", "0.1", "--pilot", "VISITS", "--json", "VISITS"], 2, "plan.json"),
        (["--target-se", "0.1", "--pilot", "VISITS"], 2, "what diagnose --json wrote in '"),
        (["none.parquet", *ROLES, "--target-se", "0.1"], 2, "none.parquet"),
    ],
)
def test_errors(run: Run, visits: str, arguments: list[str], code: int, part: str) -> None:
    found, out, err = run("plan", *(visits if word == "VISITS" else word for word in arguments))
    assert (found, out) == (code, "")
    assert part in err
    assert err.startswith("softlabel: Expected ")


@pytest.mark.parametrize(
    ("name", "text", "parts"),
    [
        ("clinic.csv", "age,days\n70,3\n", ["malformed", "name it without --pilot"]),
        ("plan.json", "PLAN", ["missing required field", "Check that the file is whole"]),
        ("later.json", '{"schema_version": 99}', ["version 99", "diagnose the data again"]),
    ],
)
def test_a_pilot_that_is_no_diagnosis(run: Run, tmp_path: Path, name: str, text: str, parts: list[str]) -> None:
    path = tmp_path / name
    if text == "PLAN":
        text = plan(target_se=0.1, noise_sd=1, group_variance=0.2).to_json()
    path.write_text(text)
    code, out, err = run("plan", "--pilot", str(path), "--target-se", "0.1")
    assert (code, out) == (2, "")
    assert err.startswith(f"softlabel: Expected what diagnose --json wrote in {str(path)!r}; found ")
    assert [part for part in parts if part not in err] == []


def test_a_target_that_is_reached_already(run: Run, visits: str) -> None:
    code, out, _ = run("plan", visits, *ROLES, "--target-se", "5")
    assert code == 0
    assert "A standard error of 5.00 is reached already: supervised has it with the 120 labelled" in out
    assert "supervised needs" not in out


def test_the_target_is_required(run: Run) -> None:
    code, _, err = run("plan")
    assert code == 2
    assert "--target-se" in err
