"""κ cell by cell, of labels whose threshold differs between cells, and κ of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.estimators.by_row import Counting, Ratio, label_counts, ratio
from softlabel.estimators.columns import orthonormal, relative
from softlabel.estimators.labels import LabelCounts, why_not
from softlabel.influence import InfluenceSums
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.nuisances.rows import row_residuals
from softlabel.results import Estimate, Table
from softlabel.results.adaptive import CellAttenuation
from softlabel.results.records import estimated, not_estimated

__all__ = ["Asked", "Found", "LabelledCells", "cell_attenuation"]

Floats = NDArray[np.float64]

# What rounding leaves of a label that the controls explain is 1e-12 of its size or less: 1e-24 of its square.
_NOTHING = 1e-20


class LabelledCells(NamedTuple):
    """Rows with a label: score p, label h and cell (n,), controls (k, n), and how they count."""

    p: Floats
    h: NDArray[np.bool_]
    cell: NDArray[np.intp]
    controls: Floats
    counting: Counting


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of any rows: cells by name, their thresholds (C,), one regression or one by cell, the level.

    ``within`` and ``among`` name the rows of a cell, and all rows, in a sentence. ``no_score`` says why the score can
    tell nothing, if so.
    """

    name: str
    cells: tuple[str, ...]
    thresholds: Floats
    by_cell: bool
    within: str
    among: str
    level: float
    no_score: str | None


class Found(NamedTuple):
    """κ, its cells, and the names of cells too small for a regression of their own, which were left out."""

    kappa: Estimate
    cells: Table[CellAttenuation]
    left_out: tuple[str, ...]


class _Residuals(NamedTuple):
    """a = p − r̂ and b = h − ê (n,), and the rows of each cell."""

    a: Floats
    b: Floats
    members: list[NDArray[np.intp]]


class _Shared(NamedTuple):
    """An orthonormal basis B of the regressors, times the weight (n, r), B·a and B·b (2r, n), and their sums."""

    weighted: Floats
    terms: Floats
    sums: InfluenceSums


class _Cell(NamedTuple):
    """One cell: κ and its error, Σ w b², and why there is no number (``out``) or no error (``why``)."""

    counts: LabelCounts
    found: Ratio
    bread: float
    out: str | None
    why: str | None
    small: bool = False


def cell_attenuation(rows: LabelledCells, asked: Asked) -> Found:
    r"""Return κ of the labels, κ of each cell c, and the weights by which they are its average.

    .. math::
        \kappa = \frac{\mathrm E[ba]}{\mathrm E[b^2]} = \sum_c w_c \kappa_c, \qquad
        \kappa_c = \frac{\mathrm E[ba \mid c]}{\mathrm E[b^2 \mid c]}, \qquad
        w_c = \frac{\mathrm P(c)\, \mathrm E[b^2 \mid c]}{\mathrm E[b^2]}
    """
    res = _residuals(rows, asked)
    several = len(asked.cells) > 1 and len(rows.p) > 0
    shared = _shared(rows, res) if several and not asked.by_cell else None
    total = rows.counting.total(np.square(res.b))
    cells = [_cell(rows, res, asked, c, total, shared) for c in range(len(asked.cells))]
    used = np.array([not cell.small for cell in cells])[rows.cell]
    kappa = _overall(rows, res, asked, used, len([cell for cell in cells if cell.out is None]))
    bread = sum(cell.bread for cell in cells if cell.out is None)
    table = Table(tuple(_row(cell, asked, c, bread) for c, cell in enumerate(cells)))
    return Found(kappa, table, tuple(compress(asked.cells, (cell.small for cell in cells))))


def _residuals(rows: LabelledCells, asked: Asked) -> _Residuals:
    both = np.stack([rows.p, rows.h.astype(np.float64)])
    counts = np.bincount(rows.cell, minlength=len(asked.cells))
    members = np.split(np.argsort(rows.cell, kind="stable"), np.cumsum(counts)[:-1])
    for part in members if asked.by_cell else [np.arange(len(rows.p))]:
        if len(part):
            counting = rows.counting.take(part)
            both[:, part] = row_residuals(both[:, part], rows.controls[:, part], counting.fold, counting.weight)
    return _Residuals(both[0], both[1], members)


def _cell(rows: LabelledCells, res: _Residuals, asked: Asked, c: int, total: float, shared: _Shared | None) -> _Cell:
    part = res.members[c]
    a, b, counting = res.a[part], res.b[part], rows.counting.take(part)
    counts, bread = label_counts(rows.h[part], b, counting), counting.total(b * b)
    if not counts.n or asked.no_score:
        return _Cell(counts, Ratio(0.0, 0.0, None), 0.0, asked.no_score or f"no row{asked.within}", None)
    found = ratio(b * a, b * b, counting)
    if shared is not None and bread > 0:
        found = found._replace(variance=_variance(res, counting, part, found.point, shared) / bread**2)
    columns = 1 + len(rows.controls)
    mean = bread / counting.total(np.ones(len(b)))
    # One regression for all rows is fitted on all: a cell needs rows enough for its own error only.
    why = why_not(
        counts,
        mean,
        columns if asked.by_cell else 0,
        threshold=float(asked.thresholds[c]),
        where=asked.within,
        df=found.df,
    )
    small = asked.by_cell and min(counts.n - 1, counts.train) <= columns
    if small:
        out = f"{counts.n} rows{asked.within} are too few for {columns} coefficients"
        return _Cell(counts, found, 0.0, out, None, small=True)
    if (asked.by_cell and counts.above in (0, counts.n)) or bread <= _NOTHING * total:
        return _Cell(counts, found, 0.0, why, None)
    return _Cell(counts, found, bread, None, why or _explained(rows.p[part], a, counting, asked))


