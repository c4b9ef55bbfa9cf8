r"""Classifiers that say how sure they are: many members, fitted on the same labelled rows, that need not agree.

The score is the mean of the members' P(G = 1). How far they stand apart at a row is epistemic uncertainty there: what
more labels would remove. ``member_proba`` gives each member's score, from which a posterior-predictive draw takes one.
All are scikit-learn classifiers of two classes, for features that are numbers without gaps, of about unit variance.

Weights are as scikit-learn's: a row of weight 2 counts as two beside the members' own priors, so weights that are no
counts should have mean one. A row of weight zero is left out.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.utils.validation import check_array, check_is_fitted
from threadpoolctl import threadpool_limits

from softlabel.errors import DataError, InputError
from softlabel.nuisances.learners import last_step, weight_argument
from softlabel.scoring.forward import Layers, by_row, network

__all__ = ["BootstrapEnsemble", "DeepEnsemble", "MemberClassifier", "Training", "training_rows"]

Floats = NDArray[np.float64]

# What takes weights whatever the version of scikit-learn; its networks do from 1.7 on.
_INSTEAD = "LogisticRegression(), or install scikit-learn 1.7 or newer"

# One of them is in the fifth that says when a network stops.
_FEWEST = 5


class Training(NamedTuple):
    """Rows to fit on: x (n, k), y (n,) in {0, 1}, weight (n,) or None; classes (2,) are what y stood for."""

    x: Floats
    y: NDArray[np.int64]
    weight: Floats | None
    classes: NDArray[Any]


def training_rows(x: Any, y: Any, sample_weight: Any = None) -> Training:
    """Return checked rows to fit a classifier of two classes on, without those of weight zero."""
    features = check_array(x, dtype=np.float64)
    labels = np.asarray(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, values in (("label", labels), ("weight", weight)):
        if values is not None and values.shape != (len(features),):
            raise InputError(
                expected=f"one {name} for each of {len(features):,} rows",
                found=f"an array of shape {values.shape}",
                fix=f"Pass a {name} for each row of X",
            )
    if weight is not None:
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise DataError(
                expected="weights that are finite and not negative",
                found="others",
                fix="Correct them, or use weights of zero to leave rows out",
            )
        kept = weight > 0
        features, labels, weight = features[kept], labels[kept], weight[kept]
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        shown = ", ".join(repr(c) for c in classes[:5].tolist()) or "none"
        raise DataError(expected="labels of two classes", found=shown, fix="Fit on rows of both classes and no third")
    return Training(features, codes.astype(np.int64), weight, classes)


class MemberClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """What classifiers of several members share: their mean, and the class that it makes likelier."""

    classes_: NDArray[Any]
    n_features_in_: int

    @abstractmethod
    def _members(self, x: Floats) -> Floats:
        """Return P(second class) of each member, (M, n)."""

    def member_proba(self, X: Any) -> Floats:
        """Return P(second class) that each of M members gives each row of X (n, k), (M, n)."""
        check_is_fitted(self, "classes_")
        x = check_array(X, dtype=np.float64, ensure_min_samples=0)
        if x.shape[1] != self.n_features_in_:
            raise InputError(
                expected=f"{self.n_features_in_} features, as when {type(self).__name__} was fitted",
                found=str(x.shape[1]),
                fix="Pass the same columns in the same order",
            )
        return self._members(x)

    def predict_proba(self, X: Any) -> Floats:
        """Return the members' mean probability of each class, (n, 2)."""
        p = self.member_proba(X).mean(axis=0)
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of each row, (n,)."""
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _seen(self, rows: Training) -> None:
        self.classes_, self.n_features_in_ = rows.classes, rows.x.shape[1]


class BootstrapEnsemble(MemberClassifier):
    """Copies of one classifier, each fitted on rows drawn with replacement (Efron 1979; Breiman 1996).

    Each class is drawn from on its own and keeps its size, so that a few labels of the rarer one never vanish. A drawn
    row keeps its weight. The bootstrap takes rows for independent: a row of weight 2 is one row that is drawn or not,
    where two rows might be drawn apart, so the members of frequencies agree less than those of repeated rows.

    Parameters
    ----------
    estimator
        A scikit-learn classifier; a logistic regression with a standard normal prior on its slopes when None.
        Whatever in it takes a ``random_state`` gets one of its own in each member.
    members
        How many.
    random_state
        Member m depends on the seed and on m alone, not on how many follow.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> ensemble = BootstrapEnsemble(members=10).fit(x, x[:, 0] > 0)
    >>> ensemble.predict_proba([[-1.0], [0.0], [1.0]])[:, 1].round(2).tolist()
    [0.01, 0.49, 0.99]
    """

    def __init__(self, estimator: Any = None, members: int = 20, random_state: int = 0) -> None:
        self.estimator = estimator
        self.members = members
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every member on rows X (n, k) of classes y (n,), with weights (n,) if there are any."""
        rows = training_rows(X, y, sample_weight)
        plain = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        argument = (
            None if rows.weight is None else weight_argument(plain, type(last_step(plain)).__name__, "member", _INSTEAD)
        )
        self.estimators_ = []
        with _calm():
            for seeds in _seeds(self.random_state, self.members):
                rng = np.random.default_rng(seeds)
                drawn = _drawn_by_class(rows.y, rng)
                extra = {} if argument is None or rows.weight is None else {argument: rows.weight[drawn]}
                self.estimators_.append(_seeded(plain, rng).fit(rows.x[drawn], rows.y[drawn], **extra))
        self._seen(rows)
        return self

    def _members(self, x: Floats) -> Floats:
        if all(type(member) is LogisticRegression for member in self.estimators_):
            slopes = np.column_stack([member.coef_[0] for member in self.estimators_])
            level = np.array([member.intercept_[0] for member in self.estimators_])
            return np.ascontiguousarray(expit(by_row(x, slopes, level)).T)
        if not len(x):
            return np.empty((len(self.estimators_), 0))
        return np.stack([np.asarray(member.predict_proba(x), dtype=np.float64)[:, 1] for member in self.estimators_])


