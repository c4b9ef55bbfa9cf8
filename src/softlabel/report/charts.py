"""A chart: series of numbers with labels and looks, drawn in one column of a page as PNG and SVG.

What is drawn is a record that holds no drawing; `write_chart` alone knows matplotlib, and leaves its state as it was.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from softlabel.report.files import write_whole
from softlabel.report.style import COLOURS, SMALL, WIDTH, Style, require_matplotlib, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOOKS", "Chart", "Look", "Series", "write_chart"]

Look = Literal[
    "printed",
    "paper",
    "paper 2",
    "paper 3",
    "predicted",
    "ours",
    "ours 2",
    "ours 3",
    "ours predicted",
    "bound",
    "level",
]

_DPI = 400
_IN_FRONT = 5

LOOKS: dict[Look, Style] = {
    "printed": Style("black", "x", ""),
    "paper": Style("red", "o", "-"),
    "paper 2": Style("orange", "^", "--"),
    "paper 3": Style("purple", "v", ":"),
    "predicted": Style("red", "o", "--", filled=False),
    "ours": Style("blue", "s", "-"),
    "ours 2": Style("green", "D", "--"),
    "ours 3": Style("sky", "P", ":"),
    "ours predicted": Style("blue", "s", "--", filled=False),
    "bound": Style("black", "", "-"),
    "level": Style("black", "", ":"),
}


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one kind.

    Attributes
    ----------
    label
        In the legend; a series without one is not in it.
    look
        One of `LOOKS`.
    x, y
        As many of each.
    reach
        Half of each point's interval, if it has one.
    joined
        Whether a line joins the points.
    names
        What is written to the left of each point.
    """

    label: str
    look: Look
    x: tuple[float, ...]
    y: tuple[float, ...]
    reach: tuple[float, ...] = ()
    joined: bool = True
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure.

    Attributes
    ----------
    name
        Of its files.
    caption
        What it shows, of how many rows and replications.
    x_label, y_label
        With units; mathematics between dollars.
    x_ticks, y_ticks
        Where; none leaves it to matplotlib.
    x_scale, y_scale
        "linear" or "log".
    x_limits, y_limits
        Of the axes; ``None`` for what the series need.
    height
        In inches.
    """

    name: str
    caption: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_ticks: tuple[float, ...] = ()
    y_ticks: tuple[float, ...] = ()
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None
    height: float = 3.0


def write_chart(chart: Chart, folder: Path) -> None:
    """Draw a chart and write it to ``folder`` as PNG and SVG, the same bytes for the same numbers."""
    require_matplotlib()
    with settings(chart.name):
        figure = _drawn(chart)
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            drawing = io.BytesIO()
            figure.savefig(drawing, format=ending, dpi=_DPI, metadata=metadata)
            write_whole(folder / f"{chart.name}.{ending}", _writer(drawing.getvalue()))


def _drawn(chart: Chart) -> Figure:
    # Not by pyplot, which keeps figures and chooses a window system.
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(WIDTH, chart.height), layout=ConstrainedLayoutEngine(w_pad=0.06))
    axes = figure.add_subplot()
    axes.set(xlabel=chart.x_label, ylabel=chart.y_label, xscale=chart.x_scale, yscale=chart.y_scale)
    for series in chart.series:
        _add(axes, series)
    _ticks(axes, chart)
    if chart.x_limits is not None:
        axes.set_xlim(*chart.x_limits)
    if chart.y_limits is not None:
        axes.set_ylim(*chart.y_limits)
    axes.grid(visible=True, which="major", linewidth=0.3, color="#cccccc")
    axes.set_axisbelow(True)
    labels = [series.label for series in chart.series if series.label]
    figure.legend(loc="outside lower center", ncols=2 if max(map(len, labels)) < 27 else 1, frameon=False)
    return figure


def _add(axes: Axes, series: Series) -> None:
    style = LOOKS[series.look]
    axes.errorbar(
        series.x,
        series.y,
        yerr=series.reach or None,
        label=series.label or None,
        color=COLOURS[style.colour],
        marker=style.marker or None,
        linestyle=(style.line if series.joined else "") or "none",
        markerfacecolor=COLOURS[style.colour] if style.filled else "white",
        markersize=3.6,
        zorder=_IN_FRONT if series.look == "printed" else None,
        markeredgewidth=0.8,
        linewidth=0.9,
        elinewidth=0.8,
        capsize=1.5,
    )
    for x, y, name in zip(series.x, series.y, series.names, strict=False):
        axes.annotate(name, (x, y), xytext=(-5, 0), textcoords="offset points", ha="right", va="center", fontsize=SMALL)


def _ticks(axes: Axes, chart: Chart) -> None:
    for axis, places in ((axes.xaxis, chart.x_ticks), (axes.yaxis, chart.y_ticks)):
        if places:
            axis.set_ticks(places, labels=[f"{place:g}" for place in places])
            axis.set_ticks([], minor=True)


def _writer(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write
