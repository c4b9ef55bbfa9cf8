"""The guarded rule: adapt to what the labels show, and keep the interval that holds whatever they show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from softlabel.decision.paper import kappa_reason
from softlabel.results import Attenuation, Check, Estimate, Ladder, Reason, Rung, StepTest, Verdict
from softlabel.results.records import Choice
from softlabel.results.text import interval_text, number, percent, whole

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
    "calibration": "that the score is calibrated given the controls",
}


class _Said(NamedTuple):
    """What the rule is given, kept together."""

    supervised: Estimate
    soft: Estimate
    adaptive: Estimate
    ladder: Ladder
    checks: Sequence[Check]
    kappa: list[Attenuation]
    tolerance: float
    trust: str | None


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
    said = _Said(supervised, soft, adaptive, ladder, checks, list(kappa), kappa_tolerance, trust)
    if ladder.reason is not None:
        return _without_ladder(said)
    strangers = _strangers(checks)
    if strangers and trust is None:
        return _another_population(said, strangers)
    return _on_ladder(said)


def _strangers(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that say, beyond what several tests would say by chance, that the samples differ."""
    compared = [one for one in checks if one.code.startswith("samples.") and one.p_value is not None]
    return [one for one in compared if one.p_value is not None and one.p_value * len(compared) < _CERTAIN]


def _on_ladder(said: _Said) -> Verdict:
    exclusion, calibration = said.ladder.steps
    rungs = list(said.ladder.rungs)
    if said.trust is not None:
        place, choice = _BY_TRUST[said.trust]
        rung = rungs[place]
        sentence = f"Use {choice}, as you trust {said.trust}: {_shown(rung.estimate, rung.ci_low, rung.ci_high, said)}."
        steps = [_step_reason(step, taken="") for step in (exclusion, calibration)[:place]]
        return _verdict(said, choice, rung.estimate, (rung.ci_low, rung.ci_high), sentence, steps)
    rectified = rungs[0]
    assert said.adaptive.estimate is not None  # noqa: S101  (there is a ladder)
    sentence = (
        f"Use adaptive: {number(said.adaptive.estimate)}, with the {percent(said.supervised.level)} interval of "
        f"rectified, {interval_text((rectified.ci_low, rectified.ci_high))}, which needs neither calibration nor "
        "exclusion."
    )
    reasons = [_step_reason(exclusion), _step_reason(calibration)]
    guarantee = said.ladder.guarantee or 1.0
    reasons.append(
        Reason(
            "adaptive.guarantee",
            "Whether or not the steps are right, in large samples its mean squared error is at most "
            f"{number(guarantee)} times rectified's",
            guarantee,
        )
    )
    interval = (rectified.ci_low, rectified.ci_high)
    return _verdict(said, "adaptive", said.adaptive.estimate, interval, sentence, reasons)


def _step_reason(step: StepTest, taken: str | None = None) -> Reason:
    """Say how far a step would move the estimate, whether the labels object, and how much of it is ``taken``."""
    if taken is None:
        taken = f"; of that step {1 - step.kept:.0%} is taken" if step.kept < 1 else "; the step is not taken"
    return Reason(
        f"step.{step.name}",
        f"Trusting {_STEPS[step.name]} would move the estimate by {number(-step.distance)} "
        f"(p = {number(step.p_value, 2)}){taken}",
        step.kept,
        step.p_value,
    )


def _another_population(said: _Said, strangers: list[Check]) -> Verdict:
    row = said.supervised
    reasons = [Reason(f"check.{one.code}", one.message, one.statistic, one.p_value) for one in strangers]
    sentence = (
        f"Use supervised: {_estimate(row)}. The labelled rows are another population than the rest, so what the score "
        "says elsewhere cannot be carried over; supervised holds if the choice of rows to label did not look at the "
        "outcome."
    )
    return _verdict(said, "supervised", row.estimate, row.interval, sentence, reasons)


