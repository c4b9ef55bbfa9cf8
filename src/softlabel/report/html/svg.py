"""SVG: a drawing as markup whose colours the page decides, for light and dark, and whose words a reader may select."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from softlabel.report.figures.marks import LOOKS, Band, Drawing, Mark, Panel, Points, Rule, Steps, Words
from softlabel.report.figures.ticks import ticks
from softlabel.report.layout import printable
from softlabel.report.style import WIDTH, Style

__all__ = ["svg"]

# A hundred units to the inch, so that type of 10 units is the 7 points of the printed figure.
_INCH, _TYPE, _LETTER = 100.0, 10.0, 5.4
_WIDE = _INCH * WIDTH
_LINE, _GAP = 14.0, 8.0
_DASHES = {"--": "5 3", ":": "1.5 2.5", "-.": "6 2.5 1.5 2.5"}
_SIZE = 3.2
_SHAPES: dict[str, str] = {
    "o": "M-{s} 0a{s} {s} 0 1 0 {d} 0a{s} {s} 0 1 0 -{d} 0z",
    "s": "M-{s} -{s}h{d}v{d}h-{d}z",
    "D": "M0 -{b}L{b} 0L0 {b}L-{b} 0z",
    "^": "M0 -{b}L{b} {s}L-{b} {s}z",
    "v": "M0 {b}L{b} -{s}L-{b} -{s}z",
    "x": "M-{s} -{s}L{s} {s}M-{s} {s}L{s} -{s}",
    "|": "M0 -{b}V{b}",
}


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a panel's data go: pixels of its left, top, width and height, and its limits and scales."""

    panel: Panel
    left: float
    top: float
    width: float
    height: float

    def x(self, value: float) -> float:
        return self.left + self.width * _share(value, self.panel.x_limits, self.panel.x_scale)

    def y(self, value: float) -> float:
        return self.top + self.height * (1 - _share(value, self.panel.y_limits, self.panel.y_scale))


def _share(value: float, ends: tuple[float, float], scale: str) -> float:
    low, high = ends
    if scale == "log":
        # What is not above zero lies below every frame.
        value, low, high = (math.log10(max(each, 1e-300)) for each in (value, low, high))
    # Far beyond the frame is as good as beyond it, and a number a browser can read.
    return min(max((value - low) / (high - low), -9.0), 10.0)


def svg(drawing: Drawing) -> str:
    """Return a drawing as one element; its title and caption are for the page to give."""
    parts: list[str] = []
    top = 4.0
    for row_at, (row, height) in enumerate(zip(drawing.rows, drawing.heights, strict=True)):
        each = (_WIDE - _GAP * (len(row) - 1)) / len(row)
        for at, panel in enumerate(row):
            place = f"{drawing.name}-{row_at}-{at}"
            frame = _frame(panel, at * (each + _GAP), top, each, height * _INCH)
            parts += _panel(frame, place, at * (each + _GAP), top, each, height * _INCH)
        top += height * _INCH + _GAP
    legend, used = _legend(drawing, top)
    inside = "".join([*parts, *legend])
    # The caption beside it says the same in words; a browser's own reading of dozens of labels would help nobody.
    return (
        f'<svg viewBox="0 0 {_WIDE:g} {top + used:.1f}" role="img" aria-labelledby="figure-{drawing.name}">'
        f"{inside}</svg>"
    )


def _frame(panel: Panel, left: float, top: float, width: float, height: float) -> _Frame:
    labels = [name for _, name, _ in panel.names] or [f"{tick:g}" for tick in _y_ticks(panel)]
    margin = max((len(label) for label in labels), default=0) * _LETTER + 8 + (_LINE if panel.y_label else 0)
    above = _LINE if panel.title else 4.0
    return _Frame(panel, left + margin, top + above, width - margin - 6, height - above - 2 * _LINE - 3)


def _y_ticks(panel: Panel) -> list[float]:
    return ticks(*panel.y_limits, panel.y_scale)


