"""Numbers as people read them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.results.text import interval_text, number


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (0, "0"),
        (0.0, "0"),
        (-0.0, "0"),
        (1, "1.00"),
        (-1, "-1.00"),
        (2.5, "2.50"),
        (12.34, "12.3"),
        (123.4, "123"),
        (1234.5, "1230"),
        # Rounding that gains a digit must not gain a decimal.
        (9.994, "9.99"),
        (9.996, "10.0"),
        (-9.996, "-10.0"),
        (99.96, "100"),
        (999.96, "1000"),
        (0.9996, "1.00"),
        (0.09996, "0.100"),
        (0.0099951, "0.0100"),
        (-0.0099951, "-0.0100"),
        (0.01234, "0.0123"),
        (0.00012345, "0.000123"),
        # Where zeros would be counted, an exponent.
        (1e-4, "0.000100"),
        (0.000099999, "1.00e-04"),
        (1e-5, "1.00e-05"),
        (-1.2345e-5, "-1.23e-05"),
        (5e-324, "4.94e-324"),
        (999_999_999.0, "1000000000"),
        (123_456_789.0, "123000000"),
        (1e9, "1.00e+09"),
        (-1.2345e12, "-1.23e+12"),
        (1.7976931348623157e308, "1.80e+308"),
    ],
)
def test_three_significant_digits(value: float | None, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.0966, 2, "0.097"),
        (0.996, 2, "1.0"),
        (31.2, 2, "31"),
        (9.96, 1, "10"),
        (0.5, 1, "0.5"),
        (3.14159, 5, "3.1416"),
    ],
)
def test_other_numbers_of_digits(value: float, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


@given(st.floats(-1e307, 1e307), st.integers(1, 6))
def test_what_is_shown_is_the_number_to_that_many_digits(value: float, digits: int) -> None:
    shown = number(value, digits)
    # Half a unit in the last digit, with room for the float nearest to it.
    assert float(shown) == pytest.approx(value, rel=0.50001 * 10 ** (1 - digits), abs=0)
    assert float(shown) == float(f"{value:.{digits - 1}e}")
    mantissa = shown.split("e")[0].lstrip("-").replace(".", "").lstrip("0")
    if value and "e" not in shown and abs(value) < 10**digits:
        # 9.96 to 1 digit is 10, which has one significant digit and two places.
        assert len(mantissa) == digits or re.fullmatch(r"10+", mantissa)


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (None, "-"),
        ((0.912, 1.1), "0.912 to 1.10"),
        ((-9.996, 0.0), "-10.0 to 0"),
        ((-2.0, -1e-5), "-2.00 to -1.00e-05"),
    ],
)
def test_intervals(interval: tuple[float, float] | None, shown: str) -> None:
    assert interval_text(interval) == shown
