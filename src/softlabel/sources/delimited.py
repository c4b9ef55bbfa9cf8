"""One CSV or TSV file, plain or gzipped, streamed."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    # Not empty once a whole reading found every quote closed: later readings need not count them again.
    _closed: list[bool] = field(default_factory=list, init=False, repr=False, compare=False)

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
            if self._ends_within(_LOOK_BYTES):
                self._check_quotes(first.num_rows)
        return [self._widened(name, array) for name, array in zip(columns, first.columns, strict=True)]

    def batches(self, schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the file's rows as batches of at most `rows` of the given schema."""
        names, filled = self._header()
        if not filled:
            return
        types = {field.name: field.type for field in schema}
        seen = 0
        with reading(self.path, names), self._open(schema.names, types, _READ_BYTES) as reader:
            for block in reader:
                seen += block.num_rows
                for start in range(0, block.num_rows, rows):
                    yield block.slice(start, rows)
            self._check_quotes(seen)

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

    def _ends_within(self, size: int) -> bool:
        """Return whether the file has no more than so many bytes."""
        with self._bytes() as file:
            return len(file.read(size + 1)) <= size

    def _bytes(self) -> Any:
        # A file of our own, not one that Arrow reads through: its threads read ahead, and one that is still inside
        # Python when the program ends takes the process down.
        return gzip.open(self.path) if self.gzipped else Path(self.path).open("rb")

    def _check_quotes(self, rows: int) -> None:
        """Raise if the file ends inside a quote, which has taken rows for text.

        Then quotes are odd in number and lines are more than rows. Both can be with a text of several lines and a
        lone inch mark, so the file is parsed again to know.
        """
        if self._closed:
            return
        quotes = lines = 0
        with self._bytes() as file:
            while block := file.read(_READ_BYTES):
                quotes += block.count(b'"')
                lines += block.count(b"\n")
        if quotes % 2 and lines > rows + 1:
            self._parse_strictly()
        self._closed.append(True)

    def _parse_strictly(self) -> None:
        """Raise if the file ends inside a quote, and say in which line that quote is."""
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
    def _open(self, columns: Sequence[str], types: dict[str, pa.DataType], block: int) -> Iterator[Any]:
        from pyarrow import csv as arrow_csv

        with arrow_csv.open_csv(
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
        ) as reader:
            yield reader

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
