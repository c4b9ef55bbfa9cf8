"""Estimates from residuals row by row: for labels whose threshold differs between rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.estimators.labels import LabelCounts
from softlabel.influence.sums import InfluenceSums, influence_sums
from softlabel.study import Columns

__all__ = ["Counting", "Ratio", "label_counts", "ratio"]

Floats = NDArray[np.float64]
Members = NDArray[np.intp] | NDArray[np.bool_]


class Counting(NamedTuple):
    """How rows count: weight and cluster (n,) or ``None``, fold (n,) or ``None`` where nuisances are fitted in sample.

    frequency: as of `Columns`.
    """

    n: int
    weight: Floats | None
    cluster: NDArray[np.uint64] | None
    fold: NDArray[np.intp] | None
    frequency: bool = False

    @classmethod
    def of(cls, rows: Columns, fold: NDArray[np.intp] | None) -> Counting:
        """Return how these rows count."""
        return cls(len(rows), rows.weight, rows.cluster, fold, rows.frequency)

    def take(self, members: Members) -> Counting:
        """Return how the chosen rows count."""
        return Counting(
            n=int(members.sum()) if members.dtype == np.bool_ else len(members),
            weight=None if self.weight is None else self.weight[members],
            cluster=None if self.cluster is None else self.cluster[members],
            fold=None if self.fold is None else self.fold[members],
            frequency=self.frequency,
        )

    def total(self, values: Floats) -> float:
        """Return Σ w v."""
        return float(values.sum() if self.weight is None else values @ self.weight)

    def cases(self, chosen: NDArray[np.bool_]) -> int:
        """Return how many of some rows (n,) are chosen, copies counted."""
        if self.frequency and self.weight is not None:
            return int(np.rint(self.weight[chosen].sum()))
        return int(np.count_nonzero(chosen))

    def sums(self, g: Floats) -> InfluenceSums:
        """Return the sums of one estimating function (n,), or of several (m, n)."""
        several = np.atleast_2d(g)[None]
        return influence_sums(several, np.zeros((1, 0, 0)), self.weight, self.cluster, frequency=self.frequency)


class Ratio(NamedTuple):
    """An estimate Σ w u / Σ w v, its variance, and the degrees of freedom of its error, ``None`` for the normal."""

    point: float
    variance: float
    df: int | None


def ratio(above: Floats, below: Floats, counting: Counting) -> Ratio:
    r"""Return a ratio of sums with its sandwich variance, of u and v (n,).

    .. math::
        \hat\theta = \frac{\sum w u}{\sum w v}, \qquad
        \widehat{\mathrm{Var}} = \frac{\sum w^2 (u - \hat\theta v)^2}{(\sum w v)^2}

    With b = h − ê[h|X], a = p − r̂(X) and R = Y − m̂(X): bR over b² is hard, ba over b² is κ, bR over ba is
    de-attenuated. All are first-order insensitive to the nuisances. Of nothing it is zero.

    Examples
    --------
    >>> u, v = np.array([1.0, 3.0]), np.array([1.0, 1.0])
    >>> ratio(u, v, Counting(2, None, None, None))
    Ratio(point=2.0, variance=0.5, df=None)
    """
    bread = counting.total(below)
    if bread == 0:
        return Ratio(0.0, 0.0, None)
    point = counting.total(above) / bread
    sums = counting.sums(above - point * below)
    return Ratio(point, float(sums.covariance_of_sums()[0, 0, 0]) / bread**2, sums.df(0))


def label_counts(h: NDArray[np.bool_], b: Floats, counting: Counting) -> LabelCounts:
    """Return the counts of a label h (n,) with residual b (n,)."""
    everyone = np.ones(counting.n, dtype=np.bool_)
    n = train = counting.cases(everyone)
    if counting.fold is not None and n:
        train -= max(counting.cases(counting.fold == k) for k in np.unique(counting.fold))
    decides = counting.cluster is not None and n > 0
    deciding = float(counting.sums(np.square(b)).effective[0]) if decides else None
    return LabelCounts(n, counting.cases(h), train, deciding)
