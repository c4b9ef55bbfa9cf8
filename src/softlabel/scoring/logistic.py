"""Logistic regression by Newton's method: what every sigmoid calibrator stands on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LogisticFit", "fit_logistic"]

Floats = NDArray[np.float64]

# Keeps the maximum finite where a line separates the groups; beside n p (1 − p) it is nothing.
LEAST_PENALTY = 1e-4

_STEPS, _HALVINGS, _SETTLED = 50, 30, 1e-10


class LogisticFit(NamedTuple):
    """σ(intercept + slopes · x): what a fit leaves, a function of columns (n, k)."""

    intercept: float
    slopes: Floats

    def __call__(self, columns: Floats) -> Floats:
        """Return the probability of each row (n,)."""
        return _sigma(self.intercept + columns @ self.slopes)


def fit_logistic(
    columns: Floats,
    group: Floats,
    *,
    weight: Floats | None = None,
    penalty: float | Floats = LEAST_PENALTY,
    toward: Floats | None = None,
    intercept: bool = True,
) -> LogisticFit:
    r"""Return the logistic regression of a group on columns.

    .. math:: \min_\beta \sum_i w_i \{\log(1 + e^{\beta^\top x_i}) - g_i \beta^\top x_i\}
              + \tfrac12 \sum_j \lambda_j (\beta_j - b_j)^2

    Newton's method; a step that would raise the loss is halved. The intercept is not penalised.

    Parameters
    ----------
    columns : (n, k)
    group, weight : (n,)
        0 or 1, and weights of mean one or so.
    penalty : (k,) or one for all
        λ, ``toward`` the slopes b (k,), zero unless told.
    intercept
        Whether there is one.

    Examples
    --------
    >>> fit = fit_logistic(np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 1, 0, 1, 1.0]))
    >>> fit(np.array([[0.0], [1.0]])).round(3).tolist()
    [0.333, 0.667]
    """
    n, k = columns.shape
    w = np.ones(n) if weight is None else weight
    design = np.column_stack([np.ones(n), columns]) if intercept else columns
    about = np.zeros(k) if toward is None else toward
    lam = np.broadcast_to(np.asarray(penalty, dtype=np.float64), (k,))
    if intercept:
        about, lam = np.append(0.0, about), np.append(0.0, lam)

    def loss(beta: Floats) -> float:
        index = design @ beta
        return float(w @ (np.logaddexp(0.0, index) - group * index) + 0.5 * lam @ np.square(beta - about))

    beta = about.copy()
    now = loss(beta)
    for _ in range(_STEPS):
        p = _sigma(design @ beta)
        gradient = design.T @ (w * (p - group)) + lam * (beta - about)
        hessian = (design * (w * p * (1 - p))[:, None]).T @ design + np.diag(lam + 1e-12)
        step = np.linalg.solve(hessian, gradient)
        after = loss(beta - step)
        for _ in range(_HALVINGS):
            if after <= now:
                break
            step = step / 2
            after = loss(beta - step)
        gained = now - after
        if gained >= 0:
            beta, now = beta - step, after
        if gained <= _SETTLED:
            break
    return LogisticFit(float(beta[0]), beta[1:]) if intercept else LogisticFit(0.0, beta)


def _sigma(index: Floats) -> Floats:
    # Imported here: a third of what `import softlabel` would take.
    from scipy.special import expit

    return np.asarray(expit(index))
