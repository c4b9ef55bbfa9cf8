"""Curves: each numeric column as a natural cubic spline of a few knots, as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from softlabel.basis.knots import distinct, place_knots
from softlabel.basis.splines import evaluate, pieces

__all__ = ["Curves"]

Floats = NDArray[np.float64]


class Curves(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns (n, k) without gaps to columns that bend at quantiles of the rows it was fitted on.

    A column of fewer than three distinct values stays as it is.
    """

    def __init__(self, knots: int = 4) -> None:
        self.knots = knots

    def fit(self, X: Floats, y: Any = None) -> Curves:  # noqa: ARG002  (the interface of scikit-learn)
        """Place the knots."""
        found = (distinct(column, np.ones(len(column))) for column in np.asarray(X).T)
        self.places_ = [np.array(place_knots(values, counts, self.knots)) for values, counts in found]
        self.pieces_ = [pieces(knots, natural=True) if len(knots) else None for knots in self.places_]
        return self

    def transform(self, X: Floats) -> Floats:
        """Return the columns."""
        parts = [
            column[None] if table is None else evaluate(np.ascontiguousarray(column), knots, table)
            for column, knots, table in zip(np.asarray(X).T, self.places_, self.pieces_, strict=True)
        ]
        return np.concatenate(parts).T if parts else np.empty((len(X), 0))
