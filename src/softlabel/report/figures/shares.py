"""Drawings about the score: what a threshold keeps and costs, what the controls leave, whether it is reliable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from softlabel.report.figures import data
from softlabel.report.figures.marks import Band, Drawing, Mark, Panel, Points, Rule, Steps, Words
from softlabel.report.figures.records import KappaPoint, ReliabilityPoint, ScorePart
from softlabel.report.figures.ticks import limits, log_limits
from softlabel.report.figures.words import audited, rows_of, sure, trimmed
from softlabel.results import Diagnosis, Forecast, ScoreDistribution
from softlabel.results.text import number

__all__ = ["forecast", "kappa", "reliability", "score"]

_CONTROLS = 4
_PARTS = ("first", "second", "third", "fourth", "fifth", "sixth")


def kappa(d: Diagnosis) -> Drawing:
    """Draw κ(t) and κ_FM(t) with their intervals at the thresholds in use."""
    rows = [row for row in data.kappa(d) if row.kappa is not None]
    title = "What a threshold keeps of the effect"
    if not rows:
        reasons = [row.reason for row in data.kappa(d) if row.reason]
        why = f"kappa could not be computed: {reasons[0]}" if reasons else "no threshold was asked for"
        return Drawing("kappa", title, "", reason=f"{why}.")
    marks: list[Mark] = [Rule("level", "y", 1.0)]
    for name, look, label in (
        ("hard", "first", "κ(t): above t against the rest"),
        ("confident", "second", "κ_FM(t): confident rows only"),
    ):
        marks += _kappa_marks([row for row in rows if row.name == name], look, label)
    floors = [(row.threshold, row.floor) for row in rows if row.floor is not None]
    if len(floors) > 1:
        x, y = zip(*floors, strict=True)
        marks.append(Points("level", x, y, "2t − 1: least κ_FM there can be", joined=True, marked=False))
    tops = [value for row in rows for value in (row.ci_low, row.ci_high, row.kappa) if value is not None]
    # Among few rows an interval can be far wider than the share it is about.
    low, high = limits([max(min(each, 1.5), -0.5) for each in tops], hold=(0.0, 1.05))
    at = [row.threshold for row in rows]
    panel = Panel(
        tuple(marks),
        "threshold t of the score (probability)",
        "κ: share of the effect kept",
        limits(at, margin=0.08),
        (low, high),
        slider="threshold",
    )
    return Drawing(
        "kappa",
        title,
        f"kappa with {sure(d)}, at the thresholds in use; no outcome and no label is needed. "
        f"n = {d.sample.unlabelled:,} unlabelled rows.",
        ((panel,),),
        (2.2,),
    )


def _kappa_marks(rows: list[KappaPoint], look: str, label: str) -> Iterator[Mark]:
    if not rows:
        return
    x, y, reach = _with_reach(rows)
    if len(rows) > 1:
        yield Band(look, x, tuple(low for low, _ in reach), tuple(high for _, high in reach))
    yield Points(look, x, y, label, y_reach=reach, joined=True)


def _with_reach(
    rows: list[KappaPoint],
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[tuple[float, float], ...]]:
    known = [(row.threshold, row.kappa, row.ci_low, row.ci_high) for row in rows if row.kappa is not None]
    reach = tuple(
        (kappa if low is None else low, kappa if high is None else high) for _, kappa, low, high in known
    )  # fmt: skip
    return tuple(t for t, *_ in known), tuple(kappa for _, kappa, *_ in known), reach


def forecast(d: Diagnosis) -> Drawing:
    """Draw squared bias, variance and their sum over the threshold, beside the error of soft."""
    title = "The error to expect at every threshold"
    soft = next((row.mse for row in d.forecast if row.name == "soft"), None)
    panels = []
    for name, heading in (("hard", "hard: all rows"), ("confident", "confident: rows with p > t or p < 1 − t")):
        rows = [row for row in d.forecast if row.name == name and row.mse is not None]
        if rows:
            panels.append(_forecast_panel(rows, soft, heading, d))
    if not panels:
        reasons = [row.reason for row in d.forecast if row.reason]
        why = f"no forecast can be made: {reasons[0]}" if reasons else "no threshold was asked for"
        return Drawing("forecast", title, "", reason=f"{why}.")
    return Drawing(
        "forecast",
        title,
        "Mean squared error about the effect, squared bias and variance, if the score is calibrated and excluded; "
        f"an error of zero is not drawn. n = {d.sample.unlabelled:,} unlabelled rows.",
        tuple((panel,) for panel in panels),
        (1.75,) * len(panels),
    )


def _forecast_panel(rows: list[Forecast], soft: float | None, heading: str, d: Diagnosis) -> Panel:
    marks: list[Mark] = []
    for field, look, label in (
        ("squared_bias", "third", "squared bias"),
        ("variance", "second", "variance"),
        ("mse", "first", "mean squared error"),
    ):
        points = [(row.threshold or 0.0, getattr(row, field)) for row in rows if (getattr(row, field) or 0) > 0]
        if points:
            x, y = zip(*points, strict=True)
            marks.append(Points(look, x, y, label, joined=True))
    drawn = [value for mark in marks if isinstance(mark, Points) for value in mark.y]
    if soft is not None and soft > 0:
        marks.append(Rule("level", "y", soft, "soft, no threshold"))
        drawn.append(soft)
    return Panel(
        tuple(marks),
        "threshold t of the score (probability)",
        f"({trimmed(d.settings.outcome, 16)})²",
        limits([row.threshold or 0.0 for row in rows], margin=0.08),
        log_limits(drawn),
        title=heading,
        y_scale="log",
        slider="threshold",
    )


def score(d: Diagnosis) -> Drawing:
    """Draw what the controls explain of the score, and what they leave."""
    title = "What the controls leave of the score"
    parts = {row.part: row for row in data.score(d)}
    if not parts:
        return Drawing("score", title, "", reason="The score does not vary, or V* could not be computed.")
    explained, left = parts["explained"], parts["left"]
    total = explained.variance + left.variance
    rows = [(_variance_panel(explained, left),)]
    heights = [0.72]
    if d.distribution is not None and d.distribution.left:
        rows.insert(0, (_spread_panel(d.distribution),))
        heights.insert(0, 1.7)
    return Drawing(
        "score",
        title,
        f"Above, where scores lie about their mean and what the controls leave of them; below, Var(p) = "
        f"{number(total)}: the controls explain {_percent(explained.share)} and leave V* = {number(left.variance)}, "
        f"{_percent(left.share)}, with its interval. n = {d.sample.unlabelled:,} unlabelled rows.",
        tuple(rows),
        tuple(heights),
    )


def _spread_panel(found: ScoreDistribution) -> Panel:
    # Bins of a tenth. Knots stand for the values around them, so theirs are centred, and two more on either side close
    # the first and the last.
    per = 5
    width = per * (found.knots[1] - found.knots[0])
    left = _together((0.0,) * 2 + found.left + (0.0,) * 2, per)
    edges = tuple(found.knots[0] + width * (at - 0.5) for at in range(len(left) + 1))
    whole = _together(found.unlabelled, per)
    around = tuple(edge - found.mean for edge in found.edges[::per])
    wide = max(abs(around[0]), abs(around[-1]))
    return Panel(
        (
            Steps("quiet", around, whole, "score less its mean, p − E[p]"),
            Steps("first", edges, left, "left by the controls, p − r(X)", filled=False),
        ),
        "difference of probabilities",
        "share of rows",
        (-wide, wide),
        (0.0, 1.06 * max(*whole, *left)),
    )


def _percent(share: float) -> str:
    """Return a share of the variance; out of fold V* can come out above all there is, by noise."""
    return f"{max(share, 0.0):.0%}"


def _together(shares: tuple[float, ...], per: int) -> tuple[float, ...]:
    return tuple(sum(shares[at : at + per]) for at in range(0, len(shares), per))


def _variance_panel(explained: ScorePart, left: ScorePart) -> Panel:
    total = explained.variance + left.variance
    marks: list[Mark] = []
    for start, row, look, name in (
        (0.0, explained, "edge", "explained by the controls"),
        (explained.variance, left, "first", "left by them: V*"),
    ):
        ends = (start, start + row.variance)
        marks.append(Band(look, ends, (0.2, 0.2), (0.8, 0.8), f"{name}, {_percent(row.share)}", strong=True))
    if left.ci_low is not None and left.ci_high is not None:
        # V* is what lies right of the edge, so the edge is where its interval says.
        reach = ((total - left.ci_high, total - left.ci_low),)
        marks.append(Points("edge", (explained.variance,), (0.5,), x_reach=reach))
    ends = (min(0.0, explained.variance) - 0.01 * total, 1.03 * total)
    return Panel(tuple(marks), "variance of the score", "", ends, (0.0, 1.0), names=((0.5, "Var(p)", False),))


def reliability(d: Diagnosis) -> Drawing:
    """Draw how often the group is what the score says: overall, with a histogram of scores, and along controls."""
    title = "How often the group is what the score says"
    points = data.reliability(d)
    rows = [(_reliability_panel([row for row in points if row.control is None]),)] if len(points) else []
    heights = [1.9] * len(rows)
    if d.distribution is not None:
        rows.append((_histogram(d.distribution),))
        heights.append(1.0 if heights else 1.7)
    if not rows:
        return Drawing("reliability", title, "", reason=f"No labelled row audits the score: {d.calibration.reason}.")
    controls = _worst(d, [row.control for row in points if row.control is not None])
    panels = [_control_panel([row for row in points if row.control == name], name) for name in controls]
    for pair in zip(panels[::2], [*panels[1::2], None], strict=False):
        rows.append(tuple(panel for panel in pair if panel is not None))  # type: ignore[arg-type]
        heights.append(1.55)
    told = f"The share of the group among rows of like scores, {sure(d)}" if len(points) else "No row audits the score"
    below = ""
    if panels:
        few = len({row.control for row in points}) - 1 > len(panels)
        below = "; below, in parts of " + (
            "the controls whose own test is nearest to failing" if few else "each control"
        )
    return Drawing(
        "reliability",
        title,
        f"{told}, and where the scores lie{below}. n = {audited(d)}, {rows_of(d)}.",
        tuple(rows),
        tuple(heights),
    )


def _reliability_panel(rows: Iterable[ReliabilityPoint]) -> Panel:
    return Panel(
        (_diagonal("calibrated"), *_curve(list(rows), "first", "audit rows")),
        "mean score (probability)",
        "share in the group",
        (-0.03, 1.03),
        (-0.03, 1.03),
    )


def _control_panel(rows: list[ReliabilityPoint], control: str) -> Panel:
    parts = list(dict.fromkeys(row.part for row in rows))
    marks: list[Mark] = [_diagonal()]
    for part, look in zip(parts, _PARTS, strict=False):
        marks += _curve([row for row in rows if row.part == part], look, "")
    for place, (part, look) in enumerate(zip(parts, _PARTS, strict=False)):
        # A legend of its own: parts are another thing in every panel.
        y = 0.97 - 0.11 * place
        marks += [Points(look, (0.03,), (y,)), Words(0.09, y, trimmed(part or "", 15))]
    return Panel(
        tuple(marks), "mean score", "share in the group", (-0.03, 1.03), (-0.03, 1.03), title=trimmed(control, 20)
    )


def _diagonal(label: str = "") -> Mark:
    return Points("level", (0.0, 1.0), (0.0, 1.0), label, joined=True, marked=False)


def _curve(rows: list[ReliabilityPoint], look: str, label: str) -> list[Mark]:
    x, y = tuple(row.mean_score for row in rows), tuple(row.share for row in rows)
    reach = tuple((row.ci_low, row.ci_high) for row in rows)
    return [Points(look, x, y, label, y_reach=reach, joined=True)]


def _histogram(found: ScoreDistribution) -> Panel:
    edges = found.edges[::2]
    marks: list[Mark] = [Steps("quiet", edges, _together(found.unlabelled, 2), "scores of unlabelled rows")]
    if found.labelled:
        marks.append(Steps("first", edges, _together(found.labelled, 2), "of labelled rows", filled=False))
    heights = [height for mark in marks if isinstance(mark, Steps) for height in mark.heights]
    # Most scores lie near zero where the group is rare: on a plain scale the rest would not be seen.
    return Panel(
        tuple(marks), "score (probability)", "rows (log scale)", (-0.03, 1.03), log_limits(heights), y_scale="log"
    )


def _worst(d: Diagnosis, controls: list[str]) -> list[str]:
    """Return the controls along which calibration is nearest to failing, in their own order."""
    known = list(dict.fromkeys(controls))
    p = {
        name: row.p_value
        for row in d.checks
        for name in known
        if row.code == "calibration.control" and row.p_value is not None and row.title == f"Calibrated along {name}"
    }
    chosen = sorted(known, key=lambda name: p.get(name, 1.0))[:_CONTROLS]
    return [name for name in known if name in chosen]
