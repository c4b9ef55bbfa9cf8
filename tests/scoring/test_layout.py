"""Tables to numbers: codes of categories, gaps, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

from softlabel import DataError, InputError, score
from softlabel.scoring.layout import lay_out, row_hashes

LABELLED = pa.table({"a": [1.0, None, 3.0], "b": ["y", "x", None], "c": [7, 9, 7]})


def test_text_becomes_codes_and_so_do_numbers_on_demand() -> None:
    layout = lay_out(LABELLED, ["a", "b", "c"], ["c"])
    assert layout.categorical == (False, True, True)
    found = layout.matrix(LABELLED)
    assert found[:, 0].tolist()[::2] == [1.0, 3.0]
    assert np.isnan(found[1, 0])
    assert {found[0, 1], found[1, 1]} == {0.0, 1.0}
    assert np.isnan(found[2, 1])
    assert found[:, 2].tolist() == [0.0, 1.0, 0.0]


def test_a_level_that_no_labelled_row_has_is_missing() -> None:
    layout = lay_out(LABELLED, ["b", "c"], ["c"])
    found = layout.matrix(pa.table({"b": ["x", "new"], "c": [8, 9]}))
    assert np.isnan(found).tolist() == [[False, True], [True, False]]


def test_a_dictionary_is_what_it_spells() -> None:
    layout = lay_out(LABELLED, ["b"], [])
    spelt = pa.table({"b": pa.array(["x", "y"]).dictionary_encode()})
    assert layout.matrix(spelt).tolist() == layout.matrix(pa.table({"b": ["x", "y"]})).tolist()


def test_hashes_know_values_and_not_their_order() -> None:
    columns = [np.array([1.0, 2.0, np.nan, -0.0]), np.array([0.0, 0.0, 1.0, 5.0])]
    hashes = row_hashes(columns)
    assert len(set(hashes.tolist())) == 4
    order = np.array([2, 0, 3, 1])
    assert row_hashes([column[order] for column in columns]).tolist() == hashes[order].tolist()
    assert row_hashes([np.array([0.0]), np.array([5.0])])[0] == hashes[3]


def test_text_of_many_levels_is_no_category() -> None:
    names = pa.table({"n": [f"name {i}" for i in range(201)]})
    with pytest.raises(DataError, match=r"at most 200 levels in the category 'n'; found 201 .*ColumnTransformer"):
        lay_out(names, ["n"], [])


def test_dates_are_refused_with_what_to_do() -> None:
    import datetime as dt

    with pytest.raises(InputError, match=r"the feature 'd' to be numeric or text.*days since a start"):
        lay_out(pa.table({"d": [dt.date(2020, 1, 1)]}), ["d"], [])


def test_infinite_values_are_refused() -> None:
    layout = lay_out(LABELLED, ["a"], [])
    with pytest.raises(DataError, match=r"the column 'a' to be finite; found 1 infinite values"):
        layout.matrix(pa.table({"a": [1.0, float("inf")]}))


@pytest.mark.parametrize(("labelled", "unlabelled", "kind"), [("1", 1.0, "text"), (1.0, "1", "numbers")])
def test_a_column_must_be_of_one_kind_on_both(labelled: object, unlabelled: object, kind: str) -> None:
    rows = {"w": [labelled] * 40, "g": [0, 1] * 20}
    with pytest.raises(InputError, match=rf"'w' to hold {kind}, as on the labelled rows"):
        score(rows, {"w": [unlabelled] * 9}, features=["w"], group="g")
