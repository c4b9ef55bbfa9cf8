"""The frozen records a diagnosis is made of: plain numbers and words, no data, no engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from softlabel.results.inference import p_value, quantile

__all__ = [
    "Attenuation",
    "Choice",
    "Column",
    "ConfidentAttenuation",
    "Estimate",
    "LabelEquivalent",
    "LearnerScore",
    "Note",
    "Reason",
    "Sample",
    "Settings",
    "Verdict",
    "estimated",
    "not_estimated",
]

Choice = Literal["supervised", "soft", "rectified", "instrumented", "combined", "adaptive"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number with its uncertainty, or the reason why there is none.

    Attributes
    ----------
    name, threshold, form
        Which estimator: ``form`` is ``"orthogonal"`` or ``"moment"`` where there are two.
    estimate, std_error, ci_low, ci_high, p_value
        ``None`` where it could not be computed; ``reason`` then says why.
    n
        Rows that entered.
    reason
        ``None`` for a number; else one sentence.
    level, df
        Confidence level of the interval; degrees of freedom of its t distribution, ``None`` for the normal.
    note
        What to know before using the number, where the array functions have nowhere else to say it.

    Examples
    --------
    >>> import softlabel as sl
    >>> row = sl.soft([1, 2, 4, 5, 3, 6], [.1, .2, .7, .8, .4, .9], folds=None)
    >>> row.name, round(row.estimate, 2), row.n
    ('soft', 5.56, 6)
    """

    name: str
    threshold: float | None
    form: str | None
    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    n: int
    reason: str | None = None
    level: float = 0.95
    df: int | None = None
    note: str | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The confidence interval, ``None`` where there is none."""
        return None if self.ci_low is None or self.ci_high is None else (self.ci_low, self.ci_high)


def estimated(
    name: str,
    estimate: float,
    variance: float,
    n: int,
    *,
    threshold: float | None = None,
    form: str | None = None,
    level: float = 0.95,
    df: int | None = None,
) -> Estimate:
    """Return an Estimate from a point and its variance; numbers that are not finite become a reason."""
    if not (math.isfinite(estimate) and math.isfinite(variance) and variance >= 0):
        return not_estimated(
            name,
            "the numbers overflow: rescale the outcome or the controls",
            n,
            threshold=threshold,
            form=form,
            level=level,
        )
    std_error = math.sqrt(variance)
    reach = quantile(level, df) * std_error
    return Estimate(
        name=name,
        threshold=threshold,
        form=form,
        estimate=estimate,
        std_error=std_error,
        ci_low=estimate - reach,
        ci_high=estimate + reach,
        p_value=p_value(estimate, std_error, df),
        n=n,
        level=level,
        df=df,
    )


def not_estimated(
    name: str,
    reason: str,
    n: int,
    *,
    threshold: float | None = None,
    form: str | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the Estimate that says why there is no number."""
    return Estimate(name, threshold, form, None, None, None, None, None, n, reason, level)


@dataclass(frozen=True, slots=True)
class Attenuation:
    """κ(t): the share of the effect that survives thresholding the score at ``threshold``.

    ``n_above`` of ``n`` rows have a score above the threshold; ``basis`` names the regression on the
    controls that κ belongs to.
    """

    threshold: float
    kappa: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_above: int
    basis: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConfidentAttenuation:
    """κ_FM(t): the same inside the confident set max(p, 1−p) > ``threshold``.

    ``n_confident`` rows are in the set, ``share`` of all; ``floor`` = 2t−1 is the least that κ_FM
    can be where the controls are accounted for in full.
    """

    threshold: float
    kappa: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    n_confident: int
    share: float
    floor: float
    basis: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LabelEquivalent:
    """How many labelled rows a supervised regression would need for the same standard error."""

    name: str
    threshold: float | None
    labels: float | None
    assumes: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class LearnerScore:
    """V̂* with one learner's regression of the score on the controls: of several the smallest is the most trustworthy.

    Out of fold V̂* estimates V* + E(r̂ − r)², so every learner errs upward; ``used`` marks the one behind the numbers.
    """

    name: str
    v_star: float | None
    std_error: float | None
    used: bool


@dataclass(frozen=True, slots=True)
class Reason:
    """One machine-readable step of a decision: ``code`` is stable, ``message`` is for people."""

    code: str
    message: str
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The estimator a rule recommends, the sentence that says so, and why.

    ``interval`` is that of the estimate, or for one that adapts, which has none, that of rectified. ``trust`` is what
    the caller said may be trusted. ``would_change`` says what other labels or knowledge would do to the verdict.
    """

    choice: Choice | None
    sentence: str
    estimate: float | None
    interval: tuple[float, float] | None
    rule: str
    trust: str | None
    because: tuple[Reason, ...]
    would_change: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader should know before using a number: ``code`` is stable, ``message`` is for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Column:
    """A count that belongs to a column of the data."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked: roles and options, enough to ask again."""

    outcome: str
    group: str | None
    score: str
    controls: tuple[str, ...]
    thresholds: tuple[float, ...]
    confident: tuple[float, ...]
    basis: str
    learner: str | None
    folds: int | None
    seed: int
    weights: str | None
    weight_type: str | None
    cluster: str | None
    id: str | None
    audit: str | None
    features: tuple[str, ...] | None
    covariance: str
    rule: str
    trust: str | None
    kappa_tolerance: float
    level: float
    missing: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Which rows entered, which did not and why, and what is needed to see the same again.

    ``n_effective`` is n²/Σm², with m the number of copies of each distinct row (estimated within 1%);
    ``rows``, ``dropped`` and ``missing`` count rows of the table, ``used``, ``unlabelled`` and ``labelled`` cases: a
    row whose weight is a frequency is so many. Rows of weight zero are ``weightless`` and not used.
    ``folds`` counts the folds in use (``None``: nuisances fitted in sample) and ``folds_by`` says what a
    row's fold depends on; ``fingerprint`` is the sum of the row hashes, the same for any order of rows.
    ``columns`` are the design columns after the intercept and ``ridge`` the penalty on them, in units of their
    variance. ``clusters`` counts those of the unlabelled rows, ``clusters_labelled`` of the labelled ones.
    """

    source: str
    rows: int
    used: int
    unlabelled: int
    labelled: int
    labelled_by_class: tuple[int, int]
    dropped: int
    missing: tuple[Column, ...]
    weightless: int
    n_effective: float
    folds: int | None
    folds_by: str
    clusters: int | None
    clusters_labelled: int | None
    columns: tuple[str, ...]
    redundant_controls: tuple[str, ...]
    ridge: float
    fingerprint: str
    seed: int
    versions: tuple[tuple[str, str], ...]
