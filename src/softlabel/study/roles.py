"""Study: which column plays which role, and what its values must be. Validation happens here, at the door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import DataError, InputError, did_you_mean
from softlabel.hashing import hash_ids
from softlabel.study.advice import type_advice
from softlabel.study.columns import Batch, Columns, is_category, is_number, mask, names_things, numbers
from softlabel.study.tally import Tally, tally
from softlabel.study.verify import check_unlabelled, verify

__all__ = ["WEIGHT_TYPES", "Part", "Study"]

Floats = NDArray[np.float64]

# Which rows a source may hold: labelled ones where the group is not null, or only one kind.
Part = Literal["mixed", "unlabelled", "labelled"]

WEIGHT_TYPES = ("sampling", "frequency")


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
    weights: str | None = None
    weight_type: str = "sampling"
    cluster: str | None = None
    audit: str | None = None

    def __post_init__(self) -> None:
        roles = self.roles
        for role, column in [*roles, *self.free_roles]:
            if not isinstance(column, str):
                raise InputError(
                    expected=f"the {role} to be the name of a column",
                    found=repr(column),
                    fix="Pass a name as text; values that are not in the table go into a column of it first",
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
        for role, column in self.free_roles:
            if column == self.group:
                raise InputError(
                    expected=f"the {role} to be known in every row",
                    found=f"the group {column!r}, which is null where it is unknown",
                    fix=f"Name a column of its own for the {role}, or leave {role}= out",
                )
        self._check_options()

    def _check_options(self) -> None:
        if self.missing not in ("raise", "drop"):
            raise InputError(
                expected="missing to be 'raise' or 'drop'",
                found=repr(self.missing),
                fix="Use missing='drop' to leave out incomplete rows and have them counted",
            )
        if self.weight_type not in WEIGHT_TYPES:
            raise InputError(
                expected="weight_type to be 'sampling' or 'frequency'",
                found=repr(self.weight_type),
                fix=did_you_mean(str(self.weight_type), WEIGHT_TYPES),
            )
        if self.audit is not None and self.group is None:
            raise InputError(
                expected="a group with audit=",
                found="group=None",
                fix="Name the group, or leave audit out: only labelled rows can audit the score",
            )
        if self.weight_type == "frequency" and self.weights is None:
            raise InputError(
                expected="weights with weight_type='frequency'",
                found="weights=None",
                fix="Name the column that counts the copies of each row, or leave weight_type out",
            )

    @property
    def roles(self) -> list[tuple[str, str]]:
        """Pairs (role, column) that must not overlap."""
        group = [] if self.group is None else [("group", self.group)]
        weights = [] if self.weights is None else [("weights", self.weights)]
        audit = [] if self.audit is None else [("audit", self.audit)]
        return [
            ("outcome", self.outcome),
            ("score", self.score),
            *(("control", control) for control in self.controls),
            *group,
            *weights,
            *audit,
        ]

    @property
    def free_roles(self) -> list[tuple[str, str]]:
        """Pairs (role, column) of what decides folds and errors; the column may have another role too."""
        return [(role, name) for role, name in (("id", self.id), ("cluster", self.cluster)) if name is not None]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read, each once."""
        names = [column for _, column in [*self.roles, *self.free_roles]]
        return tuple(dict.fromkeys(names))

    def needed(self, part: Part, available: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to read from a source of this part that has the columns ``available``.

        A table of unlabelled rows may lack the group and who audits, one of labelled rows the score.
        """
        spared = {"unlabelled": (self.group, self.audit), "labelled": (self.score,)}.get(part, ())
        return tuple(name for name in self.columns if name not in spared or name in available)

    def check_types(self, schema: pa.Schema, first: Callable[[str], str | None]) -> frozenset[str]:
        """Return the controls that are categories; raise unless every other column with a role is numeric.

        ``first`` gives a value of a column, to show in a message.
        """
        categories = set()
        for role, column in self.roles:
            index = schema.get_field_index(column)
            if index < 0 or is_number(schema.field(index).type):
                continue
            if role == "control" and is_category(schema.field(index).type):
                categories.add(column)
                continue
            kind, value = schema.field(index).type, first(column)
            raise InputError(
                expected=f"the {role} {column!r} to be numeric" + (" or text" if role == "control" else ""),
                found=f"values of type {kind}" + ("" if value is None else f", such as {value!r}"),
                fix=type_advice(role, kind),
            )
        for role, column in self.free_roles:
            index = schema.get_field_index(column)
            if index < 0 or names_things(schema.field(index).type):
                continue
            kind, value = schema.field(index).type, first(column)
            raise InputError(
                expected=f"the {role} {column!r} to be whole numbers or text",
                found=f"values of type {kind}" + ("" if value is None else f", such as {value!r}"),
                fix="Write it as text",
            )
        return frozenset(categories)

    def read(self, batch: pa.RecordBatch, part: Part) -> Batch:
        """Return the complete unlabelled rows, the complete labelled rows, and the count of everything else.

        Rows with a missing, infinite or impossible value are left out and counted; whether that is an
        error is decided at the end of the pass, when all of them have been counted. Rows of weight zero are left
        out and counted whatever else they hold.
        """
        rows, hidden = batch.num_rows, 0
        if self.weights is not None:
            zero = numbers(batch.column(self.weights)) == 0
            if zero.any():
                hidden = int((zero & self._hidden(batch)).sum()) if part != "labelled" else 0
                batch = batch.filter(mask(~zero))
        named = [name for _, name in self.roles if name in batch.schema.names]
        values = {name: numbers(batch.column(name)) for name in named}
        n = batch.num_rows
        values.setdefault(self.score, np.full(n, np.nan))
        group = values.pop(self.group, None) if self.group is not None else None
        labels = np.full(n, np.nan) if group is None else group
        audits = values.pop(self.audit, None) if self.audit is not None else None
        cluster, unclustered = (None, None) if self.cluster is None else _clusters(batch, self.cluster)
        weight = None if self.weights is None else values[self.weights]
        frequency = self.weight_type == "frequency"
        counts, usable = tally(
            values,
            score=self.score,
            group=self.group,
            labels=labels,
            all_labelled=part == "labelled",
            controls=self.controls,
            outcome=self.outcome,
            absent=_absent({self.cluster: unclustered, self.id: _nulls(batch, self.id)}),
            weights=self.weights,
            frequency=frequency,
        )
        audit, counts = self._audit(audits, labels, counts)
        if rows > n:
            counts = replace(counts, rows=rows, weightless=rows - n, weightless_unlabelled=hidden)
        if part == "unlabelled" and counts.labelled:
            raise DataError(
                expected="no label in the data when the labelled rows come as a table of their own",
                found=f"rows with a {self.group!r}",
                fix="Leave labelled= out, or null the group in the data",
            )
        columns = Columns(
            outcome=values[self.outcome],
            score=values[self.score][None, :],
            controls=np.stack([values[name] for name in self.controls]) if self.controls else np.empty((0, n)),
            group=labels,
            weight=weight,
            cluster=cluster,
            id=None if self.id is None else _named(batch.column(self.id)),
            audit=audit,
            frequency=frequency,
        )
        known = ~np.isnan(labels)
        if usable is None and not known.any():
            return Batch(columns, columns.take(slice(0, 0)), counts)
        kept = np.ones(n, dtype=np.bool_) if usable is None else usable
        return Batch(columns.take(kept & ~known), columns.take(kept & known), counts)

    def _audit(self, values: Floats | None, labels: Floats, counts: Tally) -> tuple[NDArray[np.bool_] | None, Tally]:
        """Return which rows may audit the score, and the counts with those that say neither yes nor no.

        A null says no, and so does a row without a label; ``None``: nobody was asked.
        """
        if self.audit is None:
            return None, counts
        if values is None:
            return np.zeros(len(labels), dtype=np.bool_), counts
        known = ~np.isnan(labels)
        wrong = known & ~np.isnan(values) & (values != 0) & (values != 1)
        if wrong.any():
            counts = replace(counts, not_audit=int(wrong.sum()), audit_example=float(values[wrong].min()))
        return (values == 1) & known, counts

    def _hidden(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """Return which rows have no label."""
        if self.group is None or self.group not in batch.schema.names:
            return np.ones(batch.num_rows, dtype=np.bool_)
        return np.isnan(numbers(batch.column(self.group)))

    def verify(self, counts: Tally) -> None:
        """Raise the clearest error that the counts of a whole pass call for, if any."""
        verify(
            counts,
            missing=self.missing,
            score=self.score,
            group=self.group,
            weights=self.weights,
            frequency=self.weight_type == "frequency",
            id=self.id,
            cluster=self.cluster,
            audit=self.audit,
        )
        check_unlabelled(counts, self.weights)


def _named(column: pa.Array) -> pa.Array:
    """Return a column of nothing at all as numbers that are missing: without a type it has no hash."""
    return column.cast(pa.float64()) if pa.types.is_null(column.type) else column


def _nulls(batch: pa.RecordBatch, column: str | None) -> NDArray[np.bool_] | None:
    """Return in which rows a column is missing (``None``: nowhere)."""
    absent = None if column is None else batch.column(column).is_null(nan_is_null=True)
    if absent is None or not absent.true_count:
        return None
    missing: NDArray[np.bool_] = absent.to_numpy(zero_copy_only=False)
    return missing


def _absent(columns: Mapping[str | None, NDArray[np.bool_] | None]) -> dict[str, NDArray[np.bool_]]:
    return {name: gone for name, gone in columns.items() if name is not None and gone is not None}


def _clusters(batch: pa.RecordBatch, name: str) -> tuple[NDArray[np.uint64], NDArray[np.bool_] | None]:
    """Return the hash of each row's cluster, and where there is none (``None``: nowhere)."""
    missing = _nulls(batch, name)
    column = _named(batch.column(name))
    if missing is None:
        return hash_ids(column), None
    hashes = np.zeros(len(column), dtype=np.uint64)
    if not missing.all():
        hashes[~missing] = hash_ids(column.filter(mask(~missing)))
    return hashes, missing
