"""Objects that are no table, or can be read only once; and odd tables that are read right."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import softlabel as sl
from softlabel import InputError, SourceError
from tests.bad_inputs.asked import ROWS, columns, diagnosed, refused

A_TABLE = "a pandas or Polars DataFrame, a Polars LazyFrame, a pyarrow Table"
ONCE = "An iterator or open file can be read only once: pass the table, or the file's path"
CONVERT = "Convert it to one of these"


def _rows() -> Iterator[dict[str, float]]:
    yield {"days": 1.0}


OBJECTS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "nothing": (lambda: None, "NoneType", CONVERT),
    "a number": (lambda: 3, "a int", CONVERT),
    "bytes": (lambda: b"visits.csv", "a bytes", CONVERT),
    "a matrix": (lambda: np.zeros((3, 5)), "a numpy ndarray", CONVERT),
    "records": (lambda: [{"days": 1.0}], "a list", CONVERT),
    "a set of paths": (lambda: {"a.csv"}, "a set", CONVERT),
    "a class": (lambda: pd.DataFrame, "a type", CONVERT),
    "a grouping": (lambda: pd.DataFrame(columns()).groupby("sex"), "a pandas DataFrameGroupBy", CONVERT),
    "a generator": (_rows, "a generator", ONCE),
    "a map": (lambda: map(str, [1]), "a map", ONCE),
    "a csv.reader": (lambda: csv.reader(io.StringIO("days\n1\n")), "a _csv reader", ONCE),
    "a csv.DictReader": (lambda: csv.DictReader(io.StringIO("days\n1\n")), "a csv DictReader", ONCE),
    "an open file": (lambda: io.StringIO("days\n1\n"), "a _io StringIO", ONCE),
    "an open binary file": (lambda: io.BytesIO(b"days\n1\n"), "a _io BytesIO", ONCE),
    "a reader of batches": (
        lambda: pa.table(columns()).to_reader(),
        "a pyarrow RecordBatchReader",
        "A stream can be read only once: call .read_all() on it",
    ),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_what_is_no_table(case: str) -> None:
    make, found, fix = OBJECTS[case]
    refused(make(), {}, InputError, (A_TABLE, found, fix))


@pytest.mark.parametrize("series", [pd.Series([1.0]), pl.Series([1.0]), pa.chunked_array([[1.0]])])
def test_one_column(series: Any) -> None:
    refused(
        series, {}, InputError, ("to export its rows as an Arrow table", "non-struct", "a table with named columns")
    )


@pytest.mark.parametrize("nothing", [{}, pd.DataFrame(), pl.DataFrame(), pa.table({})])
def test_a_table_of_no_columns(nothing: Any) -> None:
    refused(nothing, {}, InputError, ("a column 'days' in", "no column of that name", "There are: none"))


def test_no_file() -> None:
    refused([], {}, InputError, ("at least one file, each once", "an empty list", "Name each file once"))


def test_a_query_that_fails() -> None:
    query = pl.LazyFrame(columns()).with_columns(pl.col("nowhere"))
    says = ("to read Polars LazyFrame to its end", 'unable to find column "nowhere"', "See that it runs by itself")
    refused(query, {}, SourceError, says)


# --------------------------------------------------------------------------------- odd, and read right

SICK = columns()["sick"]
AGES = np.arange(ROWS) % 7

# Each pair is the same column written in two ways.
SAME: dict[str, tuple[str, Any, Any]] = {
    "masked labels": ("sick", np.ma.array(np.where(np.isnan(SICK), 9, SICK), mask=np.isnan(SICK)), SICK),
    "labels of booleans and None": ("sick", [None if np.isnan(v) else bool(v) for v in SICK], SICK),
    "labels of Int64 and NA": ("sick", pd.Series(SICK).astype("Int64"), SICK),
    "decimals": ("age", [Decimal(int(v)) / 8 for v in AGES], AGES / 8),
    "float16": ("age", AGES.astype(np.float16), AGES.astype(float)),
    "long double": ("age", AGES.astype(np.longdouble), AGES.astype(float)),
    "uint64": ("age", AGES.astype(np.uint64) + np.uint64(2**63), AGES + 2.0**63),
    "integers beyond 2^53": ("age", AGES * 2**40 + 2**60, AGES * 2.0**40 + 2.0**60),
    "an outcome of booleans": ("days", AGES > 2, (AGES > 2) * 1.0),
    "negative zeros": ("age", np.where(AGES == 0, -0.0, AGES), AGES.astype(float)),
    "ends of runs": ("age", pc.run_end_encode(pa.array(AGES * 1.0)), AGES * 1.0),
    "a sparse column": ("age", pd.Series(pd.arrays.SparseArray(AGES * 1.0)), AGES * 1.0),
    "a series with an index of its own": ("age", pd.Series(AGES * 1.0, index=range(ROWS, 0, -1)), AGES * 1.0),
    "a category of Polars": ("age", pl.Series(["a", "b", "c"] * 40, dtype=pl.Categorical), ["a", "b", "c"] * 40),
    "levels of Polars": ("age", pl.Series(["a", "b"] * 60, dtype=pl.Enum(["b", "a"])), ["a", "b"] * 60),
}


@pytest.mark.parametrize("case", SAME)
def test_another_way_to_write_the_same_column(case: str) -> None:
    column, odd, plain = SAME[case]
    one, other = (diagnosed(columns(**{column: values})) for values in (odd, plain))
    assert one.estimates == other.estimates
    assert one.sample.labelled == other.sample.labelled > 0


# ----------------------------------------------------------------------------- right, and surprising: say so


def _notes(d: sl.Diagnosis) -> dict[str, str]:
    return {note.code: note.message for note in d.notes}


def test_no_labelled_row_is_noted() -> None:
    for d in (diagnosed(columns(sick=np.full(ROWS, np.nan))), diagnosed(columns(), group=None)):
        assert "is taken on trust" in _notes(d)["labels.none"]
        assert d.estimate("supervised").reason == "there are no labelled rows"


@pytest.mark.parametrize("value", [0, 1])
def test_labels_of_one_class_have_a_reason(value: int) -> None:
    d = diagnosed(columns(sick=np.where(np.isnan(SICK), np.nan, value)))
    assert d.estimate("supervised").reason == f"all 40 labelled rows are of group {value}"
    assert f"not computed, all 40 labelled rows are of group {value}." in d.summary()


@pytest.mark.parametrize("labelled", [1, 2, 3, 4, 5])
def test_a_handful_of_labels_has_a_reason(labelled: int) -> None:
    rows = slice(0, 80 + labelled)
    reason = diagnosed({name: values[rows] for name, values in columns().items()}).estimate("supervised").reason
    assert reason is not None
    one_class = f"all {labelled} labelled rows are of group "
    assert reason.startswith((one_class, f"{labelled} labelled rows are too few", "labelled row "))


@pytest.mark.parametrize("unlabelled", [1, 2, 4, 8])
def test_fewer_rows_than_columns_have_a_reason(unlabelled: int) -> None:
    rows = slice(80 - unlabelled, ROWS)
    d = diagnosed({name: values[rows] for name, values in columns().items()})
    assert (
        d.estimate("soft").reason == f"{unlabelled} unlabelled rows are too few for 4 coefficients" or unlabelled == 8
    )
    assert f"Only {unlabelled} unlabelled rows for 3 columns" in _notes(d)["rows.few"]


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_a_constant_score_has_a_reason(value: float) -> None:
    d = diagnosed(columns(risk=np.full(ROWS, value)))
    assert d.estimate("soft").reason == "the score is the same in every row"
    assert ("score.hard" in _notes(d)) == (value in (0.0, 1.0))


def test_a_score_of_labels_is_noted_and_one_of_tiny_probabilities_is_not_taken_for_it() -> None:
    risk = columns()["risk"]
    d = diagnosed(columns(risk=(risk > 0.5) * 1.0))
    assert "a label, not a probability" in _notes(d)["score.hard"]
    assert "score.hard" not in _notes(diagnosed(columns(risk=risk * 1e-16)))


def test_a_control_that_follows_from_the_score_has_a_reason() -> None:
    reason = "the controls explain the score completely (V* = 0)"
    assert diagnosed(columns(age=1 - columns()["risk"])).estimate("soft").reason == reason
    assert diagnosed(columns(age=columns()["risk"].astype(np.float32))).estimate("soft").reason == reason


def test_a_control_that_follows_from_the_outcome_is_noted() -> None:
    note = _notes(diagnosed(columns(age=3 - 2 * columns()["days"])))["outcome.explained"]
    assert "The controls explain the outcome completely" in note
    assert "outcome.explained" not in _notes(diagnosed(columns()))


@pytest.mark.parametrize("value", [0.0, 1e8, -3.3])
def test_a_constant_outcome_is_noted(value: float) -> None:
    d = diagnosed(columns(days=np.full(ROWS, value)))
    assert "The outcome is the same in every unlabelled row" in _notes(d)["outcome.constant"]
    assert abs(d.estimate("soft").estimate or 0.0) <= 1e-6 * abs(value)


def test_rows_without_an_id_are_left_out_and_counted() -> None:
    d = diagnosed(columns(name=[None, *range(1, ROWS)]), id="name", missing="drop")
    assert "1 of 120 rows were left out for missing values (name 1)" in _notes(d)["rows.dropped"]


def test_one_cluster_without_folds_has_a_reason() -> None:
    d = diagnosed(columns(ward=["a"] * ROWS), cluster="ward", folds=None)
    assert "all unlabelled rows are of one cluster" in (d.estimate("soft").reason or "")


def test_a_page_with_large_exponents_keeps_its_width() -> None:
    # `diagnosed` checks the width.
    diagnosed(columns(days=columns()["days"] * 1.23e60, risk=columns()["risk"] * 1.23e-14), thresholds=[1.2345e-15])
