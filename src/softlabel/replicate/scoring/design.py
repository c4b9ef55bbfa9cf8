"""The design on which scores are made and judged: what a classifier sees, what is controlled for, what is diagnosed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnose import diagnose
from softlabel.replicate.population import Law, Rows
from softlabel.results import Diagnosis
from softlabel.scoring.each import EachScore
from softlabel.scoring.names import CALIBRATORS

__all__ = ["BEYOND", "CONTROLS", "LAW", "ROWS", "Values", "diagnosed", "known", "numbers", "table", "usable"]

Floats = NDArray[np.float64]
Values = dict[str, float | None]

LAW = Law()
CONTROLS = ("x1", "x2", "x3", "r")
BEYOND = ("s1", "s2")
ROWS = 20_000


def usable() -> tuple[str, ...]:
    """Return the calibrators there are here: "multicalibrated" needs an optional package."""
    return tuple(name for name in CALIBRATORS if name != "multicalibrated" or find_spec("mcgrad") is not None)


def table(rows: Rows) -> dict[str, Floats]:
    """Return rows as columns: controls, what the classifier sees beyond them, and the outcome; without the group."""
    controls = {name: np.asarray(values, dtype=np.float64) for name, values in rows.controls.items()}
    return {**controls, "s1": rows.s[:, 0], "s2": rows.s[:, 1], "y": rows.outcome}


def known(rows: Rows) -> dict[str, Floats]:
    """Return labelled rows as columns, with the group."""
    return {**table(rows), "g": rows.group}


def diagnosed(unlabelled: Rows, labelled: Rows, scores: EachScore) -> Diagnosis:
    """Return what diagnose says of these rows with these scores."""
    n = len(unlabelled.group)
    shown, hidden = table(labelled), table(unlabelled)
    columns: dict[str, Any] = {name: np.concatenate([hidden[name], shown[name]]) for name in (*CONTROLS, "y")}
    columns["p"] = np.concatenate([scores.unlabelled, scores.labelled])
    columns["g"] = np.concatenate([np.full(n, np.nan), labelled.group])
    columns["clean"] = np.concatenate([np.zeros(n), scores.audit])
    # Folds by the row's number: by its values they would hang on the last digit of the score, and so on the machine.
    columns["row"] = np.arange(len(columns["g"]))
    options: Mapping[str, Any] = {} if scores.audit.all() else {"audit": "clean"}
    return diagnose(
        columns,
        outcome="y",
        group="g",
        score="p",
        controls=list(CONTROLS),
        basis="linear",
        thresholds=(0.5,),
        confident=(),
        id="row",
        threads=1,
        progress=False,
        **options,
    )


def numbers(d: Diagnosis, names: tuple[str, ...], before: str = "") -> Values:
    """Return estimates and the ends of their intervals by name, after ``before``.

    "guarded" is the verdict with the interval that it prints; what there is not is ``None``, as rungs without a row
    that may audit.
    """
    there = {row.name for row in d.estimates}
    values: Values = {}
    for name in names:
        if name == "guarded":
            low, high = d.verdict.interval or (None, None)
            found = (d.verdict.estimate, low, high)
        elif name in there:
            row = d.estimate(name)
            found = (row.estimate, row.ci_low, row.ci_high)
        else:
            found = (None, None, None)
        values |= {f"{before}{name}{part}": value for part, value in zip(("", " low", " high"), found, strict=True)}
    return values
