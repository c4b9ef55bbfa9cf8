"""Arrays in: checked once, then one in-memory batch for the same two passes that tables take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.basis import LinearBasis
from softlabel.errors import DataError, InputError
from softlabel.folds import check_folds, check_seed
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.moments import Design, Partition
from softlabel.study import Batch, Columns, Tally
from softlabel.study.verify import check_size

__all__ = ["analyse_arrays", "controls_array", "fallback_note", "group_array", "score_array", "vector"]

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
    raw = (
        np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan) if np.ma.is_masked(values) else np.asarray(values)
    )
    if raw.dtype.kind not in "biufO":
        raise _no_numbers(name, f"values of type {raw.dtype}")
    try:
        array = raw.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _no_numbers(name, str(error)) from error
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


def fallback_note(analysis: Analysis, folds: int | ArrayLike | None) -> str | None:
    """Return what a caller who asked for folds should know where there are none."""
    if folds is None or not analysis.nuisances.in_sample:
        return None
    return (
        f"The rows repeat: {analysis.n} hold about {analysis.n_effective:.0f} distinct ones. The nuisances were fitted "
        "in sample, because copies would share a fold; pass each row's fold to cross-fit"
    )


def analyse_arrays(
    y: Floats,
    p: Floats,
    x: Floats,
    *,
    thresholds: Sequence[float] = (),
    confident: Sequence[float] = (),
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
) -> Analysis:
    """Run both passes over arrays: y and p (n,), x (k, n); ``folds`` may hold each row's fold."""
    n = len(y)
    if not n:
        raise DataError(expected="rows", found="empty arrays", fix="Check the filter before")
    given: NDArray[np.intp] | None = None
    if folds is None or isinstance(folds, int | np.integer):
        count = check_folds(None if folds is None else int(folds))
    else:
        given, count = _given_folds(folds, n)
    design = Design(
        LinearBasis(tuple(f"x{j + 1}" for j in range(len(x)))),
        Partition.of(thresholds, confident),
        count,
        check_seed(seed),
    )
    columns = Columns(y, p[None, :], x, np.full(n, np.nan), fold=given)
    batch = Batch(columns, columns.take(slice(0, 0)), Tally(rows=n, unlabelled=n))
    rule = FoldRule(None if folds is None else count, "values" if given is None else "given")
    return analyse(lambda: [batch], lambda chunk: chunk, design, rule, verify=lambda _: None)


def _given_folds(folds: ArrayLike, n: int) -> tuple[NDArray[np.intp], int]:
    array = vector(folds, "folds", n)
    labels, which = np.unique(array, return_inverse=True)
    if len(labels) < 2:
        raise InputError(
            expected="folds to name at least 2 folds", found=f"{len(labels)}", fix="Use folds=None for none"
        )
    return which.astype(np.intp), len(labels)
