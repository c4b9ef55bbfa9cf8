"""Counting: the rows that were looked at, by kind, level, threshold and confident set."""

from __future__ import annotations

from softlabel.checking.feasible import Setting, count_both
from softlabel.checking.records import ConfidentRows, Counts, Level, RowsAbove
from softlabel.checking.rows import Found
from softlabel.diagnostics.evidence import audit_rows
from softlabel.moments import Partition
from softlabel.results import Table
from softlabel.study import Columns, Study

__all__ = ["above", "confident", "counts", "levels"]


def counts(study: Study, found: Found, setting: Setting | None, by: str) -> Counts:
    """Return the counts of rows with roles."""
    tally, clustered = found.tally, study.cluster is not None
    return Counts(
        rows=tally.rows,
        unlabelled=tally.unlabelled,
        labelled=tally.labelled,
        labelled_by_class=(tally.labelled - tally.positive, tally.positive),
        audit=sum(map(_audits, found.labelled)),
        incomplete=tally.dropped,
        weightless=tally.weightless,
        n_effective=found.sketch.effective_rows(tally.unlabelled),
        in_sample=setting is not None and setting.in_sample,
        folds_by=by,
        columns=None if setting is None else len(setting.basis.columns),
        clusters=len(found.clusters.ids) if clustered else None,
        clusters_labelled=len(found.clusters_labelled.ids) if clustered else None,
        clusters_both=count_both(found.clusters, found.clusters_labelled) if clustered else None,
    )


def _audits(labelled: Columns) -> int:
    """Return how many cases of some labelled rows may audit the score."""
    rows = labelled.take(audit_rows(labelled))
    return len(rows) if rows.weight is None or not rows.frequency else int(rows.weight.sum())


def levels(found: Found) -> Table[Level]:
    """Return how many rows hold each level of each category."""
    return Table(
        tuple(
            Level(control, name, unlabelled, labelled)
            for control, levels in found.levels.items()
            for name, unlabelled, labelled in sorted(levels.values())
        )
    )


def above(found: Found, partition: Partition) -> list[RowsAbove]:
    """Return how many rows have a score above each threshold."""
    by_code = found.counts.sum(axis=0)
    return [
        RowsAbove(t, int(by_code @ label))
        for t, label in zip(partition.thresholds, partition.labels[:, 0], strict=True)
    ]


def confident(found: Found, partition: Partition) -> list[ConfidentRows]:
    """Return how many rows are in each confident set."""
    by_code = found.counts.sum(axis=0)
    sets = zip(partition.confident, partition.members, partition.confident_labels[:, 0], strict=True)
    return [ConfidentRows(t, int(by_code @ member), int(by_code @ (member * label))) for t, member, label in sets]
