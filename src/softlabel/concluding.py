"""Concluding: from every sum of a table to its Diagnosis."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from softlabel.decision import guarded_rule, paper_rule
from softlabel.diagnostics.attenuation import confident_table, kappa_table, label_equivalents
from softlabel.diagnostics.audits import audit_table
from softlabel.diagnostics.checks import Context, run_checks
from softlabel.diagnostics.distribution import distribution_of
from softlabel.diagnostics.drift import drift_record
from softlabel.diagnostics.evidence import Evidence, gather
from softlabel.diagnostics.forecast import forecast_table
from softlabel.diagnostics.notes import notes, redundant_controls
from softlabel.diagnostics.reliability import calibration_of, reliability_by_control
from softlabel.diagnostics.rungs import ladder_records
from softlabel.estimators.confident import confident_estimates
from softlabel.estimators.hard import hard_estimates
from softlabel.estimators.soft import soft_estimates, v_star_estimate
from softlabel.estimators.supervised import Covariance, SupervisedFit, fit_supervised
from softlabel.moments import Partition
from softlabel.results import (
    Attenuation,
    Audit,
    Calibration,
    Check,
    Diagnosis,
    Estimate,
    Ladder,
    LearnerScore,
    Sample,
    ScoreReport,
    Settings,
    Table,
    Verdict,
)
from softlabel.results.records import Column
from softlabel.running import Run
from softlabel.study import Study

__all__ = ["Asked", "conclude"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller asked for, checked; ``folds`` is ``None`` for nuisances in sample."""

    study: Study
    basis: str
    partition: Partition
    folds: int | None
    seed: int
    covariance: Covariance
    rule: str
    trust: str | None
    kappa_tolerance: float
    level: float
    features: tuple[str, ...] | None
    scoring: ScoreReport | None = None


def conclude(run: Run, asked: Asked) -> Diagnosis:
    """Return the Diagnosis of a run."""
    analysis, level = run.analysis, asked.level
    fit = _supervised(run, asked)
    soft, soft_moment = soft_estimates(analysis, level)
    hard, confident = hard_estimates(analysis, level), confident_estimates(analysis, level)
    kappa, kappa_confident = kappa_table(analysis, level), confident_table(analysis, level)
    v_star = v_star_estimate(analysis, level)
    evidence = _evidence(run, asked, fit, soft)
    trusted = _trusted(run, asked, fit, soft, v_star, evidence)
    estimates = Table((fit.estimate, soft, soft_moment, *hard, *confident, *trusted.climbed))
    plain = [row for row in hard if (row.name, row.form) == ("hard", "orthogonal")]
    thresholded = (soft, plain, confident, kappa.rows, kappa_confident.rows)
    return Diagnosis(
        verdict=_verdict(asked, fit.estimate, soft, soft_moment, kappa, trusted),
        estimates=estimates,
        v_star=v_star,
        score_variance=float(analysis.points.score_variance[0, 0]),
        kappa=kappa,
        kappa_confident=kappa_confident,
        label_equivalents=label_equivalents(estimates, fit.estimate),
        checks=trusted.checks,
        audits=trusted.audits,
        calibration=trusted.calibration,
        ladder=trusted.ladder,
        drift_curves=drift_record(analysis, *thresholded, evidence, level),
        forecast=forecast_table(*thresholded),
        learners=_learners(run, v_star),
        scoring=asked.scoring,
        sample=_sample(run),
        settings=_settings(run, asked),
        notes=notes(run, level, soft=soft, supervised=fit, evidence=evidence),
        distribution=distribution_of(run),
        reliability=reliability_by_control(evidence, run),
    )


def _evidence(run: Run, asked: Asked, fit: SupervisedFit, soft: Estimate) -> Evidence | str:
    """Return the evidence, or why there is none.

    By HC1 where a row of leverage one leaves the covariance that was asked for without numbers.

    Supervised itself stays without an error then; `notes` says what the others have.
    """
    if asked.scoring is not None and not asked.scoring.audit:
        return "with split='halves' every labelled row trained the classifier or its calibrator; use split='folds'"
    if fit.influence is None and asked.covariance in ("HC2", "HC3"):
        plain = _supervised(run, replace(asked, covariance="HC1"))
        if plain.influence is not None:
            return gather(run, plain, soft, "HC1")
    return gather(run, fit, soft, asked.covariance)


def _supervised(run: Run, asked: Asked) -> SupervisedFit:
    rows = run.labelled
    return fit_supervised(
        rows.outcome,
        rows.group,
        rows.controls,
        weight=rows.weight,
        frequency=rows.frequency,
        cluster=rows.cluster,
        covariance=asked.covariance,
        level=asked.level,
    )


