"""What hard and confident share: estimates from the sums of a hard label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.influence import Analysis, InfluenceSums
from softlabel.influence.points import LabelPoints, divide
from softlabel.moments.solve import RANK_TOLERANCE

__all__ = ["LEAST_ROWS", "LabelCounts", "Solved", "confident_counts", "hard_counts", "solved", "why_not"]

Floats = NDArray[np.float64]

# With one row on a side that row decides the estimate and its error is meaningless (0.04 of the truth in
# simulation); with five the error is at 0.8 of it, and a note says so up to fifty.
LEAST_ROWS = 5

# A confident set is small for the controls too: with six rows for each column errors were at 0.53 of the truth and
# intervals covered 71%, with a dozen at 0.89 and 90%. A note goes on from here.
_ROWS_PER_COLUMN = 10

# With the rarer label in one cluster of fifty, errors are at 0.17 of the truth; in two at 0.63, and a note says so.
LEAST_CLUSTERS = 1.5


class LabelCounts(NamedTuple):
    """Rows in use, rows labelled one among them, and rows that the worst-off fold's nuisances were fitted on.

    ``deciding`` is how many clusters of equal share would decide as much: few, where few hold the rarer label.
    """

    n: int
    above: int
    train: int
    deciding: float | None = None


class Solved(NamedTuple):
    """One estimator at every threshold: points (T, m) and their covariances (T, m, m)."""

    points: Floats
    covariances: Floats


def hard_counts(analysis: Analysis) -> list[LabelCounts]:
    """Return the counts at each threshold."""
    by_code = analysis.fit.moments.counts.sum(axis=0)
    labels = analysis.design.partition.labels[:, 0]
    train = analysis.fewest_to_train()
    deciding = _deciding(analysis, 2, len(labels))
    return [
        LabelCounts(int(by_code.sum()), int(by_code @ row), train, clusters)
        for row, clusters in zip(labels, deciding, strict=True)
    ]


def confident_counts(analysis: Analysis) -> list[LabelCounts]:
    """Return the counts within each confident set."""
    by_code = analysis.fit.moments.counts.sum(axis=0)
    part = analysis.design.partition
    deciding = _deciding(analysis, 2 + len(part.thresholds), len(part.confident))
    return [
        LabelCounts(int(by_code @ member), int(by_code @ (member * label)), analysis.fewest_to_train(member), clusters)
        for member, label, clusters in zip(part.members, part.confident_labels[:, 0], deciding, strict=True)
    ]


def _deciding(analysis: Analysis, first: int, count: int) -> list[float | None]:
    """Return the effective clusters of so many labels, or ``None`` for each where every row is its own."""
    shares = analysis.sums["shares"]
    return [None] * count if shares.clusters is None else [*shares.effective[first : first + count].tolist()]


def solved(sums: InfluenceSums, at: LabelPoints, q: int) -> dict[str, Solved]:
    """Return every estimator that the sums hold, by name.

    Each is its point from the moments plus one Newton step, with the sandwich covariance. κ is a q×q matrix
    written out by rows, so its bread is the Kronecker product of E[bbᵀ] with the identity.
    """
    t = len(sums.bread)
    bb, ba = sums.bread[:, :, :q], sums.bread[:, :, q:]
    kappa_bread = np.einsum("tkl,ij->tkilj", bb, np.eye(q)).reshape(t, q * q, q * q)
    covariance = sums.covariance_of_sums()
    results: dict[str, Solved] = {}
    start = 0
    for name, bread, first in (
        ("hard", bb, at.hard),
        ("kappa", kappa_bread, at.kappa.reshape(t, q * q)),
        ("deattenuated", ba, at.deattenuated),
        ("moment", 2 * bb, at.moment),
    ):
        part = slice(start, start + first.shape[1])
        start = part.stop
        if part.stop > sums.moment.shape[1]:
            break
        step = divide(bread, sums.moment[:, part, None])[..., 0]
        half = divide(bread, covariance[:, part, part])
        results[name] = Solved(first + step, divide(bread, half.swapaxes(1, 2)))
    return results


def why_not(
    counts: LabelCounts, left: float, columns: int, *, threshold: float | None, where: str = "", df: int | None = None
) -> str | None:
    """Return why a hard label cannot be used, or ``None`` if it can.

    ``left`` is the mean of b² per row; ``df`` one less than the clusters, where there are any. ``threshold`` is
    ``None`` where each row has its own.
    """
    n, above, train, deciding = counts
    at = "its threshold" if threshold is None else f"{threshold:g}"
    if n == 0 or above in (0, n):
        said = f"{'every' if above else 'no'} score{where} is above"
        return f"{said if n else 'no row has a score that is confident at'} {at}"
    fewer = min(above, n - above)
    if fewer < LEAST_ROWS:
        side = "above" if fewer == above else "not above"
        return f"{fewer} of {n:,} scores{where} {side} {at} are too few for a standard error"
    if min(n - 1, train) <= columns or (where and n < _ROWS_PER_COLUMN * columns):
        return (
            f"{n} rows{where}, of which {train} fit the nuisances of some fold, are too few for {columns} coefficients"
        )
    if left <= RANK_TOLERANCE * above / n * (1 - above / n):
        return f"the controls explain the hard label{where} completely"
    if df == 0 or (deciding is not None and deciding < LEAST_CLUSTERS):
        one = f"all rows{where} are of one cluster"
        alone = one if df == 0 else f"a single cluster{where} decides who is above {at}"
        return f"{alone}, which leaves nothing to learn an error from"
    return None
