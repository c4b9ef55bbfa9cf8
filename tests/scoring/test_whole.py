"""softlabel score: tables in, the same tables with a score out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from softlabel import ScoreReport, score
from softlabel.cli import main
from softlabel.errors import SourceChanged
from softlabel.report.files import write_whole
from tests.featured import N_UNLABELLED, ROLES

ASKED = ["--features", "x", "w", "site", "--controls", "x", "--group", "g"]


@pytest.fixture
def parquet(table: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=900)
    return tmp_path / "t.parquet"


def test_a_table_comes_back_with_its_score(table: pa.Table, parquet: Path, capsys: Any) -> None:
    target = parquet.parent / "scored.parquet"
    assert main(["score", str(parquet), *ASKED, "--output", str(target)]) == 0
    found = pq.read_table(target)
    assert found.column_names == [*table.column_names, "p", "p_audit"]
    assert found.select(table.column_names).equals(table)
    scores = score(table, **ROLES)
    assert found["p"].to_numpy() == pytest.approx(scores.p, abs=1e-12)
    assert found["p_audit"].to_pylist() == [None] * N_UNLABELLED + [1] * 300
    page = capsys.readouterr().out
    assert page == scores.report.summary()
    assert sorted(path.name for path in parquet.parent.iterdir()) == ["scored.parquet", "t.parquet"]


def test_two_tables_become_one(table: pa.Table, tmp_path: Path, capsys: Any) -> None:
    labelled, unlabelled = table.slice(N_UNLABELLED), table.slice(0, N_UNLABELLED).drop(["g", "truth"])
    pq.write_table(labelled, tmp_path / "l.parquet")
    pa_csv.write_csv(unlabelled, tmp_path / "u.csv")
    target = tmp_path / "scored.csv"
    files = [str(tmp_path / "u.csv"), "--labelled", str(tmp_path / "l.parquet")]
    assert main(["score", *files, *ASKED, "--output", str(target), "--name", "q", "--split", "halves"]) == 0
    found = pa_csv.read_csv(target)
    assert found.column_names == ["y", "x", "w", "site", "ward", "v", "g", "truth", "q", "q_audit"]
    scores = score(labelled, unlabelled, **ROLES, split="halves")
    assert found["q"].to_numpy() == pytest.approx(np.concatenate([scores.unlabelled, scores.labelled]), abs=1e-12)
    assert found["q_audit"].to_pylist() == [None] * N_UNLABELLED + [0] * 300
    assert found["g"].to_pylist() == table["g"].to_pylist()
    capsys.readouterr()
    # And from there to a verdict.
    roles = ["--outcome", "y", "--group", "g", "--score", "q", "--audit", "q_audit", "--controls", "x"]
    assert main(["diagnose", str(target), *roles]) == 0
    assert "Use supervised" in capsys.readouterr().out


def test_the_report_is_written_as_json(parquet: Path, capsys: Any) -> None:
    target = parquet.parent / "s.parquet"
    assert main(["score", str(parquet), *ASKED, "--output", str(target), "--json", "-", "--model", "boosting"]) == 0
    report = ScoreReport.from_json(capsys.readouterr().out)
    assert (report.model, report.unlabelled, report.audit) == ("boosting", N_UNLABELLED, 300)
    assert (
        main(["score", str(parquet), *ASKED, "--output", str(target), "--json", str(target.with_suffix(".json"))]) == 0
    )
    assert json.loads(target.with_suffix(".json").read_text())["calibrator"] == "conditional"


def test_diagnose_makes_a_score_of_features(parquet: Path, capsys: Any) -> None:
    assert main(["diagnose", str(parquet), "--outcome", "y", *ASKED, "--calibrator", "platt"]) == 0
    assert "platt calibration, 5 folds" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("options", "code", "parts"),
    [
        (["--output", "s.txt"], 2, ["a file that ends in .parquet or .csv", "s.txt"]),
        (["--output", ".csv"], 2, ["a file that ends in .parquet or .csv"]),
        (["--output", "s.csv", "--name", ""], 2, ["a name for the score's column"]),
        (["--output", "s.csv", "--group", "site", "--features", "w"], 2, ["the group 'site' to be numeric"]),
        (["--output", "no/s.csv"], 2, ["in a folder that exists"]),
        (["--output", "t.parquet"], 2, ["--output to name another file than the data"]),
        (["--output", "s.csv", "--name", "y"], 2, ["no column 'y' yet", "--name"]),
        (["--output", "s.csv", "--folds", "1"], 2, ["folds to be a whole number"]),
        (["--output", "s.csv", "--model", "given"], 2, ["one feature, the score"]),
        (["--output", "s.csv", "--group", "y"], 1, ["the group 'y' to be 0 or 1"]),
        (["--output", "s.csv", "--json", "t.parquet"], 2, ["--json to name another file than the data"]),
    ],
    ids=str,
)
def test_what_cannot_be_written_is_refused_before_the_work(
    options: list[str], code: int, parts: list[str], parquet: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(parquet.parent)
    assert main(["score", "t.parquet", *ASKED, *options]) == code
    found = capsys.readouterr()
    assert found.out == ""
    assert [part for part in parts if part not in found.err] == []
    assert found.err.count("\n") == 1
    assert [path.name for path in parquet.parent.iterdir()] == ["t.parquet"]


def test_a_failure_half_way_leaves_the_old_file(parquet: Path, capsys: Any) -> None:
    target = parquet.parent / "s.csv"
    target.write_text("old")
    table = pq.read_table(parquet)
    bad = table.set_column(1, "x", pa.array([float("inf") if i == 2_500 else 0.5 for i in range(table.num_rows)]))
    pq.write_table(bad, parquet, row_group_size=100)
    assert main(["score", str(parquet), *ASKED, "--output", str(target)]) == 1
    assert "the column 'x' to be finite" in capsys.readouterr().err
    assert target.read_text() == "old"
    assert len(list(parquet.parent.iterdir())) == 2


def test_data_that_change_are_not_called_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    def write(_: Path) -> None:
        raise SourceChanged(expected="300 labelled rows", found="299", fix="Keep the table as it is")

    with pytest.raises(SourceChanged, match="299"):
        write_whole(tmp_path / "s.csv", write)
    assert list(tmp_path.iterdir()) == []
