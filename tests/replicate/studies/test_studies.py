"""Studies: targets and audits by least squares, what is said of each, files, and data beside the checkout."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from softlabel.datasets import about, load
from softlabel.errors import InputError
from softlabel.replicate.studies import StudiesFound, labelling, replicate_studies
from softlabel.replicate.studies.cases import CASES, case, found_in
from softlabel.replicate.studies.labelling import Labelling
from softlabel.replicate.studies.says import says
from softlabel.simulate.replication import replicate_one
from tests.datasets.oracle import beside_the_checkout, by_least_squares

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def found() -> StudiesFound:
    return replicate_studies(4, studies=["credit_default", "alphafold"], labelled=400, seed=2, progress=False)


@pytest.mark.parametrize("name", ["credit_default", "nycflights"])
def test_targets_are_least_squares(name: str) -> None:
    one, dataset = case(name), about(name)
    assert len(one) == dataset.complete_rows
    assert one.target == pytest.approx(by_least_squares(load(name, complete=True), dataset.roles), abs=1e-8)
    assert one.target == pytest.approx(dataset.effects.linear, abs=1e-6)


def test_a_labelling_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score given, the numbers are least squares on the rows without labels."""
    one = case("credit_default")
    rng = np.random.default_rng(1)
    p = np.clip(0.5 * one.group + 0.5 * rng.random(len(one)), 0, 1)
    drawn: dict[str, Any] = {}

    def given(_: object, shown: object, hidden: object, __: int) -> object:
        drawn.update(hidden=hidden, shown=shown)
        return p

    monkeypatch.setattr(labelling, "_scored", given)
    values = replicate_one(Labelling("credit_default"), 5, 0)
    at, shown = drawn["hidden"], drawn["shown"]
    assert (len(shown), len(at)) == (2000, 28_000)

    def slope(on: np.ndarray, y: np.ndarray, rows: np.ndarray) -> float:
        return float(np.linalg.lstsq(np.column_stack([on[rows], one.basis[rows]]), y[rows])[0][0])

    h = (p > 0.5).astype(float)
    assert values["soft slope"] == pytest.approx(slope(p, one.group, at), abs=1e-9)
    assert values["hard slope"] == pytest.approx(slope(h, one.group, at), abs=1e-9)
    leak = slope(h, one.outcome, at) - one.target * slope(h, one.group, at)
    assert values["hard leak"] == pytest.approx(leak, abs=1e-9)
    # Folds move a coefficient by some 12/28,000 of itself.
    assert values["soft"] == pytest.approx(slope(p, one.outcome, at), rel=5e-3)
    assert values["hard"] == pytest.approx(slope(h, one.outcome, at), rel=5e-3)
    assert values["kappa"] == pytest.approx(slope(h, p, at), rel=5e-3)
    assert values["supervised"] == pytest.approx(slope(one.group, one.outcome, shown), abs=1e-9)


def test_what_does_not_ship_is_left_out_and_said(found: StudiesFound) -> None:
    assert [one.name for one in found.studies] == ["credit_default"]
    (said,) = found.skipped
    assert said.startswith("alphafold is not shown")
    assert "alphafold_idr.csv.gz" in said
    assert f"{said[:40]}" in " ".join(found.summary().split())


