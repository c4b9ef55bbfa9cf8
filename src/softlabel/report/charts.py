"""A chart: series of numbers with labels and looks, drawn in one column of a page as PNG and SVG.

What is drawn is a record that holds no drawing; `write_chart` alone knows matplotlib, and leaves its state as it was.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from softlabel.errors import InputError
from softlabel.report.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LOOKS", "Chart", "Look", "Series", "require_matplotlib", "write_chart"]

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

WIDTH = 3.4  # inches: one column of a journal
_SMALL, _NORMAL = 7.0, 8.0
_DPI = 400
_IN_FRONT = 5


class _Style(NamedTuple):
    colour: str
    marker: str
    line: str
    filled: bool = True


# Colours of Okabe & Ito, which the colour-blind tell apart; in grey it is markers and dashes that differ.
_BLACK, _ORANGE, _SKY, _GREEN, _BLUE, _RED, _PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
LOOKS: dict[Look, _Style] = {
    "printed": _Style(_BLACK, "x", ""),
    "paper": _Style(_RED, "o", "-"),
    "paper 2": _Style(_ORANGE, "^", "--"),
    "paper 3": _Style(_PURPLE, "v", ":"),
    "predicted": _Style(_RED, "o", "--", filled=False),
    "ours": _Style(_BLUE, "s", "-"),
    "ours 2": _Style(_GREEN, "D", "--"),
    "ours 3": _Style(_SKY, "P", ":"),
    "ours predicted": _Style(_BLUE, "s", "--", filled=False),
    "bound": _Style(_BLACK, "", "-"),
    "level": _Style(_BLACK, "", ":"),
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


def require_matplotlib() -> None:
    """Raise where matplotlib is missing, before the work."""
    try:
        import matplotlib as mpl  # noqa: F401  (asked for here, so that one place says what to install)
    except ImportError as error:
        raise InputError(
            expected="matplotlib for figures",
            found=f"that it cannot be imported ({error})",
            fix="Install it with: pip install softlabel[figures]",
        ) from error


def write_chart(chart: Chart, folder: Path) -> None:
    """Draw a chart and write it to ``folder`` as PNG and SVG, the same bytes for the same numbers."""
    require_matplotlib()
    with _settings(chart.name):
        figure = _drawn(chart)
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            drawing = io.BytesIO()
            figure.savefig(drawing, format=ending, dpi=_DPI, metadata=metadata)
            write_whole(folder / f"{chart.name}.{ending}", _writer(drawing.getvalue()))


@contextmanager
def _settings(name: str) -> Iterator[None]:
    """Hold matplotlib's settings to its own defaults and ours, whatever the user's are, and give his back."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {
                "font.size": _NORMAL,
                "axes.labelsize": _NORMAL,
                "xtick.labelsize": _SMALL,
                "ytick.labelsize": _SMALL,
                "legend.fontsize": _SMALL,
                "axes.linewidth": 0.6,
                "xtick.major.width": 0.6,
                "ytick.major.width": 0.6,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "svg.hashsalt": name,
            }
        )
        yield


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
        color=style.colour,
        marker=style.marker or None,
        linestyle=(style.line if series.joined else "") or "none",
        markerfacecolor=style.colour if style.filled else "white",
        markersize=3.6,
        zorder=_IN_FRONT if series.look == "printed" else None,
        markeredgewidth=0.8,
        linewidth=0.9,
        elinewidth=0.8,
        capsize=1.5,
    )
    for x, y, name in zip(series.x, series.y, series.names, strict=False):
        axes.annotate(
            name, (x, y), xytext=(-5, 0), textcoords="offset points", ha="right", va="center", fontsize=_SMALL
        )


def _ticks(axes: Axes, chart: Chart) -> None:
    for axis, places in ((axes.xaxis, chart.x_ticks), (axes.yaxis, chart.y_ticks)):
        if places:
            axis.set_ticks(places, labels=[f"{place:g}" for place in places])
            axis.set_ticks([], minor=True)


def _writer(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write
