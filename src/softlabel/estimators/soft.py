"""The soft estimator: the score itself in place of the group."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.in_memory import analyse_arrays
from softlabel.estimators.weights import WeightType
from softlabel.influence import Analysis
from softlabel.influence.points import divide
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.results import Estimate
from softlabel.results.inference import check_level
from softlabel.results.records import estimated, not_estimated

__all__ = ["FORMS", "Form", "collapse", "soft", "soft_estimates", "v_star_estimate"]

Form = Literal["orthogonal", "moment"]
FORMS = ("orthogonal", "moment")

# Rows beyond the columns of the regressions; with fewer a residual says nothing of the error.
_LEAST_FREEDOM = 5


def soft(
    y: ArrayLike,
    p: ArrayLike,
    X: ArrayLike | None = None,
    *,
    form: Form = "orthogonal",
    weights: ArrayLike | None = None,
    weight_type: WeightType = "sampling",
    cluster: ArrayLike | None = None,
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    r"""Regress Y on a calibrated score p given the controls, on unlabelled rows.

    With a = p − r̂(X) and R = Y − m̂(X),

    .. math::
        \hat\tau_{orthogonal} = \frac{\sum a_i R_i}{\sum a_i^2}, \qquad
        \hat\tau_{moment} = \frac{\sum (2p_i - 1) R_i}{2 \sum a_i^2}.

    Both estimate τ if E[G|p,X] = p and what the classifier saw matters for Y only through G. The moment form
    (Kurbucz 2026) is not Neyman-orthogonal: with fitted nuisances its standard error is too large by a
    factor of 1.2 to 2, so use it to reproduce, not to report.

    Parameters
    ----------
    y, p : (n,)
        Outcome, and score in [0, 1].
    X : (n, k), optional
        Controls, entering linearly.
    form
        "orthogonal" or "moment".
    weights : (n,), optional
        From zero up; rows of weight zero are left out, and the ``note`` says so.
    weight_type
        "sampling": how many cases of the population a row stands for; the sandwich has w². "frequency": how many
        equal cases a row stands for; everything is as if the row were repeated.
    cluster : (n,), optional
        Label of each row's cluster: rows of a cluster share a fold, and the standard error, with the factor
        G/(G − 1) and t(G − 1), allows for any dependence among them.
    folds
        Folds for cross-fitting, ``None`` for nuisances in sample, or each row's own fold (n,).
    seed
        Of the dealing to folds.
    level
        Of the confidence interval.

    References
    ----------
    Robinson, P. M. (1988). Root-N-consistent semiparametric regression. *Econometrica* 56, 931-954.

    Chernozhukov, V. et al. (2018). Double/debiased machine learning. *The Econometrics Journal* 21, C1-C68.

    Kurbucz, M. T. (2026). When to trust confidence thresholding: calibration diagnostics for pseudo-labelled
    regression.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=20_000)
    >>> p = rng.beta(2, 2, size=20_000)
    >>> y = x + 1.5 * (rng.random(20_000) < p) + rng.normal(size=20_000)
    >>> estimate = sl.soft(y, p, x)
    >>> round(estimate.estimate, 2), round(estimate.std_error, 2)
    (1.49, 0.04)
    """
    level = check_level(level)
    if form not in FORMS:
        raise InputError(expected="the form of soft", found=f"form={form!r}", fix=did_you_mean(str(form), FORMS))
    analysis, note = analyse_arrays(
        y, p, X, folds=folds, seed=seed, weights=weights, weight_type=weight_type, cluster=cluster
    )
    return replace(soft_estimates(analysis, level)[FORMS.index(form)], note=note)


def collapse(analysis: Analysis) -> str | None:
    """Return why the score can tell nothing, or ``None`` if it can."""
    too_few = too_few_rows(analysis)
    if too_few is not None:
        return too_few
    variance = float(analysis.points.score_variance[0, 0])
    # The square of a constant score is known to 16 digits, its variance to what those leave.
    if variance <= 1e-24 * float(analysis.points.score_square[0]):
        return "the score is the same in every row"
    if float(analysis.points.v_star[0, 0]) <= RANK_TOLERANCE * variance:
        return "the controls explain the score completely (V* = 0)"
    return None


def too_few_rows(analysis: Analysis) -> str | None:
    """Return why there are too few unlabelled rows for the regressions, or ``None`` if there are enough."""
    if analysis.n < analysis.design.d + _LEAST_FREEDOM:
        return f"{analysis.n} unlabelled rows are too few for {analysis.design.d + 1} coefficients"
    train = analysis.fewest_to_train()
    if train <= analysis.design.d:
        return f"outside one fold there are {train} rows, too few for {analysis.design.d} coefficients"
    if analysis.sums["core"].df(0) == 0:
        return "all unlabelled rows are of one cluster, which leaves nothing to learn an error from"
    return None


def soft_estimates(analysis: Analysis, level: float) -> tuple[Estimate, Estimate]:
    """Return the orthogonal and the moment form from the sums of the score pass."""
    why = collapse(analysis)
    if why is not None:
        orthogonal, moment = (not_estimated("soft", why, analysis.n, form=f, level=level) for f in FORMS)
        return orthogonal, moment
    core, at, q = analysis.sums["core"], analysis.points, analysis.design.q
    covariance = core.covariance_of_sums()[0]
    results = []
    for form, start, bread, first in (
        ("orthogonal", 0, core.bread[0], at.soft),
        ("moment", q, 2 * core.bread[0], at.soft_moment),
    ):
        part = slice(start, start + q)
        # One Newton step from the point of the moments: exact, for g is linear in the estimate, and it
        # restores the digits that the one-pass sums lose as V* goes to zero.
        point = first + divide(bread, core.moment[0, part, None])[:, 0]
        half = divide(bread, covariance[part, part])
        variance = divide(bread, half.T)
        results.append(
            estimated("soft", float(point[0]), float(variance[0, 0]), analysis.n, form=form, level=level, df=core.df(0))
        )
    return results[0], results[1]


def v_star_estimate(analysis: Analysis, level: float) -> Estimate:
    """Return V* = E[Var(p|X)] with its standard error, from ψ = a² − V*; the trace where there are contrasts."""
    why = too_few_rows(analysis)
    if why is not None:
        return not_estimated("v_star", why, analysis.n, level=level)
    core, q = analysis.sums["core"], analysis.design.q
    value = core.bread[0] / core.weight
    diagonal = 2 * q + np.arange(q) * (q + 1)
    variance = core.covariance_of_sums()[0][np.ix_(diagonal, diagonal)] / core.weight**2
    return estimated("v_star", float(np.trace(value)), float(variance.sum()), analysis.n, level=level, df=core.df(0))
