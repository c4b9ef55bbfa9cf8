"""What each figure shows, computed from a Diagnosis and not drawn."""

from __future__ import annotations

from collections.abc import Iterator

from softlabel.report.figures.records import (
    AuditPoint,
    EstimatePoint,
    KappaPoint,
    LadderPoint,
    ReliabilityPoint,
    ScorePart,
)
from softlabel.results import Audit, Diagnosis, DriftBound, Forecast, Table
from softlabel.results.inference import quantile

__all__ = ["FigureData", "audit", "drift", "estimates", "forecast", "kappa", "ladder", "reliability", "score"]

_FOREST = (
    "supervised",
    "rectified",
    "instrumented",
    "combined",
    "adaptive",
    "soft",
    "deattenuated",
    "hard",
    "confident",
)
_LADDER = ("supervised", "rectified", "instrumented", "combined", "soft", "adaptive")
# A fan of so many drifts, a tenth beyond the breakdown, at most to one.
_DRIFTS, _BEYOND, _LEAST_REACH = 60, 1.1, 0.1


def kappa(d: Diagnosis) -> Table[KappaPoint]:
    """Return κ(t) and κ_FM(t) with their intervals."""
    hard = (
        KappaPoint("hard", row.threshold, row.kappa, row.ci_low, row.ci_high, row.n_above, None, row.reason)
        for row in d.kappa
    )
    confident = (
        KappaPoint(
            "confident", row.threshold, row.kappa, row.ci_low, row.ci_high, row.n_confident, row.floor, row.reason
        )
        for row in d.kappa_confident
    )
    return Table((*hard, *confident))


def estimates(d: Diagnosis) -> Table[EstimatePoint]:
    """Return every estimate in its orthogonal form, those that trust least first, and mark the verdict's."""
    order = {name: at for at, name in enumerate(_FOREST)}
    return Table(
        tuple(
            EstimatePoint(
                name=row.name,
                threshold=row.threshold,
                estimate=row.estimate,
                ci_low=row.ci_low,
                ci_high=row.ci_high,
                n=row.n,
                chosen=row.name == d.verdict.choice,
                reason=row.reason if row.estimate is None else None,
            )
            for row in sorted(d.estimates, key=lambda row: order[row.name])
            if row.form != "moment"
        )
    )


def reliability(d: Diagnosis) -> Table[ReliabilityPoint]:
    """Return the reliability curve, overall and then in parts of each control."""
    reach = quantile(d.settings.level, None)

    def point(row: object, control: str | None = None, part: str | None = None) -> ReliabilityPoint:
        n, mean, share, error = (getattr(row, name) for name in ("n", "mean_score", "share", "std_error"))
        return ReliabilityPoint(
            control, part, n, mean, share, max(share - reach * error, 0.0), min(share + reach * error, 1.0)
        )

    parts = (point(row, row.control, row.part) for row in d.reliability)
    return Table((*map(point, d.calibration.bins), *parts))


def score(d: Diagnosis) -> Table[ScorePart]:
    """Return what the controls explain of the variance of the score, and what they leave; nothing if it is constant."""
    v, total = d.v_star, d.score_variance
    if v.estimate is None or not total > 0:
        return Table(())
    explained = total - v.estimate
    return Table(
        (
            ScorePart("explained", explained, explained / total, None, None),
            ScorePart("left", v.estimate, v.estimate / total, v.ci_low, v.ci_high),
        )
    )


def forecast(d: Diagnosis) -> Table[Forecast]:
    """Return the forecast of the mean squared error at every threshold."""
    return d.forecast


def drift(d: Diagnosis) -> Table[DriftBound]:
    """Return what drifts up to a little beyond soft's breakdown could do to each estimate."""
    broken = d.breakdown.rows[0].breakdown if len(d.breakdown) else None
    most = min(1.0, max(_LEAST_REACH, 1.0 if broken is None else _BEYOND * broken))
    return d.drift_contour([most * k / _DRIFTS for k in range(_DRIFTS + 1)])


def ladder(d: Diagnosis) -> Table[LadderPoint]:
    """Return the estimates from the labels alone to the score alone, with the steps between the rungs."""
    return Table(tuple(_ladder(d)))


def _ladder(d: Diagnosis) -> Iterator[LadderPoint]:
    if d.ladder.reason is not None:
        return
    known = {row.name: row for row in d.estimates if row.threshold is None and row.form != "moment"}
    steps = dict(zip(("rectified", "instrumented"), d.ladder.steps, strict=False))
    for name in _LADDER:
        row = known.get(name)
        if row is None or row.estimate is None:
            continue
        yield LadderPoint("estimate", name, row.estimate, row.ci_low, row.ci_high)
        if name in steps:
            step = steps[name]
            yield LadderPoint(
                "step",
                step.name,
                row.estimate - step.distance,
                start=row.estimate,
                p_value=step.p_value,
                kept=step.kept,
            )


def audit(d: Diagnosis) -> Table[AuditPoint]:
    """Return by how much soft and hard are off on the audit rows, and for which of the two reasons."""
    return Table(tuple(map(_audit, d.audits)))


def _audit(row: Audit) -> AuditPoint:
    slope = None if row.bias is None or row.leak is None else row.bias - row.leak
    return AuditPoint(
        row.name, row.threshold, row.bias, row.bias_low, row.bias_high, slope, row.leak, row.n, row.reason
    )


class FigureData:
    """What the figures of one Diagnosis show, by the names of the figures."""

    __slots__ = ("_diagnosis",)

    def __init__(self, diagnosis: Diagnosis) -> None:
        self._diagnosis = diagnosis

    def kappa(self) -> Table[KappaPoint]:
        """Return κ(t) and κ_FM(t) with their intervals."""
        return kappa(self._diagnosis)

    def estimates(self) -> Table[EstimatePoint]:
        """Return every estimate in its orthogonal form."""
        return estimates(self._diagnosis)

    def reliability(self) -> Table[ReliabilityPoint]:
        """Return the reliability curve, overall and in parts of each control."""
        return reliability(self._diagnosis)

    def score(self) -> Table[ScorePart]:
        """Return what the controls explain of the variance of the score, and what they leave."""
        return score(self._diagnosis)

    def forecast(self) -> Table[Forecast]:
        """Return the forecast of the mean squared error at every threshold."""
        return forecast(self._diagnosis)

    def drift(self) -> Table[DriftBound]:
        """Return what drifts of many sizes could do to each estimate."""
        return drift(self._diagnosis)

    def ladder(self) -> Table[LadderPoint]:
        """Return the estimates of the ladder and its steps."""
        return ladder(self._diagnosis)

    def audit(self) -> Table[AuditPoint]:
        """Return by how much soft and hard are off, and why."""
        return audit(self._diagnosis)
