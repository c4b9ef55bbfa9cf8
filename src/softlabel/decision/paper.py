"""Algorithm 1 of Kurbucz (2026), as written."""

from __future__ import annotations

import math
from collections.abc import Iterable

from softlabel.results import Attenuation, Estimate, Reason, Verdict
from softlabel.results.records import Choice
from softlabel.results.text import interval_text, number, percent

__all__ = ["kappa_reason", "paper_rule"]


def paper_rule(
    soft: Estimate,
    soft_moment: Estimate,
    supervised: Estimate,
    kappa: Iterable[Attenuation],
    *,
    kappa_tolerance: float = 0.05,
) -> Verdict:
    r"""Algorithm 1 of Kurbucz (2026), as written.

    1. If :math:`\widehat{SE}_{soft} = \hat\sigma_\psi / (2 \hat V^* \sqrt{n_U})` exceeds the standard error of
       the supervised baseline, prefer supervised. ψ is that of the moment form, σ its sample deviation.
    2. Else, if κ(t) is far from one at every threshold, prefer soft.
    3. Else either will do, and soft is recommended because it needs no threshold.

    The rule compares standard errors and κ; it cannot see bias. The paper leaves "far from one" open: here κ(t)
    is far when its confidence interval lies outside 1 ± ``kappa_tolerance``.

    Parameters
    ----------
    soft
        The estimate to report if soft is chosen: the orthogonal form.
    soft_moment
        The moment form, whose standard error step 1 compares.
    supervised
        The baseline; step 1 is passed over where it could not be computed.
    kappa
        κ(t) on the grid of thresholds.
    kappa_tolerance
        See above.
    """
    because: list[Reason] = []
    if soft.reason is not None:
        because.append(Reason("soft.unavailable", f"Soft cannot be computed: {soft.reason}"))
        return _verdict(supervised, "supervised", because)
    if supervised.std_error is None or soft_moment.std_error is None:
        code, missing = ("supervised", supervised) if supervised.std_error is None else ("soft_moment", soft_moment)
        because.append(Reason(f"{code}.unavailable", f"No baseline to compare with: {missing.reason}"))
    else:
        # The sample deviation divides by n − 1 where the sandwich divides by n.
        paper_se = soft_moment.std_error * math.sqrt(soft_moment.n / max(soft_moment.n - 1, 1))
        noisier = paper_se > supervised.std_error
        code = "soft.noisier" if noisier else "soft.tighter"
        message = (
            f"The standard error of soft, {number(paper_se)} by the paper's formula, is "
            f"{'above' if noisier else 'not above'} that of supervised, {number(supervised.std_error)}"
        )
        if soft.std_error is not None and (soft.std_error > supervised.std_error) != noisier:
            code = "soft.noisier_by_formula_only"
            message += f", though the orthogonal form of soft has {number(soft.std_error)}"
        because.append(Reason(code, message, paper_se, supervised.std_error))
        if noisier:
            return _verdict(supervised, "supervised", because)
    because.append(kappa_reason(list(kappa), kappa_tolerance))
    return _verdict(soft, "soft", because)


def kappa_reason(kappa: list[Attenuation], tolerance: float) -> Reason:
    """Return what κ says of thresholding: near one somewhere, far from one everywhere, or unknown."""
    known = [row for row in kappa if row.kappa is not None]
    if not known:
        return Reason("kappa.unknown", "kappa could not be computed at any threshold")
    near = [row for row in known if not _far(row, tolerance)]
    if near:
        at = ", ".join(f"{row.threshold:g}" for row in near)
        return Reason("kappa.near_one", f"At {at} kappa cannot be told from one: thresholding may cost little there")
    closest = min(known, key=lambda row: abs((row.kappa or 0.0) - 1))
    above = (closest.kappa or 0.0) > 1
    return Reason(
        "kappa.far_from_one",
        f"Thresholding multiplies the effect by {number(closest.kappa, 2)} at best, at {closest.threshold:g}",
        closest.kappa,
        1 + tolerance if above else 1 - tolerance,
    )


def _far(row: Attenuation, tolerance: float) -> bool:
    if row.ci_low is None or row.ci_high is None:
        return False
    return row.ci_high < 1 - tolerance or row.ci_low > 1 + tolerance


def _verdict(estimate: Estimate, choice: Choice, because: list[Reason]) -> Verdict:
    if estimate.estimate is None:
        because.append(Reason(f"{choice}.unavailable", f"{choice.capitalize()} cannot be computed: {estimate.reason}"))
        sentence = "No estimate can be recommended. " + " ".join(f"{reason.message}." for reason in because)
        return Verdict(None, sentence, None, None, "paper", None, tuple(because), ())
    sentence = (
        f"Use {choice}: {number(estimate.estimate)} "
        f"({percent(estimate.level)} interval {interval_text(estimate.interval)}). "
        + " ".join(f"{reason.message}." for reason in because)
    )
    return Verdict(choice, sentence, estimate.estimate, estimate.interval, "paper", None, tuple(because), ())
