"""The supervised estimator: least squares on the labelled rows alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.arrays import controls_array, group_array, vector
from softlabel.moments.solve import RANK_TOLERANCE, independent
from softlabel.results import Estimate
from softlabel.results.inference import check_level
from softlabel.results.records import estimated, not_estimated

__all__ = ["COVARIANCES", "Covariance", "check_covariance", "independent_controls", "supervised", "supervised_fit"]

Floats = NDArray[np.float64]
Covariance = Literal["HC0", "HC1", "HC2", "HC3"]
COVARIANCES = ("HC0", "HC1", "HC2", "HC3")

# A row that alone decides one coefficient has leverage one and no residual to learn a variance from.
_FULL_LEVERAGE = 1 - 1e-8

# Centring a constant leaves about 1e-16 of its size.
_ROUNDING = 1e-13


def supervised(
    y: ArrayLike,
    g: ArrayLike,
    X: ArrayLike | None = None,
    *,
    covariance: Covariance = "HC3",
    level: float = 0.95,
) -> Estimate:
    r"""Regress Y on G and the controls, on labelled rows.

    .. math:: \hat\tau = \frac{\sum \tilde g_i y_i}{\sum \tilde g_i^2},
        \qquad \tilde g = \text{residual of } G \text{ on } (1, X),

    with a heteroscedasticity-robust standard error (MacKinnon & White 1985) and a t interval with n − k
    degrees of freedom.

    Parameters
    ----------
    y, g : (n,)
        Outcome, and group 0 or 1.
    X : (n, k), optional
        Controls.
    covariance
        "HC0" to "HC3".
    level
        Of the confidence interval.

    Examples
    --------
    >>> import softlabel as sl
    >>> sl.supervised([1., 2, 4, 5, 7, 9], [0, 0, 1, 0, 1, 1], [0., 1, 1, 2, 2, 3]).estimate
    1.75
    """
    level = check_level(level)
    outcome = vector(y, "y")
    group = group_array(g, len(outcome))
    return supervised_fit(outcome, group, controls_array(X, len(outcome)), covariance=covariance, level=level)


def supervised_fit(outcome: Floats, group: Floats, controls: Floats, *, covariance: str, level: float) -> Estimate:
    """Return the supervised estimate for outcome (n,), group (n,) and design columns (d − 1, n)."""
    check_covariance(covariance)
    n = len(outcome)

    def none(reason: str) -> Estimate:
        return not_estimated("supervised", reason, n, level=level)

    if n == 0:
        return none("there are no labelled rows")
    positive = int((group == 1).sum())
    if positive in (0, n):
        return none(f"all {n} labelled rows are of group {int(group[0])}")
    basis = _orthonormal(controls)
    df = n - basis.shape[1] - 1
    if df < 1:
        return none(f"{n} labelled rows are too few for {basis.shape[1] + 1} coefficients")
    g = group - basis @ (basis.T @ group)
    g2 = float(g @ g)
    if g2 <= RANK_TOLERANCE * float(np.square(group - group.mean()).sum()):
        return none("the controls explain the group completely on the labelled rows")
    y = outcome - outcome.mean()
    y -= basis @ (basis.T @ y)
    slope = float(g @ y) / g2
    errors = y - slope * g
    leverage = np.square(basis).sum(axis=1) + g * g / g2
    if covariance in ("HC2", "HC3") and leverage.max() >= _FULL_LEVERAGE:
        return none(
            f"labelled row {int(leverage.argmax())} alone decides a coefficient (leverage 1): "
            f"{covariance} needs a residual there; use HC1 or fewer controls"
        )
    adjusted = {
        "HC0": np.ones(1),
        "HC1": np.full(1, n / df),
        "HC2": 1 / (1 - leverage),
        "HC3": 1 / (1 - leverage) ** 2,
    }[covariance]
    variance = float((g * g * errors * errors * adjusted).sum()) / g2**2
    return estimated("supervised", slope, variance, n, level=level, df=df)


def check_covariance(covariance: str) -> None:
    """Raise unless this covariance exists."""
    if covariance not in COVARIANCES:
        raise InputError(
            expected="the name of a covariance",
            found=f"covariance={covariance!r}",
            fix=did_you_mean(str(covariance), COVARIANCES),
        )


def independent_controls(controls: Floats) -> NDArray[np.bool_]:
    """Return which controls (k, n) vary and are independent of those before them."""
    return _scaled(controls)[1]


def _scaled(controls: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the controls centred and of unit length, and which of them are independent."""
    centred = controls - controls.mean(axis=1, keepdims=True)
    size = np.sqrt(np.square(centred).sum(axis=1, keepdims=True))
    noise = _ROUNDING * np.sqrt(controls.shape[1]) * np.abs(controls).max(axis=1, initial=0.0)
    varies = size[:, 0] > noise
    scaled = centred / np.where(varies[:, None], size, 1.0)
    return scaled, independent(scaled @ scaled.T, varies)


def _orthonormal(controls: Floats) -> Floats:
    """Return an orthonormal basis (n, rank) of the intercept and the controls (k, n)."""
    scaled, free = _scaled(controls)
    n = controls.shape[1]
    return np.linalg.qr(np.vstack([np.full((1, n), n**-0.5), scaled[free]]).T).Q
