"""Errors of the command line: an exit code, one paragraph on stderr, and no file half written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softlabel import Diagnosis, diagnose

ROLES = ["--outcome", "days", "--group", "g", "--score", "p", "--controls", "age", "frailty"]
Run = Callable[..., tuple[int, str, str]]


def _one_paragraph(text: str, *parts: str) -> None:
    """Check that an error is one paragraph under our name, without a traceback, with these parts."""
    assert text.startswith("softlabel: Expected ")
    assert text.count("\n") == 1
    assert text.endswith(".\n")
    assert "Traceback" not in text
    assert [part for part in parts if part not in text] == []


# ----------------------------------------------------------------------------- 1: the data cannot answer


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"p": np.linspace(0, 100, 900)}, ["the score 'p'", "divide it by 100"]),
        ({"g": np.full(900, 2.0)}, ["the group 'g'", "such as 2"]),
        ({"g": np.ones(900)}, ["rows without a label", "none among 900 rows"]),
        ({"days": np.full(900, np.inf)}, ["infinite values in 'days' (900)"]),
        ({"age": pa.nulls(900, pa.float64())}, ["null or NaN in 'age' (900)", "missing='drop'"]),
    ],
)
def test_data_that_cannot_answer(
    run: Run, table: Callable[..., pa.Table], tmp_path: Path, changes: dict[str, Any], parts: list[str]
) -> None:
    pq.write_table(table(**changes), tmp_path / "bad.parquet")
    code, out, err = run("diagnose", str(tmp_path / "bad.parquet"), *ROLES)
    assert (code, out) == (1, "")
    _one_paragraph(err, *parts)


@pytest.mark.parametrize("name", ["broken.parquet", "broken.csv.gz", "empty.csv"])
def test_files_that_cannot_be_read(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"" if "empty" in name else b"PAR1 and no more")
    code, out, err = run("diagnose", str(tmp_path / name), *ROLES)
    assert (code, out) == (1, "")
    _one_paragraph(err, name)


def test_a_csv_whose_later_rows_break_its_types(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    rows = "".join(f"{i % 7},0.5,{'' if i else 1},1,{i % 3}\n" for i in range(200_000))
    path.write_text(f"days,p,g,age,frailty\n{rows}unknown,0.5,,1,2\n", encoding="ascii")
    code, out, err = run("diagnose", str(path), *ROLES)
    assert (code, out) == (1, "")
    _one_paragraph(err, "late.csv", "'days'", "unknown")


# ----------------------------------------------------------------------------------- 2: a wrong call


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    code, out, err = run("diagnose", str(tmp_path / "vistis.parquet"), *ROLES)
    assert (code, out) == (2, "")
    _one_paragraph(err, "vistis.parquet", "Check the spelling")


def test_a_column_that_is_not_there(run: Run, visits: str) -> None:
    code, out, err = run("diagnose", visits, "--outcome", "dayz", "--score", "p")
    assert (code, out) == (2, "")
    _one_paragraph(err, "'dayz'", "Did you mean 'days'?", "'frailty'")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--folds", "1"], "folds=1"),
        (["--seed", "-1"], "seed=-1"),
        (["--level", "95"], "level=95"),
        (["--threads", "0"], "threads=0"),
        (["--covariance", "HC9"], "HC9"),
        (["--basis", "splines"], "basis='splines'"),
        (["--rule", "guess"], "rule='guess'"),
        (["--missing", "keep"], "'keep'"),
        (["--thresholds", "1.5"], "1.5"),
        (["--confident", "0.2"], "0.2"),
        (["--kappa-tolerance", "2"], "kappa_tolerance=2"),
        (["--id", "name"], "'name'"),
    ],
)
def test_an_option_with_a_value_it_cannot_use(run: Run, visits: str, options: list[str], part: str) -> None:
    code, out, err = run("diagnose", visits, *ROLES, *options)
    assert (code, out) == (2, "")
    _one_paragraph(err, part)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "COMMAND"),
        (["diagnoze"], "invalid choice: 'diagnoze' (choose from"),
        (["diagnose"], "required: FILE, --outcome"),
        (["score", "a.csv", "--group", "g"], "required: --features, --output"),
        (["diagnose", "a.csv", "--outcome", "y", "--score", "p", "--seed", "x"], "--seed: invalid int value: 'x'"),
        (["diagnose", "a.csv", "--outcome", "y", "--score", "p", "--frobnicate"], "--frobnicate"),
        (["diagnose", "a.csv", "--outcome", "y", "--score", "p", "--cov", "HC1"], "--cov"),
        (["demo", "extra"], "extra"),
    ],
)
def test_a_call_that_cannot_be_parsed(run: Run, arguments: list[str], part: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("usage: softlabel")
    assert part in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["diagnoze"], "diagnose instead of diagnoze"),
        (["diagnose", "a.csv", "--outcom", "y", "--score", "p"], "--outcome instead of --outcom"),
        (["diagnose", "a.csv", "--outcome", "y", "--score", "p", "--kontrols=x"], "--controls instead of --kontrols"),
        (["check", "a.csv", "--labeled", "b.csv"], "--labelled instead of --labeled"),
    ],
)
def test_what_may_have_been_meant(run: Run, arguments: list[str], meant: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert f"Did you mean {meant}?" in err
    assert err.endswith("--help\n")


def test_nothing_is_meant_by_what_resembles_nothing(run: Run) -> None:
    assert "Did you mean" not in run("diagnose", "a.csv", "--outcome", "y", "--score", "p", "--xyzzy")[2]


def test_folds_that_are_no_number_are_not_told_the_name_of_a_function(run: Run) -> None:
    code, _, err = run("diagnose", "a.csv", "--outcome", "y", "--score", "p", "--folds", "five")
    assert code == 2
    assert "_folds" not in err


def test_json_without_a_name_is_not_ignored(run: Run, visits: str) -> None:
    assert run("diagnose", visits, *ROLES, "--json", "")[0] == 2


# ------------------------------------------------------------------------------- files it writes


def test_json_into_a_folder_that_is_not_there(run: Run, visits: str, tmp_path: Path) -> None:
    target = tmp_path / "none" / "out.json"
    code, _, err = run("diagnose", visits, *ROLES, "--json", str(target))
    assert code == 2
    _one_paragraph(err, str(target), "Make the folder first")
    assert not target.parent.exists()


def test_a_json_that_cannot_be_written_is_refused_before_the_work(
    run: Run, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []

    def counted(*arguments: Any, **options: Any) -> Diagnosis:
        calls.append(arguments)
        return diagnose(*arguments, **options)

    monkeypatch.setattr("softlabel.cli.diagnose", counted)
    code, _, _ = run("diagnose", visits, *ROLES, "--json", str(tmp_path / "none" / "out.json"))
    assert (code, calls) == (2, [])


def test_a_failed_diagnosis_keeps_the_file_of_the_last_one(run: Run, visits: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("precious", encoding="ascii")
    code, _, _ = run("diagnose", visits, *ROLES, "--folds", "1", "--json", str(target))
    assert code == 2
    assert target.read_text(encoding="ascii") == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "visits.parquet"]


def test_a_disk_that_fills_up_leaves_no_half_file(
    run: Run, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_half(path: Path, text: str) -> None:
        path.write_bytes(text[:9].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("softlabel.cli._write_text", write_half)
    code, out, err = run("diagnose", visits, *ROLES, "--json", str(tmp_path / "out.json"))
    assert (code, out) == (2, "")
    _one_paragraph(err, "No space left on device", "out.json")
    assert [path.name for path in tmp_path.iterdir()] == ["visits.parquet"]


@pytest.mark.parametrize("name", ["clinic.txt", "clinic", "none/clinic.csv"])
def test_demo_into_a_file_that_cannot_be(run: Run, tmp_path: Path, name: str) -> None:
    code, _, err = run("demo", "--output", str(tmp_path / name))
    assert code == 2
    _one_paragraph(err, "clinic")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [["--seed", "-1"], ["--output", "clinic.txt"]])
def test_demo_refuses_a_wrong_call_before_its_story(run: Run, options: list[str]) -> None:
    code, out, _ = run("demo", *options)
    assert (code, out) == (2, "")


# ------------------------------------------------------------------------------------ interrupted


def test_interrupted(run: Run, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("softlabel.cli.diagnose", interrupt)
    target = tmp_path / "out.json"
    assert run("diagnose", visits, *ROLES, "--json", str(target)) == (130, "", "softlabel: interrupted\n")
    assert not target.exists()


def test_interrupted_in_the_midst_of_reading(run: Run, visits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("softlabel.influence.analysis.fit_batch", interrupt)
    for threads in ("1", "2"):
        code, out, err = run("diagnose", visits, *ROLES, "--threads", threads)
        assert (code, out, err) == (130, "", "softlabel: interrupted\n")


def _never(*_: object, **__: object) -> Diagnosis:
    raise AssertionError("the work was begun")


@pytest.mark.parametrize("name", ["", "-", "none/out.html", "."])
def test_a_page_that_cannot_be_written_is_refused_before_the_work(
    run: Run, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("softlabel.cli.diagnose", _never)
    code, out, err = run("diagnose", visits, *ROLES, "--html", name)
    assert (code, out) == (2, "")
    _one_paragraph(err)


def test_a_page_replaces_neither_the_data_nor_the_json(
    run: Run, visits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Path(visits).read_bytes()
    code, _, err = run("diagnose", visits, *ROLES, "--html", visits)
    assert code == 2
    _one_paragraph(err, "another file than the data", "diagnosis.html")
    assert Path(visits).read_bytes() == before
    monkeypatch.chdir(tmp_path)
    code, _, err = run("diagnose", visits, *ROLES, "--json", "out", "--html", "./out")
    assert code == 2
    _one_paragraph(err, "two files")
    assert not (tmp_path / "out").exists()


def test_json_never_replaces_the_data(run: Run, visits: str, tmp_path: Path) -> None:
    before = Path(visits).read_bytes()
    pattern = str(tmp_path / "*.parquet")
    for files in (visits, pattern):
        code, _, err = run("diagnose", files, *ROLES, "--json", visits)
        assert code == 2
        _one_paragraph(err, "another file than the data", "diagnosis.json")
    assert Path(visits).read_bytes() == before
