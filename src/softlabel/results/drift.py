r"""Records of drift, and what they answer for any size of it.

A drift is E[G|p,X] = p + η with |η| ≤ δ and 0 ≤ p + η ≤ 1. An estimate θ with residual v then has the limit τ(κ + β),
β = E[vη]/E[v²] and κ = 1 for soft, with β anywhere from −B₋(δ) to B₊(δ).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

from softlabel.errors import InputError
from softlabel.results.table import Table

__all__ = [
    "CONTOUR",
    "KNOTS",
    "Breakdown",
    "Drift",
    "DriftBound",
    "DriftCurve",
    "SupportedDrift",
    "bound_at",
    "breakdown_table",
    "contour_table",
    "first_reaching",
    "stretched",
]

# Bounds are kept at these δ: multiples of 0.01, which end bins of the score, so that they are exact there.
KNOTS: tuple[float, ...] = (*(k / 100 for k in range(1, 31)), *(k / 100 for k in range(35, 101, 5)))
CONTOUR: tuple[float, ...] = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class DriftCurve:
    """How far a drift of any size could carry one estimate.

    Attributes
    ----------
    name, threshold
        Which estimate; ``estimate``, ``ci_low`` and ``ci_high`` are its number and interval.
    kappa
        What it estimates of τ without drift: one for soft.
    paper, unclipped
        Bounds on |β| per unit of δ: E|2p−1|/(2V*), for soft alone, and E|v|/E[v²].
    up, down
        B₊ and B₋ at the knots of `Drift`. Both are concave in δ and start at zero.
    reason
        Why there is no number, or no interval for τ.
    """

    name: str
    threshold: float | None
    estimate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    kappa: float | None = None
    paper: float | None = None
    unclipped: float | None = None
    up: tuple[float, ...] = ()
    down: tuple[float, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SupportedDrift:
    """The drift that the labelled rows show: root mean square of the part of E[G|p,X] − p linear in score and controls.

    ``delta_hat`` has the noise of the labels taken off and is zero where nothing is left; ``delta_upper`` is the
    upper end of a one-sided interval of ``level``. A mean is no more than the largest: the δ of a bound, which
    holds for every row, is at least this. ``df`` counts the coefficients, ``n`` the labelled rows.
    """

    delta_hat: float | None
    delta_upper: float | None
    level: float
    n: int
    df: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    """Every curve, at the ``knots``, and the drift that the labels support."""

    knots: tuple[float, ...]
    curves: tuple[DriftCurve, ...]
    supported: SupportedDrift


@dataclass(frozen=True, slots=True)
class DriftBound:
    """What a drift of at most ``delta`` could do to one estimate, and which τ it leaves possible.

    Attributes
    ----------
    paper_bound, unclipped_bound
        δE|2p−1|/(2V*), right for the moment form of soft with m held at its value before the drift, and
        δE|v|/E[v²], each on |β| and blind to 0 ≤ p + η ≤ 1.
    up, down
        B₊ and B₋: θ = τ(κ + β) with −B₋ ≤ β ≤ B₊. Never too small; exact at multiples of 0.01 up to 0.3 and of 0.05
        beyond.
    low, high
        The values of τ that the estimate leaves possible; ``ci_low`` and ``ci_high`` with its sampling interval.
    reason
        Why there are none.
    """

    name: str
    threshold: float | None
    delta: float
    paper_bound: float | None = None
    unclipped_bound: float | None = None
    up: float | None = None
    down: float | None = None
    low: float | None = None
    high: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The drift from which on an estimate says nothing of τ, not even its sign.

    ``breakdown`` is the smallest δ with B₋(δ) = κ; ``conservative`` is κE[v²]/E|v|, which needs no clipping and is
    never larger.
    """

    name: str
    threshold: float | None
    breakdown: float | None
    conservative: float | None
    reason: str | None = None


class _Lines(NamedTuple):
    """Between two knots (x, y): lines from the left and to the right that a concave curve stays below."""

    x: tuple[float, float]
    y: tuple[float, float]
    before: float
    after: float


def bound_at(knots: Sequence[float], values: Sequence[float], first: float, delta: float) -> float:
    r"""Return a concave curve that starts at zero with slope ``first``, at δ; never too small.

    Between knots it is bounded by its chords before and after, each made longer:

    .. math:: B(δ) \le \min\{B_k + s_{k-1}(δ - δ_k),\; B_{k+1} - s_{k+1}(δ_{k+1} - δ)\} .

    Examples
    --------
    >>> bound_at((0.5, 1.0), (0.4, 0.6), 1.0, 0.5), bound_at((0.5, 1.0), (0.4, 0.6), 1.0, 0.75)
    (0.4, 0.6)
    """
    here = bisect_right(knots, delta)
    if here and knots[here - 1] == delta:
        return values[here - 1]
    for i, lines in enumerate(_between(knots, values, first)):
        if i == here:
            left = lines.y[0] + lines.before * (delta - lines.x[0])
            return max(min(left, lines.y[1] - lines.after * (lines.x[1] - delta)), lines.y[0])
    return values[-1]


