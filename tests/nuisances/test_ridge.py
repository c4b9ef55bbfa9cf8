"""The ridge: against scikit-learn, and its choice against risks that are computed from the rows."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from softlabel.basis import LinearBasis
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.moments import Design, Partition, kernel
from softlabel.moments.solve import least_squares
from softlabel.nuisances import fit_nuisances
from softlabel.nuisances.linear import RIDGES
from tests import oracle
from tests.oracle import Floats, Rows
from tests.passes import batch

PARTITION = Partition.of((0.5,), (0.7,))


class Ridged(LinearBasis):
    """Controls as they are, with a ridge."""

    __slots__ = ()
    asked: Any = 0.0

    @property
    def ridge(self) -> Any:
        return self.asked


def _with(ridge: Any, k: int) -> LinearBasis:
    kind = type("Ridged", (Ridged,), {"asked": ridge, "__slots__": ()})
    basis: LinearBasis = kind(tuple(f"x{j}" for j in range(k)))
    return basis


def _run(rows: Rows, ridge: Any) -> Analysis:
    folds = 1 if rows.fold is None else int(rows.fold.max()) + 1
    design = Design(_with(ridge, rows.X.shape[1]), PARTITION, folds, seed=0)
    rule = FoldRule(None if rows.fold is None else folds, "given")
    return analyse(lambda: [batch(rows)], lambda chunk: chunk, design, rule, verify=lambda _: None)


def _made(n: int = 240, k: int = 12, *, weighted: bool = False, noise: float = 1.0, seed: int = 3) -> Rows:
    """Many correlated controls of unlike sizes, most of which matter little: a ridge pays."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, k)) + rng.normal(size=(n, 1))) * 10.0 ** np.linspace(-2, 2, k) + np.arange(k)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    p = 1 / (1 + np.exp(-(0.3 * z[:, 0] - 0.2 * z[:, 1] + rng.normal(size=n))))
    y = 0.3 * z[:, 2] + (rng.random(n) < p) + noise * rng.normal(size=n)
    weight = rng.gamma(2.0, size=n) * 7 if weighted else None
    return Rows(y, p[:, None], X, fold=np.arange(n) % 4, weight=weight)


def _scikit(rows: Rows, values: Floats, train: Any, ridge: float) -> Floats:
    """What scikit-learn's Ridge predicts for every row from standardised controls, λ times the sum of weights."""
    w = (np.ones(len(values)) if rows.weight is None else rows.weight)[train]
    mean = np.average(rows.X[train], axis=0, weights=w)
    size = np.sqrt(np.average((rows.X[train] - mean) ** 2, axis=0, weights=w))
    z = (rows.X - mean) / size
    model = Ridge(alpha=ridge * w.sum(), solver="cholesky").fit(z[train], values[train], sample_weight=w)
    predicted: Floats = model.predict(z)
    return predicted


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("ridge", [1e-6, 0.03, 1.0, 50.0])
def test_residuals_are_those_of_scikit_learn(ridge: float, weighted: bool) -> None:
    rows = _made(weighted=weighted)
    assert rows.fold is not None
    fit = _run(rows, ridge).nuisances
    assert fit.ridge == ridge
    z = np.column_stack([np.ones(len(rows.y)), rows.X, rows.p, rows.y]) - fit.shift
    p = rows.p[:, 0]
    confident = np.maximum(p, 1 - p) > 0.7
    everyone = np.ones(len(p), dtype=bool)
    targets = [(everyone, p), (everyone, rows.y), (everyone, p > 0.5)]
    targets += [(confident, p), (confident, rows.y), (confident, p > 0.7)]
    for row, (members, values) in enumerate(targets):
        label = values.dtype == bool
        found = (fit.maps[rows.fold, row] * z).sum(axis=1) + (values if label else 0.0)
        for k in range(4):
            inside, train = members & (rows.fold == k), members & (rows.fold != k)
            expected = values - _scikit(rows, values.astype(float), train, ridge)
            # Standardised, the design has a condition below 100; unlike sizes cost some digits of the shift.
            np.testing.assert_allclose(found[inside], expected[inside], rtol=0, atol=1e-10)


def _risk(rows: Rows, ridge: float) -> float:
    """Σ log of the cross-validated squared error of score and outcome, row by row."""
    assert rows.fold is not None
    w = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    total = 0.0
    for values in (rows.p[:, 0], rows.y):
        left = np.empty(len(values))
        for k in np.unique(rows.fold):
            inside = rows.fold == k
            left[inside] = (values - _scikit(rows, values, ~inside, ridge))[inside]
        total += math.log(float((w * left**2).sum()))
    return total


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("n", "noise"), [(60, 1.0), (240, 1.0), (240, 30.0), (3_000, 0.2)])
def test_the_chosen_ridge_predicts_best_out_of_fold(n: int, noise: float, weighted: bool) -> None:
    rows = _made(n, weighted=weighted, noise=noise)
    risks = [_risk(rows, ridge) for ridge in RIDGES]
    chosen = _run(rows, "cv").nuisances.ridge
    assert chosen == RIDGES[int(np.argmin(risks))]
    if n == 60:
        # Twelve controls on forty-five rows: none would be the worst but for far too much.
        assert chosen > 0


