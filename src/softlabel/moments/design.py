"""Design: what decides the shape and meaning of the sums, so that unlike sums refuse to merge."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from softlabel.basis import DesignBasis
from softlabel.moments.partition import Partition

__all__ = ["Design"]


@dataclass(frozen=True)
class Design:
    """The regression columns, the partition of the score and the dealing of rows to folds.

    ``roles`` names the outcome and the score, where they have names.

    A row enters every sum as z = (1, B(X), p, Y), of length D = d + q + 1: d design columns counting the
    intercept, q scores, one outcome.
    """

    basis: DesignBasis
    partition: Partition
    folds: int
    seed: int
    roles: tuple[str, ...] = ()

    @property
    def d(self) -> int:
        """Design columns, the intercept among them."""
        return 1 + len(self.basis.columns)

    @property
    def q(self) -> int:
        """Contrasts: one for a binary group."""
        return self.partition.contrasts

    @property
    def width(self) -> int:
        """D, the length of z."""
        return self.d + self.q + 1

    @cached_property
    def fingerprint(self) -> str:
        """Equal for designs whose sums may be added."""
        parts = [
            self.roles,
            type(self.partition).__name__,
            self.q,
            self.basis.name,
            self.basis.columns,
            self.basis.fingerprint,
            self.partition.thresholds,
            self.partition.confident,
            self.folds,
            self.seed,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
