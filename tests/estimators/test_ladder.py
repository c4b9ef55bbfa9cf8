"""The ladder: each rung against the same written another way, its steps, its set of compatible effects, its limits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from softlabel.estimators.ladder import Step, climb, compatible, inverse, soft_threshold

Floats = NDArray[np.float64]


def drawn(seed: int) -> tuple[Floats, Floats]:
    """Four numbers that could be a study's, and a covariance that couples those of the labelled rows."""
    rng = np.random.default_rng(seed)
    tau, c, leak = rng.normal(1, 0.5), rng.uniform(0.3, 1.3), rng.choice([0.0, rng.normal(0, 0.3)])
    root = rng.normal(size=(3, 3)) * np.array([0.1, 0.15, 0.07])[:, None]
    labelled = root @ root.T + np.diag([0.002, 0.002, 0.001])
    omega = np.zeros((4, 4))
    omega[np.ix_([0, 1, 3], [0, 1, 3])] = labelled
    omega[2, 2] = rng.uniform(0.0002, 0.004)
    mean = np.array([tau, tau * c + leak, tau * c + leak, c])
    return rng.multivariate_normal(mean, omega), omega


def distance(tau: float, c: float, g: Floats, omega: Floats) -> float:
    left = g - np.array([tau, tau * c, tau * c, c])
    return float(left @ np.linalg.solve(omega, left))


@pytest.mark.parametrize("seed", range(20))
def test_rectified_is_predict_then_debias(seed: int) -> None:
    g, omega = drawn(seed)
    sup, soft_l, soft_u, _ = g
    # Predict on the unlabelled rows, debias by the labelled, with the weight that leaves least variance (theory, 2).
    share = omega[0, 1] / (omega[1, 1] + omega[2, 2])
    expected = sup + share * (soft_u - soft_l)
    variance = omega[0, 0] - omega[0, 1] ** 2 / (omega[1, 1] + omega[2, 2])
    found = climb(g, omega)
    assert found.estimates[0] == pytest.approx(expected, rel=1e-10)
    assert found.covariance[0, 0] == pytest.approx(variance, rel=1e-10)
    assert found.distance[0] == pytest.approx((soft_u - soft_l) ** 2 / (omega[1, 1] + omega[2, 2]), rel=1e-10)


