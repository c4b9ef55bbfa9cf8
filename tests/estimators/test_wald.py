"""Tests of several restrictions: against statsmodels, by brute force, and their size under the null."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats

from softlabel.estimators.wald import Block, Wald, block_test, gap_test, line, score_test
from softlabel.study import Columns

Floats = NDArray[np.float64]


def rows(n: int, k: int, seed: int, **others: Any) -> Columns:
    """Labelled rows whose controls are ``k`` normal columns and whose score is calibrated."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(k, n))
    p = rng.beta(2, 2, size=n)
    group = (rng.random(n) < p).astype(np.float64)
    y = x.sum(axis=0) + group + rng.normal(size=n) * (1 + np.abs(x[0]))
    return Columns(y, p[None], x, group, **others)


def test_of(found: Block | Wald | str) -> Wald:
    assert not isinstance(found, str), found
    return found.test if isinstance(found, Block) else found


test_of.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("covariance", ["HC0", "HC1", "HC2", "HC3"])
def test_a_block_of_coefficients_is_that_of_statsmodels(covariance: str) -> None:
    data = rows(200, 4, 1)
    design = sm.add_constant(np.vstack([data.group, data.controls]).T)
    fit = sm.OLS(data.outcome, design).fit(cov_type=covariance, use_t=True)
    expected = fit.f_test(np.eye(6)[3:])
    others = np.vstack([data.group, data.controls[:1]])
    found = block_test(data.outcome, data.controls[1:], others, data, covariance)
    assert isinstance(found, Block)
    assert found.test.statistic == pytest.approx(3 * float(expected.fvalue), rel=1e-9)
    assert found.test.p_value == pytest.approx(float(expected.pvalue), rel=1e-7)
    np.testing.assert_allclose(found.coefficients, fit.params[3:], rtol=1e-9)
    np.testing.assert_allclose(found.covariance, fit.cov_params()[3:, 3:], rtol=1e-8, atol=1e-14)


def test_weights_are_those_of_statsmodels() -> None:
    weight = np.random.default_rng(2).gamma(2.0, size=150)
    data = rows(150, 3, 2, weight=weight)
    fit = sm.WLS(data.outcome, sm.add_constant(data.controls.T), weights=weight).fit(cov_type="HC1", use_t=True)
    found = block_test(data.outcome, data.controls[1:], data.controls[:1], data, "HC1")
    assert test_of(found).statistic == pytest.approx(2 * float(fit.f_test(np.eye(4)[2:]).fvalue), rel=1e-9)


def test_clusters_are_those_of_statsmodels() -> None:
    cluster = np.random.default_rng(3).integers(0, 30, 240).astype(np.uint64)
    data = rows(240, 3, 3, cluster=cluster)
    fit = sm.OLS(data.outcome, sm.add_constant(data.controls.T)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}, use_t=True
    )
    found = test_of(block_test(data.outcome, data.controls[1:], data.controls[:1], data, "HC1"))
    assert found.statistic == pytest.approx(2 * float(fit.f_test(np.eye(4)[2:]).fvalue), rel=1e-9)
    groups = len(np.unique(cluster))
    expected = stats.f.sf(found.statistic / 2 * (groups - 2) / (groups - 1), 2, groups - 2)
    assert found.p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("clustered", [False, True])
def test_frequencies_are_repeated_rows(clustered: bool) -> None:
    rng = np.random.default_rng(4)
    copies = rng.integers(1, 4, 80).astype(np.float64)
    cluster = rng.integers(0, 20, 80).astype(np.uint64) if clustered else None
    once = rows(80, 2, 4, weight=copies, frequency=True, cluster=cluster)
    repeated = replace(once, weight=None, frequency=False).take(np.ones(80, dtype=np.bool_))
    again = np.repeat(np.arange(80), copies.astype(int))
    repeated = Columns(
        once.outcome[again],
        once.score[:, again],
        once.controls[:, again],
        once.group[again],
        cluster=None if cluster is None else cluster[again],
    )
    for find in (
        lambda r: block_test(r.outcome, r.controls, r.score, r, "HC3"),
        lambda r: score_test(r.group - r.score[0], r.score[0] * (1 - r.score[0]), r.controls, r),
        lambda r: gap_test(r.controls, np.zeros(2), np.eye(2), 1_000.0, r),
    ):
        one, other = test_of(find(once)), test_of(find(repeated))
        assert one.statistic == pytest.approx(other.statistic, rel=1e-9)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)


