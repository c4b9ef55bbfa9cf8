"""Aims: what the ladder and the guarded rule are to reach, each passed or failed by a Monte Carlo interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from softlabel.replicate.losses import Losses
from softlabel.replicate.scenarios import SCENARIOS
from softlabel.replicate.tables import Cell, Line, Share, cells, lines, losses, shares
from softlabel.results import Table
from softlabel.results.inference import quantile
from softlabel.simulate import MonteCarlo

__all__ = ["Aim", "verdicts"]

AGAINST_SUPERVISED = 1.05
LEAST_COVERAGE = 0.93
MOST_COVERAGE = 0.97
LEAST_POWER = 0.80
GEOMETRIC_MEAN, MAXIMUM, AGAINST_RECTIFIED = 0.85, 4.0, 1.6


@dataclass(frozen=True, slots=True)
class Aim:
    """One number that should lie between ``least`` and ``most``; it fails only where its 95% interval lies outside.

    ``code`` is stable; ``where`` is a scenario or a group of them.

    Examples
    --------
    >>> Aim.of("rectified.coverage", "exact", (0.90, 0.88, 0.94), least=0.93).outcome
    'pass'
    """

    code: str
    where: str
    value: float
    low: float
    high: float
    least: float | None
    most: float | None

    outcome: Literal["pass", "fail"]

    @classmethod
    def of(
        cls,
        code: str,
        where: str,
        measured: tuple[float, float, float],
        *,
        least: float | None = None,
        most: float | None = None,
    ) -> Aim:
        """Return the aim for a number and its interval: passed where some value of the interval would do."""
        value, low, high = measured
        reached = (least is None or high >= least) and (most is None or low <= most)
        return cls(code, where, value, low, high, least, most, "pass" if reached else "fail")


def verdicts(found: Mapping[str, MonteCarlo]) -> Table[Aim]:
    """Return every aim that these runs, by the name of their scenario, can decide."""
    every = losses(found)
    return Table(
        (*_rectified(every), *_instrumented(cells(every)), *_power(shares(found)), *_guarded(lines(every))),
    )


def _rectified(every: Sequence[Losses]) -> Iterator[Aim]:
    """Yield that rectified costs nothing and covers, where labels are comparable and enough."""
    for one in every:
        if one.scenario.comparable and one.scenario.classes:
            found = one.against("rectified", "supervised")
            yield _ratio("rectified.mse", one.scenario.name, (found.value, found.std_error), AGAINST_SUPERVISED)
    for cell in cells(every):
        scenario = SCENARIOS[cell.scenario]
        if cell.estimator == "rectified" and scenario.comparable and scenario.classes:
            yield _coverage("rectified.coverage", cell, None)


def _instrumented(table: Table[Cell]) -> Iterator[Aim]:
    """Yield that instrumented covers where the score is not calibrated but leaks nothing."""
    for cell in table:
        scenario = SCENARIOS[cell.scenario]
        if cell.estimator == "instrumented" and scenario.comparable and scenario.exclusion and not scenario.calibration:
            yield _coverage("instrumented.coverage", cell, MOST_COVERAGE)


def _power(table: Table[Share]) -> Iterator[Aim]:
    """Yield that a check fires where labels are of another population."""
    for row in table:
        if row.what == "suspect" and not SCENARIOS[row.scenario].comparable:
            yield Aim.of("samples.power", row.scenario, (row.share, row.low, row.high), least=LEAST_POWER)


def _guarded(table: Table[Line]) -> Iterator[Aim]:
    """Yield what the guarded rule reaches where labels are comparable, chosen on and held out."""
    for row in table:
        if row.estimator == "guarded" and row.group != "incomparable":
            mean = (row.geometric_mean, row.geometric_mean_error)
            yield _ratio("guarded.geometric_mean", row.group, mean, GEOMETRIC_MEAN)
            yield _ratio("guarded.maximum", row.maximum_at, (row.maximum, row.maximum_error), MAXIMUM)
            against = (row.against_rectified, row.against_error)
            yield _ratio("guarded.against_rectified", row.against_at, against, AGAINST_RECTIFIED)


def _ratio(code: str, where: str, found: tuple[float, float], most: float) -> Aim:
    value, reach = found[0], quantile(0.95, None) * found[1]
    return Aim.of(code, where, (value, value - reach, value + reach), most=most)


def _coverage(code: str, cell: Cell, most: float | None) -> Aim:
    measured = (cell.coverage, cell.coverage_low, cell.coverage_high)
    return Aim.of(code, cell.scenario, measured, least=LEAST_COVERAGE, most=most)
