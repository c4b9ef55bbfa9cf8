"""Learners: out-of-fold predictions against scikit-learn, and as design columns against the linear route."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import softlabel as sl
from softlabel.errors import DataError, InputError
from softlabel.folds import hash_rows
from softlabel.influence.points import Points, points
from softlabel.influence.score_pass import score_batch
from softlabel.influence.sums import InfluenceSums
from softlabel.moments import Design, Partition, fit_batch
from softlabel.moments.kernel import fold_of
from softlabel.nuisances import (
    LEARNERS,
    Learner,
    PredictionBasis,
    make_learner,
    out_of_fold,
    predicted_nuisances,
    predictions,
    v_star_of,
    with_predictions,
)
from softlabel.study import Batch, Columns, Tally
from tests import oracle
from tests.influence.test_two_contrasts import PARTITION as SIMPLEX
from tests.oracle import Floats, Rows
from tests.passes import columns, design_of, run

THRESHOLDS, CONFIDENT = (0.35, 0.5, 0.8), (0.6, 0.9)
PARTITION = Partition.of(THRESHOLDS, CONFIDENT)

# Least squares from cross products here, from a singular value decomposition in scikit-learn.
SAME = 1e-9


def made(n: int = 389, k: int = 3, folds: int = 4, *, weighted: bool = False, clustered: bool = False) -> Rows:
    rng = np.random.default_rng(51)
    return oracle.draw(n, k, 51, edges=(*THRESHOLDS, *CONFIDENT))._replace(
        fold=rng.integers(0, folds, size=n),
        weight=rng.gamma(2.0, size=n) if weighted else None,
        cluster=rng.integers(0, 60, size=n) if clustered else None,
    )


def tree(depth: int = 3) -> Learner:
    return make_learner(DecisionTreeRegressor(max_depth=depth, random_state=0), seed=0)


def fold_in(rows: Rows) -> NDArray[np.intp]:
    assert rows.fold is not None
    return rows.fold


# ------------------------------------------------------------------------------------------ out of fold


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        RandomForestRegressor(n_estimators=20, random_state=3),
        make_pipeline(StandardScaler(), KNeighborsRegressor()),
    ],
)
def test_out_of_fold_is_cross_val_predict(estimator: Any) -> None:
    rows = made()
    targets = np.stack([rows.y, rows.p[:, 0]])
    found = out_of_fold(make_learner(estimator, seed=0), rows.X.T, targets, fold_in(rows), 4)
    expected = [cross_val_predict(estimator, rows.X, target, cv=PredefinedSplit(rows.fold)) for target in targets]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)  # the same fits, perhaps on other threads


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), make_pipeline(StandardScaler(), make_pipeline(LinearRegression()))]
)
def test_a_weight_of_two_is_the_row_twice(estimator: Any) -> None:
    rows = made()
    weight = np.where(np.random.default_rng(1).random(389) < 0.3, 2.0, 1.0)
    twice = np.repeat(np.arange(389), weight.astype(int))
    first = np.searchsorted(twice, np.arange(389))
    learner = make_learner(estimator, seed=0)
    for k in (3, 0):
        x, y = rows.X.T[:k], rows.y[None]
        found = out_of_fold(learner, x, y, fold_in(rows), 4, weight=weight)
        expected = out_of_fold(learner, x[:, twice], y[:, twice], fold_in(rows)[twice], 4)[:, first]
        # The same normal equations; residuals are of order one.
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        assert np.abs(found - out_of_fold(learner, x, y, fold_in(rows), 4)).max() > 1e-3


def test_a_weight_of_zero_trains_nothing() -> None:
    rows = made()
    some = np.random.default_rng(1).random(389) < 0.6
    learner = make_learner(RandomForestRegressor(n_estimators=10, random_state=0), seed=0)
    found = out_of_fold(learner, rows.X.T, rows.y[None], fold_in(rows), 4, weight=some.astype(float))
    only = rows.only(some)
    ones = np.ones(some.sum())
    expected = out_of_fold(learner, only.X.T, only.y[None], fold_in(only), 4, weight=ones)
    assert np.array_equal(found[:, some], expected)  # a bootstrap of the same rows


def test_wrappers_hand_weights_on() -> None:
    rows = made(weighted=True)
    plain = out_of_fold(
        make_learner(LinearRegression(), 0), rows.X.T, rows.y[None], fold_in(rows), 4, weight=rows.weight
    )
    wrappers = (
        TransformedTargetRegressor(LinearRegression()),
        GridSearchCV(LinearRegression(), {"fit_intercept": [True]}, cv=2),
    )
    for wrapper in wrappers:
        learner = make_learner(wrapper, seed=0)
        found = out_of_fold(learner, rows.X.T, rows.y[None], fold_in(rows), 4, weight=rows.weight)
        np.testing.assert_allclose(found, plain, rtol=1e-10, atol=1e-10)  # the same least squares


def test_without_controls_a_fit_is_the_mean() -> None:
    rows = made(k=0, weighted=True)
    assert rows.weight is not None
    found = out_of_fold(make_learner("boosting", 0), rows.X.T, rows.y[None], fold_in(rows), 4, weight=rows.weight)
    for k in range(4):
        other = rows.fold != k
        mean = (rows.weight * rows.y)[other].sum() / rows.weight[other].sum()
        assert found[0, rows.fold == k] == pytest.approx(mean, rel=1e-14)  # a sum in another order


class Fussy(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The mean, unless told to misbehave."""

    def __init__(self, wrong: str = "", least: int = 0) -> None:
        self.wrong, self.least = wrong, least

    def fit(self, X: Floats, y: Floats) -> "Fussy":
        if self.wrong == "fit" or len(X) < self.least:
            raise RuntimeError("it will not.\nNot today.")
        self.mean_ = y.mean()
        return self

    def predict(self, X: Floats) -> Any:
        good = np.full(len(X), self.mean_)
        if self.wrong == "predict":
            raise ZeroDivisionError("division by zero")
        bad = {
            "nan": np.append(good[1:], np.nan),
            "shape": good[1:],
            "column": good[:, None],
            "text": ["one"] * len(X),
        }
        return bad.get(self.wrong, good)


