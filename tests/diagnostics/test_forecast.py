"""Forecast: the mean squared error of a threshold before any label, beside the one it has."""

import numpy as np
import pytest

import softlabel as sl
from softlabel.diagnostics.forecast import forecast_table
from softlabel.results import Attenuation, ConfidentAttenuation, Estimate
from softlabel.results.records import estimated, not_estimated
from softlabel.simulate import PaperDesign

SOFT = estimated("soft", 2.0, 0.25, 100)


def hard(threshold: float, variance: float) -> Estimate:
    return estimated("hard", 1.0, variance, 100, threshold=threshold)


def kappa(threshold: float, value: float | None, error: float | None, reason: str | None = None) -> Attenuation:
    return Attenuation(threshold, value, error, None, None, 100, 50, "linear", reason)


def test_by_hand() -> None:
    confident = [estimated("confident", 1.0, 0.5, 40, threshold=0.9)]
    inside = [ConfidentAttenuation(0.9, 1.0, 0.1, None, None, 40, 0.4, 0.8, "linear")]
    found = forecast_table(
        SOFT, [hard(0.5, 0.04), hard(0.7, 0.09)], confident, [kappa(0.5, 0.5, 0.1), kappa(0.7, 0.4, 0.0)], inside
    )
    soft, first, second, last = found
    assert (soft.mse, soft.bias, soft.relative_to_soft, soft.relative_to_best, soft.best) == (0.25, 0.0, 1.0, 1.0, True)
    # τ² = 4 − 0.25; (κ − 1)² = 0.25 − 0.01 and 0.36.
    assert (first.bias, first.squared_bias, first.mse) == pytest.approx((-1.0, 0.24 * 3.75, 0.94))
    assert second.mse == pytest.approx(0.36 * 3.75 + 0.09)
    assert (first.best, second.best, last.best) == (True, False, True)
    assert (second.relative_to_best, second.relative_to_soft) == pytest.approx((1.44 / 0.94, 1.44 / 0.25))
    # Noise is taken off a square, and no square is below zero.
    assert (last.squared_bias, last.mse, last.relative_to_soft) == pytest.approx((0.0, 0.5, 2.0))


def test_reasons_are_kept() -> None:
    broken = not_estimated("soft", "V* is zero", 100)
    found = forecast_table(broken, [hard(0.5, 0.04)], [], [kappa(0.5, 0.5, 0.1)], [])
    assert [row.reason for row in found] == ["V* is zero", "V* is zero"]
    assert [row.mse for row in found] == [None, None]
    missing = forecast_table(
        SOFT, [hard(0.5, 0.04), hard(0.6, 0.04)], [], [kappa(0.5, None, None, "no"), kappa(0.6, 0.5, 0.1)], []
    )
    assert [row.reason for row in missing] == [None, "no", None]
    assert [row.best for row in missing] == [True, False, True]


def test_it_agrees_with_the_mean_squared_errors_of_a_simulation() -> None:
    design, reps = PaperDesign(0.5, tau=0.7), 250
    rng = np.random.default_rng(12)
    forecasts: dict[tuple[str, float | None], list[float]] = {}
    errors: dict[tuple[str, float | None], list[float]] = {}
    for _ in range(reps):
        d = sl.diagnose(
            design.sample(1500, seed=rng),
            outcome="y",
            score="p",
            controls=["x1", "x2", "x3"],
            basis="linear",
            thresholds=(0.5, 0.8, 0.9),
            confident=(0.6, 0.75, 0.85, 0.95),
        )
        for row in d.forecast:
            assert row.mse is not None
            found = d.estimate(row.name, threshold=row.threshold).estimate
            assert found is not None
            forecasts.setdefault((row.name, row.threshold), []).append(row.mse)
            errors.setdefault((row.name, row.threshold), []).append((found - design.tau) ** 2)
    assert len(forecasts) == 8
    for key, values in forecasts.items():
        spread = np.hypot(np.std(values), np.std(errors[key])) / np.sqrt(reps)
        # Four Monte Carlo standard errors, and what a sandwich is short of at this size.
        assert np.mean(values) == pytest.approx(np.mean(errors[key]), abs=4 * spread + 0.03 * np.mean(errors[key])), key
    best = min((np.mean(v), k) for k, v in errors.items() if k[0] == "confident")[1]
    assert min((np.mean(v), k) for k, v in forecasts.items() if k[0] == "confident")[1] == best
