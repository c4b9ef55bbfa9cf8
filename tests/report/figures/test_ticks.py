"""Ticks are few, round and inside; limits hold what they should."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.report.figures.ticks import limits, log_limits, ticks

sizes = st.floats(1e-6, 1e6)


@given(st.floats(-1e6, 1e6), sizes)
def test_ticks_are_few_round_evenly_spaced_and_inside(low: float, width: float) -> None:
    high = low + max(width, 1e-3 * abs(low))
    found = ticks(low, high)
    assert 2 <= len(found) <= 6
    room = 1e-6 * (high - low)
    assert all(low - room <= each <= high + room for each in found)
    step = found[1] - found[0]
    assert all(b - a == pytest.approx(step, rel=1e-6) for a, b in pairwise(found))
    digits = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(digits - round_) for round_ in (1, 2, 2.5, 5, 10)) < 1e-6


@given(sizes, st.floats(10.0, 1e6))
def test_a_logarithmic_axis_has_ticks_inside(low: float, factor: float) -> None:
    found = ticks(low, low * factor, "log")
    assert 1 <= len(found) <= 6
    assert all(low * (1 - 1e-6) <= each <= low * factor * (1 + 1e-6) for each in found)


@given(st.lists(st.floats(-1e9, 1e9), max_size=5))
def test_limits_hold_every_value(values: list[float]) -> None:
    low, high = limits(values)
    assert low < high
    assert all(low <= value <= high for value in values)


@given(st.lists(st.floats(0, 1e9), max_size=5))
def test_limits_of_a_logarithmic_axis_hold_a_decade_and_every_value_above_zero(values: list[float]) -> None:
    low, high = log_limits(values)
    assert high / low >= 10 * (1 - 1e-9)
    assert all(low <= value <= high for value in values if value > 0)