class _Trusted(NamedTuple):
    """What the labelled rows say of the score; ``climbed`` are the ladder's estimates, adaptive the last."""

    checks: Table[Check]
    audits: Table[Audit]
    calibration: Calibration
    ladder: Ladder
    climbed: tuple[Estimate, ...]


def _trusted(
    run: Run, asked: Asked, fit: SupervisedFit, soft: Estimate, v_star: Estimate, evidence: Evidence | str
) -> _Trusted:
    audits = audit_table(evidence, asked.partition.thresholds, asked.level)
    ladder, climbed = ladder_records(evidence, run.labelled, run.analysis.n, asked.level)
    context = Context(
        run=run,
        evidence=evidence,
        supervised=fit,
        soft=soft,
        v_star=v_star,
        ladder=ladder,
        audit=audits.rows[0],
        covariance=asked.covariance,
        level=asked.level,
        features=asked.features,
        explained=(asked.study.outcome, asked.study.group),
        cross_fitted=asked.scoring is not None and asked.scoring.audit > 0,
    )
    calibration = calibration_of(evidence, asked.level, asked.seed)
    return _Trusted(Table(run_checks(context)), audits, calibration, ladder, climbed)


def _verdict(
    asked: Asked,
    supervised: Estimate,
    soft: Estimate,
    soft_moment: Estimate,
    kappa: Iterable[Attenuation],
    trusted: _Trusted,
) -> Verdict:
    if asked.rule == "paper":
        return paper_rule(soft, soft_moment, supervised, kappa, kappa_tolerance=asked.kappa_tolerance)
    return guarded_rule(
        supervised,
        soft,
        trusted.climbed[-1],
        trusted.ladder,
        trusted.checks.rows,
        kappa,
        kappa_tolerance=asked.kappa_tolerance,
        trust=asked.trust,
    )


def _settings(run: Run, asked: Asked) -> Settings:
    study = asked.study
    return Settings(
        outcome=study.outcome,
        group=study.group,
        score=study.score,
        controls=study.controls,
        thresholds=asked.partition.thresholds,
        confident=asked.partition.confident,
        basis=asked.basis,
        learner=run.learner,
        folds=asked.folds,
        seed=asked.seed,
        weights=study.weights,
        weight_type=None if study.weights is None else study.weight_type,
        cluster=study.cluster,
        id=study.id,
        audit=study.audit,
        features=asked.features,
        covariance=asked.covariance,
        rule=asked.rule,
        trust=asked.trust,
        kappa_tolerance=asked.kappa_tolerance,
        level=asked.level,
        missing=study.missing,
    )


def _learners(run: Run, v_star: Estimate) -> Table[LearnerScore]:
    """Return V̂* with each learner; of the only one it is V̂* itself."""
    if run.learner is None:
        return Table(())
    if not run.compared:
        return Table((LearnerScore(run.learner, v_star.estimate, v_star.std_error, used=True),))
    rows = (LearnerScore(row.name, row.v_star, row.std_error, row.name == run.learner) for row in run.compared)
    return Table(tuple(rows))


def _sample(run: Run) -> Sample:
    analysis, tally = run.analysis, run.analysis.fit.tally
    in_sample = analysis.nuisances.in_sample
    clusters = run.labelled.cluster
    return Sample(
        source=run.source,
        rows=tally.rows,
        used=tally.unlabelled + tally.labelled,
        unlabelled=tally.unlabelled,
        labelled=tally.labelled,
        labelled_by_class=(tally.labelled - tally.positive, tally.positive),
        dropped=tally.dropped,
        missing=tuple(Column(name, count) for name, count in tally.missing.items()),
        weightless=tally.weightless,
        n_effective=analysis.n_effective,
        folds=None if in_sample else run.rule.count,
        folds_by="in sample" if in_sample else run.rule.by,
        clusters=analysis.clusters,
        clusters_labelled=None if clusters is None else len(set(clusters.tolist())),
        columns=run.basis.columns,
        redundant_controls=redundant_controls(run),
        ridge=analysis.nuisances.ridge,
        fingerprint=str(run.check),
        seed=analysis.design.seed,
        versions=_versions(),
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """Return what is needed to compute the same numbers again; looked up once, for it takes milliseconds."""
    from importlib.metadata import version

    names = ("softlabel", "numpy", "scipy", "pyarrow")
    return (("python", platform.python_version()), *((name, version(name)) for name in names))
