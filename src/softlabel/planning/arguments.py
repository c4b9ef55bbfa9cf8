"""Arguments of a plan, checked at the door."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isfinite
from typing import Any

from softlabel.errors import InputError

__all__ = ["between", "count", "counts", "shares", "size"]

_SMALLEST, _LARGEST = 1e-20, 1e20


def between(name: str, value: Any, low: float, high: float = inf, *, least: bool = False, fix: str) -> float:
    """Return a number above ``low`` (or at least it, with ``least``) and at most ``high``.

    Examples
    --------
    >>> between("noise_sd", 2, 0, fix="Give a standard deviation")
    2.0
    >>> between("noise_sd", 0, 0, fix="Give a standard deviation")
    Traceback (most recent call last):
        ...
    softlabel.errors.InputError: Expected noise_sd to be a number above 0; found 0. Give a standard deviation.
    """
    try:
        number = float("nan") if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    above = number >= low if least else number > low
    if not (isfinite(number) and above and number <= high):
        bounds = [] if low == -inf else [f"of at least {low:g}" if least else f"above {low:g}"]
        bounds += [] if high == inf else [f"at most {high:g}"]
        said = " ".join([f"{name} to be a number", " and ".join(bounds)]).rstrip()
        raise InputError(expected=said, found=repr(value), fix=fix)
    return number


def size(name: str, value: Any, *, fix: str) -> float:
    """Return a number above zero of a size whose powers are neither zero nor infinite."""
    number = between(name, value, 0, fix=fix)
    if not _SMALLEST <= number <= _LARGEST:
        raise InputError(
            expected=f"{name} between {_SMALLEST:g} and {_LARGEST:g}", found=repr(value), fix="Use other units"
        )
    return number


def count(name: str, value: Any) -> int:
    """Return a whole number of rows, one at least.

    Examples
    --------
    >>> count("n_unlabelled", 20_000.0)
    20000
    """
    number = between(name, value, 1, least=True, fix="Give a number of rows")
    if number != int(number):
        raise InputError(expected=f"{name} to be a whole number", found=repr(value), fix="Give a number of rows")
    return int(number)


def counts(name: str, values: Any) -> tuple[int, ...]:
    """Return whole numbers in order, each once."""
    listed = _listed(name, values)
    return tuple(sorted({count(f"every entry of {name}", value) for value in listed}))


def shares(name: str, values: Any) -> tuple[float, ...]:
    """Return shares up to 1, none of them next to nothing, in order, each once."""
    fix = "Give V* as a share of the variance that the controls leave of the group, such as 0.3"
    return tuple(
        sorted(
            {between(f"every entry of {name}", value, 1e-6, 1, least=True, fix=fix) for value in _listed(name, values)}
        )
    )


def _listed(name: str, values: Any) -> Sequence[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(expected=f"{name} to be a list of numbers", found=repr(values), fix=f"Use {name}=[{values}]")
    return list(values)
