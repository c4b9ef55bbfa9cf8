"""A Comparison as a page and as a table: estimates in rows, studies in columns."""

from __future__ import annotations

from softlabel.report.layout import aligned, wrapped
from softlabel.report.sheets import Sheet, shown, to_html, to_latex, to_markdown
from softlabel.report.trust import SHOWN, WORDS
from softlabel.results import Compared, ComparedStudy, Comparison
from softlabel.results.text import interval_text, number, percent

__all__ = ["html", "latex", "markdown", "sheet", "summary"]

# So many studies fit beside each other on a page of text.
_ABREAST = 3

Lines = list[tuple[str, ...]]


def markdown(found: Comparison) -> str:
    """Return the comparison as a table in Markdown."""
    return to_markdown(sheet(found))


def latex(found: Comparison) -> str:
    """Return the comparison as a table in LaTeX."""
    return to_latex(sheet(found))


def html(found: Comparison) -> str:
    """Return the comparison as a table in HTML."""
    return to_html(sheet(found))


def summary(found: Comparison) -> str:
    """Return a page: the table, and below it what fails in each study."""
    table = sheet(found)
    lines = [table.title]
    for start in range(1, len(table.header), _ABREAST):
        columns = (0, *range(start, min(start + _ABREAST, len(table.header))))
        rows = [[shown(row[at]) for at in columns] for row in table.rows]
        lines += aligned([table.header[at] for at in columns], rows)
    return "\n".join([*lines, wrapped(table.caption), *map(_bulleted, table.notes)]) + "\n"


def _bulleted(text: str) -> str:
    return wrapped(f"- {text}", hang="  ")


def sheet(found: Comparison) -> Sheet:
    """Return the table."""
    studies = found.studies.rows
    same = {one.outcome for one in studies}
    return Sheet(
        name="comparison",
        title=f"Effect on {studies[0].outcome}" if len(same) == 1 else "Effects",
        caption=(
            "Standard errors in parentheses; of adaptive, which has none, the interval of rectified. "
            "remainder: V*/Var(p), the share of the score that the controls leave."
        ),
        header=("", *(one.study for one in studies)),
        rows=(*_estimated(found), *_said(studies)),
        notes=(*(f"{note.message}." for note in found.notes), *filter(None, map(_failing, studies))),
    )


def _estimated(found: Comparison) -> Lines:
    """Return a line for each estimate of the effect, then for hard at each threshold that some study has."""
    by_study: dict[tuple[str, str, float | None], Compared] = {
        (row.study, row.name, row.threshold): row for row in found.estimates if row.form != "moment"
    }
    studies = [one.study for one in found.studies]
    at = sorted({row.threshold for row in found.estimates if row.name == "hard" and row.threshold is not None})
    lines: Lines = []
    for name, threshold in [*((name, None) for name in SHOWN), *(("hard", t) for t in at)]:
        cells = tuple(_cell(by_study.get((study, name, threshold))) for study in studies)
        if any(cell != "-" for cell in cells):
            lines.append((name if threshold is None else f"hard({threshold:g})", *cells))
    return lines


def _cell(row: Compared | None) -> str:
    if row is None or row.estimate is None:
        return "-"
    if row.std_error is None:
        bounds = None if row.ci_low is None or row.ci_high is None else (row.ci_low, row.ci_high)
        return f"{number(row.estimate)} [{interval_text(bounds)}]"
    return f"{number(row.estimate)} ({number(row.std_error)})"


def _said(studies: tuple[ComparedStudy, ...]) -> Lines:
    """Return lines that are no estimates: verdicts, V*, rows, checks."""
    return [
        ("verdict", *(one.choice or "-" for one in studies)),
        ("its estimate", *(number(one.estimate) for one in studies)),
        ("its interval", *(_interval(one) for one in studies)),
        ("V*", *(_with_error(one) for one in studies)),
        ("remainder", *("-" if one.remainder is None else f"{one.remainder:.0%}" for one in studies)),
        ("labelled rows", *(f"{one.labelled:,}" for one in studies)),
        ("unlabelled rows", *(f"{one.unlabelled:,}" for one in studies)),
        ("checks that fail", *(str(len(one.failed)) for one in studies)),
    ]


def _interval(one: ComparedStudy) -> str:
    if one.ci_low is None or one.ci_high is None:
        return "-"
    return f"{interval_text((one.ci_low, one.ci_high))} ({percent(one.level)})"


def _with_error(one: ComparedStudy) -> str:
    return "-" if one.v_star is None else f"{number(one.v_star)} ({number(one.v_star_error)})"


def _failing(one: ComparedStudy) -> str:
    said = []
    for verb, codes in (("fails", one.failed), ("doubtful", one.doubtful)):
        if codes:
            said.append(f"{verb}: {', '.join(WORDS.get(code, code) for code in codes)}")
    return f"{one.study}: {'; '.join(said)}." if said else ""
