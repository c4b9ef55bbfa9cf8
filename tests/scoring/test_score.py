"""score: nothing leaks, every row is scored by the models it should be, and the same whatever the order of rows."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from softlabel import InputError, Scores, diagnose, score
from softlabel.scoring import scorer
from softlabel.scoring.calibrators import fit_calibrator
from softlabel.scoring.curves import Curves
from tests.featured import N_LABELLED, N_UNLABELLED, ROLES, made

Floats = NDArray[np.float64]


def _apart(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    return table.slice(N_UNLABELLED), table.slice(0, N_UNLABELLED)


FOLD = np.arange(N_LABELLED) % 4


# ------------------------------------------------------------------------------------------ nothing leaks


@pytest.mark.parametrize("model", ["logistic", "forest", "boosting"])
@pytest.mark.parametrize("calibrator", ["none", "platt", "isotonic", "conditional"])
def test_a_label_moves_no_score_of_its_own_fold(model: str, calibrator: Any, table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    group = np.asarray(labelled["g"])
    turned = group.copy()
    own = np.flatnonzero(FOLD == 1)[0]
    turned[own] = 1 - turned[own]
    kept = {"model": model, "calibrator": calibrator, "split": FOLD, "folds": 4}
    before = score(labelled, unlabelled.slice(0, 50), **ROLES, **kept)
    other = labelled.set_column(labelled.schema.get_field_index("g"), "g", pa.array(turned))
    after = score(other, unlabelled.slice(0, 50), **ROLES, **kept)
    assert (after.labelled[FOLD == 1] == before.labelled[FOLD == 1]).all()
    assert (after.labelled[FOLD != 1] != before.labelled[FOLD != 1]).any()


class _Witness(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A logistic regression that remembers the rows it was fitted on, and those it scored since."""

    seen: list[set[float]]

    def __init__(self, diary: Any = None) -> None:
        self.diary = diary

    def fit(self, X: Floats, y: Floats) -> _Witness:
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        self.trained_ = set(np.round(X[:, 0], 9).tolist())
        return self

    def predict_proba(self, X: Floats) -> Any:
        return self.inner_.predict_proba(X)


def test_no_labelled_row_is_scored_by_what_saw_it(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES, model=_Witness(), split=FOLD)
    x = np.asarray(labelled["x"])
    for k, piece in enumerate(scores.scorer.pieces):
        # The classifier is the last step of a pipeline that scales what it is given by training rows.
        scaler = piece.model[0].named_transformers_["numbers"][-1]
        trained = {round(float(z * scaler.scale_[0] + scaler.mean_[0]), 6) for z in piece.model[-1].trained_}
        assert trained == {round(float(value), 6) for value in x[np.not_equal(FOLD, k)]}
        rows = scores.scorer.rows(labelled).take(np.equal(FOLD, k))
        assert piece(rows) == pytest.approx(scores.labelled[np.equal(FOLD, k)], abs=1e-14)
    assert scores.audit.all()


def test_labels_dealt_at_random_show_no_signal() -> None:
    """Over draws the AUC is 1/2 and the slope zero, of the flexible models too."""
    found: dict[str, list[tuple[float, float]]] = {"logistic": [], "boosting": []}
    for seed in range(12):
        labelled, unlabelled = _apart(made(seed))
        shuffled = np.random.default_rng(seed).permutation(np.asarray(labelled["g"]))
        other = labelled.set_column(labelled.schema.get_field_index("g"), "g", pa.array(shuffled))
        for model, values in found.items():
            report = score(other, unlabelled.slice(0, 10), **ROLES, model=model, calibrator="none").report
            slope = report.metrics.rows[1].slope
            assert slope is not None
            values.append((report.metrics.rows[1].auc, slope))
    for values in found.values():
        auc, slope = np.array(values).T
        # Four standard errors of the mean over 12 draws. A leak would give an AUC of 0.9 and a slope of 1.
        assert abs(auc.mean() - 0.5) < 4 * auc.std(ddof=1) / 12**0.5
        assert abs(slope.mean()) < 4 * slope.std(ddof=1) / 12**0.5
        assert auc.max() < 0.65


