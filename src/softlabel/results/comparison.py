"""Several diagnoses side by side: frozen, in JSON and back."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from softlabel.results.records import Note
from softlabel.results.table import Table
from softlabel.results.written import read_json, write_json

__all__ = ["RENDERERS", "Compared", "ComparedStudy", "Comparison"]

SCHEMA_VERSION = 1

# As for a Diagnosis: rendering is found by name when it is asked for.
RENDERERS = {
    "summary": ("softlabel.report.comparison", "summary"),
    "markdown": ("softlabel.report.comparison", "markdown"),
    "latex": ("softlabel.report.comparison", "latex"),
    "html": ("softlabel.report.comparison", "html"),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One estimate of one study, as `Estimate` has it."""

    study: str
    name: str
    threshold: float | None
    form: str | None
    estimate: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    n: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class ComparedStudy:
    """One study: what was asked, what its score has to tell, its verdict, and what fails.

    ``remainder`` is V*/Var(p), the share of the score's variance that the controls leave; ``failed`` and ``doubtful``
    are the codes of checks that fail or warn, each once.
    """

    study: str
    outcome: str
    group: str | None
    score: str
    controls: tuple[str, ...]
    labelled: int
    unlabelled: int
    v_star: float | None
    v_star_error: float | None
    remainder: float | None
    rule: str
    choice: str | None
    estimate: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    failed: tuple[str, ...]
    doubtful: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Diagnoses side by side.

    Attributes
    ----------
    studies
        One row for each: verdict, V*, checks that fail.
    estimates
        One row for each estimate of each.
    notes
        Where they do not answer the same question.

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.simulate.PaperDesign().sample(n_unlabelled=3000, n_labelled=500, seed=0)
    >>> asked = {"outcome": "y", "group": "g", "score": "p", "basis": "linear"}
    >>> found = sl.compare({
    ...     "all": sl.diagnose(table, **asked, controls=["x1", "x2", "x3"]),
    ...     "one": sl.diagnose(table, **asked, controls=["x1"]),
    ... })
    >>> found.studies["study"], [note.code for note in found.notes]
    (['all', 'one'], ['compare.controls'])
    """

    studies: Table[ComparedStudy]
    estimates: Table[Compared]
    notes: tuple[Note, ...]
    schema_version: int = SCHEMA_VERSION

    def summary(self) -> str:
        """Return a page to read."""
        return self._render("summary")

    def to_markdown(self) -> str:
        """Return the estimates in rows and the studies in columns, in Markdown."""
        return self._render("markdown")

    def to_latex(self) -> str:
        """Return the same as a LaTeX table; it wants the package booktabs."""
        return self._render("latex")

    def to_html(self) -> str:
        """Return the same as an HTML table, with every name escaped."""
        return self._render("html")

    def _repr_html_(self) -> str:
        return self._render("html")

    def _render(self, kind: str) -> str:
        module, function = RENDERERS[kind]
        render: Any = getattr(importlib.import_module(module), function)
        return str(render(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON; `from_json` gives an equal Comparison back."""
        return write_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Comparison:
        """Return the Comparison that `to_json` wrote."""
        return read_json(cls, text, SCHEMA_VERSION, "compare the diagnoses again")
