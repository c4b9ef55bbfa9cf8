"""Least squares from cross products: centred, scaled, and honest about rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RANK_TOLERANCE", "Fit", "independent", "least_squares"]

Floats = NDArray[np.float64]

# A column counts as redundant when the columns before it leave less than this share of its variance.
# Cross products carry about 16 digits, so below 1e-10 the first six digits of what is left are noise.
RANK_TOLERANCE = 1e-10

# A column counts as constant when its variance is below this share of its second moment about the pilot shift.
# A dummy that is zero in all rows of a sum has only rounding left after centring: 1e-14 of its second moment in
# one block, 1e-11 after thousands of merges. Taken for variance, it would get a coefficient of noise over noise.
_CONSTANT = RANK_TOLERANCE


class Fit(NamedTuple):
    """Coefficients (..., d, m) of the design columns, zero for redundant ones, and which were kept (..., d)."""

    coefficients: Floats
    kept: NDArray[np.bool_]


def least_squares(gram: Floats, cross: Floats, ridge: float = 0.0) -> Fit:
    r"""Return the coefficients of regressions on one design, for a stack of cross products at once.

    Parameters
    ----------
    gram : (..., d, d)
        Σ w B Bᵀ; the first column of the design is the intercept, so ``gram[..., 0, 0]`` is Σ w.
    cross : (..., d, m)
        Σ w B v for each of m dependent variables v.
    ridge
        λ ≥ 0 in min Σ w (v − B b)² / Σ w + λ Σ sⱼ² bⱼ², with sⱼ the standard deviation of column j; the intercept is
        free. 0 is least squares.

    Notes
    -----
    The intercept is eliminated first and the rest scaled to unit variance, so that the tolerance
    `RANK_TOLERANCE` means the same for every column. A column whose Cholesky pivot falls below the tolerance is
    left out (its coefficient is zero): predictions are those of the full least-squares fit, and of several
    collinear columns the earlier ones stay. No rows give zeros.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[1.0, 1, 1, 1], [0, 1, 2, 3], [0, 2, 4, 6]])
    >>> fit = least_squares(B @ B.T, B @ np.array([[1.0], [3], [5], [7]]))
    >>> np.round(fit.coefficients[:, 0], 12).tolist(), fit.kept.tolist()
    ([1.0, 2.0, 0.0], [True, True, False])
    """
    total = gram[..., :1, :1]
    some = total > 0
    mean = np.divide(gram[..., 1:, :1], total, out=np.zeros_like(gram[..., 1:, :1]), where=some)
    centred = gram[..., 1:, 1:] - mean * gram[..., :1, 1:]
    right = cross[..., 1:, :] - mean * cross[..., :1, :]
    spread = np.diagonal(centred, axis1=-2, axis2=-1)
    varies = spread > _CONSTANT * np.diagonal(gram, axis1=-2, axis2=-1)[..., 1:]
    scale = np.sqrt(np.where(varies, spread, 1.0))[..., None]
    correlation = centred / (scale * scale.swapaxes(-1, -2))
    free = independent(correlation, varies)
    # A redundant column becomes an equation of its own, "coefficient = 0", so that the stack solves at once.
    both = free[..., :, None] & free[..., None, :]
    identity = np.eye(correlation.shape[-1])
    system = np.where(both, correlation, identity) + ridge * identity
    slopes = np.linalg.solve(system, np.where(free[..., None], right / scale, 0.0)) / scale
    level = np.divide(cross[..., :1, :], total, out=np.zeros_like(cross[..., :1, :]), where=some)
    intercept = level - mean.swapaxes(-1, -2) @ slopes
    return Fit(np.concatenate([intercept, slopes], axis=-2), np.concatenate([some[..., 0], free], axis=-1))


def independent(correlation: Floats, varies: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which columns (..., d) of a correlation matrix (..., d, d) are independent of those before them.

    Only columns that vary, (..., d), are considered.
    """
    if varies.all():
        try:
            factor = np.linalg.cholesky(correlation)
        except np.linalg.LinAlgError:
            pass
        else:
            pivots = np.square(np.diagonal(factor, axis1=-2, axis2=-1))
            if (pivots > RANK_TOLERANCE).all():
                return varies
    free = np.zeros_like(varies)
    for index in np.ndindex(varies.shape[:-1]):
        free[index] = _one_by_one(correlation[index], varies[index])
    return free


def _one_by_one(correlation: Floats, varies: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which columns are independent, building the Cholesky factor over those alone."""
    factor = np.zeros_like(correlation)
    free: list[int] = []
    for j in np.flatnonzero(varies).tolist():
        k = len(free)
        row = np.linalg.solve(factor[:k, :k], correlation[free, j])
        pivot = correlation[j, j] - row @ row
        if pivot > RANK_TOLERANCE:
            factor[k, :k] = row
            factor[k, k] = np.sqrt(pivot)
            free.append(j)
    kept = np.zeros(len(varies), dtype=np.bool_)
    kept[free] = True
    return kept
