"""Feasible: which estimators are possible on rows that were looked at, and why the others are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softlabel.basis import DesignBasis
from softlabel.checking.records import Possible
from softlabel.checking.rows import FOLDS, Found
from softlabel.diagnostics.evidence import audit_rows, no_evidence, no_residuals
from softlabel.diagnostics.rungs import RUNG_NAMES
from softlabel.estimators.confident import WITHIN
from softlabel.estimators.labels import LabelCounts, why_not
from softlabel.estimators.supervised import fit_supervised
from softlabel.influence import FoldRule
from softlabel.look import Clusters
from softlabel.moments import Partition
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.results import Estimate
from softlabel.study import Columns, joined

__all__ = ["Setting", "count_both", "estimators", "setting_of"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# As softlabel.estimators.soft has it.
_LEAST_FREEDOM = 5


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What decides whether an estimator is possible: the rows, the regressions on the controls and the folds."""

    found: Found
    partition: Partition
    basis: DesignBasis
    labelled: Columns
    by: str
    in_sample: bool
    n_effective: float

    @property
    def n(self) -> int:
        """Unlabelled cases."""
        return int(self.found.counts.sum())

    @property
    def d(self) -> int:
        """Design columns with the intercept."""
        return len(self.basis.columns) + 1

    @property
    def df(self) -> int | None:
        """One less than the clusters of unlabelled rows; ``None`` without clusters."""
        return len(self.found.clusters.ids) - 1 if self.by == "cluster" else None

    def fewest_to_train(self, members: Bools | None = None) -> int:
        """Return the rows that the regressions of the worst-off fold are fitted on, for some codes or all."""
        by_fold = self.found.counts.sum(axis=1) if members is None else self.found.counts @ members
        total = int(by_fold.sum())
        if self.in_sample or not total:
            return total
        if self.by == "cluster":  # folds of about equal size; the clusters are dealt when all are known
            return total - -(-total // FOLDS)
        return total - int(by_fold.max())


def setting_of(found: Found, partition: Partition, basis: DesignBasis, controls: tuple[str, ...], by: str) -> Setting:
    """Return the setting of rows whose controls are these, in order."""
    n = int(found.counts.sum())
    n_effective = found.sketch.effective_rows(n)
    in_sample = FoldRule(FOLDS, by).in_sample(n_effective, n, len(basis.columns) + 1)
    rows = _labelled_rows(found, controls, basis)
    return Setting(found, partition, basis, rows, by, in_sample, n_effective)


def _labelled_rows(found: Found, controls: tuple[str, ...], basis: DesignBasis) -> Columns:
    """Return the labelled rows with design columns in place of the controls."""
    rows = joined(found.labelled, len(controls))
    kept = [controls.index(name) for name in basis.controls]
    columns = np.empty((len(basis.columns), len(rows)))
    basis.fill(rows.controls[kept], columns)
    return replace(rows, controls=columns)


def estimators(setting: Setting, controls: tuple[str, ...]) -> Iterator[Possible]:
    """Yield every estimator with the reason why it is not possible, if it is not."""
    supervised = _supervised(setting)
    yield Possible("supervised", None, supervised.reason)
    sample = _Sample.of(setting, controls)
    soft = _soft(setting, sample)
    yield Possible("soft", None, soft)
    evidence = _evidence(setting, sample, supervised, soft)
    for name in (*RUNG_NAMES, "adaptive"):
        yield Possible(name, None, evidence)
    by_code, part = setting.found.counts.sum(axis=0), setting.partition
    for t, label in zip(part.thresholds, part.labels[:, 0], strict=True):
        counts = LabelCounts(setting.n, int(by_code @ label), setting.fewest_to_train())
        left = sample.left(label[sample.codes])
        reason = why_not(counts, left, setting.d, threshold=t, df=setting.df)
        yield Possible("hard", t, reason)
        yield Possible("deattenuated", t, reason or soft)
    for t, member, label in zip(part.confident, part.members, part.confident_labels[:, 0], strict=True):
        counts = LabelCounts(int(by_code @ member), int(by_code @ (member * label)), setting.fewest_to_train(member))
        left = sample.left(label[sample.codes], member[sample.codes])
        yield Possible("confident", t, why_not(counts, left, setting.d, threshold=t, where=WITHIN, df=setting.df))


def _supervised(setting: Setting) -> Estimate:
    """Return what the labelled rows can answer, or why not; no outcome is looked at."""
    rows = setting.labelled
    fit = fit_supervised(
        np.zeros(len(rows)),
        rows.group,
        rows.controls,
        weight=rows.weight,
        frequency=rows.frequency,
        cluster=rows.cluster,
        covariance="HC3",
        level=0.95,
    )
    return fit.estimate


def _evidence(setting: Setting, sample: _Sample, supervised: Estimate, soft: str | None) -> str | None:
    """Return why the labelled rows cannot tell what the score is worth; the sample stands for the unlabelled rows."""
    labelled = setting.labelled
    reason = no_evidence(labelled, supervised, soft)
    if reason is not None:
        return reason
    rows = labelled.take(audit_rows(labelled))
    return no_residuals(rows.score[0] - sample.predicted(rows.controls), rows, sample.variance, "HC3")


def _soft(setting: Setting, sample: _Sample) -> str | None:
    n, d, train = setting.n, setting.d, setting.fewest_to_train()
    if n < d + _LEAST_FREEDOM:
        return f"{n} unlabelled rows are too few for {d + 1} coefficients"
    if train <= d:
        return f"outside one fold there are {train} rows, too few for {d} coefficients"
    if setting.df == 0:
        return "all unlabelled rows are of one cluster, which leaves nothing to learn an error from"
    if setting.found.low[-1] == setting.found.high[-1]:
        return "the score is the same in every row"
    if sample.left(sample.score) <= RANK_TOLERANCE * sample.variance:
        return "the controls explain the score completely (V* = 0)"
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Some unlabelled rows: enough to see whether the controls explain a column of theirs completely."""

    x: Floats
    score: Floats
    codes: NDArray[np.intp]
    counts: Floats

    @classmethod
    def of(cls, setting: Setting, controls: tuple[str, ...]) -> _Sample:
        drawn = setting.found.sample
        values = drawn.values[[controls.index(name) for name in setting.basis.controls]]
        columns = np.empty((len(setting.basis.columns), values.shape[1]))
        setting.basis.fill(values, columns)
        score = drawn.values[-1]
        return cls(columns, score, setting.partition.codes(score[None]), drawn.counts)

    @property
    def variance(self) -> float:
        """The variance of the score."""
        mean = np.average(self.score, weights=self.counts) if len(self.score) else 0.0
        return float(np.square(self.score - mean) @ self.counts / max(self.counts.sum(), 1.0))

    def predicted(self, x: Floats) -> Floats:
        """Return the score that least squares on the sample predict at design columns x (d − 1, m)."""
        middle = np.average(self.x, axis=1, weights=self.counts)[:, None]
        size = np.sqrt(np.average(np.square(self.x - middle), axis=1, weights=self.counts))[:, None]
        here, there = (
            np.vstack([np.ones(z.shape[1]), (z - middle) / np.where(size > 0, size, np.inf)]) for z in (self.x, x)
        )
        root = np.sqrt(self.counts)
        found: Floats = np.linalg.lstsq((here * root).T, self.score * root, rcond=None)[0] @ there
        return found

    def left(self, target: Floats, members: Bools | None = None) -> float:
        """Return the variance of a target (n,) that the controls leave; infinite where too few rows would tell."""
        inside = np.ones(len(target), dtype=np.bool_) if members is None else members
        x, y, counts = self.x[:, inside], target[inside], self.counts[inside]
        if len(y) <= len(x) + 1 or y.min() == y.max():
            return np.inf
        total = counts.sum()
        # Columns of size one about their mean, so that what is left is measured against what was there.
        x = x - (x @ counts / total)[:, None]
        size = np.sqrt(np.square(x) @ counts / total)
        x = x[size > 0] / size[size > 0, None]
        y = y - y @ counts / total
        root = np.sqrt(counts)
        solved = np.linalg.lstsq((x * root).T, y * root, rcond=None)[0]
        return float(np.square(y - solved @ x) @ counts / total)


def count_both(a: Clusters, b: Clusters) -> int | None:
    """Return how many clusters have rows of both kinds; ``None`` where there are too many to tell."""
    return None if a.joined or b.joined else len(np.intersect1d(a.ids, b.ids, assume_unique=True))
