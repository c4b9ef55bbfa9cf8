"""Drawn: a few unlabelled rows, by their hashes: the same whatever their order. A commutative monoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.hashing import Hashes
from softlabel.study import Columns

__all__ = ["DRAWN_ROWS", "Drawn", "limit"]

Floats = NDArray[np.float64]
_Piece = tuple[Hashes, Floats, Floats]

# So many on average: enough to tell half of V* from all of it, few enough to find their neighbours in 5 ms.
DRAWN_ROWS = 2_048

# Where a few rows have most of the copies, more lie below the limit: no more than these are kept, the lowest.
_MOST = 2 * DRAWN_ROWS


def limit(n_effective: float) -> int:
    """Return the hash below which about `DRAWN_ROWS` of so many distinct rows lie.

    Rows written out as often as their frequency says have the same number of distinct ones, so the same are drawn.
    """
    return min(int(DRAWN_ROWS / max(n_effective, 1.0) * 2.0**64), (1 << 64) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Hashes (m,), scores (q, m) and controls (k, m) of the drawn rows, in pieces."""

    pieces: tuple[_Piece, ...] = ()

    @classmethod
    def of(cls, rows: Columns, hashes: Hashes, below: int) -> Drawn:
        """Return those of these rows whose hash lies below a limit."""
        chosen = hashes < np.uint64(below)
        if not chosen.any():
            return cls()
        return cls(_bounded(((hashes[chosen], rows.score[:, chosen], rows.controls[:, chosen]),)))

    def merge(self, other: Drawn) -> Drawn:
        """Return the rows drawn from both."""
        return Drawn(_bounded(self.pieces + other.pieces))

    def distinct(self) -> tuple[Floats, Floats]:
        """Return scores (q, m) and controls (k, m), each distinct row once, in the order of their hashes."""
        if not self.pieces:
            return np.empty((1, 0)), np.empty((0, 0))
        _, score, controls = _lowest(self.pieces)
        return score, controls


def _bounded(pieces: tuple[_Piece, ...]) -> tuple[_Piece, ...]:
    """Return the same with what can no longer be among the lowest left out, if there is much of it."""
    many = sum(len(hashes) for hashes, *_ in pieces) > 2 * _MOST
    return (_lowest(pieces),) if many else pieces


def _lowest(pieces: tuple[_Piece, ...]) -> _Piece:
    """Return the distinct rows of the lowest hashes, in order."""
    hashes, score, controls = (np.concatenate(part, axis=-1) for part in zip(*pieces, strict=True))
    first = np.unique(hashes, return_index=True)[1][:_MOST]
    return hashes[first], score[:, first], controls[:, first]
