"""Rows: what one pass finds out about rows with roles, refusing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from softlabel.basis import MAX_LEVELS, Plan
from softlabel.checking.columns import Seen, merged, see
from softlabel.errors import DataError
from softlabel.folds import RowSketch, deal, hash_ids, hash_rows
from softlabel.hashing import Hashes
from softlabel.look import Clusters, RowSample, are_numbers
from softlabel.moments import Partition
from softlabel.reading import Chunk
from softlabel.study import Batch, Columns, Study, Tally, is_category, level_names

__all__ = ["FOLDS", "Counted", "Found", "find"]

Floats = NDArray[np.float64]

# What diagnose does unless told.
FOLDS = 5
SEED = 0

_NONE: Hashes = np.empty(0, dtype=np.uint64)

# Levels of a category by the number that stands for each: its name, and its rows without and with a label.
Counted = Mapping[float, tuple[str, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What some rows hold; states merge in any grouping.

    ``counts`` (K, C) has the unlabelled cases by fold and code of the score, K being one with clusters, whose folds
    are not dealt before all are known. ``low`` and ``high`` (k + 1,) are the ends of the controls and the score on
    complete unlabelled rows, of which ``sample`` holds some. ``refused`` is what reading the rows raised.
    """

    columns: Mapping[str, Seen]
    tally: Tally
    counts: NDArray[np.int64]
    sketch: RowSketch
    sample: RowSample
    low: Floats
    high: Floats
    levels: Mapping[str, Counted]
    clusters: Clusters = field(default_factory=lambda: Clusters(_NONE))
    clusters_labelled: Clusters = field(default_factory=lambda: Clusters(_NONE))
    labelled: tuple[Columns, ...] = ()
    refused: frozenset[str] = frozenset()

    @classmethod
    def empty(cls, plan: Plan, partition: Partition, *, clustered: bool) -> Found:
        """Return the identity of `merge`."""
        k = len(plan.controls)
        return cls(
            columns={},
            tally=Tally(),
            counts=np.zeros((1 if clustered else FOLDS, partition.n_codes), dtype=np.int64),
            sketch=RowSketch.empty(),
            sample=RowSample(_NONE, np.empty(0), np.empty((k + 1, 0))),
            low=np.full(k + 1, np.inf),
            high=np.full(k + 1, -np.inf),
            levels={name: {} for name in plan.categories},
        )

    def merge(self, other: Found) -> Found:
        """Return what both sets of rows hold."""
        return Found(
            columns=merged(self.columns, other.columns),
            tally=self.tally.merge(other.tally),
            counts=self.counts + other.counts,
            sketch=self.sketch.merge(other.sketch),
            sample=self.sample.merge(other.sample),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            levels={name: _added(mine, other.levels[name]) for name, mine in self.levels.items()},
            clusters=self.clusters.merge(other.clusters),
            clusters_labelled=self.clusters_labelled.merge(other.clusters_labelled),
            labelled=self.labelled + other.labelled,
            refused=self.refused | other.refused,
        )


def find(chunk: Chunk, study: Study, plan: Plan, partition: Partition) -> Found:
    """Return what one batch holds."""
    part, record = chunk
    columns = {name: see(record.column(name)) for name in record.schema.names}
    refused: frozenset[str] = frozenset()
    try:
        batch = study.read(record, part)
    except DataError as error:
        # Labels where none should be: reported, and then read as what they are.
        refused = frozenset([str(error)])
        batch = study.read(record, "mixed")
    rows, labelled = batch.unlabelled, batch.labelled
    hashes = hash_rows(rows)
    copies = rows.weight if rows.frequency else None
    values = np.concatenate([rows.controls, rows.score])
    none = Clusters(_NONE)
    return Found(
        columns=columns,
        tally=batch.tally,
        counts=_by_fold_and_code(rows, hashes, copies, partition),
        sketch=RowSketch.of(hashes, copies),
        sample=RowSample.of(hashes, values, copies),
        low=values.min(axis=1, initial=np.inf),
        high=values.max(axis=1, initial=-np.inf),
        levels={name: _levels(chunk, batch, plan, name) for name in plan.categories},
        clusters=none if rows.cluster is None else Clusters.of(rows.cluster),
        clusters_labelled=none if labelled.cluster is None else Clusters.of(labelled.cluster),
        labelled=(labelled,) if len(labelled) else (),
        refused=refused,
    )


def _by_fold_and_code(rows: Columns, hashes: Hashes, copies: Floats | None, partition: Partition) -> NDArray[np.int64]:
    codes, folds = partition.codes(rows.score), 1
    if rows.cluster is None:
        folds = FOLDS
        keys = hashes if rows.id is None else hash_ids(rows.id)
        codes = codes + deal(keys, folds, SEED) * partition.n_codes
    counted = np.bincount(codes, copies, minlength=folds * partition.n_codes)
    return np.rint(counted).astype(np.int64).reshape(folds, partition.n_codes)


def _levels(chunk: Chunk, batch: Batch, plan: Plan, control: str) -> Counted:
    column = chunk[1].column(control)
    at = plan.controls.index(control)
    names = level_names(column) if is_category(column.type) else None
    found: Counted = {}
    for which, part in enumerate((batch.unlabelled, batch.labelled)):
        keys, counts = np.unique(part.controls[at], return_counts=True)
        rows = [(count, 0) if which == 0 else (0, count) for count in counts.tolist()]
        texts = [f"{key:.15g}" if names is None else names[key] for key in keys.tolist()]
        found = _added(found, {key: (text, *n) for key, text, n in zip(keys.tolist(), texts, rows, strict=True)})
    return found


def _added(mine: Counted, theirs: Counted) -> Counted:
    """Return the counts of both; of too many levels the first ones, enough to tell that they are too many."""
    both = dict(mine)
    for key, (name, unlabelled, labelled) in theirs.items():
        _, before, labelled_before = both.get(key, (name, 0, 0))
        both[key] = (name, before + unlabelled, labelled_before + labelled)
    if len(both) <= MAX_LEVELS:
        return both
    numbers = are_numbers({key: name for key, (name, *_) in both.items()})
    return dict(sorted(both.items(), key=lambda pair: pair[0] if numbers else pair[1][0])[: MAX_LEVELS + 1])
