"""Table 1: what a threshold leaves of the effect.

Generates it: score noise 0.3, 3,000 rows and 400 replications per threshold, drawn anew for each. m and r are the true
ones. The residual label b is what least squares on (1, X) leaves of ``1{p > t}``, in the sample; κ is
``E[b a]/E[b²]`` with that b and the true a.

Shows: hard is attenuated by κ, and by more the higher the threshold. The κ that the paper's theorem defines, with the
true conditional mean of the label, is larger: 0.262 against 0.249 at 0.5, 0.177 against 0.154 at 0.95. Ours come to
either, and at 0.95 with a fifth of the error: the orthogonal form has b where the paper has 2h - 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincc, expit, ndtr

from softlabel.replicate.paper.cells import Cell, Printed, cell
from softlabel.replicate.paper.draws import DESIGN, Draw, draw, residuals
from softlabel.replicate.paper.groups import Group, PaperTable
from softlabel.replicate.paper.measures import mean, spread_of_mean
from softlabel.simulate import Attenuation, HardTruth, Measured, MonteCarlo, PaperDesign

__all__ = ["TABLE", "Thresholds"]

REPLICATIONS, ROWS = 400, 3000

# Threshold: kappa, mean of soft, mean of hard, Monte Carlo error of that mean, z, p-value.
PRINTED = {
    0.50: ("0.248", "1.001", "0.251", "0.0032", "0.87", "0.385"),
    0.60: ("0.241", "0.981", "0.235", "0.0037", "-1.73", "0.084"),
    0.70: ("0.223", "0.999", "0.226", "0.0042", "0.53", "0.595"),
    0.80: ("0.200", "1.013", "0.211", "0.0073", "1.54", "0.123"),
    0.90: ("0.172", "1.014", "0.148", "0.0195", "-1.24", "0.217"),
    0.95: ("0.153", "0.995", "0.188", "0.0570", "0.61", "0.539"),
}

Floats = NDArray[np.float64]
# Steps of E[h|X], tabulated over s: linear interpolation between them is good to 1e-6.
_NODES = np.linspace(-8.0, 8.0, 3201)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """One replication: for every threshold rows of its own, the paper's estimates and ours."""

    design: PaperDesign = DESIGN
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the estimates by threshold and name."""
        values: dict[str, float] = {}
        for t in PRINTED:
            one = _estimates(draw(self.design, self.rows, rng), t, self.design.concentration)
            values |= {f"{t} {name}": value for name, value in one.items()}
        return values


def _estimates(rows: Draw, t: float, k0: float) -> dict[str, float]:
    h = (rows.p > t).astype(np.float64)
    a, outcome = rows.p - rows.r, rows.y - rows.m
    b, linear_a, linear_outcome = residuals(rows.x, np.stack([h, rows.p, rows.y]))
    true_b = h - np.interp(rows.s, _NODES, _tabulated(t, k0))
    return {
        "kappa": float(b @ a / (b @ b)),
        "soft": float((2 * rows.p - 1) @ outcome / (2 * (a @ a))),
        "hard": float((2 * h - 1) @ outcome / (2 * (b @ b))),
        "soft orthogonal": float(linear_a @ linear_outcome / (linear_a @ linear_a)),
        "hard linear": float(b @ linear_outcome / (b @ b)),
        "hard exact": float(true_b @ outcome / (true_b @ true_b)),
    }


@cache
def _tabulated(t: float, k0: float) -> Floats:
    """Return ``P(p > t | s)`` at the nodes."""
    return np.asarray(betaincc(expit(_NODES) * k0, expit(-_NODES) * k0, t))


def _groups(replications: int) -> tuple[Group, ...]:
    return (Group("thresholds", Thresholds(), replications, seconds=0.005),)


def _cells(found: Mapping[str, MonteCarlo]) -> Iterator[Cell]:
    truth = DESIGN.truth(thresholds=tuple(PRINTED), confident=())
    for t in PRINTED:
        yield from _row(found["thresholds"], t, truth.hard_at(t))


def _row(run: MonteCarlo, t: float, at: HardTruth) -> Iterator[Cell]:
    put = partial(cell, f"t = {t:.2f}", replications=REPLICATIONS)
    kappa, soft, hard, error, z, p_value = map(Printed.of, PRINTED[t])
    measured = mean(run, f"{t} hard")
    own_z = _z_of(measured, at.paper_kappa)
    # Uniform on (0, 1) where hard comes to kappa, which has the standard deviation 1/sqrt(12).
    uniform = Measured(float(2 * ndtr(-abs(own_z.estimate))), 1 / sqrt(12), own_z.n, own_z.missing)
    yield put("kappa", mean(run, f"{t} kappa"), printed=kappa, exact=at.paper_kappa)
    yield put("mean soft", mean(run, f"{t} soft"), printed=soft, exact=1.0)
    yield put("mean hard", measured, printed=replace(hard, std_error=error.value), exact=at.paper_kappa)
    yield put("MC SE of hard", spread_of_mean(run, f"{t} hard", REPLICATIONS), printed=error)
    yield put("z", own_z, printed=replace(z, std_error=1.0), exact=0.0)
    yield put("p-value", uniform, printed=replace(p_value, std_error=1 / sqrt(12)))
    yield put("soft, orthogonal", mean(run, f"{t} soft orthogonal"), exact=1.0)
    yield put("hard, orthogonal, linear", mean(run, f"{t} hard linear"), exact=_kappa(at.linear))
    yield put("hard, orthogonal, true", mean(run, f"{t} hard exact"), exact=_kappa(at.exact))


def _kappa(one: Attenuation | None) -> float | None:
    return None if one is None else one.kappa


def _z_of(measured: Measured, kappa: float | None) -> Measured:
    away = 0.0 if kappa is None or measured.std_error == 0 else (measured.estimate - kappa) / measured.std_error
    return Measured(away, 1.0, measured.n, measured.missing)


TABLE = PaperTable(
    name="table1",
    title="Table 1: what a threshold leaves of the effect",
    replications=REPLICATIONS,
    groups=_groups,
    cells=_cells,
    about=(
        f"Score noise 0.3, {ROWS} rows, tau 1; m and r are the true ones. kappa is E[ba]/E[b2] with b the residual of "
        "the label from least squares on (1, X), and the true a: what the paper prints. Ours are orthogonal: soft and "
        "the first hard with every residual linear, the second hard with the true E[h|X], to which the paper's "
        "Theorem 1 applies as written."
    ),
)
