"""Splines against patsy's, SciPy's and scikit-learn's: the same functions, though other columns."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from patsy import dmatrix  # type: ignore[import-untyped]
from scipy.interpolate import CubicSpline
from sklearn.preprocessing import SplineTransformer

from softlabel.basis.splines import evaluate, pieces

Floats = NDArray[Any]

RNG = np.random.default_rng(5)
KNOTS = {
    "three": np.array([-1.0, 0.5, 1.0]),
    "even": np.linspace(-2.0, 2.0, 6),
    "skew": np.exp(np.linspace(-3.0, 3.0, 7)),
    "twenty": np.sort(RNG.normal(size=20)),
    "far from zero": 1.7e9 + np.array([0.0, 3.0, 4.0, 9.0, 30.0]),
}
knots_of = pytest.mark.parametrize("knots", KNOTS.values(), ids=KNOTS)


def rows(knots: Floats) -> Floats:
    """Rows inside the knots, on them, and as far outside as the knots span."""
    span = knots[-1] - knots[0]
    inside = np.random.default_rng(6).uniform(knots[0], knots[-1], size=400)
    outside = np.random.default_rng(7).uniform(knots[0] - span, knots[-1] + span, size=100)
    return np.concatenate([inside, outside, knots])


def design(x: Floats, knots: Floats, *, natural: bool) -> Floats:
    columns: Floats = evaluate(x, knots, pieces(knots, natural=natural))
    return np.vstack([np.ones(len(x)), columns]).T


def fitted(columns: Floats, y: Floats, at: Floats) -> Floats:
    """Return least-squares predictions from the columns at other rows."""
    coefficients: Floats = np.linalg.lstsq(columns, y, rcond=None)[0]
    predicted: Floats = at @ coefficients
    return predicted


def curve(x: Floats, knots: Floats) -> Floats:
    u = (x - knots[0]) / (knots[-1] - knots[0])
    noisy: Floats = np.sin(5 * u) + np.random.default_rng(8).normal(size=len(x)) * 0.3
    return noisy


@knots_of
def test_natural_fits_are_patsys(knots: Floats) -> None:
    x = rows(knots)
    y = curve(x, knots)
    # patsy's crs goes on straight beyond the outer knots, which it takes as bounds.
    other = np.asarray(
        dmatrix(
            "cr(x, knots=inner, lower_bound=low, upper_bound=high) - 1",
            {"x": x, "inner": knots[1:-1], "low": knots[0], "high": knots[-1]},
        )
    )
    ours = design(x, knots, natural=True)
    # Fits of order one through designs of condition below 1e5, each good to 1e-16 times that.
    np.testing.assert_allclose(fitted(ours, y, ours), fitted(other, y, other), rtol=0, atol=1e-9)


@knots_of
def test_natural_columns_pass_through_any_values_as_scipys(knots: Floats) -> None:
    values = np.random.default_rng(9).normal(size=len(knots))
    at = np.sort(rows(knots))
    ours = fitted(design(knots, knots, natural=True), values, design(at, knots, natural=True))
    scipys = CubicSpline(knots, values, bc_type="natural")
    inside = np.clip(at, knots[0], knots[-1])
    expected = scipys(inside) + scipys(inside, 1) * (at - inside)
    # Random values at knots as near as 0.01 overshoot to a hundred: relative to the largest.
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@knots_of
def test_bspline_fits_are_scikit_learns(knots: Floats) -> None:
    x = rows(knots)
    y = curve(x, knots)
    transformer = SplineTransformer(knots=knots[:, None], degree=3, extrapolation="linear")
    other = transformer.fit_transform(x[:, None])
    assert design(x, knots, natural=False).shape == other.shape
    far = np.array([knots[0] - 100.0, knots[-1] + 100.0])
    everywhere = np.concatenate([x, far])
    ours = fitted(design(x, knots, natural=False), y, design(everywhere, knots, natural=False))
    theirs = fitted(other, y, transformer.transform(everywhere[:, None]))
    # Conditions up to 1e5 here; scikit-learn's own recursion loses digits with knots far from zero, where x has
    # ten digits before the point: 1e-16 * 1.7e9 is 2e-7 of a unit, over knots 30 units apart.
    near = 1e-6 if knots[0] > 1e9 else 1e-8
    np.testing.assert_allclose(ours, theirs, rtol=near, atol=near)


@pytest.mark.parametrize("natural", [True, False])
@knots_of
def test_smooth_to_the_second_derivative(knots: Floats, natural: bool) -> None:
    table = pieces(knots, natural=natural)
    widths = np.diff(knots) / (knots[-1] - knots[0])
    # Value, slope and curvature at the end of each piece, and at the start of the next.
    ends = [table[:, :, 0]] + [shifted(table[:, :, i + 1], width) for i, width in enumerate(widths)]
    for i, end in enumerate(ends):
        start = table[:, :, i + 1]
        order = 3 if natural or 0 < i < len(ends) - 1 else 2
        # Second derivatives grow as one over the squared distance of knots; relative to that.
        scale = np.abs(table[:3]).max() + 1
        np.testing.assert_allclose(end[:order], start[:order], rtol=0, atol=1e-11 * scale)


def shifted(cubic: Floats, by: float) -> Floats:
    """Return Taylor coefficients (4, m) of cubics (4, m) at ``by``."""
    a, b, c, d = cubic
    return np.array([a + by * (b + by * (c + by * d)), b + by * (2 * c + 3 * by * d), c + 3 * by * d, d])


@pytest.mark.parametrize("natural", [True, False])
@knots_of
def test_columns_rise_from_zero_to_one_and_add_up_to_a_line(knots: Floats, natural: bool) -> None:
    x = np.sort(np.clip(rows(knots), knots[0], knots[-1]))
    columns = evaluate(x, knots, pieces(knots, natural=natural))
    # Sums of a few terms of order one; knots at 1.7e9 leave x itself, over their span, about 1e-8 of rounding.
    slack = 1e-12
    assert (columns >= -slack).all()
    assert (columns <= 1 + slack).all()
    assert (np.diff(columns, axis=1) >= -slack).all()
    assert (columns[:, 0] == 0).all()
    np.testing.assert_allclose(columns[:, -1], 1.0, rtol=0, atol=slack)
    line = fitted(design(x, knots, natural=natural), x - knots[0], design(x, knots, natural=natural))
    np.testing.assert_allclose(line, x - knots[0], rtol=0, atol=1e-10 * (knots[-1] - knots[0]))


@pytest.mark.parametrize("natural", [True, False])
def test_far_outside_a_spline_is_its_tangent(natural: bool) -> None:
    knots = np.quantile(np.random.default_rng(10).normal(size=1000), np.linspace(0.03, 0.97, 6))
    table = pieces(knots, natural=natural)
    coefficients = np.random.default_rng(11).normal(size=table.shape[1])
    for edge, sign in ((knots[0], -1.0), (knots[-1], 1.0)):
        level, near, far = coefficients @ evaluate(np.array([edge, edge + sign, edge + sign * 1e8]), knots, table)
        # The slope from one unit outside has a relative error of about 1e-15, and so has the value 1e8 outside.
        assert far == pytest.approx(level + (near - level) * 1e8, rel=1e-12)


def test_one_outlier_moves_one_column() -> None:
    knots = np.linspace(0.0, 1.0, 6)
    for natural in (True, False):
        low, high = evaluate(np.array([-1e12, 1e12]), knots, pieces(knots, natural=natural)).T
        assert (low[1:] == 0).all()
        assert (high[:-1] == 1).all()


def test_saturated_on_its_knots() -> None:
    knots = np.array([0.0, 1.0, 2.0, 5.0])
    columns = design(np.repeat(knots, 3), knots, natural=True)
    y = np.random.default_rng(12).normal(size=12)
    means = y.reshape(4, 3).mean(axis=1).repeat(3)
    # A design of condition ten.
    np.testing.assert_allclose(fitted(columns, y, columns), means, rtol=0, atol=1e-13)


def test_knots_a_millionth_of_the_span_apart() -> None:
    # The nearest that place_knots lets through: the coefficients reach 1e12, the columns keep ten digits.
    knots = np.array([0.0, 1e-6, 0.3, 0.3 + 1e-6, 1.0])
    x = np.array([0.0, 5e-7, 1e-6, 0.3, 0.3 + 5e-7, 1.0])
    for natural in (True, False):
        columns = evaluate(x, knots, pieces(knots, natural=natural))
        assert (np.diff(columns, axis=1) >= -1e-9).all()
        np.testing.assert_allclose(columns[:, -1], 1.0, rtol=0, atol=1e-9)
