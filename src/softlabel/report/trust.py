"""What may be trusted, on the page: the verdict, the estimates by what they trust, the assumptions."""

from __future__ import annotations

from collections.abc import Iterator

from softlabel.report.layout import aligned, wrapped
from softlabel.results import Audit, Diagnosis, Estimate
from softlabel.results.text import interval_text, number, percent, whole

__all__ = ["MEANING", "RULES", "SHOWN", "URGENT", "WORDS", "assumptions", "effect", "how", "verdict"]

RULES = {"guarded": "adapts to what the labels show", "paper": "Algorithm 1 of Kurbucz, 2026"}

# Notes that bear on the verdict stand beside it; of some a check says the same.
URGENT = ("estimates.differ", "score.reversed", "score.hard")
_CHECKED = ("estimates.differ", "score.hard")

_HOW = {
    "linear": "linearly",
    "spline": "as smooth curves that add up",
    "bspline": "as smooth curves that add up",
    "formula": "as the formula says",
}
SHOWN = ("supervised", "rectified", "instrumented", "combined", "adaptive", "soft")
MEANING = {
    "supervised": "the labelled rows alone, right where the controls act {how}",
    "rectified": "supervised, made sharper by the score; right if labelled rows are a random part of all",
    "instrumented": "trusts that the score matters for the outcome only through the group (exclusion)",
    "combined": "trusts besides that the score is calibrated given the controls",
    "adaptive": "takes what the labels let it of exclusion, and a little of calibration; rectified's interval",
    "soft": "the score in place of the group: trusts both, and looks at no label",
}
_DRIFT = 0.05

# What the checks look at, in a word or two.
WORDS = {
    "calibration.given_controls": "calibration given the controls",
    "calibration.controls_only": "the controls alone",
    "calibration.marginal": "calibration on average",
    "calibration.control": "along each control",
    "exclusion": "exclusion",
    "effect.varies": "one effect for all",
    "overidentification": "soft beside supervised (J)",
    "samples.score": "like scores in both samples",
    "samples.controls": "like controls",
    "samples.outcome": "like outcomes",
    "samples.soft": "soft in both",
    "score.hard": "a score between 0 and 1",
    "score.weak": "a score that tells",
    "score.collapse": "V* beside neighbours",
    "score.learners": "V* across learners",
    "score.structure": "what the classifier saw",
    "audit.clean": "audit rows not trained on",
    "labels.few": "labels enough",
}


def verdict(d: Diagnosis) -> str:
    """Return the verdict, what would change it, and the notes that bear on it."""
    lines = [f"Verdict ({RULES[d.verdict.rule]})"]
    sentence = d.verdict.sentence
    if d.verdict.rule == "paper":
        if not d.sample.labelled:
            lines.append(wrapped("No labelled rows: calibration and exclusion are taken on trust."))
        sentence += " This rule compares precision only: it cannot see bias."
    lines.append(wrapped(sentence))
    said = [note for note in d.notes if note.code in URGENT]
    if d.verdict.rule != "paper":
        said = [note for note in said if note.code not in _CHECKED]
    lines += [wrapped(f"! {note.message}.", hang="  ") for note in said]
    failing = dict.fromkeys(WORDS.get(one.code, one.code) for one in d.checks if one.outcome == "fail")
    if failing and d.verdict.rule != "paper":
        lines.append(wrapped(f"! Fails: {', '.join(failing)}. See the assumptions.", hang="  "))
    lines += [wrapped(f"? {reason.message}.", hang="  ") for reason in d.verdict.would_change]
    return "\n".join(lines)


