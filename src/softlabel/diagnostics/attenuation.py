"""What thresholding costs, before any outcome is seen: V*, κ(t), κ_FM(t) and label equivalents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from softlabel.estimators.confident import WITHIN
from softlabel.estimators.in_memory import analyse_arrays
from softlabel.estimators.labels import LabelCounts, confident_counts, hard_counts, solved, why_not
from softlabel.estimators.soft import collapse, v_star_estimate
from softlabel.estimators.weights import WeightType
from softlabel.influence import Analysis
from softlabel.results import Attenuation, ConfidentAttenuation, Estimate, LabelEquivalent, Table
from softlabel.results.inference import check_level
from softlabel.results.records import estimated, not_estimated

__all__ = [
    "AttenuationReport",
    "attenuation",
    "confident_table",
    "kappa_table",
    "label_equivalents",
]


_ASSUMES = {
    "soft": "calibration and exclusion",
    "deattenuated": "calibration and exclusion",
    "rectified": "one population",
    "instrumented": "exclusion",
    "combined": "calibration and exclusion",
    "adaptive": "one population",
}


@dataclass(frozen=True, slots=True)
class AttenuationReport:
    """V* and the two tables of attenuation factors; ``note`` says what a reader should know, if anything."""

    v_star: Estimate
    score_variance: float
    kappa: Table[Attenuation]
    kappa_confident: Table[ConfidentAttenuation]
    note: str | None = None


def attenuation(
    p: ArrayLike,
    X: ArrayLike | None = None,
    thresholds: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    *,
    confident: Sequence[float] = (),
    weights: ArrayLike | None = None,
    weight_type: WeightType = "sampling",
    cluster: ArrayLike | None = None,
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    level: float = 0.95,
) -> AttenuationReport:
    r"""Return what thresholding a score would do to a coefficient: no outcome and no label needed.

    With a = p − r̂(X) and b = h − ê[h|X],

    .. math::
        V^* = \mathrm E[a^2], \qquad \kappa(t) = \frac{\mathrm E[ab]}{\mathrm E[b^2]},

    and κ_FM(t) is the same with everything taken within the confident set. κ belongs to the regression whose
    residuals these are: here a linear one.

    Parameters
    ----------
    p : (n,)
        Score in [0, 1].
    X : (n, k), optional
        Controls, entering linearly.
    thresholds, confident
        Thresholds for κ and for κ_FM.
    weights, weight_type, cluster, folds, seed, level
        As for `soft`.

    References
    ----------
    Kurbucz, M. T. (2026). When to trust confidence thresholding: calibration diagnostics for pseudo-labelled
    regression.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> report = sl.attenuation(np.linspace(0, 1, 10_001), thresholds=[.5, .9], folds=None)
    >>> [round(k, 3) for k in report.kappa["kappa"]], round(report.v_star.estimate, 3)
    ([0.5, 0.5], 0.083)
    """
    level = check_level(level)
    analysis, note = analyse_arrays(
        None,
        p,
        X,
        thresholds=thresholds,
        confident=confident,
        folds=folds,
        seed=seed,
        weights=weights,
        weight_type=weight_type,
        cluster=cluster,
    )
    return AttenuationReport(
        v_star=v_star_estimate(analysis, level),
        score_variance=float(analysis.points.score_variance[0, 0]),
        kappa=kappa_table(analysis, level),
        kappa_confident=confident_table(analysis, level),
        note=note,
    )


def kappa_table(analysis: Analysis, level: float) -> Table[Attenuation]:
    """Return κ(t) at each threshold."""
    design, sums = analysis.design, analysis.sums["hard"]
    fit = solved(sums, analysis.points.hard, design.q)["kappa"]
    no_score = collapse(analysis)
    rows = []
    for i, (threshold, counts) in enumerate(zip(design.partition.thresholds, hard_counts(analysis), strict=True)):
        df = sums.df(i)
        why = why_not(counts, sums.bread[i, 0, 0] / sums.weight, design.d, threshold=threshold, df=df) or no_score
        kappa = _kappa(float(fit.points[i, 0]), float(fit.covariances[i, 0, 0]), counts, level, why, df)
        rows.append(
            Attenuation(
                threshold=threshold,
                kappa=kappa.estimate,
                std_error=kappa.std_error,
                ci_low=kappa.ci_low,
                ci_high=kappa.ci_high,
                n=counts.n,
                n_above=counts.above,
                basis=design.basis.name,
                reason=kappa.reason,
            )
        )
    return Table(tuple(rows))


def confident_table(analysis: Analysis, level: float) -> Table[ConfidentAttenuation]:
    """Return κ_FM(t) at each confident threshold."""
    design, sums = analysis.design, analysis.sums["confident"]
    fit = solved(sums, analysis.points.confident, design.q)["kappa"]
    no_score = collapse(analysis)
    rows = []
    for i, (threshold, counts) in enumerate(zip(design.partition.confident, confident_counts(analysis), strict=True)):
        left = sums.bread[i, 0, 0] / max(counts.n, 1) * analysis.n / sums.weight
        df = sums.df(i)
        why = why_not(counts, left, design.d, threshold=threshold, where=WITHIN, df=df) or no_score
        kappa = _kappa(float(fit.points[i, 0]), float(fit.covariances[i, 0, 0]), counts, level, why, df)
        rows.append(
            ConfidentAttenuation(
                threshold=threshold,
                kappa=kappa.estimate,
                std_error=kappa.std_error,
                ci_low=kappa.ci_low,
                ci_high=kappa.ci_high,
                n_confident=counts.n,
                share=counts.n / analysis.n,
                floor=2 * threshold - 1,
                basis=design.basis.name,
                reason=kappa.reason,
            )
        )
    return Table(tuple(rows))


def _kappa(
    point: float, variance: float, counts: LabelCounts, level: float, why: str | None, df: int | None
) -> Estimate:
    if why is not None:
        return not_estimated("kappa", why, counts.n, level=level)
    return estimated("kappa", point, variance, counts.n, level=level, df=df)


def label_equivalents(estimates: Iterable[Estimate], supervised: Estimate) -> Table[LabelEquivalent]:
    r"""Return how many labelled rows would give supervised the standard error of each estimate of τ.

    .. math:: n_{eq} = n_L \, (SE_{supervised} / SE)^2

    Only estimates that aim at τ itself are listed, with what they assume for it. Soft's number hides what a calibrator
    learnt from labels; that of rectified, which adaptive shares because it has its interval, hides nothing.
    """
    rows = []
    listed = [row for row in estimates if row.name in _ASSUMES and row.form != "moment"]
    rectified = next((row for row in listed if row.name == "rectified"), None)
    for row in listed:
        labels = None
        behind = rectified if row.name == "adaptive" and rectified is not None else row
        reason = behind.reason or supervised.reason
        if behind.std_error and supervised.std_error:
            ratio = supervised.std_error / behind.std_error
            labels = supervised.n * ratio * ratio
            if not math.isfinite(labels):
                labels, reason = None, "the standard errors are too far apart to compare"
        elif reason is None:
            reason = "a standard error is zero"
        rows.append(LabelEquivalent(row.name, row.threshold, labels, _ASSUMES[row.name], reason=reason))
    return Table(tuple(rows))
