"""Columns: the rows of one batch once every value is a finite float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.hashing import text_keys
from softlabel.study.tally import Tally

__all__ = ["Batch", "Columns", "is_category", "is_number", "joined", "level_names", "mask", "names_things", "numbers"]

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
    audit : (n,) or None
        Whether a labelled row may audit the score; ``None``: every one that has a score may.
    frequency
        Whether a weight counts copies of its row, instead of how many cases of the population it stands for.
    """

    outcome: Floats
    score: Floats
    controls: Floats
    group: Floats
    weight: Floats | None = None
    cluster: NDArray[np.uint64] | None = None
    fold: NDArray[np.intp] | None = None
    id: pa.Array | None = None
    audit: NDArray[np.bool_] | None = None
    frequency: bool = False

    def __len__(self) -> int:
        return len(self.outcome)

    def take(self, rows: NDArray[np.bool_] | slice) -> Columns:
        """Return the chosen rows."""
        ids = self.id
        if ids is not None:
            ids = ids[rows] if isinstance(rows, slice) else ids.filter(mask(rows))
        return Columns(
            outcome=self.outcome[rows],
            score=self.score[:, rows],
            controls=self.controls[:, rows],
            group=self.group[rows],
            weight=None if self.weight is None else self.weight[rows],
            cluster=None if self.cluster is None else self.cluster[rows],
            fold=None if self.fold is None else self.fold[rows],
            id=ids,
            audit=None if self.audit is None else self.audit[rows],
            frequency=self.frequency,
        )


def joined(pieces: Sequence[Columns], controls: int) -> Columns:
    """Return all rows of some pieces with so many controls; of no piece, no rows."""
    if not pieces:
        none = np.empty(0)
        return Columns(none, np.empty((1, 0)), np.empty((controls, 0)), none)
    first = pieces[0]

    def whole(name: str) -> Any:
        parts = [getattr(piece, name) for piece in pieces]
        return None if parts[0] is None else np.concatenate(parts, axis=-1)

    return Columns(
        outcome=whole("outcome"),
        score=whole("score"),
        controls=whole("controls"),
        group=whole("group"),
        weight=whole("weight"),
        cluster=whole("cluster"),
        fold=whole("fold"),
        id=None if first.id is None else pa.chunked_array([piece.id for piece in pieces]).combine_chunks(),
        audit=whole("audit"),
        frequency=first.frequency,
    )


def mask(rows: NDArray[np.bool_]) -> pa.BooleanArray:
    """Return the same as an Arrow array."""
    # pa.array would import pandas, if installed, to see whether it was handed a Series: half a second.
    bits = pa.py_buffer(np.packbits(rows, bitorder="little"))
    return pa.BooleanArray.from_buffers(pa.bool_(), len(rows), [None, bits])


class Batch(NamedTuple):
    """One batch, read: its complete rows by kind, and the count of everything else."""

    unlabelled: Columns
    labelled: Columns
    tally: Tally


def is_number(kind: pa.DataType) -> bool:
    """Tell whether a column of this type holds numbers."""
    test = pa.types
    return bool(
        test.is_integer(kind)
        or test.is_floating(kind)
        or test.is_boolean(kind)
        or test.is_decimal(kind)
        or test.is_null(kind)
    )


def is_category(kind: pa.DataType) -> bool:
    """Tell whether a column of this type holds categories: text, or a dictionary of text or numbers."""
    if pa.types.is_dictionary(kind):
        return is_number(kind.value_type) or is_category(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def names_things(kind: pa.DataType) -> bool:
    """Tell whether values of this type can name rows or clusters: what `softlabel.hashing.hash_ids` takes."""
    if pa.types.is_dictionary(kind):
        return names_things(kind.value_type)
    return is_category(kind) or (is_number(kind) and not pa.types.is_decimal(kind))


def numbers(column: pa.Array) -> Floats:
    """Return a column as float64, null as NaN, without a copy where there is nothing to convert.

    A text becomes its key, a whole number that stands for it (`softlabel.hashing.text_keys`).
    """
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode()
        kind = column.type
    if pa.types.is_dictionary(kind):
        texts = not is_number(kind.value_type)
        values = text_keys(column.dictionary) if texts else numbers(column.dictionary)
        # One value more, for the null that has no place in the dictionary.
        which = column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        coded: Floats = np.append(values, np.nan)[which]
        return coded
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    floats: Floats = column.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return floats


def level_names(column: pa.Array) -> dict[float, str]:
    """Return what each value of a category is called, by the number that stands for it; null has no name."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary
    values = numbers(column)
    if is_number(column.type):
        return {value: f"{value:.15g}" for value in np.unique(values[~np.isnan(values)]).tolist()}
    return {key: text for key, text in zip(values.tolist(), column.to_pylist(), strict=True) if text is not None}
