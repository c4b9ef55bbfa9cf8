"""Table 5: V* when the classifier sees nothing but the controls.

Generates it: a logistic regression on all squares and products of X, fitted on one half of the labelled rows; isotonic
regression on the other half, linear between its points; that score on 3,000 unlabelled rows; and for the
posterior-predictive column a Beta draw of mean p̂ and variance 0.3² p̂(1-p̂) in its place. r̂ is least squares on the same
squares and products. 250 replications.

Shows: the score is a function of X, so V* is zero, and what the deterministic column measures is how badly a quadratic
r̂ follows isotonic steps. A linear r̂ reads twice as much, boosted trees half to four fifths: the smaller the better.
What the posterior-predictive column adds is the variance of the injected noise, 0.3² E[p̂(1-p̂)], and no more; the factor
over the first column runs from 4 to 13. Soft on that score comes to nothing: the noise knows nothing of the group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from softlabel.basis.splines import evaluate, pieces
from softlabel.nuisances import make_learner, v_star_of
from softlabel.replicate.paper.cells import Cell, Printed, cell
from softlabel.replicate.paper.draws import DESIGN, FOLDS, Draw, draw, out_of_fold, residuals
from softlabel.replicate.paper.groups import Group, PaperTable
from softlabel.replicate.paper.measures import mean
from softlabel.replicate.scores import isotonic, logistic
from softlabel.simulate import MonteCarlo, PaperDesign

__all__ = ["LEARNERS", "SIZES", "TABLE", "Collapse", "Trees", "quadratic"]

REPLICATIONS, ROWS = 250, 3000
SIGMA_PP = 0.30

# Labelled rows: V* of the deterministic score, and of the posterior-predictive one.
PRINTED = {
    200: ("0.00654", "0.0252"),
    500: ("0.00381", "0.0229"),
    1000: ("0.00261", "0.0218"),
    2000: ("0.00164", "0.0211"),
}
SIZES = tuple(PRINTED)
LEARNERS = ("linear", "quadratic", "spline", "forest", "boosting")
# Trees take a thousand times what least squares takes, and their V* varies less than it differs from the others'.
_TREES = {"forest": (200, 2000), "boosting": SIZES}
_FEWER = 60
_KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Collapse:
    """One replication: for every number of labels the score, V* with the paper's r̂, and with least squares of ours."""

    design: PaperDesign = DESIGN
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the numbers by labelled rows and name."""
        values: dict[str, float] = {}
        for n in SIZES:
            rows, p = _scored(self.design, n, self.rows, rng)
            drawn = _posterior_predictive(p, rng)
            squares = quadratic(rows.x)
            left, left_drawn, outcome = residuals(squares, np.stack([p, drawn, rows.y]))
            values |= {
                f"{n} deterministic": float(np.square(left).mean()),
                f"{n} posterior": float(np.square(left_drawn).mean()),
                f"{n} injected": SIGMA_PP**2 * float((p * (1 - p)).mean()),
                f"{n} soft": float(left_drawn @ outcome / (left_drawn @ left_drawn)),
            }
            bases = {"linear": rows.x, "quadratic": squares, "spline": _splines(rows.x)}
            for name, basis in bases.items():
                values[f"{n} {name}"] = float(np.square(out_of_fold(basis, p[None])).mean())
        return values


@dataclass(frozen=True, slots=True)
class Trees:
    """One replication: V* of the same score by learners of trees, out of fold."""

    design: PaperDesign = DESIGN
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> dict[str, float]:
        """Return V* by labelled rows and learner."""
        values: dict[str, float] = {}
        for n in SIZES:
            rows, p = _scored(self.design, n, self.rows, rng)
            fold = np.arange(self.rows) % FOLDS
            for name in [name for name, sizes in _TREES.items() if n in sizes]:
                values[f"{n} {name}"] = v_star_of(make_learner(name, seed=0), rows.x, p[None], fold, FOLDS).v_star
        return values


def quadratic(x: Floats) -> Floats:
    """Return controls (k, n) with their squares and products, (k + k(k+1)/2, n).

    Examples
    --------
    >>> quadratic(np.array([[2.0], [3.0]])).T.tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    left, right = np.triu_indices(len(x))
    return np.concatenate([x, x[left] * x[right]])


def _splines(x: Floats) -> Floats:
    """Return a natural spline of each control, and their products."""
    columns = []
    for each in x:
        knots = np.quantile(each, _KNOTS)
        columns.append(evaluate(each, knots, pieces(knots, natural=True)))
    left, right = np.triu_indices(len(x), 1)
    return np.concatenate([*columns, x[left] * x[right]])


def _scored(design: PaperDesign, labelled: int, n: int, rng: np.random.Generator) -> tuple[Draw, Floats]:
    """Return n rows and their scores by a classifier of X, calibrated on the half of the labels it has not seen."""
    shown, rows = draw(design, labelled, rng), draw(design, n, rng)
    half, features, group = labelled // 2, quadratic(shown.x).T, shown.group
    classifier = logistic(features[:half], group[:half])
    calibrator = isotonic(classifier(features[half:])[:, None], group[half:])
    return rows, calibrator(classifier(quadratic(rows.x).T)[:, None])


def _posterior_predictive(p: Floats, rng: np.random.Generator) -> Floats:
    """Return one Beta draw per score, of that mean and of variance 0.3² p(1-p); 0 and 1 stay what they are."""
    k0 = (1.0 - SIGMA_PP**2) / SIGMA_PP**2
    inner = (p > 0.0) & (p < 1.0)
    drawn = p.copy()
    drawn[inner] = rng.beta(p[inner] * k0, (1.0 - p[inner]) * k0)
    return drawn


def _groups(replications: int) -> tuple[Group, ...]:
    few = max(4, replications // _FEWER)
    return Group("collapse", Collapse(), replications, seconds=0.008), Group("trees", Trees(), few, seconds=5.0)


def _cells(found: Mapping[str, MonteCarlo]) -> Iterator[Cell]:
    run, trees = found["collapse"], found["trees"]
    for n in SIZES:
        deterministic, posterior = map(Printed.of, PRINTED[n])
        put = partial(cell, f"n_L = {n}", replications=REPLICATIONS)
        yield put("deterministic", mean(run, f"{n} deterministic"), printed=deterministic)
        yield put("posterior-predictive", mean(run, f"{n} posterior"), printed=posterior)
        yield put("injected noise alone", mean(run, f"{n} injected"))
        yield put("soft on posterior-predictive", mean(run, f"{n} soft"))
        for name in LEARNERS:
            if n in _TREES.get(name, SIZES):
                yield put(f"V* by {name}", mean(trees if name in _TREES else run, f"{n} {name}"))


TABLE = PaperTable(
    name="table5",
    title="Table 5: V* when the classifier sees nothing but the controls",
    replications=REPLICATIONS,
    groups=_groups,
    cells=_cells,
    about=(
        f"{ROWS} rows; the score is a function of X, so the deterministic score's V* is 0 in truth. The paper's "
        "columns have r as a quadratic regression, in sample. Ours: the variance of the injected noise; soft, in its "
        "orthogonal form, on the score with that noise, where the effect is 1; and the deterministic score's V* with "
        f"other learners of r, out of fold (trees on a {_FEWER}th of the replications)."
    ),
)
