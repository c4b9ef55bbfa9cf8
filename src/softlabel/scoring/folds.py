"""Dealing labelled rows to folds, and finding the fold whose models score an unlabelled row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import DataError
from softlabel.folds import deal
from softlabel.hashing import MASK, Hashes, finish, splitmix

__all__ = ["Dealt", "deal_labelled"]

Floats = NDArray[np.float64]
Folds = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Dealt:
    """Folds of labelled rows and, with clusters, of those that labelled rows belong to.

    Attributes
    ----------
    fold : (n,)
        Of each labelled row.
    count, seed
        How many folds, and what they were dealt by.
    clusters : (m,), cluster_folds : (m,)
        Hashes of clusters in order, and their folds; ``None`` without clusters.
    """

    fold: Folds
    count: int
    seed: int
    clusters: Hashes | None = None
    cluster_folds: Folds | None = None

    def of_unlabelled(self, hashes: Hashes, cluster: Hashes | None) -> Folds:
        """Return the fold of each unlabelled row (n,): of its cluster, where labels of it have one; else by its hash.

        So the models that score a row have seen no label of its cluster.
        """
        if self.clusters is None or self.cluster_folds is None or cluster is None:
            return deal(hashes, self.count, self.seed).astype(np.intp)
        found = deal(cluster.copy(), self.count, self.seed).astype(np.intp)
        at = np.minimum(np.searchsorted(self.clusters, cluster), len(self.clusters) - 1)
        return np.where(self.clusters[at] == cluster, self.cluster_folds[at], found)


def deal_labelled(hashes: Hashes, group: Floats, cluster: Hashes | None, count: int, seed: int) -> Dealt:
    """Deal labelled rows to folds, by their hashes (n,) and not by their order.

    Each group is dealt in turn, so that every fold has its share of both: were shares left to chance, a fold with more
    of the group would be scored by models that have seen less of it, and the score would seem to point the wrong way.
    Clusters are dealt whole, those with most labelled rows of the rarer group first.

    Examples
    --------
    >>> hashes = np.arange(8, dtype=np.uint64)
    >>> dealt = deal_labelled(hashes, np.array([0, 0, 0, 0, 1, 1, 1, 1.0]), None, 4, seed=0)
    >>> [int(dealt.fold[:4].tolist().count(k)) for k in range(4)], sorted(dealt.fold[4:].tolist())
    ([1, 1, 1, 1], [0, 1, 2, 3])
    """
    if cluster is not None:
        return _deal_clusters(group, cluster, count, seed)
    order = np.argsort(_mixed(hashes, seed), kind="stable")
    fold = np.empty(len(group), dtype=np.intp)
    dealt = 0
    for value in (1.0, 0.0):
        members = order[group[order] == value]
        fold[members] = (dealt + np.arange(len(members))) % count
        dealt += len(members)
    return Dealt(fold, count, seed)


def _deal_clusters(group: Floats, cluster: Hashes, count: int, seed: int) -> Dealt:
    ids, which = np.unique(cluster, return_inverse=True)
    if len(ids) < count:
        raise DataError(
            expected=f"at least as many clusters with labelled rows as folds ({count})",
            found=f"{len(ids)}",
            fix="Use fewer folds for the score, or label rows of more clusters",
        )
    rarer = 1.0 if group.sum() * 2 <= len(group) else 0.0
    rare, size = np.bincount(which, group == rarer), np.bincount(which)
    # Those with most rare rows first, each to the fold that has fewest of them so far, then the others to the fold that
    # has fewest rows; hashes decide between equals.
    order = np.lexsort([_mixed(ids, seed), -size, -rare])
    held, rows = np.zeros(count), np.zeros(count)
    fold = np.empty(len(ids), dtype=np.intp)
    for one in order.tolist():
        to = int(np.lexsort([rows, held])[0]) if rare[one] else int(rows.argmin())
        fold[one] = to
        held[to] += rare[one]
        rows[to] += size[one]
    return Dealt(fold[which], count, seed, ids, fold)


def _mixed(hashes: Hashes, seed: int) -> Hashes:
    return finish(hashes ^ np.uint64(splitmix(seed & MASK)))
