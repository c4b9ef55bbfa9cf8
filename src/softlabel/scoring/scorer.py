"""The scorer: fitted pieces as one function of rows, the same whatever the batch a row comes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from softlabel.errors import InputError
from softlabel.folds import hash_ids
from softlabel.hashing import Hashes, finish
from softlabel.scoring.copies import Copies
from softlabel.scoring.folds import Dealt
from softlabel.scoring.layout import Layout, row_hashes
from softlabel.scoring.pieces import Piece, Rows
from softlabel.sources import Selection, open_source
from softlabel.sources.coalesce import coalesced
from softlabel.sources.threads import check_threads, map_in_order
from softlabel.study.columns import is_category, is_number, mask, numbers

__all__ = ["UNKNOWN", "Roles", "Scored", "Scorer"]

Floats = NDArray[np.float64]

# What a count of values is called that are levels without a code.
UNKNOWN = ", new levels"


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what. ``further`` are numeric columns that only help to tell rows apart."""

    features: tuple[str, ...]
    controls: tuple[str, ...]
    group: str
    weights: str | None = None
    cluster: str | None = None
    id: str | None = None
    further: tuple[str, ...] = ()

    @property
    def seen(self) -> tuple[str, ...]:
        """Features and controls, each once."""
        return tuple(dict.fromkeys((*self.features, *self.controls)))

    @property
    def to_score(self) -> tuple[str, ...]:
        """What an unlabelled row must have."""
        also = (*self.further, self.cluster, self.id)
        return tuple(dict.fromkeys((*self.seen, *(name for name in also if name is not None))))

    @property
    def to_train(self) -> tuple[str, ...]:
        """What a labelled row must have."""
        return tuple(dict.fromkeys((*self.to_score, self.group, *([self.weights] if self.weights else []))))


class Scored(NamedTuple):
    """A batch of rows, their scores and hashes (n,), and how many values each column lacks."""

    batch: pa.RecordBatch
    p: Floats
    hashes: Hashes
    missing: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """Fitted classifiers and calibrators, and which of them scores a row.

    ``dealt`` is ``None`` for halves, which have one piece. With ``mean`` every piece scores every row, else each
    row is scored by the piece of its fold. Where labelled rows ``repeat``, copies among the unlabelled ones are dealt
    to folds one by one, as those are.
    """

    roles: Roles
    layout: Layout
    pieces: tuple[Piece, ...]
    dealt: Dealt | None
    mean: bool
    repeat: bool = False

    def rows(self, batch: pa.RecordBatch | pa.Table) -> Rows:
        """Return features, controls and hashes of rows, without labels."""
        return rows_of(batch, self.roles, self.layout, frame=self.pieces[0].recipe.model.takes == "frame")

    def score(self, rows: Rows) -> Floats:
        """Return the score of each unlabelled row (n,)."""
        if self.dealt is None or self.mean:
            return np.asarray(np.mean([piece(rows) for piece in self.pieces], axis=0))
        fold = self.dealt.of_unlabelled(rows.hashes, rows.cluster)
        found = np.empty(len(rows))
        for k, piece in enumerate(self.pieces):
            found[fold == k] = piece(rows.take(fold == k))
        return found

    def stream(self, selection: Selection, threads: int) -> Iterator[Scored]:
        """Yield batches of a selection with their scores, in order."""
        check_kinds(selection.schema(), self.layout, selection.name)

        def one(item: tuple[pa.RecordBatch, Rows | None]) -> Scored:
            batch, known = item
            rows = self.rows(batch) if known is None else known
            return Scored(batch, self.score(rows), rows.hashes, self._gaps(batch, rows))

        # Rows are shared out over threads: those of the numerical libraries would stand in their way.
        with threadpool_limits(limits=1):
            yield from map_in_order(self._items(selection), one, threads)

    def _items(self, selection: Selection) -> Iterator[tuple[pa.RecordBatch, Rows | None]]:
        """Yield batches, with their rows where copies are to be counted: that must go in order."""
        copies = Copies() if self.repeat and self.dealt is not None else None
        for batch in coalesced(selection.batches()):
            rows = None if copies is None else self.rows(batch)
            if rows is not None and copies is not None:
                # Labelled rows in the same table were dealt by themselves.
                hashes, hidden = rows.hashes.copy(), np.ones(len(rows), dtype=np.bool_)
                if self.roles.group in batch.schema.names:
                    hidden = np.isnan(numbers(batch.column(self.roles.group)))
                hashes[hidden] = copies.told_apart(hashes[hidden])
                rows = replace(rows, hashes=hashes)
            yield batch, rows

    def _gaps(self, batch: pa.RecordBatch, rows: Rows) -> dict[str, int]:
        """Return how many values each column lacks, and how many are levels that no labelled row has."""
        found = gaps(batch, self.roles.seen)
        both = ((self.roles.features, rows.features), (self.roles.controls, rows.controls))
        for names, codes in both:
            for name, values in zip(names, codes.T, strict=True):
                if self.layout.levels[self.layout.names.index(name)] is not None:
                    found[f"{name}{UNKNOWN}"] = int(np.isnan(values).sum()) - found[name]
        return found

    def predict(self, data: Any, *, threads: int | None = None) -> Floats:
        """Return the score of each row (n,) of other data with the same columns: a table, or paths of files."""
        selection = open_source(data).select(self.roles.to_score)
        parts = [scored.p for scored in self.stream(selection, check_threads(threads))]
        return np.concatenate(parts) if parts else np.empty(0)


