"""Supervised estimates with clusters and weights against linearmodels, another implementation than statsmodels'."""

from typing import Any

import numpy as np
import pytest
from linearmodels.iv.model import IV2SLS

import softlabel as sl
from tests import oracle
from tests.oracle import Floats

# What the two packages are asked to agree to.
SAME = 1e-8


def _rows(n: int, k: int, seed: int) -> tuple[oracle.Rows, Floats, Any, Floats]:
    rows, rng = oracle.draw(n, k, seed), np.random.default_rng(seed)
    cluster = rng.integers(0, 17, n)
    shock = rng.normal(size=17)[cluster]
    g = (rng.random(n) < rows.p[:, 0]).astype(float)
    return rows._replace(y=rows.y + shock * (0.5 + g)), g, cluster, 0.2 + 4.8 * rng.random(n)


def _least_squares(rows: oracle.Rows, g: Floats, weight: Floats | None, **covariance: Any) -> tuple[float, float]:
    """Estimate and standard error of the group; linearmodels scales weights to a mean of one itself."""
    design = np.column_stack([g, np.ones(len(g)), rows.X])
    fit = IV2SLS(rows.y, design, None, None, weights=weight).fit(**covariance)
    return float(fit.params.iloc[0]), float(fit.std_errors.iloc[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "k"), [(90, 0), (90, 3), (800, 6)])
def test_rows_on_their_own(n: int, k: int, weighted: bool) -> None:
    rows, g, _, weight = _rows(n, k, 7)
    w = weight if weighted else None
    # debiased is HC1, the factor n/(n − k).
    for covariance, debiased in (("HC0", False), ("HC1", True)):
        found = sl.supervised(rows.y, g, rows.X, weights=w, covariance=covariance)  # type: ignore[arg-type]
        expected = _least_squares(rows, g, w, cov_type="robust", debiased=debiased)
        assert (found.estimate, found.std_error) == pytest.approx(expected, rel=SAME)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "k"), [(90, 0), (90, 3), (800, 6)])
def test_clusters(n: int, k: int, weighted: bool) -> None:
    rows, g, cluster, weight = _rows(n, k, 8)
    w = weight if weighted else None
    # debiased is CR1 as Stata has it, the factor G/(G − 1) · (n − 1)/(n − k); without it CR0.
    for covariance, debiased in (("HC0", False), ("HC1", True)):
        found = sl.supervised(rows.y, g, rows.X, weights=w, cluster=cluster, covariance=covariance)  # type: ignore[arg-type]
        expected = _least_squares(rows, g, w, cov_type="clustered", clusters=cluster, debiased=debiased)
        assert (found.estimate, found.std_error) == pytest.approx(expected, rel=SAME)
