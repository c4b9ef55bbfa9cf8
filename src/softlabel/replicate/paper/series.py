"""Series of a chart from the cells of a table."""

from __future__ import annotations

from collections.abc import Sequence

from softlabel.replicate.paper.cells import Cell
from softlabel.replicate.paper.command import TableFound
from softlabel.report.charts import Look, Series
from softlabel.results.inference import quantile

__all__ = ["column", "exact_of", "exact_series", "found_series", "moved", "printed_series"]


def column(table: TableFound, rows: Sequence[str], name: str) -> list[Cell]:
    """Return the cells of some rows in one column."""
    return [table.at(row, name) for row in rows]


def moved(at: Sequence[float], by: float) -> list[float]:
    """Return places a little aside, where points would hide each other."""
    return [each + by for each in at]


def found_series(
    label: str,
    look: Look,
    at: Sequence[float],
    cells: Sequence[Cell],
    *,
    joined: bool = True,
    names: tuple[str, ...] = (),
) -> Series:
    """Return what we found, with 95% intervals."""
    reach = tuple(quantile(0.95, None) * one.std_error for one in cells)
    return Series(label, look, tuple(at), tuple(one.value for one in cells), reach, joined, names)


def exact_series(label: str, look: Look, at: Sequence[float], cells: Sequence[Cell]) -> Series:
    """Return the exact values."""
    return Series(label, look, tuple(at), tuple(map(exact_of, cells)))


def printed_series(at: Sequence[float], cells: Sequence[Cell], label: str = "printed in the paper") -> Series:
    """Return what the paper printed, where it did."""
    printed = [(x, one.printed) for x, one in zip(at, cells, strict=True) if one.printed is not None]
    return Series(label, "printed", tuple(x for x, _ in printed), tuple(y for _, y in printed), joined=False)


def exact_of(one: Cell) -> float:
    """Return the exact value, not a number where there is none: a chart leaves a gap there."""
    return float("nan") if one.exact is None else one.exact
