"""SpreadSums: where the residuals of the score lie. A commutative monoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.influence.points import Points
from softlabel.influence.scores import Residuals

__all__ = ["SPREAD_KNOTS", "SpreadSums", "spread_sums"]

Floats = NDArray[np.float64]

_PER_UNIT = 50
# A residual of a score lies in [−1, 1], but where regressions run out of bounds.
SPREAD_KNOTS: tuple[float, ...] = tuple(k / _PER_UNIT for k in range(-_PER_UNIT, _PER_UNIT + 1))


@dataclass(frozen=True, slots=True, eq=False)
class SpreadSums:
    """Sums of weights at `SPREAD_KNOTS`, (knots,), of a = p − r̂(X); all zero where there are several contrasts.

    A row's weight is divided between the two knots around it, in proportion: unlike the count of a bin that is a
    continuous function of a, so that the rounding of another order of rows moves it by no more than itself.
    """

    mass: Floats

    def merge(self, other: SpreadSums) -> SpreadSums:
        """Return the sums over both sets of rows."""
        return SpreadSums(self.mass + other.mass)

    def join(self) -> SpreadSums:
        """Return the same sums: there is nothing to save."""
        return self


def spread_sums(res: Residuals, at: Points) -> SpreadSums:  # noqa: ARG001  (an accumulator like the others)
    """Return the sums of one block."""
    most = len(SPREAD_KNOTS) - 1
    if len(res.a) != 1:
        return SpreadSums(np.zeros(most + 1))
    place = np.clip((res.a[0] + 1) * _PER_UNIT, 0, most)
    below = np.minimum(place.astype(np.intp), most - 1)
    weight = np.ones(len(place)) if res.weight is None else res.weight
    upper = (place - below) * weight
    mass = np.zeros(most + 1)
    mass += np.bincount(below, weight - upper, most + 1)
    mass += np.bincount(below + 1, upper, most + 1)
    return SpreadSums(mass)
