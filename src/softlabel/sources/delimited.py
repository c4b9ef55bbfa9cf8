"""One CSV or TSV file, plain or gzipped, streamed."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from softlabel.errors import SourceError
from softlabel.sources.protocol import reading

__all__ = ["NULLS", "DelimitedFile"]

NULLS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
"""Spellings of a missing value, quoted or not. A lone full stop is not one: it is text."""

_LOOK_BYTES = 1 << 20
_READ_BYTES = 1 << 23
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class DelimitedFile:
    """A header line, then rows; types are read off the first megabyte and widened.

    Integers become float64, so that a later 1.5 is no surprise. Integers beyond 2**53 there stay int64:
    those are identifiers, and rounding would merge them. Booleans, dates and text stay what they look like.

    A quote may span lines, so one that opens the last field of a row and is never closed takes the rows after
    it for text. Arrow notices when that is more than two blocks, else it cannot be told from a long text.
    """

    path: str
    delimiter: str
    gzipped: bool

    def columns(self) -> list[str]:
        """Return the header."""
        return self._header()[0]

    def types(self, columns: Sequence[str]) -> list[pa.DataType]:
        """Return the Arrow type of each column; null where nothing seen so far tells."""
        names, filled = self._header()
        if not filled:
            return [pa.null() for _ in columns]
        with reading(self.path, names), self._open(columns, {}, _LOOK_BYTES) as reader:
            first = reader.read_next_batch()
        return [self._widened(name, array) for name, array in zip(columns, first.columns, strict=True)]

    def batches(self, schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the file's rows as batches of at most `rows` of the given schema."""
        names, filled = self._header()
        if not filled:
            return
        types = {field.name: field.type for field in schema}
        with reading(self.path, names), self._open(schema.names, types, _READ_BYTES) as reader:
            for block in reader:
                for start in range(0, block.num_rows, rows):
                    yield block.slice(start, rows)

    def _header(self) -> tuple[list[str], bool]:
        """Return the column names, and whether any row follows: Arrow refuses a file without one."""
        # Only the header must be UTF-8 here; Arrow checks the chosen columns, and only those.
        options: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
        opener: Any = gzip.open if self.gzipped else open
        try:
            with reading(self.path), opener(self.path, "rt", **options) as file:
                names = next((row for row in csv.reader(file, delimiter=self.delimiter) if row), [])
                "".join(names).encode()
                filled = any(line.strip("\r\n") for line in file)
        except (csv.Error, EOFError, zlib.error) as error:
            raise self._unreadable("a header line", str(error)) from error
        if not names:
            raise self._unreadable("a header line", "an empty file")
        return names, filled

    def _open(self, columns: Sequence[str], types: dict[str, pa.DataType], block: int) -> Any:
        from pyarrow import csv as arrow_csv

        return arrow_csv.open_csv(
            pa.input_stream(self.path, compression="gzip" if self.gzipped else None),
            # One thread is as fast (the reader streams) and lets Arrow say which row it stumbled on.
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=block),
            parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(columns),
                column_types=types,
                null_values=list(NULLS),
                strings_can_be_null=True,
            ),
        )

    def _widened(self, column: str, array: pa.Array) -> pa.DataType:
        import pyarrow.compute as pc

        if pa.types.is_binary(array.type):
            raise self._unreadable(f"UTF-8 text in column {column!r}", "other bytes")
        if not pa.types.is_integer(array.type):
            return array.type
        ends = pc.min_max(array).as_py()
        return array.type if max(-ends["min"], ends["max"]) > _EXACT else pa.float64()

    def _unreadable(self, expected: str, found: str) -> SourceError:
        return SourceError(
            expected=f"{expected} in {self.path}",
            found=found,
            fix="Save it as UTF-8 text with the column names on its first line",
        )
