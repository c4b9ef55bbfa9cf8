"""Least squares from cross products against numpy's on the rows, and what it says about rank."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.moments.solve import RANK_TOLERANCE, Fit, least_squares

Floats = NDArray[Any]


def fitted(design: Floats, values: Floats) -> Fit:
    """Solve from the cross products of design (n, d), the first column ones, and values (n, m)."""
    return least_squares(design.T @ design, design.T @ values)


def by_rows(design: Floats, values: Floats) -> Floats:
    return np.linalg.lstsq(design, values, rcond=1e-12)[0]


@pytest.mark.parametrize(("n", "k", "m"), [(9, 0, 1), (30, 1, 2), (70, 6, 3), (400, 25, 4)])
def test_full_rank(n: int, k: int, m: int) -> None:
    rng = np.random.default_rng(n)
    design = np.column_stack([np.ones(n), rng.normal(size=(n, k)) + 0.5])
    values = rng.normal(size=(n, m)) + 3
    fit = fitted(design, values)
    assert fit.kept.all()
    np.testing.assert_allclose(fit.coefficients, by_rows(design, values), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("exponents", [(6, -6, 0), (120, -120, 3), (-80, 80, 81)])
def test_badly_scaled_columns(exponents: tuple[int, ...]) -> None:
    # Powers of two, so that the reference is the unscaled fit, to the bit.
    rng = np.random.default_rng(1)
    plain = np.column_stack([np.ones(50), rng.normal((0.0, 2.0, -1.0), size=(50, 3))])
    values = rng.normal(size=(50, 2))
    factors = np.exp2(np.array([0, *exponents]) * 3.0)
    fit = fitted(plain * factors, values)
    assert fit.kept.all()
    np.testing.assert_allclose(fit.coefficients * factors[:, None], by_rows(plain, values), rtol=1e-11, atol=1e-13)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 4))
def test_redundant_columns_leave_predictions_alone(seed: int, k: int, extra: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    independent = rng.normal(size=(n, k))
    # Copies, combinations, constants and zeros, shuffled in among the others.
    more = [independent @ rng.integers(-3, 4, size=k) + rng.integers(-2, 3) for _ in range(extra)]
    columns = np.column_stack([independent, *more])[:, rng.permutation(k + extra)]
    design = np.column_stack([np.ones(n), columns])
    values = rng.normal(size=(n, 2))
    fit = fitted(design, values)
    np.testing.assert_allclose(design @ fit.coefficients, design @ by_rows(design, values), rtol=0, atol=1e-9)
    # The kept columns are those that raise the rank, counted from the left; the others have coefficient zero.
    ranks = [np.linalg.matrix_rank(design[:, : j + 1], tol=1e-8) for j in range(design.shape[1])]
    assert fit.kept.tolist() == (np.diff([0, *ranks]) > 0).tolist()
    assert not fit.coefficients[~fit.kept].any()


def test_of_collinear_columns_the_earlier_stay() -> None:
    x = np.random.default_rng(2).normal(size=(20, 2))
    design = np.column_stack([np.ones(20), x[:, 0], 2 * x[:, 0] - 1, np.full(20, 0.1), x[:, 1], x.sum(axis=1)])
    assert fitted(design, x[:, :1]).kept.tolist() == [True, True, False, False, True, False]


@pytest.mark.parametrize(("share", "kept"), [(1e-7, True), (1e-13, False)])
def test_the_tolerance_is_a_share_of_the_variance(share: float, kept: bool) -> None:
    # Three decades to either side of the tolerance, whatever the unit.
    assert pytest.approx(1e-10) == RANK_TOLERANCE
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 300))
    for unit in (1.0, 1e6, 1e-6):
        design = np.column_stack([np.ones(300), x, unit * (x + np.sqrt(share) * z)])
        assert fitted(design, x[:, None]).kept.tolist() == [True, True, kept]


def test_nearly_collinear_columns_keep_the_digits_they_have() -> None:
    # A share of 1e-6 of the variance left costs 6 of 16 digits in the coefficients.
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 300))
    design = np.column_stack([np.ones(300), x, x + 1e-3 * z])
    values = (x + 5 * z + rng.normal(size=300))[:, None]
    np.testing.assert_allclose(fitted(design, values).coefficients, by_rows(design, values), rtol=1e-7)


def test_no_rows_give_zeros() -> None:
    fit = least_squares(np.zeros((3, 3)), np.zeros((3, 2)))
    assert not fit.coefficients.any()
    assert not fit.kept.any()


def test_one_row_gives_its_value() -> None:
    design = np.array([[1.0, 4.0, -2.0]])
    fit = fitted(design, np.array([[7.0]]))
    assert fit.kept.tolist() == [True, False, False]
    assert fit.coefficients[:, 0].tolist() == [7.0, 0.0, 0.0]


def test_a_stack_is_its_parts() -> None:
    rng = np.random.default_rng(5)
    designs = np.concatenate([np.ones((2, 3, 40, 1)), rng.normal(size=(2, 3, 40, 4))], axis=3)
    designs[1, 2, :, 3] = designs[1, 2, :, 1]  # one of them collinear
    designs[0, 1, :, 2] = 0.0  # one with an empty column
    designs[0, 0] = 0.0  # one without rows
    values = rng.normal(size=(2, 3, 40, 2))
    crossed = designs.swapaxes(-1, -2)
    stack = least_squares(crossed @ designs, crossed @ values)
    for index in np.ndindex(2, 3):
        one = fitted(designs[index], values[index])
        np.testing.assert_allclose(stack.coefficients[index], one.coefficients, rtol=1e-12, atol=1e-14)
        assert np.array_equal(stack.kept[index], one.kept)
    assert stack.kept.sum(axis=-1).tolist() == [[0, 4, 5], [5, 5, 4]]


def test_weights_enter_as_repetitions() -> None:
    rng = np.random.default_rng(6)
    weight: NDArray[Any] = rng.integers(0, 4, size=30)
    design = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    values = rng.normal(size=(30, 1))
    weighted = least_squares((weight[:, None] * design).T @ design, (weight[:, None] * design).T @ values)
    repeated = by_rows(np.repeat(design, weight, axis=0), np.repeat(values, weight, axis=0))
    np.testing.assert_allclose(weighted.coefficients, repeated, rtol=1e-12)
