r"""Reliability: how often the group is what the score says, bin by bin, on the audit rows.

.. math:: \mathrm{ECE} = \sum_b \frac{W_b}{W} \left| \bar g_b - \bar p_b \right|

is too large for a calibrated score, for the absolute value of noise is not zero. What chance adds is estimated by
drawing each bin's distance anew with its own error (a parametric bootstrap), and taken off, in part: near a distance
of zero the draws have more of it than was found.

So the interval is not the bootstrap's. With errors ε_b of the bins, the sum E found and the true one differ by

.. math::
    E - \mathrm{ECE} \le \sum_b \frac{W_b}{W} |\varepsilon_b|, \qquad
    \mathrm{ECE} - E \le \sum_b \pm \frac{W_b}{W} \varepsilon_b,

and quantiles of the right-hand sides cover the ECE at least as often as they say, whatever it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from softlabel.basis import Levels
from softlabel.diagnostics.evidence import Evidence
from softlabel.estimators.wald import line
from softlabel.results import Calibration, ControlReliability, ReliabilityBin, Table
from softlabel.results.inference import quantile
from softlabel.running import Run

__all__ = ["calibration_of", "reliability_by_control"]

Floats = NDArray[np.float64]

_MOST_BINS, _ROWS_PER_BIN = 10, 20
_DRAWS = 1_000
# Of the parts of a control: fewer and wider bins, and so many levels before the rest are one part.
_BINS_OF_PART, _LEVELS = 5, 4


def calibration_of(evidence: Evidence | str, level: float, seed: int) -> Calibration:
    """Return the calibration of the audit rows; ``seed`` is that of the bootstrap."""
    if isinstance(evidence, str):
        return _missing(evidence)
    rows, weight = evidence.rows, evidence.weight
    p, group = rows.score[0], rows.group
    fitted = line(group, p, rows, evidence.covariance)
    if fitted is None:
        return _missing("the score is the same on every audit row, or a single one decides its slope")
    (intercept, slope), covariance = fitted
    errors_of_line = np.sqrt(np.diagonal(covariance))
    share = weight / weight.sum()
    which = _bins(p, weight, evidence.n, _MOST_BINS)
    counted, cluster = evidence.copies is not None, rows.cluster
    bins = tuple(
        _bin(p[one], group[one], weight[one], counted=counted, cluster=None if cluster is None else cluster[one])
        for one in which
    )
    sizes = np.array([weight[one].sum() for one in which]) / weight.sum()
    gaps = np.array([one.share - one.mean_score for one in bins])
    errors = np.array([one.std_error for one in bins])
    plain = float(sizes @ np.abs(gaps))
    noise = np.random.default_rng(seed).normal(size=(_DRAWS, len(gaps))) * errors
    draws = np.abs(gaps + noise) @ sizes
    low = plain - float(np.quantile(np.abs(noise) @ sizes, (1 + level) / 2))
    high = plain + quantile(level, None) * float(np.linalg.norm(sizes * errors))
    return Calibration(
        intercept=float(intercept),
        intercept_error=float(errors_of_line[0]),
        slope=float(slope),
        slope_error=float(errors_of_line[1]),
        brier=float(share @ np.square(group - p)),
        brier_expected=float(share @ (p * (1 - p))),
        ece=max(2 * plain - float(draws.mean()), 0.0),
        ece_low=max(low, 0.0),
        ece_high=high,
        bins=Table(bins),
    )


def _bins(p: Floats, weight: Floats, cases: int, most: int) -> list[NDArray[np.intp]]:
    """Return the rows of each bin: of about equal weight, and equal scores in one bin."""
    count = int(np.clip(cases // _ROWS_PER_BIN, 1, most))
    which = np.unique(p, return_inverse=True)[1]
    heavy = np.cumsum(np.bincount(which, weight))
    of_value = np.minimum((heavy - 0.5 * np.bincount(which, weight)) / heavy[-1] * count, count - 1).astype(int)
    of_row = of_value[which]
    return [np.flatnonzero(of_row == b) for b in np.unique(of_value)]


def _bin(
    p: Floats, group: Floats, weight: Floats, *, counted: bool, cluster: NDArray[np.uint64] | None
) -> ReliabilityBin:
    share = weight / weight.sum()
    mean = float(share @ p)
    # The scores' own variance, so that a bin all of one class is not taken for certain.
    worth = float(weight.sum()) if counted else 1 / float(share @ share)
    spread = max(float(share @ (p * (1 - p))), float(share @ group) * (1 - float(share @ group)))
    square = spread / worth
    if cluster is not None:
        left = share * (group - p - float(share @ (group - p)))
        sums = np.bincount(np.unique(cluster, return_inverse=True)[1], left)
        square = max(square, float(sums @ sums))
    return ReliabilityBin(
        low=float(p.min()),
        high=float(p.max()),
        n=int(weight.sum()) if counted else len(p),
        mean_score=mean,
        share=float(share @ group),
        std_error=math.sqrt(square),
    )


def reliability_by_control(evidence: Evidence | str, run: Run) -> Table[ControlReliability]:
    """Return the bins of the audit rows in parts of each control; a part of too few rows for one bin has none."""
    if isinstance(evidence, str):
        return Table(())
    rows, weight = evidence.rows, evidence.weight
    counted = evidence.copies is not None
    found = []
    for control, values in zip(run.basis.controls, run.controls[:, evidence.clean], strict=True):
        for part, inside in _parts(values, weight, run.levels.get(control)):
            p, group, each = rows.score[0, inside], rows.group[inside], weight[inside]
            cases = int(each.sum()) if counted else len(p)
            if cases < _ROWS_PER_BIN:
                continue
            cluster = None if rows.cluster is None else rows.cluster[inside]
            for one in _bins(p, each, cases, _BINS_OF_PART):
                these = None if cluster is None else cluster[one]
                row = _bin(p[one], group[one], each[one], counted=counted, cluster=these)
                found.append(
                    ControlReliability(
                        control, part, row.low, row.high, row.n, row.mean_score, row.share, row.std_error
                    )
                )
    return Table(tuple(found))


def _parts(values: Floats, weight: Floats, levels: Levels | None) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the parts of a control, named, and which rows they hold."""
    if levels is None:
        few = np.unique(values)
        if len(few) <= 2:
            yield from ((f"= {value + 0.0:g}", values == value) for value in few)
            return
        heavy = np.sort(values)[np.searchsorted(np.cumsum(weight[np.argsort(values)]), weight.sum() / 2)]
        # The largest value would leave nothing above it.
        middle = float(heavy if heavy < few[-1] else few[-2])
        yield f"up to {middle:.4g}", values <= middle
        yield f"above {middle:.4g}", values > middle
        return
    sizes = {name: float(weight @ (values == key)) for key, name in zip(levels.keys, levels.names, strict=True)}
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[: _LEVELS if len(sizes) > _LEVELS + 1 else None]
    known = np.zeros(len(values), dtype=bool)
    for key, name in zip(levels.keys, levels.names, strict=True):
        if name in largest:
            known |= values == key
            yield f"= {name}", values == key
    if not known.all():
        yield "other", ~known


def _missing(reason: str) -> Calibration:
    return Calibration(None, None, None, None, None, None, None, None, None, Table(()), reason)
