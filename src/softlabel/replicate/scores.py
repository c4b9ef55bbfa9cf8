"""Scores of a scenario: exact, wrong by a formula, or of a calibrator cross-fitted on the labelled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit

from softlabel.replicate.population import Rows

__all__ = ["CrossFitted", "Formula", "isotonic", "logistic"]

Floats = NDArray[np.float64]
Model = Callable[[Floats], Floats]

FOLDS = 5

# Keeps the maximum finite where a line separates the groups; beside n p (1 − p) it is nothing.
_RIDGE = 1e-4

# The classifier's logit is so many times the true one: boosted trees and neural networks are as sure of themselves.
_CONFIDENCE = 2.0

_STEPS, _HALVINGS, _SETTLED = 50, 30, 1e-10


@dataclass(frozen=True, slots=True)
class Formula:
    """p = σ(multiplier · logit + shift · x₁): exact at (1, 0), over-confident above one."""

    multiplier: float = 1.0
    shift: float = 0.0

    def __call__(self, unlabelled: Rows, labelled: Rows, _: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the scores of the unlabelled and of the labelled rows."""
        return self._of(unlabelled), self._of(labelled)

    def _of(self, rows: Rows) -> Floats:
        return np.asarray(expit(self.multiplier * rows.logit + self.shift * rows.x[:, 0]))


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """A calibrator fitted on the labels of four folds of five.

    Labelled rows get the score of the model that has not seen their fold. Unlabelled rows are dealt to folds at random
    and scored by the model of theirs, so that scores have one law on both; or by the mean of the models.

    Attributes
    ----------
    how
        "platt": a sigmoid of the classifier's probability, which is over-confident, so that no sigmoid fits it quite;
        "isotonic": pool-adjacent-violators, interpolated; "logistic": a logistic regression on (X, S), with no
        classifier before it.
    mean
        Whether unlabelled rows get the mean of the models.
    shift
        The classifier's logit is twice the true one plus shift · x₁.
    """

    how: Literal["platt", "isotonic", "logistic"]
    mean: bool = False
    shift: float = 0.0

    def __call__(self, unlabelled: Rows, labelled: Rows, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the scores of the unlabelled and of the labelled rows."""
        hidden, shown = self._features(unlabelled), self._features(labelled)
        own = _deal(len(shown), rng)
        fit = isotonic if self.how == "isotonic" else logistic
        models = [fit(shown[own != fold], labelled.group[own != fold]) for fold in range(FOLDS)]
        if self.mean:
            p_hidden = np.mean([model(hidden) for model in models], axis=0)
        else:
            p_hidden = _by_fold(models, hidden, _deal(len(hidden), rng))
        return p_hidden, _by_fold(models, shown, own)

    def _features(self, rows: Rows) -> Floats:
        if self.how == "logistic":
            return np.column_stack([rows.x, rows.s])
        logit = _CONFIDENCE * (rows.logit + self.shift * rows.x[:, 0])
        return np.asarray(expit(logit) if self.how == "platt" else logit)[:, None]


def logistic(features: Floats, group: Floats) -> Model:
    """Return the logistic regression of a group (n,) on features (n, k), by Newton's method with halved steps.

    Examples
    --------
    >>> model = logistic(np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 1, 0, 1, 1.0]))
    >>> model(np.array([[0.0], [1.0]])).round(3).tolist()
    [0.333, 0.667]
    """
    design = _with_intercept(features)
    penalty = _RIDGE * np.append(0.0, np.ones(features.shape[1]))
    beta = np.zeros(design.shape[1])
    loss = _loss(design, group, penalty, beta)
    for _ in range(_STEPS):
        p = expit(design @ beta)
        gradient = design.T @ (p - group) + penalty * beta
        hessian = (design * (p * (1 - p))[:, None]).T @ design + np.diag(penalty + 1e-12)
        step = np.linalg.solve(hessian, gradient)
        after = _loss(design, group, penalty, beta - step)
        for _ in range(_HALVINGS):
            if after <= loss:
                break
            step = step / 2
            after = _loss(design, group, penalty, beta - step)
        gained = loss - after
        if gained >= 0:
            beta, loss = beta - step, after
        if gained <= _SETTLED:
            break
    fitted = beta

    def model(x: Floats) -> Floats:
        return np.asarray(expit(_with_intercept(x) @ fitted))

    return model


def isotonic(features: Floats, group: Floats) -> Model:
    """Return the increasing regression of a group (n,) on one feature (n, 1), interpolated and flat beyond the ends.

    Examples
    --------
    >>> model = isotonic(np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0.0, 1.0, 0.0, 1.0]))
    >>> model(np.array([[0.0], [2.5], [3.5]])).tolist()
    [0.0, 0.5, 0.75]
    """
    order = np.argsort(features[:, 0], kind="stable")
    at, fitted = features[order, 0], isotonic_regression(group[order]).x

    def model(x: Floats) -> Floats:
        return np.asarray(np.interp(x[:, 0], at, fitted))

    return model


def _loss(design: Floats, group: Floats, penalty: Floats, beta: Floats) -> float:
    index = design @ beta
    return float(np.logaddexp(0.0, index).sum() - group @ index + 0.5 * penalty @ np.square(beta))


def _with_intercept(features: Floats) -> Floats:
    return np.column_stack([np.ones(len(features)), features])


def _deal(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return folds of n rows, as equal as can be, at random."""
    return rng.permutation(np.arange(n) % FOLDS)


def _by_fold(models: list[Model], features: Floats, own: NDArray[np.intp]) -> Floats:
    found = np.empty(len(features))
    for fold, model in enumerate(models):
        found[own == fold] = model(features[own == fold])
    return found
