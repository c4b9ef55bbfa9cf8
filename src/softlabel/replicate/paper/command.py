"""`softlabel replicate table1` to `table5`, `tables` and `adult`: simulations run, and what came of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import msgspec

from softlabel.errors import InputError
from softlabel.replicate.folder import folder_of
from softlabel.replicate.paper import adult, table1, table2, table3, table4, table5
from softlabel.replicate.paper.cells import Cell
from softlabel.replicate.paper.groups import PaperTable
from softlabel.results import Table
from softlabel.simulate import MonteCarlo, run

__all__ = ["REAL", "TABLES", "TableFound", "TablesFound", "check_replications", "replicate_tables", "run_table"]

TABLES = {module.TABLE.name: module.TABLE for module in (table1, table2, table3, table4, table5)}
# Those of real data, which take minutes.
REAL = {adult.TABLE.name: adult.TABLE}
# A standard deviation has an error of its own from four replications on.
LEAST = 4
# Seconds of work from which on it pays to start processes for it.
POOL_PAYS = 5.0


@dataclass(frozen=True, slots=True)
class TableFound:
    """One table of the paper, cell by cell.

    Attributes
    ----------
    name, title, about
        What it is, and what generates it.
    paper_replications, replications, seed
        The paper's, ``None`` for a table that is not its, and ours.
    cells
        The paper's cells and ours beside them.
    """

    name: str
    title: str
    about: str
    paper_replications: int | None
    replications: int
    seed: int
    cells: Table[Cell]

    def at(self, row: str, column: str) -> Cell:
        """Return the cell at a row and a column."""
        for one in self.cells:
            if (one.row, one.column) == (row, column):
                return one
        raise InputError(expected=f"a cell of {self.name}", found=f"{row}, {column}", fix="See its cells")


@dataclass(frozen=True, slots=True)
class TablesFound:
    """Tables of the paper, and how long each took: that is printed, but is not part of what was found."""

    tables: tuple[TableFound, ...]
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    workers: int = field(default=1, compare=False)

    def summary(self) -> str:
        """Return the tables as a page of text."""
        return str(importlib.import_module("softlabel.replicate.paper.page").page(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the tables as JSON."""
        text = msgspec.json.encode({"tables": self.tables})
        return (msgspec.json.format(text, indent=indent) if indent else text).decode()

    def write(self, folder: Path) -> None:
        """Write each table as Markdown, CSV, LaTeX and JSON, in files of its name."""
        importlib.import_module("softlabel.replicate.paper.written").write_tables(self, folder)


def replicate_tables(
    replications: int | None = None,
    *,
    tables: Iterable[str] | None = None,
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    progress: bool | None = None,
) -> TablesFound:
    """Run the simulations of the paper's tables and return them beside what it printed.

    Parameters
    ----------
    replications
        Of every simulation; ``None`` for the paper's own counts. At least 4.
    tables
        Names of some, "adult" among them; ``None`` for the five of simulations.
    workers, seed, progress
        As in `softlabel.simulate.run`, for every simulation; those that take a few seconds have no use for processes.
    resume
        A folder for the finished replications, a file for each simulation, made if need be: a rerun continues there.

    Examples
    --------
    >>> found = replicate_tables(4, tables=["table3"], seed=1)
    >>> found.tables[0].at("t = 0.75", "kappa_FM").printed
    0.525
    """
    check_replications(replications)
    every = {**TABLES, **REAL}
    asked = [every[name] for name in (TABLES if tables is None else tables)]
    folder = None if resume is None else folder_of(resume)
    found, seconds = [], {}
    for table in asked:
        start = perf_counter()
        count = table.replications if replications is None else replications
        found.append(run_table(table, count, seed=seed, workers=workers, folder=folder, progress=progress))
        seconds[table.name] = perf_counter() - start
    return TablesFound(tuple(found), seconds, workers)


def check_replications(replications: int | None) -> None:
    """Raise where there are too few for a Monte Carlo error."""
    if replications is not None and replications < LEAST:
        raise InputError(
            expected=f"at least {LEAST} replications of a table", found=str(replications), fix="Ask for more"
        )


def run_table(
    table: PaperTable, replications: int, *, seed: int, workers: int, folder: Path | None, progress: bool | None
) -> TableFound:
    """Run the simulations of one table, with what is finished kept in a folder, and return its cells."""
    runs: dict[str, MonteCarlo] = {}
    for group in table.groups(replications):
        file = None if folder is None else folder / f"{table.name}-{group.name}.jsonl"
        shared = workers if group.replications * group.seconds > POOL_PAYS else 1
        runs[group.name] = run(
            group.experiment, group.replications, seed=seed, workers=shared, progress=progress, resume=file
        )
    return _found(table, replications, seed, runs)


def _found(table: PaperTable, replications: int, seed: int, runs: dict[str, MonteCarlo]) -> TableFound:
    return TableFound(
        name=table.name,
        title=table.title,
        about=table.about,
        paper_replications=table.replications,
        replications=replications,
        seed=seed,
        cells=Table(tuple(table.cells(runs))),
    )
