"""Columns that cannot play their role: missing, of another type, or with values that cannot be."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from softlabel import DataError, InputError, SoftlabelError
from tests.bad_inputs.asked import HIDDEN, ROWS, columns, refused, spoilt

Says = tuple[str, str, str]
RISK = columns()["risk"]
ONES = np.ones(ROWS)
FEW = np.arange(ROWS) % 3
MANY = np.arange(ROWS) % 30.0


def _first(value: float, rest: Any = ONES) -> Any:
    return np.concatenate([[value], rest[1:]])


# ------------------------------------------------------------------------------------- names of columns

UNKNOWN: dict[str, tuple[dict[str, Any], str, str]] = {
    "outcome": ({"outcome": "day"}, "'day'", "Did you mean 'days'?"),
    "group": ({"group": "sik"}, "'sik'", "Did you mean 'sick'?"),
    "score": ({"score": "risks"}, "'risks'", "Did you mean 'risk'?"),
    "control": ({"controls": ["agee"]}, "'agee'", "Did you mean 'age'?"),
    "control of a formula": ({"controls": "age + C(sexx)", "basis": None}, "'sexx'", "Did you mean 'sex'?"),
    "weights": ({"weights": "weigth"}, "'weigth'", "Did you mean 'weight'?"),
    "cluster": ({"cluster": "wards"}, "'wards'", "Did you mean 'ward'?"),
    "id": ({"id": "patien"}, "'patien'", "Did you mean 'patient'?"),
    "nothing like it": ({"outcome": "zzz"}, "'zzz'", "There are: 'days', 'sick', 'risk', 'age', 'sex'"),
    "no name at all": ({"outcome": ""}, "''", "There are: 'days'"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_column(case: str) -> None:
    options, name, fix = UNKNOWN[case]
    data = columns(weight=ONES, ward=FEW, patient=np.arange(ROWS))
    refused(data, options, InputError, (f"a column {name} in dict of arrays", "no column of that name", fix))


def test_a_name_that_occurs_twice() -> None:
    frame = pd.DataFrame(columns(more=ONES)).rename(columns={"more": "days"})
    refused(frame, {}, InputError, ("one column 'days' in pandas DataFrame", "2 columns of that name", "Rename them"))


def test_several_levels_of_names() -> None:
    frame = pd.DataFrame(columns())
    frame.columns = pd.MultiIndex.from_product([["visit"], frame.columns])
    refused(frame, {}, InputError, ("a column 'days'", "no column of that name", "There are: \"('visit', 'days')\""))


def test_an_index_is_no_column() -> None:
    frame = pd.DataFrame(columns()).set_index("age")
    refused(frame, {}, InputError, ("a column 'age'", "no column of that name", "There are: 'days', 'sick'"))


# --------------------------------------------------------------------------------------- types of columns

NUMERIC = {
    "days": ("the outcome 'days' to be numeric", "Convert the column to numbers"),
    "sick": ("the group 'sick' to be numeric", "Code the group 0 or 1 and leave it null where it is unknown"),
    "risk": ("the score 'risk' to be numeric", "Pass the predicted probability of group 1"),
    "age": ("the control 'age' to be numeric or text", "Pass numbers, or text for categories"),
    "weight": ("the weights 'weight' to be numeric", "Pass one number from 0 up for each row"),
}
TYPES: dict[str, tuple[Any, str]] = {
    "lists": (pa.array([[1.0]] * ROWS), "values of type list<item: double>, such as '[1.0]'"),
    "structs": (pa.array([{"a": 1}] * ROWS), "values of type struct<a: int64>"),
    "maps": (pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())), "values of type map<string, int64>"),
    "bytes": (pa.array([b"x"] * ROWS), "values of type binary, such as \"b'x'\""),
    "views of bytes": (pa.array([b"x"] * ROWS, pa.binary_view()), "values of type large_binary"),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("column", NUMERIC)
def test_a_type_that_is_no_number(column: str, kind: str) -> None:
    (expected, fix), (values, found) = NUMERIC[column], TYPES[kind]
    table = pa.table(columns(**{column: values}))
    refused(table, {"weights": "weight"} if column == "weight" else {}, InputError, (expected, found, fix))


TEMPORAL: dict[str, tuple[Any, str]] = {
    "timestamps": (pa.array([0] * ROWS, pa.timestamp("s")), "timestamp[s], such as '1970-01-01 00:00:00'"),
    "dates": (np.zeros(ROWS, dtype="M8[D]"), "date32[day], such as '1970-01-01'"),
    "durations": (pd.Series([timedelta(1)] * ROWS), "duration["),
    "durations of Polars": (pl.Series([timedelta(1)] * ROWS), "duration[us], such as '1 day, 0:00:00'"),
    "times of day": (pa.array([3] * ROWS, pa.time32("s")), "time32[s], such as '00:00:03'"),
    "intervals": (pa.nulls(ROWS, pa.month_day_nano_interval()), "month_day_nano_interval"),
}


@pytest.mark.parametrize("column", ["days", "age"])
@pytest.mark.parametrize("kind", TEMPORAL)
def test_points_and_lengths_of_time(kind: str, column: str) -> None:
    values, found = TEMPORAL[kind]
    says = (NUMERIC[column][0], f"values of type {found}", "Pass a number, such as the days since a start")
    refused(columns(**{column: values}), {}, InputError, says)


TEXTS: dict[str, tuple[Any, str]] = {
    "thousands": ([f"1,{i:03d}" for i in range(ROWS)], "string, such as '1,000'"),
    "numerals": (np.array(["1"] * ROWS), "string, such as '1'"),
    "bytes of numerals": (np.array(["1"] * ROWS, dtype="S1"), "binary, such as \"b'1'\""),
    "views": (pl.Series(["yes", "no"] * (ROWS // 2)), "large_string, such as 'yes'"),
    "a stray text": (["0.0", None, "1e3", *["7"] * (ROWS - 4), "oops"], "string, such as 'oops'"),
    "categories": (pd.Series(pd.Categorical(["a", "b"] * (ROWS // 2))), "dictionary<values="),
}


@pytest.mark.parametrize("column", ["days", "sick", "risk", "weight"])
@pytest.mark.parametrize("kind", TEXTS)
def test_text_in_place_of_numbers(kind: str, column: str) -> None:
    values, found = TEXTS[kind]
    fix = NUMERIC[column][1]
    if "string," in found:
        fix += ", a number between 0 and 1" if column == "risk" else ""
        fix += ". Numbers must be plain, like 1234.5, and empty where they are missing"
    options = {"weights": "weight"} if column == "weight" else {}
    refused(columns(**{column: values}), options, InputError, (NUMERIC[column][0], f"values of type {found}", fix))


@pytest.mark.parametrize("column", ["days", "sick", "risk", "weight"])
def test_a_category_of_numbers(column: str) -> None:
    frame = pd.DataFrame(columns(**{column: pd.Categorical(FEW)}))
    says = (
        NUMERIC[column][0],
        "dictionary<values=int64",
        "a category of numbers: convert it to the numbers themselves",
    )
    refused(frame, {"weights": "weight"} if column == "weight" else {}, InputError, says)


MIXED: dict[str, tuple[Any, str]] = {
    "numbers and text": ([1, "a", 2.5, None] * (ROWS // 4), "Could not convert 'a'"),
    "objects": ([object()] * ROWS, "type object"),
    "objects of Polars": (pl.Series([object()] * ROWS, dtype=pl.Object), "a Polars Object column has no Arrow form"),
    "wide integers of Polars": (pl.Series([1] * ROWS, dtype=pl.Int128), "_pli128"),
    "integers beyond 64 bits": (pd.Series([10**30] * ROWS, dtype=object), "too large"),
    "complex numbers": (ONES + 1j, "an array of complex128"),
    "records": (np.zeros(ROWS, dtype=[("a", float)]), "an array of [('a', '<f8')]"),
    "a matrix": (np.zeros((ROWS, 2)), "only handle 1-dimensional arrays"),
    "a masked matrix": (np.ma.array(np.zeros((ROWS, 2))), "only handle 1-dimensional arrays"),
    "one number": (3.5, "a float, not a one-dimensional array"),
    "one text": ("abc", "a str, not a one-dimensional array"),
    "an iterator": (iter([1.0]), "not a one-dimensional array"),
}


@pytest.mark.parametrize("column", ["days", "risk", "age"])
@pytest.mark.parametrize("kind", MIXED)
def test_what_is_no_column_of_one_kind(kind: str, column: str) -> None:
    values, found = MIXED[kind]
    expected = f"column {column!r} of dict of arrays to hold one kind of value that Arrow knows"
    says = (expected, found, "Convert it to numbers, booleans or text first")
    refused(columns(**{column: values}), {}, DataError, says)


@pytest.mark.parametrize("role", ["cluster", "id"])
def test_the_group_names_no_clusters_and_no_rows(role: str) -> None:
    says = (f"the {role} to be known in every row", "the group 'sick'", f"or leave {role}= out")
    refused(columns(), {role: "sick"}, InputError, says)


@pytest.mark.parametrize("kind", ["dates", "structs", "decimals", "intervals"])
@pytest.mark.parametrize("role", ["cluster", "id"])
def test_a_type_that_cannot_name_rows(role: str, kind: str) -> None:
    values = {
        "dates": np.zeros(ROWS, dtype="M8[D]"),
        "structs": TYPES["structs"][0],
        "decimals": [Decimal(i) / 8 for i in range(ROWS)],
        "intervals": TEMPORAL["intervals"][0],
    }[kind]
    says = (f"the {role} 'ward' to be whole numbers or text", "values of type ", "Write it as text")
    refused(columns(ward=values), {role: "ward"}, InputError, says)


def test_run_ends_are_read_as_what_they_stand_for() -> None:
    plain = pa.array(FEW.astype(float))
    for column in ("days", "age"):
        refused(
            pa.table(columns(**{column: pc.run_end_encode(pa.array(np.full(ROWS, 1e200)))})),
            {},
            DataError,
            (f"{column!r} to have a size", "1e+200", "Rescale"),
        )
    assert pc.run_end_encode(plain).type != plain.type


# ----------------------------------------------------------------------------------------- values of columns

BINARY = "the group 'sick' to be 0, 1 or null"
CODE = "Code the group 0 or 1"
UNIT = "the score 'risk' to lie in [0, 1]"
FINITE = "Replace them, or make them null and use missing='drop'"
IMPUTE = "Impute them, or use missing='drop' to leave those rows out and have them counted"
SIZE = "to have a size between 1e-70 and 1e+70"
RESCALE = "Rescale the column, in another unit"

VALUES: dict[str, tuple[dict[str, Any], dict[str, Any], Says]] = {
    "group 2": (spoilt("sick", 2, 90), {}, (BINARY, "in 1 of 120 rows, such as 2", CODE)),
    "group -1": (spoilt("sick", -1, 90, 91), {}, (BINARY, "in 2 of 120 rows, such as -1", CODE)),
    "group one half": (spoilt("sick", 0.5, 90), {}, (BINARY, "such as 0.5", CODE)),
    "group infinite": (spoilt("sick", np.inf, 90), {}, (BINARY, "such as inf", CODE)),
    "group huge": (spoilt("sick", 1e308, 90), {}, (BINARY, "such as 1e+308", CODE)),
    "group denormal": (spoilt("sick", 5e-324, 90), {}, (BINARY, "such as 4.94066e-324", CODE)),
    "group of identifiers": (columns(sick=np.arange(ROWS, dtype=np.uint64) + 2**63), {}, (BINARY, "9.22337e+18", CODE)),
    "score in percent": (columns(risk=100 * RISK), {}, (UNIT, "rows outside", "a percentage: divide it by 100")),
    "score as logit": (columns(risk=np.log(RISK / (1 - RISK))), {}, (UNIT, "values from -", "1/(1+exp(-score))")),
    "score of float32": (
        spoilt("risk", np.float32(1 + 1e-7), 3),
        {},
        (UNIT, "to 1.0000001192092896, 1 of 120 rows", "outside by rounding: clip it"),
    ),
    "score below zero": (
        columns(risk=-RISK),
        {},
        (UNIT, "120 of 120 rows outside", "(then pass exp(score))"),
    ),
    "score just below zero": (spoilt("risk", -1e-12, 3), {}, (UNIT, "from -1e-12", "by rounding: clip it")),
    "score huge": (spoilt("risk", 1e308, 3), {}, (UNIT, "to 1e+308", "Pass the predicted probability of group 1")),
    "score all denormal": (
        columns(risk=FEW * 5e-324),
        {},
        ("'risk' to reach 1e-30 in some row", "no value above 9.88131e-324", "Pass the predicted probability"),
    ),
    "score times a tiny weight": (
        columns(risk=RISK * 1e-40),
        {},
        ("'risk' to reach 1e-30", "no value above 9.", "its product with another number"),
    ),
    "score missing": (
        spoilt("risk", np.nan, 1, 2),
        {},
        ("no missing values but in the group", "null or NaN in 'risk' (2) of 120 rows", IMPUTE),
    ),
    "outcome missing": (
        columns(days=np.ma.array(columns()["days"], mask=MANY == 3)),
        {},
        ("no missing values but in the group", "'days' (4) of 120 rows", IMPUTE),
    ),
    "score infinite": (
        spoilt("risk", np.inf, 1),
        {"missing": "drop"},
        ("finite numbers", "infinite values in 'risk' (1) of 120 rows", FINITE),
    ),
    "outcome infinite": (spoilt("days", -np.inf, 1, 100), {}, ("finite numbers", "in 'days' (2) of 120", FINITE)),
    "control infinite": (spoilt("age", np.inf, 1), {}, ("finite numbers", "in 'age' (1) of 120 rows", FINITE)),
    "control a copy of the score": (
        columns(age=RISK),
        {},
        ("'age' to hold something else than 'risk'", "the same value in every row", "Leave 'age' out"),
    ),
    "control a copy of the outcome": (
        columns(age=columns()["days"]),
        {"basis": None},
        ("'age' to hold something else than 'days'", "the same value in every row", "Leave 'age' out"),
    ),
    "control a copy of the group": (
        columns(age=np.nan_to_num(columns()["sick"], nan=0.5)),
        {},
        ("'age' to hold something else than 'sick'", "the same value in every row", "Leave 'age' out"),
    ),
    "control a copy of the group, nulls and all": (
        columns(age=columns()["sick"]),
        {},
        ("'age' to hold something else than 'sick'", "the same value in every row, and null", "Leave 'age' out"),
    ),
    "control a copy of the group where rows are dropped": (
        columns(age=columns()["sick"]),
        {"missing": "drop"},
        ("'age' to hold something else than 'sick'", "the same value in every row, and null", "Leave 'age' out"),
    ),
    "control null where the group is, but another": (
        columns(age=np.where(np.isnan(columns()["sick"]), np.nan, MANY)),
        {},
        ("no missing values but in the group", "'age' (80) of 120 rows", IMPUTE),
    ),
    "control equal to the group, and null in one row more": (
        columns(age=_first(np.nan, columns()["sick"][::-1])[::-1]),
        {},
        ("no missing values but in the group", "'age' (81) of 120 rows", IMPUTE),
    ),
    "outcome 1e200": (spoilt("days", 1e200, 3), {}, (f"'days' {SIZE}", "to 1e+200", RESCALE)),
    "outcome all denormal": (columns(days=FEW * 5e-324), {}, (f"'days' {SIZE}", "values from 0 to 9.8", RESCALE)),
    "control 1e308": (spoilt("age", 1e308, 3), {}, (f"'age' {SIZE}", "to 1e+308", RESCALE)),
    "control all tiny": (columns(age=MANY * 1e-200), {}, (f"'age' {SIZE}", "to 2.9e-199", RESCALE)),
    "weight 1e200": (columns(w=_first(1e200)), {"weights": "w"}, (f"'w' {SIZE}", "values from 1 to 1e+200", RESCALE)),
    "weight negative": (
        columns(w=_first(-2.0)),
        {"weights": "w"},
        ("the weights 'w' to be zero or more", "values down to -2", "the inverse of its chance to be sampled"),
    ),
    "weight missing": (
        columns(w=_first(np.nan)),
        {"weights": "w"},
        ("no missing values but in the group", "'w' (1) of 120 rows", IMPUTE),
    ),
    "weight infinite": (columns(w=_first(np.inf)), {"weights": "w"}, ("finite numbers", "in 'w' (1) of 120", FINITE)),
    "weights all zero": (
        columns(w=0 * ONES),
        {"weights": "w"},
        ("rows with a weight above zero in 'w'", "zero in all 120 rows", "Check the column, or leave weights out"),
    ),
    "weight zero without a label": (
        columns(w=np.arange(ROWS) >= HIDDEN),
        {"weights": "w"},
        ("without a label that have a weight above zero in 'w'", "zero in 80 without a label, of 120", "Check the wei"),
    ),
    "frequencies that are fractions": (
        columns(w=_first(1.5)),
        {"weights": "w", "weight_type": "frequency"},
        ("the frequencies 'w' to be whole numbers", "fractions in 1 of 120 rows", "weight_type='sampling'"),
    ),
    "frequencies beyond counting": (
        columns(w=_first(1e18)),
        {"weights": "w", "weight_type": "frequency"},
        ("the frequencies 'w' to be at most 1e+12", "values up to 1e+18", "weight_type='sampling'"),
    ),
    "cluster missing": (
        columns(ward=[None, *(f"w{i % 9}" for i in range(1, ROWS))]),
        {"cluster": "ward"},
        ("a cluster in every row", "'ward' (1) of 120 rows", "Fill it in, or use missing='drop'"),
    ),
    "cluster of nothing": (
        columns(ward=[None] * ROWS),
        {"cluster": "ward"},
        ("values in 'ward'", "'ward' (120) of 120 rows", "Check that it is the right column"),
    ),
    "fewer clusters than folds": (
        columns(ward=FEW),
        {"cluster": "ward"},
        ("at least as many clusters with unlabelled rows as folds (5)", "3", "Use fewer folds, or folds=None"),
    ),
    "one cluster": (columns(ward=["a"] * ROWS), {"cluster": "ward"}, ("as many clusters", "1", "Use fewer folds")),
    "id missing": (
        columns(name=_first(np.nan, MANY)),
        {"id": "name"},
        ("an id in every row", "null or NaN in 'name' (1) of 120 rows", "Fill it in, use missing='drop'"),
    ),
    "id of nothing": (
        columns(name=[None] * ROWS),
        {"id": "name"},
        ("values in 'name'", "'name' (120) of 120 rows", "Check that it is the right column"),
    ),
    "id that is one": (
        columns(name=ONES),
        {"id": "name"},
        ("the id to deal rows to at least 2 folds", "every row in one", "Use an id with more distinct values"),
    ),
    "no unlabelled row": (
        {name: values[HIDDEN:] for name, values in columns().items()},
        {},
        ("rows without a label", "none among 40 rows", "with every label known, use sl.supervised"),
    ),
    "group of booleans throughout": (
        columns(sick=FEW == 1),
        {},
        ("rows without a label", "none among 120 rows", "Leave the group null where it is unknown"),
    ),
    "no complete row": (
        columns(days=np.where(MANY < 15, np.nan, 1.0), age=np.where(MANY < 15, 1.0, np.nan)),
        {"missing": "drop"},
        ("rows without a label", "none among 120 rows, 120 of them left out for missing values", "Fill in what is"),
    ),
    "no row": ({name: values[:0] for name, values in columns().items()}, {}, ("rows", "an empty table", "Check the")),
    "columns of unlike length": (
        columns(age=ONES[:-1]),
        {},
        ("columns of one length in dict of arrays", "119 rows in 'age'", "Pass arrays that have one entry per row"),
    ),
    "too many levels": (
        {n: np.tile(v, 2) for n, v in columns().items()} | {"sex": [f"s{i}" for i in range(2 * ROWS)]},
        {},
        ("at most 200 levels in the category 'sex'", "more, such as 's0', 's1'", "Group rare levels into one"),
    ),
    "too many levels of a column of numbers": (
        {n: np.tile(v, 2) for n, v in columns().items()} | {"age": np.arange(2.0 * ROWS)},
        {"controls": "C(age) + sex", "basis": None},
        (
            "at most 200 levels in the category 'age'",
            "such as '0', '1'",
            "Leave C() or categories= out",
        ),
    ),
    "too many levels that are numbers": (
        {n: np.tile(v, 2) for n, v in columns().items()} | {"age": [f"1,{i:03d}" for i in range(2 * ROWS)]},
        {},
        ("at most 200 levels in the category 'age'", "such as '1,000'", "These look like numbers: convert the column"),
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_values_that_cannot_be(case: str) -> None:
    data, options, says = VALUES[case]
    refused(data, options, DataError if "length" not in case else InputError, says)


@pytest.mark.parametrize("column", ["days", "risk", "age"])
@pytest.mark.parametrize("nothing", ["NaN", "None", "null"])
def test_a_column_of_nothing(column: str, nothing: str) -> None:
    values = {"NaN": np.full(ROWS, np.nan), "None": [None] * ROWS, "null": pa.nulls(ROWS)}[nothing]
    labelled = HIDDEN if column == "risk" else ROWS
    kind: type[SoftlabelError] = DataError
    found = f"null or NaN in {column!r} ({labelled}) of 120 rows"
    expected = "no missing values but in the group" if column == "risk" else f"values in {column!r}"
    refused(columns(**{column: values}), {}, kind, (expected, found, "missing='drop'"))
