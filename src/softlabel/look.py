"""The look: what must be known of the data before the first sum: levels, a sample for knots, and the clusters.

It is skipped where nothing needs it. What it finds does not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.basis import MAX_LEVELS, Levels
from softlabel.errors import DataError
from softlabel.folds import RowCheck, hash_rows
from softlabel.hashing import Hashes, finish, splitmix
from softlabel.study import Batch, Columns, Tally, is_category, level_names

__all__ = [
    "MOST_CLUSTERS",
    "SAMPLE_ROWS",
    "Clusters",
    "Dealing",
    "LookState",
    "RowSample",
    "Wanted",
    "are_numbers",
    "check_levels",
    "look_batch",
]

Floats = NDArray[np.float64]

# Quantiles of 8,192 rows lie within 1.1 percentage points of those of the table (two standard errors at the median).
SAMPLE_ROWS = 8_192

# Above this many, clusters are joined at random into 65,536 super-clusters: errors stay valid, and memory bounded.
MOST_CLUSTERS = 100_000
_SUPER_BITS = 16

_TOO_MANY = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for: ``controls`` names the rows of the controls matrix, of which some need levels or a sample."""

    controls: tuple[str, ...]
    categories: tuple[str, ...]
    splines: tuple[str, ...]

    def row(self, control: str) -> int:
        """Return where a control stands in the matrix."""
        return self.controls.index(control)


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """The rows of smallest hash, each distinct one once: hashes (m,) in increasing order, counts (m,), values (k, m).

    A bottom-k sample (Cohen & Kaplan 2007): uniform over distinct rows, with the copies of each. A commutative monoid.
    """

    hashes: Hashes
    counts: Floats
    values: Floats

    @classmethod
    def of(cls, hashes: Hashes, values: Floats, copies: Floats | None = None) -> RowSample:
        """Return the sample of these rows: hashes (n,), values (k, n), and how often each row counts."""
        n = len(hashes)
        counts = np.ones(n) if copies is None else copies
        if n > 8 * SAMPLE_ROWS:
            # Rows above this hash cannot be among the smallest, unless the rows repeat.
            low = hashes < np.uint64(int(2.0**64 * 2 * SAMPLE_ROWS / n))
            few = cls.of(hashes[low], values[:, low], counts[low])
            if len(few.hashes) == SAMPLE_ROWS:
                return few
        return _smallest(hashes, counts, values)

    def merge(self, other: RowSample) -> RowSample:
        """Return the sample of both sets of rows."""
        if not len(self.hashes) or not len(other.hashes):
            return other if not len(self.hashes) else self
        return _smallest(
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.values, other.values], axis=1),
        )


