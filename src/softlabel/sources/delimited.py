"""One CSV or TSV file, plain or gzipped, streamed."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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


_SIGNATURES = (
    (b"PAR1", "a Parquet file", "Give it the ending .parquet"),
    (b"\x1f\x8b", "a gzipped file", "Give it the ending .csv.gz or .tsv.gz"),
    (b"PK\x03\x04", "a zip archive or a workbook", "Unpack it, or save the sheet as CSV"),
    (b"\xff\xfe", "UTF-16 text", "Save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "Save it as UTF-8"),
)


class _Counted:
    """A file for Arrow to read, of which the quotes and line ends that went by are counted."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.quotes = self.lines = 0
        self.ended = False
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data: bytes = self.file.read(size)
        self.quotes += data.count(b'"')
        self.lines += data.count(b"\n")
        self.ended = self.ended or size < 0 or len(data) < size
        return data

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self.file.close()


@dataclass(frozen=True, slots=True)
class DelimitedFile:
    """A header line, then rows; types are read off the first megabyte and widened.

    Integers become float64, so that a later 1.5 is no surprise. Integers beyond 2**53 there stay int64:
    those are identifiers, and rounding would merge them. Booleans, dates and text stay what they look like.

    A quote may span lines, so one that opens the last field of a row and is never closed takes the rows after
    it for text. Arrow notices when that is more than two blocks, `_check_quotes` when it is less.
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
        with reading(self.path, names), self._open(columns, {}, _LOOK_BYTES) as (reader, counted):
            first = reader.read_next_batch()
            if counted.ended:
                self._check_quotes(counted, first.num_rows)
        return [self._widened(name, array) for name, array in zip(columns, first.columns, strict=True)]

    def batches(self, schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the file's rows as batches of at most `rows` of the given schema."""
        names, filled = self._header()
        if not filled:
            return
        types = {field.name: field.type for field in schema}
        seen = 0
        with reading(self.path, names), self._open(schema.names, types, _READ_BYTES) as (reader, counted):
            for block in reader:
                seen += block.num_rows
                for start in range(0, block.num_rows, rows):
                    yield block.slice(start, rows)
            self._check_quotes(counted, seen)

    def _header(self) -> tuple[list[str], bool]:
        """Return the column names, and whether any row follows: Arrow refuses a file without one."""
        # Only the header must be UTF-8 here; Arrow checks the chosen columns, and only those.
        options: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": ""}
        opener: Any = gzip.open if self.gzipped else open
        try:
            with reading(self.path):
                self._check_kind()
                with opener(self.path, "rt", **options) as file:
                    names = next((row for row in csv.reader(file, delimiter=self.delimiter) if row), [])
                    filled = any(line.strip("\r\n") for line in file)
        except (csv.Error, EOFError, zlib.error) as error:
            raise self._unreadable("a header line", str(error)) from error
        header = "".join(names)
        if "\0" in header or any("\udc80" <= letter <= "\udcff" for letter in header):
            raise self._unreadable("UTF-8 text", "other bytes in its header, as in UTF-16 or Latin-1")
        if not names:
            raise self._unreadable("a header line", "an empty file")
        return names, filled

    def _check_kind(self) -> None:
        """Raise if the first bytes are those of another kind of file."""
        if self.gzipped:
            return
        with Path(self.path).open("rb") as file:
            start = file.read(4)
        for signature, kind, fix in _SIGNATURES:
            if start.startswith(signature):
                raise SourceError(expected=f"UTF-8 text in {self.path}", found=kind, fix=fix)

    def _check_quotes(self, counted: _Counted, rows: int) -> None:
        """Raise if the file ends inside a quote, which has taken rows for text.

        Then quotes are odd in number and lines are more than rows. Both can be with a text of several lines and a
        lone inch mark, so the file is parsed again to know.
        """
        if counted.quotes % 2 == 0 or counted.lines <= rows + 1:
            return
        opener: Any = gzip.open if self.gzipped else open
        last = 1
        try:
            with opener(self.path, "rt", encoding="utf-8", errors="replace", newline="") as file:
                parsed = csv.reader(file, delimiter=self.delimiter, strict=True)
                for _ in parsed:
                    last = parsed.line_num + 1
        except csv.Error as error:
            if "unexpected end" in str(error) or "field larger" in str(error):
                raise SourceError(
                    expected=f"every quote in {self.path} to be closed",
                    found=f"one in the row from line {last:,} that is not, which takes the lines after it for text",
                    fix="Close the quote or leave it out; write a quote inside a text twice",
                ) from error

    @contextmanager
    def _open(
        self, columns: Sequence[str], types: dict[str, pa.DataType], block: int
    ) -> Iterator[tuple[Any, _Counted]]:
        from pyarrow import csv as arrow_csv

        counted = _Counted(pa.input_stream(self.path, compression="gzip" if self.gzipped else None))
        with arrow_csv.open_csv(
            pa.PythonFile(counted, mode="r"),
            # One thread is as fast (the reader streams) and lets Arrow say which row it stumbled on.
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=block),
            parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(columns),
                column_types=types,
                null_values=list(NULLS),
                strings_can_be_null=True,
            ),
        ) as reader:
            yield reader, counted

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