def _without_ladder(said: _Said) -> Verdict:
    untested = Reason(
        "assumptions.untested",
        f"Neither calibration nor exclusion can be tested: {said.ladder.reason}",
    )
    if said.supervised.reason is None:
        sentence = (
            f"Use supervised: {_estimate(said.supervised)}. The labelled rows cannot audit the score: "
            f"{said.ladder.reason}."
        )
        return _verdict(said, "supervised", said.supervised.estimate, said.supervised.interval, sentence, [untested])
    if said.soft.reason is None:
        sentence = (
            f"{untested.message}. If both are taken on trust, use soft: {_estimate(said.soft)}. Its interval holds as "
            "far as that trust does."
        )
        return _verdict(said, "soft", said.soft.estimate, said.soft.interval, sentence, [untested])
    reasons = [
        untested,
        Reason("supervised.unavailable", f"Supervised cannot be computed: {said.supervised.reason}"),
        Reason("soft.unavailable", f"Soft cannot be computed: {said.soft.reason}"),
    ]
    sentence = "No estimate can be recommended. " + " ".join(f"{reason.message}." for reason in reasons[1:])
    return Verdict(None, sentence, None, None, "guarded", said.trust, tuple(reasons), ())


def _verdict(
    said: _Said,
    choice: Choice,
    estimate: float | None,
    interval: tuple[float, float] | None,
    sentence: str,
    reasons: list[Reason],
) -> Verdict:
    failed = [
        Reason(f"check.{one.code}", f"{one.title}: {one.outcome}", one.statistic, one.p_value)
        for one in said.checks
        if one.outcome == "fail" and f"check.{one.code}" not in {reason.code for reason in reasons}
    ]
    reasons = [*reasons, *_once(failed), _threshold_reason(said)]
    told = " ".join(f"{reason.message}." for reason in reasons if reason.code.startswith("step."))
    changes = tuple(_changes(said, choice))
    return Verdict(
        choice, f"{sentence} {told}".strip(), estimate, interval, "guarded", said.trust, tuple(reasons), changes
    )


def _once(reasons: list[Reason]) -> list[Reason]:
    """Return one reason for each code: several controls may fail one check."""
    return list({reason.code: reason for reason in reversed(reasons)}.values())[::-1]


def _threshold_reason(said: _Said) -> Reason:
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


def _changes(said: _Said, choice: Choice) -> Iterable[Reason]:
    """Yield what would change the verdict: labels, the caller's word, the check that is nearest to failing."""
    if said.ladder.reason is not None:
        yield Reason(
            "labels.audit",
            "Labelled rows with a score, drawn at random and seen by neither classifier nor calibrator, would test "
            "calibration and exclusion",
        )
        return
    rungs = list(said.ladder.rungs)
    if choice in ("adaptive", "rectified"):
        yield from _labels_for(rungs, said.ladder.n_labelled)
    if said.trust is None:
        higher: Rung = rungs[1]
        yield Reason(
            "trust.exclusion",
            f"If you know that the score matters for the outcome only through the group, trust='exclusion' gives "
            f"{_shown(higher.estimate, higher.ci_low, higher.ci_high, said)}",
            higher.estimate,
        )
    near = [one for one in said.checks if one.outcome == "pass" and one.p_value is not None]
    if near:
        closest = min(near, key=lambda one: one.p_value or 0.0)
        yield Reason(
            f"check.{closest.code}",
            f"Of the checks that pass the nearest to failing is {closest.title!r} (p = {number(closest.p_value, 2)})",
            closest.p_value,
        )


def _labels_for(rungs: list[Rung], n: int) -> Iterable[Reason]:
    """Yield how many labels would make rectified as precise as instrumented is, if that is more than there are."""
    if rungs[1].std_error <= 0 or rungs[0].std_error <= rungs[1].std_error:
        return
    wanted = n * (rungs[0].std_error / rungs[1].std_error) ** 2
    if not math.isfinite(wanted):
        return
    yield Reason(
        "labels.more",
        f"With about {whole(wanted - n)} more labelled rows rectified would be as precise as instrumented is now",
        wanted - n,
    )


def _shown(estimate: float, low: float, high: float, said: _Said) -> str:
    return f"{number(estimate)} ({percent(said.supervised.level)} interval {interval_text((low, high))})"


def _estimate(row: Estimate) -> str:
    return f"{number(row.estimate)} ({percent(row.level)} interval {interval_text(row.interval)})"
