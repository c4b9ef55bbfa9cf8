"""Reading the labelled rows: few, so they are held in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import DataError, InputError
from softlabel.scoring.scorer import Roles
from softlabel.sources import Selection
from softlabel.study.advice import type_advice
from softlabel.study.columns import is_number, mask, numbers

__all__ = ["Labelled", "read_labelled"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Labelled rows as they were read, their group (n,) and weights (n,)."""

    table: pa.Table
    group: Floats
    weight: Floats | None


def read_labelled(selection: Selection, roles: Roles, *, mixed: bool = False, lenient: bool = False) -> Labelled:
    """Return the labelled rows of a selection; where kinds are ``mixed`` those whose group is known.

    Where ``lenient``, a row whose weight is missing or impossible trains nothing: whoever reads on will say so.
    """
    for role, name in (("group", roles.group), ("weights", roles.weights)):
        if name is not None:
            _check_number(selection, role, name)
    batches = []
    for batch in selection.batches():
        known = ~np.isnan(numbers(batch.column(roles.group))) if mixed else None
        batches.append(batch if known is None else batch.filter(mask(known)))
    table = pa.Table.from_batches(batches, selection.schema()).unify_dictionaries().combine_chunks()
    group = numbers(_column(table, roles.group))
    _check_group(group, roles.group, mixed=mixed)
    weight = None if roles.weights is None else numbers(_column(table, roles.weights))
    if weight is not None and lenient:
        weight = np.where((weight >= 0) & np.isfinite(weight), weight, 0.0)
    if weight is not None and not ((weight >= 0) & np.isfinite(weight)).all():
        raise DataError(
            expected=f"weights {roles.weights!r} from zero up on every labelled row",
            found=f"{int((~((weight >= 0) & np.isfinite(weight))).sum()):,} that are missing, infinite or negative",
            fix="Mend them, or leave out those rows",
        )
    return Labelled(table, group, weight)


def _check_number(selection: Selection, role: str, name: str) -> None:
    kind = selection.schema().field(name).type
    if is_number(kind):
        return
    first = next((str(v) for batch in selection.batches() for v in batch.column(name).drop_null()[:1]), None)
    raise InputError(
        expected=f"the {role} {name!r} to be numeric",
        found=f"values of type {kind}" + ("" if first is None else f", such as {first!r}"),
        fix=type_advice(role, kind),
    )


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    # Of no rows pyarrow makes a chunked array without chunks.
    return column if isinstance(column, pa.Array) else pa.array([], column.type)


def _check_group(group: Floats, name: str, *, mixed: bool) -> None:
    if not len(group):
        raise DataError(
            expected=f"labelled rows: some with a {name!r} of 0 or 1",
            found="none",
            fix="Name the column that holds the group where it is known"
            if mixed
            else "Pass a labelled table that has rows",
        )
    absent = int(np.isnan(group).sum())
    if absent:
        raise DataError(
            expected=f"a {name!r} in every row of the labelled table",
            found=f"{absent:,} without",
            fix="Move them to the unlabelled table, or pass one table with both kinds",
        )
    other = group[(group != 0) & (group != 1)]
    if len(other):
        raise DataError(
            expected=f"the group {name!r} to be 0 or 1",
            found=f"{other[0]:g}",
            fix="Code it as 0 and 1, and leave it empty where it is unknown",
        )
