"""V*, κ, κ_FM and label equivalents: against the dense reference, exact limits, and by hand."""

from typing import Literal

import numpy as np
import pytest

import softlabel as sl
from softlabel.diagnostics.attenuation import label_equivalents
from softlabel.folds import deal, hash_rows
from softlabel.results.records import Estimate, estimated, not_estimated
from tests import oracle
from tests.passes import columns

THRESHOLDS = (0.3, 0.5, 0.7, 0.123456789, 2 / 3)
CONFIDENT = (0.5, 0.55, 0.6, 0.7654321, 0.9)
SAME = 1e-10  # see tests/estimators/test_brute_force.py


@pytest.mark.parametrize("kind", ["given", "values", "none"])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_against_the_dense_reference(k: int, kind: Literal["given", "values", "none"]) -> None:
    # No outcome: the reference's is zero, as the row hash has it.
    rows = oracle.draw(523, k, 7, edges=(*THRESHOLDS, *CONFIDENT))
    rows = rows._replace(y=np.zeros(523))
    folds: int | oracle.Folds | None = None
    if kind == "given":
        folds = np.random.default_rng(7).integers(0, 3, size=523)
        rows = rows._replace(fold=folds)
    elif kind == "values":
        # Copies of the scores on the edges would put the nuisances in sample, were there no controls to differ.
        folds = 4
        p = rows.p if k else np.random.default_rng(1).random((523, 1))
        rows = rows._replace(p=p)
        rows = rows._replace(fold=deal(hash_rows(columns(rows)), 4, seed=11))
    p = rows.p[:, 0]
    report = sl.attenuation(p, rows.X, THRESHOLDS, confident=CONFIDENT, folds=folds, seed=11, level=0.9)
    v_star = oracle.soft(rows)["v_star"]
    assert report.v_star.estimate == pytest.approx(v_star.value, rel=SAME)
    assert report.v_star.std_error == pytest.approx(v_star.std_error, rel=SAME)
    assert report.score_variance == pytest.approx(p.var(), rel=1e-12)
    assert report.kappa["threshold"] == sorted(THRESHOLDS)
    for row in report.kappa:
        expected = oracle.hard(rows, row.threshold)["kappa"]
        assert row.kappa == pytest.approx(expected.value, rel=SAME)
        assert row.std_error == pytest.approx(expected.std_error, rel=SAME)
        reach = 1.6448536269514722 * expected.std_error
        assert (row.ci_low, row.ci_high) == pytest.approx((expected.value - reach, expected.value + reach), rel=SAME)
        assert (row.n, row.n_above, row.basis, row.reason) == (523, (p > row.threshold).sum(), "linear", None)
    assert report.kappa_confident["threshold"] == sorted(CONFIDENT)
    for sets in report.kappa_confident:
        expected = oracle.confident(rows, sets.threshold)["kappa"]
        assert sets.kappa == pytest.approx(expected.value, rel=SAME)
        assert sets.std_error == pytest.approx(expected.std_error, rel=SAME)
        reach = 1.6448536269514722 * expected.std_error
        assert (sets.ci_low, sets.ci_high) == pytest.approx((expected.value - reach, expected.value + reach), rel=SAME)
        inside = (np.maximum(p, 1 - p) > sets.threshold).sum()
        assert (sets.n_confident, sets.share, sets.reason) == (inside, inside / 523, None)
        assert sets.floor == pytest.approx(2 * sets.threshold - 1, rel=1e-15)


