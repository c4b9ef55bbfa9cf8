"""What only files do: paths, globs, types read off the beginning, damage."""

import csv
import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.errors import InputError, SourceError
from softlabel.sources import open_source
from softlabel.sources.delimited import NULLS


def _file(path: Path, content: str | bytes | dict[str, Any]) -> Path:
    if isinstance(content, dict):
        pq.write_table(pa.table(content), path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _read(data: Any, *columns: str) -> dict[str, list[Any]]:
    rows = open_source(data).select(columns)
    table: dict[str, list[Any]] = pa.Table.from_batches(rows.batches(), rows.schema()).to_pydict()
    return table


def _types(data: Any, *columns: str) -> list[str]:
    return [str(field.type) for field in open_source(data).select(columns).schema()]


# Paths


def test_a_home_folder_and_endings_in_capitals_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    _file(tmp_path / "A.CSV.GZ", gzip.compress(b"y\n1\n", mtime=0))
    _file(tmp_path / "b.TSV", "y\tz\n2\t3\n")
    assert _read("~/A.CSV.GZ", "y") == {"y": [1.0]}
    assert _read("~/*.TSV", "z") == {"z": [3.0]}


def test_a_name_with_brackets_is_a_path_before_it_is_a_glob(tmp_path: Path) -> None:
    _file(tmp_path / "a[1].csv", "y\n1\n")
    _file(tmp_path / "a1.csv", "y\n2\n")
    assert _read(tmp_path / "a[1].csv", "y") == {"y": [1.0]}


def test_names_for_messages(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        _file(tmp_path / name, "y\n1\n")
    for name in ("c.pq", "d.parquet"):
        _file(tmp_path / name, {"y": [1.0]})
    at = str(tmp_path)
    assert open_source(f"{at}/a.csv").name == f"{at}/a.csv"
    assert open_source(f"{at}/*.csv").name == "2 CSV files"
    assert open_source([f"{at}/c.pq", f"{at}/d.parquet"]).name == "2 Parquet files"
    assert open_source(f"{at}/*").name == "4 files"


@pytest.mark.parametrize("name", ["", "nowhere.csv", "no-*.parquet", "~/nowhere.csv", "s3://bucket/a.parquet"])
def test_a_path_to_nothing_is_named_as_given(name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_source(name)
    assert f"{name!r} to be a file or a glob" in str(caught.value)
    assert str(Path.cwd()) in str(caught.value)


def test_a_directory_asks_for_a_glob(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"found a directory\. Pass a glob such as .*\*\.parquet") as caught:
        open_source(tmp_path)
    assert f"{tmp_path} to be a file" in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match=r"pipe\.csv to be a file; found a pipe or device.*Save it to a file"):
        open_source(tmp_path / "pipe.csv")


def test_an_unknown_ending_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.parquet, .*\.tsv\.gz; found .*table\.xlsx"):
        open_source(_file(tmp_path / "table.xlsx", "y\n"))


def test_no_file_and_the_same_file_twice_are_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.csv", "y\n1\n")
    with pytest.raises(InputError, match="at least one file, each once; found an empty list"):
        open_source([])
    with pytest.raises(InputError, match=r"each once; found .*a\.csv more than once"):
        open_source([path, tmp_path / "*.csv"])


# Many files


def test_files_may_order_their_columns_differently(tmp_path: Path) -> None:
    paths = [_file(tmp_path / "1.csv", "y,x\n1,2\n"), _file(tmp_path / "2.csv", "x,y\n4,3\n")]
    assert open_source(paths).columns() == ["y", "x"]
    assert _read(paths, "x", "y") == {"x": [2.0, 4.0], "y": [1.0, 3.0]}


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("y,x", "without 'z'"),
        ("y,x,z,w", "with 'w'"),
        ("y,x,Z", "without 'z' and with 'Z'"),
        ("y,y,x,z", "with 'y'"),
    ],
)
def test_another_set_of_columns_is_named(tmp_path: Path, header: str, found: str) -> None:
    paths = [
        _file(tmp_path / "1.csv", "y,x,z\n"),
        _file(tmp_path / "2.csv", "z,y,x\n"),
        _file(tmp_path / "3.csv", header),
    ]
    with pytest.raises(InputError, match=rf"columns of .*1\.csv in every file; found .*3\.csv {found}\."):
        open_source(paths)


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        (pa.int64(), pa.float64(), "double"),
        (pa.int32(), pa.float32(), "double"),
        (pa.int64(), pa.uint64(), "double"),
        (pa.decimal128(21, 2), pa.int8(), "double"),
        (pa.null(), pa.string(), "string"),
        (pa.bool_(), pa.null(), "bool"),
        (pa.null(), pa.null(), "double"),
        (pa.int64(), pa.int64(), "int64"),
        (pa.string(), pa.string_view(), "large_string"),
        (pa.dictionary(pa.int32(), pa.string()), pa.large_string(), "large_string"),
    ],
)
def test_types_that_fit_together(tmp_path: Path, first: pa.DataType, second: pa.DataType, common: str) -> None:
    def column(kind: pa.DataType) -> pa.Array:
        text = pa.types.is_dictionary(kind) or "string" in str(kind)
        values = [None] if kind == pa.null() else ["a"] if text else [True] if kind == pa.bool_() else [1]
        return pa.array(values).cast(kind)

    paths = [_file(tmp_path / f"{k}.parquet", {"x": column(kind)}) for k, kind in enumerate([first, second])]
    assert _types(paths, "x") == [common]
    expected = [column(kind).to_pylist()[0] for kind in (first, second)]
    assert _read(paths, "x") == {"x": expected}