class DeepEnsemble(MemberClassifier):
    """Neural networks from several random starts (Lakshminarayanan, Pritzel & Blundell 2017).

    A network learns by Adam, and stops where a fifth of its rows, held out, are no longer told apart better: another
    fifth for each. A normal prior of precision ``penalty`` holds it back too.

    Parameters
    ----------
    members
        How many networks.
    hidden
        Units of each hidden layer.
    penalty
        Precision of the prior on each weight, as scikit-learn's ``alpha``.
    max_iter
        Epochs at most.
    random_state
        Member m depends on the seed and on m alone, not on how many follow.

    Notes
    -----
    Set on a linear and a curved log-odds of eight features, 200 to 2,000 rows, by the error of the mean score. To go to
    the bottom of a penalised loss instead (L-BFGS) takes a penalty of ten, and then the networks of 200 rows all end in
    one place: an error of 0.10 instead of 0.13, but a standard deviation between members of 0.002 instead of 0.10.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> ensemble = DeepEnsemble(members=3).fit(x, np.abs(x[:, 0]) > 1)
    >>> ensemble.predict([[-2.0], [0.0], [2.0]]).tolist()
    [True, False, True]
    """

    def __init__(
        self,
        members: int = 5,
        hidden: Sequence[int] = (32, 32),
        penalty: float = 1.0,
        max_iter: int = 300,
        random_state: int = 0,
    ) -> None:
        self.members = members
        self.hidden = hidden
        self.penalty = penalty
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every network on rows X (n, k) of classes y (n,), with weights (n,) if there are any."""
        rows = training_rows(X, y, sample_weight)
        fewest = int(np.bincount(rows.y).min())
        if fewest < _FEWEST:
            raise DataError(
                expected=f"at least {_FEWEST} rows of each class, of which a fifth says when to stop",
                found=str(fewest),
                fix="Fit on more rows, or use another classifier",
            )
        plain = MLPClassifier(
            hidden_layer_sizes=tuple(self.hidden),
            alpha=self.penalty,
            learning_rate_init=0.01,
            max_iter=self.max_iter,
            early_stopping=True,
            validation_fraction=0.2,
        )
        extra = (
            {}
            if rows.weight is None
            else {weight_argument(plain, type(last_step(plain)).__name__, "member", _INSTEAD): rows.weight}
        )
        self.networks_: list[Layers] = []
        with _calm():
            for seeds in _seeds(self.random_state, self.members):
                fitted = _seeded(plain, np.random.default_rng(seeds)).fit(rows.x, rows.y, **extra)
                self.networks_.append(tuple(zip(fitted.coefs_, fitted.intercepts_, strict=True)))
        self._seen(rows)
        return self

    def _members(self, x: Floats) -> Floats:
        return np.stack([np.asarray(expit(network(x, layers))) for layers in self.networks_])


def _seeds(seed: int, members: int) -> list[np.random.SeedSequence]:
    if members < 1:
        raise InputError(expected="members to be at least 1", found=str(members), fix="Use 20 of a bootstrap, 5 deep")
    return np.random.SeedSequence(seed).spawn(members)


def _drawn_by_class(y: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return places drawn with replacement, as many of each class as it has."""
    return np.concatenate([rng.choice(at, len(at)) for at in (np.flatnonzero(y == 0), np.flatnonzero(y == 1))])


def _seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """Return a copy with a seed for each ``random_state`` in it, in the order of their names."""
    copy = clone(estimator)
    names = sorted(name for name in copy.get_params() if name.rpartition("__")[2] == "random_state")
    return copy.set_params(**{name: int(rng.integers(2**31)) for name in names})


@contextmanager
def _calm() -> Iterator[None]:
    """One thread, so that every machine adds up in one order; no word about members that could be fitted longer."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
