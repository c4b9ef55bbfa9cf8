"""Reading: tables opened under their roles, and the look at them that a design may need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from softlabel.errors import InputError
from softlabel.look import LookState, Wanted, look_batch
from softlabel.progress import Passes
from softlabel.sources import Selection, open_source
from softlabel.sources.coalesce import coalesced
from softlabel.sources.counting import known_rows
from softlabel.sources.threads import map_merge
from softlabel.study import Batch, Part, Study

__all__ = ["Chunk", "Parts", "Tables", "first_value", "open_parts", "open_tables", "typed_tables"]

Chunk = tuple[Part, pa.RecordBatch]
Parts = tuple[tuple[Part, Selection], ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """One table, or one of unlabelled and one of labelled rows, with checked types.

    ``categories`` are the controls that hold text; ``passes`` is told of every row that is read.
    """

    study: Study
    parts: tuple[tuple[Part, Selection], ...]
    categories: frozenset[str]
    passes: Passes = field(default_factory=Passes)

    @property
    def name(self) -> str:
        """What to call them in a message."""
        return " and ".join(selection.name for _, selection in self.parts)

    def chunks(self) -> Iterator[Chunk]:
        """Read every row from the first."""
        return self.passes.over(self._chunks(), size=lambda chunk: chunk[1].num_rows)

    def _chunks(self) -> Iterator[Chunk]:
        for part, selection in self.parts:
            for batch in coalesced(selection.batches()):
                yield part, batch

    def expect(self, *passes: str) -> None:
        """Announce the passes to come, for those who watch."""
        if self.passes.shown:
            self.passes.expect(passes, known_rows([selection for _, selection in self.parts]))

    def read(self, chunk: Chunk) -> Batch:
        """Return a chunk as checked columns."""
        return self.study.read(chunk[1], chunk[0])

    def look(self, wanted: Wanted, threads: int) -> LookState:
        """Look at every row once; raise where its values cannot be."""

        def one(chunk: Chunk) -> LookState:
            return look_batch(self.read(chunk), chunk[1], wanted)

        state = map_merge(self.chunks(), one, threads, LookState.empty(wanted))
        self.study.verify(state.tally)
        return state


def open_tables(study: Study, data: Any, labelled: Any = None, passes: Passes | None = None) -> Tables:
    """Open the data, and the labelled rows where they are a table of their own."""
    return typed_tables(study, open_parts(study, data, labelled), passes)


def open_parts(study: Study, data: Any, labelled: Any = None) -> Parts:
    """Open the tables and choose their columns; what these hold is not looked at."""
    if labelled is not None and study.group is None:
        raise InputError(
            expected="a group with labelled=",
            found="group=None",
            fix="Name the column of the labelled table that holds the group",
        )
    alone: Part = "unlabelled" if labelled is not None or study.group is None else "mixed"
    given: list[tuple[Part, Any]] = [(alone, data)]
    if labelled is not None:
        given.append(("labelled", labelled))
    parts = []
    for part, table in given:
        source = open_source(table)
        parts.append((part, source.select(study.needed(part, source.columns()))))
    return tuple(parts)


def typed_tables(study: Study, parts: Parts, passes: Passes | None = None) -> Tables:
    """Return the tables once the types of their columns are found to be those of their roles."""
    kinds: dict[str, tuple[bool, str]] = {}
    for _, selection in parts:
        schema = selection.schema()
        categories = study.check_types(schema, partial(first_value, selection))
        for control in study.controls:
            kind = schema.field(control).type
            if pa.types.is_null(kind):
                continue
            is_category, before = kinds.setdefault(control, (control in categories, str(kind)))
            if is_category != (control in categories):
                raise InputError(
                    expected=f"the control {control!r} to be of one kind in both tables",
                    found=f"{before} in the first, {kind} in the table of labelled rows",
                    fix="Write that column the same way in both",
                )
    text = frozenset(name for name, (is_category, _) in kinds.items() if is_category)
    return Tables(study, parts, text, passes or Passes())


def first_value(selection: Selection, column: str) -> str | None:
    """Return a value of a column to show in a message, of a text the first that is no number; ``None`` without any."""
    first = None
    for batch in selection.batches():
        values = batch.column(column).drop_null()
        if first is None and len(values):
            first = str(values[0])
        text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        found = _no_number(values) if text else first
        if found is not None:
            return found
    return first


def _no_number(texts: pa.Array) -> str | None:
    """Return the first text that is not written as a number is."""
    try:
        texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return next((text for text in texts.to_pylist() if not _reads_as_number(text)), None)
    return None


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