def test_a_constant_target_needs_no_fit() -> None:
    rows = made()
    # All in one fold but for the rows of fold 2, whose training rows are therefore all the same.
    target = np.where(fold_in(rows) == 2, rows.y, 0.1)
    found = out_of_fold(make_learner(Fussy(), 0), rows.X.T, np.stack([target, np.full(389, 0.3)]), fold_in(rows), 4)
    assert (found[0, rows.fold == 2] == 0.1).all()
    assert (found[0, rows.fold != 2] != 0.1).all()
    assert (found[1] == 0.3).all()
    never = make_learner(Fussy("fit"), seed=0)
    assert (out_of_fold(never, rows.X.T, np.full((1, 389), 0.3), fold_in(rows), 4) == 0.3).all()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("fit", "found RuntimeError: it will not."),
        ("predict", "found ZeroDivisionError: division by zero."),
        ("nan", "found missing or infinite ones."),
        ("shape", r"found shape \(96,\)."),
        ("column", r"found shape \(97, 1\)."),
        ("text", "found ValueError: could not convert"),
    ],
)
def test_a_learner_that_misbehaves_is_named(wrong: str, says: str) -> None:
    rows = made(n=388)  # 97 rows in each fold
    with pytest.raises(DataError, match=says) as caught:
        out_of_fold(make_learner(Fussy(wrong), 0), rows.X.T, rows.y[None], np.arange(388) % 4, 4)
    assert "the learner Fussy" in str(caught.value)
    assert "Not today" not in str(caught.value)