def test_shuffled_labels_are_called_uninformative(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    shuffled = np.random.default_rng(1).permutation(np.asarray(labelled["g"]))
    other = labelled.set_column(labelled.schema.get_field_index("g"), "g", pa.array(shuffled))
    codes = [note.code for note in score(other, unlabelled, **ROLES).report.notes]
    assert "score.uninformative" in codes
    assert "score.uninformative" not in [note.code for note in score(labelled, unlabelled, **ROLES).report.notes]


# ------------------------------------------------------------------------------------ who scores whom


def test_each_unlabelled_row_by_the_models_of_its_fold(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES)
    rows = scores.scorer.rows(unlabelled)
    dealt = scores.scorer.dealt
    assert dealt is not None
    fold = dealt.of_unlabelled(rows.hashes, None)
    every = np.array([piece(rows) for piece in scores.scorer.pieces])
    assert scores.unlabelled == pytest.approx(every[fold, np.arange(N_UNLABELLED)], abs=1e-14)
    assert np.bincount(fold).min() > 0.8 * N_UNLABELLED / 5
    mean = score(labelled, unlabelled, **ROLES, split="mean")
    assert mean.unlabelled == pytest.approx(every.mean(axis=0), abs=1e-14)
    assert mean.labelled.tolist() == scores.labelled.tolist()


def test_halves_are_one_classifier_and_one_calibrator_that_leave_nobody_to_audit(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES, split="halves")
    assert not scores.audit.any()
    assert (len(scores.scorer.pieces), scores.report.folds, scores.report.audit) == (1, None, 0)
    assert len(scores.report.metrics) == 0
    assert "score.no_audit" in [note.code for note in scores.report.notes]
    # The classifier of the first half and the calibrator of the second, made by hand.
    first = scores.fold == 0
    assert abs(int(first.sum()) - N_LABELLED / 2) <= 1
    piece = scores.scorer.pieces[0]
    rows = scores.scorer.rows(labelled)
    group = np.asarray(labelled["g"]).astype(float)
    raw_all = piece.both(rows)[0]
    by_hand = fit_calibrator("conditional", raw_all[~first], rows.controls[~first], (False,), group[~first])
    assert scores.labelled == pytest.approx(by_hand(raw_all, rows.controls), abs=1e-12)


def test_rows_of_a_cluster_share_their_models(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES, cluster="ward")
    folds: dict[int, set[int]] = {}
    for ward, fold in zip(labelled["ward"].to_pylist(), scores.fold.tolist(), strict=True):
        folds.setdefault(ward, set()).add(fold)
    assert {len(found) for found in folds.values()} == {1}
    rows, dealt = scores.scorer.rows(unlabelled), scores.scorer.dealt
    assert dealt is not None
    of_row = dealt.of_unlabelled(rows.hashes, rows.cluster)
    for ward, fold in zip(unlabelled["ward"].to_pylist(), of_row.tolist(), strict=True):
        assert ward not in folds or folds[ward] == {fold}


def test_other_rows_can_be_scored_later(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES)
    later = scores.scorer.predict(unlabelled.slice(100, 50))
    assert later == pytest.approx(scores.unlabelled[100:150], abs=1e-14)


# ------------------------------------------------------------------------------------ the same whatever


def test_the_order_of_rows_and_threads_do_not_matter(table: pa.Table) -> None:
    first = score(table, **ROLES)
    order = np.random.default_rng(0).permutation(table.num_rows)
    second = score(table.take(pa.array(order)), **ROLES, threads=3)
    assert first.p is not None
    assert second.p is not None
    # Newton's method stops where the loss is flat to 1e-10: the scores then to about 1e-10.
    assert second.p == pytest.approx(first.p[order], abs=1e-9)


def test_mixed_or_apart_is_the_same(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    mixed, apart = score(table, **ROLES), score(labelled, unlabelled, **ROLES)
    assert mixed.p is not None
    assert apart.p is None
    assert mixed.unlabelled == pytest.approx(apart.unlabelled, abs=1e-14)  # batches are cut elsewhere
    assert mixed.unlabelled.tolist() == mixed.p[:N_UNLABELLED].tolist()
    assert mixed.labelled.tolist() == apart.labelled.tolist() == mixed.p[N_UNLABELLED:].tolist()
    assert mixed.report == apart.report


def test_every_source_gives_the_same(table: pa.Table, tmp_path: Path) -> None:
    first = score(table, **ROLES)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=700)
    pa_csv.write_csv(table, tmp_path / "t.csv")
    others: list[Any] = [
        pd.DataFrame(table.to_pandas()),
        pl.DataFrame(table),
        pl.DataFrame(table).lazy(),
        str(tmp_path / "t.parquet"),
        str(tmp_path / "t.csv"),
    ]
    for other in others:
        scores = score(other, **ROLES)
        assert scores.unlabelled == pytest.approx(first.unlabelled, abs=1e-12)
        assert scores.labelled == pytest.approx(first.labelled, abs=1e-12)
        assert scores.report == first.report


def test_small_batches_change_nothing(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    first = score(table, **ROLES)
    monkeypatch.setattr(
        scorer, "coalesced", lambda batches: (b.slice(i, 97) for b in batches for i in range(0, len(b), 97))
    )
    assert score(table, **ROLES).unlabelled == pytest.approx(first.unlabelled, abs=1e-14)


def test_seed_and_id_deal_rows_anew(table: pa.Table) -> None:
    first = score(table, **ROLES)
    assert (score(table, **ROLES, seed=1).fold != first.fold).any()
    named = table.append_column("row", pa.array(range(table.num_rows)))
    assert (score(named, **ROLES, id="row").fold != first.fold).any()


def test_a_weight_of_zero_trains_nothing(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    weight = np.where(np.arange(N_LABELLED) % 3 == 0, 0.0, 1.0)
    weighted = labelled.append_column("zero", pa.array(weight))
    kept = weight > 0
    some = {"calibrator": "none", "model": LogisticRegression(C=1e6, solver="newton-cholesky", tol=1e-10)}
    # The columns are scaled by all rows, weights or none, which without a penalty changes no probability.
    roles = {**ROLES, "features": ["x", "y"]}
    heavy = score(weighted, unlabelled, **roles, **some, weights="zero", split=FOLD)
    fewer = score(weighted.filter(pa.array(kept)), unlabelled, **roles, **some, split=FOLD[kept])
    assert heavy.labelled[kept] == pytest.approx(fewer.labelled, abs=1e-4)
    plain = score(weighted, unlabelled, **roles, **some, split=FOLD)
    assert np.abs(plain.labelled[kept] - fewer.labelled).max() > 1e-3


# ------------------------------------------------------------------------------------------- draws


@pytest.mark.parametrize("calibrator", ["isotonic", "conditional", "beta"])
@pytest.mark.parametrize("split", ["folds", "halves"])
def test_a_weight_of_zero_is_as_good_as_no_row(calibrator: Any, split: Any, table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    gone = np.zeros(N_LABELLED, dtype=np.bool_)
    # Those with the greatest scores: an isotonic map ends in points of no weight.
    gone[np.argsort(labelled["w"].fill_null(0.0).to_numpy())[-40:]] = True
    fold: Any = FOLD if split == "folds" else "halves"
    weighted = labelled.append_column("none", pa.array(np.where(gone, 0.0, 1.0)))
    found = score(weighted, unlabelled, **ROLES, calibrator=calibrator, split=fold, weights="none")
    assert np.isfinite(found.unlabelled).all()
    if split == "halves":
        return  # the halves of fewer rows are other halves
    without = score(labelled.filter(pa.array(~gone)), unlabelled, **ROLES, calibrator=calibrator, split=FOLD[~gone])
    # The same fits up to the last digits: a fold's rows are the same, and so are those within it that count.
    assert found.labelled[~gone] == pytest.approx(without.labelled, abs=1e-9)
    assert found.unlabelled == pytest.approx(without.unlabelled, abs=1e-9)


def test_labels_of_no_weight_cannot_train(table: pa.Table) -> None:
    weight = np.where(table["truth"].to_numpy() == 1, 0.0, 1.0)
    with pytest.raises(ValueError, match="at least 2 rows of each group of a fold's training rows; found 0 in the"):
        score(table.append_column("none", pa.array(weight)), **ROLES, weights="none")


def test_as_many_clusters_as_folds_are_enough(table: pa.Table) -> None:
    few = table.append_column("few", pa.array(np.arange(table.num_rows) % 5))
    scores = score(few, **ROLES, cluster="few", folds=5)
    assert [len(set(scores.fold[np.arange(N_UNLABELLED, len(table)) % 5 == k])) for k in range(5)] == [1] * 5


def test_a_beta_draw_has_the_mean_and_the_variance_it_should(table: pa.Table) -> None:
    labelled, _ = _apart(table)
    # One row many times, told apart by an id: draws around one score.
    n = 20_000
    rows = {"x": np.zeros(n), "w": np.zeros(n), "site": ["north"] * n, "row": np.arange(n)}
    named = labelled.append_column("row", pa.array(range(n, n + N_LABELLED)))
    options: dict[str, Any] = {**ROLES, "id": "row", "split": "mean"}
    mean = score(named, rows, **options).unlabelled
    drawn = score(named, rows, **options, draw="beta", sigma=0.4).unlabelled
    p = mean[0]
    assert np.ptp(mean) < 1e-12
    # Each of five models draws with the same uniform, so the mean of five draws varies a little less than one would.
    single = score(named, rows, **{**options, "split": "halves"}, draw="beta", sigma=0.4)
    at = score(named, rows, **{**options, "split": "halves"}).unlabelled[0]
    variance = 0.4**2 * at * (1 - at)
    assert single.unlabelled.mean() == pytest.approx(at, abs=4 * (variance / n) ** 0.5)
    assert single.unlabelled.var() == pytest.approx(variance, rel=0.04)  # four errors of a variance: sqrt(2/n) = 0.01
    assert drawn.mean() == pytest.approx(p, abs=4 * (variance / n) ** 0.5)
    assert "score.drawn" in [note.code for note in single.report.notes]


# ----------------------------------------------------------------------------------- structure, words


def test_nothing_but_controls_is_refused_unless_forced(table: pa.Table) -> None:
    same: dict[str, Any] = {"features": ["x"], "controls": ["x", "site"], "group": "g"}
    with pytest.raises(InputError, match=r"features beyond the controls; found none: .* V\* = 0 .*force=True"):
        score(table, **same)
    codes = [note.code for note in score(table, **same, force=True).report.notes]
    assert codes[:2] == ["score.only_controls", "score.unseen_controls"]


def test_a_copy_of_a_control_is_found_out(table: pa.Table) -> None:
    copied = table.append_column("copy", pa.array(np.asarray(table["x"]) * 2 + 1))
    report = score(copied, features=["x", "copy"], controls=["x"], group="g", calibrator="platt").report
    assert "score.uninformative" in [note.code for note in report.notes]


def test_what_the_score_knows_beyond_the_controls_is_measured_as_by_hand(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES)
    group, x = np.asarray(labelled["g"]).astype(float), np.asarray(labelled["x"])
    curves = Curves().fit_transform(x[:, None])  # three columns of a natural spline
    fit = sm.OLS(group, sm.add_constant(np.column_stack([scores.labelled, curves]))).fit(cov_type="HC1")
    assert scores.report.slope == pytest.approx(fit.params[1], rel=1e-10)
    assert scores.report.slope_error == pytest.approx(fit.bse[1], rel=1e-10)
    explained = sm.OLS(scores.labelled, sm.add_constant(curves)).fit().rsquared
    assert scores.report.remainder == pytest.approx(1 - explained, rel=1e-10)


def test_metrics_are_those_of_other_packages(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores = score(labelled, unlabelled, **ROLES, weights="v")
    group, p, weight = np.asarray(labelled["g"]), scores.labelled, np.asarray(labelled["v"])
    row = scores.report.metrics.rows[1]
    assert row.brier == pytest.approx(brier_score_loss(group, p, sample_weight=weight))
    assert row.log_loss == pytest.approx(log_loss(group, p, sample_weight=weight))
    assert row.auc == pytest.approx(roc_auc_score(group, p, sample_weight=weight))
    fit = sm.WLS(group, sm.add_constant(p), weights=weight).fit(cov_type="HC1")
    assert [row.intercept, row.slope, row.slope_error] == pytest.approx([*fit.params, fit.bse[1]], rel=1e-9)
    assert row.mean_score == pytest.approx(np.average(p, weights=weight))


def test_what_is_missing_is_counted(table: pa.Table) -> None:
    report = score(table, **ROLES).report
    assert [(gap.name, gap.value) for gap in report.missing] == [("w", table["w"].null_count)]
    (note,) = [note for note in report.notes if note.code == "score.missing"]
    assert f"w ({table['w'].null_count:,})" in note.message


def test_the_report_goes_to_json_and_back_and_to_a_page(table: pa.Table) -> None:
    report = score(table, **ROLES).report
    assert type(report).from_json(report.to_json(indent=2)) == report
    page = report.summary()
    assert "Logistic, conditional calibration, 5 folds" in page
    assert f"{report.metrics.rows[0].brier:.3f}" in page
    assert max(map(len, page.splitlines())) <= 96


# --------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"features": "x"}, ["features to be a list of columns", "features=['x']"]),
        ({"features": []}, ["features to name at least one column"]),
        ({"features": ["x", "x", "w"]}, ["each feature once", "'x'"]),
        ({"features": ["x", "wt"]}, ["a column 'wt'", "Did you mean"]),
        ({"features": ["x", "g"]}, ["features without the group", "stand in for"]),
        ({"features": ["x", "v"], "weights": "v"}, ["features without the group", "the weights"]),
        ({"controls": ["g"]}, ["controls without the group"]),
        ({"group": "y"}, ["the group 'y' to be 0 or 1"]),
        ({"group": "site", "features": ["w"]}, ["the group 'site' to be numeric", "type string, such as '"]),
        ({"weights": "site", "features": ["w"]}, ["the weights 'site' to be numeric", "type string, such as '"]),
        ({"weights": "g"}, ["the weights to be known in every row", "the group 'g'"]),
        ({"cluster": "g"}, ["the cluster to be known in every row"]),
        ({"calibrator": "plat"}, ["'plat'", "Did you mean 'platt'"]),
        ({"split": "half"}, ["split to be one of", "Did you mean 'halves'"]),
        ({"split": [0, 1]}, [f"a fold for each of the {N_LABELLED} labelled rows", "found 2"]),
        ({"split": [0, 0]}, ["at least 2 folds"]),
        ({"split": [None, "a"] * 150}, ["split to hold numbers or texts alone"]),
        ({"split": np.array([None, "a"] * 150)}, ["split to hold numbers or texts alone"]),
        ({"calibrator": np.array(["platt", "beta"])}, ["calibrator to be the name of one"]),
        ({"draw": np.array(["mean", "beta"])}, ["draw to be one of"]),
        ({"folds": 1}, ["folds to be a whole number from 2 to 100"]),
        ({"folds": None}, ["folds to be a whole number from 2 to 100"]),
        ({"draw": "sample"}, ["draw to be one of"]),
        ({"draw": "member"}, ["an ensemble to draw members from", "model='logistic'"]),
        ({"draw": "beta", "sigma": 1.0}, ["sigma between 0 and 1"]),
        ({"categories": ["y"]}, ["categories to be features or controls", "'y'"]),
        ({"categories": "site"}, ["categories to be a list of columns", "categories=['site']"]),
        ({"categories": None}, ["categories to be a list of columns"]),
        ({"folds": 2.5}, ["folds to be a whole number from 2 to 100; found folds=2.5. Use folds=5."]),
        ({"cluster": "ward", "id": "ward"}, ["one column to decide folds"]),
        ({"cluster": "ward", "folds": 60}, ["as many clusters with labelled rows as folds (60)"]),
        ({"seed": -1}, ["seed to be a whole number"]),
    ],
    ids=str,
)
def test_a_wrong_call_is_said(options: dict[str, Any], parts: list[str], table: pa.Table) -> None:
    with pytest.raises(ValueError, match="Expected") as caught:
        score(table, **{**ROLES, **options})
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("group", "parts"),
    [
        ([1] * 299 + [0], ["at least 2 rows of each group", "Label more rows of the rarer group"]),
        ([0, 1, None] * 100, ["a 'g' in every row of the labelled table", "100 without"]),
        ([0.0, 1.0, 2.0] * 100, ["the group 'g' to be 0 or 1", "2"]),
    ],
)
def test_labels_that_cannot_train(group: list[Any], parts: list[str], table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    other = labelled.set_column(labelled.schema.get_field_index("g"), "g", pa.array(group))
    with pytest.raises(ValueError, match="Expected") as caught:
        score(other, unlabelled, **ROLES)
    assert [part for part in parts if part not in str(caught.value)] == []
    with pytest.raises(ValueError, match="labelled rows"):
        score(labelled.slice(0, 0), unlabelled, **ROLES)


def test_a_scorer_travels(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    scores: Scores = score(labelled, unlabelled, **ROLES)
    other = pickle.loads(pickle.dumps(scores.scorer))  # noqa: S301  (our own)
    assert other.predict(unlabelled).tolist() == scores.unlabelled.tolist()


# ------------------------------------------------------------------------- rows of equal features


def _coarse(seed: int, n: int = 4_000, labelled: int = 400) -> dict[str, Any]:
    """A study whose features have 12 values in all; only the outcome tells rows apart."""
    rng = np.random.default_rng(seed)
    w, c = rng.integers(0, 4, n), rng.integers(0, 3, n)
    group = (rng.random(n) < np.array([0.1, 0.3, 0.6, 0.85])[w]).astype(float)
    return {
        "w": w,
        "c": c,
        "y": c + group + rng.normal(size=n),
        "g": np.where(np.arange(n) < labelled, group, np.nan),
    }


def test_rows_of_equal_features_are_told_apart_by_what_else_there_is() -> None:
    rows = _coarse(0)
    roles: dict[str, Any] = {"features": ["w", "c"], "controls": ["c"], "group": "g"}
    scores = score(rows, **roles)
    assert scores.scorer.roles.further == ("y",)
    hidden = np.isnan(rows["g"])
    cell = (rows["w"] == 2) & (rows["c"] == 1) & hidden
    assert scores.p is not None
    # All five folds' models score rows of one cell, as they do on the labelled rows.
    assert len(np.unique(scores.p[cell].round(12))) == 5
    order = np.random.default_rng(1).permutation(len(hidden))
    again = score({name: values[order] for name, values in rows.items()}, **roles)
    assert again.p == pytest.approx(scores.p[order], abs=1e-9)
    # Without anything else, or with an id, nothing is added.
    alone = {name: rows[name] for name in ("w", "c", "g")}
    assert score(alone, **roles).scorer.roles.further == ()
    named = {**rows, "row": np.arange(len(hidden))}
    assert score(named, **roles, id="row").scorer.roles.further == ()


def test_scores_of_coarse_features_have_one_law_on_both_kinds_of_rows() -> None:
    """What compares the scores of both samples rejects about as often as it should: 5 of 100, give or take 2.2."""
    rejected = 0
    for seed in range(40):
        rows = _coarse(seed)
        scores = score(rows, features=["w", "c"], controls=["c"], group="g")
        d = diagnose(
            {**rows, "p": scores.p}, outcome="y", group="g", score="p", controls=["c"], thresholds=(), confident=()
        )
        (check,) = [one for one in d.checks if one.code == "samples.score"]
        rejected += check.p_value is not None and check.p_value < 0.05
    # 2 expected of 40; before, more than half were. Beyond 8 lies less than one draw in ten thousand.
    assert rejected <= 8


def test_rows_alike_in_everything_are_dealt_one_by_one() -> None:
    rows = _coarse(0)
    rows["y"] = (rows["y"] > 1.5).astype(float)
    scores = score(rows, features=["w", "c"], controls=["c"], group="g")
    assert scores.scorer.repeat
    hidden = np.isnan(rows["g"])
    cell = hidden & (rows["w"] == 2) & (rows["c"] == 1) & (rows["y"] == 1)
    assert scores.p is not None
    values, counts = np.unique(scores.p[cell].round(12), return_counts=True)
    assert len(values) == 5
    # A fifth each, within four binomial errors.
    assert np.abs(counts / cell.sum() - 0.2).max() < 4 * (0.16 / cell.sum()) ** 0.5
    # In another order the same rows have the same scores, as sets.
    order = np.random.default_rng(1).permutation(len(hidden))
    again = score(
        {name: values[order] for name, values in rows.items()}, features=["w", "c"], controls=["c"], group="g"
    )
    assert again.p is not None
    assert np.sort(again.p[cell[order]]) == pytest.approx(np.sort(scores.p[cell]), abs=1e-9)


def test_rows_of_one_id_are_scored_by_models_that_saw_none_of_them(table: pa.Table) -> None:
    person = pa.array(np.arange(table.num_rows) // 3)
    labelled, unlabelled = _apart(table.append_column("person", person))
    scores = score(labelled, unlabelled, **ROLES, id="person")
    folds: dict[int, set[int]] = {}
    for one, fold in zip(labelled["person"].to_pylist(), scores.fold.tolist(), strict=True):
        folds.setdefault(one, set()).add(fold)
    assert {len(found) for found in folds.values()} == {1}
    sizes = np.bincount(scores.fold)
    assert sizes.max() - sizes.min() <= 6  # two persons
    ones = np.bincount(scores.fold, np.asarray(labelled["g"]))
    assert ones.max() - ones.min() <= 3


def test_a_frequency_is_so_many_rows(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    copies = 1 + np.arange(N_LABELLED) % 3
    repeated = np.repeat(np.arange(N_LABELLED), copies)
    counted = labelled.append_column("n", pa.array(copies.astype(float)))
    # Without gaps and scaling by rows, which copies would move, the classifier is the same to the last digits.
    roles: dict[str, Any] = {"features": ["x", "y"], "controls": [], "group": "g", "calibrator": "none"}
    model = LogisticRegression(C=1e6, solver="newton-cholesky", tol=1e-12)
    once = score(counted, unlabelled, **roles, model=model, weights="n", weight_type="frequency", split=FOLD)
    many = score(labelled.take(pa.array(repeated)), unlabelled, **roles, model=model, split=FOLD[repeated])
    assert once.labelled[repeated] == pytest.approx(many.labelled, abs=1e-5)


def test_levels_that_no_labelled_row_has_are_said(table: pa.Table) -> None:
    labelled, unlabelled = _apart(table)
    site = ["far"] * 7 + unlabelled["site"].to_pylist()[7:]
    other = unlabelled.set_column(unlabelled.schema.get_field_index("site"), "site", pa.array(site))
    report = score(labelled, other, **ROLES).report
    assert ("site, new levels", 7) in [(gap.name, gap.value) for gap in report.missing]


def test_a_formula_says_which_controls_are_categories(table: pa.Table) -> None:
    scores = score(table, features=["x", "w", "ward"], controls="x + C(ward)", group="g")
    assert scores.scorer.layout.categorical == (False, False, True)
