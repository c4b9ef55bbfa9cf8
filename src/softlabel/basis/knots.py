"""Knots: where a spline may bend, from a sample of its control."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["OUTER", "distinct", "place_knots", "weighted_quantiles"]

Floats = NDArray[np.float64]

# The outer knots lie at this quantile and its mirror image; beyond them a spline goes straight. Logistic, sine,
# bent and quadratic curves of normal, uniform, log-normal and t(3) controls, fitted with six knots, left on
# geometric average the smallest share of their variance at 0.03: a third less than at 0.05 or at 0.005. The normal
# row of most leverage has a quarter less of it than with outer knots at 0.01.
OUTER = 0.03

# Knots nearer to each other than this share of their span are one knot: between them no float has digits enough.
_NEAR = 1e-6

# A control of a wider or narrower span than this enters linearly: its powers and products would leave the floats.
_SPANS = (1e-100, 1e100)


def distinct(values: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values that occur, in rising order, and how often each does."""
    values, counts = values[counts > 0], counts[counts > 0]
    unique, inverse = np.unique(values, return_inverse=True)
    total = np.zeros(len(unique))
    np.add.at(total, inverse, counts)
    return unique, total


def place_knots(values: Floats, counts: Floats, knots: int) -> tuple[float, ...]:
    """Return at most ``knots`` places for knots, given distinct values in rising order, and how often each occurs.

    The values themselves, if they are no more than the knots: a natural spline is then any function of them.
    Otherwise quantiles from `OUTER` to 1 − `OUTER`, evenly spaced in probability. A value on which so many rows
    heap that it would take two knots is counted as fewer: it takes one, and the other knots go to the other rows.
    No knots if they span too little or too much for floats, or if there are fewer than three: a straight line then
    is all there is.

    Examples
    --------
    >>> import numpy as np
    >>> values, counts = np.arange(11.0), np.array([90.0] + [1.0] * 10)
    >>> place_knots(values, counts, 4)
    (0.0, 0.6566666667, 4.9064401294, 9.1562135922)
    >>> place_knots(values[:3], counts[:3], 4)
    (0.0, 1.0, 2.0)
    """
    if len(values) <= knots:
        places = values
    else:
        levels = np.linspace(OUTER, 1 - OUTER, knots)
        places = weighted_quantiles(values, _capped(counts, float(levels[1] - levels[0])), levels)
    span = float(places[-1] - places[0]) if len(places) else 0.0
    if not _SPANS[0] < span < _SPANS[1]:
        return ()
    kept = [float(places[0])]
    for place in places[1:].tolist():
        if place - kept[-1] >= _NEAR * span:
            kept.append(place)
    return tuple(kept) if len(kept) > 2 else ()


def weighted_quantiles(values: Floats, counts: Floats, levels: Floats) -> Floats:
    """Return the quantiles of values in rising order, each repeated as often as it counts.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantiles(np.array([1.0, 2.0]), np.array([3.0, 1.0]), np.array([0.5, 0.9])).tolist()
    [1.0, 1.7]
    """
    ends = np.cumsum(counts)
    position = levels * max(float(ends[-1]) - 1.0, 0.0)
    below = np.floor(position)
    last = len(values) - 1
    low, high = (values[np.minimum(np.searchsorted(ends, at, side="right"), last)] for at in (below, below + 1))
    quantiles: Floats = low + (position - below) * (high - low)
    return quantiles


def _capped(counts: Floats, share: float) -> Floats:
    r"""Return the counts, none above the given share of their sum.

    With the h largest capped at c, the sum is h c + Σ_rest, so c = share Σ_rest / (1 − h share).
    """
    falling = np.sort(counts)[::-1]
    heaped = np.arange(int(1 / share) + 1)
    rest = np.cumsum(falling[::-1])[::-1][heaped]
    cap = share * rest / (1 - heaped * share)
    # As many are capped as exceed the cap; there is one such h because values outnumber knots.
    capped: Floats = np.minimum(counts, cap[np.argmax(falling[heaped] <= cap)])
    return capped
