"""One replication: a scenario drawn and diagnosed, every estimator with its interval, every step of the ladder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from softlabel.decision import paper_rule
from softlabel.diagnose import diagnose
from softlabel.estimators.ladder import Step, climb
from softlabel.replicate.scenarios import Scenario
from softlabel.results import Diagnosis, Estimate, Ladder

__all__ = ["ESTIMATORS", "PRETEST_LEVEL", "STEPS", "Rules"]

# "paper" is what Algorithm 1 recommends, "pretest" the highest rung whose steps are not rejected, "guarded" what the
# guarded rule recommends: the adaptive estimate, or supervised where a check says that samples differ.
ESTIMATORS = (
    "supervised",
    "soft",
    "hard",
    "rectified",
    "instrumented",
    "combined",
    "paper",
    "pretest",
    "adaptive",
    "guarded",
)
# Lower rung less higher one: 0 to 1, 1 to 2, and 0 to 2 at once.
STEPS = ("exclusion", "calibration", "joint")
PRETEST_LEVEL = 0.05

_THRESHOLD = 0.5
# Of the 5% test: χ²₁.
_REJECTED = 3.841458820694124
_NO_STEP = 1e-6  # as in the ladder

_Values = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Rules:
    """An experiment for `softlabel.simulate.run`: one draw of a scenario, judged by every rule.

    Every estimator comes as four values, under its name alone and with " se", " low" and " high" after it; every step
    as " difference" and " sd". Adaptive rules with other thresholds are functions of the rungs and of these. "ar" is
    the interval from the first to the last value that rung 1 does not reject, "ar covers" whether the target is among
    them. "suspect" is one where a check says that labelled and unlabelled rows differ.

    Examples
    --------
    >>> from softlabel.replicate.scenarios import SCENARIOS
    >>> from softlabel.simulate import run
    >>> found = run(Rules(SCENARIOS["weak"]), replications=2, seed=1)
    >>> found.replications, found.missing("adaptive")
    (2, 0)
    """

    scenario: Scenario

    def __call__(self, rng: np.random.Generator) -> _Values:
        """Return every number of one replication by label."""
        table, options = self.scenario.draw(rng)
        d = diagnose(
            table, **options, rule="guarded", thresholds=(_THRESHOLD,), confident=(), threads=1, progress=False
        )
        values: _Values = {}
        for name, estimate in _estimates(d).items():
            numbers = (estimate.estimate, estimate.std_error, estimate.ci_low, estimate.ci_high)
            values.update(zip((name, f"{name} se", f"{name} low", f"{name} high"), numbers, strict=True))
        values["paper soft"] = float(_paper(d).name == "soft")
        values |= _climbed(d.ladder, self.scenario.target)
        values["suspect"] = _suspect(d)
        values["labelled 0"], values["labelled 1"] = map(float, d.sample.labelled_by_class)
        return values


def _estimates(d: Diagnosis) -> Mapping[str, Estimate]:
    found = {
        name: d.estimate(name) for name in ("supervised", "soft", "rectified", "instrumented", "combined", "adaptive")
    }
    # With the interval that the verdict prints: an adaptive estimate has rectified's.
    low, high = d.verdict.interval or (None, None)
    found["guarded"] = replace(found["adaptive"], estimate=d.verdict.estimate, ci_low=low, ci_high=high)
    found["hard"] = d.estimate("hard", threshold=_THRESHOLD)
    found["paper"], found["pretest"] = _paper(d), found[_highest(d.ladder)]
    return {name: found[name] for name in ESTIMATORS}


def _paper(d: Diagnosis) -> Estimate:
    """Return the estimate that Algorithm 1 recommends, whatever rule gave the verdict."""
    soft, supervised = d.estimate("soft"), d.estimate("supervised")
    verdict = paper_rule(soft, d.estimate("soft", form="moment"), supervised, d.kappa)
    return supervised if verdict.choice == "supervised" else soft


def _highest(ladder: Ladder) -> str:
    """Return the rung that a pre-test stops at, climbing from rectified."""
    rejected = {step.name: step.statistic > _REJECTED for step in ladder.steps}
    if rejected.get("exclusion", True):
        return "rectified"
    return "instrumented" if rejected["calibration"] else "combined"


def _climbed(ladder: Ladder, target: float) -> _Values:
    steps = dict.fromkeys(STEPS, (None, None)) if ladder.reason is not None else _steps(ladder)
    values: _Values = {}
    for name, (difference, sd) in steps.items():
        values |= {f"{name} difference": difference, f"{name} sd": sd}
    inside = ladder.compatible
    return {
        **values,
        "slope": ladder.slope,
        "leak": ladder.leak,
        "comparable p": None if ladder.comparable is None else ladder.comparable[1],
        "ar low": inside[0][0] if inside else None,
        "ar high": inside[-1][1] if inside else None,
        "ar covers": float(any(low <= target <= high for low, high in inside)) if inside else None,
    }


def _steps(ladder: Ladder) -> dict[str, tuple[float | None, float | None]]:
    found = climb(np.array(ladder.moments), np.array(ladder.covariance))
    along = found.weights[0] - found.weights[2]
    omega = np.array(ladder.covariance)
    sd = max(float(along @ omega @ along), 0.0) ** 0.5
    joint = Step(float(found.estimates[0] - found.estimates[2]), sd)
    if sd <= _NO_STEP * float(found.covariance[0, 0]) ** 0.5:
        joint = Step(0.0, 0.0)
    steps = (found.exclusion, found.calibration, joint)
    return {name: (step.difference, step.std_error) for name, step in zip(STEPS, steps, strict=True)}


def _suspect(d: Diagnosis) -> float | None:
    """Return whether a check says that labelled and unlabelled rows differ, ``None`` where none could be made."""
    about = [check for check in d.checks if check.code.startswith("samples.") and check.p_value is not None]
    return float(any(check.outcome == "fail" for check in about)) if about else None
