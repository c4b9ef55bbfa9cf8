"""The records of what a simulated design estimates in the limit, and at what cost."""

from dataclasses import dataclass
from typing import TypeVar

from softlabel.errors import InputError

__all__ = ["Attenuation", "ConfidentTruth", "HardTruth", "Truth"]


@dataclass(frozen=True, slots=True)
class Attenuation:
    """A hard label under one residualisation: what it shrinks to, and what the estimates cost.

    With ``a`` the residual score and ``b`` the residual label, both residualised the same way:

    Attributes
    ----------
    kappa
        ``E[b a] / E[b²]``: the hard estimate converges to ``kappa * tau``.
    label_variance
        ``E[b²]``, inside the confident set when there is one.
    avar_hard, avar_kappa, avar_deattenuated
        Variances of the influence functions ``b (R - kappa tau b) / E[b²]``,
        ``b (a - kappa b) / E[b²]`` and ``b (R - tau a) / E[b a]``: divide by the number of unlabelled
        rows (all of them, also for a confident set). The last is None where ``E[b a]`` is zero.
    """

    kappa: float
    label_variance: float
    avar_hard: float
    avar_kappa: float
    avar_deattenuated: float | None


@dataclass(frozen=True, slots=True)
class HardTruth:
    """Population values of the hard label ``h = 1{p > threshold}``.

    Attributes
    ----------
    threshold, share
        The threshold and ``P(p > threshold)``.
    exact
        Residuals from the true conditional means. None where ``h`` does not vary given X.
    linear
        Residuals from linear projections on ``(1, X)``: what a regression of Y on h and X estimates.
    paper_kappa
        What the paper prints: b from the linear projection, a from the true ``r(X)``.
    """

    threshold: float
    share: float
    exact: Attenuation | None
    linear: Attenuation | None
    paper_kappa: float | None


@dataclass(frozen=True, slots=True)
class ConfidentTruth:
    """Population values of the hard label inside ``C = {max(p, 1-p) > threshold}``.

    Attributes
    ----------
    threshold, share
        The threshold and ``P(C)``.
    exact, linear
        As in `HardTruth`, every residual taken within C. ``exact`` is None where, to the range of a
        float64, no X has confident rows of both labels; both are None where C is empty.
    paper_kappa
        What the paper prints: linear b within C, but ``a = p - r(X)`` not re-centred within C.
    paper_factor
        What the estimator the paper simulates converges to, per unit of tau:
        ``E_C[(2h-1)(p-r)] / (2 E_C[b²])``. The paper's two numbers differ, see `Truth`.
    """

    threshold: float
    share: float
    exact: Attenuation | None
    linear: Attenuation | None
    paper_kappa: float | None
    paper_factor: float | None


@dataclass(frozen=True, slots=True)
class Truth:
    """Exact population values of a `PaperDesign`.

    ``a = p - r(X)``; *linear* means residuals from the linear projection on ``(1, X)`` instead of the
    true conditional mean. Every ``avar`` is to be divided by a number of rows: labelled rows for
    ``avar_supervised``, unlabelled rows for all others.

    Attributes
    ----------
    v_star, v_star_linear
        ``E[a²]``, and the larger value a linear r converges to.
    var_p
        ``Var(p)``.
    mean_abs_margin, mean_abs_a
        ``E|2p-1|`` and ``E|p-r|``.
    drift_paper, drift_orthogonal
        Bias over tau per unit of (unclipped) drift: ``E|2p-1|/(2V*)`` and ``E|p-r|/V*``.
    avar_moment, avar_orthogonal, avar_orthogonal_linear
        Soft: the paper's moment form and the orthogonal form with true r and m; the orthogonal
        form with linear ones.
    avar_v_star, avar_v_star_linear
        Of the sample means of ``a²``.
    avar_supervised
        OLS of Y on ``(1, X, G)``.
    hard, confident
        One record per threshold.
    """

    v_star: float
    v_star_linear: float
    var_p: float
    mean_abs_margin: float
    mean_abs_a: float
    drift_paper: float
    drift_orthogonal: float
    avar_moment: float
    avar_orthogonal: float
    avar_orthogonal_linear: float
    avar_v_star: float
    avar_v_star_linear: float
    avar_supervised: float
    hard: tuple[HardTruth, ...]
    confident: tuple[ConfidentTruth, ...]

    @property
    def share_left(self) -> float:
        """``V*/Var(p)``: the share of the score's variance that the controls leave."""
        return self.v_star / self.var_p

    def hard_at(self, threshold: float) -> HardTruth:
        """Return the record of one hard threshold."""
        return _at(self.hard, threshold)

    def confident_at(self, threshold: float) -> ConfidentTruth:
        """Return the record of one confident threshold."""
        return _at(self.confident, threshold)


_Record = TypeVar("_Record", HardTruth, ConfidentTruth)


def _at(records: tuple[_Record, ...], threshold: float) -> _Record:
    for record in records:
        if record.threshold == threshold:
            return record
    raise InputError(
        expected=f"one of the thresholds {', '.join(str(r.threshold) for r in records) or '(none)'}",
        found=str(threshold),
        fix="Ask for it in PaperDesign.truth(thresholds=..., confident=...)",
    )
