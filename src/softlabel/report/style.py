"""The style of figures: sizes for one column of a journal, colours that the colour-blind tell apart, quiet axes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from softlabel.errors import InputError

__all__ = ["COLOURS", "NORMAL", "SMALL", "WIDTH", "Style", "require_matplotlib", "settings"]

WIDTH = 3.4  # inches: one column of a journal
SMALL, NORMAL = 7.0, 8.0

# Colours of Okabe & Ito, which the colour-blind tell apart; in grey it is markers and dashes that differ.
COLOURS = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#767676",
}


class Style(NamedTuple):
    """How points of one kind look: the name of a colour, matplotlib's words for marker and line."""

    colour: str
    marker: str
    line: str
    filled: bool = True


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


@contextmanager
def settings(name: str) -> Iterator[None]:
    """Hold matplotlib's settings to its own defaults and ours, whatever the user's are, and give his back."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {
                "font.size": NORMAL,
                "axes.labelsize": NORMAL,
                "axes.titlesize": NORMAL,
                "xtick.labelsize": SMALL,
                "ytick.labelsize": SMALL,
                "legend.fontsize": SMALL,
                "axes.linewidth": 0.6,
                "xtick.major.width": 0.6,
                "ytick.major.width": 0.6,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "svg.hashsalt": name,
            }
        )
        yield
