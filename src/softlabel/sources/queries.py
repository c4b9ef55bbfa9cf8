"""Engines that run a query whenever its rows are wanted: Polars LazyFrames, PyArrow datasets, DuckDB relations.

No engine is imported, and none is asked for more than the chosen columns. Each hands out small tables in memory,
which `softlabel.sources.arrow` already knows how to read.
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from re import escape
from typing import Any, Protocol

import pyarrow as pa

from softlabel.errors import InputError, SoftlabelError, SourceError
from softlabel.sources.arrow import Frame, is_a
from softlabel.sources.protocol import BATCH_ROWS, Selection, Source, positions

__all__ = ["open_query"]


def open_query(data: Any) -> Source | None:
    """Open a query that has not run yet; None when `data` is not one."""
    engine: _Engine | None = None
    if is_a(data, "polars", "LazyFrame"):
        engine = _LazyFrame(data)
    elif is_a(data, "pyarrow", "Dataset"):
        engine = _Dataset(data)
    elif is_a(data, "duckdb", "DuckDBPyRelation") or is_a(data, "_duckdb", "DuckDBPyRelation"):
        engine = _Relation(data)
    if engine is None:
        return None
    with _running(engine.name):
        return _Query(engine.name, engine.columns(), engine)


class _Engine(Protocol):
    """What an engine has to offer; all of it may raise what it likes."""

    @property
    def name(self) -> str:
        """What to call it in a message."""

    def columns(self) -> list[str]:
        """Every column name in order."""

    def empty(self, columns: list[str]) -> Frame:
        """Return these columns, if not more, as a table without rows: it has their types."""

    def tables(self, columns: list[str], rows: int) -> Generator[Frame, None, None]:
        """Run the query from the start on these columns; yield tables of about so many rows."""


@dataclass(frozen=True, slots=True)
class _LazyFrame:
    frame: Any
    name: str = "Polars LazyFrame"

    def columns(self) -> list[str]:
        version = str(sys.modules["polars"].__version__)  # loaded, as the frame is one of its objects
        if tuple(map(int, version.split(".")[:2])) < (1, 37):
            # Polars 1.34 to 1.36 ended the batches at an error as if there were no more rows.
            raise InputError(
                expected="Polars 1.37 or newer to stream a LazyFrame",
                found=version,
                fix="Upgrade Polars, or call .collect() on the frame",
            )
        return list(self.frame.collect_schema().names())

    def empty(self, columns: list[str]) -> Frame:
        return self._held(self._chosen(columns).clear().collect())

    def tables(self, columns: list[str], rows: int) -> Generator[Frame, None, None]:
        for piece in self._chosen(columns).collect_batches(chunk_size=rows):
            yield self._held(piece)

    def _chosen(self, columns: list[str]) -> Any:
        # Polars takes "*" and "^...$" for patterns.
        special = {c for c in columns if c == "*" or (c.startswith("^") and c.endswith("$"))}
        return self.frame.select([f"^{escape(c)}$" if c in special else c for c in columns])

    def _held(self, piece: Any) -> Frame:
        return Frame(self.name, piece.columns, piece.to_series)


@dataclass(frozen=True, slots=True)
class _Dataset:
    """Of Parquet files with ``pre_buffer``, the default, PyArrow keeps what it has read of the file it is in."""

    data: Any

    @property
    def name(self) -> str:
        return f"pyarrow {type(self.data).__name__}"

    def columns(self) -> list[str]:
        return list(self.data.schema.names)

    def empty(self, columns: list[str]) -> Frame:  # noqa: ARG002  (the types of all are known)
        return _arrow(self.name, self.data.schema.empty_table())

    def tables(self, columns: list[str], rows: int) -> Generator[Frame, None, None]:
        # The default reads 16 batches of 4 files ahead: for batches of ours, more than there may be memory.
        for batch in self.data.to_batches(columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1):
            yield _arrow(self.name, batch)


@dataclass(frozen=True, slots=True)
class _Relation:
    relation: Any
    name: str = "DuckDB relation"
    opened: list[Any] = field(default_factory=list)

    def columns(self) -> list[str]:
        return list(self.relation.columns)

    def empty(self, columns: list[str]) -> Frame:
        return _arrow(self.name, self._chosen(columns).limit(0).to_arrow_table())

    def tables(self, columns: list[str], rows: int) -> Generator[Frame, None, None]:
        # A connection has one open result: a reading left unfinished gives way to the next.
        while self.opened:
            self.opened.pop().close()
        chosen = self._chosen(columns)
        read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader  # its name before DuckDB 1.5
        reader = read(rows)
        self.opened.append(reader)
        try:
            for batch in reader:
                yield _arrow(self.name, batch)
        finally:
            reader.close()

    def _chosen(self, columns: list[str]) -> Any:
        quoted = ['"' + c.replace('"', '""') + '"' for c in columns]
        chosen = self.relation.project(", ".join(quoted))
        for column, came in zip(columns, chosen.columns, strict=True):
            if column != came:  # DuckDB does not tell A from a, and takes the first
                raise InputError(
                    expected=f"columns of {self.name} whose names differ in more than case",
                    found=f"{came!r} beside {column!r}",
                    fix="Rename one of them",
                )
        return chosen


@dataclass(frozen=True, slots=True)
class _Query:
    """An engine's query, and the names of all its columns."""

    name: str
    names: list[str]
    engine: _Engine

    def columns(self) -> list[str]:
        return list(self.names)

    def select(self, columns: Sequence[str]) -> Selection:
        positions(self, columns)
        with _running(self.name):
            schema = self.engine.empty(list(columns)).select(columns).schema()
        return _Rows(self.name, self.engine, schema)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Chosen columns of a query, which runs for each reading."""

    name: str
    engine: _Engine
    types: pa.Schema

    def schema(self) -> pa.Schema:
        return self.types

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        names = self.types.names
        with _running(self.name), closing(self.engine.tables(names, rows)) as tables:
            for table in tables:
                for batch in table.select(names).batches(rows):
                    yield batch.cast(self.types)


def _arrow(name: str, piece: pa.Table | pa.RecordBatch) -> Frame:
    return Frame(name, piece.schema.names, piece.column)


@contextmanager
def _running(name: str) -> Iterator[None]:
    """Turn whatever an engine, or a function of the caller's that it runs, raises into one `SourceError`."""
    try:
        yield
    except SoftlabelError:
        raise
    except Exception as error:
        # What follows an empty line is the plan or the text of the query.
        first = str(error).strip().split("\n\n", maxsplit=1)[0]
        raise SourceError(
            expected=f"to read {name} to its end",
            found=" ".join(first.split()).rstrip(".") or type(error).__name__,
            fix="See that it runs by itself and gives each column one type; leave what it reads as it is until the end",
        ) from error
