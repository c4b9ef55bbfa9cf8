"""Words in figures: names of columns cut to what fits, of estimates as they are shown, and how many rows."""

from __future__ import annotations

from softlabel.report.layout import printable
from softlabel.results import Diagnosis
from softlabel.results.text import percent

__all__ = ["audited", "effect_of", "named", "rows_of", "sure", "trimmed", "units"]

_SHOWN = {"deattenuated": "de-attenuated"}


def trimmed(text: str, most: int = 24) -> str:
    """Return a name on one line, cut where it is long.

    Examples
    --------
    >>> trimmed("days in hospital"), trimmed("a name" * 6, 12)
    ('days in hospital', 'a namea nam…')
    """
    line = " ".join(printable(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def named(name: str, threshold: float | None = None) -> str:
    """Return an estimate's name with its threshold.

    Examples
    --------
    >>> named("soft"), named("deattenuated", 0.9)
    ('soft', 'de-attenuated 0.9')
    """
    shown = _SHOWN.get(name, name)
    return shown if threshold is None else f"{shown} {threshold:g}"


def effect_of(d: Diagnosis, most: int = 20) -> str:
    """Return the label of an axis of effects, with its unit: that of the outcome."""
    return f"effect ({units(d, most)})"


def units(d: Diagnosis, most: int = 20) -> str:
    """Return the unit of an effect."""
    return f"units of {trimmed(d.settings.outcome, most)}"


def rows_of(d: Diagnosis) -> str:
    """Return how many rows of both kinds."""
    return f"{d.sample.unlabelled:,} unlabelled rows, {d.sample.labelled:,} labelled"


def audited(d: Diagnosis) -> str:
    """Return how many labelled rows audit."""
    return f"{d.ladder.n_audit or (d.audits.rows[0].n if len(d.audits) else 0):,} audit rows"


def sure(d: Diagnosis) -> str:
    """Return the confidence level in words."""
    return f"{percent(d.settings.level)} intervals"
