"""Columns: the rows of one batch once every value is a finite float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.study.tally import Tally

__all__ = ["Batch", "Columns", "numbers"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Columns:
    """Complete rows of one batch: n rows, q scores (one per contrast), k controls.

    Attributes
    ----------
    outcome : (n,)
    score : (q, n)
    controls : (k, n)
    group : (n,)
        NaN where the row is unlabelled.
    weight : (n,) or None
        ``None``: every row counts once.
    cluster : (n,) or None
        Hash of the cluster each row belongs to; ``None``: every row is its own.
    fold : (n,) or None
        Folds that were handed in.
    id : (n,) or None
        The values that decide a row's fold; ``None``: the row's own values do.
    """

    outcome: Floats
    score: Floats
    controls: Floats
    group: Floats
    weight: Floats | None = None
    cluster: NDArray[np.uint64] | None = None
    fold: NDArray[np.intp] | None = None
    id: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    def take(self, rows: NDArray[np.bool_] | slice) -> Columns:
        """Return the chosen rows."""
        ids = self.id
        if ids is not None:
            ids = ids[rows] if isinstance(rows, slice) else ids.filter(_mask(rows))
        return Columns(
            outcome=self.outcome[rows],
            score=self.score[:, rows],
            controls=self.controls[:, rows],
            group=self.group[rows],
            weight=None if self.weight is None else self.weight[rows],
            cluster=None if self.cluster is None else self.cluster[rows],
            fold=None if self.fold is None else self.fold[rows],
            id=ids,
        )


def _mask(rows: NDArray[np.bool_]) -> pa.BooleanArray:
    # pa.array would import pandas, if installed, to see whether it was handed a Series: half a second.
    bits = pa.py_buffer(np.packbits(rows, bitorder="little"))
    return pa.BooleanArray.from_buffers(pa.bool_(), len(rows), [None, bits])


class Batch(NamedTuple):
    """One batch, read: its complete rows by kind, and the count of everything else."""

    unlabelled: Columns
    labelled: Columns
    tally: Tally


def numbers(column: pa.Array) -> Floats:
    """Return a numeric column as float64, null as NaN, without a copy where there is nothing to convert."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    values: Floats = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return values
