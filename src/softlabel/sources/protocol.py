"""The one face every engine shows: a `Source` lists its columns, a `Selection` of them yields rows.

Two steps, because a table may hold columns without a role that Arrow cannot even represent: a source knows
*names* only, and nothing is converted, typed or decoded before ``select`` has said which columns matter.

What every adapter promises:

* **Re-readable.** ``batches()`` starts at the first row each time it is called and gives the same rows in the
  same order, if the engine keeps one. There is no ``rereadable`` flag, as it would always be true: what can be
  read only once never becomes a source. (Whether rows changed behind our back between two reads is for the
  passes to notice.) A new reading may end an older one that was left unfinished, with a `SourceError`.
* **Null and NaN mean the same**: missing. Which of the two arrives depends on the engine (Polars and files
  keep them apart, pandas has one for both), so whoever reads must treat them alike.
* **Types are the engine's own**, but text is string, large_string or a dictionary of either. Dictionaries may
  differ from batch to batch.
* **Bounded.** Batches are never empty and never longer than asked; a source of no rows yields none.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from softlabel.errors import InputError, SoftlabelError, SourceError, did_you_mean

__all__ = ["BATCH_ROWS", "Selection", "Source", "plain_type", "positions", "reading"]

BATCH_ROWS = 4 * 65_536

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}


class Selection(Protocol):
    """Chosen columns of a source: their types, and their rows as often as wanted."""

    @property
    def name(self) -> str:
        """What to call the source in a message."""

    def schema(self) -> pa.Schema:
        """Names, in the order selected, and Arrow types; no metadata."""

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yield every row from the first, in batches of 1 to `rows` rows with exactly this schema."""


class Source(Protocol):
    """A table somewhere, of which only the column names are known yet."""

    @property
    def name(self) -> str:
        """What to call it in a message: ``visits.parquet``, ``pandas DataFrame``, ``3 CSV files``."""

    def columns(self) -> list[str]:
        """Every column name in order, a repeated name as often as it occurs."""

    def select(self, columns: Sequence[str]) -> Selection:
        """Choose columns and learn their types; the order is kept.

        Raises
        ------
        InputError
            A name that is unknown, ambiguous or asked for twice.
        DataError, SourceError
            A chosen column has no Arrow form, or could not be read.
        """


def positions(source: Source, wanted: Sequence[str]) -> list[int]:
    """Return where the wanted columns stand, each of which must exist exactly once."""
    known = source.columns()
    if not wanted or len(set(wanted)) < len(wanted):
        raise InputError(
            expected=f"at least one column of {source.name}, each once",
            found=", ".join(map(repr, wanted)) or "none",
            fix="Name each column once",
        )
    for column in wanted:
        if column not in known:
            raise InputError(
                expected=f"a column {column!r} in {source.name}",
                found="no column of that name",
                fix=_other_separator(known) or did_you_mean(column, known),
            )
        if known.count(column) > 1:
            raise InputError(
                expected=f"one column {column!r} in {source.name}",
                found=f"{known.count(column)} columns of that name",
                fix="Rename them so that each name occurs once",
            )
    return [known.index(column) for column in wanted]


def _other_separator(known: Sequence[str]) -> str | None:
    """Return advice where the only column is a header line that was not cut, ``None`` elsewhere."""
    seen = [name for sign, name in _SEPARATORS.items() if len(known) == 1 and sign in known[0]]
    if not seen:
        return None
    only = known[0][:80]
    return f"Its only column is {only!r}, so it is separated by {seen[0]}: save it with commas, or as .tsv with tabs"


def plain_type(data_type: pa.DataType) -> pa.DataType:
    """Replace views of text and bytes, which too few Arrow functions understand, by plain ones.

    Examples
    --------
    >>> import pyarrow as pa
    >>> plain_type(pa.string_view())
    DataType(large_string)
    >>> plain_type(pa.int64())
    DataType(int64)
    """
    if pa.types.is_dictionary(data_type):
        return pa.dictionary(data_type.index_type, plain_type(data_type.value_type), data_type.ordered)
    if pa.types.is_binary_view(data_type):
        return pa.large_binary()
    return pa.large_string() if pa.types.is_string_view(data_type) else data_type


@contextmanager
def reading(name: str, columns: Sequence[str] = ()) -> Iterator[None]:
    """Turn whatever Arrow raises while reading `name` into one `SourceError`.

    Arrow's CSV reader names a column by number, counted over the whole file: `columns` gives the names.
    """
    try:
        yield
    except SoftlabelError:
        raise
    except (pa.ArrowException, OSError, UnicodeError, KeyError) as error:
        text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        if columns:
            text = re.sub(r"In CSV column #(\d+): ", lambda m: f"in column {columns[int(m[1])]!r}, ", text)
            text = re.sub(r"Row #(\d+):", r"row \1 (the header is row 1):", text)
            text = re.sub("^straddling object .*", "a row of megabytes: is a quote never closed?", text)
        raise SourceError(
            expected=f"to read {name} to its end",
            found=text,
            fix="Ask for the right to read it, or copy it to where you have it"
            if isinstance(error, PermissionError)
            else "Check that it is whole, of the format its name says, and holds one kind of value per column",
        ) from error
