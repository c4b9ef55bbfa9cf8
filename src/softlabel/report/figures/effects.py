"""Drawings of the effect: the forest of estimates, the ladder, the audit, and what a drift could do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from softlabel.report.figures import data
from softlabel.report.figures.marks import Band, Drawing, Mark, Panel, Points, Rule, Words
from softlabel.report.figures.records import EstimatePoint, LadderPoint
from softlabel.report.figures.ticks import limits
from softlabel.report.figures.words import audited, effect_of, named, rows_of, sure, units
from softlabel.results import Diagnosis
from softlabel.results.text import number

__all__ = ["audit", "drift", "estimates", "ladder"]

_ROW = 0.155  # inches
_WIDER = 8  # times the typical interval: one that is wider is cut off at the frame


def estimates(d: Diagnosis) -> Drawing:
    """Draw the forest: every estimate with its interval, the verdict's marked, rectified's interval behind them."""
    rows = data.estimates(d).rows
    title = "Every estimate of the effect"
    if all(row.estimate is None for row in rows):
        return Drawing("estimates", title, "", reason=f"No estimate could be computed: {rows[0].reason}.")
    x_limits = _frame((row.estimate, row.ci_low, row.ci_high) for row in rows)
    marks: list[Mark] = []
    rectified = next((row for row in rows if row.name == "rectified" and row.ci_low is not None), None)
    behind = ""
    if rectified is not None and rectified.ci_low is not None and rectified.ci_high is not None:
        ends = (rectified.ci_low, rectified.ci_high)
        marks.append(Band("quiet", ends, (-len(rows), -len(rows)), (1, 1), "interval of rectified"))
        behind = "shaded, that of rectified, which needs neither calibration nor exclusion; "
    if x_limits[0] < 0 < x_limits[1]:
        marks.append(Rule("level", "x", 0.0))
    places = {id(row): -float(at) for at, row in enumerate(rows)}
    chosen = next((named(row.name) for row in rows if row.chosen), None)
    for kept, look, label in (
        ([row for row in rows if not row.chosen], "first", ""),
        ([row for row in rows if row.chosen], "chosen", f"the verdict: {chosen}"),
    ):
        marks += _forest(kept, places, look, label)
    marks += [
        Words((x_limits[0] + x_limits[1]) / 2, places[id(row)], "not computed", "center")
        for row in rows
        if row.estimate is None
    ]
    names = tuple((places[id(row)], named(row.name, row.threshold), row.chosen) for row in rows)
    panel = Panel(tuple(marks), effect_of(d), "", x_limits, (0.7 - len(rows), 0.7), names=names)
    adapts = "adaptive is drawn with rectified's interval; " if any(row.name == "adaptive" for row in rows) else ""
    return Drawing(
        "estimates",
        title,
        f"Estimates with {sure(d)}; {behind}{adapts}numbers after names are thresholds. hard and confident aim at "
        f"kappa times the effect. n = {rows_of(d)}.",
        ((panel,),),
        (0.45 + _ROW * len(rows),),
    )


def _forest(rows: Sequence[EstimatePoint], places: dict[int, float], look: str, label: str) -> Iterable[Mark]:
    known = [(row.estimate, places[id(row)], row.ci_low, row.ci_high) for row in rows if row.estimate is not None]
    if known:
        reach = tuple((x if low is None else low, x if high is None else high) for x, _, low, high in known)
        yield Points(look, tuple(x for x, *_ in known), tuple(y for _, y, *_ in known), label, x_reach=reach)


def _frame(intervals: Iterable[tuple[float | None, float | None, float | None]]) -> tuple[float, float]:
    """Return limits that hold all intervals but those far wider than is typical, and every point of the others."""
    known = [(x, low, high) for x, low, high in intervals if x is not None]
    widths = [high - low for _, low, high in known if low is not None and high is not None]
    most = _WIDER * median(widths) if widths else 0.0
    values: list[float] = []
    for x, low, high in known:
        if low is None or high is None:
            values.append(x)
        elif high - low <= most:
            values += [low, high]
    return limits(values or [x for x, _, _ in known])


def ladder(d: Diagnosis) -> Drawing:
    """Draw the rungs, and between them the steps: what each trusts, whether the labels object, what is kept of it."""
    title = "From the labels alone to the score alone"
    rows = data.ladder(d).rows
    if not rows:
        return Drawing("ladder", title, "", reason=f"There is no ladder: {d.ladder.reason or 'nothing to climb'}.")
    x_limits = _frame((row.estimate, row.ci_low, row.ci_high) for row in rows if row.kind == "estimate")
    marks: list[Mark] = [Rule("level", "x", 0.0)] if x_limits[0] < 0 < x_limits[1] else []
    names = []
    y, tops = 0.0, []
    for row in rows:
        tops.append(y)
        if row.kind == "estimate":
            reach = ((row.ci_low, row.ci_high),) if row.ci_low is not None and row.ci_high is not None else ()
            look = "chosen" if row.name == d.verdict.choice else "first"
            label = f"the verdict: {row.name}" if look == "chosen" else ""
            marks.append(Points(look, (row.estimate,), (y,), label, x_reach=reach))
            names.append((y, named(row.name), look == "chosen"))
            y -= 1.0
        else:
            marks += _step(row, y, x_limits)
            y -= 1.35
    panel = Panel(tuple(marks), effect_of(d), "", x_limits, (tops[-1] - 0.7, 0.7), names=tuple(names))
    return Drawing(
        "ladder",
        title,
        "Each rung trusts more than the one above it; a step's test asks whether the labels object. adaptive takes of "
        "each step the share drawn heavy, the less the more they object. "
        f"{sure(d).capitalize()}. n = {d.ladder.n_labelled:,} labelled rows, {d.ladder.n_audit:,} of them audit, "
        f"{d.ladder.n_unlabelled:,} unlabelled.",
        ((panel,),),
        (0.5 + 0.2 * -(tops[-1]),),
    )


def _step(row: LadderPoint, y: float, x_limits: tuple[float, float]) -> Iterable[Mark]:
    start, end, taken = row.start or 0.0, row.estimate, 1 - (row.kept or 0.0)
    yield Points("step", (start, end), (y + 0.3, y + 0.3), "step to the next rung", joined=True)
    if taken > 0:
        yield Points(
            "kept", (start, start + taken * (end - start)), (y + 0.3, y + 0.3), "taken of it", joined=True, wide=True
        )
    middle = (x_limits[0] + x_limits[1]) / 2
    yield Words(middle, y - 0.28, f"trust {row.name}: p = {number(row.p_value, 2)}, {taken:.0%} taken", "center")


def audit(d: Diagnosis) -> Drawing:
    """Draw by how much soft and hard are off on the audit rows: by the slope, by the leak, and in all."""
    title = "Why soft and hard are off"
    rows = [row for row in data.audit(d) if row.bias is not None]
    if not rows:
        reason = d.audits.rows[0].reason if len(d.audits) else "there are no audit rows"
        return Drawing("audit", title, "", reason=f"There is no audit: {reason}.")
    known = [
        (row, -float(at), row.bias, row.slope_part or 0.0, row.leak or 0.0)
        for at, row in enumerate(rows)
        if row.bias is not None
    ]
    reach = tuple(
        (x if row.bias_low is None else row.bias_low, x if row.bias_high is None else row.bias_high)
        for row, _, x, _, _ in known
    )
    y = tuple(at for _, at, *_ in known)
    ends = _frame((x, low, high) for (_, _, x, _, _), (low, high) in zip(known, reach, strict=True))
    points = [value for _, _, x, slope, leak in known for value in (x, slope, leak)]
    x_limits = limits((*ends, *points), margin=0.0, hold=(0.0,))
    room = 0.03 * (x_limits[1] - x_limits[0])
    panel = Panel(
        (
            Rule("level", "x", 0.0),
            Points("second", tuple(x for _, _, x, _, _ in known), y, "off in all, with interval", x_reach=reach),
            Points("hollow", tuple(x for *_, x, _ in known), tuple(at + 0.24 for at in y), "by the slope, τ(c − 1)"),
            Points("leak", tuple(x for *_, x in known), tuple(at - 0.24 for at in y), "by the leak, ℓ"),
        ),
        f"bias ({units(d)})",
        "",
        (x_limits[0] - room, x_limits[1] + room),
        (0.4 - len(known), 0.6),
        names=tuple((at, named(row.name, row.threshold), False) for row, at, *_ in known),
    )
    return Drawing(
        "audit",
        title,
        f"On rows whose group is seen: each estimate aims at slope c times the effect, plus a leak. c is one under "
        f"calibration (kappa for hard), the leak zero under exclusion. {sure(d).capitalize()}. n = {audited(d)}.",
        ((panel,),),
        (0.5 + 0.26 * len(known),),
    )


def drift(d: Diagnosis) -> Drawing:
    """Draw the fan of soft: which effects are possible if the group's probability is off the score by up to δ."""
    title = "What a drift of the score could do"
    rows = [row for row in data.drift(d) if row.name == "soft" and row.low is not None]
    curve = next((curve for curve in d.drift_curves.curves if curve.name == "soft"), None)
    if len(rows) < 2 or curve is None or curve.estimate is None:
        reason = None if curve is None else curve.reason
        return Drawing("drift", title, "", reason=f"No bound can be computed: {reason or 'soft has no number'}.")
    deltas = tuple(row.delta for row in rows)
    theta = curve.estimate
    half = max(abs(theta), (curve.ci_high or theta) - (curve.ci_low or theta))
    hold = [row.ci_high or row.high or theta for row in rows[: len(rows) // 2]]
    hold += [row.ci_low or row.low or theta for row in rows[: len(rows) // 2]]
    y_limits = limits([theta - half, theta + half, *(max(min(v, theta + 4 * half), theta - 4 * half) for v in hold)])
    marks: list[Mark] = []
    if all(row.ci_low is not None and row.ci_high is not None for row in rows):
        low, high = tuple(row.ci_low or 0.0 for row in rows), tuple(row.ci_high or 0.0 for row in rows)
        marks.append(Band("first", deltas, low, high, f"with sampling error ({sure(d)})"))
        marks += [Points("first", deltas, each, joined=True, marked=False) for each in (low, high)]
    low, high = tuple(row.low or 0.0 for row in rows), tuple(row.high or 0.0 for row in rows)
    marks.append(Band("first", deltas, low, high, "possible effects", strong=True))
    if y_limits[0] < 0 < y_limits[1]:
        marks.append(Rule("level", "y", 0.0))
    marks.append(Points("first", (0.0,), (theta,), "soft"))
    broken = d.breakdown.rows[0].breakdown
    most = max(deltas)
    if broken is not None:
        marks.append(Rule("broken", "x", broken, f"breakdown: δ = {number(broken, 2)}"))
        most = max(most, 1.06 * broken)
    seen = d.drift_curves.supported
    if seen.delta_hat is not None and seen.delta_upper is not None and seen.delta_upper <= most:
        marks.append(Rule("edge", "x", seen.delta_upper, f"most seen on {seen.n:,} labelled rows (rms)"))
    panel = Panel(
        tuple(marks),
        "drift δ: how far the probability may be off the score",
        effect_of(d, 16),
        (-0.02 * most, most),
        y_limits,
        slider="drift",
    )
    return Drawing(
        "drift",
        title,
        "If the group's probability is off the score by up to δ anywhere, and nothing leaks, soft stands for an effect "
        f"in the fan; from the breakdown on for any. n = {d.sample.unlabelled:,} unlabelled rows.",
        ((panel,),),
        (2.2,),
    )