def test_repeated_scores_without_controls_are_residualised_in_sample() -> None:
    # 40 distinct rows of 400: dealt by value, copies would share a fold.
    p = np.tile((np.arange(40) + 0.5) / 40, 10)
    rows = oracle.Rows(np.zeros(400), p[:, None], np.empty((400, 0)))
    by_value = sl.attenuation(p, thresholds=[0.6], folds=5)
    in_sample = sl.attenuation(p, thresholds=[0.6], folds=None)
    assert by_value.v_star.estimate == pytest.approx(in_sample.v_star.estimate, rel=1e-13)
    assert by_value.v_star.estimate == pytest.approx(oracle.soft(rows)["v_star"].value, rel=1e-12)
    assert by_value.kappa["kappa"] == pytest.approx(in_sample.kappa["kappa"], rel=1e-13)
    # Rounding apart these are in-sample numbers: cross-fitted ones differ by the share of a row, 1/400.
    fold = np.arange(400) % 5
    crossed = sl.attenuation(p, thresholds=[0.6], folds=fold).v_star.estimate
    assert crossed != pytest.approx(in_sample.v_star.estimate, rel=1e-6)


def test_without_controls_kappa_is_the_difference_of_two_means() -> None:
    # κ(t) = E[p|p>t] − E[p|p≤t] where X = {1}: for a uniform grid one half at any threshold.
    p = (np.arange(1_000) + 0.5) / 1_000
    report = sl.attenuation(p, thresholds=[0.1, 0.5, 0.9], confident=[0.5, 0.8], folds=None)
    assert report.kappa["kappa"] == pytest.approx([0.5] * 3, rel=1e-12)
    assert report.v_star.estimate == pytest.approx((1_000**2 - 1) / 12 / 1_000**2, rel=1e-12)
    # Above 0.8 the mean is 0.9, below 0.2 it is 0.1.
    assert report.kappa_confident["kappa"] == pytest.approx([0.5, 0.8], rel=1e-12)
    assert report.kappa_confident["n_confident"] == [1_000, 400]
    q = np.random.default_rng(3).beta(0.6, 1.7, size=900)
    for threshold in (0.2, 0.7):
        (row,) = sl.attenuation(q, thresholds=[threshold], folds=None).kappa
        assert row.kappa == pytest.approx(q[q > threshold].mean() - q[q <= threshold].mean(), rel=1e-12)


def test_a_saturated_regression_keeps_kappa_within_its_bounds() -> None:
    # With controls that are cells the linear regression is exact, so 0 ≤ κ ≤ 1, 2t − 1 ≤ κ_FM ≤ 1, and κ is the
    # mean of the cells' differences of means with weights n·Var(h|cell).
    rng = np.random.default_rng(8)
    cell = rng.integers(0, 4, size=2_000)
    p = rng.beta(0.5 + cell / 3, 0.8)
    X = np.column_stack([cell == j for j in (1, 2, 3)]).astype(float)
    report = sl.attenuation(p, X, [0.3, 0.8], confident=[0.55, 0.9], folds=None)
    for row in report.kappa:
        weights, differences = [], []
        for j in range(4):
            q, h = p[cell == j], p[cell == j] > row.threshold
            weights.append(len(q) * h.var())
            differences.append(q[h].mean() - q[~h].mean())
        assert row.kappa == pytest.approx(np.average(differences, weights=weights), rel=1e-11)
        assert row.kappa is not None
        assert 0 <= row.kappa <= 1
    for sets in report.kappa_confident:
        assert sets.kappa is not None
        assert sets.floor <= sets.kappa <= 1
    within = sum(p[cell == j].var() * (cell == j).sum() for j in range(4)) / 2_000
    assert report.v_star.estimate == pytest.approx(within, rel=1e-12)


def test_kappa_times_soft_is_hard_where_the_outcome_is_the_score() -> None:
    rows = oracle.draw(300, 2, 9)
    p = rows.p[:, 0]
    y = 3 * p + rows.X @ [1.0, -2.0]
    fold = np.arange(300) % 3
    (row,) = sl.attenuation(p, rows.X, [0.6], folds=fold).kappa
    assert row.kappa is not None
    assert sl.hard(y, p, rows.X, 0.6, folds=fold).estimate == pytest.approx(3 * row.kappa, rel=1e-11)
    assert sl.soft(y, p, rows.X, folds=fold).estimate == pytest.approx(3, rel=1e-11)


