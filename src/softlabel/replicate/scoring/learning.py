"""V* of a score that is a function of the controls, by the learner of r̂: the truth is 0, or what a draw puts in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.nuisances import make_learner, v_star_of
from softlabel.replicate.scoring.design import Values
from softlabel.scoring.each import score_each
from softlabel.simulate import PaperDesign

__all__ = ["DRAWS", "LEARNERS", "SIZES", "Learning"]

Floats = NDArray[np.float64]

SIZES = (200, 500, 1000, 2000)
LEARNERS = ("linear", "quadratic", "spline", "forest")
DRAWS = {"deterministic": "mean", "posterior": "beta"}

_DESIGN = PaperDesign()
_ROWS, _FOLDS = 3_000, 5
_SIGMA = 0.3
_CONTROLS = ("x1", "x2", "x3")


@dataclass(frozen=True, slots=True)
class Learning:
    """An experiment for `softlabel.simulate.run`: the score of Kurbucz (2026), Table 5, and V* with each learner.

    The score: a logistic regression on X, its squares and products, and isotonic regression, by halves of the labels;
    "posterior" is a Beta draw of it. Values are "<draw> <learner>", and "<draw> truth": 0, or the draw's variance.

    Examples
    --------
    >>> from softlabel.simulate import run
    >>> found = run(Learning(200, ("linear", "quadratic")), replications=2, seed=1)
    >>> bool(found.mean("deterministic linear") < found.mean("posterior linear"))
    True
    """

    labelled: int
    learners: tuple[str, ...] = LEARNERS

    def __call__(self, rng: np.random.Generator) -> Values:
        """Return V* by draw and learner."""
        drawn = _DESIGN.sample(_ROWS, self.labelled, seed=rng)
        every = np.array([drawn.column(name).to_numpy() for name in (*_CONTROLS, "g")])
        hidden, shown = every[:, :_ROWS], every[:, _ROWS:]
        scores = {name: _scored(shown, hidden[:3], draw) for name, draw in DRAWS.items()}
        p = scores["deterministic"]
        values: Values = {
            "deterministic truth": 0.0,
            "posterior truth": _SIGMA**2 * float((p * (1 - p)).mean()),
        }
        fold = np.arange(_ROWS) % _FOLDS
        for name in self.learners:
            learner = make_learner(name, seed=0)
            for draw, score in scores.items():
                values[f"{draw} {name}"] = v_star_of(learner, hidden[:3], score[None], fold, _FOLDS).v_star
        return values


def _scored(shown: Floats, hidden: Floats, draw: str) -> Floats:
    """Return the scores (n,) of controls (3, n), of a classifier and a calibrator of controls and group (4, m)."""
    columns = {**_columns(shown[:3]), "g": shown[3]}
    found = score_each(
        columns,
        _columns(hidden),
        features=[name for name in columns if name != "g"],
        controls=list(_CONTROLS),
        group="g",
        draw=draw,
        sigma=_SIGMA,
        calibrators=("isotonic",),
        splits=("halves",),
    )
    return found["isotonic", "halves"].unlabelled


def _columns(x: Floats) -> dict[str, Floats]:
    """Return controls (3, n) with their squares and products."""
    named = dict(zip(_CONTROLS, x, strict=True))
    left, right = np.triu_indices(len(_CONTROLS))
    products = {f"{_CONTROLS[i]} {_CONTROLS[j]}": x[i] * x[j] for i, j in zip(left, right, strict=True)}
    return {**named, **products}
