"""The summary: one page of text, verdict first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from softlabel.results import Diagnosis, Estimate
from softlabel.results.text import interval_text, number, percent

__all__ = ["WIDTH", "summary", "wrapped"]

WIDTH = 96
_BASES = {"linear": "straight lines", "spline": "natural splines", "bspline": "B-splines", "formula": "the formula"}
_RULES = {"paper": "Algorithm 1 of Kurbucz, 2026"}
# Notes that bear on the verdict stand beside it.
_URGENT = ("estimates.differ", "score.reversed", "score.hard")
_STARRED = (
    "* if the score is calibrated given the controls, the controls act {how}, and what the classifier saw "
    "matters for the outcome only through the group."
)
_HOW = {
    "linear": "linearly",
    "spline": "as smooth curves that add up",
    "bspline": "as smooth curves that add up",
    "formula": "as the formula says",
}


def summary(diagnosis: Diagnosis) -> str:
    """Return a Diagnosis as a page of text."""
    parts = [
        _verdict(diagnosis),
        _data(diagnosis),
        _effect(diagnosis),
        _thresholds(diagnosis),
        _confident(diagnosis),
        _notes(diagnosis),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def wrapped(text: str, indent: str = "  ", hang: str = "") -> str:
    """Return a paragraph broken to the width of the page, later lines indented by ``hang`` more."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent + hang)


def _verdict(d: Diagnosis) -> str:
    lines = [f"Verdict ({_RULES[d.verdict.rule]})"]
    if not d.sample.labelled:
        lines.append(wrapped("No labelled rows: calibration and exclusion are taken on trust."))
    lines.append(wrapped(f"{d.verdict.sentence} This rule compares precision only: it cannot see bias."))
    lines += [wrapped(f"! {note.message}.", hang="  ") for note in d.notes if note.code in _URGENT]
    return "\n".join(lines)


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
    lines = ["Data", wrapped(roles), wrapped(f"{rows}; {folds}."), wrapped(_regressions(d))]
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


def _how(d: Diagnosis) -> str:
    """Say what an estimate assumes of the controls."""
    return f"in ways that {d.settings.learner} can learn" if d.settings.learner is not None else _HOW[d.settings.basis]


def _effect(d: Diagnosis) -> str:
    worth = {row.name: row.labels for row in d.label_equivalents if row.threshold is None}
    header = ["Effect", "estimate", "std. error", f"{percent(d.settings.level)} interval", "worth labelled rows"]
    chosen = [d.estimate("supervised"), d.estimate("soft")]
    rows = [
        [
            row.name + (" *" if row.name == "soft" else ""),
            number(row.estimate),
            number(row.std_error),
            interval_text(row.interval),
            _whole(row.n if row.name == "supervised" else worth.get(row.name)),
        ]
        for row in chosen
        if row.reason is None
    ]
    missing = [wrapped(f"{row.name}: not computed, {row.reason}.") for row in chosen if row.reason]
    meaning = {
        "supervised": "supervised: the labelled rows alone.",
        "soft": "soft: the score in place of the group.",
    }
    said = " ".join(meaning[row.name] for row in chosen if row.reason is None)
    return "\n".join(
        [
            *_aligned(header, rows),
            *missing,
            *([wrapped(said)] if said else []),
            wrapped(_STARRED.format(how=_how(d))),
        ]
    )


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
        "hard: the score above t in place of the group; de-attenuated: hard over kappa."
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
    header = ["Threshold", "rows above", "kappa", "hard (aims at kappa x effect)", "de-attenuated *"]
    if not rows:
        return "\n".join(["Score", wrapped(said)])
    return "\n".join([*_aligned(header, rows), *_reasons(d, "hard"), *_reasons(d, "deattenuated"), wrapped(said)])


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
    return "\n".join([*_aligned(header, rows), *_reasons(d, "confident")])


def _notes(d: Diagnosis) -> str:
    others = [note for note in d.notes if note.code not in _URGENT]
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


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _cell(row: Estimate) -> str:
    return _with_error(row.estimate, row.std_error)


def _with_error(value: float | None, error: float | None) -> str:
    return "-" if value is None else f"{number(value)} ({number(error, 2)})"


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a header and its rows in columns, the first to the left; rows are indented below the header."""
    lines = [header, *(["  " + row[0], *row[1:]] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    gap = "   " if sum(widths) + 3 * len(widths[1:]) <= WIDTH else " "  # numbers with exponents are wide
    for line in lines:
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        yield gap.join([line[0].ljust(widths[0]), *rest]).rstrip()