def _explained(p: Floats, a: Floats, counting: Counting, asked: Asked) -> str | None:
    """Return that the controls leave nothing of the score of a cell, or ``None`` if they do."""
    spread = counting.total(np.square(p - np.average(p, weights=counting.weight)))
    if asked.by_cell and counting.total(a * a) <= RANK_TOLERANCE * spread:
        return f"the controls explain every score{asked.within} completely (V* = 0)"
    return None


def _shared(rows: LabelledCells, res: _Residuals) -> _Shared:
    """Return what the errors of all cells share where one regression serves them."""
    weight = relative(rows.counting.weight)
    root = np.ones(len(res.a)) if weight is None else np.sqrt(weight)
    basis = orthonormal(rows.controls, weight)
    regressors = basis.T / root
    terms = np.concatenate([regressors * res.a, regressors * res.b])
    return _Shared(basis * root[:, None], terms, rows.counting.sums(terms))


def _variance(res: _Residuals, counting: Counting, part: NDArray[np.intp], kappa: float, shared: _Shared) -> float:
    r"""Return the variance of Σ w b(a − κb) over a cell where one regression serves all cells.

    Over all rows b is orthogonal to the regressors B, over a cell it is not, so that errors of r̂ and ê count. With B
    orthonormal, M = Σ_c w b B and N = Σ_c w a B, a row adds

    .. math:: 1_c\, b(a - \kappa_c b) - M^\top B\, a - (N - 2 \kappa_c M)^\top B\, b .
    """
    a, b = res.a[part], res.b[part]
    m, k = b @ shared.weighted[part], a @ shared.weighted[part]
    slope = np.concatenate([m, k - 2 * kappa * m])
    own = counting.sums(np.vstack([b * (a - kappa * b), shared.terms[:, part]]))
    if own.clusters is None or shared.sums.clusters is None:
        meat = own.meat[0]
        return float(max(meat[0, 0] - 2 * meat[0, 1:] @ slope + slope @ shared.sums.meat[0] @ slope, 0.0))
    (ids, sums), (every, total) = own.clusters.joined, shared.sums.clusters.joined
    by_cluster = -total @ slope
    by_cluster[np.searchsorted(every, ids)] += sums[:, 0]
    return float(by_cluster @ by_cluster) * len(every) / max(len(every) - 1, 1)


def _overall(rows: LabelledCells, res: _Residuals, asked: Asked, used: NDArray[np.bool_], cells: int) -> Estimate:
    """Return κ as the ratio of two sums over rows: no cell is looked at."""
    a, b, counting = res.a[used], res.b[used], rows.counting.take(used)
    counts = label_counts(rows.h[used], b, counting)
    if not counts.n:
        none = "no row has a score that is confident at its threshold" if asked.among else "no cell has rows enough"
        return not_estimated(asked.name, none, 0, level=asked.level)
    found = ratio(b * a, b * b, counting)
    columns = (1 + len(rows.controls)) * (cells if asked.by_cell else 1)
    threshold = float(asked.thresholds[0]) if len(asked.cells) == 1 else None
    mean = counting.total(b * b) / counting.total(np.ones(len(b)))
    why = why_not(counts, mean, columns, threshold=threshold, where=asked.among, df=found.df) or asked.no_score
    if why is not None:
        return not_estimated(asked.name, why, counts.n, level=asked.level)
    return estimated(asked.name, found.point, found.variance, counts.n, level=asked.level, df=found.df)


def _row(cell: _Cell, asked: Asked, c: int, bread: float) -> CellAttenuation:
    found = estimated(
        "kappa", cell.found.point, cell.found.variance, cell.counts.n, level=asked.level, df=cell.found.df
    )
    error = cell.out is None and cell.why is None
    threshold = float(asked.thresholds[c])
    return CellAttenuation(
        cell=asked.cells[c],
        threshold=None if np.isnan(threshold) else threshold,
        weight=cell.bread / bread if bread > 0 and cell.out is None else 0.0,
        kappa=found.estimate if cell.out is None else None,
        std_error=found.std_error if error else None,
        ci_low=found.ci_low if error else None,
        ci_high=found.ci_high if error else None,
        n=cell.counts.n,
        n_above=cell.counts.above,
        reason=cell.out or cell.why or found.reason,
    )
