"""The Diagnosis: everything `softlabel.diagnose` found, frozen, in JSON and back."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from softlabel.errors import InputError, did_you_mean
from softlabel.results.distribution import ControlReliability, ScoreDistribution
from softlabel.results.drift import CONTOUR, Breakdown, Drift, DriftBound, breakdown_table, contour_table
from softlabel.results.forecast import Forecast
from softlabel.results.records import (
    Attenuation,
    ConfidentAttenuation,
    Estimate,
    LabelEquivalent,
    LearnerScore,
    Note,
    Sample,
    Settings,
    Verdict,
)
from softlabel.results.scoring import ScoreReport
from softlabel.results.table import Table
from softlabel.results.tidy import Glance, Tidy
from softlabel.results.trust import Audit, Calibration, Check, Ladder
from softlabel.results.written import read_json, write_json

if TYPE_CHECKING:
    from softlabel.report.figures import Plots

__all__ = ["RENDERERS", "SCHEMA_VERSION", "Diagnosis"]

SCHEMA_VERSION = 1

# The one place where results name what lies above them: rendering is found by name when it is asked for,
# so that a Diagnosis carries no drawing code and importing softlabel loads none.
RENDERERS = {
    "summary": ("softlabel.report.summary", "summary"),
    "tidy": ("softlabel.report.tidy", "tidy"),
    "glance": ("softlabel.report.tidy", "glance"),
    "markdown": ("softlabel.report.estimates", "markdown"),
    "latex": ("softlabel.report.estimates", "latex"),
    "notebook": ("softlabel.report.estimates", "notebook"),
    "coef_table": ("softlabel.report.maketables", "coef_table"),
    "stat": ("softlabel.report.maketables", "stat"),
    "covariance": ("softlabel.report.maketables", "covariance"),
    "labels": ("softlabel.report.maketables", "labels"),
    "plot": ("softlabel.report.figures", "plots"),
    "html": ("softlabel.report.html", "write_html"),
}


def _render(kind: str, diagnosis: Diagnosis, *arguments: Any) -> Any:
    module, function = RENDERERS[kind]
    return getattr(importlib.import_module(module), function)(diagnosis, *arguments)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What thresholding costs, how much the score can tell, and every estimate with its error.

    Attributes
    ----------
    verdict
        The recommended estimator and why.
    estimates
        Table of `Estimate`, one row per estimator, threshold and form.
    v_star
        V* = E[Var(p|X)] on the unlabelled rows, with its standard error.
    score_variance
        Var(p) on the unlabelled rows; V*/Var(p) is the share that the controls leave.
    kappa, kappa_confident
        Tables of κ(t) and κ_FM(t).
    label_equivalents
        What each estimate is worth in labelled rows.
    checks
        Table of `Check`: every assumption, looked at.
    audits
        Why soft and hard(t) are off, on the labelled rows: slope, leak and bias.
    calibration
        How often the group is what the score says, with the reliability curve.
    ladder
        The estimates that trust the score more and more, and the tests of what they trust.
    drift_curves
        How far a drift of the group's probability could carry each estimate: `drift` and `breakdown` read them.
    forecast
        The mean squared error of soft, hard and confident at every threshold, if the score is right.
    learners
        V̂* with each learner that was asked for; empty for a regression on a basis.
    sample, settings, notes
        The rows that entered, what was asked, and what a reader should know.
    scoring
        How the score was made, where it was made of features.
    distribution
        Where the scores lie, and where what the controls leave of them does.
    reliability
        How often the group is what the score says in parts of each control, on the audit rows; empty without any.

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.simulate.PaperDesign().sample(n_unlabelled=3000, n_labelled=500, seed=0)
    >>> d = sl.diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"])
    >>> d.estimate("rectified").n, d.estimates["name"][:2]
    (3500, ['supervised', 'soft'])
    >>> sl.Diagnosis.from_json(d.to_json()) == d
    True
    """

    verdict: Verdict
    estimates: Table[Estimate]
    v_star: Estimate
    score_variance: float
    kappa: Table[Attenuation]
    kappa_confident: Table[ConfidentAttenuation]
    label_equivalents: Table[LabelEquivalent]
    checks: Table[Check]
    audits: Table[Audit]
    calibration: Calibration
    ladder: Ladder
    drift_curves: Drift
    forecast: Table[Forecast]
    learners: Table[LearnerScore]
    sample: Sample
    settings: Settings
    notes: tuple[Note, ...]
    scoring: ScoreReport | None = None
    distribution: ScoreDistribution | None = None
    reliability: Table[ControlReliability] = Table(())  # noqa: RUF009  (frozen, so shared without harm)
    schema_version: int = SCHEMA_VERSION

    def estimate(self, name: str, *, threshold: float | None = None, form: str | None = None) -> Estimate:
        """Return one row of `estimates`.

        Parameters
        ----------
        name
            "supervised", "soft", "hard", "deattenuated", "confident", "rectified", "instrumented", "combined" or
            "adaptive".
        threshold
            Which threshold, for the estimators that have one.
        form
            "orthogonal" (the default where there are two) or "moment".
        """
        names = list(dict.fromkeys(row.name for row in self.estimates))
        rows = [row for row in self.estimates if row.name == name]
        if not rows:
            raise InputError(expected="the name of an estimator", found=repr(name), fix=did_you_mean(str(name), names))
        at = sorted({row.threshold for row in rows if row.threshold is not None})
        if threshold not in at and not (threshold is None and not at):
            raise InputError(
                expected=f"threshold for {name!r} to be one of {at}" if at else f"no threshold for {name!r}",
                found=f"threshold={threshold}",
                fix="Name another one, or diagnose again with it among the thresholds",
            )
        rows = [row for row in rows if row.threshold == threshold]
        wanted = form or ("orthogonal" if len(rows) > 1 else rows[0].form)
        for row in rows:
            if row.form == wanted:
                return row
        raise InputError(
            expected=f"form for {name!r} to be one of {[row.form for row in rows]}",
            found=f"form={form!r}",
            fix="Leave form out for the default",
        )

    def drift(self, delta: float) -> Table[DriftBound]:
        """Return what each estimate says of τ if E[G|p,X] may differ from the score by up to δ, from 0 to 1."""
        return contour_table(self.drift_curves, [delta])

    def drift_contour(self, deltas: Iterable[float] = CONTOUR) -> Table[DriftBound]:
        """Return the same for several δ, estimate by estimate."""
        return contour_table(self.drift_curves, deltas)

    @property
    def breakdown(self) -> Table[Breakdown]:
        """The drift from which on each estimate says nothing of τ, not even its sign."""
        return breakdown_table(self.drift_curves)

    def summary(self) -> str:
        """Return a page to read, verdict first."""
        return str(_render("summary", self))

    @property
    def plot(self) -> Plots:
        """The figures, drawn by matplotlib: ``d.plot.kappa()``; what they show is in ``d.plot.data``."""
        figures: Plots = _render("plot", self)
        return figures

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write everything as one page that needs no network, whole or not at all."""
        _render("html", self, path)

    def to_markdown(self, names: Iterable[str] | None = None) -> str:
        """Return the estimates as a table in Markdown.

        Parameters
        ----------
        names
            Which estimators, for instance ``("soft", "hard")``; ``None`` for those of the effect itself.
        """
        return str(_render("markdown", self, names))

    def to_latex(self, names: Iterable[str] | None = None) -> str:
        """Return the same as a LaTeX table; it wants the package booktabs."""
        return str(_render("latex", self, names))

    def tidy(self) -> Table[Tidy]:
        """Return every estimate in a row, under the column names of broom."""
        found: Table[Tidy] = _render("tidy", self)
        return found

    def glance(self) -> Table[Glance]:
        """Return the diagnosis in one row, under the column names of broom where it has them."""
        found: Table[Glance] = _render("glance", self)
        return found

    def _repr_html_(self) -> str:
        """Return the verdict and the estimates for a notebook."""
        return str(_render("notebook", self))

    # What the package maketables looks for; `softlabel.report.maketables` says why.

    @property
    def __maketables_coef_table__(self) -> Any:
        return _render("coef_table", self)

    def __maketables_stat__(self, key: str) -> Any:
        return _render("stat", self, key)

    @property
    def __maketables_depvar__(self) -> str:
        return self.settings.outcome

    @property
    def __maketables_vcov_info__(self) -> Any:
        return _render("covariance", self)

    @property
    def __maketables_stat_labels__(self) -> Any:
        return _render("labels", self)

    @property
    def __maketables_default_stat_keys__(self) -> list[str]:
        return ["N", "n_labelled", "v_star", "checks_failed"]

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON; `from_json` gives an equal Diagnosis back."""
        return write_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Diagnosis:
        """Return the Diagnosis that `to_json` wrote, refusing one of another schema version."""
        return read_json(cls, text, SCHEMA_VERSION, "diagnose the data again")