def test_a_fold_with_nothing_to_train_on_is_refused() -> None:
    rows = made(n=10)
    for fold in (np.zeros(10, dtype=np.intp), np.append(np.zeros(9, dtype=np.intp), 1)):
        with pytest.raises(DataError, match=r"at least 2 rows outside each fold to fit ridge on; found [01]\. Use"):
            out_of_fold(make_learner("ridge", 0), rows.X.T, rows.y[None], fold, 2)
    # Rows of weight zero are not there to train on.
    weight = np.append(np.zeros(8), [1.0, 1.0])
    with pytest.raises(DataError, match="found 0"):
        out_of_fold(make_learner("ridge", 0), rows.X.T, rows.y[None], np.arange(10) // 5, 2, weight=weight)


def test_weights_for_a_learner_that_takes_none_are_refused() -> None:
    rows = made()
    pipeline = make_pipeline(StandardScaler(), KNeighborsRegressor())
    for estimator in (KNeighborsRegressor(), pipeline):
        with pytest.raises(InputError, match="KNeighborsRegressor, whose fit has no sample_weight"):
            out_of_fold(make_learner(estimator, 0), rows.X.T, rows.y[None], fold_in(rows), 4, weight=np.ones(389))


@pytest.mark.parametrize("jobs", [2, -1])
def test_a_forest_gives_the_same_bits_on_any_number_of_threads(jobs: int) -> None:
    # Left to itself it adds trees up as their threads finish: of five runs on two cores all five differed.
    rows = made(n=1500)
    one, several = (
        out_of_fold(
            make_learner(RandomForestRegressor(60, min_samples_leaf=5, random_state=0, n_jobs=j), 0),
            rows.X.T,
            rows.y[None],
            fold_in(rows),
            4,
        )
        for j in (1, jobs)
    )
    assert np.array_equal(one, several)


# ------------------------------------------------------------------------------------------ make_learner


@pytest.mark.parametrize("name", LEARNERS)
def test_named_learners_depend_on_the_seed_alone(name: str) -> None:
    rows = made(n=200, folds=2)

    def predicted(seed: int) -> Floats:
        return out_of_fold(make_learner(name, seed), rows.X.T, rows.y[None], fold_in(rows), 2)

    assert make_learner(name, 0).name == name
    first = predicted(1)
    assert np.array_equal(first, predicted(1))
    # Least squares and a ridge have nothing random; boosting draws the rows that stop it.
    assert np.array_equal(first, predicted(2)) == (name not in {"forest", "boosting"})
    # Y is mostly the controls: any of them explains more than half.
    assert np.var(rows.y - first) < 0.5 * np.var(rows.y)


def test_an_instance_is_copied_and_called_by_its_class() -> None:
    given = RandomForestRegressor(n_estimators=7, random_state=11)
    learner = make_learner(given, seed=0)
    assert learner.name == "RandomForestRegressor"
    assert learner.estimator is not given
    assert learner.estimator.get_params() == given.get_params()
    inner = make_pipeline(PolynomialFeatures(2), make_pipeline(StandardScaler(), LinearRegression()))
    assert make_learner(inner, seed=0).name == "LinearRegression"
    rows = made()
    out_of_fold(make_learner(inner, 0), rows.X.T, rows.y[None], fold_in(rows), 4)
    assert not hasattr(inner[-1][-1], "coef_")  # what was handed in stays as it was


class Bare:
    """It has the methods, but nothing that says how to copy it."""

    def fit(self) -> None: ...

    def predict(self) -> None: ...


@pytest.mark.parametrize(
    ("learner", "says"),
    [
        ("forrest", "found learner='forrest'. Did you mean 'forest'"),
        ("trees", "There are: 'linear', 'quadratic', 'spline', 'ridge', 'forest', 'boosting'"),
        (LinearRegression, "found the class LinearRegression. Pass an instance of it: learner=LinearRegression()"),
        (RandomForestClassifier(), "found the classifier RandomForestClassifier. Use its regressor"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "found the classifier LogisticRegression"),
        (KMeans(), "found KMeans, which predicts no target"),
        (StandardScaler(), "found StandardScaler without fit and predict"),
        (None, "found NoneType without fit and predict"),
        (7, "found int without fit and predict"),
        (Bare(), "found Bare, which cannot be copied"),
    ],
)
def test_what_is_no_regressor_is_refused(learner: Any, says: str) -> None:
    with pytest.raises(InputError) as caught:
        make_learner(learner, seed=0)
    assert says in str(caught.value)
    assert str(caught.value).startswith("Expected learner to be a name or an instance of a scikit-learn regressor")


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(InputError, match=r"scikit-learn for a learner.*pip install softlabel\[learners\]"):
        make_learner("forest", seed=0)


# ------------------------------------------------------------------------------------------ predictions


def test_predictions_are_those_fitted_by_hand() -> None:
    rows = made(n=800, weighted=True)
    x, p, fold = rows.X, rows.p[:, 0], fold_in(rows)
    found = predictions(tree(), columns(rows), PARTITION, fold, 4)
    everyone = np.ones(800, dtype=bool)
    expected: list[tuple[NDArray[np.bool_], Floats]] = [(everyone, p), (everyone, rows.y)]
    expected += [(everyone, (p > t).astype(float)) for t in THRESHOLDS]
    for t in CONFIDENT:
        members = np.maximum(p, 1 - p) > t
        assert 0 < members.sum() < 800
        expected += [(members, p), (members, rows.y), (members, (p > t).astype(float))]
    assert found.shape == (len(expected), 800)
    assert rows.weight is not None
    for row, (members, target) in zip(found, expected, strict=True):
        for k in range(4):
            train, new = members & (fold != k), members & (fold == k)
            model = DecisionTreeRegressor(max_depth=3, random_state=0)
            model.fit(x[train], target[train], sample_weight=rows.weight[train])
            assert np.array_equal(row[new], model.predict(x[new]))  # the same tree
        assert row[~members] == pytest.approx(np.full((~members).sum(), row[members].mean()), rel=1e-12)


def test_rows_outside_a_confident_set_are_of_no_consequence() -> None:
    rows = made(n=800)
    data, design = with_predictions(tree(), columns(rows), design_of(rows, PARTITION))
    p = rows.p[:, 0]
    outside = np.maximum(p, 1 - p) <= CONFIDENT[1]
    moved = data.controls.copy()
    moved[-3:, outside] += np.random.default_rng(0).normal(size=(3, outside.sum()))
    before = both_passes(data, design)
    after = both_passes(Columns(data.outcome, data.score, moved, data.group, fold=data.fold), design)
    for one, two in zip(numbers(*before), numbers(*after), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10)  # about another shift, so with other roundings


def test_equal_fits_are_done_once() -> None:
    rows = made()
    p = np.clip(rows.p[:, 0], 0.1, 0.9)
    p[(p > 0.4) & (p < 0.6)] = 0.4  # no score from .4 to .6, so three labels are one, and one set is everybody
    data = columns(rows._replace(p=p[:, None]))
    calls: list[tuple[int, int]] = []
    found = predictions(
        tree(),
        data,
        Partition.of((0.45, 0.5, 0.55, 0.8), (0.5, 0.55, 0.95)),
        fold_in(rows),
        4,
        progress=lambda done, total: calls.append((done, total)),
    )
    # r̂, m̂ and two labels; both large sets hold everyone and ask for the same label again; the last one is empty.
    assert calls == [(i + 1, 16) for i in range(16)]
    for row, same in [(3, 2), (4, 2), (6, 0), (7, 1), (8, 2), (9, 0), (10, 1), (11, 2)]:
        assert np.array_equal(found[row], found[same])
    assert not found[12:].any()
    assert len(np.unique(found[:6], axis=0)) == 4


def test_a_small_confident_set_does_not_stop_the_others() -> None:
    # Nobody reports on so few rows, so a learner that cannot fit them is not tried.
    rows = made(n=600)
    p = np.clip(rows.p[:, 0], 0.05, 0.95)
    p[:9] = 0.999
    rows = rows._replace(p=p[:, None], fold=np.arange(600) % 4)
    found = predictions(make_learner(Fussy(least=30), 0), columns(rows), Partition.of((), (0.99,)), fold_in(rows), 4)
    for k in range(4):
        train = np.flatnonzero((np.arange(600) % 4 != k) & (np.arange(600) < 9))
        new = np.flatnonzero((np.arange(600) % 4 == k) & (np.arange(600) < 9))
        assert found[3, new] == pytest.approx(rows.y[train].mean(), rel=1e-12)  # a sum in another order


def test_copies_of_a_row_are_rows_enough() -> None:
    rows = made(n=600)
    p = np.clip(rows.p[:, 0], 0.05, 0.95)
    p[:9] = 0.999
    rows = rows._replace(p=p[:, None], fold=np.arange(600) % 4)
    data = columns(rows._replace(weight=np.full(600, 3.0)))
    both = []
    for frequency in (False, True):
        weighted = replace(data, frequency=frequency)
        learner = make_learner(LinearRegression(), 0)
        both.append(predictions(learner, weighted, Partition.of((), (0.99,)), fold_in(rows), 4))
    assert np.array_equal(both[0][:2], both[1][:2])
    # Six or seven rows to train on are no more than the six columns of such a design; eighteen copies are.
    assert [len(np.unique(one[3, :9])) for one in both] == [4, 9]


@pytest.mark.parametrize("inside", [1, 3])
def test_a_confident_set_without_rows_to_train_on_is_left_at_zero(inside: int) -> None:
    rows = made(n=600)
    p = np.clip(rows.p[:, 0], 0.05, 0.95)
    p[:inside] = 0.999
    fold = np.where(np.arange(600) < inside, 0, np.arange(600) % 4)
    found = predictions(tree(), columns(rows._replace(p=p[:, None])), Partition.of((), (0.99,)), fold, 4)
    assert not found[2:].any()
    assert found[:2].all()


def test_progress_counts_the_fits_of_all_sets() -> None:
    rows = made(n=800)
    calls: list[tuple[int, int]] = []
    predictions(
        tree(), columns(rows), PARTITION, fold_in(rows), 4, progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(i + 1, 44) for i in range(44)]  # eleven nuisances in four folds


# ------------------------------------------------------------------------------------ through both passes


def both_passes(data: Columns, design: Design) -> tuple[Points, dict[str, InfluenceSums]]:
    """Points and sums of predicted columns, by the pieces that `analyse` is made of."""
    batch = Batch(data, data.take(slice(0, 0)), Tally(rows=len(data), unlabelled=len(data)))
    moments = fit_batch(batch, design).moments
    nuisances = predicted_nuisances(moments, design, in_sample=False)
    at = points(moments, nuisances, design)
    sums = score_batch(batch, nuisances, at, design).sums
    return at, {name: part for name, part in sums.items() if isinstance(part, InfluenceSums)}


def numbers(at: Points, sums: Any) -> list[Floats]:
    """Every point estimate, then every standard error, for a binary score."""
    core, hard, confident = sums["core"], sums["hard"], sums["confident"]
    found: list[Floats] = [at.v_star, at.soft, at.soft_moment, *at.hard, *at.confident]
    bread = core.bread[0, 0, 0]
    found.append(np.sqrt(np.diagonal(core.covariance_of_sums()[0])) / [bread, 2 * bread, core.weight])
    for part, forms in ((hard, 4), (confident, 3)):
        bb, ba = part.bread[:, 0, 0], part.bread[:, 0, 1]
        spread = np.sqrt(np.diagonal(part.covariance_of_sums(), axis1=1, axis2=2))[:, :forms]
        found.append(spread / np.stack([bb, bb, ba, 2 * bb], axis=1)[:, :forms])
    return found


@pytest.mark.parametrize(("weighted", "clustered"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_linear_regression_is_the_linear_route(k: int, weighted: bool, clustered: bool) -> None:
    rows = made(n=800, k=k, weighted=weighted, clustered=clustered)
    linear = run(rows, PARTITION)
    data, design = with_predictions(make_learner(LinearRegression(), 0), columns(rows), design_of(rows, PARTITION))
    assert design.basis.name == "LinearRegression"
    assert design.d == 1 + 2 + 3 + 2 * 3
    found, expected = numbers(*both_passes(data, design)), numbers(linear.points, linear.sums)
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=SAME)


def test_linear_regression_gives_the_public_standard_errors() -> None:
    rows = made(n=800)
    y, p, X, fold = rows.y, rows.p[:, 0], rows.X, rows.fold
    data, design = with_predictions(make_learner(LinearRegression(), 0), columns(rows), design_of(rows, PARTITION))
    at, sums = both_passes(data, design)
    core, hard, confident = numbers(at, sums)[-3:]
    assert fold is not None
    soft = sl.soft(y, p, X, folds=fold)
    assert (at.soft[0], core[0]) == pytest.approx((soft.estimate, soft.std_error), rel=SAME)
    for i, t in enumerate(THRESHOLDS):
        one = sl.hard(y, p, X, t, folds=fold)
        assert (at.hard.hard[i, 0], hard[i, 0]) == pytest.approx((one.estimate, one.std_error), rel=SAME)
    for i, t in enumerate(CONFIDENT):
        one = sl.confident(y, p, X, t, folds=fold)
        assert (at.confident.hard[i, 0], confident[i, 0]) == pytest.approx((one.estimate, one.std_error), rel=SAME)


def test_linear_regression_on_two_contrasts_is_the_linear_route() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(900, 2))
    p = rng.dirichlet([0.7, 0.7, 0.7], size=900)[:, :2]
    rows = Rows(X.sum(axis=1) + p @ [1.0, -2.0] + rng.normal(size=900), p, X, fold=rng.integers(0, 3, size=900))
    linear = run(rows, SIMPLEX)
    data, design = with_predictions(make_learner(LinearRegression(), 0), columns(rows), design_of(rows, SIMPLEX))
    at, sums = both_passes(data, design)
    assert design.d == 1 + 3 + 3 * 2 + 2 * 5
    for one, two in zip([*at[:3], *at.hard, *at.confident], _flat(linear.points), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)  # κ has entries near zero
    for name, part in sums.items():
        one, two = part.covariance_of_sums(), linear.sums[name].covariance_of_sums()
        # Some are sums of opposite signs; there are no shares to sum where rows count alike.
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-9 * np.abs(two).max(initial=0))


