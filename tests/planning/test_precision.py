"""Labels needed and standard errors: by hand, against the ladder, against a search, in the limits."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.estimators.ladder import climb, rung_variances
from softlabel.planning.precision import (
    MOST_LABELS,
    Precision,
    beta_uncertainty,
    calibrated,
    labels_needed,
    std_errors,
)

# σ² = 4, E[Var(G|X)] = 1/5, V* = 1/20, u = 1/10, τ = 2.
BY_HAND = calibrated(2.0, 2.0, 0.2, 0.05, 0.1)


def test_variances_per_row_by_hand() -> None:
    # (σ² + τ²u)/V* = (4 + 0.4)·20; τu/V* = 0.2·20; u/V* = 0.1·20.
    np.testing.assert_allclose(BY_HAND.labelled, [[20, 20, 0], [20, 88, 4], [0, 4, 2]], rtol=1e-12)
    assert BY_HAND.unlabelled == pytest.approx(88)


def test_standard_errors_by_hand() -> None:
    supervised, rectified, instrumented, combined = std_errors(BY_HAND, 100, 8800)
    assert supervised == pytest.approx(sqrt(0.2))
    # 20/100 − (20/100)² / (88/100 + 88/8800)
    assert rectified == pytest.approx(sqrt(0.2 - 0.04 / 0.89))
    # Information about τ adds up: soft_U's 1/0.01, and i = (1,1,0) ω⁻¹ (1,1,0)' of each labelled row. ω less what c_L
    # says of soft is [[20, 20], [20, 80]]; with its inverse i = 1/20.
    assert combined == pytest.approx(sqrt(1 / (100 + 100 / 20)))
    # With e = soft_L − 2 c_L, v = soft_U − 2 c_L: E = τ(c, ...) at τ = 2, c = 1 gives τ each, the covariance of
    # (sup, e, v) being that of Ω under the map.
    omega = BY_HAND.omega(100, 8800)
    to = np.array([[1, 0, 0, 0], [0, 1, 0, -2], [0, 0, 1, -2]], dtype=float)
    weight = np.linalg.inv(to @ omega @ to.T)
    assert instrumented == pytest.approx(sqrt(1 / weight.sum()))


def test_labels_by_hand() -> None:
    supervised, rectified, _, combined = labels_needed(BY_HAND, 8800, 0.09)
    assert supervised == 2470  # 20/0.0081 = 2469.1
    # T D n² + (88 T − 20 D) n − (20·88 − 20²) = 0 with T = 0.0081, D = 0.01
    a, b, c = 0.0081 * 0.01, 88 * 0.0081 - 0.2, 20 * 88 - 400
    assert rectified == int(np.ceil((-b + sqrt(b * b + 4 * a * c)) / (2 * a)))
    assert combined == int(np.ceil((1 / 0.0081 - 100) * 20))
    # Where soft alone is precise enough no label is needed, and one that is nearly so is rounded up to ten.
    assert labels_needed(BY_HAND, 8800, 0.1001)[3] == 0
    assert labels_needed(BY_HAND, 8800, 0.09999)[3] == 10


def test_the_beta_formula_by_integration() -> None:
    rng = np.random.default_rng(0)
    for mean, k in ((0.5, 3.0), (0.1, 8.0), (0.3, 0.7)):
        p = rng.beta(mean * k, (1 - mean) * k, 2_000_000)
        a = np.square(p - mean)
        left = mean * (1 - mean)
        found = beta_uncertainty(left, left / (k + 1))
        # Four standard errors of the simulated mean, of which the ratio's is about one in a thousand.
        assert found == pytest.approx(np.mean(a * p * (1 - p)) / np.mean(a), rel=0.006)


rows = st.builds(
    calibrated,
    tau=st.floats(-3, 3),
    noise_sd=st.floats(0.1, 10),
    group_variance=st.floats(0.05, 0.25),
    v_star=st.floats(0.002, 0.049),
)


@given(rows, st.integers(100, 10**6), st.floats(0.005, 0.5))
def test_labels_are_the_fewest_that_reach_the_target(each: Precision, n_unlabelled: int, share: float) -> None:
    target = share * sqrt(each.labelled[0, 0]) / 5
    for place, n in enumerate(labels_needed(each, n_unlabelled, target)):
        assert n is not None
        # Rounding is of the order of 1e-9 in a standard error; 0 and 10 are least numbers, not solutions.
        if n:
            assert std_errors(each, n, n_unlabelled)[place] <= target * (1 + 1e-7)
        if n > 10:
            assert std_errors(each, n - 1, n_unlabelled)[place] >= target * (1 - 1e-7)


@given(rows, st.integers(100, 10**6))
def test_each_rung_is_at_least_as_precise_and_more_rows_never_harm(each: Precision, n_unlabelled: int) -> None:
    errors = np.array([std_errors(each, n, n_unlabelled) for n in (50, 100, 1000)])
    assert (np.diff(errors, axis=0) < 0).all()
    assert (np.diff(errors, axis=1) <= 1e-9 * errors[:, :1]).all()
    more = np.array([std_errors(each, n, 2 * n_unlabelled) for n in (50, 100, 1000)])
    assert (more <= errors * (1 + 1e-9)).all()
    unlimited, limited = labels_needed(each, inf, errors[1, 0]), labels_needed(each, n_unlabelled, errors[1, 0])
    assert all(a is not None and b is not None and a <= b for a, b in zip(unlimited, limited, strict=True))


def test_a_score_that_is_the_group_counts_every_row_as_labelled() -> None:
    each = calibrated(1.0, 1.0, 0.2, 0.2)
    # To the millionth that keeps a singular Ω invertible.
    assert std_errors(each, 100, 400)[1:] == pytest.approx([1 / sqrt(0.2 * 500)] * 3, rel=1e-4)


def test_a_score_that_tells_next_to_nothing_leaves_supervised() -> None:
    each = calibrated(1.0, 1.0, 0.2, 1e-6)
    supervised, *rungs = std_errors(each, 500, 10_000)
    assert rungs == pytest.approx([supervised] * 3, rel=1e-3)


def test_a_target_beyond_reach() -> None:
    assert labels_needed(BY_HAND, 1000, 1e-9) == (None,) * 4
    assert labels_needed(BY_HAND, 1000, 1e-100)[0] is None
    least = sqrt(20 / MOST_LABELS)
    assert labels_needed(BY_HAND, 1000, least * 1.001)[0] is not None


def test_the_variances_are_those_of_the_ladder() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        root = rng.normal(size=(4, 7)) * [[1.0], [2.0], [0.5], [0.1]]
        omega, g = root @ root.T, rng.normal(1.0, 1.0, size=4)
        found = climb(g, omega)
        variances = rung_variances(omega, float(found.estimates[1]), found.slope)
        np.testing.assert_allclose(variances, np.diagonal(found.covariance), rtol=1e-9)


def test_correlated_rows_are_searched_for() -> None:
    each = BY_HAND._replace(across=np.array([0.1, 0.3, 0.05]))
    target = 0.12
    found = labels_needed(each, 3000, target)
    for place, n in enumerate(found[:3]):
        assert n is not None
        assert std_errors(each, n, 3000)[place] <= target < std_errors(each, n - 1, 3000)[place]
    alone = labels_needed(BY_HAND, 3000, target)
    assert found[0] == alone[0]
    assert found[1:] != alone[1:]
    assert labels_needed(each, 3000, 1e-9) == (None,) * 4
