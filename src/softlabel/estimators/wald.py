r"""Tests of several restrictions at once, robust to unequal variances and to clusters.

With influence values ψ_i of an m-vector θ̂ (of a row, or summed over a cluster), W = θ̂ᵀ (Σ ψψᵀ)⁻¹ θ̂ and

.. math::
    F = \frac{W}{m} \sim F(m, n - k), \qquad
    F = \frac{W}{m}\,\frac{G - m}{G - 1} \sim F(m, G - m) \text{ with } G \text{ clusters},

the second being Hotelling's (1931), for a covariance learnt from G sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.estimators.columns import ROUNDING, centred, relative, scaled
from softlabel.estimators.sandwich import FULL_LEVERAGE, adjust, small_sample
from softlabel.study import Columns

__all__ = ["Block", "Wald", "block_test", "gap_test", "line", "score_test"]

Floats = NDArray[np.float64]


class Wald(NamedTuple):
    """A test: the statistic in the units of χ², its restrictions, and the p-value of its finite-sample law."""

    statistic: float
    df: int
    p_value: float


class Block(NamedTuple):
    """A test of a block of coefficients, and the coefficients (m,) with their covariance (m, m).

    Columns that the others explain have coefficient zero, and do not count as restrictions.
    """

    test: Wald
    coefficients: Floats
    covariance: Floats


def block_test(target: Floats, tested: Floats, others: Floats, rows: Columns, covariance: str) -> Block | str:
    """Test that ``tested`` (m, n) have no slope in the regression of a target (n,) on them and ``others`` (j, n).

    Weights, copies and clusters are those of ``rows``; ``covariance`` is HC0 to HC3, or CR0 to CR3 with clusters. What
    comes back instead of a test says why there is none.
    """
    weight = relative(rows.weight)
    copies = rows.weight if rows.frequency else None
    codes = _codes(rows)
    j, m = len(others), len(tested)
    unit, free = scaled(np.vstack([others, tested]), weight)
    n = len(target)
    intercept = np.full((1, n), n**-0.5) if weight is None else np.sqrt(weight / n)[None]
    q, r = np.linalg.qr(np.vstack([intercept, unit[free]]).T)
    kept = np.flatnonzero(free[j:])
    last = len(kept)
    if not last:
        return "the other columns explain what is to be tested"
    k = q.shape[1]
    cases = n if copies is None else int(copies.sum())
    groups = None if codes is None else int(codes.max()) + 1
    if cases - k < 1:
        return f"{cases} rows are too few for {k} coefficients"
    if groups is not None and groups <= last:
        return f"{groups} clusters are too few to test {last} coefficients at once"
    y = centred(target, weight)
    theta = q[:, -last:].T @ y
    adjusted, leverage = adjust(q, y - q @ (q.T @ y), covariance, copies=copies, cluster=codes)
    if leverage.max() >= FULL_LEVERAGE:
        return "a single row, or cluster of them, decides a coefficient"
    influence = q[:, -last:] * adjusted[:, None] * small_sample(covariance, cases, k, groups) ** 0.5
    meat = _meat(influence.T, copies, codes, divided=True)
    # From orthonormal columns back to those that were given.
    size = np.sqrt(np.square(centred(tested, weight)).sum(axis=1))[kept]
    back = np.linalg.solve(r[-last:, -last:], np.eye(last)) / size[:, None]
    coefficients, found = np.zeros(m), np.zeros((m, m))
    coefficients[kept] = back @ theta
    found[np.ix_(kept, kept)] = back @ meat @ back.T
    return Block(_wald(theta, meat, cases - k, groups), coefficients, found)


def line(target: Floats, x: Floats, rows: Columns, covariance: str) -> tuple[Floats, Floats] | None:
    """Return (intercept, slope) of a target (n,) on x (n,), and their covariance (2, 2); ``None`` if x is constant."""
    weight, copies, codes = rows.weight, rows.weight if rows.frequency else None, _codes(rows)
    root = np.ones(len(x)) if weight is None else np.sqrt(weight / weight.mean())
    middle = float(np.average(x, weights=weight))
    size = float(np.abs(x - middle).max())
    if size <= ROUNDING * float(np.abs(x).max()):
        return None
    # About the mean and in units of the spread, where both columns are of like size.
    q, r = np.linalg.qr((root * np.vstack([np.ones(len(x)), (x - middle) / size])).T)
    theta = q.T @ (root * target)
    adjusted, leverage = adjust(q, root * target - q @ theta, covariance, copies=copies, cluster=codes)
    if leverage.max() >= FULL_LEVERAGE:
        return None
    cases = len(x) if copies is None else int(copies.sum())
    groups = None if codes is None else int(codes.max()) + 1
    influence = q * adjusted[:, None] * small_sample(covariance, cases, 2, groups) ** 0.5
    back = np.array([[1.0, -middle / size], [0.0, 1 / size]]) @ np.linalg.solve(r, np.eye(2))
    return back @ theta, back @ _meat(influence.T, copies, codes, divided=True) @ back.T


def score_test(gap: Floats, variance: Floats, columns: Floats, rows: Columns, *, level: bool = True) -> Wald | str:
    r"""Test E[gap · (1, columns)] = 0 for gaps (n,) of known variance (n,) and columns (m, n).

    .. math:: s = \sum w z\,\mathrm{gap}, \qquad T = s^\top \Bigl(\sum w^2 z z^\top v\Bigr)^{-1} s \sim \chi^2

    as no coefficient is fitted, its size is right in small samples too. With clusters, whose rows may depend on each
    other whatever v says, the covariance is that of the sums over clusters. Without ``level`` the mean of the gap is
    free: only its covariances with the columns are tested.
    """
    weight, copies, codes = rows.weight, rows.weight if rows.frequency else None, _codes(rows)
    unit, free = scaled(columns, relative(weight))
    n = len(gap)
    root = np.ones(n) if weight is None else np.sqrt(weight)
    q = np.linalg.qr(np.vstack([root, unit[free]]).T).Q
    if not level:
        q = q[:, 1:]
        if not q.shape[1]:
            return "the columns do not vary"
    scores = q * (root * gap)[:, None]
    total = scores.sum(axis=0)
    if codes is not None:
        groups = int(codes.max()) + 1
        if groups <= len(total) + 1:
            return f"{groups} clusters are too few to test {len(total)} coefficients at once"
        sums = np.stack([np.bincount(codes, row) for row in scores.T])
        sums_about = sums - sums.mean(axis=1, keepdims=True)
        return _wald(total, sums_about @ sums_about.T * (groups / (groups - 1)), 0, groups)
    spread = variance if copies is not None else variance * np.square(root)
    return _wald(total, (q * spread[:, None]).T @ q, None, None)


def gap_test(here: Floats, there: Floats, spread: Floats, n_there: float, rows: Columns) -> Wald | str:
    """Test that the means of columns (m, n) here are those of another sample, with means (m,) and covariance (m, m).

    ``n_there`` is how many independent equal rows the other sample is worth. Samples of one population share its
    covariance, so that of the mean here is the average of its own sandwich and of what the other sample says: alone,
    the sandwich of a rare column that no row here has would be zero, and any gap infinitely many errors.
    """
    weight = np.ones(here.shape[1]) if rows.weight is None else rows.weight
    copies, codes = rows.weight if rows.frequency else None, _codes(rows)
    # In units of the other sample's deviations, so that rank means the same for every column.
    size = np.sqrt(np.diagonal(spread))
    varies = size > 0
    if not varies.any():
        return "nothing varies there"
    scale = size[varies, None]
    values = (here[varies] - there[varies, None]) / scale
    other = spread[np.ix_(varies, varies)] / (scale * scale.T)
    mean = values @ weight / weight.sum()
    influence = (values - mean[:, None]) * (weight if copies is None else 1.0) / weight.sum()
    mine = _meat(influence, copies, codes)
    cases = here.shape[1] if copies is None else int(copies.sum())
    groups = None if codes is None else int(codes.max()) + 1
    if (groups or cases) <= len(mean) + 1:
        return f"{groups or cases} {'clusters' if groups else 'rows'} are too few to compare {len(mean)} means at once"
    mine *= (groups or cases) / ((groups or cases) - 1)
    # How much less a mean is worth than one of as many independent rows of equal weight.
    plain = np.square(values - mean[:, None]) @ weight / weight.sum() / cases
    design = max(1.0, float(np.trace(mine) / max(float(plain.sum()), 1e-300)))
    # The other sample's clusters are like these; what its weights do is in n_there.
    both = (mine + other * design / cases) / 2 + other * (1.0 if groups is None else design) / n_there
    values_, vectors = np.linalg.eigh(both)
    kept = values_ > 1e-10 * values_.max()
    return _wald(vectors[:, kept].T @ mean, np.diag(values_[kept]), 0, groups or cases)


def _codes(rows: Columns) -> NDArray[np.intp] | None:
    return None if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1]


def _meat(influence: Floats, copies: Floats | None, codes: NDArray[np.intp] | None, *, divided: bool = False) -> Floats:
    """Return Σ ψψᵀ for ψ (m, n): over rows or clusters.

    Where a row stands for several copies, ψ is that of one copy, or, ``divided``, of all of them together.
    """
    if codes is not None:
        each = influence if copies is None or divided else influence * copies
        influence = np.stack([np.bincount(codes, row) for row in each])
    elif copies is not None:
        influence = influence / np.sqrt(copies) if divided else influence * np.sqrt(copies)
    product: Floats = influence @ influence.T
    return product


def _wald(theta: Floats, covariance: Floats, freedom: int | None, groups: int | None) -> Wald:
    """Return the test; ``freedom`` is of the residuals, ``None`` where the covariance is known."""
    from scipy.special import chdtrc, fdtrc

    m = len(theta)
    values, vectors = np.linalg.eigh(covariance)
    # A direction without variance can only be seen to be off by rounding.
    kept = values > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
    m = int(kept.sum())
    if not m:
        return Wald(0.0, 0, 1.0)
    statistic = float(np.square(vectors[:, kept].T @ theta) @ (1 / values[kept]))
    if groups is not None:
        p = fdtrc(m, groups - m, statistic / m * (groups - m) / (groups - 1))
    elif freedom is None:
        p = chdtrc(m, statistic)
    else:
        p = fdtrc(m, freedom, statistic / m)
    return Wald(statistic, m, float(p))
