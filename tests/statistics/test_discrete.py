"""Discrete data with the default settings: copies of a row must not leak through the folds."""

from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel.simulate import MonteCarlo, run

EFFECT = 0.2
ROWS = 20_000
REPLICATIONS = 500


def _discrete(rng: np.random.Generator) -> dict[str, Any]:
    """Ten score levels, a control of three values, a binary outcome: 60 distinct rows."""
    x = rng.integers(0, 3, ROWS)
    shape = np.exp(-0.5 * ((np.arange(10) - 2 - 2 * x[:, None]) / 3) ** 2)
    levels = (rng.random((ROWS, 1)) > np.cumsum(shape / shape.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    p = np.linspace(0.05, 0.95, 10)[np.minimum(levels, 9)]
    g = rng.random(ROWS) < p
    y = rng.random(ROWS) < 0.2 + 0.1 * x + EFFECT * g
    return {"y": y.astype(float), "p": p, "x": x, "row": np.arange(ROWS)}


class Discrete:
    """One replication; ``id`` None leaves the dealing to the row's values."""

    def __init__(self, id: str | None) -> None:
        self.id = id

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        d = sl.diagnose(_discrete(rng), outcome="y", score="p", controls=["x"], id=self.id, confident=(), threads=1)
        soft = d.estimate("soft")
        deattenuated = d.estimate("deattenuated", threshold=0.8)
        return {
            "low": soft.ci_low,
            "high": soft.ci_high,
            "low 0.8": deattenuated.ci_low,
            "high 0.8": deattenuated.ci_high,
            "in sample": float(d.sample.folds is None),
        }


@pytest.fixture(scope="module", params=[None, "row"])
def runs(request: pytest.FixtureRequest) -> tuple[str | None, MonteCarlo]:
    return request.param, run(Discrete(request.param), REPLICATIONS, seed=3, progress=False)


def test_intervals_cover(runs: tuple[str | None, MonteCarlo]) -> None:
    _, monte_carlo = runs
    for low, high in (("low", "high"), ("low 0.8", "high 0.8")):
        # Without the rule for repeated rows coverage here is 0.23 and 0.63. One percent is its Monte Carlo error.
        assert 0.93 <= monte_carlo.coverage(low, high, truth=EFFECT).estimate <= 0.97


def test_only_rows_without_an_id_are_fitted_in_sample(runs: tuple[str | None, MonteCarlo]) -> None:
    by, monte_carlo = runs
    assert monte_carlo.mean("in sample") == (by is None)
