"""`softlabel replicate studies`: every case run, and what came of it as one record."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import msgspec

from softlabel.datasets import about
from softlabel.errors import InputError
from softlabel.replicate.folder import folder_of
from softlabel.replicate.paper.command import check_replications
from softlabel.replicate.studies.cases import CASES, case, found_in
from softlabel.replicate.studies.labelling import LABELLED, Labelling
from softlabel.replicate.studies.says import says
from softlabel.results import Table
from softlabel.simulate import MonteCarlo, run

__all__ = ["MEASURES", "Measure", "StudiesFound", "StudyFound", "replicate_studies"]

# What is shown, and its name in a replication.
MEASURES = {
    "supervised": "supervised",
    "soft": "soft",
    "hard": "hard",
    "de-attenuated": "deattenuated",
    "rectified": "rectified",
    "instrumented": "instrumented",
    "combined": "combined",
    "verdict of guarded": "verdict",
    "its interval covers": "covers",
    "Algorithm 1 takes soft": "algorithm 1",
    "SE supervised": "SE supervised",
    "SE soft": "SE soft",
    "V*": "V*",
    "kappa": "kappa",
    "audit: slope": "slope",
    "audit: leak": "leak",
    "exclusion rejected": "exclusion",
    "every label: slope, soft": "soft slope",
    "every label: leak, soft": "soft leak",
    "every label: slope, hard": "hard slope",
    "every label: leak, hard": "hard leak",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """The mean of a number over choices of labelled rows, its Monte Carlo error, and how many there are of it."""

    name: str
    value: float | None
    std_error: float | None
    n: int


@dataclass(frozen=True, slots=True)
class StudyFound:
    """One case.

    Attributes
    ----------
    name, title, about
        What it is.
    says
        What is to be seen in it.
    rows, labelled
        All rows, and those that keep their label.
    replications, seed
        Choices of labelled rows, and what they were drawn by.
    target
        The coefficient of the true group on all rows.
    measures
        See `MEASURES`.
    """

    name: str
    title: str
    about: str
    says: str
    rows: int
    labelled: int
    replications: int
    seed: int
    target: float
    measures: Table[Measure]

    def at(self, name: str) -> Measure:
        """Return a measure by name."""
        for one in self.measures:
            if one.name == name:
                return one
        raise InputError(expected=f"a measure of {self.name}", found=repr(name), fix="See its measures")


@dataclass(frozen=True, slots=True)
class StudiesFound:
    """Cases, sentences about those not shown, and how long each took: that is no part of what was found."""

    studies: tuple[StudyFound, ...]
    skipped: tuple[str, ...]
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    workers: int = field(default=1, compare=False)

    def summary(self) -> str:
        """Return the cases as a page of text."""
        return str(importlib.import_module("softlabel.replicate.studies.written").page(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the cases as JSON."""
        text = msgspec.json.encode({"studies": self.studies, "skipped": self.skipped})
        return (msgspec.json.format(text, indent=indent) if indent else text).decode()

    def write(self, folder: Path) -> None:
        """Write the cases as Markdown, CSV, LaTeX and JSON."""
        importlib.import_module("softlabel.replicate.studies.written").write_studies(self, folder)


def replicate_studies(
    replications: int | None = 10,
    *,
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    progress: bool | None = None,
    data: str | None = None,
    studies: Sequence[str] | None = None,
    labelled: int = LABELLED,
) -> StudiesFound:
    """Hide most labels of real data, estimate, and compare with what every label says.

    Parameters
    ----------
    replications, workers, seed, progress
        As in `softlabel.simulate.run`, for every case; at least 4.
    resume
        A folder for the finished replications, a file for each case, made if need be: a rerun continues there.
    data
        A folder with data that do not ship; those that are not there are left out, and it is said that they are.
    studies
        Names of some; ``None`` for all whose data are there.
    labelled
        How many rows keep their label.

    Examples
    --------
    >>> found = replicate_studies(4, studies=["credit_default"], labelled=300, seed=1)
    >>> round(found.studies[0].target, 3), found.studies[0].at("soft").value < -1  # exclusion fails
    (-0.355, True)
    """
    count = 10 if replications is None else replications
    check_replications(count)
    folder = None if resume is None else folder_of(resume)
    names, skipped = found_in(data, studies)
    found, seconds = [], {}
    for name in names:
        start = perf_counter()
        file = None if folder is None else folder / f"study-{name}.jsonl"
        given = None if about(CASES[name].dataset).ships else data
        runs = run(Labelling(name, given, labelled), count, seed=seed, workers=workers, progress=progress, resume=file)
        found.append(_found(name, given, labelled, runs))
        seconds[name] = perf_counter() - start
    return StudiesFound(tuple(found), skipped, seconds, workers)


def _found(name: str, folder: str | None, labelled: int, runs: MonteCarlo) -> StudyFound:
    known, rows = CASES[name], case(name, folder)
    measures = [_measure(shown, runs, key) for shown, key in MEASURES.items()]
    return StudyFound(
        name=name,
        title=known.title,
        about=about(known.dataset).description,
        says=says(rows.target, {one.name: one.value for one in measures}),
        rows=len(rows),
        labelled=labelled,
        replications=runs.replications,
        seed=runs.seed,
        target=rows.target,
        measures=Table(tuple(measures)),
    )


def _measure(shown: str, runs: MonteCarlo, key: str) -> Measure:
    n = runs.replications - runs.missing(key)
    # A standard deviation wants two.
    return Measure(shown, runs.mean(key) if n else None, runs.mcse(key) if n > 1 else None, n)
