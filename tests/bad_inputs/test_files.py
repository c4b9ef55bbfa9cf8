"""Files that are not there, not whole, not text, or not what their ending says."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softlabel import InputError, SoftlabelError, SourceError
from softlabel.sources import open_source
from tests.bad_inputs.asked import ROWS, columns, diagnosed, refused

CSV = pd.DataFrame(columns()).to_csv(index=False)
LINES = CSV.splitlines(keepends=True)
WHOLE = "Check that it is whole, of the format its name says"
UTF8 = "Save it as UTF-8"


def _parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns()), sink)
    return sink.getvalue()


def _in_row(row: int, text: str) -> bytes:
    """Return the CSV file with its line of this row, the header being 0, replaced."""
    return "".join([*LINES[:row], text, *LINES[row + 1 :]]).encode()


FIRST_OPEN = '"' + LINES[9]
LAST_OPEN = LINES[9].rpartition(",")[0] + ',"' + LINES[9].rpartition(",")[2]

FILES: dict[str, tuple[str, bytes, type[SoftlabelError], tuple[str, str, str]]] = {
    "Latin-1 in the header": (
        "a.csv",
        CSV.replace("age", "âge").encode("latin-1"),
        SourceError,
        ("UTF-8 text in ", "other bytes in its header, as in UTF-16 or Latin-1", UTF8),
    ),
    "Latin-1 in the rows": (
        "a.csv",
        pd.DataFrame(columns(sex=["é"] * ROWS)).to_csv(index=False).encode("latin-1"),
        SourceError,
        ("UTF-8 text in column 'sex' in ", "other bytes", UTF8),
    ),
    "UTF-16 with its mark": ("a.csv", CSV.encode("utf-16"), SourceError, ("UTF-8 text", "UTF-16 text", UTF8)),
    "UTF-16 of the other order": (
        "a.csv",
        b"\xfe\xff" + CSV.encode("utf-16-be"),
        SourceError,
        ("UTF-8 text in", "UTF-16 text", UTF8),
    ),
    "UTF-16 without its mark": ("a.csv", CSV.encode("utf-16-le"), SourceError, ("UTF-8", "as in UTF-16", UTF8)),
    "half a Parquet file": (
        "a.parquet",
        _parquet()[: len(_parquet()) // 2],
        SourceError,
        ("a.parquet to its end", "Parquet magic bytes not found in footer", WHOLE),
    ),
    "a Parquet file of nothing": ("a.parquet", b"", SourceError, ("a.parquet to its end", "size is 0 bytes", WHOLE)),
    "CSV called Parquet": ("a.parquet", CSV.encode(), SourceError, ("to its end", "not a parquet file", WHOLE)),
    "Parquet called CSV": ("a.csv", _parquet(), SourceError, ("UTF-8 text in", "a Parquet file", "ending .parquet")),
    "gzip called CSV": (
        "a.csv",
        gzip.compress(CSV.encode()),
        SourceError,
        ("UTF-8 text in", "a gzipped file", "Give it the ending .csv.gz"),
    ),
    "a workbook called CSV": (
        "a.csv",
        b"PK\x03\x04....",
        SourceError,
        ("UTF-8 text in", "a zip archive or a workbook", "save the sheet as CSV"),
    ),
    "CSV called gzip": ("a.csv.gz", CSV.encode(), SourceError, ("to its end", "Not a gzipped file", WHOLE)),
    "half a gzip file": (
        "a.csv.gz",
        gzip.compress(CSV.encode())[:900],
        SourceError,
        ("a.csv.gz to its end", "Truncated compressed stream", WHOLE),
    ),
    "an empty CSV": ("a.csv", b"", SourceError, ("a header line in", "an empty file", "the column names on its first")),
    "a header alone": ("a.csv", LINES[0].encode(), SoftlabelError, ("rows", "an empty table", "Check the file")),
    "a row too long": (
        "a.csv",
        _in_row(5, LINES[5].rstrip() + ",7\n"),
        SourceError,
        ("a.csv to its end", "row 6 (the header is row 1): Expected 5 columns, got 6", WHOLE),
    ),
    "a row too short": (
        "a.csv",
        _in_row(5, "1,2\n"),
        SourceError,
        ("a.csv to its end", "row 6 (the header is row 1): Expected 5 columns, got 2", WHOLE),
    ),
    "a quote never closed": (
        "a.csv",
        _in_row(9, FIRST_OPEN),
        SourceError,
        ("a.csv to its end", "Expected 5 columns, got 1", WHOLE),
    ),
    "a quote never closed in the last column": (
        "a.csv",
        _in_row(9, LAST_OPEN),
        SourceError,
        ("every quote in ", "one in the row from line 10 that is not", "Close the"),
    ),
    "a quote never closed in a gzip file": (
        "a.csv.gz",
        gzip.compress(_in_row(9, LAST_OPEN)),
        SourceError,
        ("every quote in ", "one in the row from line 10", "Close the quote or leave it out"),
    ),
    "semicolons": (
        "a.csv",
        CSV.replace(",", ";").encode(),
        InputError,
        ("a column 'days' in", "no column of that name", "separated by semicolons: save it with commas"),
    ),
    "tabs": (
        "a.csv",
        CSV.replace(",", "\t").encode(),
        InputError,
        ("a column 'days' in", "no column of that name", "separated by tabs"),
    ),
    "commas in a file of tabs": (
        "a.tsv",
        CSV.encode(),
        InputError,
        ("a column 'days' in", "no column of that name", "separated by commas"),
    ),
    "a name that occurs twice": (
        "a.csv",
        CSV.replace("age", "days").encode(),
        InputError,
        ("one column 'days' in", "2 columns of that name", "Rename them"),
    ),
    "numbers with commas": (
        "a.csv",
        pd.DataFrame(columns(days=["1,234.5"] * ROWS)).to_csv(index=False).encode(),
        InputError,
        ("the outcome 'days' to be numeric", "string, such as '1,234.5'", "Numbers must be plain, like 1234.5"),
    ),
    "a workbook": ("a.xlsx", b"PK", InputError, ("a file that ends in .parquet", "a.xlsx", "Convert or rename it")),
    "no ending": ("visits", CSV.encode(), InputError, ("a file that ends in .parquet", "visits", "load it and pass")),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_cannot_be_read(tmp_path: Path, case: str) -> None:
    name, content, kind, says = FILES[case]
    path = tmp_path / name
    path.write_bytes(content)
    if kind is SoftlabelError:
        from softlabel import DataError

        kind = DataError
    refused(path, {}, kind, says)


PATHS: dict[str, tuple[str, tuple[str, str, str]]] = {
    "misspelt": ("vistis.parquet", ("to be a file or a glob that matches some", "none", "Did you mean '")),
    "in no folder": ("nowhere/visits.parquet", ("nowhere/visits.parquet' to be a file", "none", "Check the spelling")),
    "a glob of nothing": ("no-*.csv", ("no-*.csv' to be a file or a glob", "none", "Check the spelling")),
    "a folder": ("", ("to be a file", "a directory", "Pass a glob such as ")),
    "too long a name": ("x" * 300 + ".csv", ("to be a file or a glob", "none", "relative paths start at")),
    "a name that cannot be": ("a\0.csv", ("to be a file or a glob", "none", "relative paths start at")),
}


@pytest.mark.parametrize("case", PATHS)
def test_a_path_to_nothing(tmp_path: Path, case: str) -> None:
    (tmp_path / "visits.parquet").write_bytes(_parquet())
    name, says = PATHS[case]
    refused(f"{tmp_path}/{name}", {}, InputError, says)


def test_the_file_that_was_meant_is_named(tmp_path: Path) -> None:
    meant = tmp_path / "visits.parquet"
    meant.write_bytes(_parquet())
    says = ("to be a file", "none", f"Did you mean {str(meant)!r}? Check the spelling")
    refused(tmp_path / "vistis.parquet", {}, InputError, says)


@pytest.mark.parametrize("opener", ["builtins.open", "pathlib.Path.open"])
def test_no_permission_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opener: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV, encoding="ascii")
    real = io.open

    def refuse(file: Any, *arguments: Any, **options: Any) -> Any:
        if str(file) == str(path):
            raise PermissionError(13, "Permission denied", str(file))
        return real(file, *arguments, **options)

    monkeypatch.setattr(opener, refuse)
    says = ("a.csv to its end", "Permission denied", "Ask for the right to read it")
    refused(path, {}, SourceError, says)


def test_no_permission_to_look_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, **_: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(self))

    path = str(tmp_path / "a.csv")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", refuse)
        with pytest.raises(SourceError) as caught:
            open_source(path)
    assert str(caught.value).startswith(f"Expected to find {path}; found no permission to look into its folder. Ask ")


def test_files_of_other_columns(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(CSV, encoding="ascii")
    (tmp_path / "2.csv").write_text(CSV.replace("age", "Age"), encoding="ascii")
    says = ("the columns of ", "2.csv without 'age' and with 'Age'", "Give every file the same columns")
    refused(f"{tmp_path}/*.csv", {}, InputError, says)


def test_files_of_other_types(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(CSV, encoding="ascii")
    (tmp_path / "2.csv").write_text(pd.DataFrame(columns(age=["old"] * ROWS)).to_csv(index=False), encoding="ascii")
    says = ("column 'age' to hold one kind of value in every file", "string in ", "Write that column the same way")
    refused([tmp_path / "1.csv", tmp_path / "2.csv"], {}, InputError, says)


# What looks broken and is not.


def test_a_lone_inch_mark_and_a_text_of_several_lines_are_no_open_quote(tmp_path: Path) -> None:
    frame = pd.DataFrame(columns()).assign(note="a long\ntext\nof lines")
    text = frame.to_csv(index=False) + '0.5,,0.5,50,1,12" ruler\n'
    (tmp_path / "a.csv").write_text(text, encoding="ascii")
    assert text.count('"') % 2
    assert diagnosed(tmp_path / "a.csv").sample.rows == ROWS + 1


def test_a_quote_open_beyond_the_first_megabyte(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    body = [*LINES, *(LINES[1:] * 300)]
    at = len(body) - 400
    body[at] = body[at].rpartition(",")[0] + ',"1.0\n'
    path.write_text("".join(body), encoding="ascii")
    with pytest.raises(SourceError, match=f"found one in the row from line {at + 1:,} that is not"):
        list(open_source(path).select(["days", "risk"]).batches())


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CSV.encode("utf-8-sig"))
    read = diagnosed(tmp_path / "a.csv").estimate("soft").estimate
    assert read == pytest.approx(diagnosed(columns()).estimate("soft").estimate, rel=1e-12)
    assert np.isfinite(read or np.nan)
