"""Cells of a control, and the thresholds of their classes: handed in, or by the rules of FlexMatch and FreeMatch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.weights import labels_array

__all__ = ["ALL", "MOST_CELLS", "Cells", "ClassRule", "cells_array", "flexmatch", "freematch", "given", "places"]

Floats = NDArray[np.float64]

# What the one cell is called where there are no cells.
ALL = "all"

# A control with more values than this is no control to choose a threshold in.
MOST_CELLS = 1_000


class Cells(NamedTuple):
    """Which cell each row belongs to, (n,), by its place among the names, which are in order."""

    codes: NDArray[np.intp]
    names: tuple[str, ...]


class ClassRule(NamedTuple):
    """Thresholds (C, 2) by cell and class, NaN in a cell without rows, and how well each class is learnt, (C, 2)."""

    thresholds: Floats
    learnt: Floats | None


def cells_array(values: ArrayLike | None, n: int) -> Cells:
    """Return the cell of each row, (n,), of labels that are numbers or text; one cell where there are none.

    Examples
    --------
    >>> cells_array(["b", "a", "b"], 3)
    Cells(codes=array([1, 0, 1]), names=('a', 'b'))
    """
    if values is None:
        return Cells(np.zeros(n, dtype=np.intp), (ALL,))
    labels = labels_array(values, n, "cells", missing="Leave those rows out, or give them a cell of their own")
    if not pa.types.is_dictionary(labels.type):
        labels = labels.dictionary_encode()
    found = labels.dictionary.to_pylist()
    if len(found) > MOST_CELLS:
        raise InputError(
            expected=f"at most {MOST_CELLS:,} cells",
            found=f"{len(found):,}",
            fix="Group rare cells into one, or take a coarser control",
        )
    # By value, not by text: 10 comes after 9.
    names = tuple(dict.fromkeys(_name(value) for value in sorted(found)))
    place = np.array([names.index(_name(value)) for value in found], dtype=np.intp)
    return Cells(place[labels.indices.to_numpy(zero_copy_only=False).astype(np.intp)], names)


def places(cells: Cells, known: Sequence[str]) -> NDArray[np.intp]:
    """Return the place of each row's cell among the cells of a report, (n,)."""
    for name in cells.names:
        if name not in known:
            raise InputError(expected="a cell of this report", found=repr(name), fix=did_you_mean(name, known))
    return np.array([known.index(name) for name in cells.names], dtype=np.intp)[cells.codes]


def flexmatch(p: Floats, cells: Cells, weight: Floats | None, threshold: float) -> ClassRule:
    r"""Return FlexMatch's thresholds (Zhang et al. 2021), of scores p (n,), within each cell.

    With σ(c) the rows of class c more certain than the threshold,

    .. math::
        \beta(c) = \frac{\sigma(c)}{\max\{\max_k \sigma(k),\; n - \sum_k \sigma(k)\}}, \qquad
        T(c) = \frac{\beta(c)}{2 - \beta(c)} \, t .

    Examples
    --------
    >>> rule = flexmatch(np.array([.01, .02, .03, .04, .99, .98]), cells_array(None, 6), None, 0.9)
    >>> rule.learnt.tolist(), rule.thresholds.round(3).tolist()
    ([[1.0, 0.5]], [[0.9, 0.3]])
    """
    certain = np.maximum(p, 1 - p) > threshold
    sure = _by_class(p, cells, certain.astype(np.float64) if weight is None else certain * weight)
    unsure = _by_class(p, cells, weight).sum(axis=1) - sure.sum(axis=1)
    most = np.maximum(sure.max(axis=1), unsure)[:, None]
    learnt = np.divide(sure, most, out=np.full_like(sure, np.nan), where=most > 0)
    return ClassRule(threshold * learnt / (2 - learnt), learnt)


def freematch(p: Floats, cells: Cells, weight: Floats | None) -> ClassRule:
    r"""Return FreeMatch's self-adaptive thresholds (Wang et al. 2023), of scores p (n,), within each cell.

    .. math:: T(c) = \frac{\bar p(c)}{\max_k \bar p(k)} \, \mathrm E[\max(p, 1 - p)],

    with p̄(1) = E[p] and p̄(0) = 1 − E[p].

    Examples
    --------
    >>> rule = freematch(np.array([.1, .1, .1, .9]), cells_array(None, 4), None)
    >>> rule.learnt.round(3).tolist(), rule.thresholds.round(3).tolist()
    ([[1.0, 0.429]], [[0.9, 0.386]])
    """
    rows = np.ones_like(p) if weight is None else weight
    size = len(cells.names)
    total, one, certain = (
        np.bincount(cells.codes, rows * v, minlength=size) for v in (np.ones_like(p), p, np.maximum(p, 1 - p))
    )
    some = total > 0
    mean, whole = (np.divide(v, total, out=np.full(size, np.nan), where=some) for v in (one, certain))
    local = np.stack([1 - mean, mean], axis=1)
    learnt = local / local.max(axis=1, keepdims=True)
    return ClassRule(learnt * whole[:, None], learnt)


def given(thresholds: object, cells: Cells) -> ClassRule:
    """Return thresholds that were handed in: a number or a pair for class 0 and 1, or a mapping from cells to these.

    Examples
    --------
    >>> given({"a": .9, "b": (.8, .6)}, cells_array(["a", "b"], 2)).thresholds.tolist()
    [[0.9, 0.9], [0.8, 0.6]]
    """
    if not isinstance(thresholds, Mapping):
        return ClassRule(np.array([_pair(thresholds)] * len(cells.names)), None)
    named = {_name(cell): value for cell, value in thresholds.items()}
    for name in named:
        if name not in cells.names:
            raise InputError(
                expected="thresholds for cells that there are", found=repr(name), fix=did_you_mean(name, cells.names)
            )
    without = [name for name in cells.names if name not in named]
    if without:
        raise InputError(
            expected="a threshold for every cell",
            found=f"none for {_listed(without)}",
            fix="Add them, or pass one threshold for all",
        )
    return ClassRule(np.array([_pair(named[name]) for name in cells.names]), None)


def _by_class(p: Floats, cells: Cells, weight: Floats | None) -> Floats:
    """Return the weight of the rows of each cell and class, (C, 2)."""
    size = len(cells.names)
    sums: Floats = np.bincount(2 * cells.codes + (p > 0.5), weight, minlength=2 * size).astype(np.float64)
    return sums.reshape(size, 2)


def _pair(value: object) -> tuple[float, float]:
    """Return the thresholds of class 0 and class 1."""
    both = tuple(value) if isinstance(value, list | tuple | np.ndarray) else (value, value)
    if len(both) != 2 or not all(_is_threshold(t) for t in both):
        raise InputError(
            expected="each threshold to be a number from 0 to below 1, or a pair of them for class 0 and class 1",
            found=repr(value),
            fix="Use for instance thresholds={'north': .9, 'south': (.9, .7)}",
        )
    return float(both[0]), float(both[1])


def _is_threshold(value: object) -> bool:
    # True is an int, and no threshold.
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(0 <= value < 1)


def _name(value: object) -> str:
    """Return what a cell is called: 1 and 1.0 are one cell."""
    if isinstance(value, float | np.floating):
        return str(int(value)) if value.is_integer() else repr(float(value))
    return str(value)


def _listed(names: Iterable[str]) -> str:
    every = [repr(name) for name in names]
    return ", ".join(every[:10]) + (", ..." if len(every) > 10 else "")
