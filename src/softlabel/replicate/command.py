"""`softlabel replicate rules`: every scenario run, and what came of it as one record."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from softlabel.replicate.aims import Aim, verdicts
from softlabel.replicate.folder import folder_of
from softlabel.replicate.rules import Rules
from softlabel.replicate.scenarios import chosen
from softlabel.replicate.tables import Cell, Line, Share, Tuning, cells, lines, losses, search, shares
from softlabel.results import Table
from softlabel.simulate import MonteCarlo, run

__all__ = ["RulesFound", "replicate_rules", "rules_found"]


@dataclass(frozen=True, slots=True)
class RulesFound:
    """What the rules are worth.

    Attributes
    ----------
    replications, seed
        Of every scenario.
    cells, lines
        Every estimator in every scenario, and over groups of them.
    tuning
        Other thresholds of the adaptive estimate, the best geometric mean first.
    shares
        How often samples are suspected, rung 1's set covers, Algorithm 1 recommends soft.
    aims
        What was to be reached, and whether it was.
    """

    replications: int
    seed: int
    cells: Table[Cell]
    lines: Table[Line]
    tuning: Table[Tuning]
    shares: Table[Share]
    aims: Table[Aim]

    def summary(self) -> str:
        """Return the tables as a page of text."""
        return str(importlib.import_module("softlabel.replicate.page").page(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def replicate_rules(
    replications: int = 1000,
    *,
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    scenarios: Sequence[str] | None = None,
    progress: bool | None = None,
) -> RulesFound:
    """Run the scenarios and return what the rules are worth in them.

    Parameters
    ----------
    replications, workers, seed, progress
        As in `softlabel.simulate.run`, for every scenario.
    resume
        A folder for the finished replications, a file for each scenario, made if need be: a rerun continues there.
    scenarios
        Names of some; ``None`` for all.

    Examples
    --------
    >>> found = replicate_rules(3, seed=1, scenarios=["weak"])
    >>> found.cells["estimator"][:2], found.cells["n"][:2]
    (['supervised', 'soft'], [3, 3])
    """
    asked = chosen(scenarios)
    folder = None if resume is None else folder_of(resume)
    found: dict[str, MonteCarlo] = {}
    for scenario in asked:
        file = None if folder is None else folder / f"{scenario.name}.jsonl"
        found[scenario.name] = run(
            Rules(scenario), replications, seed=seed, workers=workers, progress=progress, resume=file
        )
    return rules_found(found)


def rules_found(found: Mapping[str, MonteCarlo]) -> RulesFound:
    """Return the tables of runs by the name of their scenario."""
    every = losses(found)
    first = next(iter(found.values()))
    return RulesFound(
        replications=first.replications,
        seed=first.seed,
        cells=cells(every),
        lines=lines(every),
        tuning=search(every),
        shares=shares(found),
        aims=verdicts(found),
    )
