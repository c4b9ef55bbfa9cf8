"""The calibration check on a classifier from elsewhere, calibrated here: who passes it, on rows of which kind.

The classifier's logit is twice the sum of the true one and shift · x₁. So E[G|p,X] = σ(½ logit p − shift · x₁): the
conditional calibrator's own form, and where shift is not 0 the form of no calibrator that does not see X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softlabel.replicate.population import Rows
from softlabel.replicate.scores import Formula
from softlabel.replicate.scoring.design import CONTROLS, LAW, Floats, Values, diagnosed, known, table
from softlabel.results import Diagnosis
from softlabel.scoring.each import EachScore, score_each

__all__ = ["AUDITED", "CHECKS", "CONFIDENCE", "Auditing", "CrossFitting"]

CONFIDENCE = 2.0
AUDITED = 500
CHECKS = ("given_controls", "controls_only")

# The checks of calibration look at labelled rows alone; these only complete the diagnosis.
_UNLABELLED = 2_000


@dataclass(frozen=True, slots=True)
class Auditing:
    """An experiment for `softlabel.simulate.run`: calibrators fitted on some labels, audited on other, fresh ones.

    Values are the p-values of the checks, "<calibrator> <check>", and "<calibrator> slope".

    Examples
    --------
    >>> from softlabel.simulate import run
    >>> found = run(Auditing(1.0, 1_000, ("platt",)), replications=2, seed=1)
    >>> bool(found.values("platt given_controls").max() < 0.01)
    True
    """

    shift: float
    fitted: int
    calibrators: tuple[str, ...]
    audited: int = AUDITED

    def __call__(self, rng: np.random.Generator) -> Values:
        """Return every number of one replication by label."""
        unlabelled, fresh = LAW.draw(_UNLABELLED, rng), LAW.draw(self.audited, rng)
        training = LAW.draw(self.fitted, rng)
        both = Rows.joined([unlabelled, fresh])
        every = _calibrated(training, both, self.shift, self.calibrators)
        values: Values = {}
        for name, each in every.items():
            hidden, shown = np.split(each.unlabelled, [_UNLABELLED])
            scores = EachScore(hidden, shown, np.ones(self.audited, dtype=np.bool_))
            values |= _tested(name, diagnosed(unlabelled, fresh, scores))
        return values


@dataclass(frozen=True, slots=True)
class CrossFitting:
    """The same with the calibrators of `score`: cross-fitted on the labelled rows that then audit them."""

    shift: float
    calibrators: tuple[str, ...]
    labelled: int = AUDITED

    def __call__(self, rng: np.random.Generator) -> Values:
        """Return every number of one replication by label."""
        unlabelled, labelled = LAW.draw(_UNLABELLED, rng), LAW.draw(self.labelled, rng)
        every = _calibrated(labelled, unlabelled, self.shift, self.calibrators)
        values: Values = {}
        for name, each in every.items():
            values |= _tested(name, diagnosed(unlabelled, labelled, each))
        return values


def _calibrated(labelled: Rows, others: Rows, shift: float, calibrators: Sequence[str]) -> dict[str, EachScore]:
    score = Formula(CONFIDENCE, CONFIDENCE * shift)
    raw: tuple[Floats, Floats] = score(others, labelled, np.random.default_rng(0))
    found = score_each(
        {**known(labelled), "raw": raw[1]},
        {**table(others), "raw": raw[0]},
        features=["raw"],
        controls=list(CONTROLS),
        group="g",
        model="given",
        calibrators=calibrators,
        splits=("folds",),
    )
    return {name: each for (name, _), each in found.items()}


def _tested(name: str, d: Diagnosis) -> Values:
    p = {check.code: check.p_value for check in d.checks}
    values: Values = {f"{name} {check}": p.get(f"calibration.{check}") for check in CHECKS}
    return {**values, f"{name} slope": d.ladder.slope}
