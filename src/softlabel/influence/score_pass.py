"""The second pass: rows to influence functions, fed to a list of mergeable accumulators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol, Self

from softlabel.folds import RowCheck, hash_rows
from softlabel.influence.drawn import Drawn
from softlabel.influence.drift_sums import drift_sums
from softlabel.influence.points import Points
from softlabel.influence.scores import Residuals, confident_sums, core_sums, hard_sums, residuals, share_sums
from softlabel.influence.spread_sums import spread_sums
from softlabel.moments.design import Design
from softlabel.moments.kernel import sorted_blocks
from softlabel.nuisances import LinearNuisances
from softlabel.study import Batch

__all__ = ["ACCUMULATORS", "Accumulator", "ScoreState", "Sums", "score_batch"]


class Sums(Protocol):
    """What an accumulator adds up: a commutative monoid."""

    def merge(self, other: Self) -> Self:
        """Return the sums over both sets of rows."""

    def join(self) -> Self:
        """Return the same sums in least memory."""


Accumulator = Callable[[Residuals, Points], Sums]

# A new diagnostic adds an entry here, never a pass.
ACCUMULATORS: Mapping[str, Accumulator] = {
    "core": core_sums,
    "hard": hard_sums,
    "confident": confident_sums,
    "shares": share_sums,
    "drift": drift_sums,
    "spread": spread_sums,
}


@dataclass(frozen=True, slots=True, eq=False)
class ScoreState:
    """What the second pass returns for some rows; ``sums`` has one entry per accumulator."""

    sums: Mapping[str, Sums]
    check: RowCheck
    drawn: Drawn = field(default_factory=Drawn)

    @classmethod
    def empty(cls) -> ScoreState:
        """Return the identity of `merge`."""
        return cls({}, RowCheck())

    def merge(self, other: ScoreState) -> ScoreState:
        """Return the state of both sets of rows; rows without any unlabelled one have no sums."""
        if not self.sums or not other.sums:
            sums = self.sums or other.sums
        else:
            sums = {name: part.merge(other.sums[name]) for name, part in self.sums.items()}
        return ScoreState(sums, self.check.merge(other.check), self.drawn.merge(other.drawn))


def score_batch(
    batch: Batch, nuisances: LinearNuisances, at: Points, design: Design, *, draw_below: int = 0
) -> ScoreState:
    """Return the state of one batch, with the rows whose hash lies below a limit."""
    rows = batch.unlabelled
    hashes = hash_rows(rows)
    check = RowCheck.of(rows, hashes).merge(RowCheck.of(batch.labelled, hash_rows(batch.labelled)))
    blocks = (
        residuals(block, nuisances, design)
        for block in sorted_blocks(rows, hashes, design, nuisances.shift, _block_rows(nuisances))
    )
    states = (ScoreState({name: add(res, at) for name, add in ACCUMULATORS.items()}, RowCheck()) for res in blocks)
    merged = reduce(ScoreState.merge, states, ScoreState({}, check, Drawn.of(rows, hashes, draw_below)))
    return ScoreState({name: part.join() for name, part in merged.sums.items()}, merged.check, merged.drawn)


def _block_rows(nuisances: LinearNuisances) -> int:
    """Return how many rows to work on at once: fewer when there are many thresholds, so that memory stays flat."""
    height: int = nuisances.maps.shape[1]
    return max(256, (1 << 20) // height)
