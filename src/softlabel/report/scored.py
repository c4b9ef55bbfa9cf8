"""Scores for people and for files: the page of a `ScoreReport`, and tables written with their score."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from softlabel.errors import InputError
from softlabel.report.files import check_target, write_whole
from softlabel.report.layout import aligned, wrapped
from softlabel.results import ScoreReport
from softlabel.results.text import number
from softlabel.scoring.whole import WholeTable

__all__ = ["check_table_target", "made", "page", "write_scored"]

_WHO = {
    "folds": "each row by models of other folds",
    "given": "each row by models of other folds, as handed in",
    "mean": "unlabelled rows by the mean of the folds' models, labelled ones by models of other folds",
    "halves": "the classifier on one half of the labelled rows, the calibrator on the other",
}
_DRAWN = {"mean": "", "member": "; of one member for each row", "beta": "; a Beta draw around it"}
_HEADERS = ["Score", "Brier", "log loss", "AUC", "mean score", "mean group", "slope (1 if calibrated)"]


def check_table_target(path: str) -> None:
    """Raise unless a table can be written there: before the work."""
    # A name that is nothing but an ending has none: .csv would be written as Parquet.
    if Path(path).suffix.lower() not in (".parquet", ".csv"):
        raise InputError(
            expected="a file that ends in .parquet or .csv",
            found=Path(path).name or repr(path),
            fix="Name it for instance scored.parquet",
        )
    check_target(path)


def write_scored(path: str | os.PathLike[str], table: WholeTable) -> None:
    """Write a table with its score, batch by batch, whole or not at all."""

    def write(target: Path) -> None:
        with _writer(target, table.schema) as writer:
            for batch in table.batches():
                writer.write_batch(batch)

    write_whole(path, write)


@contextmanager
def _writer(target: Path, schema: pa.Schema) -> Iterator[Any]:
    if target.suffix.lower() == ".csv":
        from pyarrow import csv

        with csv.CSVWriter(str(target), schema) as writer:
            yield writer
        return
    from pyarrow import parquet

    with parquet.ParquetWriter(str(target), schema, compression="zstd") as writer:
        yield writer


def made(report: ScoreReport) -> str:
    """Return in words how a score was made."""
    within = "" if report.folds is None else f", {report.folds} folds"
    calibrated = "not calibrated" if report.calibrator == "none" else f"{report.calibrator} calibration"
    return (
        f"{report.model}, {calibrated}{within}: {_WHO[report.split]}{_DRAWN[report.draw]}; of "
        f"{', '.join(report.features)}"
    )


def page(report: ScoreReport) -> str:
    """Return how a score was made and how good it is as a page of text."""
    zeros, ones = report.labelled_by_class
    lines = [
        "Score",
        wrapped(f"{made(report)[0].upper()}{made(report)[1:]}."),
        wrapped(
            f"{report.labelled:,} labelled rows ({ones:,} in the group, {zeros:,} not) trained it; "
            f"{report.unlabelled:,} unlabelled rows were scored. {report.audit:,} labelled rows may audit it."
        ),
    ]
    if len(report.metrics):
        rows = [
            [
                row.score,
                number(row.brier),
                number(row.log_loss),
                number(row.auc),
                number(row.mean_score),
                number(row.mean_group),
                f"{number(row.slope)} ({number(row.slope_error, 2)})",
            ]
            for row in report.metrics
        ]
        lines += ["", *aligned(_HEADERS, rows), wrapped("On the labelled rows, each by models that have not seen it.")]
    if report.remainder is not None:
        slope = "" if report.slope is None else f"; the slope of the group on that is {number(report.slope)}"
        error = "" if report.slope_error is None else f" (std. error {number(report.slope_error, 2)}; 1 if calibrated)"
        lines.append(wrapped(f"The controls leave {report.remainder:.0%} of the score's variance{slope}{error}."))
    if report.notes:
        lines += ["", "Notes", *(wrapped(f"- {note.message}.", hang="  ") for note in report.notes)]
    return "\n".join(lines) + "\n"
