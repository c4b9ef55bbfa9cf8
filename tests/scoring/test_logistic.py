"""Logistic regression: against other packages, with weights, penalties and none."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from statsmodels.api import GLM, add_constant, families

from softlabel.scoring.logistic import fit_logistic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)) * np.array([1.0, 10.0, 0.1])
G = (RNG.random(400) < 1 / (1 + np.exp(-X @ np.array([1.0, 0.05, 3.0]) + 0.5))).astype(float)
W = RNG.integers(1, 4, size=400).astype(float)


def test_without_penalty_it_is_the_maximum_of_the_likelihood() -> None:
    fit = fit_logistic(X, G, penalty=0.0)
    other = GLM(G, add_constant(X), family=families.Binomial()).fit(tol=1e-12).params
    # Both stop where the gradient is flat to about the square root of rounding.
    assert np.append(fit.intercept, fit.slopes) == pytest.approx(other, rel=1e-6)


def test_a_penalty_is_a_ridge_on_the_slopes_alone() -> None:
    fit = fit_logistic(X, G, penalty=2.0)
    other = LogisticRegression(C=0.5, solver="newton-cholesky", tol=1e-12).fit(X, G)
    assert np.append(fit.intercept, fit.slopes) == pytest.approx(
        np.append(other.intercept_, other.coef_), rel=1e-6, abs=1e-9
    )


def test_a_penalty_of_each_column_pulls_to_where_it_is_told() -> None:
    towards = np.array([1.0, 0.0, 2.0])
    fit = fit_logistic(X, G, penalty=np.array([1e9, 0.0, 1e9]), toward=towards)
    # The other two are those of a fit with these slopes as they are.
    other = GLM(G, add_constant(X[:, 1]), family=families.Binomial(), offset=X[:, [0, 2]] @ towards[[0, 2]]).fit(
        tol=1e-12
    )
    assert fit.slopes[[0, 2]] == pytest.approx([1.0, 2.0], abs=1e-6)
    assert [fit.intercept, fit.slopes[1]] == pytest.approx(other.params, rel=1e-5)


def test_a_weight_is_so_many_rows() -> None:
    repeated = np.repeat(np.arange(400), W.astype(int))
    weighted, plain = fit_logistic(X, G, weight=W), fit_logistic(X[repeated], G[repeated])
    assert np.append(weighted.intercept, weighted.slopes) == pytest.approx(
        np.append(plain.intercept, plain.slopes), rel=1e-8
    )


def test_without_an_intercept_there_is_none() -> None:
    fit = fit_logistic(X, G, penalty=0.0, intercept=False)
    other = GLM(G, X, family=families.Binomial()).fit(tol=1e-12).params
    assert fit.intercept == 0
    assert fit.slopes == pytest.approx(other, rel=1e-6)


def test_groups_that_a_line_separates_give_finite_slopes() -> None:
    x = np.linspace(-1, 1, 50)[:, None]
    fit = fit_logistic(x, (x[:, 0] > 0).astype(float))
    assert np.isfinite(fit.slopes).all()
    assert fit(np.array([[-1.0], [1.0]])) == pytest.approx([0, 1], abs=1e-3)
