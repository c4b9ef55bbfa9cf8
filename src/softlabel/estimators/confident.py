"""The confident estimator: the hard label, on the rows whose score is far from a half."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from softlabel.estimators.in_memory import analyse_arrays
from softlabel.estimators.labels import confident_counts, solved, why_not
from softlabel.estimators.weights import WeightType
from softlabel.influence import Analysis
from softlabel.results import Estimate
from softlabel.results.inference import check_level
from softlabel.results.records import estimated, not_estimated

__all__ = ["confident", "confident_estimates"]

WITHIN = " within the confident set"


def confident(
    y: ArrayLike,
    p: ArrayLike,
    X: ArrayLike | None = None,
    threshold: float = 0.9,
    *,
    weights: ArrayLike | None = None,
    weight_type: WeightType = "sampling",
    cluster: ArrayLike | None = None,
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    r"""Regress Y on h = 1{p > threshold} given the controls, on rows with max(p, 1 − p) > threshold.

    Every residual is taken within the confident set C, where

    .. math:: \hat\tau = \frac{\sum_C b_i R_i}{\sum_C b_i^2}

    estimates κ_FM(t)τ; where the controls are accounted for in full, 2t − 1 ≤ κ_FM ≤ 1. This is the regression that
    FixMatch-style selection (Sohn et al. 2020) leaves behind.

    Parameters
    ----------
    y, p : (n,)
        Outcome, and score in [0, 1].
    X : (n, k), optional
        Controls, entering linearly.
    threshold
        From 0.5 to below 1.
    weights, weight_type, cluster, folds, seed, level
        As for `soft`.

    References
    ----------
    Sohn, K. et al. (2020). FixMatch. *Advances in Neural Information Processing Systems* 33, for the confident set.

    Kurbucz, M. T. (2026). When to trust confidence thresholding: calibration diagnostics for pseudo-labelled
    regression.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(.5, .5, size=20_000)
    >>> y = 1.5 * (rng.random(20_000) < p) + rng.normal(size=20_000)
    >>> estimate = sl.confident(y, p, threshold=.9)
    >>> round(estimate.estimate, 2), estimate.n
    (1.38, 8217)
    """
    level = check_level(level)
    analysis, note = analyse_arrays(
        y,
        p,
        X,
        confident=(threshold,),
        folds=folds,
        seed=seed,
        weights=weights,
        weight_type=weight_type,
        cluster=cluster,
    )
    return replace(confident_estimates(analysis, level)[0], note=note)


def confident_estimates(analysis: Analysis, level: float) -> list[Estimate]:
    """Return the estimate at each confident threshold."""
    design, sums = analysis.design, analysis.sums["confident"]
    fit = solved(sums, analysis.points.confident, design.q)["hard"]
    results = []
    for i, (threshold, counts) in enumerate(zip(design.partition.confident, confident_counts(analysis), strict=True)):
        left = sums.bread[i, 0, 0] / max(counts.n, 1) * analysis.n / sums.weight
        df = sums.df(i)
        why = why_not(counts, left, design.d, threshold=threshold, where=WITHIN, df=df)
        results.append(
            not_estimated("confident", why, counts.n, threshold=threshold, level=level)
            if why is not None
            else estimated(
                "confident",
                float(fit.points[i, 0]),
                float(fit.covariances[i, 0, 0]),
                counts.n,
                threshold=threshold,
                level=level,
                df=df,
            )
        )
    return results
