"""What only tables in memory do: no copies, harmless odd columns, refusals with a remedy."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from softlabel.errors import DataError, InputError
from softlabel.sources import open_source

WIDE = np.random.default_rng(0).normal(size=1000)


@pytest.mark.parametrize(
    ("data", "memory"),
    [
        pytest.param(frame := pd.DataFrame({"x": WIDE, "s": "a"}), frame["x"].to_numpy(), id="pandas"),
        pytest.param(frame := pl.DataFrame({"x": WIDE}), frame["x"].to_numpy(), id="polars"),
        pytest.param({"x": WIDE}, WIDE, id="dict"),
        pytest.param(pa.table({"x": WIDE}), WIDE, id="table"),
    ],
)
def test_float64_is_not_copied(data: Any, memory: np.ndarray) -> None:
    (batch,) = open_source(data).select(["x"]).batches()
    assert batch.column(0).buffers()[1].address == memory.ctypes.data


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (pd.DataFrame({"y": [1.0, 2.0], "odd": [object(), 3]}), "pandas DataFrame"),
        (pd.DataFrame({"y": [1.0, 2.0], "odd": [1, "a"]}), "pandas DataFrame"),
        (
            pl.DataFrame({"y": [1.0, 2.0], "odd": pl.Series([object(), 3], dtype=pl.Object)}),
            "Polars DataFrame",
        ),
        (pl.DataFrame({"y": [1.0, 2.0], "odd": pl.Series([1, 2], dtype=pl.Int128)}), "Polars DataFrame"),
        ({"y": [1.0, 2.0], "odd": np.zeros((2, 2))}, "dict of arrays"),
        ({"y": [1.0, 2.0], "odd": "ab"}, "dict of arrays"),
        ({"y": [1.0, 2.0], "odd": iter([1, 2])}, "dict of arrays"),
        ({"y": [1.0, 2.0], "odd": 3}, "dict of arrays"),
    ],
)
def test_an_odd_column_matters_only_when_chosen(data: Any, name: str) -> None:
    source = open_source(data)
    assert source.columns() == ["y", "odd"]
    assert [b.to_pydict() for b in source.select(["y"]).batches()] == [{"y": [1.0, 2.0]}]
    with pytest.raises(DataError, match=f"column 'odd' of {name} to hold one kind of value"):
        source.select(["y", "odd"])


def test_a_repeated_name_is_visible_and_harmless_until_chosen() -> None:
    for data in (
        pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "y"]),
        pa.Table.from_arrays([pa.array([v]) for v in (1.0, 2.0, 3.0)], names=["a", "a", "y"]),
        pd.DataFrame([[1.0, 2.0, 3.0]], columns=[1, "1", "y"]).rename(columns={1: "a", "1": "a"}),
    ):
        source = open_source(data)
        assert source.columns() == ["a", "a", "y"]
        assert [b.to_pydict() for b in source.select(["y"]).batches()] == [{"y": [3.0]}]
        with pytest.raises(InputError, match=r"one column 'a' in .*; found 2 columns of that name"):
            source.select(["a"])


def test_labels_that_are_not_text_are_read_as_text() -> None:
    source = open_source(pd.DataFrame([[1.0, 2.0]], columns=[0, ("x", 1)]))
    assert source.columns() == ["0", "('x', 1)"]
    assert [b.to_pydict() for b in source.select(["('x', 1)"]).batches()] == [{"('x', 1)": [2.0]}]


def test_missing_values_are_null_from_pandas_and_numpy_and_kept_apart_by_others() -> None:
    values = [1.0, None, float("nan")]
    nulls = {
        "pandas": (pd.DataFrame({"x": values}), 2),
        "numpy": ({"x": np.array([1.0, np.nan, np.nan])}, 2),
        "list": ({"x": values}, 2),
        "polars": (pl.DataFrame({"x": values}), 1),
        "pyarrow": (pa.table({"x": pa.array(values)}), 1),
    }
    for data, expected in nulls.values():
        (batch,) = open_source(data).select(["x"]).batches()
        assert batch.column(0).null_count == expected
        assert np.isnan(batch.column(0).to_numpy(zero_copy_only=False)).tolist() == [False, True, True]


def test_arrays_match_by_position_and_must_have_one_length() -> None:
    data = {"a": pd.Series([1, 2], index=[5, 6]), "b": np.array([3, 4]), "c": [5]}
    (batch,) = open_source(data).select(["a", "b"]).batches()
    assert batch.to_pydict() == {"a": [1, 2], "b": [3, 4]}
    with pytest.raises(InputError, match="one length in dict of arrays; found 2 rows in 'a', 1 rows in 'c'"):
        open_source(data).select(["a", "c"])


def test_no_rows_give_no_batches_but_a_schema() -> None:
    for data in (pd.DataFrame({"x": WIDE[:0]}), pl.DataFrame({"x": WIDE[:0]}), pa.table({"x": WIDE[:0]})):
        rows = open_source(data).select(["x"])
        assert rows.schema() == pa.schema([("x", pa.float64())])
        assert list(rows.batches()) == []


class OneShot:
    """Exports its stream the first time only."""

    def __init__(self, rows: int) -> None:
        self.reader = pa.table({"x": np.arange(rows)}).to_reader(max_chunksize=2)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader, self.reader = self.reader, None
        return reader.__arrow_c_stream__(requested_schema)


def test_a_stream_of_unknown_make_is_held_so_that_it_can_be_read_again() -> None:
    data = OneShot(5)
    source = open_source(data)
    for _ in range(2):
        assert [b["x"].to_pylist() for b in source.select(["x"]).batches()] == [[0, 1], [2, 3], [4]]
    with pytest.raises(InputError, match=r"OneShot to export its rows as an Arrow table; .*spent must be made anew"):
        open_source(data)


def _reader() -> pa.RecordBatchReader:
    return pa.table({"x": [1]}).to_reader()


class LaterEngine:
    """Pretends to come from an engine that is not installed here."""


def _pretend(module: str, name: str) -> object:
    return type(name, (LaterEngine,), {"__module__": module})()


@pytest.mark.parametrize(
    ("make", "found", "fix"),
    [
        (lambda: ds.dataset(pa.table({"x": [1]})).scanner(), "a pyarrow Scanner", "pass the dataset it scans"),
        (lambda: _pretend("pyspark.sql.classic.dataframe", "DataFrame"), "a pyspark DataFrame", ".toArrow()"),
        (_reader, "a pyarrow RecordBatchReader", "read only once: call .read_all()"),
        (
            lambda: _reader().__arrow_c_stream__(),
            "a PyCapsule",
            "read only once: pass the table it comes from",
        ),
        (lambda: (row for row in [1]), "a generator", "An iterator or open file can be read only once"),
        (lambda: Path(__file__).open(encoding="utf-8"), "a _io TextIOWrapper", "the file's path"),  # noqa: SIM115  (closed below)
        (lambda: 3, "a int", "Convert it"),
        (lambda: None, "a NoneType", "Convert it"),
        (lambda: np.zeros((3, 2)), "a numpy ndarray", "Convert it"),
        (lambda: [{"x": 1}], "a list", "Convert it"),
    ],
)
def test_what_cannot_be_read_twice_or_at_all_is_refused(make: Callable[[], Any], found: str, fix: str) -> None:
    data = make()
    with pytest.raises(InputError, match=f"a pandas or Polars DataFrame, .*{re.escape(found)}.*{re.escape(fix)}"):
        open_source(data)
    if hasattr(data, "close"):
        data.close()


@pytest.mark.parametrize("data", [pd.Series([1, 2]), pl.Series([1, 2]), pa.chunked_array([[1, 2]])])
def test_a_series_is_no_table(data: Any) -> None:
    with pytest.raises(
        InputError, match=r"to export its rows as an Arrow table; found .*Pass a table with named columns"
    ):
        open_source(data)
