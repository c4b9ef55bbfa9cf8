"""CellMoments: every sum the linear route needs, per fold and cell of the score. A commutative monoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import StateError
from softlabel.moments.design import Design
from softlabel.moments.wire import pack, unpack

__all__ = ["CellMoments"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CellMoments:
    r"""Sums of z = (1, B(X), p, Y), taken about a pilot shift, over K folds, C codes and S segments.

    Attributes
    ----------
    design
        Fingerprint of the design; only equal ones merge.
    shift : (D,)
        Subtracted from z before crossing products, zero for the intercept. It is near the mean, because raw
        sums lose as many digits as the square of the mean exceeds the variance.
    counts : (K, C)
        Cases: rows, or their copies where weights are frequencies.
    sums : (K, C, D)
        Σ w z.
    grams : (K, S, D, D)
        Σ w z zᵀ.

    Notes
    -----
    ``merge`` moves both states to the count-weighted mean of their shifts. As z₀ = 1, moving by δ is
    the linear map z ↦ z + δ z₀, so the sums move exactly, without the rows.
    """

    design: str
    shift: Floats
    counts: NDArray[np.int64]
    sums: Floats
    grams: Floats

    @classmethod
    def empty(cls, design: Design) -> CellMoments:
        """Return the identity of `merge`: no rows."""
        k, c, s, width = design.folds, design.partition.n_codes, design.partition.n_segments, design.width
        return cls(
            design=design.fingerprint,
            shift=np.zeros(width),
            counts=np.zeros((k, c), dtype=np.int64),
            sums=np.zeros((k, c, width)),
            grams=np.zeros((k, s, width, width)),
        )

    @property
    def rows(self) -> int:
        """How many cases were added."""
        return int(self.counts.sum())

    @property
    def weight(self) -> float:
        """Σ w, the number of rows where there are no weights."""
        return float(self.sums[..., 0].sum())

    def merge(self, other: CellMoments) -> CellMoments:
        """Return the sums over both sets of rows."""
        if self.design != other.design:
            raise StateError(
                expected=f"sums of one design ({self.design})",
                found=f"another ({other.design})",
                fix="Compute both with the same columns, thresholds, folds and seed",
            )
        if not other.rows:
            return self
        if not self.rows:
            return other
        # Written so that equal shifts stay equal to the bit.
        share = other.rows / (self.rows + other.rows)
        shift = self.shift + share * (other.shift - self.shift)
        a, b = self.about(shift), other.about(shift)
        return CellMoments(self.design, shift, a.counts + b.counts, a.sums + b.sums, a.grams + b.grams)

    def about(self, shift: Floats) -> CellMoments:
        """Return the same sums taken about another shift."""
        if np.array_equal(shift, self.shift):
            return self
        move = np.eye(len(shift))
        move[:, 0] += self.shift - shift
        return CellMoments(self.design, shift, self.counts, self.sums @ move.T, move @ self.grams @ move.T)

    def to_bytes(self) -> bytes:
        """Return bytes that `from_bytes` turns into an equal state."""
        return pack(
            "CellMoments",
            self.design,
            {"shift": self.shift, "counts": self.counts, "sums": self.sums, "grams": self.grams},
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> CellMoments:
        """Return the state that `to_bytes` wrote."""
        design, arrays = unpack("CellMoments", data, ("shift", "counts", "sums", "grams"))
        return cls(design, **arrays)  # type: ignore[arg-type]
