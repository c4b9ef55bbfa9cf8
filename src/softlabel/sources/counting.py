"""How many rows a selection has, where that is known before they are read."""

from __future__ import annotations

from collections.abc import Iterable

from softlabel.sources.parquet import ParquetFile
from softlabel.sources.protocol import Selection, reading

__all__ = ["known_rows"]


def known_rows(selections: Iterable[Selection]) -> int | None:
    """Return the rows of tables in memory and Parquet files together; ``None`` where only reading would tell.

    Examples
    --------
    >>> from softlabel.sources import open_source
    >>> known_rows([open_source({"y": [1.0, 2.0]}).select(["y"])])
    2
    """
    counts = [_rows(selection) for selection in selections]
    return None if None in counts else sum(count for count in counts if count is not None)


def _rows(selection: Selection) -> int | None:
    table = getattr(selection, "table", None)
    if table is not None:
        return int(table.num_rows)
    files = getattr(selection, "files", None)
    if files is None or not all(isinstance(file, ParquetFile) for file in files):
        return None
    return sum(map(_in_footer, files))


def _in_footer(file: ParquetFile) -> int:
    from pyarrow import parquet

    with reading(file.path), parquet.ParquetFile(file.path) as opened:
        return int(opened.metadata.num_rows)