@pytest.mark.parametrize(("early", "late"), [("1", "a"), ("true", "1"), ("2020-01-01", "3"), ("a", "2.5")])
def test_types_that_do_not_fit_name_the_file_and_the_column(tmp_path: Path, early: str, late: str) -> None:
    paths = [_file(tmp_path / f"{k}.csv", f"y,x\n1,{value}\n") for k, value in enumerate(["NA", early, late])]
    source = open_source(paths)
    assert source.select(["y"]).schema().names == ["y"]
    with pytest.raises(InputError, match=r"column 'x' to hold one kind of value in every file; found .* in .*2\.csv"):
        source.select(["y", "x"])


# CSV


def test_types_are_widened(tmp_path: Path) -> None:
    rows = "1,2.5,True,a,2020-01-01,,9007199254740993\n0,-1e3,false,,,NA,-1\n"
    path = _file(tmp_path / "a.csv", "i,f,b,s,d,none,big\n" + rows)
    assert _types(path, *"ifbs") == ["double", "double", "bool", "string"]
    assert _types(path, "d", "none", "big") == ["date32[day]", "double", "int64"]
    assert _read(path, *"ifbs", "none", "big") == {
        "i": [1.0, 0.0],
        "f": [2.5, -1000.0],
        "b": [True, False],
        "s": ["a", None],
        "none": [None, None],
        "big": [9007199254740993, -1],
    }


# A megabyte of rows is looked at for types: what comes after 300,000 rows is news.
LONG = "x,y,z\n" + "1,,t\n" * 300_000


