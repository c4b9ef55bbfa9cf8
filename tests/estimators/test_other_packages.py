"""The estimators against statsmodels and DoubleML, on the same rows and the same folds."""

from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

import softlabel as sl
from tests import oracle

COVARIANCES: tuple[Literal["HC0", "HC1", "HC2", "HC3"], ...] = ("HC0", "HC1", "HC2", "HC3")

# Least squares by two routes on well-conditioned columns.
SAME = 1e-10


def least_squares(y: oracle.Floats, design: oracle.Floats, covariance: str, level: float = 0.95) -> Any:
    """Estimate, standard error, interval and p-value of the second column, and residual degrees of freedom."""
    import statsmodels.api as sm

    fit = sm.OLS(y, design).fit(cov_type=covariance, use_t=True)
    return fit.params[1], fit.bse[1], fit.conf_int(alpha=1 - level)[1], fit.pvalues[1], fit.df_resid


class Labelled(NamedTuple):
    y: oracle.Floats
    g: oracle.Floats
    X: oracle.Floats


def labelled(n: int, k: int, seed: int) -> Labelled:
    rows = oracle.draw(n, k, seed)
    g = (np.random.default_rng(seed).random(n) < rows.p[:, 0]).astype(float)
    return Labelled(rows.y, g, rows.X)


@pytest.mark.parametrize("level", [0.95, 0.6])
@pytest.mark.parametrize("k", [0, 1, 5])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_supervised_is_statsmodels(covariance: Literal["HC0", "HC1", "HC2", "HC3"], k: int, level: float) -> None:
    rows = labelled(61, k, 2)
    found = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance, level=level)
    design = np.column_stack([np.ones(61), rows.g, rows.X])
    estimate, std_error, interval, p_value, df = least_squares(rows.y, design, covariance, level)
    assert found.estimate == pytest.approx(estimate, rel=SAME)
    assert found.std_error == pytest.approx(std_error, rel=SAME)
    assert found.interval == pytest.approx(tuple(interval), rel=SAME)
    assert found.p_value == pytest.approx(p_value, rel=1e-8)  # t far in the tail magnifies its argument's error
    assert (found.df, found.n) == (df, 61)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_supervised_with_the_fewest_rows(covariance: Literal["HC0", "HC1", "HC2", "HC3"]) -> None:
    # One degree of freedom, where a slip in n − k would show most.
    rows = labelled(5, 2, 8)
    found = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance)
    design = np.column_stack([np.ones(5), rows.g, rows.X])
    estimate, std_error, interval, p_value, df = least_squares(rows.y, design, covariance)
    assert found.estimate == pytest.approx(estimate, rel=1e-9)
    assert found.std_error == pytest.approx(std_error, rel=1e-9)
    assert found.interval == pytest.approx(tuple(interval), rel=1e-9)
    assert found.p_value == pytest.approx(p_value, rel=1e-9)
    assert found.df == df == 1


def test_supervised_with_collinear_controls_counts_the_rank() -> None:
    rows = labelled(40, 2, 4)
    wide = np.column_stack([rows.X, rows.X @ [1.0, -2.0], np.full(40, 3.7), rows.X[:, 0]])
    design = np.column_stack([np.ones(40), rows.g, rows.X])
    for covariance in COVARIANCES:
        found = sl.supervised(rows.y, rows.g, wide, covariance=covariance)
        estimate, std_error, interval, _, df = least_squares(rows.y, design, covariance)
        assert found.estimate == pytest.approx(estimate, rel=SAME)
        assert found.std_error == pytest.approx(std_error, rel=SAME)
        assert found.interval == pytest.approx(tuple(interval), rel=SAME)
        assert found.df == df == 36


@pytest.mark.parametrize("k", [0, 1, 4])
def test_soft_in_sample_is_least_squares_on_the_score(k: int) -> None:
    rows = oracle.draw(237, k, 5)
    found = sl.soft(rows.y, rows.p[:, 0], rows.X, folds=None)
    estimate, std_error, *_ = least_squares(rows.y, np.column_stack([np.ones(237), rows.p, rows.X]), "HC0")
    assert found.estimate == pytest.approx(estimate, rel=SAME)
    assert found.std_error == pytest.approx(std_error, rel=SAME)


@pytest.mark.parametrize("threshold", [0.5, 0.81])
def test_hard_in_sample_is_least_squares_on_the_label(threshold: float) -> None:
    rows = oracle.draw(237, 3, 5)
    found = sl.hard(rows.y, rows.p[:, 0], rows.X, threshold, folds=None)
    design = np.column_stack([np.ones(237), rows.p > threshold, rows.X])
    estimate, std_error, *_ = least_squares(rows.y, design, "HC0")
    assert found.estimate == pytest.approx(estimate, rel=SAME)
    assert found.std_error == pytest.approx(std_error, rel=SAME)


