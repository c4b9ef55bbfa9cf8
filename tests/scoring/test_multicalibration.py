"""Multicalibration: right within groups that a marginal calibrator leaves wrong, quiet, and a function of the row."""

import builtins
import logging
import pickle
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from softlabel.errors import DataError, InputError
from softlabel.scoring.multicalibration import Multicalibrated, fit_multicalibrated
from tests.oracle import Floats

needs_mcgrad = pytest.mark.skipif(
    find_spec("mcgrad") is None or find_spec("lightgbm") is None, reason="MCGrad is not installed: make extras"
)

CATEGORICAL = (False, True)


class Shifted(NamedTuple):
    """Scores that are off by a shift within each of six levels, which cancel out over all rows."""

    p: Floats
    controls: Floats
    group: Floats
    truth: Floats


def shifted(n: int, seed: int, *, size: float = 1.0) -> Shifted:
    rng = np.random.default_rng(seed)
    number, level = rng.normal(size=n), rng.integers(0, 6, n)
    index = 0.8 * number + np.array([-1, -0.5, 0, 0.3, 0.8, 1.2])[level] + 1.2 * rng.normal(size=n)
    p = expit(index + size * np.array([1, -1, 0.5, -0.5, 1, -1])[level])
    # Codes of text are hashes, of up to 53 bits.
    codes = np.array([2.0**52 + 3, 5.0, 9e15, 1.0, 77.0, 1e6])[level]
    return Shifted(p, np.column_stack([number, codes]), (rng.random(n) < expit(index)).astype(float), expit(index))


def within(p: Floats, rows: Shifted) -> Floats:
    """The mean of truth − p in each level, (6,)."""
    return np.array([(rows.truth - p)[rows.controls[:, 1] == c].mean() for c in np.unique(rows.controls[:, 1])])


@needs_mcgrad
def test_it_mends_within_levels_what_a_marginal_calibrator_leaves() -> None:
    new, runs = shifted(20_000, 1000), 8
    gaps, errors = [], []
    for seed in range(runs):
        rows = shifted(500, seed)
        platt = LogisticRegression(C=np.inf).fit(logit(rows.p)[:, None], rows.group)
        marginal = platt.predict_proba(logit(new.p)[:, None])[:, 1]
        multi = fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rows.group, seed=seed)(new.p, new.controls)
        gaps.append([np.abs(within(p, new)).mean() for p in (marginal, multi)])
        errors.append([np.sqrt(np.mean((p - new.truth) ** 2)) for p in (marginal, multi)])
    for of_each in (np.array(gaps), np.array(errors)):
        gain = of_each[:, 0] - 2 * of_each[:, 1]
        # Less than half is left, by three of its own Monte Carlo standard errors.
        assert gain.mean() > 3 * gain.std(ddof=1) / np.sqrt(runs)


@needs_mcgrad
def test_it_leaves_a_calibrated_score_nearly_alone() -> None:
    new, off = shifted(5000, 1000, size=0.0), []
    for seed in range(8):
        rows = shifted(500, seed, size=0.0)
        found = fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rows.group, seed=seed)
        off.append(np.sqrt(np.mean((found(new.p, new.controls) - new.truth) ** 2)))
    # Most runs stop before the first round; the two parameters of a Platt fit would cost 0.03 in each.
    assert np.median(off) == 0
    assert np.mean(off) < 0.02


@needs_mcgrad
def test_it_is_what_mcgrad_predicts() -> None:
    import pyarrow as pa
    from mcgrad.methods import MCGrad

    rows, new = shifted(400, 1), shifted(300, 2)
    found = fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rows.group, seed=3)
    codes = np.unique(rows.controls[:, 1])

    def frame(of: Shifted) -> Any:
        cut = np.clip(of.p, 1 / 1600, 1 - 1 / 1600)
        level = np.searchsorted(codes, of.controls[:, 1]).astype(float)
        return pa.table({"level": level, "number": of.controls[:, 0], "p": cut, "group": of.group}).to_pandas()

    settings = {"min_child_samples": 20, "min_data_per_group": 20, "num_leaves": 3, "lambda_l2": 5.0}
    settings |= {"n_estimators": 20, "num_threads": 1, "force_row_wise": True}
    model = MCGrad(
        encode_categorical_variables=False,
        lightgbm_params=settings,
        patience=1,
        early_stopping_use_crossvalidation=True,
        random_state=3,
    )
    model.fit(frame(rows), "p", "group", None, ["level"], ["number"])
    assert len(found.trees) > 0
    # The same trees and the same sums, but for the last bits of the logarithm and of what text keeps of a number.
    assert found(new.p, new.controls) == pytest.approx(model.predict(frame(new), "p", ["level"], ["number"]), abs=1e-12)


