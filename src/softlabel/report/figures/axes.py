"""Axes: a drawing by matplotlib, which is imported here and left as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from softlabel.report.figures.marks import LOOKS, Band, Drawing, Panel, Points, Rule, Steps, Words
from softlabel.report.figures.ticks import ticks
from softlabel.report.style import COLOURS, SMALL, WIDTH, require_matplotlib, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

_FAINT, _STRONG = 0.15, 0.35


def draw(drawing: Drawing, ax: Axes | None = None) -> Axes:
    """Draw every panel in a new figure and return the first one's axes; or the first panel into ``ax``."""
    require_matplotlib()
    with settings(drawing.name):
        if ax is not None:
            panel = drawing.rows[0][0] if drawing.rows else None
            _fill(ax, panel, drawing)
            _legend(ax, [ax], own=True)
            return ax
        return _figure(drawing)


def _figure(drawing: Drawing) -> Axes:
    # By pyplot, so that a notebook shows the figure and plt.show() finds it.
    from matplotlib import pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights = drawing.heights or (1.0,)
    labels = {label for row in drawing.rows for panel in row for label in _labels(panel)}
    height = sum(heights) + 0.16 * len(labels) + 0.05
    figure = plt.figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.03))
    figure.set_label(drawing.title)
    outer = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    made = []
    rows: Sequence[Sequence[Panel | None]] = drawing.rows or [[None]]
    for at, row in enumerate(rows):
        inner = outer[at].subgridspec(1, len(row))
        for column, panel in enumerate(row):
            axes = figure.add_subplot(inner[column])
            _fill(axes, panel, drawing)
            made.append(axes)
    _legend(figure, made, own=False)
    return made[0]


def _labels(panel: Panel) -> list[str]:
    return [mark.label for mark in panel.marks if not isinstance(mark, Words) and mark.label]


def _legend(where: Any, made: list[Axes], *, own: bool) -> None:
    """Put every label once, below the panels or where there is room in the one."""
    found: dict[str, Any] = {}
    for axes in made:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if not found:
        return
    short = max(map(len, found)) < 24 and len(found) > 1
    if own:
        where.legend(found.values(), found.keys(), frameon=False)
    else:
        where.legend(
            found.values(), found.keys(), loc="outside lower center", ncols=2 if short else 1, frameon=False,
            handlelength=2.6,
        )  # fmt: skip


def _fill(axes: Axes, panel: Panel | None, drawing: Drawing) -> None:
    if panel is None:
        axes.set_axis_off()
        axes.text(0.5, 0.5, _plain(drawing.reason), ha="center", va="center", wrap=True, transform=axes.transAxes)
        return
    axes.set(xlabel=_plain(panel.x_label), ylabel=_plain(panel.y_label), xscale=panel.x_scale, yscale=panel.y_scale)
    if panel.title:
        axes.set_title(_plain(panel.title), loc="left")
    axes.set_xlim(*panel.x_limits)
    axes.set_ylim(*panel.y_limits)
    _tick(axes.xaxis, panel.x_limits, panel.x_scale)
    if panel.names:
        axes.set_yticks([y for y, _, _ in panel.names], [_plain(name) for _, name, _ in panel.names])
        for text, (_, _, bold) in zip(axes.get_yticklabels(), panel.names, strict=True):
            text.set_fontweight("bold" if bold else "normal")
    else:
        _tick(axes.yaxis, panel.y_limits, panel.y_scale)
    axes.grid(visible=True, which="major", axis="x" if panel.names else "both", linewidth=0.3, color="#cccccc")
    axes.set_axisbelow(True)
    for mark in panel.marks:
        _MARKS[type(mark)](axes, mark)


def _plain(text: str) -> str:
    """Return text in which a dollar is a dollar: between two of them matplotlib reads mathematics."""
    return text.replace("$", r"\$")


def _tick(axis: Any, ends: tuple[float, float], scale: str) -> None:
    places = ticks(*ends, scale)
    if places:
        axis.set_ticks(places, labels=[f"{place:g}" for place in places])
        axis.set_ticks([], minor=True)


def _points(axes: Axes, mark: Points) -> None:
    style = LOOKS[mark.look]
    colour = COLOURS[style.colour]
    ends = []
    for reach, at in ((mark.x_reach, mark.x), (mark.y_reach, mark.y)):
        # matplotlib takes lengths, and none of them below zero by rounding.
        pairs = list(zip(reach, at, strict=True)) if reach else []
        lengths = ([max(v - low, 0.0) for (low, _), v in pairs], [max(high - v, 0.0) for (_, high), v in pairs])
        ends.append(lengths if pairs else None)
    axes.errorbar(
        mark.x,
        mark.y,
        xerr=ends[0],
        yerr=ends[1],
        label=mark.label or None,
        color=colour,
        marker=(style.marker or None) if mark.marked else None,
        linestyle=style.line if mark.joined else "none",
        markerfacecolor=colour if style.filled else "white",
        markersize=3.6,
        markeredgewidth=0.8,
        linewidth=3.0 if mark.wide else 1.0,
        elinewidth=0.9,
        capsize=1.5,
        zorder=3,
    )


def _band(axes: Axes, mark: Band) -> None:
    colour = COLOURS[LOOKS[mark.look].colour]
    alpha = _STRONG if mark.strong else _FAINT
    axes.fill_between(
        mark.x, mark.low, mark.high, color=colour, alpha=alpha, linewidth=0.0, label=mark.label or None
    )  # fmt: skip


def _steps(axes: Axes, mark: Steps) -> None:
    style = LOOKS[mark.look]
    colour = COLOURS[style.colour]
    axes.stairs(
        mark.heights,
        mark.edges,
        label=mark.label or None,
        color=colour,
        alpha=0.4 if mark.filled else 1.0,
        fill=mark.filled,
        linewidth=0.0 if mark.filled else 1.0,
        linestyle="-",
    )


def _rule(axes: Axes, mark: Rule) -> None:
    style = LOOKS[mark.look]
    line = axes.axvline if mark.axis == "x" else axes.axhline
    line(mark.at, color=COLOURS[style.colour], linestyle=style.line, linewidth=0.8, label=mark.label or None, zorder=1)


def _words(axes: Axes, mark: Words) -> None:
    axes.text(mark.x, mark.y, _plain(mark.text), ha=mark.align, va="center", fontsize=SMALL, clip_on=True)


_MARKS: dict[type, Any] = {Points: _points, Band: _band, Steps: _steps, Rule: _rule, Words: _words}
