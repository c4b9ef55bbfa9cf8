"""A small immutable table of records, and its way into the frame library of your choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from softlabel.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Table"]

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """Rows of one kind of frozen record, all results of softlabel that have more than one row.

    Iterate over it for the records; ``table["std_error"]`` is one column as a list.
    What could not be computed is ``None`` in a row and null in a frame. A column is named after the field of the
    record, or as the field's metadata says under "column".

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.attenuation([.1, .4, .6, .9, .2, .8], thresholds=[.5], folds=None).kappa
    >>> len(table), table["threshold"]
    (1, [0.5])
    >>> table.to_arrow().num_rows
    1
    """

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def columns(self) -> list[str]:
        """Names of the columns; empty for a table without rows."""
        return list(self._fields())

    def _fields(self) -> dict[str, Field[Any]]:
        """Return the fields of the record by the names of their columns."""
        if not self.rows:
            return {}
        return {each.metadata.get("column", each.name): each for each in fields(self.rows[0])}  # type: ignore[arg-type]

    def __getitem__(self, column: str) -> list[Any]:
        if self.rows and column not in self.columns:
            raise InputError(
                expected="the name of a column of this table",
                found=repr(column),
                fix=did_you_mean(str(column), self.columns),
            )
        if not self.rows:
            return []
        name = self._fields()[column].name
        return [getattr(row, name) for row in self.rows]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name."""
        return {column: self[column] for column in self.columns}

    def to_arrow(self) -> pa.Table:
        """Return a PyArrow table; the types are those of the record, whatever the values."""
        import pyarrow as pa

        if not self.rows:
            return pa.table({})
        hints = get_type_hints(type(self.rows[0]))
        schema = pa.schema([(column, _arrow_type(hints[each.name])) for column, each in self._fields().items()])
        return pa.table(self.to_dict(), schema=schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame (pandas must be installed)."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars DataFrame (Polars must be installed)."""
        import polars as pl

        return pl.DataFrame(self.to_arrow())

    def __str__(self) -> str:
        return _aligned(self._shown())

    def _shown(self) -> list[list[str]]:
        """Return the names of the columns and, below, what is shown of each row."""
        return [self.columns, *map(list, zip(*(map(_cell, self[c]) for c in self.columns), strict=True))]

    def _repr_html_(self) -> str:
        """Return the table for a notebook; every name and value is escaped."""
        header, *body = ([escape(cell) for cell in line] for line in self._shown())
        lines = ["".join(f"<td>{cell}</td>" for cell in line) for line in body]
        return "\n".join(
            [
                "<table>",
                f"<thead><tr>{''.join(f'<th>{cell}</th>' for cell in header)}</tr></thead>",
                "<tbody>",
                *(f"<tr>{line}</tr>" for line in lines),
                "</tbody>",
                "</table>",
            ]
        )


def _arrow_type(hint: object) -> pa.DataType:
    """Return the Arrow type of a field annotated float, int, bool or str, perhaps ``| None``, or a tuple of those."""
    import pyarrow as pa

    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    kinds = set(get_args(hint)) or {hint}
    types = {float: pa.float64(), int: pa.int64(), bool: pa.bool_()}
    return next((arrow for kind, arrow in types.items() if kind in kinds), pa.string())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return ", ".join(map(_cell, value)) or "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines)