def test_the_score_test_is_its_formula() -> None:
    weight = np.random.default_rng(5).gamma(2.0, size=90)
    data = rows(90, 2, 5, weight=weight)
    p = data.score[0]
    z = np.vstack([np.ones(90), p, data.controls])
    s = z @ (weight * (data.group - p))
    covariance = (z * weight**2 * p * (1 - p)) @ z.T
    found = test_of(score_test(data.group - p, p * (1 - p), np.vstack([data.score, data.controls]), data))
    assert found.statistic == pytest.approx(float(s @ np.linalg.solve(covariance, s)), rel=1e-9)
    assert found.df == 4
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 4), rel=1e-9)


def test_a_gap_of_means_is_hotellings_test_of_two_samples() -> None:
    data = rows(60, 3, 6)
    there, n_there = np.array([0.1, -0.2, 0.0]), 5_000.0
    spread = np.diag([1.1, 0.9, 1.0]) + 0.1
    gap = data.controls.mean(axis=1) - there
    # Half of what is known of the mean's covariance is from these rows, half from the other sample.
    scale = np.diagonal(spread)
    design = (np.diagonal(np.cov(data.controls)) / scale).sum() / (data.controls.var(axis=1) / scale).sum()
    both = (np.cov(data.controls) / 60 + spread * design / 60) / 2 + spread / n_there
    found = test_of(gap_test(data.controls, there, spread, n_there, data))
    assert found.statistic == pytest.approx(float(gap @ np.linalg.solve(both, gap)), rel=1e-8)
    expected = stats.f.sf(found.statistic / 3 * 57 / 59, 3, 57)
    assert found.p_value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("covariance", ["HC1", "HC3"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_line_is_that_of_statsmodels(covariance: str, weighted: bool) -> None:
    weight = np.random.default_rng(12).gamma(2.0, size=120) if weighted else None
    data = rows(120, 1, 12, weight=weight)
    ones = np.ones(120) if weight is None else weight
    fit = sm.WLS(data.group, sm.add_constant(data.score[0]), weights=ones).fit(cov_type=covariance)
    found = line(data.group, data.score[0], data, covariance)
    assert found is not None
    np.testing.assert_allclose(found[0], fit.params, rtol=1e-9)
    np.testing.assert_allclose(found[1], fit.cov_params(), rtol=1e-8)
    assert line(data.group, np.full(120, 0.3), data, covariance) is None


def test_columns_that_others_explain_are_no_restrictions() -> None:
    data = rows(100, 2, 7)
    tested = np.vstack([data.controls[1], data.controls[0] * 2 + 1])
    found = block_test(data.outcome, tested, data.controls[:1], data, "HC3")
    alone = block_test(data.outcome, tested[:1], data.controls[:1], data, "HC3")
    assert isinstance(found, Block)
    assert isinstance(alone, Block)
    assert found.test == alone.test
    assert found.coefficients[1] == 0


@pytest.mark.parametrize(
    ("count", "clusters", "said"), [(4, None, "too few for"), (30, 2, "clusters are too few"), (30, None, "explain")]
)
def test_why_there_is_no_test(count: int, clusters: int | None, said: str) -> None:
    cluster = None if clusters is None else np.arange(count).astype(np.uint64) % np.uint64(clusters)
    data = rows(count, 2, 8, cluster=cluster)
    tested = data.controls if said != "explain" else np.ones((1, count))
    found = block_test(data.outcome, tested, data.score, data, "HC3")
    assert isinstance(found, str)
    assert said in found


def test_sizes_under_the_null() -> None:
    # 3,000 samples of 80 rows, or 20 clusters: a share of 5% is known to 0.4%. 3 to 7% is what is asked for.
    rejected = {"block": 0, "score": 0, "gap": 0, "clustered score": 0}
    rng = np.random.default_rng(9)
    for _ in range(3_000):
        x = rng.normal(size=(3, 80))
        p = rng.beta(2, 2, size=80)
        group = (rng.random(80) < p).astype(np.float64)
        y = x[0] + group + rng.normal(size=80) * (1 + 0.5 * np.abs(x[1]))
        data = Columns(y, p[None], x, group)
        clustered = replace(data, cluster=np.arange(80, dtype=np.uint64) // np.uint64(4))
        gap, variance = group - p, p * (1 - p)
        found = {
            "block": block_test(y, x[1:], np.vstack([group, x[:1]]), data, "HC3"),
            "score": score_test(gap, variance, np.vstack([p, x]), data),
            "gap": gap_test(x, np.zeros(3), np.eye(3), 1e4, data),
            "clustered score": score_test(gap, variance, p[None], clustered),
        }
        for name, one in found.items():
            rejected[name] += test_of(one).p_value < 0.05
    shares = {name: count / 3_000 for name, count in rejected.items()}
    assert all(0.03 <= share <= 0.07 for share in shares.values()), shares


def test_a_level_that_is_free_is_not_tested() -> None:
    weight = np.random.default_rng(14).gamma(2.0, size=90)
    data = rows(90, 2, 14, weight=weight)
    p = data.score[0]
    z = data.controls - np.average(data.controls, axis=1, weights=weight)[:, None]
    s = z @ (weight * (data.group - p))
    covariance = (z * weight**2 * p * (1 - p)) @ z.T
    found = test_of(score_test(data.group - p, p * (1 - p), data.controls, data, level=False))
    assert found.statistic == pytest.approx(float(s @ np.linalg.solve(covariance, s)), rel=1e-9)
    assert found.df == 2
    moved = test_of(score_test(data.group - p + 0.3, p * (1 - p), data.controls, data, level=False))
    assert moved.statistic == pytest.approx(found.statistic, rel=1e-9)
    assert score_test(data.group - p, p * (1 - p), np.ones((1, 90)), data, level=False) == "the columns do not vary"


def test_a_rare_column_that_no_row_has_is_no_proof() -> None:
    # One row in five hundred has it there; of three hundred here one may well lack it.
    rng = np.random.default_rng(16)
    data = rows(300, 1, 16)
    here = np.vstack([rng.normal(size=300), np.zeros(300)])
    found = test_of(gap_test(here, np.array([0.0, 0.002]), np.diag([1.0, 0.002]), 1e5, data))
    assert found.p_value > 0.1


def test_a_gap_of_means_with_weights_and_clusters() -> None:
    rng = np.random.default_rng(15)
    weight, cluster = rng.gamma(2.0, size=120), rng.permutation(120).astype(np.uint64) % np.uint64(24)
    data = rows(120, 2, 15, weight=weight, cluster=cluster)
    there, spread = np.array([0.1, -0.1]), np.array([[1.2, 0.3], [0.3, 0.8]])
    share = weight / weight.sum()
    mean = data.controls @ share
    left = share * (data.controls - mean[:, None])
    sums = np.array([left[:, cluster == one].sum(axis=1) for one in np.unique(cluster)])
    mine = sums.T @ sums
    # How much more a mean of these rows varies than one of as many equal and independent ones, in the other's units.
    unit = np.diagonal(spread)
    alone = np.square(data.controls - mean[:, None]) @ share / 120
    mine = mine * 24 / 23
    design = max(1.0, (np.diagonal(mine) / unit).sum() / (alone / unit).sum())
    both = (mine + spread * design / 120) / 2 + spread * design / 5_000
    gap = mean - there
    found = test_of(gap_test(data.controls, there, spread, 5_000.0, data))
    assert found.statistic == pytest.approx(float(gap @ np.linalg.solve(both, gap)), rel=1e-8)
    assert found.p_value == pytest.approx(stats.f.sf(found.statistic / 2 * 22 / 23, 2, 22), rel=1e-8)
