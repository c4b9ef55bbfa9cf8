"""Layout: tables to one matrix of numbers, categories as codes, missing as NaN."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import DataError, InputError
from softlabel.hashing import Hashes, add_column, finish, splitmix
from softlabel.study.advice import type_advice
from softlabel.study.columns import is_category, is_number, level_names, numbers

__all__ = ["MAX_LEVELS", "Layout", "lay_out", "row_hashes"]

Floats = NDArray[np.float64]

# As for controls: what has more is text or an id, and no category.
MAX_LEVELS = 200


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns a score is made of, in order, and the levels of those that are categories.

    ``levels`` holds for each column the numbers that stand for its levels, in order, or ``None`` for a numeric column;
    a category's code is its level's place there. A level that no labelled row has is missing: nothing is known of it.
    ``texts`` says which columns hold text on the labelled rows: others must hold it too.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[float, ...] | None, ...]
    texts: tuple[bool, ...]

    @property
    def categorical(self) -> tuple[bool, ...]:
        """Which columns are categories."""
        return tuple(levels is not None for levels in self.levels)

    def places(self, names: Sequence[str]) -> list[int]:
        """Return where these columns stand."""
        return [self.names.index(name) for name in names]

    def matrix(self, batch: pa.RecordBatch | pa.Table) -> Floats:
        """Return codes and numbers (n, k); missing is NaN, and so is a level without a code."""
        found = np.empty((batch.num_rows, len(self.names)))
        for j, (name, levels) in enumerate(zip(self.names, self.levels, strict=True)):
            column = batch.column(name)
            values = numbers(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
            if np.isinf(values).any():
                raise DataError(
                    expected=f"the column {name!r} to be finite",
                    found=f"{int(np.isinf(values).sum()):,} infinite values",
                    fix="Make them missing, which the models are told of, or cap them",
                )
            found[:, j] = values if levels is None else _coded(values, np.array(levels))
        return found


def _coded(values: Floats, levels: Floats) -> Floats:
    """Return the place of each value among the levels, which are in order; NaN where it is none of them."""
    if not len(levels):
        return np.full(len(values), np.nan)
    at = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
    return np.where(levels[at] == values, at.astype(np.float64), np.nan)


def lay_out(labelled: pa.Table, names: Sequence[str], categories: Collection[str]) -> Layout:
    """Return the layout of columns as the labelled rows have them; numbers named in ``categories`` become codes."""
    levels: list[tuple[float, ...] | None] = []
    for name in names:
        column = labelled.column(name)
        if not is_category(column.type):
            _check_number(name, column)
        if not (is_category(column.type) or name in categories):
            levels.append(None)
            continue
        values = numbers(column.combine_chunks())
        seen = np.unique(values[~np.isnan(values)])
        if len(seen) > MAX_LEVELS:
            shown = level_names(column.combine_chunks()) if is_category(column.type) else {}
            some = [repr(shown.get(key, f"{key:g}")) for key in seen[:3].tolist()]
            raise DataError(
                expected=f"at most {MAX_LEVELS} levels in the category {name!r}",
                found=f"{len(seen):,} on the labelled rows, such as {', '.join(some)}",
                fix="Group rare levels, or read text with a pipeline that begins with a ColumnTransformer (model=)",
            )
        levels.append(tuple(seen.tolist()))
    return Layout(tuple(names), tuple(levels), tuple(is_category(labelled.column(name).type) for name in names))


def _check_number(name: str, column: pa.ChunkedArray) -> None:
    if not is_number(column.type):
        value = next((str(v) for v in column.drop_null()[:1]), None)
        raise InputError(
            expected=f"the feature {name!r} to be numeric or text",
            found=f"values of type {column.type}" + ("" if value is None else f", such as {value!r}"),
            fix=type_advice("control", column.type),
        )


def row_hashes(columns: Sequence[Floats]) -> Hashes:
    """Return a hash per row, (n,), of its values in some columns (n,): whatever the order of rows and the engine."""
    h = np.zeros(len(columns[0]), dtype=np.uint64)
    key = 0
    for values in columns:
        key = splitmix(key)
        # Every NaN has the same bits after this, whichever way it was made.
        absent = np.isnan(values)
        add_column(h, np.where(absent, np.nan, values) if absent.any() else np.ascontiguousarray(values), key)
    return finish(h)
