"""The Checkup: everything `softlabel.check` found, frozen, in JSON and back."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from softlabel.results import Note, Table
from softlabel.results.written import read_json, write_json

__all__ = ["RENDERERS", "Checkup", "ColumnFacts", "ConfidentRows", "Counts", "Level", "Possible", "RowsAbove"]

SCHEMA_VERSION = 1

# As for a Diagnosis: rendering is found by name when it is asked for.
RENDERERS = {"summary": ("softlabel.report.check", "page")}


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column: what it holds, and the role it has or could have.

    ``distinct`` counts its values up to `softlabel.checking.columns.MANY`; ``None``: there are more, or it is not
    known. ``low`` and ``high`` are the ends of its finite numbers, ``examples`` some values of any other column.
    """

    name: str
    type: str
    role: str
    missing: int
    distinct: int | None
    low: float | None
    high: float | None
    examples: str


@dataclass(frozen=True, slots=True)
class Level:
    """How many complete rows hold one level of a category."""

    control: str
    level: str
    unlabelled: int
    labelled: int


@dataclass(frozen=True, slots=True)
class RowsAbove:
    """How many unlabelled rows have a score above a threshold."""

    threshold: float
    above: int


@dataclass(frozen=True, slots=True)
class ConfidentRows:
    """How many unlabelled rows are in the set max(p, 1 - p) > ``threshold``, and how many of them above it."""

    threshold: float
    rows: int
    above: int


@dataclass(frozen=True, slots=True)
class Possible:
    """Whether an estimator is possible: ``reason`` is ``None`` if it is, else says why not."""

    name: str
    threshold: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of rows. ``unlabelled``, ``labelled`` and ``labelled_by_class`` count complete and possible ones.

    ``audit`` of the labelled ones may audit the score: they have one, and the column named for it, if any, says so.
    ``incomplete`` rows have a missing or infinite value: missing="drop" would leave them out.
    ``n_effective`` is the number of distinct unlabelled rows that would be as informative, and ``in_sample`` whether
    that is too few to deal rows to folds by their values. ``columns`` are the design columns of the controls, the
    intercept apart, ``None`` if they cannot be made.
    """

    rows: int
    unlabelled: int
    labelled: int
    labelled_by_class: tuple[int, int]
    audit: int
    incomplete: int
    weightless: int
    n_effective: float
    in_sample: bool
    folds_by: str
    columns: int | None
    clusters: int | None
    clusters_labelled: int | None
    clusters_both: int | None


@dataclass(frozen=True, slots=True)
class Checkup:
    """What the data can and cannot answer.

    Attributes
    ----------
    ready
        Whether `softlabel.diagnose` could run with these roles and have something to say; without roles, whether some
        columns could be a score and an outcome.
    sentence
        The same in words.
    problems
        What it would raise for, or return nothing but reasons for; in the words of its errors.
    notes
        What else to know before the numbers.
    source, rows
        What was read, and how many rows it has.
    counts
        Of rows with these roles; ``None`` without roles, or where the columns are not what the roles need.
    columns, levels, above, confident
        Tables of `ColumnFacts`, `Level`, `RowsAbove` and `ConfidentRows`.
    estimators
        Table of `Possible`.
    command, shell
        What to run next, in words; in a shell, or in Python.

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.simulate.PaperDesign().sample(n_unlabelled=3000, n_labelled=500, seed=0)
    >>> found = sl.check(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"])
    >>> found.ready, found.counts.labelled
    (True, 500)
    """

    ready: bool
    sentence: str
    problems: tuple[Note, ...]
    notes: tuple[Note, ...]
    source: str
    rows: int
    counts: Counts | None
    columns: Table[ColumnFacts]
    levels: Table[Level]
    above: Table[RowsAbove]
    confident: Table[ConfidentRows]
    estimators: Table[Possible]
    command: tuple[str, ...]
    shell: bool
    schema_version: int = SCHEMA_VERSION

    def summary(self) -> str:
        """Return a page to read, verdict first."""
        module, function = RENDERERS["summary"]
        render: Any = getattr(importlib.import_module(module), function)
        return str(render(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON; `from_json` gives an equal Checkup back."""
        return write_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Checkup:
        """Return the Checkup that `to_json` wrote."""
        return read_json(cls, text, SCHEMA_VERSION, "check the data again")
