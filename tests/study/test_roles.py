"""Roles: wrong calls are refused at the door, and each message says what, found, and what to do."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from softlabel import DataError, InputError, SoftlabelError, diagnose
from softlabel.study import Study

ROWS = 400
ROLES: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "controls": ["age", "sex"], "basis": "linear"}


def _table(**changes: Any) -> pa.Table:
    rng = np.random.default_rng(0)
    p = rng.random(ROWS)
    g = (rng.random(ROWS) < p).astype(np.float64)
    g[:300] = np.nan
    age, sex = rng.normal(50, 9, ROWS), rng.integers(0, 2, ROWS)
    columns: dict[str, Any] = {"y": rng.normal(size=ROWS) + p, "g": g, "p": p, "age": age, "sex": sex}
    return pa.table({**columns, **changes})


def _message(kind: type[SoftlabelError], data: Any, **options: Any) -> str:
    """Return the message of the error that this diagnosis must end in, once it has the three parts of any."""
    with pytest.raises(kind) as caught:
        diagnose(data, **{**ROLES, **options})
    error = caught.value
    assert type(error) is kind
    text = str(error)
    assert text == f"Expected {error.expected}; found {error.found}. {error.fix}."
    assert "\n" not in text
    return text


# ----------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("options", "unknown", "meant"),
    [
        ({"outcome": "Y"}, "Y", "y"),
        ({"score": "pp"}, "pp", "p"),
        ({"group": "gg"}, "gg", "g"),
        ({"controls": ["agee", "sex"]}, "agee", "age"),
        ({"id": "sexx"}, "sexx", "sex"),
        ({"id": "patient"}, "patient", None),
    ],
)
def test_an_unknown_column(options: dict[str, Any], unknown: str, meant: str | None) -> None:
    text = _message(InputError, _table(), **options)
    assert f"a column {unknown!r} in pyarrow Table" in text
    assert "There are: 'y', 'g', 'p', 'age', 'sex'" in text
    assert ("Did you mean" in text) == (meant is not None)
    assert meant is None or f"Did you mean {meant!r}?" in text


def test_an_unknown_column_of_the_labelled_table_is_looked_for_there() -> None:
    hidden = _table().slice(0, 300).drop_columns("g")
    shown = _table().slice(300).drop_columns("age").to_pandas()
    text = _message(InputError, hidden, labelled=shown)
    assert "a column 'age' in pandas DataFrame" in text
    assert "'g', 'p', 'sex'" in text


def test_a_group_that_is_nowhere_is_missed_unless_labels_are_apart() -> None:
    hidden = _table().drop_columns("g")
    assert "a column 'g'" in _message(InputError, hidden)
    assert diagnose(hidden, **ROLES, labelled=_table().slice(300)).sample.labelled == 100
    assert "a column 'g'" in _message(InputError, hidden, labelled=hidden)


@pytest.mark.parametrize(
    ("options", "twice"),
    [
        ({"score": "y"}, "'y' as outcome and score"),
        ({"group": "p"}, "'p' as score and group"),
        ({"controls": ["age", "y"]}, "'y' as outcome and control"),
        ({"controls": ["g"]}, "'g' as control and group"),
    ],
)
def test_one_column_in_two_roles(options: dict[str, Any], twice: str) -> None:
    text = _message(InputError, _table(), **options)
    assert "each column to play one role" in text
    assert twice in text
    assert "Give each role a column of its own" in text


def test_the_id_may_be_a_column_with_a_role() -> None:
    assert diagnose(_table(), **ROLES, id="age").sample.folds_by == "id"


@pytest.mark.parametrize("outcome", [None, 3, ["y"]])
def test_a_role_that_is_no_name(outcome: Any) -> None:
    text = _message(InputError, _table(), outcome=outcome)
    assert "the outcome to be the name of a column" in text
    assert repr(outcome) in text


def test_controls_as_one_string() -> None:
    alone = diagnose(_table(), **{**ROLES, "controls": "age", "basis": None})
    assert alone.settings.basis == "formula"
    assert alone.estimates == diagnose(_table(), **{**ROLES, "controls": ["age"]}).estimates
    assert "no basis with a formula" in _message(InputError, _table(), controls="age")


# ----------------------------------------------------------------------------------------- types


@pytest.mark.parametrize(
    ("role", "column", "advice"),
    [
        ("outcome", "y", "Convert the column to numbers"),
        ("score", "p", "between 0 and 1"),
        ("group", "g", "0 or 1 and leave it null"),
        ("control", "sex", "Pass numbers, or text for categories"),
    ],
)
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (pa.array(["0"] * ROWS), "string"),
        (pa.array(["a", "b"] * (ROWS // 2)).dictionary_encode(), "dictionary<values=string"),
        (pa.array([0] * ROWS, pa.timestamp("s")), "timestamp[s]"),
        (pa.array([[1.0]] * ROWS), "list<"),
    ],
    ids=["text", "category", "time", "list"],
)
def test_a_column_that_is_no_number(role: str, column: str, advice: str, values: Any, shown: str) -> None:
    if role == "control" and shown in ("string", "dictionary<values=string"):
        return  # a category
    text = _message(InputError, _table(**{column: values}))
    assert f"the {role} {column!r} to be numeric" in text
    assert f"values of type {shown}" in text
    dated = shown.startswith("timestamp") and role in ("outcome", "control")
    assert ("Pass a number, such as the days since a start" if dated else advice) in text
    assert ("Numbers must be plain, like 1234.5" in text) == (shown == "string")


def test_the_first_value_that_is_no_number_is_shown() -> None:
    column = pa.array([None, "1,234.5", *["7"] * (ROWS - 2)])
    assert "values of type string, such as '1,234.5'" in _message(InputError, _table(y=column))


def test_types_are_checked_in_the_labelled_table_too() -> None:
    words = _table(age=pa.array(["old"] * ROWS))
    text = _message(InputError, _table().drop_columns("g"), labelled=words)
    assert "the control 'age' to be of one kind in both tables" in text
    assert "double in the first, string in the table of labelled rows" in text
    times = _table(age=pa.array([0] * ROWS, pa.timestamp("s")))
    assert "the control 'age' to be numeric or text" in _message(InputError, _table().drop_columns("g"), labelled=times)


def test_a_column_of_text_without_a_role_is_welcome() -> None:
    assert diagnose(_table(note=pa.array(["?"] * ROWS)), **ROLES).sample.rows == ROWS


# ------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize(("value", "shown"), [(2, "2"), (-1, "-1"), (0.5, "0.5"), (np.inf, "inf")])
def test_a_group_other_than_zero_and_one(value: float, shown: str) -> None:
    g = _table()["g"].to_numpy().copy()
    g[[310, 311, 312]] = value
    text = _message(DataError, _table(g=g))
    assert "the group 'g' to be 0, 1 or null" in text
    assert f"other values in 3 of 400 rows, such as {shown}" in text
    assert "Code the group 0 or 1 and leave it null where it is unknown" in text


def test_a_group_coded_one_and_two() -> None:
    text = _message(DataError, _table(g=_table()["g"].to_numpy() + 1))
    assert "such as 2" in text


@pytest.mark.parametrize(
    ("score", "hint"),
    [
        (lambda p: 100 * p, "It looks like a percentage: divide it by 100"),
        (lambda p: 20.5 * p / p.max(), "It looks like a percentage: divide it by 100"),
        (lambda p: np.log(p / (1 - p)), "It looks like a logit: pass 1/(1+exp(-score))"),
        (lambda p: 7.7 * p, "odds (then pass score/(1+score)), a logit (then pass 1/(1+exp(-score))), percent"),
        (lambda p: np.round(2 * p), "Pass the predicted probability of group 1, and find out first"),
        (lambda p: 19.5 * p / p.max(), "Pass the predicted probability of group 1, and find out first"),
        (lambda p: -1 - p, "a logit (then pass 1/(1+exp(-score))) or the logarithm of a probability (then pass exp"),
        (lambda p: 1000 * p, "Pass the predicted probability of group 1"),
    ],
    ids=["percent", "more than a logit", "logit", "odds", "classes", "below 20", "negative", "thousand"],
)
def test_a_score_outside_zero_and_one(score: Any, hint: str) -> None:
    p = score(_table()["p"].to_numpy())
    text = _message(DataError, _table(p=p))
    assert "the score 'p' to lie in [0, 1]" in text
    assert f"values from {p.min():g} to {p.max():g}, {((p < 0) | (p > 1)).sum()} of 400 rows outside" in text
    assert hint in text


@pytest.mark.parametrize("largest", [1.5, 2, 7.7, 20])
def test_no_division_is_advised_where_the_score_may_be_no_percentage(largest: float) -> None:
    p = _table()["p"].to_numpy()
    text = _message(DataError, _table(p=largest * p / p.max()))
    assert "divide it by 100" not in text
    assert "looks like" not in text


def test_a_score_of_exactly_zero_and_one_is_a_probability() -> None:
    p = _table()["p"].to_numpy().copy()
    p[:2] = 0, 1
    assert diagnose(_table(p=p), **ROLES).sample.used == ROWS


def test_a_score_above_one_by_rounding_is_no_percentage() -> None:
    p = _table()["p"].to_numpy().copy()
    p[5] = 1 + 1e-7
    text = _message(DataError, _table(p=p))
    assert "percentage" not in text
    assert "to 1, 1 of" not in text, "it must show how the largest one differs from 1"


@pytest.mark.parametrize("column", ["y", "p", "age"])
def test_an_infinite_value(column: str) -> None:
    values = _table()[column].to_numpy().copy()
    values[[3, 5]] = np.inf, -np.inf
    for missing in ("raise", "drop"):
        text = _message(DataError, _table(**{column: values}), missing=missing)
        assert "finite numbers" in text
        assert f"infinite values in {column!r} (2) of 400 rows" in text
        assert "missing='drop'" in text


@pytest.mark.parametrize("column", ["y", "age"])
@pytest.mark.parametrize("factor", [1e80, 1e-80])
def test_a_size_whose_powers_leave_floating_point(column: str, factor: float) -> None:
    values = _table()[column].to_numpy() * factor
    text = _message(DataError, _table(**{column: values}))
    assert f"{column!r} to have a size between 1e-70 and 1e+70" in text
    assert f"values from {values.min():g} to {values.max():g}" in text
    assert "Rescale the column" in text


@pytest.mark.parametrize("hole", [None, np.nan])
def test_missing_values_are_counted_by_column(hole: Any) -> None:
    changes = {}
    for k, column in enumerate(["y", "p", "age"], start=1):
        values = _table()[column].to_pylist()
        values[:k] = [hole] * k
        changes[column] = pa.array(values, pa.float64(), from_pandas=False)
    text = _message(DataError, _table(**changes))
    assert "no missing values but in the group" in text
    assert "null or NaN in 'y' (1), 'p' (2), 'age' (3) of 400 rows" in text
    assert "Impute them, or use missing='drop'" in text
    sample = diagnose(_table(**changes), **ROLES, missing="drop").sample
    assert {column.name: column.value for column in sample.missing} == {"y": 1, "p": 2, "age": 3}
    assert (sample.rows, sample.used, sample.dropped) == (400, 397, 3)


def test_a_whole_column_of_nothing_is_missing_and_not_of_a_wrong_type() -> None:
    text = _message(DataError, _table(age=pa.nulls(ROWS)))
    assert "'age' (400) of 400 rows" in text


# ------------------------------------------------------------------------------------- which rows


def test_labels_in_the_data_when_they_come_apart() -> None:
    text = _message(DataError, _table(), labelled=_table().slice(300))
    assert "no label in the data when the labelled rows come as a table of their own" in text
    assert "rows with a 'g'" in text
    assert "Leave labelled= out, or null the group in the data" in text


def test_an_unlabelled_row_in_the_labelled_table() -> None:
    text = _message(DataError, _table().drop_columns("g"), labelled=_table().slice(290))
    assert "'g' (10) of 510 rows" in text
    assert "missing='drop'" in text
    sample = diagnose(_table().drop_columns("g"), **ROLES, labelled=_table().slice(290), missing="drop").sample
    assert (sample.unlabelled, sample.labelled, sample.dropped, sample.rows) == (400, 100, 10, 510)
    assert [(column.name, column.value) for column in sample.missing] == [("g", 10)]


def test_an_unlabelled_row_in_the_labelled_table_is_not_told_that_the_group_may_be_null() -> None:
    text = _message(DataError, _table().drop_columns("g"), labelled=_table().slice(290))
    assert "but in the group" not in text


def test_no_unlabelled_row() -> None:
    text = _message(DataError, _table().slice(300))
    assert "rows without a label" in text
    assert "none among 100 rows" in text
    assert "sl.supervised" in text


@pytest.mark.parametrize("labelled", [False, True])
def test_an_empty_table(labelled: bool) -> None:
    nothing = _table().slice(0, 0)
    text = _message(DataError, nothing, **({"labelled": nothing} if labelled else {}))
    assert "an empty table" in text
    assert "Check the file or the filter before" in text


def test_an_empty_table_beside_one_with_labels_has_no_unlabelled_row() -> None:
    text = _message(DataError, _table().slice(0, 0), labelled=_table().slice(300))
    assert "none among 100 rows" in text


def test_an_empty_labelled_table_is_a_study_without_labels() -> None:
    d = diagnose(_table().drop_columns("g"), **ROLES, labelled=_table().slice(0, 0))
    assert d.estimate("supervised").reason == "there are no labelled rows"
    assert [note.code for note in d.notes if note.code == "labels.none"]


@pytest.mark.parametrize("value", [0, 1])
def test_labels_of_one_group_only_leave_supervised_without_a_number(value: int) -> None:
    g = _table()["g"].to_numpy().copy()
    g[300:] = value
    d = diagnose(_table(g=g), **ROLES)
    assert d.estimate("supervised").reason == f"all 100 labelled rows are of group {value}"
    assert d.verdict.choice == "soft"
    assert sum(d.sample.labelled_by_class) == d.sample.labelled_by_class[value] == 100


# ------------------------------------------------------------------------------------- the record itself


def test_columns_are_read_once_each_and_no_others() -> None:
    study = Study("y", "g", "p", ("age",), id="age")
    assert study.columns == ("y", "p", "age", "g")
    assert study.needed("unlabelled", ["y", "p", "age", "z"]) == ("y", "p", "age")
    assert study.needed("mixed", ["y", "p", "age", "z"]) == ("y", "p", "age", "g")
    assert Study("y", None, "p").columns == ("y", "p")
