"""Partition: rows to codes, so that every hard label and every confident set is a union of codes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import InputError

__all__ = ["Partition", "largest_confident_zero"]

_GRID = 100
_LOOKUP = 1024


def largest_confident_zero(threshold: float) -> float:
    """Return the largest float64 p for which ``1 - p > threshold`` is true as floating point computes it.

    Examples
    --------
    >>> p = largest_confident_zero(0.95)
    >>> 1 - p > 0.95, 1 - math.nextafter(p, 1) > 0.95
    (True, False)
    """
    low, high = 0, int(np.float64(1.0).view(np.int64))
    # Bits of non-negative doubles are ordered like the doubles, so bisection over bits is exact.
    while high - low > 1:
        middle = (low + high) // 2
        if 1 - float(np.int64(middle).view(np.float64)) > threshold:
            low = middle
        else:
            high = middle
    return float(np.int64(low).view(np.float64))


@dataclass(frozen=True)
class Partition:
    """Codes of a binary score: the number of edges below p, exact to the bit.

    The edges are a fixed grid of 0.01, the thresholds, and both ends of every confident set, so

    * ``p > t`` is "code above that of t" for each threshold t,
    * ``max(p, 1 − p) > t`` is "code at most one value or above another" for each confident t,

    with the comparisons that floating point makes. Codes of one *segment* belong to the same confident sets.

    Examples
    --------
    >>> import numpy as np
    >>> part = Partition((0.5,), (0.9,))
    >>> codes = part.codes(np.array([[0.05, 0.5, 0.51, 0.95]]))
    >>> part.labels[0, 0][codes].tolist()
    [0.0, 0.0, 1.0, 1.0]
    >>> part.members[0][codes].tolist()
    [True, False, False, True]
    """

    thresholds: tuple[float, ...]
    confident: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, values, low in (("thresholds", self.thresholds, 0.0), ("confident", self.confident, 0.5)):
            if not all(isinstance(t, int | float) and math.isfinite(t) and low <= t < 1 for t in values):
                raise InputError(
                    expected=f"{name} to be numbers from {low:g} to below 1",
                    found=f"{name}={values}",
                    fix=f"Use for instance {name}=(.6, .9)",
                )
            if len(set(values)) != len(values):
                raise InputError(expected=f"{name} to differ", found=f"{name}={values}", fix="Give each one once")

    @classmethod
    def of(cls, thresholds: Sequence[float], confident: Sequence[float]) -> Partition:
        """Return the partition for thresholds in any order."""
        return cls(_sorted("thresholds", thresholds), _sorted("confident", confident))

    @cached_property
    def edges(self) -> NDArray[np.float64]:
        """Edges in increasing order; the code of p is how many of them are below p."""
        grid = [k / _GRID for k in range(1, _GRID)]
        lower = [largest_confident_zero(t) for t in self.confident]
        return np.unique([*grid, *self.thresholds, *self.confident, *lower])

    @property
    def n_codes(self) -> int:
        """How many codes there are."""
        return len(self.edges) + 1

    @property
    def contrasts(self) -> int:
        """q: how many contrasts a label has; one for a binary group."""
        return 1

    def codes(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the code of each row, (n,), for scores (q, n)."""
        p = score[0]
        start, most = self._lookup
        # A table of 1024 equal cells gives the code at the left end of p's cell; the few edges inside the
        # cell are then compared one at a time. Four times as fast as a binary search per row.
        codes: NDArray[np.intp] = start[(p * _LOOKUP).astype(np.intp)]
        edges = np.append(self.edges, np.inf)
        for _ in range(most):
            codes += p > edges[codes]
        return codes

    @cached_property
    def _lookup(self) -> tuple[NDArray[np.intp], int]:
        left = np.arange(_LOOKUP + 1) / _LOOKUP
        start = np.searchsorted(self.edges, left, side="left")
        most = np.diff(np.append(start, len(self.edges))).max()
        return start, int(most)

    @cached_property
    def labels(self) -> NDArray[np.float64]:
        """Hard label of each code at each threshold, (T, q, codes)."""
        return self._above(self.thresholds)

    @cached_property
    def confident_labels(self) -> NDArray[np.float64]:
        """Hard label of each code at each confident threshold, (T, q, codes)."""
        return self._above(self.confident)

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Whether a code belongs to each confident set, (T, codes)."""
        lower = np.searchsorted(self.edges, [largest_confident_zero(t) for t in self.confident])
        below = np.arange(self.n_codes) <= lower[:, None]
        return below | (self.confident_labels[:, 0] > 0)

    @cached_property
    def segments(self) -> NDArray[np.intp]:
        """Segment of each code, (codes,): codes with equal membership that lie side by side."""
        changes = (np.diff(self.members, axis=1) != 0).any(axis=0)
        return np.concatenate([[0], np.cumsum(changes)])

    @property
    def n_segments(self) -> int:
        """How many segments there are."""
        return int(self.segments[-1]) + 1

    @cached_property
    def segment_members(self) -> NDArray[np.bool_]:
        """Whether a segment belongs to each confident set, (T, segments)."""
        first = np.searchsorted(self.segments, np.arange(self.n_segments))
        return self.members[:, first]

    def _above(self, thresholds: tuple[float, ...]) -> NDArray[np.float64]:
        edge = np.searchsorted(self.edges, thresholds)
        return (np.arange(self.n_codes) > edge[:, None]).astype(np.float64)[:, None, :]


def _sorted(name: str, values: Sequence[float]) -> tuple[float, ...]:
    try:
        return tuple(sorted(float(t) for t in values))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            expected=f"{name} to be a sequence of numbers",
            found=repr(values),
            fix=f"Use for instance {name}=(.6, .9)",
        ) from error
