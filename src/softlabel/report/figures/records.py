"""What the figures show, as plain records: one row for each thing that is drawn."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AuditPoint", "EstimatePoint", "KappaPoint", "LadderPoint", "ReliabilityPoint", "ScorePart"]


@dataclass(frozen=True, slots=True)
class KappaPoint:
    """κ of a hard label ("hard") or within a confident set ("confident"); ``floor`` is 2t − 1 for the latter."""

    name: str
    threshold: float
    kappa: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    floor: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class EstimatePoint:
    """One row of the forest; ``chosen`` marks the verdict's."""

    name: str
    threshold: float | None
    estimate: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    chosen: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """Audit rows of like scores: all of them where ``control`` is ``None``, else those of one part of a control."""

    control: str | None
    part: str | None
    n: int
    mean_score: float
    share: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A part of Var(p): "explained" by the controls, or "left" by them, which is V*."""

    part: str
    variance: float
    share: float
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True)
class LadderPoint:
    """An estimate of the ladder, or a step between two rungs.

    Attributes
    ----------
    kind
        "estimate" or "step".
    name
        Of the estimate, or of what the step trusts.
    estimate, ci_low, ci_high
        The number and its interval; of a step where it leads to, from the rung below at ``start``.
    start, p_value, kept
        Of a step: the lower rung's estimate, the test of what it trusts, the share that the adaptive estimate keeps.
    """

    kind: str
    name: str
    estimate: float
    ci_low: float | None = None
    ci_high: float | None = None
    start: float | None = None
    p_value: float | None = None
    kept: float | None = None


@dataclass(frozen=True, slots=True)
class AuditPoint:
    """By how much an estimate is off: ``bias`` is τ(c − 1), ``slope_part``, plus ``leak``, in units of the outcome."""

    name: str
    threshold: float | None
    bias: float | None
    bias_low: float | None
    bias_high: float | None
    slope_part: float | None
    leak: float | None
    n: int
    reason: str | None
