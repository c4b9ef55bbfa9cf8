"""Ensembles: what scikit-learn asks of a classifier, what a member is, and what their disagreement follows."""

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from softlabel.errors import DataError, InputError
from softlabel.scoring.ensembles import BootstrapEnsemble, DeepEnsemble
from softlabel.scoring.forward import by_row, network
from tests.scoring.members import made

# The same sums in another order.
SAME = 1e-12

weighted_networks = pytest.mark.skipif(
    "sample_weight" not in inspect.signature(MLPClassifier.fit).parameters,
    reason="scikit-learn has networks with weights from 1.7 on",
)


def both() -> list[Any]:
    return [
        pytest.param(BootstrapEnsemble(members=6), id="bootstrap"),
        pytest.param(DeepEnsemble(members=2, hidden=(8, 5)), id="deep"),
    ]


def test_by_row_and_network_are_matrix_products() -> None:
    rng = np.random.default_rng(0)
    x, layers = rng.normal(size=(5000, 4)), []
    for k, h in ((4, 7), (7, 3), (3, 1)):
        layers.append((rng.normal(size=(k, h)), rng.normal(size=h)))
    value = x
    for slopes, level in layers[:-1]:
        assert by_row(value, slopes, level) == pytest.approx(value @ slopes + level, abs=SAME)
        value = np.maximum(value @ slopes + level, 0)
    assert network(x, layers) == pytest.approx((value @ layers[-1][0] + layers[-1][1])[:, 0], abs=1e-11)
    assert by_row(x[:0], *layers[0]).shape == (0, 7)
    assert by_row(x[:, :0], np.empty((0, 2)), np.array([1.0, 2.0]))[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("ensemble", both())
def test_it_is_a_scikit_learn_classifier(ensemble: Any) -> None:
    rows = made(150, 1)
    assert is_classifier(ensemble)
    names = np.array(["no", "yes"])
    fitted = clone(ensemble).fit(rows.x, names[rows.group.astype(int)])
    assert fitted.classes_.tolist() == ["no", "yes"]
    p, members = fitted.predict_proba(rows.x), fitted.member_proba(rows.x)
    assert p.shape == (150, 2)
    assert members.shape == (len(members), 150)
    assert p.sum(axis=1) == pytest.approx(1.0, abs=SAME)
    assert ((members >= 0) & (members <= 1)).all()
    assert np.array_equal(p[:, 1], members.mean(axis=0))
    assert np.ptp(members, axis=0).min() > 0, "all members are the same"
    assert (fitted.predict(rows.x) == names[(p[:, 1] > 0.5).astype(int)]).all()
    assert fitted.score(rows.x, names[rows.group.astype(int)]) > 0.65
    in_pipeline = make_pipeline(StandardScaler(), clone(ensemble)).fit(rows.x, rows.group)
    assert in_pipeline.predict_proba(rows.x).shape == (150, 2)
    assert is_classifier(in_pipeline)


@pytest.mark.parametrize("ensemble", both())
def test_the_seed_decides_and_nothing_else(ensemble: Any) -> None:
    rows = made(120, 2)
    np.random.seed(5)  # noqa: NPY002  (the global generator must not matter)
    first = clone(ensemble).fit(rows.x, rows.group)
    np.random.seed(6)  # noqa: NPY002  (the same)
    again = clone(ensemble).fit(rows.x, rows.group)
    other = clone(ensemble).set_params(random_state=1).fit(rows.x, rows.group)
    more = clone(ensemble).set_params(members=ensemble.members + 1).fit(rows.x, rows.group)
    found = first.member_proba(rows.x)
    assert np.array_equal(found, again.member_proba(rows.x))
    assert np.array_equal(found, more.member_proba(rows.x)[:-1])
    assert np.array_equal(found, pickle.loads(pickle.dumps(first)).member_proba(rows.x))  # noqa: S301
    assert not np.isclose(found, other.member_proba(rows.x)).any()


@pytest.mark.parametrize("ensemble", both())
@pytest.mark.parametrize("cut", [1, 7, 2000])
def test_a_row_says_the_same_in_any_batch(ensemble: Any, cut: int) -> None:
    rows = made(120, 3)
    fitted, x = clone(ensemble).fit(rows.x, rows.group), made(3001, 4).x[:: 10 if cut == 1 else 1]
    whole = fitted.member_proba(x)
    parts = [fitted.member_proba(x[at : at + cut]) for at in range(0, len(x), cut)]
    assert np.array_equal(whole, np.concatenate(parts, axis=1))
    assert fitted.member_proba(x[:0]).shape == (len(whole), 0)


def test_a_member_of_the_bootstrap_is_a_regression_on_drawn_rows_of_each_class() -> None:
    rows = made(80, 5)
    fitted = BootstrapEnsemble(members=3, random_state=7).fit(rows.x, rows.group)
    for m, seeds in enumerate(np.random.SeedSequence(7).spawn(3)):
        rng = np.random.default_rng(seeds)
        drawn = np.concatenate([rng.choice(at, len(at)) for at in (np.where(rows.group == g)[0] for g in (0, 1))])
        assert rows.group[drawn].sum() == rows.group.sum()
        alone = LogisticRegression(max_iter=1000).fit(rows.x[drawn], rows.group[drawn])
        by_hand = expit(rows.x @ alone.coef_[0] + alone.intercept_[0])
        assert fitted.member_proba(rows.x)[m] == pytest.approx(by_hand, abs=SAME)


def test_the_spread_of_the_bootstrap_is_the_standard_error_of_a_logistic_regression() -> None:
    rows = made(1000, 6)
    members = 200
    free = LogisticRegression(C=1e6, max_iter=1000)
    fitted = BootstrapEnsemble(free, members=members).fit(rows.x, rows.group)
    at = np.array([[0.5, -0.5, 1.0], [2.0, 0.0, -1.0]])
    index = np.log(fitted.member_proba(at) / (1 - fitted.member_proba(at)))
    design = np.column_stack([np.ones(1000), rows.x])
    p = clone(free).fit(rows.x, rows.group).predict_proba(rows.x)[:, 1]
    covariance = np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)
    # Less what the intercept varies by the share of the classes, which a draw within classes holds: 1/n₁ + 1/n₀.
    covariance[0, 0] -= 1 / rows.group.sum() + 1 / (1000 - rows.group.sum())
    point = np.column_stack([np.ones(2), at])
    expected = np.sqrt(np.einsum("ij,jk,ik->i", point, covariance, point))
    # A standard deviation of M draws has the relative error (2M)^-1/2 = 5%; four of them.
    assert index.std(axis=0, ddof=1) == pytest.approx(expected, rel=4 / np.sqrt(2 * members))


