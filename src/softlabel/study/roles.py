"""Study: which column plays which role, and what its values must be. Validation happens here, at the door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import DataError, InputError
from softlabel.study.columns import Batch, Columns, numbers
from softlabel.study.tally import Tally, tally

__all__ = ["Part", "Study"]

Floats = NDArray[np.float64]

# Which rows a source may hold: labelled ones where the group is not null, or only one kind.
Part = Literal["mixed", "unlabelled", "labelled"]


@dataclass(frozen=True, slots=True)
class Study:
    """Roles of the columns.

    Examples
    --------
    >>> Study(outcome="y", group="g", score="p", controls=("age",)).columns
    ('y', 'p', 'age', 'g')
    >>> Study(outcome="y", group="g", score="y")
    Traceback (most recent call last):
        ...
    softlabel.errors.InputError: Expected each column to play one role; found 'y' as outcome and score. \
Give each role a column of its own.
    """

    outcome: str
    group: str | None
    score: str
    controls: tuple[str, ...] = ()
    id: str | None = None
    missing: Literal["raise", "drop"] = "raise"

    def __post_init__(self) -> None:
        roles = self.roles
        for role, column in [*roles, *([] if self.id is None else [("id", self.id)])]:
            if not isinstance(column, str):
                raise InputError(
                    expected=f"the {role} to be the name of a column",
                    found=repr(column),
                    fix="Pass the name as text",
                )
        seen: dict[str, str] = {}
        for role, column in roles:
            if column in seen:
                raise InputError(
                    expected="each column to play one role",
                    found=f"{column!r} as {seen[column]} and {role}",
                    fix="Give each role a column of its own",
                )
            seen[column] = role
        if self.missing not in ("raise", "drop"):
            raise InputError(
                expected="missing to be 'raise' or 'drop'",
                found=repr(self.missing),
                fix="Use missing='drop' to leave out incomplete rows and have them counted",
            )

    @property
    def roles(self) -> list[tuple[str, str]]:
        """Pairs (role, column) that must not overlap; the id may be any column."""
        group = [] if self.group is None else [("group", self.group)]
        return [
            ("outcome", self.outcome),
            ("score", self.score),
            *(("control", control) for control in self.controls),
            *group,
        ]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        names = [column for _, column in self.roles] + ([] if self.id is None else [self.id])
        return tuple(dict.fromkeys(names))

    def needed(self, part: Part, available: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to read from a source of this part that has the columns ``available``.

        A table of unlabelled rows may lack the group, one of labelled rows the score.
        """
        spared = {"unlabelled": self.group, "labelled": self.score}.get(part)
        return tuple(name for name in self.columns if name != spared or name in available)

    def check_types(self, schema: pa.Schema, first: Callable[[str], str | None]) -> None:
        """Raise unless every column with a numeric role has a numeric type; ``first`` gives a value to show."""
        for role, column in self.roles:
            index = schema.get_field_index(column)
            if index >= 0 and not _is_number(schema.field(index).type):
                kind, value = schema.field(index).type, first(column)
                raise InputError(
                    expected=f"the {role} {column!r} to be numeric",
                    found=f"values of type {kind}" + ("" if value is None else f", such as {value!r}"),
                    fix=_type_advice(role, kind),
                )

    def read(self, batch: pa.RecordBatch, part: Part) -> Batch:
        """Return the complete unlabelled rows, the complete labelled rows, and the count of everything else.

        Rows with a missing, infinite or impossible value are left out and counted; whether that is an
        error is decided at the end of the pass, when all of them have been counted.
        """
        named = [name for _, name in self.roles if name in batch.schema.names]
        values = {name: numbers(batch.column(name)) for name in named}
        n = batch.num_rows
        values.setdefault(self.score, np.full(n, np.nan))
        group = values.pop(self.group, None) if self.group is not None else None
        labels = np.full(n, np.nan) if group is None else group
        counts, usable = tally(
            values, score=self.score, group=self.group, labels=labels, all_labelled=part == "labelled"
        )
        if part == "unlabelled" and counts.labelled:
            raise DataError(
                expected="no label in the data when the labelled rows come as a table of their own",
                found=f"rows with a {self.group!r}",
                fix="Leave labelled= out, or null the group in the data",
            )
        columns = Columns(
            outcome=values[self.outcome],
            score=values[self.score][None, :],
            controls=_stack([values[name] for name in self.controls], n),
            group=labels,
            id=None if self.id is None else batch.column(self.id),
        )
        if counts.unlabelled == n:
            return Batch(columns, columns.take(slice(0, 0)), counts)
        known = ~np.isnan(labels)
        kept = np.ones(n, dtype=np.bool_) if usable is None else usable
        return Batch(columns.take(kept & ~known), columns.take(kept & known), counts)

    def verify(self, counts: Tally) -> None:
        """Raise the clearest error that the counts of a whole pass call for, if any."""
        counts.verify(missing=self.missing, score=self.score, group=self.group)
        if not counts.unlabelled:
            raise DataError(
                expected="rows without a label, for the score to work on",
                found=f"none among {counts.rows:,} rows"
                + (f", {counts.dropped:,} of them left out for missing values" if counts.dropped else ""),
                fix="Fill in what is missing"
                if counts.dropped
                else "Leave the group null where it is unknown; with every label known, use sl.supervised",
            )


_TYPE_ADVICE: Mapping[str, str] = {
    "control": "Code categories as 0/1 columns, one fewer than there are categories",
    "group": "Code the group 0 or 1 and leave it null where it is unknown",
    "score": "Pass the predicted probability of group 1, a number between 0 and 1",
}


def _type_advice(role: str, kind: pa.DataType) -> str:
    advice = _TYPE_ADVICE.get(role, "Convert the column to numbers")
    if pa.types.is_temporal(kind) and role in ("outcome", "control"):
        return "Pass a number, such as the days since a start"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return f"{advice}. Numbers must be plain, like 1234.5, and empty where they are missing"
    return advice


def _is_number(kind: pa.DataType) -> bool:
    test = pa.types
    return bool(
        test.is_integer(kind)
        or test.is_floating(kind)
        or test.is_boolean(kind)
        or test.is_decimal(kind)
        or test.is_null(kind)
    )


def _stack(columns: list[Floats], n: int) -> Floats:
    return np.stack(columns) if columns else np.empty((0, n))