@pytest.mark.parametrize("threshold", [0.5, 0.81])
def test_confident_in_sample_is_least_squares_on_the_confident_rows(threshold: float) -> None:
    rows = oracle.draw(237, 3, 5)
    inside = np.maximum(rows.p[:, 0], 1 - rows.p[:, 0]) > threshold
    found = sl.confident(rows.y, rows.p[:, 0], rows.X, threshold, folds=None)
    design = np.column_stack([np.ones(237), rows.p > threshold, rows.X])[inside]
    estimate, std_error, *_ = least_squares(rows.y[inside], design, "HC0")
    assert found.estimate == pytest.approx(estimate, rel=SAME)
    assert found.std_error == pytest.approx(std_error, rel=SAME)
    assert found.n == inside.sum()


def test_deattenuated_in_sample_is_two_stage_least_squares() -> None:
    # h as an instrument for p: two regressions, and the residual of the structural equation.
    rows = oracle.draw(237, 2, 6)
    h = (rows.p > 0.6).astype(float)
    other = np.column_stack([np.ones(237), rows.X])
    z, w = np.column_stack([h, other]), np.column_stack([rows.p, other])
    coefficients = np.linalg.solve(z.T @ w, z.T @ rows.y)
    scores = z * (rows.y - w @ coefficients)[:, None]
    inverse = np.linalg.inv(z.T @ w)
    covariance = inverse @ (scores.T @ scores) @ inverse.T
    found = sl.hard(rows.y, rows.p[:, 0], rows.X, 0.6, form="deattenuated", folds=None)
    assert found.estimate == pytest.approx(coefficients[0], rel=SAME)
    assert found.std_error == pytest.approx(np.sqrt(covariance[0, 0]), rel=SAME)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.filterwarnings("ignore")  # what scikit-learn and DoubleML deprecate of each other is not ours
def test_soft_is_double_ml_with_the_score_as_treatment(k: int) -> None:
    import doubleml
    from sklearn.linear_model import LinearRegression

    rows = oracle.draw(311, k, 9)
    fold = np.random.default_rng(9).integers(0, 3, size=311)
    model = doubleml.DoubleMLPLR(
        doubleml.DoubleMLData.from_arrays(rows.X, rows.y, rows.p[:, 0]),
        ml_l=LinearRegression(),
        ml_m=LinearRegression(),
        n_folds=3,
        score="partialling out",
        draw_sample_splitting=False,
    )
    splits = [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(3)]
    model.set_sample_splitting([splits])
    model.fit()
    found = sl.soft(rows.y, rows.p[:, 0], rows.X, folds=fold)
    assert found.estimate == pytest.approx(float(model.coef[0]), rel=1e-8)
    assert found.std_error == pytest.approx(float(model.se[0]), rel=1e-8)
    assert found.interval == pytest.approx(tuple(model.confint().iloc[0]), rel=1e-8)


@pytest.mark.parametrize("covariance", ["HC0", "HC1"])
def test_a_perfect_score_makes_every_estimator_least_squares_on_the_group(covariance: str) -> None:
    rows = labelled(203, 2, 3)
    design = np.column_stack([np.ones(203), rows.g, rows.X])
    estimate, std_error, *_ = least_squares(rows.y, design, "HC0")
    factor = (203 / (203 - 4)) ** 0.5 if covariance == "HC1" else 1.0
    supervised = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance)  # type: ignore[arg-type]
    assert supervised.std_error == pytest.approx(std_error * factor, rel=SAME)
    forms: tuple[Literal["orthogonal", "deattenuated"], ...] = ("orthogonal", "deattenuated")
    for found in (
        supervised,
        sl.soft(rows.y, rows.g, rows.X, folds=None),
        *(sl.hard(rows.y, rows.g, rows.X, 0.3, form=form, folds=None) for form in forms),
        sl.confident(rows.y, rows.g, rows.X, 0.95, folds=None),
    ):
        assert found.estimate == pytest.approx(estimate, rel=SAME)
        if found.name != "supervised":
            assert found.std_error == pytest.approx(std_error, rel=SAME)
    report = sl.attenuation(rows.g, rows.X, [0.3, 0.9], confident=[0.6], folds=None)
    # Thresholding a perfect score costs nothing.
    assert report.kappa["kappa"] == pytest.approx([1.0, 1.0], rel=1e-12)
    assert report.kappa_confident["kappa"] == pytest.approx([1.0], rel=1e-12)
