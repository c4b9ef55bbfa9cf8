"""MC dropout: members are thinned networks, the seed decides, and training is what the docstring says."""

import builtins
import pickle
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression

from softlabel.errors import InputError
from softlabel.scoring.dropout import DropoutClassifier
from tests.scoring.members import made

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed: make extras")

SMALL = DropoutClassifier(hidden=(16, 8), draws=12, epochs=40)


@needs_torch
def test_it_is_a_scikit_learn_classifier() -> None:
    rows = made(200, 1)
    assert is_classifier(SMALL)
    fitted = clone(SMALL).fit(rows.x, rows.group == 1)
    p, members = fitted.predict_proba(rows.x), fitted.member_proba(rows.x)
    assert fitted.classes_.tolist() == [False, True]
    assert members.shape == (12, 200)
    assert ((members >= 0) & (members <= 1)).all()
    assert np.array_equal(p[:, 1], members.mean(axis=0))
    assert p.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert fitted.score(rows.x, rows.group == 1) > 0.65


@needs_torch
def test_the_seed_decides_and_nothing_else() -> None:
    import torch

    rows = made(120, 2)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    first = clone(SMALL).fit(rows.x, rows.group)
    assert torch.equal(state, torch.get_rng_state()), "PyTorch's own generator was used"
    assert torch.get_num_threads() == threads
    torch.manual_seed(1)
    found = first.member_proba(rows.x)
    assert np.array_equal(found, clone(SMALL).fit(rows.x, rows.group).member_proba(rows.x))
    assert np.array_equal(found, pickle.loads(pickle.dumps(first)).member_proba(rows.x))  # noqa: S301
    other = clone(SMALL).set_params(random_state=1).fit(rows.x, rows.group)
    assert not np.isclose(found, other.member_proba(rows.x)).all(axis=0).any()


@needs_torch
@pytest.mark.parametrize("cut", [1, 7, 2000])
def test_a_row_says_the_same_in_any_batch(cut: int) -> None:
    rows = made(120, 3)
    fitted, x = clone(SMALL).fit(rows.x, rows.group), made(3001, 4).x[:: 20 if cut == 1 else 1]
    parts = [fitted.member_proba(x[at : at + cut]) for at in range(0, len(x), cut)]
    assert np.array_equal(fitted.member_proba(x), np.concatenate(parts, axis=1))


@needs_torch
def test_members_are_one_network_with_units_left_out() -> None:
    rows = made(150, 5)
    rate = 0.3
    fitted = clone(SMALL).set_params(rate=rate, draws=200).fit(rows.x, rows.group)
    whole = clone(SMALL).set_params(rate=rate, draws=1).fit(rows.x, rows.group).members_[0]
    dropped = []
    for layers in fitted.members_:
        assert np.array_equal(layers[0][0], whole[0][0]), "the first layer's slopes come before any unit"
        value = rows.x
        for slopes, level in layers[:-1]:
            value = np.maximum(value @ slopes + level, 0)
        dropped.append(np.mean([(slopes == 0).all(axis=1).mean() for slopes, _ in layers[1:]]))
    value = value @ layers[-1][0] + layers[-1][1]
    assert fitted.member_proba(rows.x)[-1] == pytest.approx(expit(value[:, 0]), abs=1e-12)
    # The mean of 200 draws of (share of 16 + share of 8)/2, each of variance r(1 − r)/m; four standard errors.
    error = np.sqrt(rate * (1 - rate) * (1 / 16 + 1 / 8) / 4 / 200)
    assert np.mean(dropped) == pytest.approx(rate, abs=4 * error)
    # Units that stay weigh 1/(1 − r) more, in every member alike.
    kept = np.array([layers[1][0] for layers in fitted.members_])
    largest = np.abs(kept).max(axis=0)
    assert np.isclose(np.abs(kept), largest).sum() + (kept == 0).sum() == kept.size


