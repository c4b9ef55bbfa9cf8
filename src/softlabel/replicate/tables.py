"""Tables of what the rules are worth: regret and coverage by scenario, summed up, and for other thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from softlabel.replicate.losses import Losses, geometric_mean, worst
from softlabel.replicate.rules import ESTIMATORS
from softlabel.replicate.scenarios import SCENARIOS, Scenario
from softlabel.results import Table
from softlabel.simulate import MonteCarlo, Proportion

__all__ = ["GROUPS", "Cell", "Line", "Share", "Tuning", "cells", "group_of", "lines", "losses", "search", "shares"]

# Where the guarded rule was chosen, where it is judged, and where labels are of another population.
GROUPS = ("chosen on", "held out", "incomparable")
GRID = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


@dataclass(frozen=True, slots=True)
class Cell:
    """One estimator in one scenario.

    Attributes
    ----------
    target, bias, mse
        The population coefficient, and how far from it.
    regret, regret_error
        MSE over that of the better of supervised and soft, with its Monte Carlo error.
    against_rectified, against_error
        MSE over rectified's.
    coverage, coverage_low, coverage_high
        Of the nominal 95% interval that is printed, with its Clopper-Pearson interval.
    n, missing
        Replications in which the estimator has a value, and every other but hard, too; and the rest.
    """

    scenario: str
    estimator: str
    target: float
    bias: float
    mse: float
    regret: float
    regret_error: float
    against_rectified: float
    against_error: float
    coverage: float
    coverage_low: float
    coverage_high: float
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class Line:
    """One estimator over a group of scenarios: regret on average and at worst, against rectified, least coverage."""

    group: str
    estimator: str
    geometric_mean: float
    geometric_mean_error: float
    maximum: float
    maximum_error: float
    maximum_at: str
    against_rectified: float
    against_error: float
    against_at: str
    coverage: float
    coverage_at: str


@dataclass(frozen=True, slots=True)
class Tuning:
    """One pair of thresholds over a group of scenarios; ``how`` is "steps", or "joint" for both steps as one.

    Coverage is that of the estimate give or take half of rectified's interval: what an interval around it would do.
    """

    group: str
    how: str
    exclusion: float
    calibration: float
    geometric_mean: float
    maximum: float
    maximum_at: str
    against_rectified: float
    against_at: str
    coverage: float
    coverage_at: str


@dataclass(frozen=True, slots=True)
class Share:
    """How often something happens in a scenario, with its Clopper-Pearson interval.

    ``what`` is "suspect" (a check says that labelled and unlabelled rows differ), "ar covers" (the set that rung 1 does
    not reject holds the target) or "paper soft" (Algorithm 1 recommends soft).
    """

    scenario: str
    what: str
    share: float
    low: float
    high: float
    n: int


def group_of(scenario: Scenario) -> str:
    """Return which of `GROUPS` a scenario belongs to."""
    if not scenario.comparable:
        return "incomparable"
    return "chosen on" if scenario.chosen_on else "held out"


def losses(found: Mapping[str, MonteCarlo]) -> tuple[Losses, ...]:
    """Return the losses of runs by the name of their scenario."""
    return tuple(Losses.of(SCENARIOS[name], run) for name, run in found.items())


def cells(every: Iterable[Losses]) -> Table[Cell]:
    """Return every estimator in every scenario."""
    return Table(tuple(_cell(one, name) for one in every for name in ESTIMATORS if one.has(name)))


def lines(every: Sequence[Losses]) -> Table[Line]:
    """Return every estimator over every group of scenarios."""
    return Table(tuple(_line(group, name, mine) for group, mine in _grouped(every) for name in _had(mine)))


def search(every: Sequence[Losses], grid: Sequence[float] = GRID) -> Table[Tuning]:
    """Return what other thresholds are worth, of either step or of the joint one, the best geometric mean first."""
    found = [
        _tuning(group, how, (exclusion, calibration), mine)
        for group, mine in _grouped(every)
        for how, pairs in (("steps", [(e, c) for e in grid for c in grid]), ("joint", [(t, t) for t in grid if t]))
        for exclusion, calibration in pairs
    ]
    return Table(tuple(sorted(found, key=lambda row: (GROUPS.index(row.group), row.geometric_mean))))


def shares(found: Mapping[str, MonteCarlo]) -> Table[Share]:
    """Return how often samples are suspected, rung 1's set covers, and Algorithm 1 recommends soft."""
    rows = []
    for name, run in found.items():
        for what in ("suspect", "ar covers", "paper soft"):
            values = run.values(what)
            if values.size:
                share = Proportion.of(int(values.sum()), values.size)
                rows.append(Share(name, what, share.estimate, share.low, share.high, share.n))
    return Table(tuple(rows))


def _grouped(every: Sequence[Losses]) -> list[tuple[str, list[Losses]]]:
    groups = [(group, [one for one in every if group_of(one.scenario) == group]) for group in GROUPS]
    return [(group, mine) for group, mine in groups if mine]


def _had(every: Iterable[Losses]) -> list[str]:
    return [name for name in ESTIMATORS if any(one.has(name) for one in every)]


def _cell(one: Losses, name: str) -> Cell:
    regret, against = one.regret(name), one.against(name, "rectified")
    share = _coverage(one, name)
    return Cell(
        scenario=one.scenario.name,
        estimator=name,
        target=one.scenario.target,
        bias=float(np.nanmean(one.values[name])) - one.scenario.target,
        mse=float(np.nanmean(one.squares(name))),
        regret=regret.value,
        regret_error=regret.std_error,
        against_rectified=against.value,
        against_error=against.std_error,
        coverage=share.estimate,
        coverage_low=share.low,
        coverage_high=share.high,
        n=share.n,
        missing=one.replications - share.n,
    )


def _coverage(one: Losses, name: str) -> Proportion:
    target = one.scenario.target
    known = ~np.isnan(one.values[name])
    inside = (one.values[f"{name} low"] <= target) & (target <= one.values[f"{name} high"])
    return Proportion.of(int(inside.sum()), int(known.sum()))


def _line(group: str, name: str, every: Sequence[Losses]) -> Line:
    mine = [one for one in every if one.has(name)]
    regrets = {one.scenario.name: one.regret(name) for one in mine}
    mean, mean_error = geometric_mean(list(regrets.values()))
    maximum, against = worst(regrets), worst({one.scenario.name: one.against(name, "rectified") for one in mine})
    coverage, at = min((_coverage(one, name).estimate, one.scenario.name) for one in mine)
    return Line(group, name, mean, mean_error, *maximum, *against, coverage, at)


def _tuning(group: str, how: str, thresholds: tuple[float, float], mine: Sequence[Losses]) -> Tuning:
    tried = [(one, one.joint(thresholds[0]) if how == "joint" else one.adaptive(*thresholds)) for one in mine]
    regrets = {one.scenario.name: one.regret(estimates) for one, estimates in tried}
    maximum = worst(regrets)
    against = worst({one.scenario.name: one.against(estimates, "rectified") for one, estimates in tried})
    coverage, at = min((one.covered(estimates) / len(estimates), one.scenario.name) for one, estimates in tried)
    mean, _ = geometric_mean(list(regrets.values()))
    return Tuning(group, how, *thresholds, mean, maximum.value, maximum.at, against.value, against.at, coverage, at)