def first_reaching(knots: Sequence[float], values: Sequence[float], first: float, level: float) -> float | None:
    """Return the smallest δ at which `bound_at` is at a level above zero, ``None`` where it never is.

    Examples
    --------
    >>> first_reaching((0.5, 1.0), (0.4, 0.6), 1.0, 0.4), first_reaching((0.5, 1.0), (0.4, 0.6), 1.0, 0.7)
    (0.5, None)
    """
    for lines in _between(knots, values, first):
        if lines.y[1] < level:
            continue
        (low, high), (start, end) = lines.x, lines.y
        left = low + (level - start) / lines.before if lines.before > 0 else high
        right = high - (end - level) / lines.after if lines.after > 0 else low
        return min(max(left, right, low), high)
    return None


def _between(knots: Sequence[float], values: Sequence[float], first: float) -> Iterator[_Lines]:
    x, y = (0.0, *knots), (0.0, *values)
    slopes = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) for i in range(len(knots))]
    # Beyond δ = 1 nothing is left to drift: the curve is flat.
    around = [first, *slopes, 0.0]
    for i in range(len(knots)):
        yield _Lines((x[i], x[i + 1]), (y[i], y[i + 1]), around[i], max(around[i + 2], 0.0))


def stretched(low: float, high: float, kappa: float, up: float, down: float) -> tuple[float, float] | None:
    r"""Return every τ with τ(κ + β) in [low, high] for some β in [−down, up]; ``None`` where they have no bound.

    .. math:: [l/(κ+B_+),\; u/(κ-B_-)] \text{ for } l \ge 0,\quad [l/(κ-B_-),\; u/(κ-B_-)] \text{ for } l<0<u,

    and the mirror image for u ≤ 0. With κ = B₋ or less, a drift could take all of the effect away.

    Examples
    --------
    >>> stretched(1.0, 2.0, 1.0, 0.25, 0.5), stretched(-1.0, 2.0, 1.0, 0.25, 0.5), stretched(1.0, 2.0, 0.5, 0.2, 0.5)
    ((0.8, 4.0), (-2.0, 4.0), None)
    """
    least, most = kappa - down, kappa + up
    if least <= 0:
        return None
    found = low / (most if low >= 0 else least), high / (least if high >= 0 else most)
    return found if all(map(math.isfinite, found)) else None


def contour_table(drift: Drift, deltas: Iterable[float]) -> Table[DriftBound]:
    """Return what drifts of each size could do to each estimate."""
    try:
        sizes = [_checked(delta) for delta in deltas]
    except TypeError as error:
        raise InputError(
            expected="deltas to be a sequence of numbers", found=repr(deltas), fix="Use for instance deltas=(.02, .05)"
        ) from error
    return Table(tuple(_bound(drift.knots, curve, delta) for curve in drift.curves for delta in sizes))


def breakdown_table(drift: Drift) -> Table[Breakdown]:
    """Return the breakdown of each estimate."""
    return Table(tuple(_breakdown(drift.knots, curve) for curve in drift.curves))


def _checked(delta: object) -> float:
    if not isinstance(delta, bool) and isinstance(delta, Real) and 0 <= float(delta) <= 1:
        return float(delta)
    raise InputError(
        expected="delta, the largest drift of a probability, to be a number from 0 to 1",
        found=f"delta={delta!r}",
        fix="Use for instance delta=0.05",
    )


def _bound(knots: Sequence[float], curve: DriftCurve, delta: float) -> DriftBound:
    if curve.unclipped is None:
        return DriftBound(curve.name, curve.threshold, delta, reason=curve.reason)
    up, down = (bound_at(knots, values, curve.unclipped, delta) for values in (curve.up, curve.down))
    point = interval = None
    reason = curve.reason
    if curve.kappa is not None and curve.estimate is not None:
        point = stretched(curve.estimate, curve.estimate, curve.kappa, up, down)
        if curve.ci_low is not None and curve.ci_high is not None:
            interval = stretched(curve.ci_low, curve.ci_high, curve.kappa, up, down)
        if point is None:
            reason = f"a drift of {delta:g} could take all of the effect away"
    return DriftBound(
        name=curve.name,
        threshold=curve.threshold,
        delta=delta,
        paper_bound=None if curve.paper is None else delta * curve.paper,
        unclipped_bound=delta * curve.unclipped,
        up=up,
        down=down,
        low=None if point is None else point[0],
        high=None if point is None else point[1],
        ci_low=None if interval is None else interval[0],
        ci_high=None if interval is None else interval[1],
        reason=reason,
    )


def _breakdown(knots: Sequence[float], curve: DriftCurve) -> Breakdown:
    at, conservative, reason = None, None, curve.reason
    if curve.unclipped is not None and curve.kappa is not None:
        if curve.kappa > 0:
            conservative = min(curve.kappa / curve.unclipped, 1.0)
            at = first_reaching(knots, curve.down, curve.unclipped, curve.kappa)
            at = None if at is None else max(at, conservative)  # never smaller, but for rounding
            reason = None if at is not None else "no drift at all could take all of the effect away"
        else:
            reason = "without any drift it says nothing of the effect: its kappa is not above zero"
    return Breakdown(curve.name, curve.threshold, at, conservative, reason)