def _flat(at: Points) -> list[Floats]:
    return [*at[:3], *at.hard, *at.confident]


def test_an_outcome_far_from_zero_costs_only_its_own_digits() -> None:
    rows = made(n=800)
    design = design_of(rows, PARTITION)
    learner = make_learner(LinearRegression(), 0)
    near, far = (
        _flat(both_passes(*with_predictions(learner, columns(rows._replace(y=rows.y + by)), design))[0])
        for by in (0.0, 1e7)
    )
    for i, (one, two) in enumerate(zip(near, far, strict=True)):
        if i not in {2, 4, 8}:  # moment forms use Y's level: its product with 2p − 1 is not orthogonal
            np.testing.assert_allclose(one, two, rtol=1e-6)  # at 1e7 an outcome of order 1 has 9 digits left


@pytest.mark.filterwarnings("ignore")  # what scikit-learn and DoubleML deprecate of each other is not ours
def test_soft_with_a_forest_is_double_ml() -> None:
    import doubleml

    rows = made(n=311, k=4, folds=3)
    forest = RandomForestRegressor(n_estimators=40, min_samples_leaf=5, random_state=7)
    model = doubleml.DoubleMLPLR(
        doubleml.DoubleMLData.from_arrays(rows.X, rows.y, rows.p[:, 0]),
        ml_l=forest,
        ml_m=forest,
        n_folds=3,
        score="partialling out",
        draw_sample_splitting=False,
    )
    model.set_sample_splitting([[(np.flatnonzero(rows.fold != j), np.flatnonzero(rows.fold == j)) for j in range(3)]])
    model.fit()
    data, design = with_predictions(make_learner(forest, 0), columns(rows), design_of(rows, Partition((), ())))
    at, sums = both_passes(data, design)
    # The same predictions; only sums of 311 products differ in their order.
    assert at.soft[0] == pytest.approx(float(model.coef[0]), rel=1e-8)
    core = sums["core"]
    std_error = np.sqrt(core.covariance_of_sums()[0, 0, 0]) / core.bread[0, 0, 0]
    assert std_error == pytest.approx(float(model.se[0]), rel=1e-8)


