"""Table 4: calibration that drifts.

Generates it: score noise 0.3, 3,000 rows, 300 replications. The group is drawn with the chance p, and the *score*
drifts: the moment form is computed with ``q = clip(p + δ η)`` in place of p, with the true m and r of p.

Shows: that is not the drift of the paper's bound, under which the score stays and the group is drawn with the chance
``p + δ η``. A drifting score enters the denominator too, so the bias is negative, and the bound has nothing to say
about it. Under the bound's own drift, with m held where it was before, the worst case does reach the bound but for the
clip at one: 0.459 of 0.469 at δ = 0.05, in samples of 3,000 as well; and the symmetric shape does no harm at all, for
``E[(2p-1) sin(πp)]`` is zero in this design, which is its own mirror image. The orthogonal form, with m estimated anew,
is off by ``E[a η]/V*``, and by B₊ and B₋ at most: attained too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from softlabel.replicate.paper.cells import Cell, Printed, cell
from softlabel.replicate.paper.draws import DESIGN, Draw, draw, residuals
from softlabel.replicate.paper.grid import Grid, grid_of
from softlabel.replicate.paper.groups import Group, PaperTable
from softlabel.replicate.paper.measures import bias, mean, over
from softlabel.simulate import MonteCarlo, PaperDesign

__all__ = ["DELTAS", "SHAPES", "TABLE", "Drift"]

REPLICATIONS, ROWS = 300, 3000

# Shape, delta: bias of soft, bound, |bias| over bound.
PRINTED = {
    ("worst-case", 0.05): ("-0.199", "0.470", "0.42"),
    ("worst-case", 0.10): ("-0.378", "0.939", "0.40"),
    ("worst-case", 0.15): ("-0.504", "1.409", "0.36"),
    ("worst-case", 0.20): ("-0.592", "1.879", "0.32"),
    ("linear", 0.05): ("-0.088", "0.470", "0.19"),
    ("linear", 0.20): ("-0.314", "1.879", "0.17"),
    ("symmetric", 0.05): ("-0.065", "0.470", "0.14"),
    ("symmetric", 0.20): ("-0.566", "1.879", "0.30"),
}
DELTAS = (0.05, 0.10, 0.15, 0.20)

Floats = NDArray[np.float64]

SHAPES: Mapping[str, Callable[[Floats], Floats]] = {
    "worst-case": lambda p: np.sign(2 * p - 1),
    "linear": lambda p: 2 * p - 1,
    "symmetric": lambda p: np.sin(np.pi * p),
}


@dataclass(frozen=True, slots=True)
class Drift:
    """One replication: soft under the paper's drift of the score and under the bound's drift of the group."""

    design: PaperDesign = DESIGN
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the estimates by shape, delta and name, and the bound of delta 1 with the sample's moments."""
        rows = draw(self.design, self.rows, rng)
        p, a = rows.p, rows.p - rows.r
        values = {"bound": float(np.abs(2 * p - 1).mean() / (2 * np.square(a).mean()))}
        for shape, delta in PRINTED:
            q = np.clip(p + delta * SHAPES[shape](p), 0.0, 1.0)
            values[f"{shape} {delta} score"] = _moment(q, q - rows.r, rows.y - rows.m)
            drifted = rows.outcome_given(q)
            values[f"{shape} {delta} frozen"] = _moment(p, a, drifted - rows.m)
            values[f"{shape} {delta} anew"] = _orthogonal(rows, a, drifted)
        for delta in DELTAS:
            values |= _extremes(rows, delta)
        return values


def _extremes(rows: Draw, delta: float) -> dict[str, float]:
    """Return the orthogonal form under the drifts that push it up and down most."""
    a = rows.p - rows.r
    values = {}
    for name, sign in (("up", 1.0), ("down", -1.0)):
        chance = np.clip(rows.p + sign * delta * np.sign(a), 0.0, 1.0)
        values[f"{name} {delta}"] = _orthogonal(rows, a, rows.outcome_given(chance))
    return values


def _moment(p: Floats, a: Floats, outcome: Floats) -> float:
    return float((2 * p - 1) @ outcome / (2 * (a @ a)))


def _orthogonal(rows: Draw, a: Floats, outcome: Floats) -> float:
    """Return the orthogonal form with m estimated anew: linearly, which a does not mind."""
    return float(a @ residuals(rows.x, outcome) / (a @ a))