def rows_of(batch: pa.RecordBatch | pa.Table, roles: Roles, layout: Layout, *, frame: bool) -> Rows:
    """Return a batch as features, controls and hashes; of labelled rows the labels are added elsewhere."""
    matrix = layout.matrix(batch)
    hashes = row_hashes([*matrix.T, *(numbers(_whole(batch, name)) for name in roles.further)])
    if roles.id is not None:
        hashes = finish(hashes + _hashed(_whole(batch, roles.id), np.zeros(len(hashes), dtype=np.uint64)))
    return Rows(
        features=matrix[:, layout.places(roles.features)],
        controls=matrix[:, layout.places(roles.controls)],
        hashes=hashes,
        frame=_table(batch, roles.features) if frame else None,
        cluster=_clusters(batch, roles.cluster or roles.id, hashes),
    )


def gaps(batch: pa.RecordBatch | pa.Table, names: tuple[str, ...]) -> dict[str, int]:
    """Return how many values each column lacks."""
    return {name: sum(gone.true_count for gone in _absent(batch.column(name))) for name in names}


def _absent(column: pa.Array | pa.ChunkedArray) -> list[pa.BooleanArray]:
    absent = column.is_null(nan_is_null=True)
    return absent.chunks if isinstance(absent, pa.ChunkedArray) else [absent]


def check_kinds(schema: pa.Schema, layout: Layout, where: str) -> None:
    """Raise unless columns are of the kind that the labelled rows have."""
    for name, text in zip(layout.names, layout.texts, strict=True):
        kind = schema.field(name).type
        if pa.types.is_null(kind) or (text == is_category(kind) and (text or is_number(kind))):
            continue
        raise InputError(
            expected=f"the column {name!r} to hold {'text' if text else 'numbers'}, as on the labelled rows",
            found=f"values of type {kind} in {where}",
            fix="Write that column the same way on labelled and unlabelled rows",
        )


def _whole(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    column = batch.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _table(batch: pa.RecordBatch | pa.Table, names: tuple[str, ...]) -> pa.Table:
    return pa.table({name: batch.column(name) for name in names})


def _clusters(batch: pa.RecordBatch | pa.Table, name: str | None, hashes: Hashes) -> Hashes | None:
    """Return the hash of each row's cluster, or of its id, which keeps rows together as well; one without is alone."""
    return None if name is None else _hashed(_whole(batch, name), hashes)


def _hashed(names: pa.Array, otherwise: Hashes) -> Hashes:
    """Return the hashes of what names rows or clusters, (n,), and ``otherwise`` where it is missing."""
    absent = names.is_null(nan_is_null=True)
    if not absent.true_count:
        return hash_ids(names)
    known = ~absent.to_numpy(zero_copy_only=False)
    found = otherwise.copy()
    if known.any():
        found[known] = hash_ids(names.filter(mask(known)))
    return found
