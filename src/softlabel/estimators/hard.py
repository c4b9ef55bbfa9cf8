"""The hard estimator, with and without its attenuation: the score thresholded and taken for the group."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.arrays import vector
from softlabel.estimators.by_row import Counting, label_counts, ratio
from softlabel.estimators.in_memory import ArrayRows, array_rows
from softlabel.estimators.labels import hard_counts, solved, why_not
from softlabel.estimators.soft import collapse
from softlabel.estimators.weights import WeightType
from softlabel.influence import Analysis
from softlabel.moments import Partition
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.nuisances.rows import row_residuals
from softlabel.results import Estimate
from softlabel.results.inference import check_level
from softlabel.results.records import estimated, not_estimated

__all__ = ["FORMS", "Form", "hard", "hard_estimates", "row_thresholds"]

Form = Literal["orthogonal", "moment", "deattenuated"]
FORMS = ("orthogonal", "moment", "deattenuated")


def hard(
    y: ArrayLike,
    p: ArrayLike,
    X: ArrayLike | None = None,
    threshold: ArrayLike = 0.5,
    *,
    form: Form = "orthogonal",
    weights: ArrayLike | None = None,
    weight_type: WeightType = "sampling",
    cluster: ArrayLike | None = None,
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    r"""Regress Y on the hard label h = 1{p > threshold} given the controls, on unlabelled rows.

    With b = h − ê[h|X], a = p − r̂(X) and R = Y − m̂(X),

    .. math::
        \hat\tau_{orthogonal} = \frac{\sum b_i R_i}{\sum b_i^2}, \qquad
        \hat\tau_{moment} = \frac{\sum (2h_i - 1) R_i}{2 \sum b_i^2}, \qquad
        \hat\tau_{deattenuated} = \frac{\sum b_i R_i}{\sum a_i b_i}.

    The first two estimate κ(t)τ, not τ (Kurbucz 2026, Theorem 1); the last uses h as an instrument for p and
    estimates τ where soft does.

    Parameters
    ----------
    y, p : (n,)
        Outcome, and score in [0, 1].
    X : (n, k), optional
        Controls, entering linearly.
    threshold
        Label a row 1 if p exceeds this: one number from 0 to below 1, or each row's own, (n,). What the orthogonal
        form then estimates is τ times the κ of `adaptive_attenuation`.
    form
        "orthogonal", "moment" or "deattenuated".
    weights, weight_type, cluster, folds, seed, level
        As for `soft`.

    References
    ----------
    Aigner, D. J. (1973). Regression with a binary independent variable subject to errors of observation. *Journal of
    Econometrics* 1, 49-59.

    Kurbucz, M. T. (2026). When to trust confidence thresholding: calibration diagnostics for pseudo-labelled
    regression.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(2, 2, size=20_000)
    >>> y = 1.5 * (rng.random(20_000) < p) + rng.normal(size=20_000)
    >>> round(sl.hard(y, p, threshold=.5).estimate, 2), round(sl.attenuation(p).kappa["kappa"][0], 2)
    (0.57, 0.37)
    """
    level = check_level(level)
    if form not in FORMS:
        raise InputError(expected="the form of hard", found=f"form={form!r}", fix=did_you_mean(str(form), FORMS))
    each = isinstance(threshold, list | tuple) or np.ndim(threshold) > 0
    rows = array_rows(
        y,
        p,
        X,
        partition=Partition.of(() if each else (cast("float", threshold),), ()),
        folds=folds,
        seed=seed,
        weights=weights,
        weight_type=weight_type,
        cluster=cluster,
    )
    if each:
        return _by_row(rows, row_thresholds(threshold, len(rows.used)), form, level)
    analysis, note = rows.analyse()
    return replace(hard_estimates(analysis, level)[FORMS.index(form)], note=note)


def row_thresholds(values: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return a vector of one threshold per row, from 0 to below 1."""
    found = vector(values, "threshold", n)
    if n and not (found.min() >= 0 and found.max() < 1):
        raise InputError(
            expected="each row's threshold to be a number from 0 to below 1",
            found=f"values from {found.min():g} to {found.max():g}",
            fix="Pass thresholds of the score, such as 0.9",
        )
    return found


def _by_row(rows: ArrayRows, threshold: NDArray[np.float64], form: Form, level: float) -> Estimate:
    """Return the estimate where each row of the arrays has its own threshold, (n,)."""
    analysis, note = rows.analyse()
    found, fold = rows.batch.unlabelled, rows.fold(analysis)
    h = found.score[0] > threshold[rows.used]
    a, r, b = row_residuals(np.stack([found.score[0], found.outcome, h]), found.controls, fold, found.weight)
    counting = Counting.of(found, fold)
    above, below = {
        "orthogonal": (b * r, b * b),
        "moment": ((2 * h - 1) * r, 2 * b * b),
        "deattenuated": (b * r, b * a),
    }[form]
    point, variance, df = ratio(above, below, counting)
    aa, bb, ba = (counting.total(v) for v in (a * a, b * b, b * a))
    weight = counting.total(np.ones(len(found)))
    why = why_not(label_counts(h, b, counting), bb / weight, analysis.design.d, threshold=None, df=df)
    name, which = ("deattenuated", None) if form == "deattenuated" else ("hard", form)
    if form == "deattenuated":
        why = why or collapse(analysis) or _unrelated(aa, bb, ba)
    if why is not None:
        return replace(not_estimated(name, why, analysis.n, form=which, level=level), note=note)
    return replace(estimated(name, point, variance, analysis.n, form=which, level=level, df=df), note=note)


def hard_estimates(analysis: Analysis, level: float) -> list[Estimate]:
    """Return the orthogonal, moment and de-attenuated form at each threshold in turn."""
    design, sums, n = analysis.design, analysis.sums["hard"], analysis.n
    fits = solved(sums, analysis.points.hard, design.q)
    no_score = collapse(analysis)
    results = []
    for i, (threshold, counts) in enumerate(zip(design.partition.thresholds, hard_counts(analysis), strict=True)):
        df = sums.df(i)
        why = why_not(counts, sums.bread[i, 0, 0] / sums.weight, design.d, threshold=threshold, df=df)
        for name, form, key in (
            ("hard", "orthogonal", "hard"),
            ("hard", "moment", "moment"),
            ("deattenuated", None, "deattenuated"),
        ):
            reason = why or ((no_score or _unrelated(*_products(analysis, i))) if key == "deattenuated" else None)
            if reason is not None:
                results.append(not_estimated(name, reason, n, threshold=threshold, form=form, level=level))
                continue
            point, covariance = fits[key].points[i, 0], fits[key].covariances[i, 0, 0]
            results.append(
                estimated(name, float(point), float(covariance), n, threshold=threshold, form=form, level=level, df=df)
            )
    return results


def _products(analysis: Analysis, i: int) -> tuple[float, float, float]:
    """Return Σ w a², Σ w b² and Σ w b a of the i-th hard label."""
    bb, ba = (float(analysis.sums["hard"].bread[i, 0, j]) for j in (0, analysis.design.q))
    return float(analysis.sums["core"].bread[0, 0, 0]), bb, ba


def _unrelated(aa: float, bb: float, ba: float) -> str | None:
    """Return why a hard label cannot stand in for the score, or ``None`` if it can."""
    # A correlation below 1e-10 is what rounding leaves of none.
    if abs(ba) <= RANK_TOLERANCE * math.sqrt(aa * bb):
        return "given the controls the hard label says nothing about the score (kappa = 0)"
    return None
