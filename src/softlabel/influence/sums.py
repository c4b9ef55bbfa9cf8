"""InfluenceSums: what a pass adds up of influence functions. A commutative monoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ClusterSums", "InfluenceSums", "influence_sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSums:
    """Σ w g within each cluster: ids (G,) in increasing order, values (G, m)."""

    ids: NDArray[np.uint64]
    values: Floats

    @classmethod
    def of(cls, cluster: NDArray[np.uint64], weighted: Floats) -> ClusterSums:
        """Return the sums of weighted scores (m, n) by cluster (n,)."""
        ids, which = np.unique(cluster, return_inverse=True)
        order = np.argsort(which, kind="stable")
        starts = np.searchsorted(which[order], np.arange(len(ids)))
        return cls(ids, np.add.reduceat(weighted[:, order], starts, axis=1).T)

    def merge(self, other: ClusterSums) -> ClusterSums:
        """Return the sums over both sets of rows."""
        return ClusterSums.of(np.concatenate([self.ids, other.ids]), np.concatenate([self.values, other.values]).T)


@dataclass(frozen=True, slots=True, eq=False)
class InfluenceSums:
    """Sums of estimating functions g = (g₁ … g_m), for B thresholds at once.

    Attributes
    ----------
    weight
        Σ w.
    bread : (B, q, c)
        Sums of the products that divide an estimate, such as Σ w a aᵀ.
    moment : (B, m)
        Σ w g.
    meat : (B, m, m)
        Σ (w g)(w g)ᵀ over rows; not used where there are clusters.
    clusters
        Σ w g by cluster, or ``None`` where every row is its own.
    """

    weight: float
    bread: Floats
    moment: Floats
    meat: Floats
    clusters: ClusterSums | None

    def merge(self, other: InfluenceSums) -> InfluenceSums:
        """Return the sums over both sets of rows."""
        clusters = self.clusters
        if clusters is not None and other.clusters is not None:
            clusters = clusters.merge(other.clusters)
        return InfluenceSums(
            self.weight + other.weight,
            self.bread + other.bread,
            self.moment + other.moment,
            self.meat + other.meat,
            clusters,
        )

    def covariance_of_sums(self) -> Floats:
        """Return the estimated covariance of Σ w g, (B, m, m): over clusters where there are any."""
        if self.clusters is None:
            return self.meat
        by_cluster = self.clusters.values.reshape(-1, *self.moment.shape)
        product: Floats = np.einsum("gbi,gbj->bij", by_cluster, by_cluster)
        return product


def influence_sums(
    g: Floats, bread: Floats, weight: Floats | None, cluster: NDArray[np.uint64] | None
) -> InfluenceSums:
    """Return the sums of g (B, m, n); ``bread`` (B, q, c) is summed already; weight and cluster are (n,)."""
    weighted = g if weight is None else g * weight
    empty = np.zeros((len(g), g.shape[1], g.shape[1]))
    return InfluenceSums(
        weight=float(g.shape[2] if weight is None else weight.sum()),
        bread=bread,
        moment=weighted.sum(axis=2),
        meat=weighted @ weighted.swapaxes(1, 2) if cluster is None else empty,
        clusters=None if cluster is None else ClusterSums.of(cluster, weighted.reshape(-1, g.shape[2])),
    )
