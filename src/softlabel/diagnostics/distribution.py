"""Distribution: where the scores lie, and where what the controls leave of them does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.influence.spread_sums import SPREAD_KNOTS
from softlabel.moments import Partition
from softlabel.results import ScoreDistribution
from softlabel.running import Run

__all__ = ["distribution_of"]

Floats = NDArray[np.float64]

_BINS = 50


def distribution_of(run: Run) -> ScoreDistribution:
    """Return the distribution of the scores: a function of the sums of the fit pass and of one accumulator."""
    analysis, labelled = run.analysis, run.labelled
    partition = analysis.design.partition
    by_code = analysis.fit.moments.sums[:, :, 0].sum(axis=0)
    scored = ~np.isnan(labelled.score[0])
    seen = np.zeros(partition.n_codes)
    if scored.any():
        weight = np.ones(len(labelled)) if labelled.weight is None else labelled.weight
        codes = partition.codes(labelled.score[:, scored])
        seen += np.bincount(codes, weight[scored], partition.n_codes)
    d, moments = analysis.design.d, analysis.fit.moments
    total = moments.sums.sum(axis=(0, 1))
    return ScoreDistribution(
        edges=tuple(k / _BINS for k in range(_BINS + 1)),
        unlabelled=_shares(_binned(by_code, partition)),
        labelled=_shares(_binned(seen, partition)) if seen.any() else (),
        mean=float(moments.shift[d] + total[d] / total[0]),
        knots=SPREAD_KNOTS,
        left=_shares(analysis.spread.mass),
    )


def _binned(by_code: Floats, partition: Partition) -> Floats:
    """Return sums by bin: the bins' ends are edges of the partition, so each is a union of codes."""
    ends = np.searchsorted(partition.edges, [k / _BINS for k in range(1, _BINS)])
    first = np.concatenate([[0], ends + 1])
    return np.add.reduceat(by_code, first)


def _shares(mass: Floats) -> tuple[float, ...]:
    total = float(mass.sum())
    return tuple((mass / total).tolist()) if total > 0 else ()
