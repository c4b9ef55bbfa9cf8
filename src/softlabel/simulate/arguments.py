"""Arguments of the simulators, checked at the door."""

from collections.abc import Iterable
from math import isfinite

import numpy as np

from softlabel.errors import InputError

__all__ = ["Seed", "finite", "finites", "generator", "whole"]

Seed = int | np.random.SeedSequence | np.random.Generator


def whole(name: str, value: object, *, least: int = 0) -> int:
    """Return a whole number of at least ``least``.

    Examples
    --------
    >>> whole("workers", 0, least=1)
    Traceback (most recent call last):
        ...
    softlabel.errors.InputError: Expected workers to be a whole number, at least 1; found 0. Give a count.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(
            expected=f"{name} to be a whole number, at least {least}", found=repr(value), fix="Give a count"
        )
    return int(value)


def generator(seed: Seed) -> np.random.Generator:
    """Return the random stream a seed stands for; a Generator stands for itself.

    Examples
    --------
    >>> generator(1).integers(100)
    np.int64(47)
    """
    if isinstance(seed, np.random.SeedSequence | np.random.Generator):
        return np.random.default_rng(seed)
    return np.random.default_rng(whole("seed", seed))


def finite(name: str, value: object) -> float:
    """Return a finite float.

    Examples
    --------
    >>> finite("tau", 1)
    1.0
    """
    try:
        number = float("nan") if isinstance(value, str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise InputError(expected=f"{name} to be a finite number", found=repr(value), fix="Give one number")
    return number


def finites(name: str, values: float | Iterable[float]) -> tuple[float, ...]:
    """Return a tuple of finite floats; one number counts as a tuple of one.

    Examples
    --------
    >>> finites("beta_r", [1, 2])
    (1.0, 2.0)
    """
    listed = tuple(values) if isinstance(values, Iterable) else (values,)
    return tuple(finite(f"every entry of {name}", value) for value in listed)
