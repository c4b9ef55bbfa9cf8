"""Controls that are constant on some of the rows, and arrays that are no numbers."""

import datetime as dt
from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel.errors import DataError, InputError
from softlabel.moments.solve import least_squares


@pytest.mark.parametrize("n", [50, 131, 1000, 16384, 100003])
@pytest.mark.parametrize("offset", [0.1, 1 / 3, 0.7, 1e-3, 123.456])
def test_a_constant_away_from_the_shift_is_redundant(n: int, offset: float) -> None:
    columns = np.stack([np.ones(n), np.full(n, offset), np.random.default_rng(n).normal(size=n)])
    v = np.random.default_rng(n + 1).normal(size=(n, 1))
    fit = least_squares(columns @ columns.T, columns @ v)
    assert fit.kept.tolist() == [True, False, True]


def test_a_dummy_of_one_fold_does_not_depend_on_the_order_of_rows() -> None:
    for n in range(20, 200):
        rng = np.random.default_rng(n)
        fold = np.arange(n) % 4
        region = (fold == 3) * 1.0
        p = rng.beta(2, 2, size=n)
        y = p + rng.normal(size=n)
        a = sl.soft(y, p, region, folds=fold).estimate
        b = sl.soft(y[::-1], p[::-1], region[::-1], folds=fold[::-1]).estimate
        # Only the order of the additions differs.
        assert a == pytest.approx(b, rel=1e-9)


def test_a_category_of_one_row_changes_nothing_to_speak_of() -> None:
    # The row is its dummy's only 1, so the folds that train its nuisances know nothing of the category: it keeps
    # the residual it has without the dummy, and one row of 20,000 in or out is 0.02 standard errors.
    rng = np.random.default_rng(1000)
    n = 20_000
    x = rng.normal(size=n)
    p = rng.beta(2, 2, size=n)
    y = x + p + rng.normal(size=n)
    alone = np.zeros(n)
    alone[rng.integers(n)] = 1
    fold = rng.integers(0, 5, size=n)
    found = sl.soft(y, p, np.column_stack([x, alone]), folds=fold)
    plain = sl.soft(y, p, x, folds=fold)
    assert found.estimate is not None
    assert plain.estimate is not None
    assert plain.std_error is not None
    assert abs(found.estimate - plain.estimate) < 0.05 * plain.std_error
    assert found.std_error == pytest.approx(plain.std_error, rel=0.01)


def test_supervised_keeps_a_control_with_a_large_offset() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=200) * 2**10) / 2**10
    g = (rng.random(200) < 0.5) * 1.0
    y = 3 * x + g + rng.normal(size=200)
    # The offset leaves x about nine digits; without the control the estimate would be off by a standard error.
    assert sl.supervised(y, g, 2.0**26 + x * 2.0**-9).estimate == pytest.approx(
        sl.supervised(y, g, x).estimate, rel=1e-4
    )


def test_a_control_constant_on_the_labelled_rows_is_noted() -> None:
    rng = np.random.default_rng(4)
    n, labelled = 2_000, 100
    data = {name: rng.normal(size=n) for name in ("y", "x", "z")}
    data |= {"p": rng.random(n), "g": np.where(np.arange(n) < labelled, np.arange(n) % 2, np.nan)}
    data["z"][:labelled] = 7.0
    d = sl.diagnose(data, outcome="y", group="g", score="p", controls=["x", "z"], basis="linear")
    (note,) = [note for note in d.notes if note.code == "controls.redundant_labelled"]
    assert note.message.endswith("supervised: z")
    assert d.sample.redundant_controls == ()
    assert d.estimate("supervised").df == labelled - 3


def test_seeds_and_folds_of_arrays() -> None:
    rng = np.random.default_rng(0)
    y, p = rng.random((2, 100))
    assert sl.soft(y, p, folds=np.int64(5)) == sl.soft(y, p, folds=5)
    wrong: Any
    for wrong in (-1, "a", 1.5):
        with pytest.raises(InputError, match="seed"):
            sl.soft(y, p, seed=wrong)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_units_out_of_range(unit: float) -> None:
    rng = np.random.default_rng(0)
    y, p = rng.random((2, 100))
    with pytest.raises(DataError, match="'y' to have a size"):
        sl.soft(y * unit, p)
    with pytest.raises(DataError, match="'y' to have a size"):
        sl.supervised(y * unit, p > 0.5)
    with pytest.raises(DataError, match="'X' to have a size"):
        sl.soft(y, p, y * unit)


@pytest.mark.parametrize(
    "values", [["1", "2", "3", "4"], [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 4, [1j] * 4, [{}] * 4]
)
def test_what_is_no_number_is_refused(values: Any) -> None:
    with pytest.raises(InputError, match="y to hold numbers"):
        sl.soft(values, [0.1, 0.5, 0.3, 0.9])


def test_masked_values_are_missing() -> None:
    y = np.ma.masked_greater([1.0, 2.0, 3.0, 4.0], 3.5)
    with pytest.raises(DataError, match="1 missing or infinite values of 4"):
        sl.soft(y, [0.1, 0.5, 0.3, 0.9])


def test_in_sample_nuisances_that_were_not_asked_for_are_noted() -> None:
    rng = np.random.default_rng(1)
    y, p = np.repeat(rng.random((2, 40)), 30, axis=1)
    assert "1200 hold about 40 distinct ones" in (sl.soft(y, p).note or "")
    assert "1200 hold about 40 distinct ones" in (sl.attenuation(p, thresholds=[0.5]).note or "")
    assert sl.soft(y, p, folds=None).note is None
    assert sl.soft(y, p, folds=np.arange(1200) % 5).note is None


def test_a_label_unrelated_to_the_score_has_no_deattenuated_estimate() -> None:
    # Given the controls the covariance of h and p is zero to rounding: -1.5·p and so on cancel exactly.
    p = np.tile([0, 0.375, 0.375, 0.625], 64)
    x = np.tile([-1.5, -0.5, 0.5, 1.5], 64)
    y = np.random.default_rng(3).normal(size=256)
    estimate = sl.hard(y, p, x, 0.5, form="deattenuated", folds=None)
    assert estimate.estimate is None
    assert "kappa = 0" in (estimate.reason or "")


def test_kappa_has_a_reason_where_the_controls_explain_the_score() -> None:
    x = np.random.default_rng(5).normal(size=2_000)
    (row,) = sl.attenuation(0.5 + x / 20, x, thresholds=[0.5], folds=None).kappa
    assert row.kappa is None
    assert "V* = 0" in (row.reason or "")