def test_credit_is_where_soft_is_wrong(found: StudiesFound) -> None:
    (credit,) = found.studies
    assert credit.at("soft").value < 2 * credit.target < 0  # type: ignore[operator]
    assert credit.at("exclusion rejected").value == 1.0
    assert "Soft is wrong" in credit.says
    # Every label says why: the slope is near one, and the leak is what soft is off by.
    slope, leak = (credit.at(f"every label: {name}, soft").value for name in ("slope", "leak"))
    assert slope is not None
    assert leak is not None
    # The mean of soft over choices, and that of what it aims at; the folds of the former move it by a thousandth.
    assert credit.at("soft").value == pytest.approx(slope * credit.target + leak, rel=1e-2)
    assert abs(leak) > abs((slope - 1) * credit.target)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula in place of a classifier."""
    monkeypatch.setattr(labelling, "_scored", lambda rows, *_: 0.2 + 0.5 * rows.group)


@pytest.mark.usefixtures("cheap")
def test_seed_and_labels_matter() -> None:
    asked: dict[str, Any] = {"studies": ["credit_default"], "progress": False}
    found = [
        replicate_studies(4, seed=seed, labelled=labelled, **asked).studies[0].at("supervised")
        for seed, labelled in ((2, 400), (3, 400), (2, 500))
    ]
    assert len({one.value for one in found}) == 3


@pytest.mark.usefixtures("cheap")
def test_resumed_is_one_run(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"studies": ["credit_default"], "labelled": 400, "seed": 2, "resume": tmp_path}
    whole = replicate_studies(4, **asked)
    file = tmp_path / "study-credit_default.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:3]), encoding="utf-8")
    assert replicate_studies(4, **asked).studies == whole.studies


def test_files_hold_the_numbers(found: StudiesFound, tmp_path: Path) -> None:
    found.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"studies.{ending}" for ending in ("md", "tex", "csv", "json")
    }
    stored = json.loads((tmp_path / "studies.json").read_text(encoding="utf-8"))
    assert stored == json.loads(found.to_json())
    assert stored["studies"][0]["target"] == found.studies[0].target
    with (tmp_path / "studies.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["measure"]: row["mean"] for row in csv.DictReader(file)}
    assert float(rows["soft"]) == found.studies[0].at("soft").value
    markdown = (tmp_path / "studies.md").read_text(encoding="utf-8")
    assert "Soft is wrong" in markdown
    assert "alphafold is not shown" in markdown


def test_the_page_fits(found: StudiesFound) -> None:
    page = found.summary()
    assert max(map(len, page.splitlines())) <= 96
    assert "every label: the effect" in page
    assert "Not shown" in page
    assert found.seconds["credit_default"] > 0
    assert found == StudiesFound(found.studies, found.skipped)


def test_what_is_said_of_a_score_that_is_right_and_one_on_one_side() -> None:
    right = {
        "soft": 2.0,
        "every label: slope, soft": 1.0,
        "every label: leak, soft": -0.01,
        "kappa": 0.97,
        "hard": 1.9,
        "its interval covers": 0.9,
        "Algorithm 1 takes soft": 0.0,
        "exclusion rejected": None,
    }
    said = says(2.0, right)
    assert "Soft is right" in said
    assert "minus 0.0100" in said
    assert "A threshold is nearly free" in said
    assert "The interval of guarded holds the effect in 90%, Algorithm 1 takes soft in 0%." in said
    said = says(2.0, {**right, "kappa": None, "hard": None, "soft": None})
    assert said.startswith("Soft cannot be computed. No score is on one side")


def test_wrong_names_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="credit_default"):
        replicate_studies(4, studies=["credit"])
    with pytest.raises(InputError, match="boston_marathon_2017"):
        found_in(str(tmp_path))
    with pytest.raises(InputError, match="at least 4"):
        replicate_studies(3)


def test_the_command_line_hands_over_the_folder(run: Run, tmp_path: Path) -> None:
    code, _, err = run("replicate", "studies", "--data", str(tmp_path))
    assert code == 2
    assert "alphafold_idr.csv.gz" in err
    code, _, err = run("replicate", "table3", "--data", str(tmp_path))
    assert code == 2
    assert "no --data for table3" in err


def test_two_letters_of_a_name() -> None:
    table = pa.table({"first_name": ["Anna", "andrew", "Bo"], "ssa_p_female": [1.0, 0.0, 0.2]})
    made = CASES["boston_letters"].made_of
    assert made is not None
    assert made(table, about("boston_marathon").roles).tolist() == [0.5, 0.5, 0.2]


def test_the_marathon_beside_the_checkout() -> None:
    """Soft is right, and two letters of a name lose half of the effect once they are thresholded."""
    folder = str(beside_the_checkout("boston_marathon_2017.csv.gz"))
    found = replicate_studies(4, studies=["boston_marathon", "boston_letters"], data=folder, seed=1, progress=False)
    whole, letters = found.studies
    assert whole.target == pytest.approx(about("boston_marathon").effects.linear, abs=1e-5)
    for one in (whole, letters):
        assert "Soft is right" in one.says
        # Within two of soft's own standard errors of what every label says.
        assert abs((one.at("soft").value or 0) - one.target) < 2 * (one.at("SE soft").value or 0)
    assert (whole.at("kappa").value or 0) > 0.95
    assert (letters.at("kappa").value or 1) < 0.5
    assert (letters.at("hard").value or 99) < 0.5 * letters.target


def test_alphafold_beside_the_checkout() -> None:
    """No controls, and the score tells of the outcome by itself."""
    folder = str(beside_the_checkout("alphafold_idr.csv.gz"))
    (one,) = replicate_studies(4, studies=["alphafold"], data=folder, seed=1, progress=False).studies
    assert one.target == pytest.approx(about("alphafold").effects.linear, abs=1e-6)
    assert "Soft is wrong" in one.says
    assert one.at("exclusion rejected").value == 1.0
