"""Tables in memory: pandas, Polars, PyArrow, a mapping of arrays, and anything with an Arrow C stream.

No engine is imported: an object is recognised by where its class was defined. Each becomes one function from
a position to that column, so a column without a role is never touched, and contiguous float64 is not copied.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from softlabel.errors import DataError, InputError
from softlabel.sources.protocol import BATCH_ROWS, Selection, Source, plain_type, positions

__all__ = ["Frame", "is_a", "open_frame"]


def is_a(data: object, package: str, kind: str) -> bool:
    """Tell whether `data` is a `package` object of class `kind` or derived from it, importing nothing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_a(pa.table({"x": [1]}), "pyarrow", "Table"), is_a([], "pyarrow", "Table")
    (True, False)
    """
    return any(c.__name__ == kind and c.__module__.split(".")[0] == package for c in type(data).__mro__)


def open_frame(data: Any) -> Source | None:
    """Open a table in memory; None when `data` is not one."""
    if is_a(data, "pandas", "DataFrame"):
        return Frame("pandas DataFrame", [str(c) for c in data.columns], lambda i: data.iloc[:, i])
    if is_a(data, "polars", "DataFrame"):
        return Frame("Polars DataFrame", data.columns, data.to_series)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return Frame(f"pyarrow {type(data).__name__}", data.schema.names, data.column)
    if isinstance(data, Mapping):
        arrays = list(data.values())
        return Frame(f"{type(data).__name__} of arrays", [str(key) for key in data], arrays.__getitem__)
    return _open_stream(data) if hasattr(data, "__arrow_c_stream__") and not isinstance(data, type) else None


@dataclass(frozen=True, slots=True)
class Frame:
    """A table whose columns can be had one by one."""

    name: str
    names: list[str]
    column: Callable[[int], Any]

    def columns(self) -> list[str]:
        """Return every name."""
        return list(self.names)

    def select(self, columns: Sequence[str]) -> Selection:
        """Bring the chosen columns into Arrow memory."""
        at = positions(self, columns)
        arrays = [_to_arrow(self.column(i), c, self.name) for i, c in zip(at, columns, strict=True)]
        lengths = {c: len(a) for c, a in zip(columns, arrays, strict=True)}
        if len(set(lengths.values())) > 1:
            raise InputError(
                expected=f"columns of one length in {self.name}",
                found=", ".join(f"{n} rows in {c!r}" for c, n in lengths.items()),
                fix="Pass arrays that have one entry per row",
            )
        return _Rows(self.name, pa.table(arrays, names=list(columns)))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Chosen columns, in Arrow memory."""

    name: str
    table: pa.Table

    def schema(self) -> pa.Schema:
        return self.table.schema

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        yield from (b for b in self.table.to_batches(max_chunksize=rows) if b.num_rows)


def _open_stream(data: Any) -> Source:
    """Read an object of unknown make once, and keep what it gave.

    Nothing in the Arrow stream protocol tells whether a second export would repeat the first; a table in
    hand does. Eager tables share their memory with it.
    """
    name = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
    try:
        table = pa.table(data)
    except Exception as error:  # foreign code: whatever it raises, there is no table
        raise InputError(
            expected=f"{name} to export its rows as an Arrow table",
            found=" ".join(str(error).split()).rstrip("."),
            fix="Pass a table with named columns; a stream that is spent must be made anew",
        ) from error
    return Frame(name, table.column_names, table.column)


def _to_arrow(values: Any, column: str, name: str) -> pa.ChunkedArray:
    try:
        array = _convert(values)
        if pa.types.is_run_end_encoded(array.type):
            import pyarrow.compute as pc

            array = pc.run_end_decode(array)
        return array.cast(plain_type(array.type))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataError(
            expected=f"column {column!r} of {name} to hold one kind of value that Arrow knows",
            found=" ".join(str(error).split()).rstrip("."),
            fix="Convert it to numbers, booleans or text first",
        ) from error


def _convert(values: Any) -> pa.ChunkedArray:
    """Convert one column, without a copy where the memory already is what Arrow wants."""
    if isinstance(values, pa.ChunkedArray):
        return values
    if is_a(values, "polars", "Series") and str(values.dtype) == "Object":
        # Polars would export the addresses of the objects, which pass for data.
        raise TypeError("a Polars Object column has no Arrow form")
    if is_a(getattr(values, "dtype", None), "pandas", "SparseDtype"):
        values = values.to_numpy()
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__getitem__"):
        # Arrow would take the letters, the keys, or whatever an iterator gives once.
        raise TypeError(f"a {type(values).__name__}, not a one-dimensional array")
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind in ("c", "V"):
        # Arrow would call it by a number.
        raise TypeError(f"an array of {values.dtype}")
    if kind == "f" and values.dtype.itemsize > 8:
        values = values.astype("float64")
    return pa.chunked_array([pa.array(values, from_pandas=True)])
