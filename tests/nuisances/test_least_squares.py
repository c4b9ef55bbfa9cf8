"""Named learners of least squares, against scikit-learn's and against curves that they contain."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import softlabel as sl
from softlabel.nuisances import make_learner
from softlabel.nuisances.least_squares import SHAPES, LeastSquares

Floats = NDArray[np.float64]

OTHERS: dict[str, Any] = {
    "linear": LinearRegression(),
    "quadratic": make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), LinearRegression()),
}


@pytest.fixture
def rows() -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(1e3, 2.0, 300), rng.gamma(2.0, size=300), rng.integers(0, 2, 300)])
    return x, np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + rng.normal(size=300), rng.uniform(0.5, 2.0, 300)


@pytest.mark.parametrize("shape", OTHERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_scikit_learns(shape: str, weighted: bool, rows: tuple[Floats, Floats, Floats]) -> None:
    x, y, w = rows
    other = OTHERS[shape]
    name = "sample_weight" if shape == "linear" else "linearregression__sample_weight"
    expected = other.fit(x, y, **({name: w} if weighted else {})).predict(x[:50])
    found = LeastSquares(shape=shape).fit(x, y, w if weighted else None).predict(x[:50])
    # Normal equations here, a decomposition of the columns there: they differ by the squared condition number.
    assert found == pytest.approx(expected, abs=1e-8)


def test_weights_are_copies_and_their_scale_is_nothing(rows: tuple[Floats, Floats, Floats]) -> None:
    x, y, _ = rows
    copies = np.random.default_rng(1).integers(1, 4, len(y))
    weight = copies.astype(np.float64)
    for shape in ("linear", "quadratic"):
        weighted = LeastSquares(shape=shape).fit(x, y, weight).predict(x)
        repeated = LeastSquares(shape=shape).fit(np.repeat(x, copies, axis=0), np.repeat(y, copies)).predict(x)
        assert weighted == pytest.approx(repeated, rel=1e-8)  # sums in another order
    for shape in SHAPES:
        once, more = (LeastSquares(shape=shape).fit(x, y, s * weight).predict(x) for s in (1e-6, 1e6))
        assert once == pytest.approx(more, rel=1e-8)


def test_a_spline_is_the_function_itself_where_a_control_has_few_values(rows: tuple[Floats, Floats, Floats]) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 5, size=(400, 2)).astype(float)
    y = np.sin(3 * x[:, 0]) + np.exp(x[:, 1] / 2)
    assert LeastSquares(shape="spline").fit(x, y).predict(x) == pytest.approx(y, abs=1e-8)
    # Beyond its knots it goes straight: three points far outside lie on a line.
    far = np.column_stack([np.array([50.0, 60.0, 70.0]), np.zeros(3)])
    assert np.diff(LeastSquares(shape="spline").fit(x, y).predict(far), 2) == pytest.approx(0.0, abs=1e-7)
    # Two values, or one, are a line, or nothing.
    binary = np.column_stack([rows[0][:, 2], np.ones(300)])
    line = LeastSquares(shape="linear").fit(binary, rows[1]).predict(binary)
    assert LeastSquares(shape="spline").fit(binary, rows[1]).predict(binary) == pytest.approx(line, rel=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_that_repeat_cost_nothing(shape: str, rows: tuple[Floats, Floats, Floats]) -> None:
    x, y, _ = rows
    twice = np.column_stack([x, 1 - x[:, 2], x[:, 0]])
    once = LeastSquares(shape=shape).fit(x, y).predict(x)
    assert LeastSquares(shape=shape).fit(twice, y).predict(twice) == pytest.approx(once, abs=1e-6)


def test_they_can_be_copied_and_asked_for_by_name() -> None:
    for shape in SHAPES:
        learner = make_learner(shape, seed=0)
        assert (learner.name, learner.estimator.get_params()) == (shape, {"shape": shape})
        assert LeastSquares().set_params(shape=shape).shape == shape


def test_diagnose_compares_them_and_warns_of_the_largest() -> None:
    # p bends with x: a line leaves the bend in V*.
    rng = np.random.default_rng(3)
    x, u = rng.uniform(-1, 1, 2_000), rng.uniform(0, 0.3, 2_000)
    table = {"x": x, "p": 0.6 * x**2 + u, "y": rng.normal(size=2_000)}
    d = sl.diagnose(table, outcome="y", score="p", controls=["x"], learner=["linear", "quadratic", "spline"])
    found = {row.name: row.v_star or 0.0 for row in d.learners}
    assert [row.name for row in d.learners if row.used] == [min(found, key=lambda name: found[name])]
    assert found["linear"] > 3 * found["quadratic"]
    assert found["quadratic"] == pytest.approx(0.09 / 12, abs=5 * 0.09 / 12 / 2_000**0.5)
    check = next(check for check in d.checks if check.code == "score.learners")
    assert (check.outcome, "do not take a large V* for a good score" in (check.advice or "")) == ("warn", True)
