"""Ticks and limits: round numbers that a range is read by, the same in every renderer."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["limits", "log_limits", "ticks"]


def ticks(low: float, high: float, scale: str = "linear", most: int = 6) -> list[float]:
    """Return round numbers within a range: at most so many, at least two where the range allows it.

    Examples
    --------
    >>> ticks(0, 1), ticks(-0.3, 2.4), ticks(0.003, 2.0, "log")
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 0.5, 1.0, 1.5, 2.0], [0.01, 0.1, 1.0])
    """
    if scale == "log":
        return _log_ticks(low, high, most)
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (each * scale * power for scale in (1, 10) for each in (1, 2, 2.5, 5))
    step = next(each for each in steps if _count(low, high, each) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # From whole numbers, and rounded to the digits of a step: 3 · 0.1 is not 0.3.
    digits = 2 - math.floor(math.log10(step))
    return [round(k * step, digits) + 0.0 for k in range(first, last + 1)]


def _count(low: float, high: float, step: float) -> int:
    return math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for within in ((1,), (1, 3), (1, 2, 5)):
        every = [float(f"{each}e{k}") for k in decades for each in within]
        inside = [each for each in every if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)]
        if found and len(inside) > most:
            break
        found = inside
        if len(found) >= 3:
            break
    skip = math.ceil(len(found) / most)
    return found[::skip] if skip > 1 else found


def limits(values: Iterable[float], *, margin: float = 0.06, hold: Iterable[float] = ()) -> tuple[float, float]:
    """Return a range that holds values with a margin, and others without.

    Examples
    --------
    >>> limits([0.0, 1.0], margin=0.1), limits([2.0, 2.0]), limits([])
    ((-0.1, 1.1), (1.0, 3.0), (0.0, 1.0))
    """
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return (0.0, 1.0)
    low, high = min(known), max(known)
    if low == high:
        room = abs(low) / 2 or 1.0
        return (low - room, high + room)
    room = margin * (high - low)
    return (min([low - room, *hold]), max([high + room, *hold]))


def log_limits(values: Iterable[float], margin: float = 1.3) -> tuple[float, float]:
    """Return a range for a logarithmic axis.

    Examples
    --------
    >>> low, high = log_limits([0.1, 10.0], margin=2)
    >>> low, high
    (0.05, 20.0)
    """
    known = [value for value in values if value > 0 and math.isfinite(value)]
    if not known:
        return (0.1, 10.0)
    # At least a decade: over less a logarithm is nearly a line, and has one round number or none.
    low, high = min(known) / margin, max(known) * margin
    widen = max(10 / (high / low), 1.0) ** 0.5
    return (low / widen, high * widen)