@needs_torch
def test_training_drops_units_too() -> None:
    rows = made(300, 5)
    half = clone(SMALL).set_params(rate=0.5, draws=100, epochs=150, penalty=1.0)
    members = half.fit(rows.x, rows.group).member_proba(rows.x)
    # The same network trained whole, and its units left out only afterwards.
    whole = clone(half).set_params(rate=0.0).fit(rows.x, rows.group).members_[0]
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(100):
        value = rows.x
        for slopes, level in whole[:-1]:
            value = np.maximum(value @ slopes + level, 0) * (rng.random(len(level)) < 0.5) * 2
        losses.append(expit((value @ whole[-1][0] + whole[-1][1])[:, 0]))

    def loss(p: Any) -> Any:
        return -np.log(np.where(rows.group == 1, p, 1 - p)).mean(axis=1)

    trained, thinned = loss(members), loss(np.array(losses))
    error = np.sqrt((trained.var(ddof=1) + thinned.var(ddof=1)) / 100)
    # Units learn to do without each other: a member errs less, by more than four standard errors of 100 draws.
    assert thinned.mean() - trained.mean() > 4 * error
    # Members are of the size that was trained: their mean is calibrated, within four standard errors of 300 labels.
    p = members.mean(axis=0)
    slope = ((p - p.mean()) @ (rows.group - rows.group.mean())) / ((p - p.mean()) @ (p - p.mean()))
    assert slope == pytest.approx(1.0, abs=4 * np.sqrt((p * (1 - p)).mean() / 300 / p.var()))


@needs_torch
def test_without_dropping_and_hidden_layers_it_is_a_logistic_regression() -> None:
    rows = made(300, 6)
    weight = np.random.default_rng(0).integers(0, 4, 300).astype(float)
    line = DropoutClassifier(hidden=(), rate=0.0, draws=1, epochs=3000, penalty=2.0)
    fitted = line.fit(rows.x, rows.group, weight)
    # scikit-learn leaves the intercept free, so it is given one as a column, penalised like the rest.
    with_one = np.column_stack([np.ones(300), rows.x])
    other = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=1000)
    other.fit(with_one, rows.group, weight)
    # How near 3,000 steps of Adam come to the minimum.
    assert fitted.predict_proba(rows.x) == pytest.approx(other.predict_proba(with_one), abs=1e-6)
    copies = np.repeat(np.arange(300), weight.astype(int))
    repeated = clone(line).fit(rows.x[copies], rows.group[copies])
    assert repeated.predict_proba(rows.x) == pytest.approx(fitted.predict_proba(rows.x), abs=1e-6)


@needs_torch
def test_a_row_of_weight_zero_is_no_row() -> None:
    rows = made(200, 7)
    left_out = np.random.default_rng(0).random(200) < 0.3
    weight = np.where(left_out, 0.0, np.where(rows.group == 1, 3.0, 1.0))
    zero = clone(SMALL).fit(rows.x, rows.group, weight).member_proba(rows.x)
    without = clone(SMALL).fit(rows.x[~left_out], rows.group[~left_out], weight[~left_out]).member_proba(rows.x)
    assert np.array_equal(zero, without)
    plain = clone(SMALL).fit(rows.x[~left_out], rows.group[~left_out]).member_proba(rows.x)
    assert (zero.mean(axis=0) > plain.mean(axis=0)).mean() > 0.95


@needs_torch
def test_members_disagree_more_where_rows_are_few() -> None:
    def spread(n: int, at: Any) -> float:
        rows = made(n, 8)
        p = clone(SMALL).set_params(epochs=100).fit(rows.x, rows.group).member_proba(at)
        return float(np.log(p / (1 - p)).std(axis=0).mean())

    # At n = 100 the prior of `penalty` holds every network near zero, so rows are compared by where they are.
    inside = made(100, 9).x
    outside = inside + np.array([0.0, 0.0, 6.0])
    assert spread(400, inside) < 0.75 * spread(400, outside)


@needs_torch
def test_what_cannot_be_fitted_is_said() -> None:
    rows = made(40, 10)
    with pytest.raises(InputError, match="rate to be from 0 up to 1; found 1"):
        clone(SMALL).set_params(rate=1.0).fit(rows.x, rows.group)
    with pytest.raises(InputError, match="draws to be at least 1; found 0"):
        clone(SMALL).set_params(draws=0).fit(rows.x, rows.group)


def test_without_pytorch_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "torch":
            raise ImportError("No module named 'torch'")
        return real(name, *rest, **named)

    rows = made(40, 11)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"PyTorch for dropout.*pip install 'softlabel\[torch\]'"):
        clone(SMALL).fit(rows.x, rows.group)
