"""The page of `softlabel replicate table1` and its sisters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from softlabel.replicate.paper.written import agreement, sheets
from softlabel.report.layout import wrapped
from softlabel.report.sheets import to_text

if TYPE_CHECKING:
    from softlabel.replicate.paper.command import TablesFound

__all__ = ["page"]


def page(found: TablesFound) -> str:
    """Return the tables as text: the paper's cells, ours beside them, what agrees, and how long it took."""
    parts = [to_text(sheet) for table in found.tables for sheet in sheets(table)]
    if len(found.tables) > 1:
        parts.append(
            "\n".join(["Agreement", *(wrapped(f"{one.name}: {agreement(one)}") for one in found.tables)]) + "\n"
        )
    parts.append(_time(found))
    return "\n".join(parts)


def _time(found: TablesFound) -> str:
    each = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in found.seconds.items())
    total = f"{sum(found.seconds.values()):.1f} s in all with "
    workers = f"{found.workers} worker{'s' if found.workers > 1 else ''} on {os.cpu_count()} cores"
    return "\n".join(["Time", wrapped(f"{total}{workers}: {each}.")]) + "\n"
