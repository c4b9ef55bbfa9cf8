"""The supervised estimator: least squares on the labelled rows alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.arrays import controls_array, group_array, vector
from softlabel.estimators.columns import ROUNDING, centred, orthonormal, relative, scaled
from softlabel.estimators.sandwich import FULL_LEVERAGE, adjust, small_sample, variance
from softlabel.estimators.weights import (
    WeightType,
    check_weight_type,
    cluster_array,
    weight_array,
    zero_weight_note,
)
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.results import Estimate
from softlabel.results.inference import check_level
from softlabel.results.records import estimated, not_estimated

__all__ = [
    "COVARIANCES",
    "Covariance",
    "SupervisedFit",
    "check_covariance",
    "fit_supervised",
    "independent_controls",
    "supervised",
]

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]
Covariance = Literal["HC0", "HC1", "HC2", "HC3"]
COVARIANCES = ("HC0", "HC1", "HC2", "HC3")


class SupervisedFit(NamedTuple):
    """The estimate, and the influence (n,) of one case of each row on its error; ``None`` without a number.

    After the adjustments of HC1 to HC3, so that the variance is Σ influence² over cases, or with clusters the sum
    over clusters of (Σ influence)². A case is a row, or with frequency weights one copy of it; a sampling weight
    is part of the influence.
    """

    estimate: Estimate
    influence: Floats | None


def supervised(
    y: ArrayLike,
    g: ArrayLike,
    X: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    weight_type: WeightType = "sampling",
    cluster: ArrayLike | None = None,
    covariance: Covariance = "HC3",
    level: float = 0.95,
) -> Estimate:
    r"""Regress Y on G and the controls, on labelled rows.

    .. math:: \hat\tau = \frac{\sum w_i \tilde g_i y_i}{\sum w_i \tilde g_i^2},
        \qquad \tilde g = \text{residual of } G \text{ on } (1, X) \text{ with weights } w,

    with a heteroscedasticity-robust standard error (MacKinnon & White 1985) and a t interval with n − k
    degrees of freedom, k counting all coefficients. With clusters the standard error is that of Bell & McCaffrey
    (2002), robust to any dependence within a cluster, and t has G − 1 degrees of freedom, one less than there are
    clusters.

    Parameters
    ----------
    y, g : (n,)
        Outcome, and group 0 or 1.
    X : (n, k), optional
        Controls.
    weights : (n,), optional
        From zero up; rows of weight zero are left out, and the ``note`` says so.
    weight_type
        "sampling": how many cases of the population a row stands for; only their ratios matter, and n counts
        rows. "frequency": how many equal cases a row stands for; everything is as if the row were repeated.
    cluster : (n,), optional
        Label, number or text, of the cluster of each row.
    covariance
        With e the residuals and h the leverages of the weighted regression, g̃²w²e² times: "HC0" 1, "HC1"
        n/(n − k), "HC2" 1/(1 − h), "HC3" 1/(1 − h)². With clusters these mean CR0 to CR3: "HC1"
        has G/(G − 1) · (n − 1)/(n − k), "HC2" and "HC3" multiply the residuals of a cluster by
        (I − H)^(−1/2) and (I − H)^(−1), H being its block of the hat matrix, and have no factor. "HC3" is the
        jackknife that leaves out one cluster at a time, about the estimate; clusters of one row give the
        standard errors of no clusters.
    level
        Of the confidence interval.

    References
    ----------
    MacKinnon, J. G. and White, H. (1985). Some heteroskedasticity-consistent covariance matrix estimators with improved
    finite sample properties. *Journal of Econometrics* 29, 305-325.

    Examples
    --------
    >>> import softlabel as sl
    >>> y, g, x = [1., 2, 4, 5, 7, 9], [0, 0, 1, 0, 1, 1], [0., 1, 1, 2, 2, 3]
    >>> sl.supervised(y, g, x).estimate
    1.75
    >>> sl.supervised(y, g, x, weights=[1, 3, 1, 1, 1, 1], weight_type="frequency").n
    8
    >>> sl.supervised(y, g, cluster=["a", "a", "a", "b", "b", "c"], covariance="HC1").df
    2
    """
    level = check_level(level)
    frequency = check_weight_type(weight_type, weighted=weights is not None)
    outcome = vector(y, "y")
    n = len(outcome)
    group, controls = group_array(g, n), controls_array(X, n)
    weight = None if weights is None else weight_array(weights, n, frequency=frequency)
    hashes = None if cluster is None else cluster_array(cluster, n)
    some = np.ones(n, dtype=np.bool_) if weight is None else weight > 0
    estimate = fit_supervised(
        outcome[some],
        group[some],
        controls[:, some],
        covariance=covariance,
        level=level,
        weight=None if weight is None else weight[some],
        frequency=frequency,
        cluster=None if hashes is None else hashes[some],
    ).estimate
    return replace(estimate, note=zero_weight_note(n - int(some.sum()), n))


def fit_supervised(
    outcome: Floats,
    group: Floats,
    controls: Floats,
    *,
    covariance: str,
    level: float,
    weight: Floats | None = None,
    frequency: bool = False,
    cluster: Hashes | None = None,
) -> SupervisedFit:
    """Return the supervised estimate for outcome (n,), group (n,) and design columns (d − 1, n).

    Weights (n,) are above zero; with ``frequency`` they count copies. Rows of one cluster share a hash (n,).
    """
    check_covariance(covariance)
    copies = weight if frequency else None
    n = len(outcome) if copies is None else int(copies.sum())
    codes = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    clusters = None if codes is None or not n else int(codes.max()) + 1

    def none(reason: str) -> SupervisedFit:
        return SupervisedFit(not_estimated("supervised", reason, n, level=level), None)

    found = _too_alike(group, n, clusters) or _regress(outcome, group, controls, weight, n)
    if isinstance(found, str):
        return none(found)
    errors, leverage = adjust(found.q, found.errors, covariance, copies=copies, cluster=codes)
    if leverage.max() >= FULL_LEVERAGE:
        return none(
            f"{'' if codes is None else 'the cluster of '}labelled row {int(leverage.argmax())} alone decides a "
            f"coefficient (leverage 1): {covariance} needs a residual there; use HC1 or fewer controls"
        )
    k = found.q.shape[1]
    influence = found.q[:, -1] * errors * (np.sqrt(small_sample(covariance, n, k, clusters)) / found.size)
    influence = influence if copies is None else influence / copies
    square = variance(influence, copies, codes)
    if clusters is not None and _cancel(found, outcome, square):
        return none(f"residuals cancel within each of the {clusters} clusters, which leaves nothing to learn from")
    df = n - k if clusters is None else clusters - 1
    estimate = estimated("supervised", found.slope, square, n, level=level, df=df)
    return SupervisedFit(estimate, None if estimate.reason else influence)


def check_covariance(covariance: str) -> None:
    """Raise unless this covariance exists."""
    if covariance not in COVARIANCES:
        raise InputError(
            expected="the name of a covariance",
            found=f"covariance={covariance!r}",
            fix=did_you_mean(str(covariance), COVARIANCES),
        )


def independent_controls(controls: Floats, weight: Floats | None = None) -> NDArray[np.bool_]:
    """Return which controls (k, n) vary and are independent of those before them."""
    return scaled(controls, relative(weight))[1]


class _Regression(NamedTuple):
    """The slope of the group, orthonormal columns q (n, k) with the group's last, residuals (n,), and |g̃|.

    Each row is multiplied by the root of its weight.
    """

    slope: float
    q: Floats
    errors: Floats
    size: float


def _too_alike(group: Floats, n: int, clusters: int | None) -> str | None:
    """Return why n cases cannot answer before anything is fitted, ``None`` if they may."""
    if n == 0:
        return "there are no labelled rows"
    if (group == group[0]).all():
        return f"all {n} labelled rows are of group {int(group[0])}"
    if clusters == 1:
        return f"all {n} labelled rows are of one cluster: a standard error needs at least 2"
    return None


def _regress(outcome: Floats, group: Floats, controls: Floats, weight: Floats | None, n: int) -> _Regression | str:
    """Return the regression of n cases, or why there is none."""
    weight = relative(weight)
    basis = orthonormal(controls, weight)
    if n - basis.shape[1] - 1 < 1:
        return f"{n} labelled rows are too few for {basis.shape[1] + 1} coefficients"
    y, g = (centred(v, weight) for v in (outcome, group))
    spread = float(g @ g)
    y, g = (v - basis @ (basis.T @ v) for v in (y, g))
    g2 = float(g @ g)
    if g2 <= RANK_TOLERANCE * spread:
        return "the controls explain the group completely on the labelled rows"
    slope = float(g @ y) / g2
    size = float(np.sqrt(g2))
    return _Regression(slope, np.column_stack([basis, g / size]), y - slope * g, size)


def _cancel(found: _Regression, outcome: Floats, square: float) -> bool:
    """Return whether the sums over clusters are all zero, though the fit is not exact.

    With one cluster per group, for instance, the normal equations make them so, which is no variance of zero.
    """
    size = float(np.linalg.norm(found.errors))
    exact = size <= ROUNDING * np.sqrt(len(outcome)) * float(np.abs(outcome).max())
    return not exact and bool(np.sqrt(square) <= ROUNDING * size / found.size)
