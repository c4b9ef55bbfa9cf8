"""Arrays at the door of the array functions: checked once, with an error that says what to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import DataError, InputError
from softlabel.study.verify import check_score_size, check_size

__all__ = ["controls_array", "group_array", "score_array", "vector"]

Floats = NDArray[np.float64]


def vector(values: ArrayLike, name: str, length: int | None = None) -> Floats:
    """Return a finite float64 vector, or say what is wrong with it."""
    array = _floats(values, name)
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise InputError(
            expected=f"{name} to be a vector" + ("" if length is None else f" of {length} values"),
            found=f"shape {array.shape}",
            fix="Pass one value per row",
        )
    return array


def controls_array(values: ArrayLike | None, n: int) -> Floats:
    """Return controls as (k, n) from (n, k), (n,) or nothing."""
    if values is None:
        return np.empty((0, n))
    array = _floats(values, "X")
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != n:
        raise InputError(
            expected=f"X to have one row for each of the {n} outcomes or scores",
            found=f"shape {array.shape}",
            fix="Pass a matrix with a column per control, or leave X out",
        )
    return np.ascontiguousarray(array.T)


def score_array(values: ArrayLike, n: int | None = None) -> Floats:
    """Return a vector of scores in [0, 1]."""
    p = vector(values, "p", n)
    if len(p) and not (p.min() >= 0 and p.max() <= 1):
        raise DataError(
            expected="p to lie in [0, 1]",
            found=f"values from {p.min():g} to {p.max():g}",
            fix="Pass the predicted probability of group 1",
        )
    if len(p):
        check_score_size("p", float(p.min()), float(p.max()))
    return p


def group_array(values: ArrayLike, n: int) -> Floats:
    """Return a vector of groups 0 and 1."""
    g = vector(values, "g", n)
    if not np.isin(g, (0, 1)).all():
        raise DataError(
            expected="g to be 0 or 1",
            found=f"{g[~np.isin(g, (0, 1))][0]:g}",
            fix="Pass only labelled rows, coded 0 and 1",
        )
    return g


def _floats(values: ArrayLike, name: str) -> Floats:
    masked = np.ma.is_masked(values)
    try:
        raw = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan) if masked else np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:  # lists of unlike length, or what is no number
        raise _no_numbers(name, str(error).rstrip(".")) from error
    if raw.dtype.kind not in "biufO":
        raise _no_numbers(name, f"values of type {raw.dtype}")
    try:
        array = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers(name, str(error).rstrip(".")) from error
    if not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).sum())
        raise DataError(
            expected=f"{name} to be finite",
            found=f"{bad:,} missing or infinite values of {array.size:,}",
            fix="Drop or impute those rows",
        )
    for column in array.reshape(len(array), -1).T if array.size and name != "p" else ():
        check_size(name, float(column.min(initial=0.0)), float(column.max(initial=0.0)))
    return array


def _no_numbers(name: str, found: str) -> InputError:
    return InputError(expected=f"{name} to hold numbers", found=found, fix="Convert it to a numeric array")
