"""The cases as a page, and in files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from softlabel.replicate.studies.labelling import THRESHOLD
from softlabel.report.files import write_whole
from softlabel.report.layout import wrapped
from softlabel.report.sheets import Number, Sheet, to_csv, to_latex, to_markdown, to_text

if TYPE_CHECKING:
    from softlabel.replicate.studies.command import StudiesFound, StudyFound

__all__ = ["page", "sheet", "write_studies"]

_HEADER = ("study", "measure", "mean", "MC error")


def page(found: StudiesFound) -> str:
    """Return every case as a sheet, what was left out, and how long it took."""
    each = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found.seconds.items())
    workers = f"{found.workers} worker{'s' if found.workers > 1 else ''} on {os.cpu_count()} cores"
    total = f"{sum(found.seconds.values()):.1f} s in all with {workers}"
    skipped = ["\n".join(["Not shown", *(wrapped(f"{one}.", hang="  ") for one in found.skipped)]) + "\n"]
    return "\n".join(
        [
            *(to_text(sheet(one)) for one in found.studies),
            *(skipped if found.skipped else []),
            "\n".join(["Time", wrapped(f"{total}: {each}.")]) + "\n",
        ]
    )


def sheet(one: StudyFound) -> Sheet:
    """Return a case as a sheet: what every label says first."""
    rows = [(one.name, "every label: the effect", Number.of(one.target), Number.of(None))]
    rows += [(one.name, each.name, Number.of(each.value), Number.of(each.std_error, digits=2)) for each in one.measures]
    return Sheet(
        name=one.name,
        title=one.title,
        caption=(
            f"{one.about}. {one.rows:,} rows, of which {one.labelled:,} keep their label; means over "
            f"{one.replications} choices of these, of seed {one.seed}. The effect is the coefficient of the true group "
            f"on all rows, controls linear or dummies; hard is at {THRESHOLD:g}."
        ),
        header=_HEADER,
        rows=tuple(rows),
        notes=(one.says,),
    )


def write_studies(found: StudiesFound, folder: Path) -> None:
    """Write the cases to ``folder``; every file comes whole or not at all."""
    sheets = [sheet(one) for one in found.studies]
    every = Sheet("studies", "", "", _HEADER, tuple(row for each in sheets for row in each.rows))
    notes = "".join(f"\n* {one}.\n" for one in found.skipped)
    for ending, text in (
        ("md", "\n".join(map(to_markdown, sheets)) + notes),
        ("tex", "\n".join(map(to_latex, sheets))),
        ("csv", to_csv(every)),
        ("json", found.to_json(indent=2) + "\n"),
    ):
        write_whole(folder / f"studies.{ending}", _writer(text))


def _writer(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write
