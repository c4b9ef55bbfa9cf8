"""Live: what the sliders show at each of their places, as text, so that the page computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from softlabel.report.figures.words import named
from softlabel.results import Diagnosis, DriftBound, Estimate
from softlabel.results.text import interval_text, number

__all__ = ["DELTAS", "Place", "Slider", "drift_slider", "threshold_slider"]

DELTAS: tuple[float, ...] = tuple(k / 200 for k in range(61))
_FIRST_THRESHOLD, _FIRST_DELTA = 0.9, 0.05


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a slider: its value, in words, what to say aloud, and the cells of the table by row."""

    value: float
    shown: str
    said: str
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Slider:
    """Every place of a slider, where it starts, and the rows and columns of its table."""

    places: tuple[Place, ...]
    first: int
    rows: tuple[tuple[str, float | None], ...]


def threshold_slider(d: Diagnosis) -> Slider:
    """Return the thresholds in use: what each keeps and gives, for hard, de-attenuated and confident."""
    every = sorted({*d.settings.thresholds, *d.settings.confident})
    places = tuple(_threshold(d, t) for t in every)
    closest = min(range(len(every)), key=lambda i: abs(every[i] - _FIRST_THRESHOLD), default=0)
    return Slider(places, closest, (("hard", None), ("deattenuated", None), ("confident", None)))


def _threshold(d: Diagnosis, t: float) -> Place:
    kappa = next((row for row in d.kappa if row.threshold == t), None)
    inside = next((row for row in d.kappa_confident if row.threshold == t), None)
    n = d.sample.unlabelled
    cells = []
    for name in ("hard", "deattenuated", "confident"):
        factor = inside if name == "confident" else kappa
        if factor is None:
            cells.append(("not asked for", "-", "-", "-", "-"))
            continue
        row = d.estimate(name, threshold=t)
        rows = f"{n:,}" if inside is None or name != "confident" else f"{inside.n_confident:,} ({inside.share:.1%})"
        kept = "1, by division" if name == "deattenuated" and row.estimate is not None else number(factor.kappa)
        cells.append((*_estimate(row), kept, rows, _worse(d, name, t)))
    if kappa is not None:
        hard = d.estimate("hard", threshold=t)
        said = (
            f"{kappa.n_above:,} of {n:,} unlabelled rows have a score above {t:g}. "
            f"{_kept(kappa.kappa, kappa.reason)} {_gives('hard', hard)}"
        )
    else:
        assert inside is not None  # noqa: S101  (it is asked for in one way or the other)
        said = (
            f"{inside.n_confident:,} of {n:,} unlabelled rows have a score above {t:g} or below {1 - t:.3g}. "
            f"{_kept(inside.kappa, inside.reason)} {_gives('confident', d.estimate('confident', threshold=t))}"
        )
    return Place(t, f"{t:g}", said, tuple(cells))


def _kept(kappa: float | None, reason: str | None) -> str:
    return f"Kappa cannot be computed: {reason}." if kappa is None else f"The label keeps {kappa:.0%} of the effect."


def _gives(name: str, row: Estimate) -> str:
    if row.estimate is None:
        return f"{name} cannot be computed: {row.reason}."
    return f"{name}({row.threshold:g}) estimates {number(row.estimate)} ({interval_text(row.interval)})."


def _estimate(row: Estimate) -> tuple[str, str]:
    return (f"none: {row.reason}", "-") if row.estimate is None else (number(row.estimate), interval_text(row.interval))


def _worse(d: Diagnosis, name: str, t: float) -> str:
    row = next((row for row in d.forecast if row.name == name and row.threshold == t), None)
    return "-" if row is None or row.relative_to_soft is None else number(row.relative_to_soft, 2)


def drift_slider(d: Diagnosis) -> Slider:
    """Return what drifts from none to 0.3 could do to soft, hard and confident."""
    curves = [curve for curve in d.drift_curves.curves if curve.unclipped is not None]
    rows = tuple((curve.name, curve.threshold) for curve in curves)
    contour = {(row.name, row.threshold, row.delta): row for row in d.drift_contour(DELTAS)}
    places = tuple(_delta(delta, [contour[(*row, delta)] for row in rows]) for delta in DELTAS) if rows else ()
    return Slider(places, DELTAS.index(_FIRST_DELTA), rows)


def _delta(delta: float, bounds: list[DriftBound]) -> Place:
    return Place(delta, f"{delta:g}", _said(bounds[0]), tuple(map(_bound, bounds)))


def _bound(row: DriftBound) -> tuple[str, ...]:
    if row.up is None or row.down is None:
        return ("-", "-", "-")
    off = f"{'−' if row.down else ''}{number(row.down, 2)} to {number(row.up, 2)}"
    if row.low is None or row.high is None:
        return ("any", "any", off)
    sampled = None if row.ci_low is None or row.ci_high is None else (row.ci_low, row.ci_high)
    return (interval_text(sampled) if sampled else "any", interval_text((row.low, row.high)), off)


def _said(row: DriftBound) -> str:
    shown = named(row.name, row.threshold)
    if row.low is None or row.high is None:
        return f"{shown} could stand for any effect: {row.reason}."
    if row.ci_low is None or row.ci_high is None:
        return (
            f"{shown} stands for an effect from {number(row.low)} to {number(row.high)}; sampling error is not known."
        )
    return (
        f"{shown} stands for an effect from {number(row.ci_low)} to {number(row.ci_high)}, sampling error included "
        f"({number(row.low)} to {number(row.high)} without it)."
    )
