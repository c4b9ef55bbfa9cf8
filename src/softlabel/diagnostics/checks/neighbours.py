"""Neighbours: how much scores differ between rows whose controls are nearly the same."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.influence import Analysis

__all__ = ["Neighbours", "neighbours"]

Floats = NDArray[np.float64]

_LEAST_ROWS = 200

# Texts come as hashes of 53 bits: codes this far apart, in deviations, are never neighbours of one another.
_TEXT = 2.0**32
_APART = 1e3


class Neighbours(NamedTuple):
    """Half the mean squared difference of scores between nearest neighbours, and its standard error.

    ``equal_controls`` counts rows whose neighbour has the same controls, ``same_scores`` those of them with one score.
    """

    half_square: float
    std_error: float
    equal_controls: int
    same_scores: int


def neighbours(analysis: Analysis) -> Neighbours | None:
    """Return what the drawn rows say, ``None`` where they are too few."""
    score, controls = analysis.drawn.distinct()
    n = score.shape[1]
    if n < _LEAST_ROWS:
        return None
    p = score[0]
    if not len(controls):
        half = np.square(p - p.mean())
        return Neighbours(float(half.mean()), float(half.std() / n**0.5), 0, 0)
    from scipy.spatial import cKDTree

    points = np.stack([_comparable(values) for values in controls], axis=1)
    found = cKDTree(points).query(points, k=2)
    distance, nearest = np.asarray(found[0]), np.asarray(found[1])
    # The nearest but for the row itself, which among equal controls may come second.
    other = np.where(nearest[:, 0] == np.arange(n), nearest[:, 1], nearest[:, 0])
    half = 0.5 * np.square(p - p[other])
    equal = distance[:, 1] == 0
    # A row may be the neighbour of several: as if half the differences were independent.
    error = float(half.std() / n**0.5) * 2**0.5
    return Neighbours(float(half.mean()), error, int(equal.sum()), int((equal & (p == p[other])).sum()))


def _comparable(values: Floats) -> Floats:
    """Return a control in units of its deviation; a text as numbers far apart."""
    if np.abs(values).max() > _TEXT and (values == np.floor(values)).all():
        return np.unique(values, return_inverse=True)[1].astype(np.float64) * _APART
    spread = float(values.std())
    scaled: Floats = np.asarray((values - values.mean()) / (spread if spread > 0 else 1.0), dtype=np.float64)
    return scaled