def _groups(replications: int) -> tuple[Group, ...]:
    return (Group("drift", Drift(), replications, seconds=0.0015),)


def _cells(found: Mapping[str, MonteCarlo]) -> Iterator[Cell]:
    run = found["drift"]
    per_delta = DESIGN.truth(thresholds=(), confident=()).drift_paper
    for shape, delta in PRINTED:
        yield from _paper(run, shape, delta, per_delta)
    for shape, delta in PRINTED:
        yield from _theorem(run, shape, delta)
    for delta in DELTAS:
        yield from _attained(run, delta)


def _paper(run: MonteCarlo, shape: str, delta: float, per_delta: float) -> Iterator[Cell]:
    put = partial(cell, _row(shape, delta), replications=REPLICATIONS)
    away, bound, share = map(Printed.of, PRINTED[shape, delta])
    grid = grid_of(DESIGN)
    q = np.clip(grid.p + delta * SHAPES[shape](grid.p), 0.0, 1.0)
    limit = grid.mean((2 * q - 1) * (grid.p - grid.r)) / (2 * grid.mean((q - grid.r) ** 2)) - 1
    name = f"{shape} {delta} score"
    yield put("bias", bias(run, name, 1.0), printed=away, exact=limit)
    yield put("bound", over(mean(run, "bound"), 1 / delta), printed=bound, exact=delta * per_delta)
    # The bound's own error is a hundredth of the bias's: left out.
    ratio = over(bias(run, name, 1.0), -delta * per_delta)
    yield put("ratio", ratio, printed=share, exact=-limit / (delta * per_delta))


def _theorem(run: MonteCarlo, shape: str, delta: float) -> Iterator[Cell]:
    put = partial(cell, _row(shape, delta))
    grid = grid_of(DESIGN)
    eta = np.clip(grid.p + delta * SHAPES[shape](grid.p), 0.0, 1.0) - grid.p
    a = grid.p - grid.r
    v_star = grid.mean(a**2)
    frozen, anew = grid.mean((2 * grid.p - 1) * eta) / (2 * v_star), grid.mean(a * eta) / v_star
    yield put("group drifts: moment form, m frozen", bias(run, f"{shape} {delta} frozen", 1.0), exact=frozen)
    yield put("group drifts: orthogonal form, m anew", bias(run, f"{shape} {delta} anew", 1.0), exact=anew)


def _attained(run: MonteCarlo, delta: float) -> Iterator[Cell]:
    up, down = bounds(grid_of(DESIGN), delta)
    yield cell(_row("upward", delta), "group drifts: orthogonal form, B+", bias(run, f"up {delta}", 1.0), exact=up)
    yield cell(
        _row("downward", delta), "group drifts: orthogonal form, B-", bias(run, f"down {delta}", 1.0), exact=-down
    )


def bounds(grid: Grid, delta: float) -> tuple[float, float]:
    """Return B₊ and B₋: the most that a drift of at most delta moves the orthogonal form up and down, over tau.

    ``B₊ = E[|a| min(δ, 1-p if a > 0 else p)]/V*``, and B₋ with p and 1 - p swapped.
    """
    a = grid.p - grid.r
    room_up = np.where(a > 0, 1 - grid.p, grid.p)
    v_star = grid.mean(a**2)
    up, down = (grid.mean(np.abs(a) * np.minimum(delta, room)) / v_star for room in (room_up, 1 - room_up))
    return up, down


def _row(shape: str, delta: float) -> str:
    return f"{shape}, delta = {delta:.2f}"


TABLE = PaperTable(
    name="table4",
    title="Table 4: calibration that drifts",
    replications=REPLICATIONS,
    groups=_groups,
    cells=_cells,
    about=(
        f"Score noise 0.3, {ROWS} rows, tau 1. In the paper's columns the score drifts to clip(p + delta eta) and the "
        "group does not; the bound is delta E|2p-1| / (2V*). Ours have the drift of the bound's own theorem, where the "
        "group is drawn with the chance clip(p + delta eta): biases of the moment form with m as it was, and of the "
        "orthogonal form with m estimated anew, under the paper's shapes and under those that push it up and down most."
    ),
)
