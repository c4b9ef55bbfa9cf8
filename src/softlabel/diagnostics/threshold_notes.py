"""Notes on thresholds and confident sets: rows too few, and factors that cannot be."""

from __future__ import annotations

from softlabel.diagnostics.attenuation import confident_table, kappa_table
from softlabel.estimators.labels import confident_counts, hard_counts
from softlabel.influence import Analysis
from softlabel.results import Note

__all__ = ["FEW", "ROWS_PER_COLUMN", "threshold_notes"]

# With fewer rows on either side of a threshold, standard errors were up to a fifth too small in simulation
# (19 rows a side: 0.82 of the truth). In a confident set the controls are fitted on few rows as well: 60 rows a side
# gave 0.947, and 93% coverage, 121 rows 0.976 (6,000 replications).
FEW = 50
_FEW_CONFIDENT = 100

# With 100 rows and 20 controls standard errors were at 0.78 of the truth in simulation, with 300 and 30 at 0.88.
ROWS_PER_COLUMN = 20


def threshold_notes(analysis: Analysis, level: float, columns: int) -> list[Note]:
    """Return every note on a threshold; ``columns`` counts those of the regressions."""
    return [*_kappa_notes(analysis, level), *_few_notes(analysis), *_crowded_notes(analysis, columns)]


def _kappa_notes(analysis: Analysis, level: float) -> list[Note]:
    found = []
    for row in kappa_table(analysis, level):
        if row.kappa is not None and row.kappa < 0:
            why = _beyond(row.ci_high, 0, "controls that do not act linearly")
            found.append(Note("kappa.negative", f"kappa is below 0 at {row.threshold:g}: {why}"))
    for confident in confident_table(analysis, level):
        if confident.kappa is not None and confident.kappa < confident.floor:
            why = _beyond(confident.ci_high, confident.floor, "controls that do not act linearly")
            found.append(
                Note(
                    "kappa_confident.below_floor",
                    f"kappa_FM is below {confident.floor:g} at {confident.threshold:g}, the least it can be where the "
                    f"controls are accounted for in full: {why}",
                )
            )
    return found


def _few_notes(analysis: Analysis) -> list[Note]:
    part = analysis.design.partition
    found = []
    for code, where, thresholds, counts, enough in (
        ("threshold.few_rows", "", part.thresholds, hard_counts(analysis), FEW),
        ("confident.few_rows", " of the confident set", part.confident, confident_counts(analysis), _FEW_CONFIDENT),
    ):
        few = [
            (threshold, min(count.above, count.n - count.above))
            for threshold, count in zip(thresholds, counts, strict=True)
        ]
        listed = ", ".join(f"{rows} at {threshold:g}" for threshold, rows in few if 0 < rows < enough)
        if listed:
            found.append(
                Note(
                    code,
                    f"Few rows on one side{where} ({listed}): standard errors there are too small to trust",
                )
            )
    return found


def _crowded_notes(analysis: Analysis, columns: int) -> list[Note]:
    """Return a note where all rows are enough for the columns of the regressions, but those of a confident set not."""
    least = ROWS_PER_COLUMN * columns
    if analysis.n < least:
        return []
    counts = zip(analysis.design.partition.confident, confident_counts(analysis), strict=True)
    listed = ", ".join(
        f"{count.n} at {t:g}"
        for t, count in counts
        if min(count.above, count.n - count.above) >= _FEW_CONFIDENT and count.n < least
    )
    if not listed:
        return []
    return [
        Note(
            "confident.few_for_columns",
            f"Confident sets of few rows for {columns} columns of the regressions ({listed}): standard errors there "
            "are too small to trust",
        )
    ]


def _beyond(ci_high: float | None, bound: float, cause: str) -> str:
    """Say what can put an estimate below a bound that the exact value respects."""
    if ci_high is not None and ci_high >= bound:
        return "within sampling error"
    return f"more than sampling error explains, so it comes from {cause}"