def test_folds_are_dealt_as_for_the_linear_route() -> None:
    rows = made()
    data = columns(rows._replace(fold=None))
    design = design_of(rows, PARTITION)
    dealt = fold_of(data, hash_rows(data), design)
    found, _ = with_predictions(tree(), data, design)
    assert found.fold is not None
    assert np.array_equal(found.fold, dealt)
    assert np.array_equal(found.controls, predictions(tree(), data, PARTITION, dealt, 4))


def test_maps_refuse_what_they_are_not_for() -> None:
    rows = made(n=800)
    data, design = with_predictions(tree(), columns(rows), design_of(rows, PARTITION))
    moments = fit_batch(Batch(data, data.take(slice(0, 0)), Tally(rows=800, unlabelled=800)), design).moments
    with pytest.raises(InputError, match=r"folds for a learner; found nuisances asked for in sample\. Use"):
        predicted_nuisances(moments, design, in_sample=True)
    with pytest.raises(InputError, match="a design of 11 predicted columns; found 3 columns of linear"):
        predicted_nuisances(moments, design_of(rows, PARTITION), in_sample=False)


def test_unlike_learners_have_unlike_designs() -> None:
    rows = made(n=800)
    names = {
        with_predictions(learner, columns(rows), design_of(rows, PARTITION))[1].fingerprint
        for learner in (tree(), make_learner(LinearRegression(), 0))
    }
    assert len(names) == 2
    one, two = PredictionBasis("forest", ("a",)), PredictionBasis("forest", ("b",))
    assert one.fingerprint != two.fingerprint
    assert one.ridge == 0.0