def test_a_chosen_ridge_serves_every_regression() -> None:
    rows = _made()
    chosen = _run(rows, "cv")
    assert chosen.nuisances.ridge > 0
    np.testing.assert_array_equal(chosen.nuisances.maps, _run(rows, chosen.nuisances.ridge).nuisances.maps)


def test_no_ridge_is_least_squares() -> None:
    rows = _made(weighted=True)
    plain, none = oracle.soft(rows)["orthogonal"], _run(rows, 0.0)
    assert none.points.soft[0] == pytest.approx(plain.value, rel=1e-9)
    little = _run(rows, 1e-13)
    # A ridge of 1e-13 on a correlation matrix of condition 1e3 moves coefficients by 1e-10 of themselves.
    assert little.points.soft[0] == pytest.approx(plain.value, rel=1e-8)


def test_a_large_ridge_leaves_the_mean() -> None:
    rows = _made()
    found = _run(rows, 1e12).points.soft[0]
    # Coefficients a trillionth of a correlation: what is left is the regression on nothing but an intercept.
    assert found == pytest.approx(
        oracle.soft(rows._replace(X=np.empty((len(rows.y), 0))))["orthogonal"].value, rel=1e-8
    )


def test_in_sample_a_ridge_cannot_be_chosen_but_may_be_given() -> None:
    rows = _made()._replace(fold=None)
    assert _run(rows, "cv").nuisances.ridge == 0.0
    assert _run(rows, 0.5).nuisances.ridge == 0.5
    folded = _run(_made(), "cv")
    assert fit_nuisances(folded.fit.moments, folded.design, in_sample=True).ridge == 0.0


@pytest.mark.parametrize("unit", [1e-6, 1e5])
def test_neither_units_nor_weights_scale_the_choice(unit: float) -> None:
    rows = _made(weighted=True)
    assert rows.weight is not None
    expected = _run(rows, "cv")
    for other in (
        rows._replace(y=rows.y * unit + 3),
        rows._replace(X=rows.X * unit),
        rows._replace(weight=rows.weight * unit),
    ):
        found = _run(other, "cv")
        assert found.nuisances.ridge == expected.nuisances.ridge > 0
        # V* has the unit of the score, which stays. The outcome moves by a digit or two in its offset.
        assert found.points.v_star[0, 0] == pytest.approx(expected.points.v_star[0, 0], rel=1e-9)


def test_a_copy_of_a_column_takes_no_share_of_the_ridge() -> None:
    # Collinear columns are dropped before they are shrunk, so that the copy of a control changes nothing.
    rows = _made()
    doubled = rows._replace(X=np.column_stack([rows.X, rows.X[:, :2] * 3 + 1]))
    one, other = _run(rows, 0.1), _run(doubled, 0.1)
    assert other.points.soft[0] == pytest.approx(one.points.soft[0], rel=1e-8)
    assert other.nuisances.kept.sum() == one.nuisances.kept.sum()


@pytest.mark.parametrize("level", [0.0, 7.0, 0.1])
def test_a_constant_outcome_leaves_the_choice_to_the_score(level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Blocks of their own means, so that a tenth, which no float is, leaves rounding about the shift.
    monkeypatch.setattr(kernel, "BLOCK_ROWS", 17)
    rows = _made(60, seed=2)
    flat = rows._replace(y=np.full(60, level))
    assert rows.fold is not None
    # The outcome predicts itself at any ridge: its risk is rounding and must not decide.
    alone = []
    for ridge in RIDGES:
        left = np.empty(60)
        for k in range(4):
            inside = rows.fold == k
            left[inside] = (rows.p[:, 0] - _scikit(rows, rows.p[:, 0], ~inside, ridge))[inside]
        alone.append(float(left @ left))
    assert _run(flat, "cv").nuisances.ridge == RIDGES[int(np.argmin(alone))]


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_least_squares_minimises_what_it_says(ridge: float) -> None:
    # min Σ w (v − B b)² / Σ w + λ Σ s² b²: as least squares with rows added for the penalty.
    rng = np.random.default_rng(1)
    n, k = 50, 4
    x, v, w = rng.normal(size=(n, k)) * [1, 10, 0.1, 3] + 2, rng.normal(size=n), rng.gamma(2.0, size=n)
    s = np.sqrt(np.average((x - np.average(x, axis=0, weights=w)) ** 2, axis=0, weights=w))
    B = np.column_stack([np.ones(n), x])
    penalty = np.column_stack([np.zeros(k), np.diag(np.sqrt(ridge * w.sum()) * s)])
    rooted = np.sqrt(w)[:, None] * B
    expected = np.linalg.lstsq(np.vstack([rooted, penalty]), np.append(np.sqrt(w) * v, np.zeros(k)), rcond=None)[0]
    found = least_squares((B.T * w) @ B, ((B.T * w) @ v)[:, None], ridge).coefficients[:, 0]
    # Normal equations of condition 1e4, squared.
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
