"""Marks: a figure as records of what is drawn where, for any renderer. No drawing here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from softlabel.report.style import Style

__all__ = ["LOOKS", "Band", "Drawing", "Mark", "Panel", "Points", "Rule", "Steps", "Words"]

# Markers, dashes and fillings differ too: colour is never alone in telling two apart.
LOOKS: dict[str, Style] = {
    "first": Style("blue", "o", "-"),
    "second": Style("green", "s", "--"),
    "third": Style("red", "^", ":"),
    "fourth": Style("purple", "v", "-."),
    "fifth": Style("black", "x", ":"),
    "sixth": Style("sky", "D", "--"),
    "chosen": Style("red", "D", "-"),
    "hollow": Style("blue", "o", "-", filled=False),
    "leak": Style("red", "^", "-", filled=False),
    "quiet": Style("grey", "s", "-"),
    "step": Style("black", "|", "-"),
    "kept": Style("red", "", "-"),
    "edge": Style("black", "", "-"),
    "level": Style("black", "", ":"),
    "broken": Style("red", "", "--"),
}


@dataclass(frozen=True, slots=True)
class Points:
    """Points, each perhaps with an interval along x or y, perhaps joined by a line; ``wide`` makes that line heavy."""

    look: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    label: str = ""
    x_reach: tuple[tuple[float, float], ...] = ()
    y_reach: tuple[tuple[float, float], ...] = ()
    joined: bool = False
    marked: bool = True
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """The region between two curves over x, shaded; ``strong`` more so than others."""

    look: str
    x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    label: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Steps:
    """A histogram: heights between edges, filled or as an outline."""

    look: str
    edges: tuple[float, ...]
    heights: tuple[float, ...]
    label: str = ""
    filled: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the panel at a value of one axis; ``label`` goes to the legend."""

    look: str
    axis: Literal["x", "y"]
    at: float
    label: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Text at a point."""

    x: float
    y: float
    text: str
    align: Literal["left", "center", "right"] = "left"


Mark = Points | Band | Steps | Rule | Words


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    x_limits, y_limits
        Of the axes: what lies beyond is cut off at the frame.
    names
        Words in place of the numbers of the y axis, and whether they are bold.
    slider
        Which slider of a page moves a line along x, if any.
    """

    marks: tuple[Mark, ...]
    x_label: str
    y_label: str
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    title: str = ""
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    names: tuple[tuple[float, str, bool], ...] = ()
    slider: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure: rows of panels with the height of each in inches; without panels ``reason`` says why there are none.

    Attributes
    ----------
    name, title
        Of the figure.
    caption
        What it shows, of how many rows.
    """

    name: str
    title: str
    caption: str
    rows: tuple[tuple[Panel, ...], ...] = ()
    heights: tuple[float, ...] = ()
    reason: str = ""
