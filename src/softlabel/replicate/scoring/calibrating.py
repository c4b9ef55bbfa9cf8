"""Every calibrator and split on a number of labels: what comes of each."""

from __future__ import annotations

from dataclasses import dataclass

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
from softlabel.results import Diagnosis
from softlabel.scoring.each import score_each
from softlabel.scoring.names import SPLITS

__all__ = ["ESTIMATORS", "SIZES", "Calibrating"]

SIZES = (200, 500, 2000)
# "guarded" is the verdict, with its interval: adaptive, or supervised where nothing else can be judged.
ESTIMATORS = ("soft", "rectified", "instrumented", "combined", "guarded")


@dataclass(frozen=True, slots=True)
class Calibrating:
    """An experiment for `softlabel.simulate.run`: one draw, scored by every calibrator and split and diagnosed.

    Values are called "<calibrator> <split> <what>": every estimator with " low" and " high", "suspect" (a check says
    that labelled and unlabelled rows differ), "calibration p" (of calibration.given_controls) and "slope" (ĉ).
    Supervised is the same for all, and so has no calibrator before it.

    Examples
    --------
    >>> from softlabel.simulate import run
    >>> found = run(Calibrating(200, ("platt",), ("folds",), rows=1_000), replications=2, seed=1)
    >>> found.replications, found.missing("platt folds guarded")
    (2, 0)
    """

    labelled: int
    calibrators: tuple[str, ...]
    splits: tuple[str, ...] = SPLITS
    rows: int = ROWS

    def __call__(self, rng: np.random.Generator) -> Values:
        """Return every number of one replication by label."""
        unlabelled, labelled = LAW.draw(self.rows, rng), LAW.draw(self.labelled, rng)
        scores = score_each(
            known(labelled),
            table(unlabelled),
            features=[*CONTROLS, *BEYOND],
            controls=list(CONTROLS),
            group="g",
            calibrators=self.calibrators,
            splits=self.splits,
        )
        values: Values = {}
        for (calibrator, split), each in scores.items():
            d = diagnosed(unlabelled, labelled, each)
            before = f"{calibrator} {split} "
            values |= numbers(d, ("supervised",)) if not values else {}
            values |= numbers(d, ESTIMATORS, before)
            values |= {f"{before}{name}": value for name, value in _checked(d).items()}
        return values


def _checked(d: Diagnosis) -> Values:
    about = [check for check in d.checks if check.code.startswith("samples.") and check.p_value is not None]
    test = next(check for check in d.checks if check.code == "calibration.given_controls")
    return {
        "suspect": float(any(check.outcome == "fail" for check in about)) if about else None,
        "calibration p": test.p_value,
        "slope": d.ladder.slope,
    }
