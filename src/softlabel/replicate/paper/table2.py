"""Table 2: the sandwich variance of soft, and what soft is worth beside the labels alone.

Generates it: 2,000 rows and 1,000 replications per score noise, the moment form with the true m and r. Supervised is
least squares of Y on (1, X, G) on 500 labelled rows.

Shows: the sandwich is right for the moment form with *true* nuisances, and soft loses to supervised at every score
noise of the table, 0.5 included (an MSE ratio of 1.71 is a loss). With nuisances that are fitted, cross-fitted least
squares here, the moment form's standard error stays where it was while its spread falls to that of the orthogonal
form: mean SE over sd is 2.1, 1.5, 1.2 at score noise 0.2, 0.3, 0.5, and intervals cover nearly always. The orthogonal
form's is 1. With the true nuisances the orthogonal form needs 1.5 to 14 times fewer rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from softlabel.replicate.paper.cells import Cell, Printed, cell
from softlabel.replicate.paper.draws import Draw, draw, out_of_fold, slope_on_group
from softlabel.replicate.paper.grid import grid_of
from softlabel.replicate.paper.groups import Group, PaperTable
from softlabel.replicate.paper.measures import coverage, mean, mse_ratio, variance
from softlabel.results.inference import quantile
from softlabel.simulate import MonteCarlo, PaperDesign, Truth

__all__ = ["TABLE", "ScoreNoise"]

REPLICATIONS, ROWS, LABELLED = 1000, 2000, 500

# Score noise: V*, mean sandwich variance, Monte Carlo variance, coverage, MSE over that of supervised.
PRINTED = {
    0.10: ("0.0022", "3.888", "3.991", "0.948", "394"),
    0.20: ("0.0088", "0.291", "0.313", "0.941", "33.4"),
    0.30: ("0.0198", "0.073", "0.073", "0.948", "7.6"),
    0.40: ("0.0352", "0.030", "0.031", "0.950", "3.4"),
    0.50: ("0.0550", "0.016", "0.016", "0.944", "1.71"),
}
# Estimators by what they are called in a run.
_ORACLE, _ORTHOGONAL, _FITTED, _FITTED_ORTHOGONAL = "moment", "orthogonal", "fitted moment", "fitted orthogonal"

_LIMIT = "the exact value is a limit: at 2,000 rows the mean of 1/V*^2, of an estimated V*, is larger by half a percent"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScoreNoise:
    """One replication: for every score noise the moment and the orthogonal form, with true and with fitted nuisances.

    Each comes as an estimate, its sandwich variance and its 95% interval.
    """

    rows: int = ROWS
    labelled: int = LABELLED

    def __call__(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the numbers by score noise, estimator and name."""
        values: dict[str, float] = {}
        for sigma_u in PRINTED:
            design = PaperDesign(sigma_u=sigma_u)
            rows, shown = draw(design, self.rows, rng), draw(design, self.labelled, rng)
            values[f"{sigma_u} V*"] = float(np.square(rows.p - rows.r).mean())
            values[f"{sigma_u} supervised"] = slope_on_group(shown)
            for name, (estimate, sandwich) in _estimates(rows).items():
                reach = quantile(0.95, None) * sqrt(sandwich)
                numbers = (estimate, sandwich, sqrt(sandwich), estimate - reach, estimate + reach)
                parts = ("", " sandwich", " se", " low", " high")
                values |= {f"{sigma_u} {name}{part}": each for part, each in zip(parts, numbers, strict=True)}
        return values


def _estimates(rows: Draw) -> dict[str, tuple[float, float]]:
    a, outcome = rows.p - rows.r, rows.y - rows.m
    fitted_a, fitted_outcome = out_of_fold(rows.x, np.stack([rows.p, rows.y]))
    return {
        _ORACLE: _moment(rows.p, a, outcome),
        _ORTHOGONAL: _orthogonal(a, outcome),
        _FITTED: _moment(rows.p, fitted_a, fitted_outcome),
        _FITTED_ORTHOGONAL: _orthogonal(fitted_a, fitted_outcome),
    }


def _moment(p: Floats, a: Floats, outcome: Floats) -> tuple[float, float]:
    """Return the moment form and its sandwich variance, from residuals (n,)."""
    signed, v_star = (2 * p - 1) * outcome, float(a @ a) / len(a)
    estimate = float(signed.mean()) / (2 * v_star)
    psi = signed - 2 * estimate * a**2
    return estimate, float(psi @ psi) / (2 * v_star * len(a)) ** 2


