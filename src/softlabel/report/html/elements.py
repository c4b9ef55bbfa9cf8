"""Elements: markup in small pieces. Whatever comes from the data passes `text`, and is text."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

from softlabel.report.html.glossary import GLOSSARY
from softlabel.report.layout import printable
from softlabel.results import Table
from softlabel.results.text import number

__all__ = ["Markup", "data_block", "details", "listed", "paragraph", "records", "section", "table", "term", "text"]


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Return a value as markup that shows it, whatever is in it.

    Examples
    --------
    >>> text('<script>"a" & b'), text(Markup("<b>2</b>"))
    ('&lt;script&gt;&quot;a&quot; &amp; b', '<b>2</b>')
    """
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(printable(str(value))))


def data_block(name: str, value: Any) -> Markup:
    r"""Return JSON as a block that no browser runs, and that nothing in it can end.

    Examples
    --------
    >>> data_block("data", {"a": "</script>"})
    '<script type="application/json" id="data">{"a":"\\u003c/script\\u003e"}</script>'
    """
    written = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), allow_nan=False)
    for each in "<>&\u2028\u2029":
        written = written.replace(each, f"\\u{ord(each):04x}")
    return Markup(f'<script type="application/json" id="{name}">{written}</script>')


def paragraph(*sentences: object, kind: str = "") -> Markup:
    """Return a paragraph."""
    inside = " ".join(text(one) for one in sentences if one)
    return Markup(f"<p{_class(kind)}>{inside}</p>") if inside else Markup("")


def listed(items: Iterable[object], kind: str = "") -> Markup:
    """Return a list; nothing without items."""
    rows = "".join(f"<li>{text(item)}</li>" for item in items)
    return Markup(f"<ul{_class(kind)}>{rows}</ul>") if rows else Markup("")


def section(name: str, title: object, *parts: str) -> Markup:
    """Return a section under a heading, to which the page's contents can lead."""
    return Markup(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(title)}</h2>'
        f"{''.join(parts)}</section>"
    )


def details(summary: object, *parts: str) -> Markup:
    """Return parts that are folded away until they are asked for."""
    return Markup(f"<details><summary>{text(summary)}</summary>{''.join(parts)}</details>")


def table(
    caption: object,
    header: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    name: str = "",
    words: Sequence[int] = (),
    stacked: bool = False,
) -> Markup:
    """Return a table whose first column names its rows; columns in ``words`` hold sentences, the others numbers.

    A table is scrolled where the screen is too narrow for it, by the keyboard too; a ``stacked`` one is turned into one
    block for each row instead. What it is is then said by roles: browsers forget it with the layout.
    """
    if stacked:
        return _stacked(caption, header, rows, words)
    head = "".join(f'<th scope="col"{_wordy(at, words)}>{text(cell)}</th>' for at, cell in enumerate(header))
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>'
        + "".join(f"<td{_wordy(at, words)}>{text(cell)}</td>" for at, cell in enumerate(rest, start=1))
        + "</tr>"
        for first, *rest in rows
    )
    identity = f' id="{name}"' if name else ""
    label = html.escape(_plain(text(caption)))
    return Markup(
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table{identity}>'
        f"<caption><span>{text(caption)}</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _stacked(
    caption: object, header: Sequence[object], rows: Iterable[Sequence[object]], words: Sequence[int]
) -> Markup:
    named = [text(cell) for cell in header]
    labels = [html.escape(_plain(cell)) for cell in named]
    head = "".join(
        f'<th scope="col" role="columnheader"{_wordy(at, words)}>{cell}</th>' for at, cell in enumerate(named)
    )
    body = "".join(
        f'<tr role="row"><th scope="row" role="rowheader">{text(first)}</th>'
        + "".join(
            f'<td role="cell"{_class(_kinds(at, words, cell))} data-label="{labels[at]}">{text(cell)}</td>'
            for at, cell in enumerate(rest, start=1)
        )
        + "</tr>"
        for first, *rest in rows
    )
    return Markup(
        f'<table class="stacked" role="table"><caption><span>{text(caption)}</span></caption>'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table>'
    )


def records(caption: str, rows: Table[Any]) -> Markup:
    """Return the records of a table with a column for each field that any of them has; nothing without records."""
    columns = [name for name in rows.columns if any(value is not None for value in rows[name])]
    if not columns:
        return Markup("")
    words = [at for at, name in enumerate(columns) if any(isinstance(value, str) for value in rows[name])]
    cells = ([_shown(getattr(row, name)) for name in columns] for row in rows)
    return table(caption, [name.replace("_", " ") for name in columns], cells, words=words)


def term(name: str, shown: object | None = None) -> Markup:
    """Return a word that tells what it means when pointed at or focused, and leads to the glossary."""
    word, meaning = GLOSSARY[name]
    inside = text(word if shown is None else shown)
    return Markup(
        f'<a class="term" href="#word-{name}" aria-describedby="meaning-{name}" data-meaning="{text(meaning)}">'
        f"{inside}</a>"
    )


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return number(value) if isinstance(value, float) else str(value)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _wordy(at: int, words: Sequence[int]) -> str:
    return ' class="words"' if at in words else ""


def _kinds(at: int, words: Sequence[int], cell: object) -> str:
    """Return the classes of a cell: of words, empty."""
    return " ".join(kind for kind, holds in (("words", at in words), ("empty", cell in {"", "-"})) if holds)


def _plain(markup: str) -> str:
    """Return the text of markup: what lies outside of its tags."""
    outside = [piece.rpartition(">")[2] for piece in markup.split("<")]
    return html.unescape("".join(outside))
