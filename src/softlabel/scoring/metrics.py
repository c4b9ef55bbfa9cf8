"""How good a score is on rows that it has not seen, and whether it knows more than the controls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.estimators.columns import orthonormal, relative
from softlabel.estimators.wald import line
from softlabel.results.scoring import ScoreMetrics
from softlabel.study import Columns

__all__ = ["Beyond", "beyond_controls", "measure"]

Floats = NDArray[np.float64]


def measure(name: str, p: Floats, group: Floats, weight: Floats | None) -> ScoreMetrics:
    """Return the metrics of scores p (n,) of a group (n,) with weights (n,).

    Examples
    --------
    >>> found = measure("classifier", np.array([0.1, 0.4, 0.6, 0.9]), np.array([0, 1, 0, 1.0]), None)
    >>> found.auc, round(found.brier, 3)
    (0.75, 0.185)
    """
    from sklearn.metrics import roc_auc_score

    own = np.where(group == 1, p, 1 - p)
    log_loss = None if (own <= 0).any() else float(np.average(-np.log(own), weights=weight))
    none = np.empty((0, len(p)))
    fitted = line(group, p, Columns(group, p[None], none, group, weight=weight), "HC1")
    intercept, slope, error = (None, None, None)
    if fitted is not None:
        intercept, slope, error = float(fitted[0][0]), float(fitted[0][1]), float(fitted[1][1, 1]) ** 0.5
    return ScoreMetrics(
        score=name,
        n=len(p),
        mean_score=float(np.average(p, weights=weight)),
        mean_group=float(np.average(group, weights=weight)),
        brier=float(np.average(np.square(group - p), weights=weight)),
        log_loss=log_loss,
        auc=float(roc_auc_score(group, p, sample_weight=weight)),
        intercept=intercept,
        slope=slope,
        slope_error=error,
    )


class Beyond(NamedTuple):
    """The share of the score's variance that controls leave, and the slope of the group on what is left."""

    share: float
    slope: float | None
    std_error: float | None


def beyond_controls(p: Floats, group: Floats, controls: Floats, weight: Floats | None) -> Beyond:
    r"""Return what a score p (n,) knows of the group (n,) beyond controls (n, k), which enter linearly.

    .. math:: a = p - \hat r(X), \qquad \hat c = \frac{\sum w a g}{\sum w a^2}, \qquad
              se^2 = \frac{n}{n - k - 2} \frac{\sum (w a e)^2}{(\sum w a^2)^2}

    with e the residual of g on (1, X, p). Noise leaves a share too; only a slope tells it from knowledge.
    """
    w = relative(weight)
    root = np.ones(len(p)) if w is None else np.sqrt(w)
    q = orthonormal(np.ascontiguousarray(controls.T), w)
    a = root * p - q @ (q.T @ (root * p))
    left = float(a @ a)
    about = root * (p - np.average(p, weights=w))
    total = float(about @ about)
    freedom = len(p) - q.shape[1] - 1
    if left <= 1e-10 * total or total == 0 or freedom < 1:
        return Beyond(0.0 if total == 0 else left / total, None, None)
    g = root * group - q @ (q.T @ (root * group))
    slope = float(a @ g) / left
    meat = float(np.square(a * (g - slope * a)).sum())
    return Beyond(left / total, slope, (meat * len(p) / freedom) ** 0.5 / left)
