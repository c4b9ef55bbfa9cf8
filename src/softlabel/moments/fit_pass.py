"""The first pass: everything that is a sum over rows before any coefficient is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from softlabel.folds import RowCheck, RowSketch, hash_rows
from softlabel.moments.cells import CellMoments
from softlabel.moments.design import Design
from softlabel.moments.kernel import add_block, centre, sorted_blocks
from softlabel.study import Batch, Columns, Tally

__all__ = ["FitState", "fit_batch"]


@dataclass(frozen=True, slots=True, eq=False)
class FitState:
    """What the first pass returns for some rows; states merge in any grouping.

    ``labelled`` holds the labelled rows themselves, in pieces: they are few.
    """

    moments: CellMoments
    sketch: RowSketch
    check: RowCheck
    tally: Tally
    labelled: tuple[Columns, ...]

    @classmethod
    def empty(cls, design: Design) -> FitState:
        """Return the identity of `merge`."""
        return cls(CellMoments.empty(design), RowSketch.empty(), RowCheck(), Tally(), ())

    def merge(self, other: FitState) -> FitState:
        """Return the state of both sets of rows."""
        return FitState(
            moments=self.moments.merge(other.moments),
            sketch=self.sketch.merge(other.sketch),
            check=self.check.merge(other.check),
            tally=self.tally.merge(other.tally),
            labelled=self.labelled + other.labelled,
        )


def fit_batch(batch: Batch, design: Design) -> FitState:
    """Return the state of one batch."""
    rows, labelled = batch.unlabelled, batch.labelled
    hashes = hash_rows(rows)
    moments = CellMoments.empty(design)
    if len(rows):
        shift = centre(rows, design)
        blocks = sorted_blocks(rows, hashes, design, shift)
        moments = reduce(CellMoments.merge, (add_block(block, design, shift) for block in blocks))
    return FitState(
        moments=moments,
        sketch=RowSketch.of(hashes, rows.weight if rows.frequency else None),
        check=RowCheck.of(rows, hashes).merge(RowCheck.of(labelled, hash_rows(labelled))),
        tally=batch.tally,
        labelled=(labelled,) if len(labelled) else (),
    )
