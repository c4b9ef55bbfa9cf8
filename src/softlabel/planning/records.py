"""The Plan: everything `softlabel.plan` worked out, frozen, in JSON and back."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal

from softlabel.results import Note, Table
from softlabel.results.written import read_json, write_json

__all__ = ["RENDERERS", "Assumed", "ErrorsAt", "Need", "Plan", "Richer"]

SCHEMA_VERSION = 1

# As for a Diagnosis: rendering is found by name when it is asked for.
RENDERERS = {"summary": ("softlabel.report.plan", "page")}


@dataclass(frozen=True, slots=True)
class Assumed:
    """The numbers a plan is made of, given or read off a pilot; ``None`` where they are not known.

    Attributes
    ----------
    tau, noise_sd
        The effect, and the standard deviation of the outcome given group and controls.
    group_variance, v_star
        E[Var(G|X)], and V* = E[Var(p|X)]: of these units the score explains so many. Of a pilot it is ĉ²V̂*, which is
        V* once the score is calibrated.
    uncertainty
        What the score leaves open where it says most: E[a² Var(G|p,X)] / V*, with a = p − E[p|X].
    slope
        The slope c of the group on the score given the controls: one for a calibrated score.
    """

    tau: float | None
    noise_sd: float | None
    group_variance: float | None
    v_star: float | None
    uncertainty: float | None
    slope: float | None


@dataclass(frozen=True, slots=True)
class Need:
    """What one estimator needs for the target.

    Attributes
    ----------
    name, trusts
        Which estimator, and what it trusts.
    labels
        The fewest labelled rows that reach the target beside the unlabelled ones there are; ``None`` with a
        ``reason`` where no number does, or where it is not known.
    labels_unlimited
        The same beside unlabelled rows without end: what scoring more rows can save.
    std_error
        With the labelled rows there are.
    """

    name: str
    trusts: str
    labels: int | None
    labels_unlimited: int | None
    std_error: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorsAt:
    """Standard errors with so many labelled rows; ``None`` where they are not known."""

    labels: int
    supervised: float
    rectified: float | None
    instrumented: float | None
    combined: float | None


@dataclass(frozen=True, slots=True)
class Richer:
    """What a calibrated score of another V* would do.

    ``share`` is V*/E[Var(G|X)]: how much of what the controls leave of the group the score knows. ``score`` is "as it
    is", "poorer" or "richer", or "" where there is none to compare with. The rungs' columns are labelled rows needed
    for the target, those that end in ``_se`` standard errors with the labelled rows there are.
    """

    share: float
    v_star: float
    score: str
    rectified: int | None
    instrumented: int | None
    combined: int | None
    rectified_se: float | None
    instrumented_se: float | None
    combined_se: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Labels needed for a target standard error, and what a richer score would buy.

    Attributes
    ----------
    sentence
        The answer in words.
    target_se, half_width, level
        The standard error asked for, and how far an interval of this level then reaches to either side.
    source
        "pilot" or "numbers".
    n_labelled, n_unlabelled
        The rows there are; ``None`` where that was not said.
    assumed
        The numbers behind the plan.
    needs, errors, richer
        Tables of `Need`, `ErrorsAt` and `Richer`.
    notes
        What to know before spending money on it.

    Examples
    --------
    >>> import softlabel as sl
    >>> wanted = sl.plan(target_se=.1, tau=1, noise_sd=1, group_variance=.2, v_star=.05, n_unlabelled=20_000)
    >>> wanted.need("supervised").labels, round(wanted.half_width, 3)
    (500, 0.196)
    """

    sentence: str
    target_se: float
    half_width: float
    level: float
    source: Literal["pilot", "numbers"]
    n_labelled: int | None
    n_unlabelled: int | None
    assumed: Assumed
    needs: Table[Need]
    errors: Table[ErrorsAt]
    richer: Table[Richer]
    notes: tuple[Note, ...]
    schema_version: int = SCHEMA_VERSION

    def need(self, name: str) -> Need:
        """Return the row of `needs` of "supervised", "rectified", "instrumented" or "combined"."""
        return self.needs.rows[self.needs["name"].index(name)]

    def summary(self) -> str:
        """Return a page to read, the answer first."""
        module, function = RENDERERS["summary"]
        render: Any = getattr(importlib.import_module(module), function)
        return str(render(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON; `from_json` gives an equal Plan back."""
        return write_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """Return the Plan that `to_json` wrote."""
        return read_json(cls, text, SCHEMA_VERSION, "plan again")
