"""Copies: rows that are alike in everything, told apart by how many of them came before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.hashing import Hashes, finish, splitmix

__all__ = ["Copies", "repeat"]

# Fewer effective rows than this share of all, and rows repeat: the share from which a diagnosis says so.
_REPEATS = 0.9


def repeat(hashes: Hashes) -> bool:
    r"""Tell whether rows (n,) repeat: n²/Σm² < 0.9 n, m the copies of each distinct one.

    Examples
    --------
    >>> repeat(np.arange(10, dtype=np.uint64)), repeat(np.arange(10, dtype=np.uint64) // np.uint64(2))
    (False, True)
    """
    _, copies = np.unique(hashes, return_counts=True)
    return bool(len(hashes) < _REPEATS * float(np.square(copies.astype(np.float64)).sum()))


class Copies:
    """Counts rows by their hash, batch after batch.

    Which of several equal rows is called the first depends on their order, but not how many there are of each, so a
    table in another order holds the same rows under the same hashes.

    Examples
    --------
    >>> copies = Copies()
    >>> first = copies.told_apart(np.array([5, 5, 7], dtype=np.uint64))
    >>> again = copies.told_apart(np.array([5], dtype=np.uint64))
    >>> len({*first.tolist(), *again.tolist()})
    4
    """

    def __init__(self) -> None:
        self._keys: Hashes = np.empty(0, dtype=np.uint64)
        self._counts: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def told_apart(self, hashes: Hashes) -> Hashes:
        """Return hashes (n,) that differ between copies, and count these rows."""
        keys, which, counts = np.unique(hashes, return_inverse=True, return_counts=True)
        order = np.argsort(which, kind="stable")
        starts = np.cumsum(counts) - counts
        place = np.empty(len(hashes), dtype=np.int64)
        place[order] = np.arange(len(hashes)) - np.repeat(starts, counts)
        place += self._seen(keys)[which]
        self._add(keys, counts)
        return finish(hashes + place.astype(np.uint64) * np.uint64(splitmix(3) | 1))

    def _seen(self, keys: Hashes) -> NDArray[np.int64]:
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.int64)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._counts[at], 0)

    def _add(self, keys: Hashes, counts: NDArray[np.int64]) -> None:
        both, which = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        total = np.zeros(len(both), dtype=np.int64)
        np.add.at(total, which, np.concatenate([self._counts, counts]))
        self._keys, self._counts = both, total
