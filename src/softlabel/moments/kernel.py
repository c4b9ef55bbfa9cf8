"""The kernel of both passes: rows sorted by fold and code, and the sums of the first pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.folds import deal, hash_ids
from softlabel.moments.cells import CellMoments
from softlabel.moments.design import Design
from softlabel.study import Columns

__all__ = ["BLOCK_ROWS", "Block", "add_block", "centre", "fold_of", "sorted_block", "sorted_blocks"]

Floats = NDArray[np.float64]

# Rows worked on at once: few enough for their columns to stay in cache, many enough to hide call overhead.
BLOCK_ROWS = 16_384


class Block(NamedTuple):
    """Rows sorted by fold, then by code of the score.

    z : (D, n) about the shift; counts : (K, C) rows per cell, in the order of the rows;
    starts : (K + 1,) where each fold begins; weight, cluster : (n,) or ``None``; frequency: as of `Columns`.
    """

    z: Floats
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    weight: Floats | None
    cluster: NDArray[np.uint64] | None
    frequency: bool = False


def sorted_blocks(
    columns: Columns, hashes: NDArray[np.uint64], design: Design, shift: Floats, rows: int | None = None
) -> Iterator[Block]:
    """Yield the rows in blocks of at most ``rows`` and `BLOCK_ROWS`, each sorted by fold and code."""
    rows = min(rows or BLOCK_ROWS, BLOCK_ROWS)
    for start in range(0, len(columns), rows):
        piece = slice(start, start + rows)
        yield sorted_block(columns.take(piece), hashes[piece], design, shift)


def centre(columns: Columns, design: Design) -> Floats:
    """Return the mean of z over these rows, (D,), with 0 for the intercept: a pilot shift."""
    block = np.empty((design.width, len(columns)))
    _fill(columns, design, block)
    shift: Floats = block.mean(axis=1)
    shift[0] = 0.0
    return shift


def _fill(columns: Columns, design: Design, z: Floats) -> None:
    z[0] = 1.0
    design.basis.fill(columns.controls, z[1 : design.d])
    z[design.d : -1] = columns.score
    z[-1] = columns.outcome


def sorted_block(columns: Columns, hashes: NDArray[np.uint64], design: Design, shift: Floats) -> Block:
    """Sort rows by (fold, code) and lay their z out about the shift."""
    codes = design.partition.codes(columns.score)
    n_codes = design.partition.n_codes
    if design.folds > 1:
        codes += fold_of(columns, hashes, design) * n_codes
    cells = design.folds * n_codes
    # A small integer type lets numpy sort by radix.
    order = np.argsort(codes.astype(np.uint16 if cells <= 1 << 16 else np.uint32), kind="stable")
    counts = np.bincount(codes, minlength=cells).reshape(design.folds, n_codes)
    unsorted = np.empty((design.width, len(columns)))
    _fill(columns, design, unsorted)
    unsorted -= shift[:, None]
    return Block(
        z=unsorted.take(order, axis=1),
        counts=counts,
        starts=np.concatenate([[0], np.cumsum(counts.sum(axis=1))]),
        weight=None if columns.weight is None else columns.weight[order],
        cluster=None if columns.cluster is None else columns.cluster[order],
        frequency=columns.frequency,
    )


def fold_of(columns: Columns, hashes: NDArray[np.uint64], design: Design) -> NDArray[np.intp]:
    """Return each row's fold: as handed in, else by cluster, else by id, else by the row's own values."""
    if columns.fold is not None:
        return columns.fold
    if columns.cluster is not None:
        return deal(columns.cluster, design.folds, design.seed)
    keys = hashes if columns.id is None else hash_ids(columns.id)
    return deal(keys, design.folds, design.seed)


def add_block(block: Block, design: Design, shift: Floats) -> CellMoments:
    """Return the sums of one block."""
    z, counts = block.z, block.counts
    weighted = z if block.weight is None else z * block.weight
    state = CellMoments.empty(design)
    cells = counts.ravel()
    ends = np.cumsum(cells)
    filled = np.flatnonzero(cells)
    sums = np.add.reduceat(weighted, (ends - cells)[filled], axis=1)
    state.sums.reshape(len(cells), -1)[filled] = sums.T
    segments = design.partition.segments
    # Codes of one segment lie side by side, so each segment of a fold is one slice of rows.
    last = np.flatnonzero(np.append(np.diff(segments), 1))
    stops = ends.reshape(counts.shape)[:, last]
    for fold in range(design.folds):
        start = int(block.starts[fold])
        for segment, end in enumerate(stops[fold].tolist()):
            if end > start:
                state.grams[fold, segment] = weighted[:, start:end] @ z[:, start:end].T
            start = end
    if block.frequency:
        counts = np.rint(state.sums[:, :, 0]).astype(np.int64)  # a row stands for as many cases as its weight says
    return CellMoments(state.design, shift, counts, state.sums, state.grams)
