"""The named learner "ridge": standardised columns, and the penalty of the least leave-one-out error."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["LeaveOneOutRidge"]

Floats = NDArray[np.float64]

# Standardised columns have squares of sum n, so this is from no shrinking to all of it for any usual n.
_PENALTIES = np.logspace(-3, 6, 19)

# Below so many times its mean, what a column varies by is rounding.
_CONSTANT = 1e-14


class LeaveOneOutRidge:
    r"""Ridge regression on standardised columns, in the form of a scikit-learn regressor.

    The penalty α is the one of `_PENALTIES` with the least :math:`\sum w_i e_i^2 / (1 - m_i h_i)^2`, where e are the
    residuals, h_i = 1/Σw + zᵢᵀ(ZᵀWZ + αI)⁻¹zᵢ and m_i the mass that is left out: a row with all its weight, or one of
    the ``copies`` that a weight counts. Without weights this is scikit-learn's RidgeCV after its StandardScaler,
    whose weights are never counts: left out with all its copies, a row chooses another penalty than rows repeated do
    (twelve tables of 200 rows: κ off by up to 0.012, the soft estimate by 0.13).
    """

    def __init__(self, *, copies: bool = False) -> None:
        self.copies = copies

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  (scikit-learn's signature)
        """Return what makes another one like it."""
        return {"copies": self.copies}

    def set_params(self, *, copies: bool) -> Self:
        """Change what it was made with."""
        self.copies = copies
        return self

    def fit(self, x: Floats, y: Floats, sample_weight: Floats | None = None) -> Self:
        """Fit on x (n, k), y (n,) and weights (n,)."""
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.line = _line(x, y, weight, mass=1.0 if self.copies else weight)
        return self

    def predict(self, x: Floats) -> Floats:
        """Return predictions (m,) for x (m, k)."""
        line = self.line
        found: Floats = line.level + (x - line.mean) / line.scale @ line.slope
        return found


class _Line(NamedTuple):
    """y = level + slope·(x − mean)/scale, of the chosen penalty."""

    mean: Floats
    scale: Floats
    level: float
    slope: Floats
    penalty: float


def _line(x: Floats, y: Floats, w: Floats, mass: Floats | float) -> _Line:
    """Return the regression of y (n,) on x (n, k) with weights w (n,), of which ``mass`` is left out at a time."""
    total = w.sum()
    mean, level = w @ x / total, float(w @ y / total)
    spread = np.sqrt(w @ np.square(x - mean) / total)
    scale = np.where(spread > _CONSTANT * np.abs(mean), spread, 1.0)
    z, target = (x - mean) / scale, y - level
    sizes, axes = np.linalg.eigh(z.T @ (w[:, None] * z))
    sizes, turned = np.maximum(sizes, 0), z @ axes
    toward, squares = turned.T @ (w * target), np.square(turned)

    def error(penalty: float) -> float:
        left = target - turned @ (toward / (sizes + penalty))
        leverage = 1 / total + squares @ (1 / (sizes + penalty))
        return float(w @ np.square(left / np.maximum(1 - mass * leverage, np.finfo(float).eps)))

    penalty = float(min(_PENALTIES, key=error))
    return _Line(mean, scale, level, axes @ (toward / (sizes + penalty)), penalty)