@pytest.mark.parametrize(
    "ensemble", [BootstrapEnsemble(members=10), DeepEnsemble(members=4)], ids=["bootstrap", "deep"]
)
def test_members_disagree_more_where_rows_are_few(ensemble: Any) -> None:
    def spread(n: int, at: Any) -> float:
        rows = made(n, 8)
        p = np.clip(clone(ensemble).fit(rows.x, rows.group).member_proba(at), 1e-9, 1 - 1e-9)
        return float(np.log(p / (1 - p)).std(axis=0).mean())

    # Among the rows, and far from them along a direction that says nothing of the group.
    inside = made(100, 9).x
    outside = inside + np.array([0.0, 0.0, 6.0])
    assert spread(1500, inside) < 0.75 * spread(100, inside)
    assert spread(100, inside) < 0.75 * spread(100, outside)


def test_any_classifier_may_be_a_member_and_is_seeded() -> None:
    rows = made(200, 10)
    forest = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=5, random_state=0))
    fitted = BootstrapEnsemble(forest, members=3).fit(rows.x, rows.group, np.ones(200))
    seeds = {member[-1].random_state for member in fitted.estimators_}
    assert len(seeds) == 3
    found = fitted.member_proba(rows.x)
    assert found.shape == (3, 200)
    assert np.array_equal(found[1], fitted.estimators_[1].predict_proba(rows.x)[:, 1])
    assert forest[-1].random_state == 0, "what was handed in is not changed"