def test_a_fraction_or_a_value_may_come_late(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.csv", LONG + "1.5,0.25,u\n")
    rows = open_source(path).select(["y", "x"])
    last = list(rows.batches())[-1].to_pylist()[-1]
    assert last == {"y": 0.25, "x": 1.5}
    assert sum(batch.num_rows for batch in rows.batches()) == 300_001


def test_a_late_word_among_numbers_names_file_column_and_row(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.csv", LONG + "1,.,t\n")
    with pytest.raises(SourceError) as caught:
        list(open_source(path).select(["z", "y"]).batches())
    message = str(caught.value)
    assert f"to read {path} to its end; found in column 'y', row 300002 (the header is row 1)" in message
    assert "'.'" in message
    assert isinstance(caught.value.__cause__, pa.ArrowInvalid)


@pytest.mark.parametrize("spelling", NULLS)
def test_spellings_of_missing(tmp_path: Path, spelling: str) -> None:
    path = _file(tmp_path / "a.csv", f'x,s\n1,a\n{spelling},{spelling}\n"{spelling}","{spelling}"\n')
    assert _read(path, "x", "s") == {"x": [1.0, None, None], "s": ["a", None, None]}


def test_a_full_stop_is_text(tmp_path: Path) -> None:
    assert _read(_file(tmp_path / "a.csv", "x,y\n.,1\n"), "x") == {"x": ["."]}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_byte_order_mark_blank_lines_and_windows_line_ends(tmp_path: Path, ending: str) -> None:
    content = b"\xef\xbb\xbfy,x\r\n\r\n1,2\r\n\r\n"
    path = _file(tmp_path / f"a{ending}", gzip.compress(content) if ending == ".csv.gz" else content)
    assert open_source(path).columns() == ["y", "x"]
    assert _read(path, "y", "x") == {"y": [1.0], "x": [2.0]}


@pytest.mark.parametrize("content", ["y,x", "y,x\n", "\n\ny,x\n\n\n"])
def test_a_header_alone_is_a_table_of_no_rows(tmp_path: Path, content: str) -> None:
    path = _file(tmp_path / "a.csv", content)
    rows = open_source(path).select(["x"])
    assert rows.schema() == pa.schema([("x", pa.float64())])
    assert list(rows.batches()) == []
    assert _read([path, _file(tmp_path / "b.csv", "x,y\nword,1\n")], "x") == {"x": ["word"]}


def test_a_repeated_header_is_visible(tmp_path: Path) -> None:
    source = open_source(_file(tmp_path / "a.csv", "y,x,y\n1,2,3\n"))
    assert source.columns() == ["y", "x", "y"]
    assert next(source.select(["x"]).batches()).to_pydict() == {"x": [2.0]}
    with pytest.raises(InputError, match=r"one column 'y' in .*found 2 columns"):
        source.select(["y"])


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.csv", b"", "found an empty file"),
        ("a.csv", b"\n\n", "found an empty file"),
        ("a.csv", b"y,x\n1,2\n3\n", "row 3 (the header is row 1): Expected 2 columns, got 1"),
        ("a.csv", "y,é\n1,2\n".encode("latin-1"), "UTF-8 text in"),
        ("a.csv", "y,x\n1,é\n".encode("latin-1"), "UTF-8 text in column 'x'"),
        ("a.csv", b"y,x\n" + b"1,t\n" * 300_000 + "1,é\n".encode("latin-1"), "invalid UTF8 data"),
        ("a.csv", "y,x\n1,2\n".encode("utf-16"), "a.csv"),
        ("a.csv", b'x,z\n1,"t\n' + b"1,t\n" * 1_000_000, "is a quote never closed?"),
        ("a.csv.gz", b"y,x\n1,2\n", "Not a gzipped file"),
        ("a.csv.gz", gzip.compress(LONG.encode())[:2000], "Truncated compressed stream"),
        ("a.csv.gz", gzip.compress(b"y,x\n1,2\n", mtime=0)[:12], "a.csv.gz"),
        ("a.csv.gz", gzip.compress(b"y,x\n1,2\n", mtime=0)[:10] + b"\xff" * 20, "a.csv.gz"),
        ("a.parquet", b"", "0 bytes"),
        ("a.parquet", b"PAR1 nothing of the kind", "magic bytes not found"),
    ],
)
def test_damage_is_named_with_its_file(tmp_path: Path, name: str, content: bytes, found: str) -> None:
    path = _file(tmp_path / name, content)
    with pytest.raises(SourceError) as caught:
        list(open_source(path).select(["x"]).batches())
    assert str(path) in str(caught.value)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8_do_no_harm_without_a_role(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.csv", "y,note\n1,é\n".encode("latin-1"))
    assert _read(path, "y") == {"y": [1.0]}


@given(
    rows=st.lists(
        st.tuples(
            st.floats(allow_nan=False),
            # A letter first, so that no column of words happens to be all numbers or dates. A lone carriage
            # return is left out because Python's csv reader, the header's, calls it an error.
            st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=8).map("t".__add__),
        ),
        min_size=1,
        max_size=20,
    ),
    limit=st.integers(1, 7),
)
def test_csv_gives_back_every_bit(tmp_path_factory: pytest.TempPathFactory, rows: list[Any], limit: int) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("x", "s"), *rows])
    batches = [batch.to_pydict() for batch in open_source(path).select(["x", "s"]).batches(limit)]
    assert all(len(batch["x"]) <= limit for batch in batches)
    read = [pair for batch in batches for pair in zip(batch["x"], batch["s"], strict=True)]
    # hex tells -0.0 from 0.0
    assert [(x.hex(), s) for x, s in read] == [(x.hex(), s) for x, s in rows]


# Parquet


def test_dots_in_a_name_are_not_a_path_into_a_struct(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.parquet", {"s": [{"y": 1}], "s.y": [2.0], "b": [3.0]})
    assert open_source(path).columns() == ["s", "s.y", "b"]
    assert _read(path, "b", "s.y") == {"b": [3.0], "s.y": [2.0]}


def test_a_damaged_page_and_a_file_that_went_away(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.parquet", {"x": [1.0, 2.0]})
    content = bytearray(path.read_bytes())
    content[4:30] = b"\xff" * 26
    rows = open_source(_file(path, bytes(content))).select(["x"])
    with pytest.raises(SourceError, match=r"to read .*a\.parquet to its end; found Couldn't deserialize thrift"):
        list(rows.batches())
    path.unlink()
    with pytest.raises(SourceError, match=r"to read .*a\.parquet to its end; found .*No such file"):
        list(rows.batches())


def test_a_column_that_went_away_between_two_reads(tmp_path: Path) -> None:
    rows = open_source(_file(tmp_path / "a.parquet", {"x": [1.0]})).select(["x"])
    _file(tmp_path / "a.parquet", {"y": [1.0]})
    with pytest.raises(SourceError, match=r"to read .*a\.parquet to its end; found .*x.* does not exist"):
        list(rows.batches())


def test_memory_stays_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [i / 3 for i in range(400_000)]}), path, row_group_size=20_000)
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in open_source(path).select(["x"]).batches(10_000)]
    # The column is 3.2 MB. A row group, its decoded batch and what was read ahead are a few of 160 kB.
    assert max(held) < 1_000_000
