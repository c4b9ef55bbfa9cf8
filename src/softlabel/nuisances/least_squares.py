"""The named learners "linear", "quadratic" and "spline": least squares on controls, their products, their curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from softlabel.basis import DEFAULT_KNOTS
from softlabel.basis.knots import distinct, place_knots
from softlabel.basis.splines import evaluate, pieces

__all__ = ["SHAPES", "LeastSquares"]

Floats = NDArray[np.float64]
Columns = Callable[[Floats], Floats]

SHAPES = ("linear", "quadratic", "spline")

# A direction of the standardised columns along which they vary by less than this share of the most is left out.
_NO_DIRECTION = 1e-10
# Below so many times its mean, what a column varies by is rounding.
_CONSTANT = 1e-14


class LeastSquares:
    """Least squares without a penalty, in the form of a scikit-learn regressor.

    Parameters
    ----------
    shape
        "linear": the columns x (n, k) as they are. "quadratic": with their squares and products, k + k(k + 1)/2
        columns, of standardised x. "spline": a natural cubic spline of each, with knots at quantiles; no products.

    Notes
    -----
    Columns are standardised, and of directions along which they hardly vary nothing is learnt: what dummies repeat
    costs nothing.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 9)[:, None]
    >>> for shape in SHAPES:
    ...     print(shape, LeastSquares(shape=shape).fit(x, x[:, 0] ** 2).predict(np.array([[0.5]])).round(2).tolist())
    linear [0.42]
    quadratic [0.25]
    spline [0.24]
    """

    def __init__(self, *, shape: str = "linear") -> None:
        self.shape = shape

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  (scikit-learn's signature)
        """Return what makes another one like it."""
        return {"shape": self.shape}

    def set_params(self, *, shape: str) -> Self:
        """Change what it was made with."""
        self.shape = shape
        return self

    def fit(self, x: Floats, y: Floats, sample_weight: Floats | None = None) -> Self:
        """Fit on x (n, k), y (n,) and weights (n,)."""
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = weight / weight.mean()
        self.columns: Columns = _COLUMNS[self.shape](x, weight)
        columns = self.columns(x)
        scaling = _scaling(columns, weight)
        z = scaling(columns)
        self.scaling, self.level = scaling, float(weight @ y / weight.sum())
        sizes, axes = np.linalg.eigh(z.T @ (weight[:, None] * z))
        kept = sizes > _NO_DIRECTION * sizes.max(initial=0.0)
        toward = axes[:, kept].T @ (z.T @ (weight * (y - self.level)))
        self.slope: Floats = axes[:, kept] @ (toward / sizes[kept])
        return self

    def predict(self, x: Floats) -> Floats:
        """Return predictions (m,) for x (m, k)."""
        found: Floats = self.level + self.scaling(self.columns(x)) @ self.slope
        return found


class _Scaling(NamedTuple):
    """What makes columns of mean zero and variance one; a constant stays as it is."""

    mean: Floats
    scale: Floats

    def __call__(self, x: Floats) -> Floats:
        return (x - self.mean) / self.scale


def _scaling(x: Floats, weight: Floats) -> _Scaling:
    mean: Floats = weight @ x / weight.sum()
    spread = np.sqrt(weight @ np.square(x - mean) / weight.sum())
    return _Scaling(mean, np.where(spread > _CONSTANT * np.abs(mean), spread, 1.0))


def _linear(_: Floats, __: Floats) -> Columns:
    return np.asarray


def _quadratic(x: Floats, weight: Floats) -> Columns:
    scaling = _scaling(x, weight)
    left, right = np.triu_indices(x.shape[1])

    def columns(x: Floats) -> Floats:
        z = scaling(x)
        return np.concatenate([z, z[:, left] * z[:, right]], axis=1)

    return columns


def _splines(x: Floats, weight: Floats) -> Columns:
    knots = [np.array(place_knots(*distinct(column, weight), DEFAULT_KNOTS)) for column in x.T]
    curves = [pieces(places, natural=True) if len(places) else None for places in knots]

    def columns(x: Floats) -> Floats:
        each = [
            column[None] if curve is None else evaluate(column, places, curve)
            for column, places, curve in zip(np.ascontiguousarray(x.T), knots, curves, strict=True)
        ]
        return np.concatenate(each).T

    return columns


_COLUMNS: dict[str, Callable[[Floats, Floats], Columns]] = {
    "linear": _linear,
    "quadratic": _quadratic,
    "spline": _splines,
}
