"""The guarded rule: adapt to what the labels show, and keep the interval that holds whatever they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from softlabel.decision.changes import REJECTED, Said, would_change
from softlabel.decision.paper import kappa_reason
from softlabel.results import Attenuation, Check, Estimate, Ladder, Reason, StepTest, Verdict
from softlabel.results.records import Choice
from softlabel.results.text import interval_text, number, percent

__all__ = ["guarded_rule"]

# p-value, for all comparisons of the samples together, below which rectified is given up for supervised. A false alarm
# costs the whole of what the score adds, and samples that differ by design are told apart far beyond this.
_CERTAIN = 1e-3

_BY_TRUST: dict[str, tuple[int, Choice]] = {
    "nothing": (0, "rectified"),
    "exclusion": (1, "instrumented"),
    "calibration": (2, "combined"),
}
_STEPS = {
    "exclusion": "that the score matters for the outcome only through the group",
    "calibration": "besides that the score is calibrated given the controls",
}


def guarded_rule(
    supervised: Estimate,
    soft: Estimate,
    adaptive: Estimate,
    ladder: Ladder,
    checks: Sequence[Check],
    kappa: Iterable[Attenuation],
    *,
    kappa_tolerance: float = 0.05,
    trust: str | None = None,
) -> Verdict:
    r"""Return the adaptive estimate with the interval of rectified.

    The ladder is telescoped, :math:`\hat\tau_0 = \hat\tau_2 + (\hat\tau_1 - \hat\tau_2) + (\hat\tau_0 - \hat\tau_1)`,
    and each step soft-thresholded at a multiple of its own standard deviation: a step that the data do not support is
    dropped, one they insist on kept nearly whole, and nothing jumps as a test would (Armstrong, Kline & Sun 2025). No
    interval can adapt, so the interval is rectified's.

    * ``trust`` drops a step whole, and what is reported is that rung with its own interval.
    * Where a check says that the labelled rows are another population, which rectified stands on, supervised it is.
    * Without rows that audit the score, supervised; without labels, soft, and what is then not tested is said first.

    Parameters
    ----------
    supervised, soft, adaptive
        Estimates to report.
    ladder, checks
        What was found of the assumptions.
    kappa, kappa_tolerance
        κ(t) on the grid; thresholding is called free where its interval lies within 1 ± the tolerance.
    trust
        "nothing", "exclusion", "calibration", or ``None`` to let the data decide.
    """
    said = Said(supervised, soft, adaptive, ladder, checks, list(kappa), kappa_tolerance, trust)
    if ladder.reason is not None:
        return _without_ladder(said)
    apart = _apart(checks)
    if apart and trust is None and supervised.reason is None:
        return _supervised_alone(said, apart)
    return _on_ladder(said, apart)


def _apart(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that say, beyond doubt, that the labelled rows cannot speak for the others."""
    compared = [one for one in checks if one.code.startswith("samples.") and one.p_value is not None]
    differ = [one for one in compared if one.p_value is not None and one.p_value * len(compared) < _CERTAIN]
    # A failure without a p-value is not one of chance: the scores add up to the labels, or are them.
    trained = [one for one in checks if one.code == "audit.clean" and one.outcome == "fail" and one.p_value is None]
    return [*differ, *trained]


def _on_ladder(said: Said, apart: list[Check]) -> Verdict:
    exclusion, calibration = said.ladder.steps
    rungs = list(said.ladder.rungs)
    doubt = "" if not apart else f" Yet every rung stands on rows that can speak for the others: {_lead(apart)}."
    if said.trust is not None:
        place, choice = _BY_TRUST[said.trust]
        rung, steps = rungs[place], (exclusion, calibration)[:place]
        trusted = "nothing of the score" if said.trust == "nothing" else said.trust
        rejected = " The labels object to that." if any(step.p_value < REJECTED for step in steps) else ""
        shown = said.shown(rung.estimate, rung.ci_low, rung.ci_high)
        sentence = f"Use {choice}, as you trust {trusted}: {shown}.{rejected}{doubt}"
        reasons = [_step_reason(step, taken="") for step in steps]
        return _verdict(said, choice, rung.estimate, (rung.ci_low, rung.ci_high), sentence, reasons, apart)
    rectified = rungs[0]
    assert said.adaptive.estimate is not None  # noqa: S101  (there is a ladder)
    sentence = (
        f"Use adaptive: {number(said.adaptive.estimate)}, with the {percent(said.supervised.level)} interval of "
        f"rectified, {interval_text((rectified.ci_low, rectified.ci_high))}, which needs neither calibration nor "
        f"exclusion, only labelled rows that are a random part of all.{doubt}"
    )
    reasons = [_step_reason(exclusion), _step_reason(calibration)]
    guarantee = said.ladder.guarantee or 1.0
    reasons.append(
        Reason(
            "adaptive.guarantee",
            "If the labelled rows are a random part of all then, right or wrong as the steps may be, in large samples "
            f"its mean squared error is at most {number(guarantee)} times rectified's",
            guarantee,
        )
    )
    interval = (rectified.ci_low, rectified.ci_high)
    return _verdict(said, "adaptive", said.adaptive.estimate, interval, sentence, reasons, apart)


