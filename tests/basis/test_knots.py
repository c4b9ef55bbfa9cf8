"""Where knots lie."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.basis.knots import OUTER, distinct, place_knots, weighted_quantiles

Floats = NDArray[Any]


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1))
def test_quantiles_are_those_of_the_repeated_sample(pairs: list[tuple[int, int]]) -> None:
    drawn, times = np.array(pairs).T
    values, counts = distinct(drawn.astype(float), times.astype(float))
    repeated = np.repeat(drawn, times)
    levels = np.array([0.0, 0.03, 0.25, 0.5, 0.9, 1.0])
    if len(repeated):
        # Interpolation between integers no further apart than 10: a few rounding errors of 10.
        np.testing.assert_allclose(
            weighted_quantiles(values, counts, levels), np.quantile(repeated, levels), rtol=0, atol=1e-13
        )
    else:
        assert len(values) == 0


@pytest.mark.parametrize("knots", [3, 6, 20])
def test_knots_are_evenly_spaced_in_probability(knots: int) -> None:
    rng = np.random.default_rng(1)
    values = np.sort(rng.normal(size=500))
    counts = rng.integers(1, 4, size=500)
    placed = place_knots(values, counts.astype(float), knots)
    expected = np.quantile(np.repeat(values, counts), np.linspace(OUTER, 1 - OUTER, knots))
    # A few rounding errors of values no larger than four.
    np.testing.assert_allclose(placed, expected, rtol=0, atol=1e-14)


def test_few_values_are_the_knots() -> None:
    values = np.array([0.0, 1.0, 5.0, 7.0])
    for counts in (np.ones(4), np.array([1e6, 1.0, 1.0, 1.0])):
        assert place_knots(values, counts, 6) == place_knots(values, counts, 4) == (0.0, 1.0, 5.0, 7.0)


@pytest.mark.parametrize("knots", [3, 6, 20])
@pytest.mark.parametrize("heaps", [1, 2])
def test_a_heap_takes_one_knot_and_the_rest_go_to_the_other_rows(knots: int, heaps: int) -> None:
    # Nine rows in ten are zero (or one of two values), as with hours worked or visits to a doctor.
    values = np.concatenate([-np.arange(heaps)[::-1] * 2.0, np.linspace(1, 2, 1000)])
    counts = np.concatenate([np.full(heaps, 9000.0 / heaps), np.ones(1000)])
    placed = np.array(place_knots(values, counts, knots))
    assert len(placed) == knots
    # At most one knot on a heap and one in the gap beside it.
    assert (placed >= 1).sum() >= knots - 2 * heaps


@given(
    st.lists(st.floats(-1e30, 1e30), unique=True, max_size=40).map(sorted),
    st.integers(3, 20),
    st.integers(0, 2**32 - 1),
)
def test_knots_rise_within_the_values(numbers: list[float], knots: int, seed: int) -> None:
    values = np.array(numbers)
    counts = np.random.default_rng(seed).integers(1, 1000, size=len(values)).astype(float)
    placed = np.array(place_knots(values, counts, knots))
    assert len(placed) == 0 or 3 <= len(placed) <= knots
    if len(placed):
        assert (np.diff(placed) > 0).all()
        assert placed[0] >= values[0]
        assert placed[-1] <= values[-1]


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [1.0, 2.0], [0.0, 1e-9, 1.0], [0.0, 1e-200, 2e-200], [-1e300, 0.0, 1e300]],
    ids=["none", "one", "two", "two and a near copy", "too narrow", "too wide"],
)
def test_a_straight_line_has_no_knots(values: list[float]) -> None:
    assert place_knots(np.array(values), np.ones(len(values)), 6) == ()


def test_values_that_never_occur_do_not_count() -> None:
    values, counts = distinct(np.array([3.0, 1.0, 3.0, 2.0]), np.array([1.0, 2.0, 4.0, 0.0]))
    assert values.tolist() == [1.0, 3.0]
    assert counts.tolist() == [2.0, 5.0]