def _orthogonal(a: Floats, outcome: Floats) -> tuple[float, float]:
    """Return the orthogonal form and its sandwich variance, from residuals (n,)."""
    estimate = float(a @ outcome / (a @ a))
    psi = a * (outcome - estimate * a)
    return estimate, float(psi @ psi / (a @ a) ** 2)


def _groups(replications: int) -> tuple[Group, ...]:
    return (Group("score-noise", ScoreNoise(), replications, seconds=0.003),)


def _cells(found: Mapping[str, MonteCarlo]) -> Iterator[Cell]:
    for sigma_u in PRINTED:
        design = PaperDesign(sigma_u=sigma_u)
        truth = design.truth(thresholds=(), confident=())
        yield from _paper(found["score-noise"], sigma_u, truth)
        yield from _ours(found["score-noise"], sigma_u, design, truth)


def _paper(run: MonteCarlo, sigma_u: float, truth: Truth) -> Iterator[Cell]:
    put = partial(cell, _row(sigma_u), replications=REPLICATIONS, why=_LIMIT)
    v_star, sandwich, spread, share, worth = map(Printed.of, PRINTED[sigma_u])
    name, limit, supervised = f"{sigma_u} {_ORACLE}", truth.avar_moment / ROWS, f"{sigma_u} supervised"
    yield put("V*", mean(run, f"{sigma_u} V*"), printed=v_star, exact=truth.v_star)
    yield put("sandwich variance", mean(run, f"{name} sandwich"), printed=sandwich, exact=limit)
    yield put("MC variance", variance(run, name), printed=spread, exact=limit)
    yield put("coverage", coverage(run, f"{name} low", f"{name} high", 1.0), printed=share, exact=0.95)
    exact = limit / (truth.avar_supervised / LABELLED)
    yield put("MSE ratio", mse_ratio(run, name, supervised, 1.0), printed=worth, exact=exact)


def _ours(run: MonteCarlo, sigma_u: float, design: PaperDesign, truth: Truth) -> Iterator[Cell]:
    put = partial(cell, _row(sigma_u), why=_LIMIT)
    name, supervised = f"{sigma_u} {_ORTHOGONAL}", f"{sigma_u} supervised"
    limit = truth.avar_orthogonal / ROWS
    yield put("orthogonal: sandwich variance", mean(run, f"{name} sandwich"), exact=limit)
    yield put("orthogonal: MC variance", variance(run, name), exact=limit)
    yield put("orthogonal: coverage", coverage(run, f"{name} low", f"{name} high", 1.0), exact=0.95)
    exact = limit / (truth.avar_supervised / LABELLED)
    yield put("orthogonal: MSE ratio", mse_ratio(run, name, supervised, 1.0), exact=exact)
    for short, ratio in ((_FITTED, _claimed_over_true(design, truth)), (_FITTED_ORTHOGONAL, 1.0)):
        fitted = f"{sigma_u} {short}"
        yield put(f"{short}: mean SE / sd", run.se_ratio(f"{fitted} se", fitted), exact=ratio)
        covered = 2.0 * float(ndtr(quantile(0.95, None) * ratio)) - 1.0
        yield put(f"{short}: coverage", coverage(run, f"{fitted} low", f"{fitted} high", 1.0), exact=covered)


def _row(sigma_u: float) -> str:
    return f"sigma_u = {sigma_u:.2f}"


def _claimed_over_true(design: PaperDesign, truth: Truth) -> float:
    """Return what the moment form's standard error comes to over its spread, both with linear nuisances.

    With ``m`` and ``r`` linear ``(2p-1)R - 2a² = (2p-1)(G - p + e) + (2r-1)a``; the spread is the orthogonal form's.
    """
    grid = grid_of(design)
    r = grid.r_linear
    drawn = grid.mean((2 * grid.p - 1) ** 2 * (grid.p * (1 - grid.p) + design.noise**2))
    second = drawn + grid.mean((2 * r - 1) ** 2 * (grid.p - r) ** 2)
    return sqrt(second / (2 * truth.v_star_linear) ** 2 / truth.avar_orthogonal_linear)


TABLE = PaperTable(
    name="table2",
    title="Table 2: the sandwich variance of soft, and soft beside the labels alone",
    replications=REPLICATIONS,
    groups=_groups,
    cells=_cells,
    about=(
        f"{ROWS} rows, tau 1; the paper's columns are of the moment form with the true m and r, the last its MSE over "
        f"that of least squares on {LABELLED} labelled rows. Exact values are asymptotic. Ours: the orthogonal form; "
        "and both forms with cross-fitted linear nuisances."
    ),
)
