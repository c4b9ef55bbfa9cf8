r"""DriftSums: how far a drift of the group's probability could carry each estimate. A commutative monoid.

If E[G|p,X] = p + η with |η| ≤ δ and 0 ≤ p + η ≤ 1, an estimate with residual v is off by E[vη] per unit of τ, which
is largest for η = ± sgn(v) min(δ, u), u being the room that the score leaves: 1 − p upwards, p downwards. So

.. math:: \max_\eta \mathrm E[v\eta] = \mathrm E[|v| \min(\delta, u)] ,

a function of Σ w|v| and Σ w|v|p by side of v and bin of the score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.influence.points import Points
from softlabel.influence.scores import Residuals

__all__ = ["DriftSums", "drift_sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class DriftSums:
    """Sums over m residuals, in the order soft, hard at every threshold, confident at every threshold.

    Attributes
    ----------
    mass : (m, 2, C)
        Σ w|v| over rows with v > 0 and with v < 0, by code of the score.
    lean : (m, 2, C)
        Σ w|v|(2p − 1).
    """

    mass: Floats
    lean: Floats

    def merge(self, other: DriftSums) -> DriftSums:
        """Return the sums over both sets of rows."""
        return DriftSums(self.mass + other.mass, self.lean + other.lean)

    def join(self) -> DriftSums:
        """Return the same sums: there is nothing to save."""
        return self

    def room(self, *, upwards: bool) -> tuple[Floats, Floats]:
        """Return Σ w|v| and Σ w|v|u, (m, 2C) each, by side of v and code of the score."""
        # Upwards, η = 1 − p where v > 0 and −p where v < 0; downwards the other way round.
        sign = np.array([-1.0, 1.0] if upwards else [1.0, -1.0])[:, None]
        room = np.maximum(self.mass + sign * self.lean, 0) / 2
        return self.mass.reshape(len(room), -1), room.reshape(len(room), -1)


def drift_sums(res: Residuals, at: Points) -> DriftSums:  # noqa: ARG001  (an accumulator like the others)
    """Return the sums of one block; none where a label has several contrasts, for which there is no scalar bound."""
    folds, codes = res.counts.shape
    if len(res.a) != 1:
        return DriftSums(np.zeros((0, 2, codes)), np.zeros((0, 2, codes)))
    rows = [*res.a, *res.b[:, 0], *res.b_c[:, 0]]
    cells = res.counts.ravel()
    filled = np.flatnonzero(cells)
    # Rows are sorted by fold and code, so that a cell is a slice.
    starts = (np.cumsum(cells) - cells)[filled]
    found = np.empty((len(rows), 4, len(filled)))
    # One residual at a time in a buffer that stays in cache: new arrays for all of them take three times as long.
    part = np.empty((4, len(res.r)))
    for v, sums in zip(rows, found, strict=True):
        np.maximum(v, 0.0, out=part[0])
        np.minimum(v, 0.0, out=part[1])
        if res.weight is not None:
            part[:2] *= res.weight
        np.multiply(part[:2], res.sign[0], out=part[2:])
        np.add.reduceat(part, starts, axis=1, out=sums)
    spread = np.zeros((len(rows), 4, len(cells)))
    spread[..., filled] = found
    by_code = spread.reshape(len(rows), 2, 2, folds, codes).sum(axis=3)
    by_code[:, :, 1] *= -1
    return DriftSums(by_code[:, 0], by_code[:, 1])