@pytest.mark.parametrize("seed", range(40))
def test_instrumented_is_the_least_distance_that_an_optimiser_finds(seed: int) -> None:
    g, omega = drawn(seed)
    found = climb(g, omega)
    # From many starts, for the distance may have several minima; it is the deepest that counts.
    starts = [(g[0], g[3]), (0.0, g[3]), (g[2], 1.0), (g[0], 0.1), (-g[0], -g[3])]

    def objective(x: Floats) -> float:
        return distance(float(x[0]), float(x[1]), g, omega)

    options: Any = {"xatol": 1e-10, "fatol": 1e-12}
    tries = [minimize(objective, np.array(start), method="Nelder-Mead", options=options) for start in starts]
    best = min(tries, key=lambda one: float(one.fun))
    assert found.distance[1] <= float(best.fun) + 1e-8
    assert found.estimates[1] == pytest.approx(best.x[0], abs=1e-5)
    assert found.slope == pytest.approx(best.x[1], abs=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_combined_is_generalised_least_squares(seed: int) -> None:
    g, omega = drawn(seed)
    # Regress (sup, soft_L, soft_U, c − 1) on (1, 1, 1, 0) with the root of the precision.
    root = np.linalg.cholesky(np.linalg.inv(omega)).T
    x, y = root @ np.array([1.0, 1, 1, 0]), root @ (g - np.array([0, 0, 0, 1.0]))
    found = climb(g, omega)
    assert found.estimates[2] == pytest.approx(float(x @ y / (x @ x)), rel=1e-10)
    assert found.covariance[2, 2] == pytest.approx(1 / float(x @ x), rel=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_errors_are_those_of_small_changes_of_the_numbers(seed: int) -> None:
    g, omega = drawn(seed)
    found = climb(g, omega)
    # Rung 1 is not linear in g; its weights are its derivative where the distance is zero, so at a g that fits.
    tau, c = found.estimates[1], found.slope
    fits = np.array([tau, tau * c, tau * c, c])
    at = climb(fits, omega)
    step = 1e-6
    for j in range(4):
        moved = fits + step * np.eye(4)[j]
        assert (climb(moved, omega).estimates[1] - tau) / step == pytest.approx(at.weights[1, j], abs=1e-4)
    np.testing.assert_allclose(at.covariance, at.weights @ omega @ at.weights.T, rtol=1e-8)


@given(st.integers(0, 10_000), st.sampled_from([1e-6, 1.0, 1e6]))
@settings(max_examples=100)
def test_the_unit_of_the_outcome_does_not_matter(seed: int, unit: float) -> None:
    g, omega = drawn(seed)
    units = np.array([unit, unit, unit, 1.0])
    plain, scaled = climb(g, omega), climb(g * units, omega * np.outer(units, units))
    np.testing.assert_allclose(scaled.estimates, plain.estimates * unit, rtol=1e-7)
    np.testing.assert_allclose(scaled.covariance, plain.covariance * unit**2, rtol=1e-6)
    assert scaled.exclusion.statistic == pytest.approx(plain.exclusion.statistic, rel=1e-6, abs=1e-9)
    assert scaled.slope == pytest.approx(plain.slope, rel=1e-7)


@given(st.integers(0, 10_000))
@settings(max_examples=200)
def test_trusting_more_never_widens_at_a_slope_of_one(seed: int) -> None:
    _, omega = drawn(seed)
    found = climb(np.array([1.0, 1.0, 1.0, 1.0]), omega)
    errors = np.sqrt(np.diagonal(found.covariance))
    assert errors[0] >= errors[1] * (1 - 1e-9) >= errors[2] * (1 - 2e-9)
    # Efficient weights: what a step adds is uncorrelated with what is kept, so squares add up.
    assert found.exclusion.std_error**2 == pytest.approx(errors[0] ** 2 - errors[1] ** 2, abs=1e-9)
    assert found.calibration.std_error**2 == pytest.approx(errors[1] ** 2 - errors[2] ** 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(25))
def test_compatible_effects_are_those_whose_distance_is_near_the_least(seed: int) -> None:
    g, omega = drawn(seed)
    limit = 3.841
    intervals = compatible(g, omega, limit)
    least = climb(g, omega).distance[1]
    precision = np.linalg.inv(omega)

    def best(tau: float) -> float:
        moving = np.array([0.0, tau, tau, 1.0])
        left = g - np.array([tau, 0.0, 0.0, 0.0])
        c = float(moving @ precision @ left) / float(moving @ precision @ moving)
        return distance(tau, c, g, omega)

    for tau in np.linspace(g[0] - 1.5, g[0] + 1.5, 400):
        inside = any(low <= tau <= high for low, high in intervals)
        excess = best(tau) - least - limit
        if abs(excess) > 1e-6:
            assert inside == (excess < 0), (tau, excess, intervals)
    assert any(low <= climb(g, omega).estimates[1] <= high for low, high in intervals)


def test_compatible_effects_cover_where_the_score_is_weak() -> None:
    # A slope that cannot be told from zero: an interval from a ratio would not cover.
    rng = np.random.default_rng(5)
    omega = np.diag([0.04, 0.09, 0.0004, 0.01])
    omega[0, 1] = omega[1, 0] = 0.02
    mean = np.array([1.0, 0.05, 0.05, 0.05])
    inside = 0
    for g in rng.multivariate_normal(mean, omega, size=1_000):
        inside += any(low <= 1.0 <= high for low, high in compatible(g, omega, 3.841459))
    # 95% of 1,000 is known to 0.7%: three of that.
    assert inside / 1_000 == pytest.approx(0.95, abs=0.021)


def test_a_score_that_is_the_group_leaves_supervised() -> None:
    # soft_L is then supervised and c is one without error: nothing may blow up.
    omega = np.array([[0.01, 0.01, 0, 0], [0.01, 0.01, 0, 0], [0, 0, 0.0001, 0], [0, 0, 0, 0]])
    found = climb(np.array([1.02, 1.02, 1.0, 1.0]), omega)
    assert np.isfinite(found.estimates).all()
    assert np.isfinite(found.covariance).all()
    # Rung 0 is the mean of both samples by their precision, and the others no more than that.
    assert found.estimates == pytest.approx([1.0002, 1.0002, 1.0002], abs=1e-3)
    assert found.calibration.std_error == pytest.approx(0, abs=1e-3)


def test_a_score_that_says_nothing_leaves_supervised() -> None:
    omega = np.diag([0.01, 100.0, 100.0, 25.0])
    found = climb(np.array([1.0, 7.0, -3.0, 2.0]), omega)
    assert found.estimates[:2] == pytest.approx([1.0, 1.0], abs=0.02)


def test_steps_are_thresholded_softly() -> None:
    assert soft_threshold(Step(3.0, 1.0), 1.0) == 2.0
    assert soft_threshold(Step(-3.0, 1.0), 0.5) == -2.5
    assert soft_threshold(Step(0.9, 1.0), 1.0) == 0.0
    assert soft_threshold(Step(0.0, 0.0), 1.0) == 0.0
    assert Step(2.0, 1.0).kept(0.5) == 0.75
    assert Step(2.0, 1.0).statistic == 4.0
    assert Step(2.0, 0.0).statistic == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_the_adaptive_estimate_telescopes(seed: int) -> None:
    g, omega = drawn(seed)
    found = climb(g, omega)
    # Nothing is thresholded: rung 0. Everything is: rung 2.
    assert found.adaptive(0, 0) == pytest.approx(found.estimates[0], rel=1e-12)
    assert found.adaptive(1e9, 1e9) == pytest.approx(found.estimates[2], rel=1e-12)
    assert found.adaptive(1e9, 0) == pytest.approx(found.estimates[1], rel=1e-12)


def test_the_inverse_of_a_sound_covariance_is_its_inverse() -> None:
    _, omega = drawn(3)
    np.testing.assert_allclose(inverse(omega) @ omega, np.eye(4), atol=1e-9)


@given(st.lists(st.floats(-2, 2), min_size=6, max_size=6), st.floats(-1e3, 1e3), st.floats(-3, 3))
def test_any_covariance_gives_finite_rungs(entries: list[float], tau: float, c: float) -> None:
    root = np.zeros((3, 3))
    root[np.tril_indices(3)] = entries
    omega = np.zeros((4, 4))
    omega[np.ix_([0, 1, 3], [0, 1, 3])] = root @ root.T
    omega[0, 0] += 1e-6
    omega[2, 2] = 1e-4
    found = climb(np.array([tau, tau * c, tau * c + 0.1, c]), omega)
    assert np.isfinite(found.estimates).all()
    assert np.isfinite(found.covariance).all()
    assert compatible(np.array([tau, tau * c, tau * c + 0.1, c]), omega, 4.0)
