"""The summary: one page of text, verdict first."""

from __future__ import annotations

from softlabel.report.layout import aligned, wrapped
from softlabel.report.scored import made
from softlabel.report.trust import URGENT, assumptions, effect, verdict
from softlabel.results import Diagnosis, Estimate
from softlabel.results.text import number

__all__ = ["summary"]

_BASES = {"linear": "straight lines", "spline": "natural splines", "bspline": "B-splines", "formula": "the formula"}


def summary(diagnosis: Diagnosis) -> str:
    """Return a Diagnosis as a page of text."""
    parts = [
        verdict(diagnosis),
        _data(diagnosis),
        effect(diagnosis),
        assumptions(diagnosis),
        _thresholds(diagnosis),
        _confident(diagnosis),
        _notes(diagnosis),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _data(d: Diagnosis) -> str:
    s, settings = d.sample, d.settings
    zeros, ones = s.labelled_by_class
    group = "" if settings.group is None else f", group {settings.group}"
    controls = ", ".join(settings.controls) or "none"
    if settings.weights is not None:
        controls += f"; {settings.weight_type} weights: {settings.weights}"
    if settings.cluster is not None:
        controls += f"; clusters: {settings.cluster} ({s.clusters:,})"
    folds = "nuisances fitted in sample" if s.folds is None else f"{s.folds} folds by {s.folds_by}"
    rows = f"{s.unlabelled:,} unlabelled rows, {s.labelled:,} labelled"
    if settings.group is None:
        rows += " (no group was named)"
    elif s.labelled:
        rows += f" ({ones:,} in the group, {zeros:,} not)"
    if s.dropped:
        rows += f"; {s.dropped:,} of {s.rows:,} left out for missing values"
    roles = f"Outcome {settings.outcome}{group}, score {settings.score}; controls: {controls}."
    made_here = "" if d.scoring is None else wrapped(f"The score was made here: {made(d.scoring)}.")
    lines = ["Data", wrapped(roles), wrapped(f"{rows}; {folds}."), wrapped(_regressions(d)), made_here]
    return "\n".join(line for line in lines if line)


def _regressions(d: Diagnosis) -> str:
    """Say how the controls enter the regressions; nothing where there are none."""
    s, settings = d.sample, d.settings
    if not settings.controls:
        return ""
    if settings.learner is not None:
        several = "; ".join(f"{row.name} {number(row.v_star)}" for row in d.learners)
        others = f" V* with each learner: {several}." if len(d.learners) > 1 else ""
        return f"The controls enter by {settings.learner}, out of fold.{others}"
    count = len(s.columns) - len(s.redundant_controls)
    ridge = f", ridge {number(s.ridge, 2)}" if s.ridge else ""
    return f"The controls enter by {_BASES[settings.basis]}: {count} column{'s' * (count != 1)}{ridge}."


def _thresholds(d: Diagnosis) -> str:
    v = d.v_star
    left = ""
    if v.estimate is not None and v.estimate <= 1e-10 * d.score_variance:
        left = "The controls leave nothing of the score: V* = 0. "
    elif v.estimate is not None and d.score_variance > 0:
        left = (
            f"The controls leave V* = {number(v.estimate)} (std. error {number(v.std_error)}) of the variance of the "
            f"score, {v.estimate / d.score_variance:.0%}. "
        )
    said = (
        f"{left}kappa is the share of the effect that a threshold keeps; it needs no outcome and no label. "
        "hard: the score above t in place of the group; de-attenuated: hard over kappa, which trusts what soft does."
        f"{_least_bad(d)}"
    )
    rows = [
        [
            f"t = {row.threshold:g}",
            f"{row.n_above:,}",
            _with_error(row.kappa, row.std_error),
            _cell(d.estimate("hard", threshold=row.threshold)),
            _cell(d.estimate("deattenuated", threshold=row.threshold)),
        ]
        for row in d.kappa
    ]
    header = ["Threshold", "rows above", "kappa", "hard (aims at kappa x effect)", "de-attenuated"]
    if not rows:
        return "\n".join(["Score", wrapped(said)])
    return "\n".join([*aligned(header, rows), *_reasons(d, "hard"), *_reasons(d, "deattenuated"), wrapped(said)])


def _least_bad(d: Diagnosis) -> str:
    """Name the threshold of least forecast error, where forecasts can be made."""
    best = next((row for row in d.forecast if row.name == "hard" and row.best and row.relative_to_soft), None)
    if best is None or best.relative_to_soft is None or best.relative_to_soft <= 1:
        return ""
    return (
        f" If the score is right, the best of these thresholds is {best.threshold:g}: its mean squared error is then "
        f"{number(best.relative_to_soft, 2)} times that of soft."
    )


def _confident(d: Diagnosis) -> str:
    if not d.kappa_confident.rows:
        return ""
    rows = [
        [
            f"t = {row.threshold:g}",
            f"{row.n_confident:,} ({row.share:.1%})",
            _with_error(row.kappa, row.std_error),
            _cell(d.estimate("confident", threshold=row.threshold)),
        ]
        for row in d.kappa_confident
    ]
    header = ["Confident rows only", "rows kept", "kappa_FM", "confident (aims at kappa_FM x effect)"]
    return "\n".join([*aligned(header, rows), *_reasons(d, "confident")])


def _notes(d: Diagnosis) -> str:
    others = [note for note in d.notes if note.code not in URGENT]
    others += [] if d.scoring is None else d.scoring.notes
    return "\n".join(["Notes", *(wrapped(f"- {note.message}.", hang="  ") for note in others)]) if others else ""


def _reasons(d: Diagnosis, name: str) -> list[str]:
    """Return why estimates of this name are missing, one line a reason; de-attenuated leaves hard's unsaid."""
    known = {(row.threshold, row.reason) for row in d.estimates if row.name == "hard"} if name != "hard" else set()
    why: dict[str, list[str]] = {}
    for row in d.estimates:
        if row.name == name and row.reason is not None and row.form != "moment":
            if name == "deattenuated" and (row.threshold, row.reason) in known:
                continue
            # Reasons that differ in their threshold alone are one line.
            why.setdefault(row.reason.replace(f" {row.threshold:g}", " t"), []).append(f"{row.threshold:g}")
    shown = name.replace("deatt", "de-att")
    return [wrapped(f"{shown} at {', '.join(at)}: not computed, {reason}.") for reason, at in why.items()]


def _cell(row: Estimate) -> str:
    return _with_error(row.estimate, row.std_error)


def _with_error(value: float | None, error: float | None) -> str:
    return "-" if value is None else f"{number(value)} ({number(error, 2)})"