# ------------------------------------------------------------------------------------------------ V̂*


@pytest.mark.parametrize(
    ("weighted", "clustered", "frequency"),
    [(False, False, False), (True, False, False), (True, True, False), (False, True, False), (True, False, True)],
)
def test_v_star_by_hand(weighted: bool, clustered: bool, frequency: bool) -> None:
    rows = made(weighted=weighted, clustered=clustered)
    weight = np.ones(389) if rows.weight is None else rows.weight
    if frequency:
        weight = np.ceil(weight)
    given = weight if weighted else None
    calls: list[tuple[int, int]] = []
    found = v_star_of(
        tree(),
        rows.X.T,
        rows.p.T,
        fold_in(rows),
        4,
        weight=given,
        frequency=frequency,
        cluster=rows.cluster,
        progress=lambda done, total: calls.append((done, total)),
    )
    fitted = out_of_fold(tree(), rows.X.T, rows.p.T, fold_in(rows), 4, weight=given)
    square = (rows.p.T - fitted)[0] ** 2
    # Copies written out, each of weight one.
    which = np.repeat(np.arange(389), weight.astype(int)) if frequency else np.arange(389)
    each = np.ones(len(which)) if frequency else weight
    v_star = (each * square[which]).sum() / each.sum()
    psi = each * (square[which] - v_star)
    factor = 1.0
    if rows.cluster is not None:
        psi = np.array([psi[rows.cluster == g].sum() for g in np.unique(rows.cluster)])
        factor = len(psi) / (len(psi) - 1)
    assert found.v_star == pytest.approx(v_star, rel=1e-12)  # sums in another order
    assert found.std_error == pytest.approx(np.sqrt(factor * (psi**2).sum()) / each.sum(), rel=1e-12)
    assert (found.name, found.n) == ("DecisionTreeRegressor", len(which))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_v_star_is_that_of_both_passes() -> None:
    rows = made(n=800, weighted=True)
    data, design = with_predictions(tree(), columns(rows), design_of(rows, PARTITION))
    at, sums = both_passes(data, design)
    found = v_star_of(tree(), rows.X.T, rows.p.T, fold_in(rows), 4, weight=rows.weight)
    assert found.v_star == pytest.approx(at.v_star[0, 0], rel=1e-10)  # one-pass sums about a shift
    assert found.std_error == pytest.approx(numbers(at, sums)[-3][2], rel=1e-10)