def _smallest(hashes: Hashes, counts: Floats, values: Floats) -> RowSample:
    distinct, first, which = np.unique(hashes, return_index=True, return_inverse=True)
    kept = slice(0, SAMPLE_ROWS)
    copies: Floats = np.bincount(which, counts).astype(np.float64)
    return RowSample(distinct[kept], copies[kept], values[:, first[kept]])


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Hashes of the clusters that have unlabelled rows, in increasing order, or of super-clusters of them.

    A commutative monoid: which clusters share a super-cluster depends on their hashes alone.
    """

    ids: Hashes
    joined: bool = False

    @classmethod
    def of(cls, cluster: Hashes) -> Clusters:
        """Return the clusters of these rows, (n,)."""
        return bounded(cls(np.unique(cluster)))

    def merge(self, other: Clusters) -> Clusters:
        """Return the clusters of both sets of rows."""
        joined = self.joined or other.joined
        both = [super_cluster(part.ids) if joined and not part.joined else part.ids for part in (self, other)]
        return bounded(Clusters(np.unique(np.concatenate(both)), joined))


def bounded(clusters: Clusters) -> Clusters:
    """Return the clusters, joined to super-clusters if there are too many."""
    if clusters.joined or len(clusters.ids) <= MOST_CLUSTERS:
        return clusters
    return Clusters(np.unique(super_cluster(clusters.ids)), joined=True)


def super_cluster(cluster: Hashes) -> Hashes:
    """Return the super-cluster that each cluster is joined to."""
    return cluster >> np.uint64(64 - _SUPER_BITS)


@dataclass(frozen=True, slots=True, eq=False)
class LookState:
    """What a look at some rows found; states merge in any grouping."""

    tally: Tally
    check: RowCheck
    levels: Mapping[str, Mapping[float, str]]
    sample: RowSample
    clusters: Clusters

    @classmethod
    def empty(cls, wanted: Wanted) -> LookState:
        """Return the identity of `merge`."""
        none = np.empty(0, dtype=np.uint64)
        nothing = RowSample(none, np.empty(0), np.empty((len(wanted.splines), 0)))
        return cls(Tally(), RowCheck(), {name: {} for name in wanted.categories}, nothing, Clusters(none))

    def merge(self, other: LookState) -> LookState:
        """Return what a look at both sets of rows finds."""
        return LookState(
            tally=self.tally.merge(other.tally),
            check=self.check.merge(other.check),
            levels={name: check_levels(name, {**mine, **other.levels[name]}) for name, mine in self.levels.items()},
            sample=self.sample.merge(other.sample),
            clusters=self.clusters.merge(other.clusters),
        )

    def ordered_levels(self) -> dict[str, Levels]:
        """Return the levels of each category in order, of names or of numbers; the first is the reference."""
        found = {}
        for control, names in self.levels.items():
            pairs = sorted(names.items()) if are_numbers(names) else sorted(names.items(), key=lambda pair: pair[1])
            found[control] = Levels(tuple(key for key, _ in pairs), tuple(name for _, name in pairs))
        return found

    def samples(self, wanted: Wanted) -> dict[str, tuple[Floats, Floats]]:
        """Return the sampled values of each control that becomes a spline, and how often each row counts."""
        return {
            name: (values, self.sample.counts) for name, values in zip(wanted.splines, self.sample.values, strict=True)
        }


def look_batch(batch: Batch, record: pa.RecordBatch, wanted: Wanted) -> LookState:
    """Return what a look at one batch finds; ``record`` holds the names of its levels."""
    rows = batch.unlabelled
    hashes = hash_rows(rows)
    levels = {}
    for control in wanted.categories:
        seen = np.unique(np.concatenate([part.controls[wanted.row(control)] for part in (rows, batch.labelled)]))
        column = record.column(control)
        if is_category(column.type):
            names = level_names(column)
            levels[control] = check_levels(control, {key: names[key] for key in seen.tolist()})
        else:
            levels[control] = check_levels(control, {key: f"{key:.15g}" for key in seen[: MAX_LEVELS + 1].tolist()})
    chosen = rows.controls[[wanted.row(name) for name in wanted.splines]]
    return LookState(
        tally=batch.tally,
        check=RowCheck.of(rows, hashes).merge(RowCheck.of(batch.labelled, hash_rows(batch.labelled))),
        levels=levels,
        sample=RowSample.of(hashes, chosen, rows.weight if rows.frequency else None)
        if wanted.splines
        else LookState.empty(wanted).sample,
        clusters=LookState.empty(wanted).clusters if rows.cluster is None else Clusters.of(rows.cluster),
    )


def check_levels(control: str, names: Mapping[float, str]) -> Mapping[float, str]:
    """Return the levels; raise where there are too many."""
    if len(names) <= MAX_LEVELS:
        return names
    numbers = are_numbers(names)
    some = [names[key] for key in sorted(names)] if numbers else sorted(names.values())
    some = some[:_TOO_MANY]
    fix = "Group rare levels into one, use a coarser category, or leave it out and name it as cluster"
    if all(_reads_as_number(name) for name in some):
        fix = "These look like numbers: convert the column to numbers"
    if numbers:
        fix = (
            "Leave C() or categories= out, and these numbers enter as a curve, in a formula by "
            f"ns({control}); if they are codes, group them into fewer"
        )
    raise DataError(
        expected=f"at most {MAX_LEVELS} levels in the category {control!r}",
        found=f"more, such as {', '.join(map(repr, some))}",
        fix=fix,
    )


def are_numbers(names: Mapping[float, str]) -> bool:
    """Return whether levels are called what they are: the column holds numbers, and no text."""
    return all(name == f"{key:.15g}" for key, name in names.items())


def _reads_as_number(text: str) -> bool:
    try:
        float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Dealing:
    """Which fold a cluster's rows belong to: clusters in the order of their mixed hashes, dealt in turn."""

    clusters: Clusters
    fold: NDArray[np.intp]

    @classmethod
    def of(cls, clusters: Clusters, folds: int, seed: int) -> Dealing:
        """Deal the clusters to folds, or say that there are too few."""
        count = len(clusters.ids)
        if folds > 1 and count < folds:
            raise DataError(
                expected=f"at least as many clusters with unlabelled rows as folds ({folds})",
                found=f"{count}",
                fix="Use fewer folds, or folds=None (--folds none) to fit the nuisances in sample",
            )
        order = np.argsort(finish(clusters.ids ^ np.uint64(splitmix(seed))), kind="stable")
        fold = np.empty(count, dtype=np.intp)
        fold[order] = np.arange(count) % folds
        return cls(clusters, fold)

    def apply(self, batch: Batch) -> Batch:
        """Return the batch with the fold of every unlabelled row, and super-clusters where clusters are joined."""
        unlabelled = self._joined(batch.unlabelled)
        # A cluster that the look did not see belongs to rows that changed since, which the passes notice.
        at = np.minimum(np.searchsorted(self.clusters.ids, self._ids(unlabelled)), max(len(self.fold) - 1, 0))
        fold = self.fold[at] if len(self.fold) else np.zeros(len(unlabelled), dtype=np.intp)
        return batch._replace(unlabelled=replace(unlabelled, fold=fold), labelled=self._joined(batch.labelled))

    def _joined(self, columns: Columns) -> Columns:
        return replace(columns, cluster=super_cluster(self._ids(columns))) if self.clusters.joined else columns

    @staticmethod
    def _ids(columns: Columns) -> Hashes:
        assert columns.cluster is not None  # noqa: S101  (there is a dealing only where there are clusters)
        return columns.cluster
