"""Concentration: notes where a few rows or clusters decide an estimate, though there are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlabel.estimators.labels import confident_counts, hard_counts
from softlabel.influence import Analysis
from softlabel.results import Note
from softlabel.results.text import number
from softlabel.study import Columns

__all__ = ["concentration_notes"]

# With the rarer label in 3, 5 or 10 clusters of fifty, errors were at 0.71, 0.85 and 0.89 of the truth.
_FEW_DECIDE = 10

# Of 2,000 rows with log-normal weights worth 745, 256, 88 and 37 equal ones (Kish 1965), errors of soft were at 0.96,
# 0.86, 0.70 and 0.56 of the truth; 250 rows of equal weight have no such error, so the share is asked about too.
_FEW_EQUAL = 300
_UNEQUAL = 0.25

# As for rows of equal weight.
_FEW_ON_A_SIDE = 50


def concentration_notes(analysis: Analysis, labelled: Columns) -> list[Note]:
    """Return the notes on weights and clusters of very unequal share."""
    if analysis.sums["shares"].clusters is not None:
        return _of_clusters(analysis)
    return [] if labelled.frequency else _of_weights(analysis, labelled)


def _of_clusters(analysis: Analysis) -> list[Note]:
    found = []
    deciding = float(analysis.sums["shares"].effective[1])
    if deciding < _FEW_DECIDE <= (analysis.clusters or 0):
        found.append(
            Note(
                "clusters.uneven",
                f"Of {analysis.clusters:,} clusters a few have most of what the score says given the controls, as much "
                f"as {number(deciding, 2)} equal ones: standard errors are too small to trust",
            )
        )
    part = analysis.design.partition
    for code, where, thresholds, counts in (
        ("threshold.few_clusters", "", part.thresholds, hard_counts(analysis)),
        ("confident.few_clusters", " of the confident set", part.confident, confident_counts(analysis)),
    ):
        few = [(t, c.deciding) for t, c in zip(thresholds, counts, strict=True) if c.deciding and 0 < c.above < c.n]
        listed = ", ".join(f"{number(g, 2)} at {t:g}" for t, g in few if g < min(_FEW_DECIDE, deciding))
        if listed:
            found.append(
                Note(
                    code,
                    f"Few clusters decide a side{where} (as much as so many equal ones: {listed}): standard errors "
                    "there are too small to trust",
                )
            )
    return found


def _of_weights(analysis: Analysis, labelled: Columns) -> list[Note]:
    found = []
    equal = analysis.sums["shares"].effective
    if not len(equal):
        return []
    for kind, n, worth in (
        ("unlabelled", analysis.n, float(equal[0])),
        ("labelled", len(labelled), _kish(labelled)),
    ):
        if worth < min(_FEW_EQUAL, _UNEQUAL * n):
            found.append(
                Note(
                    f"weights.unequal_{kind}",
                    f"Weights differ so much that the {n:,} {kind} rows are worth about {number(worth)} of equal "
                    "weight: standard errors may be too small. Trim the largest weights, or group what they are for",
                )
            )
    part = analysis.design.partition
    worths = equal[2:].tolist()
    counts = [*hard_counts(analysis), *confident_counts(analysis)]
    listed = [
        _few(part.thresholds, counts[: len(part.thresholds)], worths[: len(part.thresholds)]),
        _few(part.confident, counts[len(part.thresholds) :], worths[len(part.thresholds) :]),
    ]
    for code, where, few in zip(("threshold", "confident"), ("", " of the confident set"), listed, strict=True):
        if few:
            found.append(
                Note(
                    f"{code}.unequal_weights",
                    f"Unequal weights leave a side{where} worth few rows of equal weight ({few}): standard errors "
                    "there are too small to trust",
                )
            )
    return found


def _few(thresholds: Sequence[float], counts: Sequence[tuple[int, int, int, float | None]], worths: list[float]) -> str:
    """List the thresholds with rows enough on either side, but of few equal weights."""
    return ", ".join(
        f"{number(worth, 2)} at {t:g}"
        for t, (n, above, *_), worth in zip(thresholds, counts, worths, strict=True)
        if min(above, n - above) >= _FEW_ON_A_SIDE > worth
    )


def _kish(rows: Columns) -> float:
    if rows.weight is None or not len(rows):
        return float(len(rows))
    relative = rows.weight / rows.weight.max()
    return float(relative.sum() ** 2 / np.square(relative).sum())
