"""What a fitted linear model or network says of a row: the same bits whatever rows stand beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Layers", "by_row", "network"]

Floats = NDArray[np.float64]
Layers = Sequence[tuple[Floats, Floats]]

# Rows at a time: a block of a layer's outputs stays in the processor's cache.
_BLOCK = 2048


def by_row(x: Floats, slopes: Floats, level: Floats) -> Floats:
    """Return x (n, k) times slopes (k, h), plus a level (h,), as sums that run over k in order for every row.

    A matrix product of a library adds up in an order that depends on the shape, so that a row's last bits would depend
    on the batch it came in.

    Examples
    --------
    >>> by_row(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0], [0.5]]), np.array([10.0])).tolist()
    [[14.0], [10.5]]
    """
    found = np.empty((len(x), len(level)))
    for start in range(0, len(x), _BLOCK):
        rows = x[start : start + _BLOCK]
        total = found[start : start + _BLOCK]
        total[:] = level
        term = np.empty_like(total)
        for column, slope in zip(rows.T, slopes, strict=True):
            total += np.multiply(column[:, None], slope, out=term)
    return found


def network(x: Floats, layers: Layers) -> Floats:
    """Return what a network with ReLU between its layers gives for x (n, k): (n,) of its one output.

    ``layers`` holds the slopes (k, h) and levels (h,) of each, the last with h = 1.

    Examples
    --------
    >>> hidden = (np.array([[1.0, -1.0]]), np.zeros(2))
    >>> network(np.array([[-3.0], [2.0]]), [hidden, (np.ones((2, 1)), np.zeros(1))]).tolist()
    [3.0, 2.0]
    """
    found = np.empty(len(x))
    for start in range(0, len(x), _BLOCK):
        value = x[start : start + _BLOCK]
        for slopes, level in layers[:-1]:
            value = np.maximum(by_row(value, slopes, level), 0.0)
        found[start : start + _BLOCK] = by_row(value, *layers[-1])[:, 0]
    return found
