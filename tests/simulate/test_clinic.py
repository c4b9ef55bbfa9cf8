"""The hospital of the demo: it holds what its story promises."""

import math

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.simulate import CLINIC_TRUTH, clinic

Array = NDArray[np.float64]

ROWS = 400_000
CONTROLS = ("age", "frailty", "emergency")


@pytest.fixture(scope="module")
def patients() -> dict[str, Array]:
    table = clinic(0, ROWS, seed=7)
    return {name: table[name].to_numpy().astype(np.float64) for name in table.column_names}


def regression(y: Array, *columns: Array) -> tuple[Array, Array, Array]:
    """OLS with an intercept: coefficients, their robust covariance, residuals."""
    x = np.column_stack([np.ones(len(y)), *columns])
    bread = np.linalg.inv(x.T @ x)
    beta = bread @ (x.T @ y)
    residuals = y - x @ beta
    meat = (x * residuals[:, None]).T @ (x * residuals[:, None])
    return beta, bread @ meat @ bread, residuals


def test_the_supervised_regression_finds_the_effect_and_the_mean_is_linear(
    patients: dict[str, Array],
) -> None:
    controls = [patients[name] for name in CONTROLS]
    beta, covariance, residuals = regression(patients["days_in_hospital"], patients["delirium"], *controls)
    t = CLINIC_TRUTH
    stated = [
        t.days_at_65 - 65 * t.days_per_year,
        t.effect,
        t.days_per_year,
        t.days_frailty,
        t.days_emergency,
    ]
    away = beta - stated
    # 5 coefficients: chi-squared with 5 degrees of freedom, which passes 20.5 once in a thousand.
    assert away @ np.linalg.solve(covariance, away) < 20.5
    # Nothing of the mean is left in squares, products or the score (exclusion).
    age, frailty, _ = controls
    for z in (age**2, frailty**2, age * frailty, patients["p_delirium"], patients["delirium"] * age):
        left = residuals * (z - z.mean()) / z.std()
        assert abs(left.mean()) < 4 * left.std() / math.sqrt(ROWS)


def test_the_score_is_calibrated_given_the_controls(patients: dict[str, Array]) -> None:
    p, g = patients["p_delirium"], patients["delirium"]
    beta, covariance, _ = regression(g - p, p, *(patients[name] for name in CONTROLS))
    # All 5 coefficients are zero: chi-squared again.
    assert beta @ np.linalg.solve(covariance, beta) < 20.5


def test_the_story_is_worth_telling(patients: dict[str, Array]) -> None:
    """Prevalence, spread of stays, what a score buys and what a threshold costs."""
    days, p, g = patients["days_in_hospital"], patients["p_delirium"], patients["delirium"]
    controls = [patients[name] for name in CONTROLS]
    assert 0.20 < g.mean() < 0.25
    assert days.min() > 0
    assert 4 < np.median(days) < 7
    assert np.quantile(days, 0.99) < 30
    a, y, h = (regression(column, *controls)[2] for column in (p, days, (p > 0.9).astype(float)))
    kappa = (h @ a) / (h @ h)
    assert 0.4 < kappa < 0.8
    soft = (a @ y) / (a @ a)
    soft_se = math.sqrt(np.mean((a * (y - soft * a)) ** 2)) / np.mean(a * a) / math.sqrt(40_000)
    supervised_se = math.sqrt(regression(days, g, *controls)[1][1, 1] * ROWS / 600)
    assert soft_se < supervised_se / 4
    assert soft_se < CLINIC_TRUTH.effect / 20  # and 40,000 scores see the effect clearly


def test_the_table() -> None:
    table = clinic(30, 20, seed=1)
    assert table.schema.names == [
        "days_in_hospital",
        "delirium",
        "p_delirium",
        "age",
        "frailty",
        "emergency",
    ]
    assert table.schema.types == [
        pa.float64(), pa.int8(), pa.float64(), pa.int64(), pa.float64(), pa.int8()
    ]  # fmt: skip
    assert table["delirium"].to_pylist()[:30] == [None] * 30
    assert set(table["delirium"].to_pylist()[30:]) == {0, 1}
    assert set(table["emergency"].to_pylist()) == {0, 1}
    ages = table["age"].to_pylist()
    assert 65 <= min(ages) <= max(ages) <= 95
    assert clinic().num_rows == 40_600
    assert clinic()["delirium"].null_count == 40_000


def test_seeds_and_counts() -> None:
    assert clinic(9, 4, seed=3).equals(clinic(9, 4, seed=np.random.default_rng(3)))
    assert not clinic(9, 4, seed=3).equals(clinic(9, 4, seed=4))
    assert clinic(9, 4, seed=3)[:9].equals(clinic(9, 0, seed=3))
    with pytest.raises(InputError, match="n_labelled to be a whole number, at least 0; found -1"):
        clinic(9, -1)
    with pytest.raises(InputError, match="seed"):
        clinic(9, 1, seed=None)  # type: ignore[arg-type]