def deep_weighted() -> list[Any]:
    bootstrap, deep = both()
    return [bootstrap, pytest.param(*deep.values, id="deep", marks=weighted_networks)]


@pytest.mark.parametrize("ensemble", deep_weighted())
def test_weights(ensemble: Any) -> None:
    rows = made(300, 11)
    rng = np.random.default_rng(0)
    weight = np.where(rows.group == 1, 3.0, 1.0)
    plain = clone(ensemble).fit(rows.x, rows.group)
    heavy = clone(ensemble).fit(rows.x, rows.group, sample_weight=weight)
    # Three times the odds: where the slopes are right, the log-odds rise by log 3 = 1.1 at every row.
    rise = [np.log(e.predict_proba(rows.x)[:, 1] / e.predict_proba(rows.x)[:, 0]).mean() for e in (plain, heavy)]
    assert 0.6 < rise[1] - rise[0] < 1.6
    # A row of weight zero is no row.
    left_out = rng.random(300) < 0.3
    without = clone(ensemble).fit(rows.x[~left_out], rows.group[~left_out], sample_weight=weight[~left_out])
    zero = clone(ensemble).fit(rows.x, rows.group, sample_weight=np.where(left_out, 0.0, weight))
    assert np.array_equal(zero.member_proba(rows.x), without.member_proba(rows.x))


def test_a_weight_of_two_is_a_row_twice_in_a_member_though_not_in_how_members_are_drawn() -> None:
    # A naive Bayes of class shares and moments has no prior that would count rows.
    rows = made(60, 12)
    times = np.random.default_rng(1).integers(1, 4, 60)
    fitted = BootstrapEnsemble(GaussianNB(var_smoothing=0.0), members=2).fit(rows.x, rows.group, times.astype(float))
    for m, seeds in enumerate(np.random.SeedSequence(0).spawn(2)):
        rng = np.random.default_rng(seeds)
        drawn = np.concatenate([rng.choice(at, len(at)) for at in (np.where(rows.group == g)[0] for g in (0, 1))])
        copies = np.repeat(drawn, times[drawn])
        alone = GaussianNB(var_smoothing=0.0).fit(rows.x[copies], rows.group[copies])
        assert fitted.member_proba(rows.x)[m] == pytest.approx(alone.predict_proba(rows.x)[:, 1], abs=1e-9)


@pytest.mark.parametrize("ensemble", both())
def test_what_cannot_be_fitted_is_said(ensemble: Any) -> None:
    rows = made(40, 13)
    with pytest.raises(DataError, match=r"labels of two classes; found 0\.0"):
        clone(ensemble).fit(rows.x, np.zeros(40))
    with pytest.raises(DataError, match="weights that are finite"):
        clone(ensemble).fit(rows.x, rows.group, np.full(40, -1.0))
    with pytest.raises(InputError, match=r"one label for each of 40 rows; found an array of shape \(39,\)"):
        clone(ensemble).fit(rows.x, rows.group[1:])
    with pytest.raises(InputError, match="members to be at least 1; found 0"):
        clone(ensemble).set_params(members=0).fit(rows.x, rows.group)
    with pytest.raises(InputError, match="3 features, as when"):
        clone(ensemble).fit(rows.x, rows.group).predict_proba(rows.x[:, :2])


def test_a_member_without_weights_and_too_few_rows_to_stop_by_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made(40, 14)
    with pytest.raises(InputError, match="KNeighborsClassifier, whose fit has no sample_weight"):
        BootstrapEnsemble(KNeighborsClassifier()).fit(rows.x, rows.group, np.ones(40))
    with pytest.raises(DataError, match=r"at least 5 rows of each class.*found 4"):
        DeepEnsemble().fit(rows.x, np.arange(40) < 4)

    def fit(self: MLPClassifier, X: Any, y: Any) -> MLPClassifier:  # noqa: ARG001  (as it was before 1.7)
        raise AssertionError

    monkeypatch.setattr(MLPClassifier, "fit", fit)
    with pytest.raises(InputError, match=r"install scikit-learn 1.7 or newer"):
        DeepEnsemble().fit(rows.x, rows.group, np.ones(40))
