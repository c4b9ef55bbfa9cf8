"""Every number of a Diagnosis against dense least squares written out by hand, and against statsmodels."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy.special import expit

from softlabel import Diagnosis, Estimate, diagnose
from softlabel.folds import deal, hash_ids

Floats = NDArray[np.float64]

N, LABELLED = 3_000, 120
THRESHOLDS, CONFIDENT = (0.5, 0.8), (0.6, 0.9)


def _table() -> pa.Table:
    rng = np.random.default_rng(2)
    rows = N + LABELLED
    age = rng.integers(40, 95, rows)
    frailty = rng.normal(size=rows)
    r = expit(0.03 * (age - 70) + 0.5 * frailty)
    p = rng.beta(3 * r, 3 * (1 - r))
    g = rng.random(rows) < p
    days = 5 + 0.1 * age + frailty + g + rng.normal(size=rows) * (1 + g)
    hidden = np.ones(rows, dtype=np.bool_)
    hidden[rng.permutation(rows)[:LABELLED]] = False
    visit = [f"visit {i}" for i in range(rows)]
    group = pa.array(g.astype(np.int8), mask=hidden)
    return pa.table({"days": days, "p": p, "age": age, "frailty": frailty, "visit": visit, "g": group})


@dataclass(frozen=True)
class Case:
    """One diagnosis with the columns of its unlabelled rows, their folds and their residuals."""

    d: Diagnosis
    y: Floats
    p: Floats
    x: Floats
    fold: NDArray[Any]
    a: Floats
    r: Floats


@cache
def _case(folds: int | None) -> Case:
    table = _table()
    d = diagnose(
        table,
        outcome="days",
        group="g",
        score="p",
        controls=["age", "frailty"],
        basis="linear",
        id="visit",
        folds=folds,
        seed=4,
        thresholds=THRESHOLDS,
        confident=CONFIDENT,
    )
    hidden = table.filter(table["g"].is_null())
    y, p, age, frailty = (hidden[name].to_numpy().astype(float) for name in ("days", "p", "age", "frailty"))
    x = np.column_stack([age, frailty])
    ids = hidden["visit"].combine_chunks()
    fold = np.zeros(len(y), dtype=np.int64) if folds is None else deal(hash_ids(ids), folds, 4)
    assert len(np.unique(fold)) == (folds or 1)
    return Case(d, y, p, x, fold, _residual(p, x, fold), _residual(y, x, fold))


@pytest.fixture(params=[None, 3], ids=["in sample", "3 folds"])
def case(request: pytest.FixtureRequest) -> Case:
    return _case(request.param)


def _residual(v: Floats, x: Floats, fold: NDArray[Any], rows: NDArray[np.bool_] | None = None) -> Floats:
    """Return v less its least-squares fit on (1, x) over the other folds (over all if there is one fold)."""
    inside = np.ones(len(v), dtype=np.bool_) if rows is None else rows
    z = np.column_stack([np.ones(len(v)), x])
    out = np.zeros(len(v))
    for k in np.unique(fold):
        train = inside & (fold != k) if len(np.unique(fold)) > 1 else inside
        beta = np.linalg.lstsq(z[train], v[train], rcond=None)[0]
        use = inside & (fold == k)
        out[use] = v[use] - z[use] @ beta
    return out


def _close(estimate: Estimate, point: float, g: Floats, bread: float) -> None:
    """Compare with a point estimate and its HC0 standard error from g of one row each."""
    assert estimate.reason is None
    # Both sides lose about four digits of sixteen to the condition of the design.
    assert estimate.estimate == pytest.approx(point, rel=1e-9)
    assert estimate.std_error == pytest.approx(math.sqrt(float(g @ g)) / abs(bread), rel=1e-9)


def test_soft_and_v_star(case: Case) -> None:
    d, p, a, r = case.d, case.p, case.a, case.r
    soft = float(a @ r / (a @ a))
    _close(d.estimate("soft"), soft, a * (r - soft * a), float(a @ a))
    moment = float((2 * p - 1) @ r / (2 * a @ a))
    _close(d.estimate("soft", form="moment"), moment, (2 * p - 1) * r - 2 * moment * a * a, float(2 * a @ a))
    v_star = float(a @ a) / len(a)
    _close(d.v_star, v_star, a * a - v_star, len(a))
    assert d.score_variance == pytest.approx(p.var(), rel=1e-12)


@pytest.mark.parametrize("t", THRESHOLDS)
def test_hard_kappa_and_deattenuated(case: Case, t: float) -> None:
    d, a, r = case.d, case.a, case.r
    h = (case.p > t).astype(np.float64)
    b = _residual(h, case.x, case.fold)
    bb, ba, br = float(b @ b), float(b @ a), float(b @ r)
    _close(d.estimate("hard", threshold=t), br / bb, b * (r - br / bb * b), bb)
    _close(d.estimate("deattenuated", threshold=t), br / ba, b * (r - br / ba * a), ba)
    moment = float((2 * h - 1) @ r) / (2 * bb)
    at = d.estimate("hard", threshold=t, form="moment")
    _close(at, moment, (2 * h - 1) * r - 2 * moment * b * b, 2 * bb)
    (row,) = [row for row in d.kappa if row.threshold == t]
    assert row.kappa == pytest.approx(ba / bb, rel=1e-9)
    g = b * (a - ba / bb * b)
    assert row.std_error == pytest.approx(math.sqrt(float(g @ g)) / bb, rel=1e-9)
    assert (row.n, row.n_above) == (N, int(h.sum()))


@pytest.mark.parametrize("t", CONFIDENT)
def test_confident_and_its_kappa(case: Case, t: float) -> None:
    rows = np.maximum(case.p, 1 - case.p) > t
    h = (case.p > t).astype(np.float64)
    a, r, b = (_residual(v, case.x, case.fold, rows) for v in (case.p, case.y, h))
    bb, ba, br = float(b @ b), float(b @ a), float(b @ r)
    estimate = case.d.estimate("confident", threshold=t)
    _close(estimate, br / bb, b * (r - br / bb * b), bb)
    (row,) = [row for row in case.d.kappa_confident if row.threshold == t]
    assert row.kappa == pytest.approx(ba / bb, rel=1e-9)
    g = b * (a - ba / bb * b)
    assert row.std_error == pytest.approx(math.sqrt(float(g @ g)) / bb, rel=1e-9)
    assert estimate.n == row.n_confident == rows.sum()
    assert row.share == pytest.approx(rows.mean())
    assert row.floor == pytest.approx(2 * t - 1)


def test_supervised_and_what_soft_is_worth_in_labels(case: Case) -> None:
    table = _table()
    shown = table.filter(table["g"].is_valid())
    y, g, age, frailty = (shown[name].to_numpy().astype(float) for name in ("days", "g", "age", "frailty"))
    design = np.column_stack([g, age, frailty, np.ones(LABELLED)])
    fit = sm.OLS(y, design).fit(cov_type="HC3", use_t=True)
    s = case.d.estimate("supervised")
    got = (s.estimate, s.std_error, s.ci_low, s.ci_high, s.p_value, s.df, s.n)
    expected = (fit.params[0], fit.bse[0], *fit.conf_int()[0], fit.pvalues[0], fit.df_resid, LABELLED)
    assert got == pytest.approx(expected, rel=1e-9)

    (worth,) = [row.labels for row in case.d.label_equivalents if row.name == "soft"]
    ratio = (s.std_error or 0) / (case.d.estimate("soft").std_error or 1)
    assert worth == pytest.approx(LABELLED * ratio**2)
