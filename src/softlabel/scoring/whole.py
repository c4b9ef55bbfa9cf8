"""Whole tables: every column as it was, with the score and who may audit it beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import InputError, SourceChanged
from softlabel.progress import Passes
from softlabel.results.scoring import ScoreReport
from softlabel.scoring.apart import read_to_train
from softlabel.scoring.asked import Asked
from softlabel.scoring.training import Trained, train
from softlabel.sources import Selection, Source, open_source
from softlabel.sources.counting import known_rows
from softlabel.study.columns import numbers

__all__ = ["AUDIT", "WholeTable", "whole_table"]

Floats = NDArray[np.float64]

# What the column is called that says who may audit the score, after the score's own name.
AUDIT = "_audit"


@dataclass(slots=True, eq=False)
class WholeTable:
    """Rows of one table, or of unlabelled and then of labelled ones, that get their scores as they are read.

    ``schema`` is of the batches; `report` counts the rows that have been read.
    """

    schema: pa.Schema
    trained: Trained
    unlabelled: Selection
    labelled: pa.Table | None
    threads: int
    passes: Passes
    _missing: Counter[str] = field(default_factory=Counter)
    _hidden: int = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield every row with its score, in order."""
        if self.passes.shown:
            self.passes.expect(("score",), known_rows([self.unlabelled]))
        self._missing, self._hidden, met = Counter(), 0, 0
        stream = self.trained.scorer.stream(self.unlabelled, self.threads)
        for batch, p, _, gaps in self.passes.over(stream, size=lambda scored: len(scored.p)):
            self._missing.update(gaps)
            known = np.zeros(len(p), dtype=np.bool_)
            if self.labelled is None:
                known = ~np.isnan(numbers(batch.column(self.trained.asked.roles.group)))
            own = slice(met, met + int(known.sum()))
            met = own.stop
            self._check_met(met)
            p[known] = self.trained.p[own]
            audit = np.full(len(p), np.nan)
            audit[known] = self.trained.audit[own]
            self._hidden += int((~known).sum())
            yield self._with(batch, p, audit)
        if self.labelled is None:
            self._check_met(met, whole=True)
            return
        self._missing.update(self.trained.missing)
        if len(self.trained.p):
            (batch,) = self.labelled.combine_chunks().to_batches()
            yield self._with(batch, self.trained.p, self.trained.audit.astype(np.float64))

    def report(self) -> ScoreReport:
        """Return how the score was made, with the rows read so far."""
        return self.trained.report(self._hidden, self._missing)

    def _check_met(self, met: int, *, whole: bool = False) -> None:
        if met > len(self.trained.p) or (whole and met != len(self.trained.p)):
            raise SourceChanged(
                expected=f"the {len(self.trained.p):,} labelled rows that trained the score when they are read again",
                found=f"{'more' if met > len(self.trained.p) else f'{met:,}'}",
                fix="Keep the table as it is while it is read, or copy it first",
            )

    def _with(self, batch: pa.RecordBatch, p: Floats, audit: Floats) -> pa.RecordBatch:
        n = batch.num_rows
        columns = []
        for one in list(self.schema)[:-2]:
            at = batch.schema.get_field_index(one.name)
            columns.append(pa.nulls(n, one.type) if at < 0 else batch.column(at).cast(one.type))
        known = pa.array(audit.tolist(), pa.float64(), from_pandas=True).cast(pa.int8())
        return pa.RecordBatch.from_arrays([*columns, pa.array(p.tolist(), pa.float64()), known], schema=self.schema)


def whole_table(data: Any, labelled: Any, asked: Asked, *, name: str, threads: int, passes: Passes) -> WholeTable:
    """Train on the labelled rows, of ``data`` or of a table of their own, and return the whole table to be read."""
    source = open_source(data)
    shown = source if labelled is None else open_source(labelled)
    _check_new([source, shown], (name, name + AUDIT))
    of_unlabelled = _every_column(source)
    of_labelled = of_unlabelled if labelled is None else _every_column(shown)
    # Asked for once more by name, so that what is missing is said as everywhere else.
    source.select(asked.roles.to_score)
    labels, asked = read_to_train(shown, source, asked, mixed=labelled is None)
    schemas = [of_unlabelled.schema()] if labelled is None else [of_unlabelled.schema(), of_labelled.schema()]
    return WholeTable(
        schema=_joined(schemas, name),
        trained=train(labels, asked),
        unlabelled=of_unlabelled,
        labelled=None if labelled is None else pa.Table.from_batches(of_labelled.batches(), of_labelled.schema()),
        threads=threads,
        passes=passes,
    )


def _every_column(source: Source) -> Selection:
    return source.select(source.columns())


def _check_new(sources: list[Source], names: tuple[str, str]) -> None:
    if not names[0]:
        raise InputError(expected="a name for the score's column", found="an empty one", fix="Leave --name out, for p")
    for source in sources:
        for name in names:
            if name in source.columns():
                raise InputError(
                    expected=f"no column {name!r} yet in {source.name}",
                    found="one",
                    fix="Give the score another name with --name",
                )


def _joined(schemas: list[pa.Schema], name: str) -> pa.Schema:
    """Return the columns of all tables, each of a type that holds what both have, then the score's own two."""
    plain = [
        pa.schema([pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in schema])
        for schema in schemas
    ]
    try:
        together = pa.unify_schemas(plain, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            expected="columns of one name to be of one kind on labelled and unlabelled rows",
            found=str(error).rstrip("."),
            fix="Write that column the same way in both",
        ) from error
    return pa.schema([*together, pa.field(name, pa.float64()), pa.field(name + AUDIT, pa.int8())])
