"""The scenarios that rules are judged on: those the guarded rule was chosen on, and those it had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import InputError, did_you_mean
from softlabel.replicate.population import DiscreteLaw, Law, intercept_for
from softlabel.replicate.sampling import Clustered, Independent, LabelledByGroup, Shifted, Weighted
from softlabel.replicate.scores import CrossFitted, Formula

__all__ = ["SCENARIOS", "Scenario", "chosen"]

Sampling = Independent | Shifted | LabelledByGroup | Clustered | Weighted


@dataclass(frozen=True, slots=True)
class Scenario:
    """A population, a score, a way to sample, and which assumptions hold.

    Attributes
    ----------
    name, shows
        What it is called, and what it is.
    law, score, sampling, n_unlabelled, n_labelled
        What is drawn.
    exclusion
        Whether soft aims at τc, with c the slope of the group on the score given the controls: nothing leaks. An effect
        that varies leaks too, for soft weighs it otherwise.
    calibration
        Whether c = 1 in the population of every draw. A calibrator fitted on labels is off by its own error.
    comparable
        Whether labelled and unlabelled rows are of one population.
    classes
        Whether 20 labelled rows of each group can be counted on.
    chosen_on
        Whether the guarded rule was chosen here; else it is judged here.
    """

    name: str
    shows: str
    law: Law | DiscreteLaw = field(default_factory=Law)
    score: Formula | CrossFitted = field(default_factory=Formula)
    sampling: Sampling = field(default_factory=Independent)
    n_unlabelled: int = 20_000
    n_labelled: int = 500
    exclusion: bool = True
    calibration: bool = True
    comparable: bool = True
    classes: bool = True
    chosen_on: bool = False

    @property
    def target(self) -> float:
        """The population coefficient of Y on G given the controls."""
        return self.law.target

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, NDArray[np.generic]], dict[str, Any]]:
        """Return a table, and the options that `softlabel.diagnose` needs to read it."""
        hidden, shown, roles = self.sampling(self.law, self.n_unlabelled, self.n_labelled, rng)  # type: ignore[arg-type]
        p_hidden, p_shown = self.score(hidden, shown, rng)
        table: dict[str, NDArray[np.generic]] = {
            "y": np.concatenate([hidden.outcome, shown.outcome]),
            "g": np.concatenate([np.full(len(hidden.group), np.nan), shown.group]),
            "p": np.concatenate([p_hidden, p_shown]),
        }
        for name, values in hidden.controls.items():
            table[name] = np.concatenate([values, shown.controls[name]])
        options: dict[str, Any] = {
            "outcome": "y",
            "group": "g",
            "score": "p",
            "controls": list(hidden.controls),
            "basis": "linear",
            **{role: role for role in roles},
        }
        return {**table, **roles}, options


_WEAK = (1.2, 0.3, -0.2)
_PLATT = CrossFitted("platt")
# Soft then aims at 0.82 τ: off by two standard errors of supervised with 500 labels, by four with 2,000.
_OVERCONFIDENT = Formula(multiplier=1.5)


def _leak(size: float) -> Scenario:
    return Scenario(
        f"exclusion-{size:g}", f"exclusion off by {size:g}", Law(leak=size), exclusion=False, chosen_on=True
    )


def _on(name: str, shows: str, **given: Any) -> Scenario:
    return Scenario(name, shows, chosen_on=True, **given)


def _off(name: str, shows: str, **given: Any) -> Scenario:
    return Scenario(name, shows, calibration=False, chosen_on=True, **given)


_CHOSEN_ON = (
    _on("exact", "scores exact"),
    _off("isotonic", "isotonic, cross-fitted", score=CrossFitted("isotonic")),
    _off("platt", "Platt, cross-fitted", score=_PLATT),
    _off("platt-2000", "Platt, 2,000 labels", score=_PLATT, n_labelled=2000),
    _off("logistic", "one logistic per fold", score=CrossFitted("logistic")),
    _off("platt-mean", "Platt, mean of the folds' models", score=CrossFitted("platt", mean=True)),
    _off("overconfident", "logit times 1.5", score=_OVERCONFIDENT),
    _off("overconfident-2000", "logit times 1.5, 2,000 labels", score=_OVERCONFIDENT, n_labelled=2000),
    _off("x-dependent", "logit less x1/2, then Platt", score=CrossFitted("platt", shift=-0.5)),
    *map(_leak, (0.05, 0.1, 0.2, 0.5)),
    _off("no-effect", "no effect, Platt", law=Law(tau=0.0), score=_PLATT),
    _on("weak", "weak score", law=Law(slopes=_WEAK), n_unlabelled=5000),
    _off("weak-platt", "weak score, Platt", law=Law(slopes=_WEAK), score=_PLATT, n_unlabelled=5000),
)

_RARE = Law(intercept=intercept_for(0.02))

_HELD_OUT = (
    # 30 labels of each group on average; fewer than 20 in one draw of a hundred.
    Scenario("tiny-platt", "60 labels, Platt", score=_PLATT, n_labelled=60, calibration=False),
    Scenario("tiny-exact", "40 labels, scores exact", n_labelled=40, classes=False),
    Scenario("clusters", "clusters of both kinds of rows", sampling=Clustered()),
    Scenario("negative", "a negative effect, Platt", Law(tau=-1.0), _PLATT, calibration=False),
    Scenario("rare", "2% in the group, 2,000 labels, Platt", _RARE, _PLATT, n_labelled=2000, calibration=False),
    Scenario("shift", "labels from elsewhere", sampling=Shifted(), comparable=False),
    Scenario("labelled-by-group", "labels by group and x1", sampling=LabelledByGroup(), comparable=False),
    # Where half are in the group soft and supervised weigh alike, by symmetry; at this intercept a sixth are.
    Scenario("heterogeneous", "effect varies with x1", Law(intercept=-2.0, tau_slope=0.5), exclusion=False),
    Scenario("discrete", "discrete controls, Platt", DiscreteLaw(), _PLATT, calibration=False),
    Scenario("weights", "sampled by outcome, weighted", sampling=Weighted()),
    Scenario(
        "both",
        "logit times 1.5, exclusion off by 0.2",
        Law(leak=0.2),
        _OVERCONFIDENT,
        exclusion=False,
        calibration=False,
    ),
)

SCENARIOS = {scenario.name: scenario for scenario in (*_CHOSEN_ON, *_HELD_OUT)}


def chosen(names: Sequence[str] | None) -> tuple[Scenario, ...]:
    """Return scenarios by name, in the order of `SCENARIOS`; ``None`` for all."""
    for name in names or ():
        if name not in SCENARIOS:
            raise InputError(
                expected="the name of a scenario", found=repr(name), fix=did_you_mean(str(name), list(SCENARIOS))
            )
    return tuple(scenario for scenario in SCENARIOS.values() if names is None or scenario.name in names)