@needs_mcgrad
def test_the_seed_decides_and_nothing_else() -> None:
    rows, new = shifted(300, 4), shifted(500, 5)
    first, again, other = (
        fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rows.group, seed=seed) for seed in (1, 1, 2)
    )
    found = first(new.p, new.controls)
    assert first == again
    assert first != other
    assert np.array_equal(found, pickle.loads(pickle.dumps(first))(new.p, new.controls))  # noqa: S301
    for cut in (1, 7):
        parts = [first(new.p[at : at + cut], new.controls[at : at + cut]) for at in range(0, 500, cut)]
        assert np.array_equal(found, np.concatenate(parts))
    assert first(new.p[:0], new.controls[:0]).shape == (0,)


@needs_mcgrad
def test_weights() -> None:
    rows, new = shifted(500, 6, size=0.0), shifted(500, 7, size=0.0)
    none = np.random.default_rng(0).random(500) < 0.3
    weight = np.where(none, 0.0, np.where(rows.group == 1, 1.5, 0.5))

    def fitted(kept: Any, weight: Any) -> Floats:
        return fit_multicalibrated(rows.p[kept], rows.controls[kept], CATEGORICAL, rows.group[kept], weight)(*new[:2])

    weighted = fitted(slice(None), weight)
    assert np.array_equal(weighted, fitted(~none, weight[~none]))
    # Three times the odds of the group, of which trees of few rows and a ridge see most.
    assert np.mean(logit(weighted) - logit(fitted(~none, None))) > 0.5 * np.log(3)


@needs_mcgrad
@pytest.mark.parametrize("columns", [[], [0], [1]], ids=["none", "number", "category"])
def test_controls_of_one_kind_or_none_and_scores_at_the_ends(columns: list[int]) -> None:
    rows = shifted(300, 8)
    p = np.where(rows.p > 0.9, 1.0, np.where(rows.p < 0.1, 0.0, rows.p))
    kinds = tuple(CATEGORICAL[j] for j in columns)
    found = fit_multicalibrated(p, rows.controls[:, columns], kinds, rows.group)(p, rows.controls[:, columns])
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()


@needs_mcgrad
def test_gaps_and_new_levels() -> None:
    rows, new = shifted(2000, 9), shifted(400, 10)
    gap = np.random.default_rng(0).random(2000) < 0.25
    # Rows without a level are off by as much as none of the levels is.
    controls, p = rows.controls.copy(), np.where(gap, expit(logit(rows.p) + 3), rows.p)
    controls[gap, 1] = np.nan
    found = fit_multicalibrated(p, controls, CATEGORICAL, rows.group)
    as_gap = new.controls.copy()
    as_gap[:, 1] = np.nan
    fell = logit(found(new.p, as_gap)) - logit(found(new.p, new.controls))
    assert fell.mean() < -1
    # A level that was never there is no gap: it goes where the rest goes.
    as_new = new.controls.copy()
    as_new[:, 1] = 123.0
    assert np.abs(logit(found(new.p, as_new)) - logit(found(new.p, new.controls))).mean() < 1
    # Numbers had no gaps: a gap is the median, not zero.
    moved = fit_multicalibrated(p, np.add(rows.controls, [1000.0, 0.0]), CATEGORICAL, rows.group)
    holed, middle = (new.controls * [0.0, 1.0] + [at, 0.0] for at in (np.nan, 1000 + np.median(rows.controls[:, 0])))
    assert np.array_equal(moved(new.p, holed), moved(new.p, middle))


@needs_mcgrad
def test_it_is_quiet(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger("mcgrad").level
    with caplog.at_level(logging.DEBUG):
        for size in (0.0, 1.0):  # warnings are errors in every test
            rows = shifted(300, 11, size=size)
            fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rows.group)(*rows[:2])
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("mcgrad").level == level


@needs_mcgrad
def test_two_rows_of_each_group_are_needed_and_enough() -> None:
    rows = shifted(60, 12)
    rare = np.arange(60) < 2
    found = fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rare.astype(float))
    assert np.isfinite(found(*rows[:2])).all()
    with pytest.raises(DataError, match="two rows of each group to multicalibrate on; found 1 of the group and 59"):
        fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, (np.arange(60) < 1).astype(float))


@pytest.mark.parametrize("name", ["mcgrad", "lightgbm"])
def test_without_packages_the_error_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(asked: str, *rest: Any, **named: Any) -> Any:
        if asked.partition(".")[0] == name:
            raise ImportError(f"No module named {name!r}")
        return real(asked, *rest, **named)

    rows = shifted(60, 13)
    monkeypatch.setattr(builtins, "__import__", without)
    unread = Multicalibrated(("no such tree",), (1.0,), (), 0.01)
    with pytest.raises(InputError, match=rf"that {name} cannot be imported.*pip install --no-deps mcgrad"):
        _ = (
            fit_multicalibrated(rows.p, rows.controls, CATEGORICAL, rows.group)
            if name == "mcgrad"
            else unread(rows.p, rows.controls[:, :0])
        )
