"""Notes: what a reader should know before using a number, each with a stable code."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from softlabel.diagnostics.concentration import concentration_notes
from softlabel.diagnostics.evidence import Evidence
from softlabel.diagnostics.threshold_notes import FEW, ROWS_PER_COLUMN, threshold_notes
from softlabel.estimators.supervised import SupervisedFit, independent_controls
from softlabel.folds import hash_rows
from softlabel.influence import Analysis, FoldRule
from softlabel.influence.analysis import REPEATS
from softlabel.look import MOST_CLUSTERS
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.results import Estimate, Note
from softlabel.results.text import number
from softlabel.running import Run
from softlabel.study import Tally

__all__ = ["notes", "redundant_controls"]

# Estimates of one number are further apart than this once in 370 samples.
_APART = 3.0

_FEW_LABELS = 5

# The square of a constant outcome is known to 16 digits, its variance to what those leave.
_SAME = 1e-24


# Standard errors learnt from G clusters miss by a factor of about sqrt(1 ± sqrt(2/(G − 1))): by a fifth at 30.
_FEW_CLUSTERS = 30


def notes(
    run: Run, level: float, *, soft: Estimate, supervised: SupervisedFit, evidence: Evidence | str
) -> tuple[Note, ...]:
    """Return every note that applies to a run and its estimates."""
    analysis = run.analysis
    return (
        *_sample_notes(analysis.fit.tally),
        *_score_notes(analysis, 1 + len(run.basis.columns)),
        *_outcome_notes(analysis),
        *_difference_notes(soft, supervised, run),
        *_reversed_notes(analysis),
        *_repeat_notes(analysis, run.rule),
        *_cluster_notes(run),
        *concentration_notes(analysis, run.labelled),
        *_control_notes(redundant_controls(run)),
        *_labelled_notes(run),
        *_leverage_notes(supervised, evidence),
        *threshold_notes(analysis, level, 1 + len(run.basis.columns)),
    )


def _leverage_notes(supervised: SupervisedFit, evidence: Evidence | str) -> list[Note]:
    if isinstance(evidence, str) or supervised.influence is not None:
        return []
    return [
        Note(
            "errors.plain",
            "A labelled row alone decides a coefficient, so supervised has no error by the covariance asked for; "
            f"rectified and what builds on it use {evidence.covariance}",
        )
    ]


def redundant_controls(run: Run) -> tuple[str, ...]:
    """Return the design columns that the intercept and the columns before them explain."""
    if run.learner is not None:
        return ()
    kept = run.analysis.nuisances.kept[1:]
    return tuple(name for name, is_kept in zip(run.basis.columns, kept, strict=True) if not is_kept)


def _sample_notes(tally: Tally) -> list[Note]:
    found = []
    if not tally.labelled:
        found.append(
            Note(
                "labels.none",
                "Without labelled rows nothing here can be tested: that the score is calibrated given the controls, "
                "and that what the classifier saw matters for the outcome only through the group, is taken on trust",
            )
        )
    if tally.dropped:
        columns = ", ".join(f"{name} {count:,}" for name, count in tally.missing.items())
        found.append(
            Note(
                "rows.dropped",
                f"{tally.dropped:,} of {tally.rows:,} rows were left out for missing values ({columns})",
            )
        )
    if tally.weightless:
        found.append(
            Note(
                "rows.weightless",
                f"{tally.weightless:,} of {tally.rows:,} rows have weight zero and were left out",
            )
        )
    if not tally.graded:
        found.append(
            Note(
                "outcome.binary",
                "The outcome is 0 or 1, so effects are differences in its probability (a linear probability model)",
            )
        )
    return found


def _cluster_notes(run: Run) -> list[Note]:
    count, dealing = run.analysis.clusters, run.dealing
    found = []
    if dealing is not None and dealing.clusters.joined:
        found.append(
            Note(
                "clusters.joined",
                f"More than {MOST_CLUSTERS:,} clusters: they were joined at random into {count:,}, which standard "
                "errors allow for",
            )
        )
    if count is not None and count < _FEW_CLUSTERS:
        found.append(
            Note(
                "clusters.few",
                f"Only {count} clusters of unlabelled rows: standard errors are learnt from as many numbers and may "
                "well be a fifth off",
            )
        )
    return found


def _score_notes(analysis: Analysis, columns: int) -> list[Note]:
    found = []
    if not analysis.fit.tally.unsure:
        found.append(
            Note(
                "score.hard",
                "Every score is 0 or 1: a label, not a probability. kappa is one by construction, and soft is hard",
            )
        )
    if analysis.n < max(FEW, ROWS_PER_COLUMN * columns):
        found.append(
            Note(
                "rows.few",
                f"Only {analysis.n} unlabelled rows for {columns} columns of the regressions: standard "
                "errors are too small to trust",
            )
        )
    return found


def _outcome_notes(analysis: Analysis) -> list[Note]:
    moments = analysis.fit.moments
    grams = moments.grams.sum(axis=1)
    pooled = grams.sum(axis=0)
    mean = float(pooled[0, -1] / pooled[0, 0])
    variance = float(pooled[-1, -1] / pooled[0, 0]) - mean**2
    if variance <= _SAME * (mean + float(moments.shift[-1])) ** 2:
        return [
            Note(
                "outcome.constant",
                "The outcome is the same in every unlabelled row, so there is no effect on it to be found there",
            )
        ]
    residual = analysis.nuisances.maps[:, analysis.design.q]
    left = float(np.einsum("kz,kzy,ky->", residual, grams, residual) / pooled[0, 0])
    if left > RANK_TOLERANCE * variance:
        return []
    return [
        Note(
            "outcome.explained",
            "The controls explain the outcome completely, so what is left to estimate from is rounding: does a control "
            "follow from the outcome?",
        )
    ]


def _difference_notes(soft: Estimate, fit: SupervisedFit, run: Run) -> list[Note]:
    supervised = fit.estimate
    if soft.estimate is None or supervised.estimate is None:
        return []
    variance = (soft.std_error or 0.0) ** 2 + (supervised.std_error or 0.0) ** 2 - 2 * _shared_covariance(fit, run)
    error = math.sqrt(max(variance, 0.0))
    if error == 0 or abs(soft.estimate - supervised.estimate) <= _APART * error:
        return []
    apart = abs(soft.estimate - supervised.estimate) / error
    return [
        Note(
            "estimates.differ",
            f"Soft and supervised are {number(apart, 2)} standard errors apart, so at least one thing fails: the score "
            "is not calibrated given the controls, what the classifier saw matters for the outcome, a control does not "
            "act linearly, the effect differs with the controls, or the labelled rows differ from the others",
        )
    ]


def _shared_covariance(fit: SupervisedFit, run: Run) -> float:
    """Return the covariance of soft and supervised: zero but for clusters that have rows of both kinds."""
    cluster, core = run.labelled.cluster, run.analysis.sums["core"]
    if cluster is None or core.clusters is None or fit.influence is None:
        return 0.0
    copies = (
        run.labelled.weight if run.labelled.frequency and run.labelled.weight is not None else np.ones(len(cluster))
    )
    mine, which = np.unique(cluster, return_inverse=True)
    supervised = np.bincount(which, copies * fit.influence)
    theirs, sums = core.clusters.joined
    _, i, j = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    return float(supervised[i] @ sums[j, 0]) / float(core.bread[0, 0, 0])


def _reversed_notes(analysis: Analysis) -> list[Note]:
    means = []
    for group in (0, 1):
        chosen = [(piece, (piece.group == group) & ~np.isnan(piece.score[0])) for piece in analysis.fit.labelled]
        seen = np.concatenate([piece.score[0, rows] for piece, rows in chosen] or [np.empty(0)])
        weight = [np.ones(rows.sum()) if piece.weight is None else piece.weight[rows] for piece, rows in chosen]
        if len(seen) < _FEW_LABELS:
            return []
        means.append(float(np.average(seen, weights=np.concatenate(weight))))
    if means[1] >= means[0]:
        return []
    return [
        Note(
            "score.reversed",
            f"Labelled rows in the group have a lower score ({number(means[1], 2)} on average) than those not in it "
            f"({number(means[0], 2)}): pass one minus the score, if it is the probability of the other group",
        )
    ]


def _repeat_notes(analysis: Analysis, rule: FoldRule) -> list[Note]:
    found = []
    n = analysis.n
    if analysis.n_effective < REPEATS * n:
        found.append(
            Note(
                "rows.repeat",
                f"Rows repeat: {n:,} unlabelled rows hold about {number(analysis.n_effective)} distinct ones. If "
                "copies are different cases with equal values all is well; if one case was entered several times, "
                f"standard errors are too small by a factor of about {number(math.sqrt(n / analysis.n_effective), 2)}: "
                "drop the copies",
            )
        )
    if rule.count is not None and analysis.nuisances.in_sample:
        found.append(
            Note(
                "folds.in_sample",
                "Copies of a row would share a fold, so the nuisances were fitted in sample; id= names a column to "
                "deal rows by instead",
            )
        )
    labelled = np.concatenate([hash_rows(piece) for piece in analysis.fit.labelled] or [np.empty(0, np.uint64)])
    distinct = len(np.unique(labelled))
    if distinct < REPEATS * len(labelled):
        found.append(
            Note(
                "rows.repeat_labelled",
                f"Labelled rows repeat: {len(labelled):,} hold {distinct:,} distinct ones. If one case was entered "
                "several times, the standard error of supervised is too small: drop the copies",
            )
        )
    return found


def _control_notes(redundant: Sequence[str]) -> list[Note]:
    if not redundant:
        return []
    names = ", ".join(redundant)
    return [
        Note(
            "controls.redundant",
            f"Constant, or explained by the controls before it, and left out: {names}",
        )
    ]


def _labelled_notes(run: Run) -> list[Note]:
    controls = run.labelled.controls
    if not controls.size:
        return []
    elsewhere = redundant_controls(run)
    kept = independent_controls(controls)
    names = [
        name for name, is_kept in zip(run.basis.columns, kept, strict=True) if not is_kept and name not in elsewhere
    ]
    if not names:
        return []
    return [
        Note(
            "controls.redundant_labelled",
            "Constant on the labelled rows, or explained there by the controls before it, and left out of "
            f"supervised: {', '.join(names)}",
        )
    ]
