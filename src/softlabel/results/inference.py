"""From an estimate and its standard error to an interval and a p-value.

scipy.special is imported where it is used: it takes longer to import than everything else together.
"""

from __future__ import annotations

import math

from softlabel.errors import InputError

__all__ = ["check_level", "p_value", "quantile"]


def check_level(level: float) -> float:
    """Return the confidence level, or say what a level is."""
    if not (isinstance(level, int | float) and 0.5 <= level < 1):
        raise InputError(
            expected="level to be a confidence level between 0.5 and 1",
            found=f"level={level!r}",
            fix="Use level=0.95 for 95% intervals",
        )
    return float(level)


def quantile(level: float, df: float | None) -> float:
    """Return how many standard errors a two-sided interval reaches: t(df), or normal for ``df=None``.

    Examples
    --------
    >>> round(quantile(0.95, None), 4), round(quantile(0.95, 10), 4)
    (1.96, 2.2281)
    """
    from scipy.special import ndtri, stdtrit

    # From the lower tail, for 0.5 + level/2 may round to one.
    tail = (1 - level) / 2
    return -float(ndtri(tail) if df is None else stdtrit(df, tail))


def p_value(estimate: float, std_error: float, df: float | None) -> float:
    """Return the two-sided p-value of a zero effect, from the lower tail so that small ones keep their digits.

    Examples
    --------
    >>> f"{p_value(10.0, 1.0, None):.3g}"
    '1.52e-23'
    """
    from scipy.special import ndtr, stdtr

    if std_error == 0:
        return 1.0 if estimate == 0 else 0.0
    z = -math.fabs(estimate / std_error)
    return float(2 * (ndtr(z) if df is None else stdtr(df, z)))
