"""Layout: paragraphs and columns of a page of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

__all__ = ["WIDTH", "aligned", "printable", "wrapped"]

WIDTH = 96


def wrapped(text: str, indent: str = "  ", hang: str = "") -> str:
    """Return a paragraph broken to the width of the page, later lines indented by ``hang`` more."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent + hang)


# Control characters cannot be shown, and a reader should see that something stands there.
_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], "\ufffd") | {ord(each): " " for each in "\n\t\r"}


def printable(text: str) -> str:
    r"""Return text whose control characters are spaces or a sign that something cannot be shown.

    Examples
    --------
    >>> printable("a\tb\x01")
    'a b�'
    """
    return text.translate(_CONTROLS)


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a header and its rows in columns, the first to the left; rows are indented below the header."""
    lines = [header, *(["  " + row[0], *row[1:]] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    gap = "   " if sum(widths) + 3 * len(widths[1:]) <= WIDTH else " "  # numbers with exponents are wide
    for line in lines:
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        yield gap.join([line[0].ljust(widths[0]), *rest]).rstrip()