def test_the_learner_that_knows_more_has_the_smaller_v_star() -> None:
    # p = u²/2 + e with u uniform on (−1, 1) and e on (0, ½): V* is Var(e), and a line leaves Var(u²)/4 besides.
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, size=4_000)
    p = x**2 / 2 + rng.uniform(0, 0.5, size=4_000)
    fold = rng.integers(0, 2, size=4_000)
    found: dict[str, Any] = {name: v_star_of(make_learner(name, 0), x[None], p[None], fold, 2) for name in LEARNERS}
    truth, line = 0.25 / 12, 0.25 / 12 + 0.25 * (1 / 5 - 1 / 9)
    for name in ("linear", "ridge"):
        assert abs(found[name].v_star - line) < 4 * found[name].std_error
    # Out of fold it errs upward only, here by no more than a tenth.
    for name in ("quadratic", "spline", "forest", "boosting"):
        assert -4 * found[name].std_error < found[name].v_star - truth < 0.1 * truth + 4 * found[name].std_error


def test_two_contrasts_have_the_trace() -> None:
    rng = np.random.default_rng(8)
    x, p = rng.normal(size=(2, 300)), rng.dirichlet([1.0, 1.0, 1.0], size=300)[:, :2].T
    fold = np.arange(300) % 3
    parts = [v_star_of(tree(), x, p[j : j + 1], fold, 3).v_star for j in range(2)]
    assert v_star_of(tree(), x, p, fold, 3).v_star == pytest.approx(sum(parts), rel=1e-12)  # one sum more
