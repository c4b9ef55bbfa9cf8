"""Studies whose assumptions hold or break by as much as asked: labelled and unlabelled rows of one table."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import softlabel as sl
from softlabel import Diagnosis
from softlabel.results import Check

__all__ = ["Floats", "checked", "diagnosed", "labels", "one", "picked", "study"]

Floats = NDArray[np.float64]

EFFECT = 1.0


def study(
    rng: np.random.Generator,
    *,
    n: int = 3_000,
    labelled: int = 300,
    tau: float = EFFECT,
    sharp: float = 1.0,
    tilt: float = 0.0,
    level: float = 0.0,
    leak: float = 0.0,
    varies: float = 0.0,
    spread: float = 1.0,
    unit: float = 1.0,
    shift: str | None = None,
    by: float = 0.0,
    hard: bool = False,
    **others: Any,
) -> dict[str, Any]:
    """Draw n unlabelled and some labelled rows with a score p that two controls and something unseen, s, decide.

    P(G = 1) is σ(level + sharp·logit p + tilt·x₁) and Y = x₁ + x₂/2 + (τ + varies·x₁)G + leak·s + noise, times a unit.
    Labelled rows are moved ``by`` so much in what ``shift`` names: "score", "controls" or "outcome".
    """
    rows = n + labelled
    hidden = np.arange(rows) >= labelled
    x1, x2, s = rng.normal(size=(3, rows))
    if shift == "controls":
        x1 = x1 + by * ~hidden
    if shift == "score":
        s = s + by * ~hidden
    logit = 0.8 * x1 - 0.5 * x2 + spread * s
    p = 1 / (1 + np.exp(-logit))
    g = rng.random(rows) < 1 / (1 + np.exp(-(level + sharp * logit + tilt * x1)))
    y = x1 + 0.5 * x2 + (tau + varies * x1) * g + leak * s + rng.normal(size=rows)
    if shift == "outcome":
        y = y + by * ~hidden
    return {
        "y": unit * y,
        "p": (p > 0.5).astype(np.float64) if hard else p,
        "g": pa.array(g.astype(np.int8), mask=hidden),
        "x1": x1,
        "x2": x2,
        **others,
    }


def picked(rng: np.random.Generator, rows: int = 20_000) -> dict[str, Any]:
    """A study whose rows were labelled if score and outcome agreed: of high scores those of high outcomes."""
    data = study(rng, n=rows, labelled=0)
    group = rng.random(rows) < data["p"]
    left = group - 0.5 + rng.normal(size=rows)
    chance = 1 / (1 + np.exp(4 - 2 * left * np.sign(data["p"] - 0.5)))
    return data | {"y": data["x1"] + left, "g": pa.array(group.astype(np.int8), mask=rng.random(rows) > chance)}


def labels(data: dict[str, Any]) -> tuple[NDArray[np.bool_], Floats]:
    """Which rows are labelled, and their groups."""
    labelled = ~np.asarray(data["g"].is_null())
    return labelled, np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=np.float64)[labelled]


def diagnosed(data: dict[str, Any], **options: Any) -> Diagnosis:
    """Diagnose with what is cheap: one threshold, no confident set, linear controls."""
    chosen: dict[str, Any] = {"thresholds": (0.5,), "confident": (), "basis": "linear", "controls": ["x1", "x2"]}
    return sl.diagnose(data, outcome="y", group="g", score="p", **(chosen | options))


def checked(d: Diagnosis) -> dict[str, Check]:
    """The checks by code; of several under one code, that of the smallest p-value."""
    found: dict[str, Check] = {}
    for row in sorted(d.checks, key=lambda row: 2.0 if row.p_value is None else row.p_value):
        found.setdefault(row.code, row)
    return found


def one(d: Diagnosis, code: str) -> Check:
    """The check of a code."""
    return checked(d)[code]
