"""Squared errors of a scenario's replications, their ratios, and the error that simulation leaves in those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import DataError
from softlabel.replicate.rules import ESTIMATORS, STEPS
from softlabel.replicate.scenarios import Scenario
from softlabel.simulate import MonteCarlo

__all__ = ["Losses", "Ratio", "Worst", "geometric_mean", "ratio", "worst"]

Floats = NDArray[np.float64]


class Ratio(NamedTuple):
    """A ratio of two mean squared errors, and each replication's influence (n,) on it, zero without values."""

    value: float
    influence: Floats

    @property
    def std_error(self) -> float:
        """The Monte Carlo standard error."""
        return float(np.sqrt(np.square(self.influence).mean() / len(self.influence)))


class Worst(NamedTuple):
    """The worst of several numbers, its error, and the scenario where it is."""

    value: float
    std_error: float
    at: str


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """The replications of a scenario in which every estimator but hard has a value, n of them.

    Hard has none where no score is above the threshold, as of a rare group: that is no reason to lose the others.

    Attributes
    ----------
    scenario
        What was drawn.
    replications
        All of them.
    complete : (replications,)
        Which have every value.
    values
        Each column (n,) by name; NaN where hard has no value.
    """

    scenario: Scenario
    replications: int
    complete: NDArray[np.bool_]
    values: Mapping[str, Floats]

    @classmethod
    def of(cls, scenario: Scenario, found: MonteCarlo) -> Losses:
        """Return the losses of a run of `Rules`."""
        names = [name + part for name in ESTIMATORS for part in ("", " low", " high")]
        names += [step + part for step in STEPS for part in (" difference", " sd")]
        columns = np.array([found.column(name) for name in names], dtype=np.float64)
        needed = columns[[not name.startswith("hard") for name in names]]
        complete: NDArray[np.bool_] = np.asarray(~np.isnan(needed).any(axis=0))
        if not complete.any():
            raise DataError(
                expected=f"a replication of {scenario.name} with every estimate",
                found=f"{found.replications} without",
                fix="Run more of them",
            )
        return cls(scenario, found.replications, complete, dict(zip(names, columns[:, complete], strict=True)))

    def has(self, name: str) -> bool:
        """Return whether an estimator has any value."""
        return not bool(np.isnan(self.values[name]).all())

    def squares(self, estimates: Floats | str) -> Floats:
        """Return the squared errors (n,) of estimates (n,), or of an estimator by name."""
        return np.square((self.values[estimates] if isinstance(estimates, str) else estimates) - self.scenario.target)

    def regret(self, estimates: Floats | str) -> Ratio:
        """Return the mean squared error over that of the better of supervised and soft, in hindsight."""
        better = min((self.squares(name) for name in ("supervised", "soft")), key=np.mean)
        return self._ratio(self.squares(estimates), better)

    def against(self, estimates: Floats | str, other: str) -> Ratio:
        """Return the mean squared error over another estimator's."""
        return self._ratio(self.squares(estimates), self.squares(other))

    def adaptive(self, exclusion: float, calibration: float) -> Floats:
        """Return the estimates (n,) that keep what is left of either step beyond so many of its standard deviations."""
        return self.values["combined"] + self._left("calibration", calibration) + self._left("exclusion", exclusion)

    def joint(self, threshold: float) -> Floats:
        """Return the estimates (n,) that take both steps as one."""
        return self.values["combined"] + self._left("joint", threshold)

    def covered(self, estimates: Floats) -> int:
        """Return how often estimates (n,), give or take half of rectified's interval, hold the target."""
        reach = (self.values["rectified high"] - self.values["rectified low"]) / 2
        return int(np.count_nonzero(np.abs(estimates - self.scenario.target) <= reach))

    def _left(self, step: str, threshold: float) -> Floats:
        difference, sd = self.values[f"{step} difference"], self.values[f"{step} sd"]
        return np.sign(difference) * np.maximum(np.abs(difference) - threshold * sd, 0.0)

    def _ratio(self, top: Floats, bottom: Floats) -> Ratio:
        known = ~np.isnan(top)
        found = ratio(top[known], bottom[known])
        # So that replication i of one scenario, which shares its stream with i of another, can be told.
        influence = np.zeros(self.replications)
        influence[np.flatnonzero(self.complete)[known]] = found.influence * self.replications / len(found.influence)
        return Ratio(found.value, influence)


def ratio(top: Floats, bottom: Floats) -> Ratio:
    """Return the ratio of two means over the same replications, by the delta method.

    Examples
    --------
    >>> found = ratio(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    >>> found.value, found.influence.tolist()
    (1.0, [-0.5, 0.5])
    """
    below = float(bottom.mean())
    value = float(top.mean()) / below
    return Ratio(value, (top - value * bottom) / below)


def geometric_mean(ratios: Sequence[Ratio]) -> tuple[float, float]:
    """Return the geometric mean of ratios and its error: replication i of each has the same stream, so they add up.

    Examples
    --------
    >>> geometric_mean([Ratio(1.0, np.zeros(2)), Ratio(4.0, np.zeros(2))])
    (2.0, 0.0)
    """
    value = float(np.exp(np.mean([np.log(one.value) for one in ratios])))
    longest = max(len(one.influence) for one in ratios)
    influence = np.zeros(longest)
    for one in ratios:
        n = len(one.influence)
        influence[:n] += one.influence * longest / n / one.value / len(ratios)
    return value, value * float(np.sqrt(np.square(influence).mean() / longest))


def worst(ratios: Mapping[str, Ratio]) -> Worst:
    """Return the largest of ratios by scenario."""
    at, found = max(ratios.items(), key=lambda item: item[1].value)
    return Worst(found.value, found.std_error, at)
