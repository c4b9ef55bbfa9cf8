"""The tables of the paper as sheets, and those in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from softlabel.replicate.paper.cells import MOST, Cell
from softlabel.report.files import write_whole
from softlabel.report.sheets import Entry, Number, Sheet, to_csv, to_latex, to_markdown

if TYPE_CHECKING:
    from softlabel.replicate.paper.command import TableFound, TablesFound

__all__ = ["agreement", "sheets", "write_tables"]

_HEADER = ("row", "column", "printed", "exact", "ours", "MC error", "z exact", "z printed", "outcome")

# A standard deviation's error is known to a tenth or so from here on.
_ENOUGH = 100
# Ours have no printed value.
_PRINTED = ("printed", "z printed")


def write_tables(found: TablesFound, folder: Path) -> None:
    """Write each table to ``folder`` as Markdown, CSV, LaTeX and JSON; every file comes whole or not at all."""
    for table in found.tables:
        both = list(sheets(table))
        texts = {
            "md": "\n".join(map(to_markdown, both)),
            "tex": "\n".join(map(to_latex, both)),
            "csv": to_csv(_all(table)),
            "json": msgspec.json.format(msgspec.json.encode(table), indent=2).decode() + "\n",
        }
        for ending, text in texts.items():
            write_whole(folder / f"{table.name}.{ending}", _writer(text))


def sheets(table: TableFound) -> Iterator[Sheet]:
    """Yield the paper's cells and ours as two sheets."""
    counts = f"{table.replications} replications of seed {table.seed}"
    same = table.replications == table.paper_replications
    others = ", as many as in the paper" if same else f"; the paper has {table.paper_replications}"
    yield _sheet(table, "paper", table.title, f"{table.about} {counts}{others}.", (agreement(table),))
    yield _sheet(table, "ours", f"{table.title}; ours beside it", f"{counts}.", ())


def agreement(table: TableFound) -> str:
    """Return how many cells agree, and with what.

    Examples
    --------
    >>> from softlabel.replicate.paper.command import replicate_tables
    >>> agreement(replicate_tables(4, tables=["table3"], seed=1).tables[0]).split(":")[0]
    'Within 4 standard errors'
    """
    exact = [abs(one.z_exact) for one in table.cells if one.z_exact is not None]
    printed = [abs(one.z_printed) for one in table.cells if one.z_printed is not None]
    parts = [
        f"{sum(z <= MOST for z in each)} of {len(each)} cells of the {what} (largest |z| {max(each):.1f})"
        for what, each in (("exact value", exact), ("printed value", printed))
        if each
    ]
    return f"Within {MOST:g} standard errors: {', '.join(parts)}."


def _sheet(
    table: TableFound, source: Literal["paper", "ours"], title: str, caption: str, notes: tuple[str, ...]
) -> Sheet:
    cells = [one for one in table.cells if one.source == source]
    kept = [at for at, name in enumerate(_HEADER) if source == "paper" or name not in _PRINTED]
    rough = "; errors are rough themselves at so few replications" if table.replications < _ENOUGH else ""
    differing = [
        f"{one.row}, {one.column} differs: {one.why or 'unexplained'}{rough}."
        for one in cells
        if one.outcome == "differs"
    ]
    rows = [_entries(one) for one in cells]
    return Sheet(
        name=table.name if source == "paper" else f"{table.name}-ours",
        title=title,
        caption=caption,
        header=tuple(_HEADER[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in rows),
        notes=(*notes, *differing),
    )


def _all(table: TableFound) -> Sheet:
    """Return every cell with everything known about it."""
    header = ("table", "source", *_HEADER, "printed unit", "printed error", "replications", "why")
    rows = tuple(
        (
            table.name,
            one.source,
            *_entries(one),
            Number.of(one.printed_unit),
            Number.of(one.printed_error),
            Number(one.n, str(one.n)),
            one.why,
        )
        for one in table.cells
    )
    return Sheet(table.name, table.title, table.about, header, rows)


def _entries(one: Cell) -> tuple[Entry, ...]:
    decimals = 0 if one.printed_unit is None else max(0, round(-log10(one.printed_unit)))
    return (
        one.row,
        one.column,
        Number.fixed(one.printed, decimals),
        Number.of(one.exact),
        Number.of(one.value),
        Number.of(one.std_error, digits=2),
        Number.fixed(one.z_exact, 2),
        Number.fixed(one.z_printed, 2),
        one.outcome if one.z_exact is not None or one.z_printed is not None else "-",
    )


def _writer(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write
