"""Calibrators: each against its definition fitted another way, and on laws whose truth is known."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from statsmodels.api import GLM, add_constant, families

from softlabel.errors import InputError
from softlabel.scoring.calibrators import check_calibrator, fit_calibrator
from softlabel.scoring.curves import Curves
from softlabel.scoring.models import dense_columns

Floats = NDArray[np.float64]

RNG = np.random.default_rng(1)
N = 600
X = RNG.normal(size=(N, 1))
TRUE = RNG.normal(size=N)
# Within where logits are not cut, so that the oracles need not cut them.
RAW = np.clip(expit(2 * TRUE + 0.5), 0.001, 0.999)
G = (RNG.random(N) < expit(TRUE)).astype(float)
GRID = np.linspace(0.02, 0.98, 25)
NONE = np.zeros((25, 1))
SMOOTH = ("temperature", "platt", "beta", "conditional")


def _fitted(name: str, p: Floats = RAW, x: Floats = X, g: Floats = G, w: Floats | None = None) -> Floats:
    return fit_calibrator(name, p, x, (False,), g, w)(GRID, NONE)


def _nll(q: Floats, g: Floats) -> float:
    return float(-(g * np.log(q) + (1 - g) * np.log1p(-q)).sum())


def test_none_changes_nothing() -> None:
    assert _fitted("none").tolist() == GRID.tolist()


def test_temperature_divides_the_logit_by_what_makes_the_labels_likeliest() -> None:
    best = minimize_scalar(lambda b: _nll(expit(b * logit(RAW)), G), bounds=(0.01, 5), options={"xatol": 1e-12}).x
    # The penalty that keeps separated groups finite is 1e-4 beside an information of about a hundred.
    assert _fitted("temperature") == pytest.approx(expit(best * logit(GRID)), abs=1e-5)


def test_no_temperature_turns_a_score_around() -> None:
    p = np.array([0.1, 0.2, 0.8, 0.9] * 25)
    none = np.empty((100, 0))
    assert fit_calibrator("temperature", p, none, (), (p < 0.5).astype(float))(p, none).tolist() == [0.5] * 100


def test_platt_is_a_logistic_regression_on_the_logit() -> None:
    a, b = GLM(G, add_constant(logit(RAW)), family=families.Binomial()).fit().params
    assert _fitted("platt") == pytest.approx(expit(a + b * logit(GRID)), abs=1e-5)


def test_beta_is_a_logistic_regression_on_two_logarithms() -> None:
    c, a, b = (
        GLM(G, add_constant(np.column_stack([np.log(RAW), -np.log1p(-RAW)])), family=families.Binomial()).fit().params
    )
    assert a > 0 < b  # else this would not be the case that is tested
    assert _fitted("beta") == pytest.approx(expit(c + a * np.log(GRID) - b * np.log1p(-GRID)), abs=1e-4)


def test_beta_does_not_fall_where_its_free_fit_would() -> None:
    g = (RNG.random(N) < 0.2 + 0.5 * (np.abs(RAW - 0.5) < 0.25)).astype(float)

    def loss(at: Floats) -> float:
        return _nll(expit(at[0] + at[1] * np.log(RAW) - at[2] * np.log1p(-RAW)), g)

    best = minimize(loss, [0.0, 0.5, 0.5], bounds=[(None, None), (0, None), (0, None)], options={"ftol": 1e-14}).x
    found = _fitted("beta", g=g)
    assert np.all(np.diff(found) >= -1e-12)
    # The bounded optimiser stops at about 1e-5 of a parameter.
    assert found == pytest.approx(expit(best[0] + best[1] * np.log(GRID) - best[2] * np.log1p(-GRID)), abs=2e-3)


def test_isotonic_is_that_of_another_package() -> None:
    other = IsotonicRegression(out_of_bounds="clip").fit(RAW, G)
    assert _fitted("isotonic") == pytest.approx(other.predict(GRID), abs=1e-12)


def test_isotonic_takes_scores_that_repeat() -> None:
    coarse = np.round(RAW, 1)
    other = IsotonicRegression(out_of_bounds="clip").fit(coarse, G, sample_weight=np.ones(N))
    assert _fitted("isotonic", p=coarse) == pytest.approx(other.predict(GRID), abs=1e-12)


def test_conditional_is_a_ridge_on_curves_of_the_controls_beside_the_logit() -> None:
    mixed = np.column_stack([X[:, 0], RNG.integers(0, 3, size=N)])  # a number, and the codes of a category
    dense = dense_columns((False, True), curves=True).fit(mixed)
    # A column times the root of a ratio of penalties has the other's: 1e-4 on the logit, 10 on the controls.
    other = LogisticRegression(C=0.1, solver="newton-cholesky", tol=1e-12).fit(
        np.column_stack([10**2.5 * logit(RAW), dense.transform(mixed)]), G
    )
    at = np.column_stack([np.linspace(-2, 2, 25), np.arange(25) % 3])
    expected = other.predict_proba(np.column_stack([10**2.5 * logit(GRID), dense.transform(at)]))[:, 1]
    fitted = fit_calibrator("conditional", RAW, mixed, (False, True), G)(GRID, at)
    assert fitted == pytest.approx(expected, abs=1e-6)


def test_curves_are_natural_splines_of_four_knots() -> None:
    column = RNG.normal(size=500)
    fitted = Curves().fit(column[:, None])
    (knots,) = fitted.places_
    assert len(knots) == 4
    # Any natural cubic spline on these knots, straight beyond them, is a combination of the columns.
    spline = CubicSpline(knots, [0.3, -1.0, 0.7, 2.0], bc_type="natural")
    inside = column[(column > knots[0]) & (column < knots[-1])]
    design = np.column_stack([np.ones(len(inside)), fitted.transform(inside[:, None])])
    left = spline(inside) - design @ np.linalg.lstsq(design, spline(inside), rcond=None)[0]
    assert np.abs(left).max() < 1e-12
    assert design.shape[1] == 4


def test_a_column_of_two_values_stays_as_it_is() -> None:
    column = RNG.integers(0, 2, size=(50, 1)).astype(float)
    assert Curves().fit_transform(column).tolist() == column.tolist()


@pytest.mark.parametrize("name", ["temperature", "platt", "beta", "isotonic", "conditional"])
def test_a_weight_is_so_many_rows(name: str) -> None:
    copies = RNG.integers(1, 4, size=N)
    rows = np.repeat(np.arange(N), copies)
    weighted, plain = _fitted(name, w=copies.astype(float)), _fitted(name, RAW[rows], X[rows], G[rows])
    # Sums of weights are relative: penalties, knots, and where logits are cut, go by rows instead of copies.
    assert weighted == pytest.approx(plain, abs=0.01 if name == "conditional" else 2e-3)


@pytest.mark.parametrize("name", ["temperature", "platt", "beta", "isotonic"])
def test_a_marginal_calibrator_finds_the_truth_that_it_can_express(name: str) -> None:
    rng = np.random.default_rng(2)
    true = rng.normal(size=40_000)
    group = (rng.random(40_000) < expit(true)).astype(float)
    raw = expit(2 * true)  # of the family of each
    found = fit_calibrator(name, raw, np.zeros((40_000, 0)), (), group)(GRID, np.zeros((25, 0)))
    # A sigmoid of 40,000 labels is known to about 1/sqrt(n p (1 - p)) = 0.01; steps of isotonic to n^(-1/3) = 0.03.
    assert found == pytest.approx(expit(logit(GRID) / 2), abs=0.1 if name == "isotonic" else 0.02)


def test_only_the_conditional_one_finds_what_depends_on_a_control() -> None:
    rng = np.random.default_rng(3)
    true, x = rng.normal(size=(2, 40_000))
    group = (rng.random(40_000) < expit(true + np.sin(1.5 * x))).astype(float)  # a curve
    at, truth = np.repeat([-1.0, 1.0], 25)[:, None], expit(np.tile(logit(GRID), 2) + np.sin(1.5))
    at[:25] *= 0
    truth[:25] = expit(logit(GRID))
    grid = np.tile(GRID, 2)
    found = fit_calibrator("conditional", expit(true), x[:, None], (False,), group)(grid, at)
    # Four knots follow a bend to about 0.1 of the logit, 0.025 of p.
    assert found == pytest.approx(truth, abs=0.035)
    marginal = fit_calibrator("platt", expit(true), x[:, None], (False,), group)(grid, at)
    assert np.abs(marginal - truth).max() > 0.08


@pytest.mark.parametrize("name", [*SMOOTH, "isotonic"])
def test_scores_of_zero_and_one_are_borne(name: str) -> None:
    p = np.where(RNG.random(N) < 0.2, np.round(RAW), RAW)
    found = fit_calibrator(name, p, X, (False,), G)(np.array([0.0, 0.5, 1.0]), np.zeros((3, 1)))
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found <= 1).all()
    assert found[0] < found[2]


def test_an_unknown_one_is_refused() -> None:
    with pytest.raises(InputError, match=r"calibrator to be the name of one; found 'plat'. Did you mean 'platt'"):
        check_calibrator("plat")