def _step_reason(step: StepTest, taken: str | None = None) -> Reason:
    """Say how far a step would move the estimate, whether the labels object, and how much of it is ``taken``."""
    if taken is None:
        taken = f"; of that step {1 - step.kept:.0%} is taken" if step.kept < 1 else "; the step is not taken"
    return Reason(
        f"step.{step.name}",
        f"Trusting {_STEPS[step.name]} would move the estimate by {number(-step.distance)} "
        f"(p = {number(step.p_value, 2)}){taken}",
        1 - step.kept,
        step.p_value,
    )


def _lead(apart: list[Check]) -> str:
    if any(one.code.startswith("samples.") for one in apart):
        return "the labelled rows look like another population than the rest"
    return "the labelled rows seem to have trained the score"


def _supervised_alone(said: Said, apart: list[Check]) -> Verdict:
    row = said.supervised
    lead = _lead(apart)
    sentence = (
        f"Use supervised: {said.estimate(row)}. {lead[0].upper()}{lead[1:]}, so what the score says there cannot be "
        "carried over. Supervised holds if, given group and controls, which rows were labelled had nothing to do with "
        "the outcome."
    )
    return _verdict(said, "supervised", row.estimate, row.interval, sentence, [], apart)


def _without_ladder(said: Said) -> Verdict:
    untested = Reason(
        "assumptions.untested",
        f"Neither calibration nor exclusion can be tested: {said.ladder.reason}",
    )
    unused = "" if said.trust in (None, "nothing") else f" What you trust ({said.trust}) cannot be used without them."
    if said.supervised.reason is None:
        sentence = (
            f"Use supervised: {said.estimate(said.supervised)}. The labelled rows cannot audit the score: "
            f"{said.ladder.reason}.{unused}"
        )
        interval = said.supervised.interval
        return _verdict(said, "supervised", said.supervised.estimate, interval, sentence, [untested], [])
    if said.soft.reason is None and said.trust != "nothing":
        sentence = (
            f"{untested.message}. If both are taken on trust, use soft: {said.estimate(said.soft)}. Its interval holds "
            f"as far as that trust does.{unused if said.trust == 'exclusion' else ''}"
        )
        return _verdict(said, "soft", said.soft.estimate, said.soft.interval, sentence, [untested], [])
    reasons = [untested, Reason("supervised.unavailable", f"Supervised cannot be computed: {said.supervised.reason}")]
    if said.soft.reason is not None:
        reasons.append(Reason("soft.unavailable", f"Soft cannot be computed: {said.soft.reason}"))
    else:
        reasons.append(Reason("soft.untrusted", "Soft would have to be trusted, and you trust nothing of the score"))
    sentence = "No estimate can be recommended. " + " ".join(f"{reason.message}." for reason in reasons[1:])
    return Verdict(None, sentence, None, None, "guarded", said.trust, tuple(reasons), ())


def _verdict(
    said: Said,
    choice: Choice,
    estimate: float | None,
    interval: tuple[float, float] | None,
    sentence: str,
    reasons: list[Reason],
    apart: list[Check],
) -> Verdict:
    failed = [
        Reason(f"check.{one.code}", f"{one.title}: {one.outcome}", one.statistic, one.p_value)
        for one in said.checks
        if one.outcome == "fail"
    ]
    reasons = [*reasons, *_once(failed), _threshold_reason(said)]
    told = " ".join(f"{reason.message}." for reason in reasons if reason.code.startswith("step."))
    changes = tuple(would_change(said, choice, alike=not apart))
    return Verdict(
        choice, f"{sentence} {told}".strip(), estimate, interval, "guarded", said.trust, tuple(reasons), changes
    )


def _once(reasons: list[Reason]) -> list[Reason]:
    """Return one reason for each code: several controls may fail one check."""
    return list({reason.code: reason for reason in reversed(reasons)}.values())[::-1]


def _threshold_reason(said: Said) -> Reason:
    """Say whether some threshold costs nothing: the interval of κ within the tolerance of one."""
    free = [
        row
        for row in said.kappa
        if row.ci_low is not None
        and row.ci_high is not None
        and 1 - said.tolerance <= row.ci_low <= row.ci_high <= 1 + said.tolerance
    ]
    if free:
        at = ", ".join(f"{row.threshold:g}" for row in free)
        return Reason(
            "threshold.free",
            f"Thresholding at {at} costs next to nothing: kappa lies within {said.tolerance:g} of one, so hard is soft",
        )
    return kappa_reason(said.kappa, said.tolerance)
