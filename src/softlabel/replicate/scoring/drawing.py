"""What noise in a score does: V* rises with it, the coefficient does not come back; with what tells of G it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softlabel.replicate.scoring.design import (
    BEYOND,
    CONTROLS,
    LAW,
    ROWS,
    Values,
    diagnosed,
    known,
    numbers,
    table,
)
from softlabel.scoring.each import score_each

__all__ = ["ESTIMATORS", "LABELLED", "MADE", "SIGMA", "Drawing", "Made"]

ESTIMATORS = ("supervised", "soft", "instrumented", "rectified")
LABELLED = 500
SIGMA = 0.3


class Made(NamedTuple):
    """How a score is made: of the controls X alone or of S too, by which model, drawn how."""

    name: str
    beyond: bool
    model: str = "logistic"
    draw: str = "mean"


MADE = (
    Made("X", beyond=False),
    Made("X, Beta", beyond=False, draw="beta"),
    Made("X, bootstrap", beyond=False, model="bootstrap", draw="member"),
    Made("X, deep", beyond=False, model="deep", draw="member"),
    Made("X and S", beyond=True),
    Made("X and S, Beta", beyond=True, draw="beta"),
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """An experiment for `softlabel.simulate.run`: a score made one way, without a calibrator, and diagnosed.

    Values are "v_star", "slope" (ĉ), "injected" (the variance that a Beta draw of p̂ adds to V*, σ² E[p̂(1 − p̂)]), and
    every estimator with " low" and " high".

    Examples
    --------
    >>> from softlabel.simulate import run
    >>> found = run(Drawing(MADE[1], rows=5_000), replications=4, seed=1)
    >>> bool(abs(found.mean("slope")) < 0.5 < found.mean("rectified"))
    True
    """

    made: Made
    labelled: int = LABELLED
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> Values:
        """Return every number of one replication by label."""
        unlabelled, labelled = LAW.draw(self.rows, rng), LAW.draw(self.labelled, rng)
        made = self.made
        (each,) = score_each(
            known(labelled),
            table(unlabelled),
            features=[*CONTROLS, *(BEYOND if made.beyond else ())],
            controls=list(CONTROLS),
            group="g",
            model=made.model,
            draw=made.draw,
            sigma=SIGMA,
            force=not made.beyond,
            calibrators=("none",),
            splits=("folds",),
        ).values()
        d = diagnosed(unlabelled, labelled, each)
        p = each.unlabelled
        # E[q(1 − q)] of a Beta draw q is (1 − σ²) E[p(1 − p)].
        injected = SIGMA**2 / (1 - SIGMA**2) * float((p * (1 - p)).mean()) if made.draw == "beta" else 0.0
        return {
            "v_star": d.v_star.estimate,
            "slope": d.ladder.slope,
            "injected": injected,
            **numbers(d, ESTIMATORS),
        }
