"""Least squares from cross products: centred, scaled, and honest about rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

__all__ = ["RANK_TOLERANCE", "Fit", "least_squares", "solve_small"]

Floats = NDArray[np.float64]

# A column counts as redundant when the columns before it leave less than this share of its variance.
# Cross products carry about 16 digits, so below 1e-10 the first six digits of what is left are noise.
RANK_TOLERANCE = 1e-10


class Fit(NamedTuple):
    """Coefficients (d, m) of the design columns, zero for redundant ones, and which were kept (d,)."""

    coefficients: Floats
    kept: NDArray[np.bool_]


def least_squares(gram: Floats, cross: Floats) -> Fit:
    r"""Return the coefficients of regressions on the same design from their cross products.

    Parameters
    ----------
    gram : (d, d)
        Σ w B Bᵀ; the first column of the design is the intercept, so ``gram[0, 0]`` is Σ w.
    cross : (d, m)
        Σ w B v for each of m dependent variables v.

    Notes
    -----
    The intercept is eliminated first and the rest scaled to unit variance, so that the tolerance
    `RANK_TOLERANCE` means the same for every column. Then a Cholesky factor is built column by column and a
    column whose pivot falls below the tolerance is left out (its coefficient is zero): predictions are those
    of the full least-squares fit, and of several collinear columns the earlier ones stay.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[1.0, 1, 1, 1], [0, 1, 2, 3], [0, 2, 4, 6]])
    >>> fit = least_squares(B @ B.T, B @ np.array([[1.0], [3], [5], [7]]))
    >>> np.round(fit.coefficients[:, 0], 12).tolist(), fit.kept.tolist()
    ([1.0, 2.0, 0.0], [True, True, False])
    """
    total = gram[0, 0]
    coefficients = np.zeros_like(cross)
    kept = np.zeros(len(gram), dtype=np.bool_)
    if total <= 0:
        return Fit(coefficients, kept)
    kept[0] = True
    mean = gram[0, 1:] / total
    centred = gram[1:, 1:] - total * np.outer(mean, mean)
    right = cross[1:] - np.outer(mean, cross[0])
    # A constant column has only rounding left after centring, relative to its own raw second moment.
    raw = np.diagonal(gram)[1:]
    spread = np.diagonal(centred)
    varies = spread > RANK_TOLERANCE**1.5 * raw
    scale = np.sqrt(np.where(varies, spread, 1.0))
    factor, free = _cholesky(centred / np.outer(scale, scale), varies)
    if len(free):
        half = solve_triangular(factor, right[free] / scale[free, None], lower=True, check_finite=False)
        slopes = solve_triangular(factor.T, half, lower=False, check_finite=False)
        coefficients[free + 1] = slopes / scale[free, None]
        kept[free + 1] = True
    coefficients[0] = cross[0] / total - mean @ coefficients[1:]
    return Fit(coefficients, kept)


def _cholesky(correlation: Floats, allowed: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.intp]]:
    """Return the Cholesky factor over the independent columns, and which those are."""
    d = len(correlation)
    factor = np.zeros((d, d))
    free: list[int] = []
    for j in range(d):
        k = len(free)
        row = (
            solve_triangular(factor[:k, :k], correlation[free, j], lower=True, check_finite=False)
            if k
            else np.empty(0)
        )
        pivot = correlation[j, j] - row @ row
        if allowed[j] and pivot > RANK_TOLERANCE:
            factor[k, :k] = row
            factor[k, k] = np.sqrt(pivot)
            free.append(j)
    return factor[: len(free), : len(free)], np.array(free, dtype=np.intp)


def solve_small(matrix: Floats, right: Floats) -> Floats:
    """Solve for stacks of q×q systems: ``matrix`` (..., q, q), ``right`` (..., q, m); q is 1 for a binary group."""
    if matrix.shape[-1] == 1:
        return right / matrix
    solved: Floats = np.linalg.solve(matrix, right)
    return solved
