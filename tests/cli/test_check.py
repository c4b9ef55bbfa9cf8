"""softlabel check: pages, exit codes, JSON, and the command it proposes."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softlabel import Checkup, check

ROLES = ["--outcome", "days", "--group", "g", "--score", "p", "--controls", "age", "frailty"]
ASKED: dict[str, Any] = {"outcome": "days", "group": "g", "score": "p", "controls": ["age", "frailty"]}
Run = Callable[..., tuple[int, str, str]]
Tables = Callable[..., pa.Table]


def test_check_prints_the_page(run: Run, visits: str) -> None:
    assert run("check", visits, *ROLES) == (0, check([visits], **ASKED).summary(), "")


def test_check_without_roles_describes_the_columns(run: Run, visits: str) -> None:
    code, out, err = run("check", visits)
    assert (code, err) == (0, "")
    assert out == check([visits]).summary()
    assert "could be" in out


def test_the_way_from_files_to_a_verdict(run: Run, visits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each page ends in the command of the next.
    monkeypatch.chdir(Path(visits).parent)
    arguments = ["check", Path(visits).name]
    seen = []
    for _ in range(2):
        code, out, _ = run(*arguments)
        assert code == 0
        command = shlex.split(out.split("\n\n")[-1].split("\n", 1)[1].replace("\\\n", " "))
        assert command[0] == "softlabel"
        arguments = command[1:]
        seen.append(arguments[0])
    assert seen == ["check", "diagnose"]
    code, out, _ = run(*arguments)
    assert code == 0
    assert out.startswith("Verdict")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"p": np.linspace(0, 100, 900)}, "divide it by 100"),
        ({"age": pa.array([None, *range(899)])}, "--missing drop"),
        ({"age": ["old"] * 899 + ["young"], "frailty": pa.array(range(900), pa.int32()).cast(pa.date32())}, "date32"),
        ({"g": np.ones(900)}, "rows without a label"),
    ],
)
def test_data_that_cannot_answer_give_a_page_and_exit_code_1(
    run: Run, table: Tables, tmp_path: Path, changes: dict[str, Any], part: str
) -> None:
    pq.write_table(table(**changes), tmp_path / "bad.parquet")
    code, out, err = run("check", str(tmp_path / "bad.parquet"), *ROLES)
    assert (code, err) == (1, "")
    assert out.startswith("Verdict\n  Not ")
    assert part in out


def test_a_file_that_cannot_be_read_is_said_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "trunc.csv"
    path.write_text("a,b,c\n1,2,3\n4,5\n", encoding="utf-8")
    code, text, _ = run("check", str(path))
    assert (code, text.count("Expected 3 columns, got 2")) == (1, 1)


def test_a_stray_text_among_numbers_is_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n" + "0.0,0.5\n" * 3_000 + "oops,0.3\n", encoding="utf-8")
    _, text, _ = run("check", str(path), "--outcome", "y", "--score", "p")
    assert "such as 'oops'" in text


def test_missing_values_may_be_left_out(run: Run, table: Tables, tmp_path: Path) -> None:
    pq.write_table(table(age=pa.array([None, *range(899)])), tmp_path / "gaps.parquet")
    code, out, _ = run("check", str(tmp_path / "gaps.parquet"), *ROLES, "--missing", "drop")
    assert code == 0
    assert "1 of 900 rows will be left out" in " ".join(out.split())


def test_columns_that_could_be_nothing_give_exit_code_1(run: Run, tmp_path: Path) -> None:
    pq.write_table(pa.table({"name": ["a", "b"]}), tmp_path / "names.parquet")
    assert run("check", str(tmp_path / "names.parquet"))[0] == 1


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["none.parquet"], "none.parquet"),
        (["VISITS", "--outcome", "dayz", "--score", "p"], "Did you mean 'days'?"),
        (["VISITS", "--outcome", "days"], "score=None"),
        (["VISITS", "--controls", "age"], "controls= alone"),
        (["VISITS", *ROLES, "--formula", "age"], "not allowed with"),
        (["VISITS", *ROLES, "--json", "none/c.json"], "Make the folder first"),
        (["VISITS", *ROLES, "--json", "VISITS"], "another file than the data"),
        (["VISITS", "--folds", "3"], "--folds"),
    ],
)
def test_a_wrong_call(run: Run, visits: str, arguments: list[str], part: str) -> None:
    code, out, err = run("check", *(visits if word == "VISITS" else word for word in arguments))
    assert (code, out) == (2, "")
    assert part in err
    assert "Traceback" not in err


def test_json(run: Run, visits: str, tmp_path: Path) -> None:
    expected = check([visits], **ASKED)
    code, out, _ = run("check", visits, *ROLES, "--json", "-")
    assert (code, Checkup.from_json(out)) == (0, expected)
    target = tmp_path / "check.json"
    assert run("check", visits, *ROLES, "--json", str(target))[1] == expected.summary()
    assert Checkup.from_json(target.read_bytes()) == expected


def test_every_role_arrives(run: Run, table: Tables, tmp_path: Path) -> None:
    whole = table(ward=np.arange(900) % 30, w=np.arange(900) % 4, seen=np.arange(900) % 2)
    pq.write_table(whole.slice(120), tmp_path / "rows.parquet")
    pq.write_table(whole.slice(0, 120), tmp_path / "charts.parquet")
    files = [str(tmp_path / name) for name in ("rows.parquet", "charts.parquet")]
    options = ["--outcome", "days", "--score", "p", "--group", "g", "--formula", "ns(age) + frailty"]
    options += [
        "--labelled",
        files[1],
        "--weights",
        "w",
        "--weight-type",
        "frequency",
        "--cluster",
        "ward",
        "--audit",
        "seen",
    ]
    code, out, _ = run("check", files[0], *options, "--threads", "1", "--json", "-")
    asked = {**ASKED, "controls": "ns(age) + frailty", "weights": "w", "weight_type": "frequency", "cluster": "ward"}
    asked["audit"] = "seen"
    expected = check([files[0]], labelled=[files[1]], **asked)
    assert (code, Checkup.from_json(out)) == (0, expected)
    assert run(*shlex.split(" ".join(expected.command))[1:])[0] == 0
