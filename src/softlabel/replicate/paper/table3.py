"""Table 3: the hard label inside a confident set.

Generates it: score noise 0.3, 3,000 rows, 400 replications. The estimator is ``E_C[(2h-1)(Y-m)] / (2 E_C[b²])`` with
the *whole population's* true m, and b what least squares within ``C = {max(p, 1-p) > t}`` leaves of h.

Shows: what the bias follows is that estimator's own limit, ``E_C[(2h-1)(p-r)] / (2 E_C[b²])``, which passes one near
0.75 and is 3.5 at 0.95, and not the printed κ_FM (``E_C[b(p-r)]/E_C[b²]``): inside C the residual p - r has no mean
zero given X, so the step from 2h - 1 to b is not allowed. With every residual taken within C, as least squares of Y on
h and X there does, κ_FM predicts the bias at each threshold, and the mean squared error at 0.95 falls from about 20 to
about 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from softlabel.replicate.paper.cells import Cell, Printed, cell
from softlabel.replicate.paper.draws import DESIGN, Draw, draw, residuals
from softlabel.replicate.paper.groups import Group, PaperTable
from softlabel.replicate.paper.measures import bias, mean, mse, mse_ratio, squared_bias, variance
from softlabel.simulate import ConfidentTruth, MonteCarlo, PaperDesign, Truth

__all__ = ["TABLE", "ConfidentSets"]

REPLICATIONS, ROWS = 400, 3000

# Threshold: kappa_FM, rows in C, squared bias, variance, MSE, MSE over that of soft.
PRINTED = {
    0.55: ("0.298", "2538", "0.447", "0.008", "0.454", "9.4"),
    0.65: ("0.409", "1662", "0.164", "0.019", "0.183", "3.8"),
    0.75: ("0.525", "913", "0.001", "0.075", "0.076", "1.6"),
    0.85: ("0.634", "364", "0.778", "0.525", "1.303", "27.1"),
    0.90: ("0.677", "180", "2.970", "1.752", "4.722", "98.2"),
    0.95: ("0.700", "57", "6.984", "14.963", "21.948", "456"),
}
PRINTED_SOFT = "0.048"

_SMALL = "the limit is of many confident rows; regressions within C have few of them here, and E[b2] comes out small"


@dataclass(frozen=True, slots=True)
class ConfidentSets:
    """One replication: soft, and for every threshold the paper's estimate inside C and ours."""

    design: PaperDesign = DESIGN
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        """Return the numbers by threshold and name; None where C holds too few rows of either label."""
        rows = draw(self.design, self.rows, rng)
        a = rows.p - rows.r
        values: dict[str, float | None] = {"soft": float((2 * rows.p - 1) @ (rows.y - rows.m) / (2 * (a @ a)))}
        for t in PRINTED:
            values |= {f"{t} {name}": value for name, value in _within(rows, t).items()}
        return values


def _within(rows: Draw, t: float) -> dict[str, float | None]:
    c = np.maximum(rows.p, 1 - rows.p) > t
    n = int(np.count_nonzero(c))
    p, outcome = rows.p[c], (rows.y - rows.m)[c]
    h = (p > 0.5).astype(np.float64)
    # Fewer of a label than there are coefficients, and b may be zero.
    if min(h.sum(), n - h.sum()) <= len(rows.x) + 1:
        return {"rows": float(n), "kappa": None, "paper": None, "kappa within": None, "within": None}
    b, within_p, within_y = residuals(rows.x[:, c], np.stack([h, p, rows.y[c]]))
    size = float(b @ b)
    return {
        "rows": float(n),
        "kappa": float(b @ (p - rows.r[c])) / size,
        "paper": float((2 * h - 1) @ outcome) / (2 * size),
        "kappa within": float(b @ within_p) / size,
        "within": float(b @ within_y) / size,
    }


def _groups(replications: int) -> tuple[Group, ...]:
    return (Group("confident-sets", ConfidentSets(), replications, seconds=0.001),)


def _cells(found: Mapping[str, MonteCarlo]) -> Iterator[Cell]:
    run = found["confident-sets"]
    truth = DESIGN.truth(thresholds=(), confident=tuple(PRINTED))
    for t in PRINTED:
        yield from _paper(run, t, truth.confident_at(t))
        yield from _ours(run, t, truth)
    soft = mse(run, "soft", 1.0)
    printed = Printed.of(PRINTED_SOFT)
    yield cell("soft", "MSE", soft, printed=printed, exact=truth.avar_moment / ROWS, replications=REPLICATIONS)


def _paper(run: MonteCarlo, t: float, at: ConfidentTruth) -> Iterator[Cell]:
    put = partial(cell, f"t = {t:.2f}", replications=REPLICATIONS, why=_SMALL)
    kappa, rows, squared, spread, error, worth = map(Printed.of, PRINTED[t])
    exact = None if at.paper_factor is None else (at.paper_factor - 1) ** 2
    name = f"{t} paper"
    yield put("kappa_FM", mean(run, f"{t} kappa"), printed=kappa, exact=at.paper_kappa)
    yield put("rows in C", mean(run, f"{t} rows"), printed=rows, exact=ROWS * at.share)
    yield put("bias2", squared_bias(run, name, 1.0), printed=squared, exact=exact)
    yield put("variance", variance(run, name), printed=spread)
    yield put("MSE", mse(run, name, 1.0), printed=error)
    yield put("MSE / MSE soft", mse_ratio(run, name, "soft", 1.0), printed=worth)


def _ours(run: MonteCarlo, t: float, truth: Truth) -> Iterator[Cell]:
    put, at = partial(cell, f"t = {t:.2f}", why=_SMALL), truth.confident_at(t)
    limit = None if at.paper_factor is None else at.paper_factor - 1
    kappa = away = spread = error = worth = None
    if at.linear is not None:
        kappa, away, spread = at.linear.kappa, at.linear.kappa - 1, at.linear.avar_hard / ROWS
        error = away**2 + spread
        worth = error / (truth.avar_moment / ROWS)
    name = f"{t} within"
    # The paper's own estimator once more, so that its bias stands beside the two predictions of it.
    yield put("bias of the paper's estimator", bias(run, f"{t} paper", 1.0), exact=limit)
    yield put("within C: kappa_FM", mean(run, f"{t} kappa within"), exact=kappa)
    yield put("within C: bias", bias(run, name, 1.0), exact=away)
    yield put("within C: variance", variance(run, name), exact=spread)
    yield put("within C: MSE", mse(run, name, 1.0), exact=error)
    yield put("within C: MSE / MSE soft", mse_ratio(run, name, "soft", 1.0), exact=worth)


TABLE = PaperTable(
    name="table3",
    title="Table 3: the hard label inside a confident set",
    replications=REPLICATIONS,
    groups=_groups,
    cells=_cells,
    about=(
        f"Score noise 0.3, {ROWS} rows, tau 1. The paper's estimator takes the outcome's residual over all rows and "
        "the label's within C; the exact squared bias is that of its limit. Ours is least squares of Y on h and X "
        "within C, whose bias the linear kappa_FM, with every residual within C, predicts."
    ),
)
