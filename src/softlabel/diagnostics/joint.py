"""Joint: influence values of labelled and unlabelled rows as one covariance, summed by cluster across both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.estimators.sandwich import FULL_LEVERAGE, adjust, small_sample
from softlabel.running import Run
from softlabel.study import Columns

__all__ = ["Slope", "cross", "joint_covariance", "slope_on"]

Floats = NDArray[np.float64]


class Slope(NamedTuple):
    """A slope through the origin, and the influence (n,) of one case of each row on its error."""

    value: float
    influence: Floats


def joint_covariance(run: Run, influence: Floats) -> Floats:
    """Return the covariance (m + 1, m + 1) of estimates with influence (m, n_L) on labelled rows, and of soft, last.

    Rows of both kinds are independent but for clusters that hold both: there the sums over a cluster are of both.
    """
    labelled, core = run.labelled, run.analysis.sums["core"]
    bread = float(core.bread[0, 0, 0])
    copies = labelled.weight if labelled.frequency else None
    if labelled.cluster is None or core.clusters is None:
        found = np.zeros((len(influence) + 1, len(influence) + 1))
        found[:-1, :-1] = cross(influence, copies, None)
        found[-1, -1] = float(core.covariance_of_sums()[0, 0, 0]) / bread**2
        return found
    mine, which = np.unique(labelled.cluster, return_inverse=True)
    theirs, sums = core.clusters.joined
    everyone = np.union1d(mine, theirs)
    stacked = np.zeros((len(influence) + 1, len(everyone)))
    at = np.searchsorted(everyone, mine)
    for row, values in zip(stacked, influence, strict=False):
        row[at] = np.bincount(which, values if copies is None else values * copies)
    # The factor G/(G − 1) of the unlabelled rows, as a root on each sum, so that what comes out is a covariance.
    count = core.n_clusters
    factor = 1.0 if count is None else float(count[0] / max(count[0] - 1, 1)) ** 0.5
    stacked[-1, np.searchsorted(everyone, theirs)] = sums[:, 0] * factor / bread
    product: Floats = stacked @ stacked.T
    return product


def slope_on(x: Floats, target: Floats, rows: Columns, covariance: str) -> Slope | None:
    """Return the slope through the origin of a target (n,) on x (n,), as HC0 to HC3 or CR0 to CR3 see its error."""
    weight = np.ones(len(x)) if rows.weight is None else rows.weight
    copies = rows.weight if rows.frequency else None
    codes = None if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1]
    root = np.sqrt(weight)
    size = float(np.sqrt(weight @ np.square(x)))
    if size == 0:
        return None
    value = float(weight @ (x * target)) / size**2
    q = root * x / size
    errors, leverage = adjust(q[:, None], root * (target - value * x), covariance, copies=copies, cluster=codes)
    if leverage.max() >= FULL_LEVERAGE:
        return None
    n = len(x) if copies is None else int(copies.sum())
    clusters = None if codes is None else int(codes.max()) + 1
    if clusters == 1:
        return None
    influence = q * errors * (np.sqrt(small_sample(covariance, n, 1, clusters)) / size)
    return Slope(value, influence if copies is None else influence / copies)


def cross(influence: Floats, copies: Floats | None, cluster: NDArray[np.intp] | None) -> Floats:
    """Return the covariance (m, m) of estimates with influence (m, n) of one case of each row."""
    weighted = influence if copies is None else influence * copies
    if cluster is None:
        plain: Floats = weighted @ influence.T
        return plain
    sums = np.stack([np.bincount(cluster, row).astype(np.float64) for row in weighted])
    product: Floats = sums @ sums.T
    return product
