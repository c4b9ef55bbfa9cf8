"""Rows of the oracle through both passes of the package, cut into batches and blocks as asked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softlabel.basis import LinearBasis
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.moments import Design, Partition
from softlabel.study import Batch, Columns, Tally
from tests.oracle import Rows


def columns(rows: Rows) -> Columns:
    """The same rows as the package holds them."""
    return Columns(
        outcome=rows.y,
        score=rows.p.T,
        controls=rows.X.T,
        group=np.full(len(rows.y), np.nan),
        weight=rows.weight,
        cluster=None if rows.cluster is None else rows.cluster.astype(np.uint64),
        fold=rows.fold,
    )


def batch(rows: Rows) -> Batch:
    """One batch of unlabelled rows."""
    all_rows = columns(rows)
    return Batch(all_rows, all_rows.take(slice(0, 0)), Tally(rows=len(rows.y), unlabelled=len(rows.y)))


def design_of(rows: Rows, partition: Partition) -> Design:
    """The design of rows whose folds, if any, are handed in."""
    names = tuple(f"x{j}" for j in range(rows.X.shape[1]))
    folds = 1 if rows.fold is None else int(rows.fold.max()) + 1
    return Design(LinearBasis(names), partition, folds, seed=0)


def run(rows: Rows, partition: Partition, pieces: Sequence[NDArray[np.intp]] | None = None) -> Analysis:
    """Both passes over the rows, in the batches given by row numbers, or in one."""
    design = design_of(rows, partition)
    numbered = [np.arange(len(rows.y))] if pieces is None else pieces
    batches = [batch(rows.only(piece)) for piece in numbered]
    rule = FoldRule(None if rows.fold is None else design.folds, "given")
    return analyse(lambda: batches, lambda chunk: chunk, design, rule, verify=lambda _: None)
