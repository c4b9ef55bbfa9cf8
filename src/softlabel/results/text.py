"""Numbers as people read them."""

from __future__ import annotations

__all__ = ["interval_text", "number", "percent", "whole"]


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with so many significant digits, without exponent where it is readable without.

    Examples
    --------
    >>> number(1234.5), number(0.01234), number(2.0), number(3.2e-9), number(None)
    ('1230', '0.0123', '2.00', '3.20e-09', '-')
    """
    if value is None:
        return "-"
    if value == 0:
        return "0"
    size = abs(value)
    if not 1e-4 <= size < 1e9:
        return f"{value:.{digits - 1}e}"
    rounded = float(f"{value:.{digits - 1}e}")
    whole = len(str(int(abs(rounded)))) if abs(rounded) >= 1 else 1 - _leading_zeros(abs(rounded))
    return f"{rounded:.{max(digits - whole, 0)}f}"


def _leading_zeros(size: float) -> int:
    """Return how many zeros precede the first digit of a number below one, the one before the point too."""
    return -int(f"{size:e}".split("e")[1])


def percent(share: float) -> str:
    """Return a share in percent with the decimals it has.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.10g}%"


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return "low to high".

    Examples
    --------
    >>> interval_text((0.912, 1.1))
    '0.912 to 1.10'
    """
    return "-" if interval is None else f"{number(interval[0])} to {number(interval[1])}"


def whole(value: float) -> str:
    """Return a count that is an estimate, without decimals; of too many digits to read the first ones.

    Examples
    --------
    >>> whole(12345.6), whole(5e52)
    ('12,346', '5.00e+52')
    """
    return f"{value:,.0f}" if abs(value) < 1e9 else number(value)
