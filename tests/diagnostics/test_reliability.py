"""Reliability: the line against statsmodels, the ECE of a calibrated score, what its interval covers, and the bins."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from softlabel import Diagnosis
from softlabel.results import Calibration
from tests.labelled import Floats, diagnosed, labels, study


def _of(d: Diagnosis) -> Calibration:
    assert d.calibration.reason is None
    return d.calibration


def _plain(found: Calibration) -> float:
    """The ECE before anything is taken off, for rows without weights."""
    n = sum(row.n for row in found.bins)
    return sum(row.n / n * abs(row.share - row.mean_score) for row in found.bins)


@pytest.mark.parametrize("covariance", ["HC0", "HC1", "HC3"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_the_line_is_that_of_statsmodels(covariance: str, weights: str | None) -> None:
    rng = np.random.default_rng(2)
    data = study(rng, n=500, labelled=150, w=rng.gamma(2.0, 1.0, 650))
    found = _of(diagnosed(data, covariance=covariance, weights=weights))
    labelled, group = labels(data)
    p, w = data["p"][labelled], np.ones(150) if weights is None else data["w"][labelled]
    fit = sm.WLS(group, sm.add_constant(p), weights=w).fit(cov_type=covariance)
    assert (found.intercept, found.slope) == pytest.approx(tuple(fit.params), rel=1e-9)
    assert (found.intercept_error, found.slope_error) == pytest.approx(tuple(fit.bse), rel=1e-8)
    assert found.brier == pytest.approx(np.average((group - p) ** 2, weights=w), rel=1e-12)
    assert found.brier_expected == pytest.approx(np.average(p * (1 - p), weights=w), rel=1e-12)


def test_the_line_sees_clusters() -> None:
    rng = np.random.default_rng(2)
    data = study(rng, n=500, labelled=150, cl=rng.integers(0, 20, 650))
    found = _of(diagnosed(data, cluster="cl", covariance="HC1"))
    labelled, group = labels(data)
    fit = sm.OLS(group, sm.add_constant(data["p"][labelled])).fit(
        cov_type="cluster", cov_kwds={"groups": data["cl"][labelled]}
    )
    assert (found.intercept_error, found.slope_error) == pytest.approx(tuple(fit.bse), rel=1e-8)


# --------------------------------------------------------------------------------------- bins


@pytest.mark.parametrize(("labelled", "count"), [(30, 1), (95, 4), (1_000, 10)])
def test_bins_are_of_equal_size_in_the_order_of_the_score(labelled: int, count: int) -> None:
    data = study(np.random.default_rng(3), n=300, labelled=labelled)
    rows = list(_of(diagnosed(data)).bins)
    shown, group = labels(data)
    p = data["p"][shown]
    assert len(rows) == count
    assert sum(row.n for row in rows) == labelled
    assert max(row.n for row in rows) - min(row.n for row in rows) <= 1
    assert all(row.high < after.low for row, after in pairwise(rows))
    for row in rows:
        inside = (p >= row.low) & (p <= row.high)
        assert row.n == inside.sum()
        assert row.mean_score == pytest.approx(p[inside].mean(), rel=1e-12)
        assert row.share == pytest.approx(group[inside].mean(), rel=1e-12)
        assert row.std_error == pytest.approx(_error(p[inside], group[inside]), rel=1e-12)


def _error(p: Floats, group: Floats) -> float:
    """Of a share: the larger of what the score and what the share itself says."""
    share = group.mean()
    return float(np.sqrt(max((p * (1 - p)).mean(), share * (1 - share)) / len(p)))


def test_equal_scores_are_of_one_bin() -> None:
    data = study(np.random.default_rng(4), n=600, labelled=400)
    data["p"] = np.round(data["p"] * 4) / 4
    rows = list(_of(diagnosed(data)).bins)
    assert [(row.low, row.high) for row in rows] == [(v, v) for v in np.unique(data["p"])]


def test_frequencies_are_repeated_rows() -> None:
    rng = np.random.default_rng(5)
    data = study(rng, n=300, labelled=70)
    data["p"] = np.round(data["p"], 2)
    times = rng.integers(1, 5, 370)
    again = np.repeat(np.arange(370), times)
    repeated = {name: v.take(again) for name, v in data.items()}
    one = _of(diagnosed(data | {"t": times}, weights="t", weight_type="frequency", folds=None))
    other = _of(diagnosed(repeated, folds=None))
    assert one.bins["n"] == other.bins["n"]
    for name in ("ece", "ece_low", "ece_high", "brier", "slope", "slope_error"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9), name


# --------------------------------------------------------------------------------------- the ECE


def _replicated(replications: int, **options: Any) -> list[Calibration]:
    rng = np.random.default_rng(6)
    drawn = (study(rng, n=300, labelled=400, **options) for _ in range(replications))
    return [_of(diagnosed(data, folds=2, threads=1)) for data in drawn]


def test_what_chance_adds_to_a_calibrated_score_is_taken_off() -> None:
    found = _replicated(150)
    ece, plain = (np.array(v) for v in zip(*((row.ece, _plain(row)) for row in found), strict=True))
    # The plain one is 0.055 off with ten bins of forty rows; some of it stays, for an ECE has no unbiased estimate.
    assert plain.mean() > 0.045
    assert ece.mean() < 0.65 * plain.mean()
    # The interval holds zero in 97.5% of samples: 1.3% is the error of a share of 150.
    low = np.array([row.ece_low for row in found])
    assert (low == 0).mean() > 0.935


@pytest.mark.parametrize("level", [0.0, 0.4, 1.2])
def test_the_interval_covers_a_known_miscalibration(level: float) -> None:
    # The score is too low everywhere, and so in every bin: the ECE is the mean of what is missing.
    data = study(np.random.default_rng(7), n=1, labelled=400_000, level=level)
    p = data["p"]
    missing = float(np.abs(1 / (1 + (1 - p) / p * np.exp(-level)) - p).mean())
    found = _replicated(150, level=level)
    inside = np.mean([(row.ece_low or 0) <= missing <= (row.ece_high or 0) for row in found])
    # At least 95%, known to 1.8% in 150 samples.
    assert inside >= 0.95 - 2 * 0.018
    if level:
        # And what is taken off does not take off what is there: the mean is within what is left of chance.
        assert np.mean([row.ece for row in found]) == pytest.approx(missing, abs=0.01)
    assert all((row.ece_low or 0) <= (row.ece or 0) <= (row.ece_high or 0) for row in found)


def test_the_same_seed_gives_the_same_interval() -> None:
    data = study(np.random.default_rng(8), n=300, labelled=200)
    assert diagnosed(data, seed=4).calibration == diagnosed(data, seed=4).calibration


def test_a_score_without_a_slope_says_so() -> None:
    data = study(np.random.default_rng(9), n=300, labelled=60)
    shown, _ = labels(data)
    d = diagnosed(data | {"p": np.where(shown, 0.4, data["p"])})
    assert d.calibration.slope is None
    assert d.calibration.reason is not None
    assert not d.calibration.bins
