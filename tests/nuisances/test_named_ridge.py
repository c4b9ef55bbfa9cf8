"""The learner "ridge": scikit-learn's by another route, and so many rows where weights are frequencies."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from softlabel import diagnose
from softlabel.nuisances.ridge import LeaveOneOutRidge
from tests.diagnosed import differing, drawn
from tests.oracle import Floats

# Normal equations and their eigenvectors by two routes.
SAME = 1e-9


def made(n: int, k: int, seed: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = 50 + 9 * rng.normal(size=(n, k)) @ rng.normal(size=(k, k))
    y = 0.1 * x[:, 0] + 3 * rng.normal(size=n)
    return x, y, rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "k"), [(12, 3), (60, 1), (60, 9), (400, 5)])
def test_it_is_ridge_cv_on_standardised_columns(n: int, k: int, weighted: bool) -> None:
    for seed in range(5):
        x, y, weight = made(n, k, seed)
        w = 7.3 * weight if weighted else None
        z = StandardScaler().fit(x, sample_weight=w).transform(x)
        other = RidgeCV(alphas=np.logspace(-3, 6, 19)).fit(z, y, sample_weight=w)
        found = LeaveOneOutRidge().fit(x, y, w)
        assert found.line.penalty == pytest.approx(other.alpha_)
        assert found.predict(x) == pytest.approx(other.predict(z), rel=SAME)


@pytest.mark.parametrize(("n", "k"), [(12, 3), (60, 9), (400, 5)])
def test_copies_are_so_many_rows(n: int, k: int) -> None:
    chosen = []
    for seed in range(20):
        x, y, times = made(n, k, seed)
        repeated = LeaveOneOutRidge().fit(*(np.repeat(values, times.astype(int), axis=0) for values in (x, y)))
        counted = LeaveOneOutRidge(copies=True).fit(x, y, times)
        assert counted.predict(x) == pytest.approx(repeated.predict(x), rel=SAME)
        chosen.append(LeaveOneOutRidge().fit(x, y, times).line.penalty != counted.line.penalty)
    assert any(chosen), "leaving whole rows out never mattered: the test is too easy"


def test_columns_that_are_constant_or_repeat_do_no_harm() -> None:
    x, y, _ = made(60, 2, 1)
    wide = np.column_stack([x, np.full(60, 1e9 / 3), x[:, 0]])
    found = LeaveOneOutRidge().fit(wide, y).predict(wide)
    assert np.isfinite(found).all()
    assert np.corrcoef(found, LeaveOneOutRidge().fit(x, y).predict(x))[0, 1] > 0.99


@pytest.mark.parametrize("seed", [0, 1])
def test_a_diagnosis_with_frequencies_is_that_of_repeated_rows(seed: int) -> None:
    table = drawn(200, 100, seed=seed)
    roles: dict[str, Any] = {
        "outcome": "y",
        "group": "g",
        "score": "p",
        "controls": ["age", "frailty", "ward"],
        "learner": "ridge",
        "id": "visit",
        "thresholds": (0.5, 0.8),
        "confident": (0.7,),
    }
    rows = pa.table(table)
    repeated = diagnose(rows.take(np.repeat(np.arange(len(rows)), table["times"])), **roles)
    counted = diagnose(rows, **roles, weights="times", weight_type="frequency")
    assert differing(counted, repeated, 1e-9) == set()