def _panel(frame: _Frame, place: str, left: float, top: float, width: float, height: float) -> Iterator[str]:
    panel = frame.panel
    right, bottom = frame.left + frame.width, frame.top + frame.height
    yield (
        f'<clipPath id="clip-{place}"><rect x="{frame.left:.1f}" y="{frame.top:.1f}" width="{frame.width:.1f}" '
        f'height="{frame.height:.1f}"/></clipPath>'
    )
    for tick in _apart(ticks(*panel.x_limits, panel.x_scale), frame):
        x, half = frame.x(tick), len(f"{tick:g}") * _LETTER / 2
        yield f'<path class="grid" d="M{x:.1f} {frame.top:.1f}V{bottom:.1f}"/>'
        yield _text(min(x, left + width - half), bottom + _LINE - 1, f"{tick:g}", "middle")
    if panel.names:
        for y, name, bold in panel.names:
            yield _text(frame.left - 5, frame.y(y) + 3.5, name, "end", "bold" if bold else "")
    else:
        for tick in _y_ticks(panel):
            y = frame.y(tick)
            yield f'<path class="grid" d="M{frame.left:.1f} {y:.1f}H{right:.1f}"/>'
            yield _text(frame.left - 5, y + 3.5, f"{tick:g}", "end")
    yield f'<g clip-path="url(#clip-{place})">'
    for mark in panel.marks:
        yield from _MARKS[type(mark)](frame, mark)
    if panel.slider:
        ends = f'data-low="{panel.x_limits[0]!r}" data-high="{panel.x_limits[1]!r}"'
        pixels = f'data-left="{frame.left:.1f}" data-width="{frame.width:.1f}"'
        line = f'd="M0 {frame.top:.1f}V{bottom:.1f}"'
        yield f'<path class="pointer" data-slider="{panel.slider}" {ends} {pixels} {line}/>'
    yield "</g>"
    yield f'<path class="axis" d="M{frame.left:.1f} {frame.top:.1f}V{bottom:.1f}H{right:.1f}"/>'
    # A long label stays inside the figure rather than centred below its axis.
    half = len(panel.x_label) * _LETTER / 2
    middle = min(max(frame.left + frame.width / 2, left + half), left + width - half)
    yield _text(middle, top + height - 4, panel.x_label, "middle")
    if panel.y_label:
        x, y = left + _TYPE, frame.top + frame.height / 2
        yield _text(x, y, panel.y_label, "middle", turned=True)
    if panel.title:
        yield _text(frame.left, top + _LINE - 4, panel.title, "start", "bold")


def _apart(places: list[float], frame: _Frame) -> list[float]:
    """Return as many ticks as have room for their numbers."""
    widest = max((len(f"{place:g}") for place in places), default=1) * _LETTER + 6
    for step in range(1, len(places) + 1):
        kept = places[::step]
        if all(frame.x(b) - frame.x(a) >= widest for a, b in pairwise(kept)):
            return kept
    return places[:1]


def _text(x: float, y: float, text: str, anchor: str, kind: str = "", *, turned: bool = False) -> str:
    style = f' class="{kind}"' if kind else ""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}{turn}>{escape(printable(text))}</text>'


def _points(frame: _Frame, mark: Points) -> Iterator[str]:
    style = LOOKS[mark.look]
    at = [(frame.x(x), frame.y(y)) for x, y in zip(mark.x, mark.y, strict=True)]
    if mark.joined and len(at) > 1:
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
        yield f'<path class="line {style.colour}{" wide" if mark.wide else ""}"{_dash(style)} d="{path}"/>'
    reaches = [f"M{frame.x(low):.1f} {y:.1f}H{frame.x(high):.1f}" for (low, high), (_, y) in _with(mark.x_reach, at)]
    reaches += [f"M{x:.1f} {frame.y(low):.1f}V{frame.y(high):.1f}" for (low, high), (x, _) in _with(mark.y_reach, at)]
    if reaches:
        yield f'<path class="line {style.colour}" d="{"".join(reaches)}"/>'
    if mark.marked and style.marker:
        yield f'<g class="{_filling(style)}">{"".join(_marker(style, x, y) for x, y in at)}</g>'


def _with(
    reaches: tuple[tuple[float, float], ...], at: list[tuple[float, float]]
) -> Iterable[tuple[tuple[float, float], tuple[float, float]]]:
    return zip(reaches, at, strict=True) if reaches else ()


def _dash(style: Style) -> str:
    dashes = _DASHES.get(style.line)
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _filling(style: Style) -> str:
    return f"dot {style.colour}" if style.filled and style.marker not in "x|" else f"ring {style.colour}"


