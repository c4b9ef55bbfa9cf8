"""A sheet: a captioned table of words and numbers, as text, Markdown, HTML, CSV and LaTeX.

Numbers are rounded once, here: text, Markdown, HTML and LaTeX show the same digits, CSV has all of them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from softlabel.report.layout import wrapped
from softlabel.results.text import number

__all__ = ["Entry", "Number", "Sheet", "shown", "to_csv", "to_html", "to_latex", "to_markdown", "to_text"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number and what is shown of it; ``None`` is shown as a dash.

    Examples
    --------
    >>> Number.of(0.248652, digits=4).text, Number.of(None).text, Number.fixed(-0.037, decimals=2).text
    ('0.2487', '-', '-0.04')
    """

    value: float | None
    text: str

    @classmethod
    def of(cls, value: float | None, digits: int = 4) -> Number:
        """Return a number shown with so many significant digits."""
        return cls(value, number(value, digits))

    @classmethod
    def fixed(cls, value: float | None, decimals: int) -> Number:
        """Return a number shown with so many decimals."""
        return cls(value, "-" if value is None else f"{value:.{decimals}f}")


Entry = str | Number


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table.

    Attributes
    ----------
    name
        Of its files, and its label in LaTeX.
    title, caption
        A line, and a paragraph.
    header
        Names of the columns.
    rows
        Entries of each row, as many as columns.
    notes
        Sentences below the table.
    """

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()


def shown(entry: Entry) -> str:
    """Return what is shown of an entry."""
    return entry.text if isinstance(entry, Number) else entry


def to_text(sheet: Sheet) -> str:
    """Return the sheet in lines of a page: the first column says once what it says of several rows."""
    body = list(_headed(sheet))
    widths = [max(len(line[at]) for line in body) for at in range(len(sheet.header) - 1)]
    lines = [sheet.title, wrapped(sheet.caption), ""]
    for first, *rest in body:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([*lines, *(wrapped(note, hang="  ") for note in sheet.notes)]) + "\n"


def _headed(sheet: Sheet) -> Iterator[tuple[str, ...]]:
    """Yield lines whose first two columns are one: a heading where the first changes, the second below it."""
    yield ("", *sheet.header[2:])
    before = None
    for row in sheet.rows:
        first, second, *rest = map(shown, row)
        if first != before:
            yield (f"  {first}", *("" for _ in rest))
            before = first
        yield (f"    {second}", *rest)


def to_markdown(sheet: Sheet) -> str:
    r"""Return the sheet in Markdown.

    Examples
    --------
    >>> print(to_markdown(Sheet("t", "T", "Two.", ("a|b", "n"), (("x", Number.of(1.5)),))))
    ### T
    <BLANKLINE>
    Two.
    <BLANKLINE>
    | a\|b | n |
    |---|--:|
    | x | 1.500 |
    <BLANKLINE>
    """
    numeric = _numeric(sheet)
    rule = "|" + "|".join("--:" if at else "---" for at in numeric) + "|"
    lines = [_piped(sheet.header), rule, *(_piped(map(shown, row)) for row in sheet.rows)]
    notes = [f"* {_plain(note)}" for note in sheet.notes]
    head = [f"### {_plain(sheet.title)}", "", _plain(sheet.caption), ""]
    return "\n".join([*head, *lines, *([""] if notes else []), *notes]) + "\n"


def to_csv(sheet: Sheet) -> str:
    r"""Return the rows as CSV, every number with all its digits and empty where there is none.

    Examples
    --------
    >>> to_csv(Sheet("t", "T", "", ("a", "n"), (("x, y", Number.of(1 / 3)), ("z", Number.of(None)))))
    'a,n\n"x, y",0.3333333333333333\nz,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet.header)
    for row in sheet.rows:
        writer.writerow([_digits(entry) for entry in row])
    return text.getvalue()


def to_latex(sheet: Sheet) -> str:
    r"""Return the sheet as a LaTeX table; it wants the package booktabs.

    Examples
    --------
    >>> print(to_latex(Sheet("t", "T", "R & D.", ("n_L", "n"), (("x", Number.of(-1.5)),))))
    \begin{table}
    \centering
    \caption{T. R \& D.}
    \label{tab:t}
    \begin{tabular}{lr}
    \toprule
    n\_L & n \\
    \midrule
    x & $-1.500$ \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    columns = "".join("r" if at else "l" for at in _numeric(sheet))
    caption = _latex(" ".join([f"{sheet.title}.", sheet.caption, *sheet.notes]).strip())
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{sheet.name}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _ampersands(map(_latex, sheet.header)),
            r"\midrule",
            *(_ampersands(map(_in_latex, row)) for row in sheet.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def to_html(sheet: Sheet) -> str:
    r"""Return the sheet as an HTML table, without style; names and values are escaped.

    Examples
    --------
    >>> print(to_html(Sheet("t", "T", "<b>", ("a", "n"), (("x", Number.of(1.5)),))))
    <table id="t">
    <caption>T. &lt;b&gt;</caption>
    <thead>
    <tr><th scope="col">a</th><th scope="col" align="right">n</th></tr>
    </thead>
    <tbody>
    <tr><th scope="row">x</th><td align="right">1.500</td></tr>
    </tbody>
    </table>
    <BLANKLINE>
    """
    right = [' align="right"' if at else "" for at in _numeric(sheet)]
    heads = (f'<th scope="col"{side}>{escape(name)}</th>' for name, side in zip(sheet.header, right, strict=True))
    lines = []
    for first, *rest in sheet.rows:
        cells = (f"<td{side}>{escape(shown(entry))}</td>" for entry, side in zip(rest, right[1:], strict=True))
        lines.append(f'<tr><th scope="row">{escape(shown(first))}</th>{"".join(cells)}</tr>')
    foot = [f"<p>{escape(note)}</p>" for note in sheet.notes]
    caption = f"<caption>{escape(f'{sheet.title}. {sheet.caption}'.strip())}</caption>"
    head = ["<thead>", f"<tr>{''.join(heads)}</tr>", "</thead>"]
    table = [f'<table id="{escape(sheet.name)}">', caption, *head, "<tbody>", *lines, "</tbody>", "</table>"]
    return "\n".join([*table, *foot, ""])


def _numeric(sheet: Sheet) -> list[bool]:
    """Return which columns hold numbers."""
    return [any(isinstance(row[at], Number) for row in sheet.rows) for at in range(len(sheet.header))]


def _piped(cells: Iterable[str]) -> str:
    return "| " + " | ".join(_plain(cell).replace("|", r"\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text of one line in which Markdown sees no tag: names of columns may hold anything."""
    return " ".join(text.splitlines()).replace("<", r"\<")


def _ampersands(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _digits(entry: Entry) -> str:
    if isinstance(entry, Number):
        return "" if entry.value is None else repr(entry.value)
    return entry


def _in_latex(entry: Entry) -> str:
    text = shown(entry)
    # A hyphen is no minus sign, and an exponent is mathematics.
    return f"${text}$" if isinstance(entry, Number) and re.match(r"-\d", text) else _latex(text)


def _latex(text: str) -> str:
    named = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    line = " ".join(text.splitlines())
    return "".join(named.get(each, f"\\{each}" if each in "&%$#_{}" else each) for each in line)
