"""How a score was made: frozen, without data, to go with a Diagnosis or by itself."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from softlabel.results.records import Column, Note
from softlabel.results.table import Table
from softlabel.results.written import read_json, write_json

__all__ = ["RENDERERS", "ScoreMetrics", "ScoreReport"]

SCHEMA_VERSION = 1

# As for a Diagnosis: rendering is found by name when it is asked for.
RENDERERS = {"summary": ("softlabel.report.scored", "page")}


@dataclass(frozen=True, slots=True)
class ScoreMetrics:
    """How a score does on labelled rows that it has not seen.

    Attributes
    ----------
    score
        "classifier", before calibration, or "calibrated".
    n, mean_score, mean_group
        Rows, and what should agree.
    brier, log_loss, auc
        Mean squared error; mean log loss, ``None`` where a score of 0 or 1 is wrong; the chance that a row of the group
        is scored above one that is not.
    intercept, slope, slope_error
        The line of the group on the score: 0 and 1 if calibrated; ``None`` for a score that is the same everywhere.
    """

    score: str
    n: int
    mean_score: float
    mean_group: float
    brier: float
    log_loss: float | None
    auc: float
    intercept: float | None
    slope: float | None
    slope_error: float | None


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """How a score was made, and how good it is.

    Attributes
    ----------
    model, calibrator, split, folds, draw, seed
        What was asked. ``folds`` is ``None`` for halves.
    features, controls
        W and X.
    labelled, labelled_by_class, unlabelled
        Rows that trained, not in the group and in it, and rows that were scored.
    audit
        Labelled rows whose score saw neither their label in the classifier nor in its calibrator.
    missing
        Values that features or controls lack, by column, on all rows.
    metrics
        On the audit rows; empty if there are none.
    remainder, slope, slope_error
        The share of the score's variance that the controls leave on the labelled rows, and the slope of the group on
        what they leave, with its standard error; ``None`` where it could not be had.
    notes
        What to know before using the score.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> rng = np.random.default_rng(0)
    >>> x, w = rng.normal(size=(2, 400))
    >>> g = (rng.random(400) < 1 / (1 + np.exp(-x - 2 * w))).astype(float)
    >>> table = {"x": x, "w": w, "g": np.where(np.arange(400) < 200, g, np.nan)}
    >>> scores = sl.score(table, features=["x", "w"], controls=["x"], group="g")
    >>> report = scores.report
    >>> report.model, report.calibrator, report.audit, report.metrics["score"]
    ('logistic', 'conditional', 200, ['classifier', 'calibrated'])
    """

    model: str
    calibrator: str
    split: str
    folds: int | None
    draw: str
    seed: int
    features: tuple[str, ...]
    controls: tuple[str, ...]
    labelled: int
    labelled_by_class: tuple[int, int]
    unlabelled: int
    audit: int
    missing: tuple[Column, ...]
    metrics: Table[ScoreMetrics]
    remainder: float | None
    slope: float | None
    slope_error: float | None
    notes: tuple[Note, ...]
    schema_version: int = SCHEMA_VERSION

    def summary(self) -> str:
        """Return a page to read."""
        module, function = RENDERERS["summary"]
        render: Any = getattr(importlib.import_module(module), function)
        return str(render(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON; `from_json` gives an equal report back."""
        return write_json(self, indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> ScoreReport:
        """Return the report that `to_json` wrote."""
        return read_json(cls, text, SCHEMA_VERSION, "make the score again")