def effect(d: Diagnosis) -> str:
    """Return the estimates of the effect, by what they trust."""
    worth = {row.name: row.labels for row in d.label_equivalents if row.threshold is None}
    header = ["Effect", "estimate", "std. error", f"{percent(d.settings.level)} interval", "worth labelled rows"]
    known = {row.name for row in d.estimates}
    chosen = [d.estimate(name) for name in SHOWN if name in known]
    rows = [
        [
            row.name,
            number(row.estimate),
            number(row.std_error),
            interval_text(row.interval),
            _whole(row.n if row.name == "supervised" else worth.get(row.name)),
        ]
        for row in chosen
        if row.estimate is not None
    ]
    meaning = [
        wrapped(f"{row.name}: {MEANING[row.name].format(how=how(d))}.", hang="  ")
        for row in chosen
        if row.estimate is not None
    ]
    return "\n".join([*aligned(header, rows), *_missing(chosen), *meaning])


def _missing(chosen: list[Estimate]) -> list[str]:
    """Return why estimates are missing, a line for each reason."""
    why: dict[str, list[str]] = {}
    for row in chosen:
        if row.estimate is None and row.reason is not None:
            why.setdefault(row.reason, []).append(row.name)
    return [wrapped(f"{', '.join(names)}: not computed, {reason}.") for reason, names in why.items()]


def assumptions(d: Diagnosis) -> str:
    """Return what fails, what passes and what was not looked at; then what it would do to soft."""
    lines = ["Assumptions"]
    for one in d.checks:
        if one.outcome in ("fail", "warn"):
            sign = {"fail": "FAILS", "warn": "doubtful"}[one.outcome]
            p = "" if one.p_value is None else f" (p = {number(one.p_value, 2)})"
            lines.append(wrapped(f"{sign}: {one.title}{p}. {one.message}. {one.advice}.", hang="  "))
    bad = {one.code for one in d.checks if one.outcome in ("fail", "warn")}
    for outcome, said in (("pass", "hold up"), ("skipped", "not tested")):
        codes = dict.fromkeys(one.code for one in d.checks if one.outcome == outcome and one.code not in bad)
        if codes:
            lines.append(wrapped(f"{said}: {', '.join(WORDS.get(code, code) for code in codes)}.", hang="  "))
    lines += _audited(d.audits.rows[0]) if d.audits.rows else []
    lines += _drifts(d)
    return "\n".join(lines)


def _audited(audit: Audit) -> Iterator[str]:
    if audit.reason is not None or audit.bias_low is None or audit.bias_high is None:
        return
    yield wrapped(
        f"Audit on {whole(audit.n)} labelled rows: soft aims at slope x effect + leak, slope {number(audit.slope)} "
        f"({number(audit.slope_error, 2)}), one if calibrated, leak {number(audit.leak)} "
        f"({number(audit.leak_error, 2)}), zero under exclusion: off by {number(audit.bias)} "
        f"({interval_text((audit.bias_low, audit.bias_high))})."
    )


def _drifts(d: Diagnosis) -> Iterator[str]:
    """Say how far a drift of the group's probability from the score could carry soft."""
    soft = d.drift(_DRIFT).rows[0]
    if soft.reason is not None or soft.ci_low is None or soft.ci_high is None:
        return
    broken = d.breakdown.rows[0].breakdown
    sure = soft.ci_low > 0 or soft.ci_high < 0
    flips = f"; below a drift of {number(broken, 2)} it keeps its sign" if sure and broken is not None else ""
    yield wrapped(
        f"Drift: if the group's probability is off the score by up to {_DRIFT:g} anywhere, and nothing leaks, soft "
        f"stands for an effect from {number(soft.ci_low)} to {number(soft.ci_high)}, sampling error included{flips}."
        f"{_shown_drift(d)}"
    )


def _shown_drift(d: Diagnosis) -> str:
    shown = d.drift_curves.supported
    if shown.delta_hat is None or shown.delta_upper is None:
        return ""
    off, most = number(shown.delta_hat, 2), number(shown.delta_upper, 2)
    return f" On the labelled rows it is off by {off} in root mean square, by {most} at most."


def how(d: Diagnosis) -> str:
    """Say what an estimate assumes of the controls."""
    return f"in ways that {d.settings.learner} can learn" if d.settings.learner is not None else _HOW[d.settings.basis]


def _whole(value: float | None) -> str:
    return "-" if value is None else whole(value)