def _marker(style: Style, x: float, y: float) -> str:
    shape = _SHAPES[style.marker].format(s=_SIZE, d=2 * _SIZE, b=1.35 * _SIZE)
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shape}"/>'


def _band(frame: _Frame, mark: Band) -> Iterator[str]:
    there = [f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in zip(mark.x, mark.low, strict=True)]
    back = [f"{frame.x(x):.1f} {frame.y(y):.1f}" for x, y in zip(mark.x, mark.high, strict=True)][::-1]
    yield f'<path class="{_shade(mark)}" d="M{"L".join(there + back)}z"/>'


def _shade(mark: Band) -> str:
    return f"{'shade' if mark.strong else 'faint'} {LOOKS[mark.look].colour}"


def _steps(frame: _Frame, mark: Steps) -> Iterator[str]:
    colour = LOOKS[mark.look].colour
    bottom = frame.top + frame.height
    path = [f"M{frame.x(mark.edges[0]):.1f} {bottom:.1f}"]
    path += [
        f"V{min(frame.y(height), bottom + 2):.1f}H{frame.x(edge):.1f}"
        for edge, height in zip(mark.edges[1:], mark.heights, strict=True)
    ]
    path.append(f"V{bottom:.1f}")
    yield f'<path class="{"shade" if mark.filled else "line"} {colour}" d="{"".join(path)}"/>'


def _rule(frame: _Frame, mark: Rule) -> Iterator[str]:
    style = LOOKS[mark.look]
    if mark.axis == "x":
        path = f"M{frame.x(mark.at):.1f} {frame.top:.1f}V{frame.top + frame.height:.1f}"
    else:
        path = f"M{frame.left:.1f} {frame.y(mark.at):.1f}H{frame.left + frame.width:.1f}"
    yield f'<path class="line {style.colour}"{_dash(style)} d="{path}"/>'


def _words(frame: _Frame, mark: Words) -> Iterator[str]:
    anchor = {"left": "start", "center": "middle", "right": "end"}[mark.align]
    yield _text(frame.x(mark.x), frame.y(mark.y) + 3.5, mark.text, anchor)


_MARKS: dict[type, Callable[..., Iterator[str]]] = {
    Points: _points,
    Band: _band,
    Steps: _steps,
    Rule: _rule,
    Words: _words,
}


def _legend(drawing: Drawing, top: float) -> tuple[list[str], float]:
    """Return every label once, in as many lines as they take, and the height of these."""
    marks: dict[str, Mark] = {}
    for panel in (panel for row in drawing.rows for panel in row):
        for mark in panel.marks:
            if not isinstance(mark, Words) and mark.label:
                marks.setdefault(mark.label, mark)
    parts, x, line = [], 4.0, 0
    for label, mark in marks.items():
        wide = 26 + len(label) * _LETTER + 10
        if x > 4 and x + wide > _WIDE:
            x, line = 4.0, line + 1
        y = top + 8 + line * _LINE
        parts += [*_key(mark, x, y), _text(x + 26, y + 3.5, label, "start")]
        x += wide
    return parts, (line + 1) * _LINE + 4 if marks else 0.0


def _key(mark: Mark, x: float, y: float) -> Iterator[str]:
    assert not isinstance(mark, Words)  # noqa: S101  (words have no label)
    style = LOOKS[mark.look]
    if isinstance(mark, Band) or (isinstance(mark, Steps) and mark.filled):
        kind = _shade(mark) if isinstance(mark, Band) else f"shade {style.colour}"
        yield f'<rect class="{kind}" x="{x:.1f}" y="{y - 4:.1f}" width="20" height="8"/>'
        return
    has_line = not isinstance(mark, Points) or mark.joined or mark.x_reach or mark.y_reach
    if has_line:
        dash = _dash(style) if not isinstance(mark, Points) or mark.joined else ""
        wide = " wide" if isinstance(mark, Points) and mark.wide else ""
        yield f'<path class="line {style.colour}{wide}"{dash} d="M{x:.1f} {y:.1f}h20"/>'
    if isinstance(mark, Points) and mark.marked and style.marker:
        yield f'<g class="{_filling(style)}">{_marker(style, x + 10, y)}</g>'
