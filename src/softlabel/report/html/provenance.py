"""Sections of the page about where the numbers come from: rows, score, settings, versions, words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from softlabel.report.html.elements import Markup, listed, paragraph, section, table, term, text
from softlabel.report.html.glossary import GLOSSARY
from softlabel.report.scored import made
from softlabel.report.trust import URGENT
from softlabel.results import Diagnosis, ScoreReport
from softlabel.results.text import number

__all__ = ["glossary", "notes", "reproduction", "sample", "scoring"]


def sample(d: Diagnosis) -> Markup:
    """Return which rows came, which were left out and why, and how those that stayed were used."""
    s = d.sample
    zeros, ones = s.labelled_by_class
    rows: list[list[object]] = [
        ["rows in", f"{s.rows:,}", text(s.source)],
        ["left out: values missing", f"{s.dropped:,}", _missing(d)],
        ["left out: weight of zero", f"{s.weightless:,}", "" if d.settings.weights else "no weights were named"],
        ["used", f"{s.used:,}", "rows, or their copies where weights are frequencies"],
        ["unlabelled", f"{s.unlabelled:,}", "seen through the score alone"],
        ["labelled", f"{s.labelled:,}", _labelled(d, zeros, ones)],
        ["of these may audit the score", _audits(d), term("audit", "whose label did not help to make the score")],
    ]
    if s.clusters is not None:
        counted = "" if s.clusters_labelled is None else f"; labelled rows fall into {s.clusters_labelled:,}"
        rows.append(["clusters of unlabelled rows", f"{s.clusters:,}", f"by {d.settings.cluster}{counted}"])
    folds = "regressions fitted in sample" if s.folds is None else f"dealt by {s.folds_by}"
    rows.append([term("folds"), "-" if s.folds is None else f"{s.folds}", folds])
    rows.append(["distinct rows, about", f"{s.n_effective:,.0f}", "n²/Σm², m the copies of a row"])
    return section(
        "rows",
        "Rows",
        table("Rows in, rows used, and why not the others", ["rows", "count", "which"], rows, words=(2,), stacked=True),
    )


def _missing(d: Diagnosis) -> str:
    told = ", ".join(f"{column.value:,} in {column.name}" for column in d.sample.missing if column.value)
    return f"values missing: {told}" if told else "no value was missing"


def _labelled(d: Diagnosis, zeros: int, ones: int) -> str:
    if d.settings.group is None:
        return "no group was named"
    return f"{ones:,} in the group, {zeros:,} not" if d.sample.labelled else "none is labelled"


def _audits(d: Diagnosis) -> str:
    return f"{d.audits.rows[0].n:,}" if len(d.audits) else "0"


def scoring(d: Diagnosis) -> Markup:
    """Return how the score was made, where it was made of features; that it was given, where not."""
    report = d.scoring
    if report is None:
        told = f"The score was given, in {d.settings.score}; how it was made is not known here."
        return section("scoring", "How the score was made", paragraph(told))
    said = made(report)
    zeros, ones = report.labelled_by_class
    counts = (
        f"{report.labelled:,} labelled rows ({ones:,} in the group, {zeros:,} not) trained it, {report.unlabelled:,} "
        f"unlabelled rows were scored, {report.audit:,} labelled rows may audit it."
    )
    gaps = ", ".join(f"{column.value:,} in {column.name}" for column in report.missing if column.value)
    return section(
        "scoring",
        "How the score was made",
        paragraph(f"{said[:1].upper()}{said[1:]}.", counts, f"Filled gaps: {gaps}." if gaps else ""),
        _metrics(report),
        listed([f"{note.message}." for note in report.notes], kind="warnings"),
    )


def _metrics(report: ScoreReport) -> Markup:
    rows = [
        [
            row.score,
            f"{row.n:,}",
            number(row.auc),
            number(row.brier),
            number(row.log_loss),
            number(row.mean_score),
            number(row.mean_group),
            f"{number(row.slope)} ({number(row.slope_error, 2)})",
        ]
        for row in report.metrics
    ]
    header = ["score", "rows", "AUC", "Brier", "log loss", "mean score", "mean group", "slope (error): 1 if calibrated"]
    caption = "On labelled rows, each scored by models that have not seen it"
    return table(caption, header, rows) if rows else Markup("")


def reproduction(d: Diagnosis) -> Markup:
    """Return what was asked and what it ran on, enough to see the same numbers again."""
    asked = [[_words(field.name), _value(getattr(d.settings, field.name))] for field in fields(d.settings)]
    ran: list[list[object]] = [
        ["source", d.sample.source],
        [term("fingerprint"), d.sample.fingerprint],
        ["design columns", ", ".join(d.sample.columns) or "none"],
        ["redundant, left out", ", ".join(d.sample.redundant_controls) or "none"],
        ["ridge", number(d.sample.ridge)],
    ]
    ran += [[_words(name), version] for name, version in d.sample.versions]
    return section(
        "reproduce",
        "To see the same numbers again",
        paragraph("The same rows, settings and versions give the same numbers; the seed deals rows to folds."),
        Markup('<div class="figures">'),
        table("Settings", ["setting", "value"], asked, words=(1,)),
        table("Data and versions", ["what", "value"], ran, words=(1,)),
        Markup("</div>"),
        Markup('<p><button type="button" id="save" hidden>Save every number as JSON</button></p>'),
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _value(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return ", ".join(map(_value, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def notes(d: Diagnosis) -> Markup:
    """Return the notes that do not stand beside the verdict; nothing without any."""
    told = [f"{note.message}." for note in d.notes if note.code not in URGENT]
    return section("notes", "Notes", listed(told)) if told else Markup("")


def glossary() -> Markup:
    """Return every word with its meaning."""
    return section("words", "What the words mean", Markup(f"<dl>{''.join(_entries())}</dl>"))


def _entries() -> Iterator[str]:
    for key, (word, meaning) in GLOSSARY.items():
        yield f'<div id="word-{key}"><dt>{text(word)}</dt><dd id="meaning-{key}">{text(meaning)}</dd></div>'
