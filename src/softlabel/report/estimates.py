"""The estimates of a Diagnosis as a table for a paper, and a Diagnosis in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from html import escape

from softlabel.errors import InputError, did_you_mean
from softlabel.report.sheets import Number, Sheet, to_html, to_latex, to_markdown
from softlabel.report.tidy import term
from softlabel.report.trust import SHOWN
from softlabel.results import Diagnosis, Estimate
from softlabel.results.text import interval_text, number, percent, whole

__all__ = ["html", "latex", "markdown", "notebook", "rows_named", "sheet"]


def markdown(d: Diagnosis, names: Iterable[str] | None = None) -> str:
    """Return the estimates as a table in Markdown."""
    return to_markdown(sheet(d, names))


def latex(d: Diagnosis, names: Iterable[str] | None = None) -> str:
    """Return the estimates as a table in LaTeX."""
    return to_latex(sheet(d, names))


def html(d: Diagnosis, names: Iterable[str] | None = None) -> str:
    """Return the estimates as a table in HTML."""
    return to_html(sheet(d, names))


def notebook(d: Diagnosis) -> str:
    """Return the verdict, what fails, and the estimates, in HTML."""
    failing = dict.fromkeys(one.title for one in d.checks if one.outcome == "fail")
    said = [d.verdict.sentence, *([f"Fails: {'; '.join(failing)}."] if failing else [])]
    table = sheet(d)
    # The verdict is the first of the notes.
    return "\n".join([*(f"<p>{escape(each)}</p>" for each in said), to_html(replace(table, notes=table.notes[1:]))])


def sheet(d: Diagnosis, names: Iterable[str] | None = None) -> Sheet:
    """Return the estimates of these names, or of the effect itself, with intervals and what each is worth."""
    s = d.settings
    worth = {(row.name, row.threshold): row.labels for row in d.label_equivalents}
    rows = [
        (
            term(row),
            Number.of(row.estimate, 3),
            Number.of(row.std_error, 3),
            interval_text(row.interval),
            _count(row.n),
            _count(worth.get((row.name, row.threshold))),
        )
        for row in rows_named(d, names)
    ]
    controls = f"given {', '.join(s.controls)}" if s.controls else "without controls"
    group = f"the group {s.group}" if s.group is not None else "the group"
    return Sheet(
        name="estimates",
        title=f"Effect of {group} on {s.outcome}",
        caption=(
            f"{controls[0].upper()}{controls[1:]}; {d.sample.labelled:,} labelled and {d.sample.unlabelled:,} "
            f"unlabelled rows; score {s.score}; V* {number(d.v_star.estimate)}."
        ),
        header=("", "estimate", "std. error", f"{percent(s.level)} interval", "rows", "worth labelled rows"),
        rows=tuple(rows),
        notes=tuple(_notes(d, rows_named(d, names))),
    )


def _notes(d: Diagnosis, rows: Iterable[Estimate]) -> Iterable[str]:
    rows = list(rows)
    yield d.verdict.sentence
    if any(row.name == "adaptive" and row.estimate is not None for row in rows):
        yield "The interval of adaptive is that of rectified."
    if any(row.name in ("hard", "confident") for row in rows):
        yield "hard and confident estimate the effect times kappa."
    why: dict[str, list[str]] = {}
    for row in rows:
        if row.estimate is None and row.reason is not None:
            why.setdefault(row.reason, []).append(term(row))
    yield from (f"{', '.join(terms)}: not computed, {reason}." for reason, terms in why.items())


def _count(value: float | None) -> Number:
    return Number(value, "-" if value is None else whole(value))


def rows_named(d: Diagnosis, names: Iterable[str] | None) -> list[Estimate]:
    """Return the estimates of these names, in this order and in their default form, or those of the effect itself."""
    known = list(dict.fromkeys(row.name for row in d.estimates))
    if names is None:
        chosen = [name for name in SHOWN if name in known]
    else:
        chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in known:
            raise InputError(expected="names of estimators", found=repr(name), fix=did_you_mean(str(name), known))
    return [row for name in chosen for row in d.estimates if row.name == name and row.form != "moment"]
