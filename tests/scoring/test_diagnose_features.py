"""diagnose without a score: one is made of features, and everything after it is as if it had been there."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from softlabel import DataError, Diagnosis, InputError, diagnose
from softlabel.errors import SourceChanged
from softlabel.scoring import chain, training
from softlabel.scoring.asked import Asked, check_asked
from softlabel.scoring.labelled import Labelled, read_labelled
from softlabel.scoring.training import Trained, train
from softlabel.sources import open_source
from tests.featured import N_UNLABELLED, ROLES

ASKED: dict[str, Any] = {**ROLES, "outcome": "y", "basis": "linear", "thresholds": (0.5,), "confident": ()}


def _by_hand(table: pa.Table, **options: Any) -> pa.Table:
    """Return the table with the score that diagnose would make, made step by step."""
    asked = check_asked(**ROLES, outcome="y", further=("y",), **options)
    labelled = table.slice(N_UNLABELLED)
    trained = train(read_labelled(open_source(labelled).select(asked.roles.to_train), asked.roles), asked)
    p = np.concatenate([trained.scorer.predict(table.slice(0, N_UNLABELLED)), trained.p])
    return table.append_column("p", pa.array(p))


def _points(d: Diagnosis) -> dict[tuple[str, float | None, str | None], float | None]:
    return {(row.name, row.threshold, row.form): row.estimate for row in d.estimates}


@pytest.mark.parametrize("options", [{}, {"calibrator": "platt", "split": "mean"}, {"model": "boosting"}], ids=str)
def test_it_is_score_and_then_diagnose(options: dict[str, Any], table: pa.Table) -> None:
    made = diagnose(table, **ASKED, **options, folds=5)
    # Folds of the regressions are dealt by what tells rows apart, which is not in the table made by hand.
    at_once = diagnose(table, **ASKED, **options, folds=None)
    by_hand = diagnose(_by_hand(table, **options), **{**ASKED, "score": "p", "features": None, "folds": None})
    assert _points(at_once) == pytest.approx(_points(by_hand), rel=1e-9)
    assert made.estimate("soft").estimate == pytest.approx(at_once.estimate("soft").estimate, rel=0.05)
    assert (made.sample.unlabelled, made.sample.labelled) == (by_hand.sample.unlabelled, by_hand.sample.labelled)
    assert made.scoring is not None
    assert by_hand.scoring is None
    assert made.scoring.unlabelled == N_UNLABELLED


def test_mixed_apart_files_and_order_give_the_same(table: pa.Table, tmp_path: Path) -> None:
    first = diagnose(table, **ASKED)
    labelled, unlabelled = table.slice(N_UNLABELLED), table.slice(0, N_UNLABELLED)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=500)
    pa_csv.write_csv(unlabelled.drop(["g"]), tmp_path / "u.csv")
    pa_csv.write_csv(labelled, tmp_path / "l.csv")
    order = pa.array(np.random.default_rng(0).permutation(table.num_rows))
    others = [
        diagnose(unlabelled.drop(["g"]), labelled=labelled, **ASKED),
        diagnose(str(tmp_path / "t.parquet"), **ASKED),
        diagnose(str(tmp_path / "u.csv"), labelled=str(tmp_path / "l.csv"), **ASKED),
        diagnose(table.take(order), **ASKED, threads=2),
    ]
    for other in others:
        # Newton's method in the classifier ends at about 1e-10, and V* divides by a tenth.
        assert _points(other) == pytest.approx(_points(first), rel=1e-8)
        assert other.verdict.interval == pytest.approx(first.verdict.interval, rel=1e-8)
        assert other.scoring == first.scoring or other.scoring is not None
    assert first.sample.source == "pyarrow Table and its labelled rows"
    assert others[2].sample.source == f"{tmp_path / 'u.csv'} and {tmp_path / 'l.csv'}"


def test_the_page_and_the_json_say_how_the_score_was_made(table: pa.Table) -> None:
    d = diagnose(table, **ASKED)
    assert Diagnosis.from_json(d.to_json()) == d
    page = " ".join(d.summary().split())
    assert "The score was made here: logistic, conditional calibration, 5 folds" in page
    assert "Missing values were filled" in page
    (clean,) = [check for check in d.checks if check.code == "audit.clean"]
    assert clean.outcome == "pass"
    assert "made here" in clean.message
    assert (d.settings.score, d.settings.id, d.settings.audit) == ("p", None, None)
    assert d.settings.features == ("x", "w", "site")


def test_names_may_come_from_an_iterator(table: pa.Table) -> None:
    # Regressions and scores are both made of them: the second must not find the iterator empty.
    again = {**ASKED, **{role: iter(ASKED[role]) for role in ("features", "controls")}}
    assert diagnose(table, **again) == diagnose(table, **ASKED)


def test_halves_leave_supervised(table: pa.Table) -> None:
    d = diagnose(table, **ASKED, split="halves")
    assert d.verdict.choice == "supervised"
    assert d.estimate("rectified").estimate is None
    assert d.estimate("soft").estimate is not None
    assert "split='halves'" in (d.estimate("rectified").reason or "")
    assert d.scoring is not None
    assert d.scoring.audit == 0


def test_clusters_weights_and_ids_go_all_the_way(table: pa.Table) -> None:
    d = diagnose(table, **ASKED, cluster="ward", weights="v")
    assert d.sample.clusters == 40
    assert d.settings.weights == "v"
    named = table.append_column("row", pa.array(range(table.num_rows)))
    d = diagnose(named, **ASKED, id="row")
    assert (d.settings.id, d.sample.folds_by) == ("row", "id")
    # A column that happens to be called as one that is made is no obstacle.
    taken = table.append_column("p", table["y"])
    assert diagnose(taken, **{**ASKED, "features": ["x", "w", "p"]}).settings.score == "score"


def test_missing_controls_and_outcomes_are_dropped_and_counted(table: pa.Table) -> None:
    outcome = [None if i % 50 == 0 else value for i, value in enumerate(table["y"].to_pylist())]
    x = [None if i % 70 == 3 else value for i, value in enumerate(table["x"].to_pylist())]
    other = table.set_column(0, "y", pa.array(outcome)).set_column(1, "x", pa.array(x))
    with pytest.raises(DataError, match="no missing values"):
        diagnose(other, **ASKED)
    d = diagnose(other, **ASKED, missing="drop")
    gone = sum(a is None or b is None for a, b in zip(outcome, x, strict=True))
    assert d.sample.dropped == gone
    assert d.sample.rows == table.num_rows
    assert d.scoring is not None
    assert ("x", x.count(None)) in [(gap.name, gap.value) for gap in d.scoring.missing]


def test_labels_that_come_while_it_is_read(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    pa_csv.write_csv(table, path)
    trains = training.train

    def meanwhile(labelled: Labelled, asked: Asked) -> Trained:
        grown = table.set_column(4, "g", pa.array([1, *table["g"].to_pylist()[1:]]))
        pa_csv.write_csv(grown, path)
        return trains(labelled, asked)

    monkeypatch.setattr(chain, "train", meanwhile)
    with pytest.raises(SourceChanged, match=r"the 300 labelled rows that trained the score .* found 301"):
        diagnose(str(path), **ASKED)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"features": None}, ["a score, or features to make one of", "neither"]),
        ({"group": None}, ["a group to train a classifier of it"]),
        ({"audit": "site"}, ["no audit= where the score is made here"]),
        ({"features": ["x", "y"]}, ["features without the group, the outcome", "'y', the outcome"]),
        ({"features": ["x"]}, ["features beyond the controls", "V* = 0"]),
        ({"features": ["x", "ww"]}, ["a column 'ww'", "Did you mean"]),
        ({"model": "forrest"}, ["Did you mean 'forest'"]),
        ({"calibrator": "plat"}, ["Did you mean 'platt'"]),
        ({"split": "halve"}, ["Did you mean 'halves'"]),
    ],
    ids=str,
)
def test_a_wrong_call_is_said(options: dict[str, Any], parts: list[str], table: pa.Table) -> None:
    with pytest.raises(InputError) as caught:
        diagnose(table, **{**ASKED, **options})
    assert [part for part in parts if part not in str(caught.value)] == []


def test_nothing_is_left_behind(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    diagnose(table, **ASKED)
    with pytest.raises(DataError):
        diagnose(table.set_column(0, "y", pa.array([float("inf")] * table.num_rows)), **ASKED)
    assert list(tmp_path.iterdir()) == []
