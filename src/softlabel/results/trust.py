"""Records of what may be trusted: checks, audits, the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from softlabel.results.table import Table

__all__ = ["Audit", "Calibration", "Check", "Ladder", "Outcome", "ReliabilityBin", "Rung", "StepTest"]

Outcome = Literal["pass", "warn", "fail", "not_applicable", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """One assumption, looked at.

    Attributes
    ----------
    code, title
        ``code`` is stable; several checks share one where there is one for each control.
    outcome
        "pass", "warn" (p below 0.05, or little to go by), "fail" (p below 0.01, or certain), "not_applicable" where the
        question does not arise, "skipped" where the data cannot answer it.
    statistic, df, p_value
        Of the test; ``df`` counts the restrictions. ``None`` where there is no test.
    effect
        What the finding does to an estimate, in the units of the outcome; the message says to which.
    message, advice
        One sentence each.
    """

    code: str
    title: str
    outcome: Outcome
    statistic: float | None
    df: int | None
    p_value: float | None
    effect: float | None
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Audit:
    """Why an estimate is off, on the labelled rows where the group is seen: it aims at τ c + ℓ.

    ``slope`` is c, the slope of the group on the score or label given the controls: one under calibration, and κ under
    calibration for a hard label. ``leak`` is ℓ, zero where exclusion holds. ``bias`` is τ(c − 1) + ℓ.
    """

    name: str
    threshold: float | None
    slope: float | None
    slope_error: float | None
    leak: float | None
    leak_error: float | None
    bias: float | None
    bias_error: float | None
    bias_low: float | None
    bias_high: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Audit rows of like scores: their mean score, the share of them in the group, and its standard error."""

    low: float
    high: float
    n: int
    mean_score: float
    share: float
    std_error: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often the group is what the score says, on the audit rows and whatever the controls.

    Attributes
    ----------
    intercept, slope
        Of the least-squares line of G on p, with robust errors: 0 and 1 for a calibrated score.
    brier, brier_expected
        The mean of (G − p)², and that of p(1 − p), which it should be.
    ece, ece_low, ece_high
        Expected calibration error: the mean distance of share and score over the bins, less what chance adds to it,
        with a bootstrap interval.
    bins
        Bins of about equal weight: the reliability curve.
    reason
        Why there is none; then all else is empty.
    """

    intercept: float | None
    intercept_error: float | None
    slope: float | None
    slope_error: float | None
    brier: float | None
    brier_expected: float | None
    ece: float | None
    ece_low: float | None
    ece_high: float | None
    bins: Table[ReliabilityBin]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StepTest:
    """A step up the ladder: what it trusts, how far it moves the estimate, whether the data object, what is kept.

    ``distance`` is the lower rung's estimate less the higher one's; ``kept`` the share of it that the adaptive
    estimate keeps, from none where the data are silent to nearly all where they insist.
    """

    name: str
    distance: float
    std_error: float
    statistic: float
    p_value: float
    kept: float


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung: what it trusts and the estimate; ``trusts`` adds to the rungs before."""

    rung: int
    name: str
    trusts: str
    estimate: float
    std_error: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class Ladder:
    """Four numbers with their covariance, and the estimates that trust the score more and more.

    Attributes
    ----------
    rungs, steps
        Rungs 0, 1 and 2; the steps "exclusion" (from 0 to 1) and "calibration" (from 1 to 2).
    moments
        (supervised, soft_L, soft_U, c_L).
    covariance
        Of the moments, by rows.
    slope, leak
        ĉ where exclusion holds; ℓ̂ where nothing is assumed.
    comparable
        Statistic and p-value, χ²₁, of soft_L = soft_U: rung 0's own test that L and U are one population.
    compatible
        Intervals of τ that rung 1 does not reject, of Anderson and Rubin's kind.
    guarantee
        The adaptive estimate's mean squared error is at most so many times rectified's, in large samples.
    n_labelled, n_audit, n_unlabelled, df
        Rows behind the moments; degrees of freedom of the intervals.
    group_variance
        E[Var(G|X)] on the audit rows: what the controls leave of the group.
    reason
        Why there is no ladder; then all else is empty.
    """

    rungs: Table[Rung]
    steps: Table[StepTest]
    moments: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    slope: float | None = None
    leak: float | None = None
    comparable: tuple[float, float] | None = None
    compatible: tuple[tuple[float, float], ...] = ()
    guarantee: float | None = None
    n_labelled: int = 0
    n_audit: int = 0
    n_unlabelled: int = 0
    df: int | None = None
    group_variance: float | None = None
    reason: str | None = None