def test_coverage_of_v_star_and_kappa() -> None:
    # Uniform scores without controls: V* = 1/12 and κ = 1/2. 400 samples of 500; a nominal 95% interval covers
    # within 4 standard errors, √(.95·.05/400) = 1.1%.
    rng = np.random.default_rng(10)
    hits = np.zeros(2)
    for _ in range(400):
        report = sl.attenuation(rng.random(500), thresholds=[0.7], folds=4)
        low, high = report.v_star.interval or (1.0, 0.0)
        (row,) = report.kappa
        assert row.ci_low is not None
        assert row.ci_high is not None
        hits += [low <= 1 / 12 <= high, row.ci_low <= 0.5 <= row.ci_high]
    assert np.abs(hits / 400 - 0.95).max() < 0.044


# --------------------------------------------------------------------------------------- label equivalents


def made(name: str, std_error: float, n: int, threshold: float | None = None, form: str | None = None) -> Estimate:
    return estimated(name, 1.0, std_error**2, n, threshold=threshold, form=form)


def test_label_equivalents_by_hand() -> None:
    # 120 labels give 0.3, so a third of that takes nine times as many: 1080; a half more takes 120/2.25.
    supervised = made("supervised", 0.3, 120)
    table = label_equivalents(
        [
            supervised,
            made("soft", 0.1, 5_000, form="orthogonal"),
            made("soft", 0.2, 5_000, form="moment"),
            made("hard", 0.1, 5_000, 0.5, "orthogonal"),
            made("deattenuated", 0.45, 5_000, 0.5),
            made("deattenuated", 0.3, 5_000, 0.8),
            made("confident", 0.1, 900, 0.9),
        ],
        supervised,
    )
    # Only what aims at τ itself and is to be reported: not hard, not confident, not the moment form.
    assert [(row.name, row.threshold) for row in table] == [
        ("soft", None),
        ("deattenuated", 0.5),
        ("deattenuated", 0.8),
    ]
    assert table["labels"] == pytest.approx([1080.0, 160 / 3, 120.0], rel=1e-12)
    assert set(table["reason"]) == {None}
    assert all("exclusion" in row.assumes and "calibration" in row.assumes for row in table)


def test_label_equivalents_without_a_number_say_why() -> None:
    soft = made("soft", 0.1, 50, form="orthogonal")
    none = not_estimated("soft", "the score is the same in every row", 50, form="orthogonal")
    unlabelled = not_estimated("supervised", "there are no labelled rows", 0)
    exact = made("supervised", 0.0, 9)
    assert [(r.labels, r.reason) for r in label_equivalents([soft], unlabelled)] == [
        (None, "there are no labelled rows")
    ]
    assert [(r.labels, r.reason) for r in label_equivalents([none], made("supervised", 1.0, 9))] == [
        (None, none.reason)
    ]
    assert [(r.labels, r.reason) for r in label_equivalents([soft], exact)] == [(None, "a standard error is zero")]
    assert label_equivalents([soft], made("supervised", 0.1, 77))["labels"] == pytest.approx([77])


def test_label_equivalents_mean_what_they_say() -> None:
    # A supervised regression on so many rows has about the standard error of soft: 15% for sampling error of both.
    rows = oracle.draw(60_000, 1, 11)
    g = np.random.default_rng(12).random(60_000) < rows.p[:, 0]
    soft = sl.soft(rows.y, rows.p[:, 0], rows.X)
    few = slice(0, 2_000)
    supervised = sl.supervised(rows.y[few], g[few], rows.X[few])
    (row,) = label_equivalents([soft], supervised)
    assert row.labels is not None
    assert 2_000 < row.labels < 60_000
    many = slice(0, round(row.labels))
    again = sl.supervised(rows.y[many], g[many], rows.X[many])
    assert again.std_error == pytest.approx(soft.std_error, rel=0.15)
