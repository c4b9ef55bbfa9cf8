"""Rungs: the ladder's estimates and tests as records, from the evidence of the labelled rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softlabel.diagnostics.evidence import Evidence
from softlabel.diagnostics.jackknife import jackknifed
from softlabel.estimators.ladder import Rungs, Step, climb, compatible
from softlabel.results import Estimate, Ladder, Rung, StepTest, Table
from softlabel.results.inference import p_value, quantile
from softlabel.results.records import estimated, not_estimated
from softlabel.study import Columns

__all__ = ["KEPT_BEYOND", "RUNG_NAMES", "ladder_records"]

RUNG_NAMES = ("rectified", "instrumented", "combined")
_TRUSTS = (
    "that labelled and unlabelled rows are of one population",
    "besides, that the score matters for the outcome only through the group (exclusion)",
    "besides, that the score is calibrated given the controls",
)

# (exclusion, calibration): steps are soft-thresholded at so many of their own standard deviations. Chosen on the
# scenarios of `softlabel replicate rules`, and judged there on others.
KEPT_BEYOND = (1.0, 0.1)


def ladder_records(
    evidence: Evidence | str,
    labelled: Columns,
    n_unlabelled: int,
    level: float,
    kept_beyond: tuple[float, float] = KEPT_BEYOND,
) -> tuple[Ladder, tuple[Estimate, ...]]:
    """Return the ladder, and the estimates rectified, instrumented, combined and adaptive."""
    if isinstance(evidence, str):
        missing = tuple(not_estimated(name, evidence, 0, level=level) for name in (*RUNG_NAMES, "adaptive"))
        return Ladder(Table(()), Table(()), n_unlabelled=n_unlabelled, reason=evidence), missing
    found = jackknifed(climb(evidence.g, evidence.omega), evidence, labelled)
    supervised = evidence.supervised.estimate
    df, n = supervised.df, supervised.n + n_unlabelled
    estimates = tuple(
        estimated(name, float(point), max(float(variance), 0.0), n, level=level, df=df)
        for name, point, variance in zip(RUNG_NAMES, found.estimates, np.diagonal(found.covariance), strict=True)
    )
    broken = next((row.reason for row in estimates if row.reason is not None), None)
    if broken is not None:
        return ladder_records(broken, labelled, n_unlabelled, level)
    exclusion, calibration = kept_beyond
    ladder = Ladder(
        rungs=Table(tuple(_rung(i, row) for i, row in enumerate(estimates))),
        steps=Table(
            (
                _step("exclusion", found.exclusion, exclusion, df),
                _step("calibration", found.calibration, calibration, df),
            )
        ),
        moments=tuple(evidence.g.tolist()),
        covariance=tuple(map(tuple, evidence.omega.tolist())),
        slope=found.slope,
        leak=found.leak,
        comparable=(float(found.distance[0]), p_value(float(found.distance[0]) ** 0.5, 1.0, None)),
        compatible=tuple(compatible(evidence.g, evidence.omega, quantile(level, df) ** 2)),
        guarantee=guarantee(found, kept_beyond),
        n_labelled=supervised.n,
        n_audit=evidence.n,
        n_unlabelled=n_unlabelled,
        df=df,
        group_variance=evidence.group_variance,
    )
    return ladder, (*estimates, _adaptive(found, estimates[0], kept_beyond))


def guarantee(found: Rungs, kept_beyond: tuple[float, float]) -> float:
    r"""Return a bound on the adaptive estimate's mean squared error, as a multiple of rectified's, in large samples.

    Efficient weights make the steps, of standard deviations d, uncorrelated with each other and with rung 2. A normal
    step soft-thresholded at λd has a mean squared error of at most d²(1 + λ²) and a bias of at most λd (Donoho &
    Johnstone 1994), whatever its mean. Adding up,

    .. math:: \mathrm{MSE} \le \mathrm{Var}_0 + (\lambda_1 d_1 + \lambda_2 d_2)^2.
    """
    variance = float(found.covariance[0, 0])
    moved = kept_beyond[0] * found.exclusion.std_error + kept_beyond[1] * found.calibration.std_error
    return 1 + moved**2 / variance if variance > 0 else 1.0


def _rung(place: int, row: Estimate) -> Rung:
    assert row.estimate is not None and row.std_error is not None and row.interval is not None  # noqa: S101, PT018
    return Rung(place, row.name, _TRUSTS[place], row.estimate, row.std_error, *row.interval)


def _step(name: str, step: Step, threshold: float, df: int | None) -> StepTest:
    p = p_value(step.difference, step.std_error, df) if step.std_error > 0 else 1.0
    return StepTest(name, step.difference, step.std_error, step.statistic, p, step.kept(threshold))


def _adaptive(found: Rungs, rectified: Estimate, kept_beyond: tuple[float, float]) -> Estimate:
    point = found.adaptive(*kept_beyond)
    return replace(
        rectified,
        name="adaptive",
        estimate=point,
        std_error=None,
        p_value=None,
        reason="no standard error describes an estimate that adapts: the interval is that of rectified, which holds "
        "whether or not the steps are right",
    )
