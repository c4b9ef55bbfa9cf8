"""Paths and globs: one or many Parquet and CSV files read as one table."""

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pyarrow as pa

from softlabel.errors import InputError, SourceError
from softlabel.sources.delimited import DelimitedFile
from softlabel.sources.parquet import ParquetFile
from softlabel.sources.protocol import BATCH_ROWS, Selection, Source, positions

__all__ = ["ENDINGS", "open_files"]

ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz")

_File = ParquetFile | DelimitedFile


def open_files(given: Sequence[str]) -> Source:
    """Open paths and globs as one source: files in the order given, those of a glob by name.

    Raises
    ------
    InputError
        A path or glob that names no file, a directory, an unknown ending, the same file twice, or files
        whose columns differ.
    SourceError
        A header that cannot be read.
    """
    paths = [path for pattern in given for path in _expand(pattern)]
    twice = [path for path, times in Counter(map(os.path.realpath, paths)).items() if times > 1]
    if twice or not paths:
        raise InputError(
            expected="at least one file, each once",
            found=f"{twice[0]} more than once" if twice else "an empty list",
            fix="Name each file once, by its path or by one glob",
        )
    files = [_file(path) for path in paths]
    names = files[0].columns()
    for file in files[1:]:
        _same_columns(names, paths[0], file)
    kinds = {"Parquet" if isinstance(file, ParquetFile) else "CSV" for file in files}
    plural = f"{len(files)} {kinds.pop() + ' ' if len(kinds) == 1 else ''}files"
    return _Files(paths[0] if len(files) == 1 else plural, names, files)


@dataclass(frozen=True, slots=True)
class _Files:
    """Files with the same column names."""

    name: str
    names: list[str]
    files: list[_File]

    def columns(self) -> list[str]:
        return list(self.names)

    def select(self, columns: Sequence[str]) -> Selection:
        positions(self, columns)
        types = [pa.null() for _ in columns]
        for file in self.files:
            for i, theirs in enumerate(file.types(columns)):
                common = _common(types[i], theirs)
                if common is None:
                    raise InputError(
                        expected=f"column {columns[i]!r} to hold one kind of value in every file",
                        found=f"{theirs} in {file.path} after {types[i]} in the files before it",
                        fix="Write that column the same way in every file",
                    )
                types[i] = common
        # A column with nothing in it is numbers that are all missing: an outcome or label yet to come.
        known = [pa.float64() if pa.types.is_null(t) else t for t in types]
        return _Chain(self.name, self.files, pa.schema(list(zip(columns, known, strict=True))))


@dataclass(frozen=True, slots=True)
class _Chain:
    """Chosen columns of files, one file after the other."""

    name: str
    files: list[_File]
    types: pa.Schema

    def schema(self) -> pa.Schema:
        return self.types

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        for file in self.files:
            yield from (batch for batch in file.batches(self.types, rows) if batch.num_rows)


def _expand(given: str) -> list[str]:
    """Return the files a path or glob stands for."""
    path = os.path.expanduser(given)  # noqa: PTH111  (Path's raises for an unknown user)
    matches = glob.glob(path, recursive=True)  # noqa: PTH207  (Path's takes relative patterns only)
    found = [path] if path and _is_there(path) else sorted(matches)  # Path("") is the folder here
    if not found:
        raise InputError(
            expected=f"{given!r} to be a file or a glob that matches some",
            found="none",
            fix=f"{_similar(path)}Check the spelling; relative paths start at {Path.cwd()}",
        )
    for path in found:
        if Path(path).is_dir():
            raise InputError(
                expected=f"{path} to be a file",
                found="a directory",
                fix=f"Pass a glob such as {Path(path) / '*.parquet'}",
            )
        if not Path(path).is_file():
            raise InputError(
                expected=f"{path} to be a file",
                found="a pipe or device, which can be read only once",
                fix="Save it to a file",
            )
    return found


def _is_there(path: str) -> bool:
    try:
        Path(path).stat()
    except PermissionError as error:
        raise SourceError(
            expected=f"to find {path}",
            found="no permission to look into its folder",
            fix="Ask for the right to read it, or copy it to where you have it",
        ) from error
    except (OSError, ValueError):  # nothing there, or no name that a file can have
        return False
    return True


def _similar(path: str) -> str:
    """Return a question that names the file most like this one in its folder; nothing if none is like it."""
    try:
        names = sorted(entry.name for entry in Path(path).parent.iterdir() if entry.is_file())
    except (OSError, ValueError):
        return ""
    close = get_close_matches(Path(path).name, names, n=1)
    return f"Did you mean {str(Path(path).with_name(close[0]))!r}? " if close else ""


def _file(path: str) -> _File:
    """Choose the reader by the ending."""
    lower = path.lower()
    if not lower.endswith(ENDINGS):
        raise InputError(
            expected=f"a file that ends in {', '.join(ENDINGS)}",
            found=path,
            fix="Convert or rename it, or load it and pass the table",
        )
    if lower.endswith((".parquet", ".pq")):
        return ParquetFile(path)
    return DelimitedFile(path, "\t" if ".tsv" in lower[-7:] else ",", gzipped=lower.endswith(".gz"))


def _same_columns(names: list[str], first: str, file: _File) -> None:
    """Insist that a file has the first file's columns, in any order."""
    theirs = file.columns()
    if sorted(theirs) != sorted(names):
        lacks = [n for n in dict.fromkeys(names) if theirs.count(n) < names.count(n)]
        extra = [n for n in dict.fromkeys(theirs) if theirs.count(n) > names.count(n)]
        parts = [("without", lacks), ("with", extra)]
        raise InputError(
            expected=f"the columns of {first} in every file",
            found=f"{file.path} " + " and ".join(f"{w} {', '.join(map(repr, c))}" for w, c in parts if c),
            fix="Give every file the same columns",
        )


def _common(ours: pa.DataType, theirs: pa.DataType) -> pa.DataType | None:
    """Return a type that holds both: any number fits float64, any text fits text; else None."""
    if ours == theirs or pa.types.is_null(theirs):
        return ours
    if pa.types.is_null(ours):
        return theirs
    if _is_number(ours) and _is_number(theirs):
        return pa.float64()
    return pa.large_string() if _is_text(ours) and _is_text(theirs) else None


def _is_number(t: pa.DataType) -> bool:
    return bool(pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t))


def _is_text(t: pa.DataType) -> bool:
    values = t.value_type if pa.types.is_dictionary(t) else t
    return bool(pa.types.is_string(values) or pa.types.is_large_string(values))
