"""Cells compared by hand, and the measures they are made of against numpy."""

from collections.abc import Callable
from math import hypot, sqrt

import numpy as np
import pytest

from softlabel.errors import DataError
from softlabel.replicate.paper.cells import MOST, Printed, cell
from softlabel.replicate.paper.measures import coverage, mean, mse_ratio, over, spread_of_mean, squared_bias, variance
from softlabel.simulate import Measured, MonteCarlo


def test_a_print_knows_its_last_digit() -> None:
    assert Printed.of("0.0570") == Printed(0.057, 1e-4)
    assert Printed.of("2538") == Printed(2538.0, 1.0)
    assert Printed.of("-0.199", std_error=0.0).std_error == 0.0


def test_a_cell_by_hand() -> None:
    measured = Measured(estimate=1.2, std_error=0.03, n=900, missing=0)
    found = cell("row", "column", measured, printed=Printed.of("1.1"), exact=1.26, replications=400)
    assert found.z_exact == pytest.approx(-2.0)
    # The paper has 400 replications where we have 900: its error is half as large again.
    assert found.printed_error == pytest.approx(0.045)
    assert found.z_printed == pytest.approx(0.1 / sqrt(0.03**2 + 0.045**2 + 0.1**2 / 12))
    assert (found.source, found.outcome, found.why) == ("paper", "agree", "")


@pytest.mark.parametrize(("away", "outcome"), [(MOST - 0.01, "agree"), (MOST + 0.01, "differs"), (-5.0, "differs")])
def test_a_cell_differs_beyond_four_errors(away: float, outcome: str) -> None:
    exact = cell("r", "c", Measured(away, 1.0, 9, 0), exact=0.0, why="known")
    assert (exact.source, exact.outcome, exact.why) == ("ours", outcome, "known" if outcome == "differs" else "")
    # A unit of 1e-9 adds nothing to the two errors.
    sure = Printed(0.0, 1e-9, std_error=0.75)
    assert cell("r", "c", Measured(1.25 * away, 1.0, 9, 0), printed=sure).outcome == outcome


def test_what_cannot_be_compared_is_null_and_a_missing_error_is_an_error() -> None:
    found = cell("r", "c", Measured(1.0, 0.0, 9, 0), exact=1.0)
    assert (found.z_exact, found.z_printed, found.outcome) == (None, None, "agree")
    with pytest.raises(DataError, match="the paper's replications"):
        cell("r", "c", Measured(1.0, 1.0, 9, 0), printed=Printed.of("1.0"))


def _normal(n: int, seed: int) -> MonteCarlo:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(1.5, 2.0, n), rng.normal(1.0, 3.0, n)
    rows = tuple(zip(a.tolist(), b.tolist(), (a - 1.96 * 2).tolist(), (a + 1.96 * 2).tolist(), strict=True))
    return MonteCarlo("toy", seed, ("a", "b", "low", "high"), rows)


def test_measures_are_those_of_numpy() -> None:
    run = _normal(50, 1)
    a, b = run.values("a"), run.values("b")
    assert mean(run, "a").estimate == pytest.approx(a.mean())
    assert variance(run, "a").estimate == pytest.approx(a.var(ddof=1))
    assert squared_bias(run, "a", 1.0).estimate == pytest.approx((a.mean() - 1) ** 2)
    assert mse_ratio(run, "a", "b", 1.0).estimate == pytest.approx(np.mean((a - 1) ** 2) / np.mean((b - 1) ** 2))
    assert spread_of_mean(run, "a", 25).estimate == pytest.approx(a.std(ddof=1) / 5)
    assert coverage(run, "low", "high", 1.5).estimate == pytest.approx(np.mean(np.abs(a - 1.5) <= 1.96 * 2))
    assert over(mean(run, "a"), -2.0).std_error == pytest.approx(mean(run, "a").std_error / 2)


@pytest.fixture(scope="module")
def runs() -> list[MonteCarlo]:
    return [_normal(400, seed) for seed in range(600)]


@pytest.mark.parametrize(
    ("measure", "factor"),
    [
        (lambda run: variance(run, "a"), 1.0),
        (lambda run: mse_ratio(run, "a", "b", 1.0), 1.0),
        (lambda run: coverage(run, "low", "high", 1.5), 1.0),
        (lambda run: squared_bias(run, "a", 1.0), 1.0),
        # Without a bias d² has the variance 2 se⁴, and 4 d² se² + 2 se⁴ is 6 se⁴ on average: cautious by the root of 3.
        (lambda run: squared_bias(run, "a", 1.5), sqrt(3.0)),
    ],
    ids=["variance", "ratio", "coverage", "squared bias", "no bias"],
)
def test_errors_of_measures_are_their_spread_over_runs(
    runs: list[MonteCarlo], measure: Callable[[MonteCarlo], Measured], factor: float
) -> None:
    found = [measure(run) for run in runs]
    spread = float(np.std([one.estimate for one in found], ddof=1))
    claimed = sqrt(float(np.mean([one.std_error**2 for one in found])))
    # The spread of 600 normal values is known to 1/sqrt(1200), 3%, and that of their squares to 7%: twice that.
    assert claimed / spread == pytest.approx(factor, rel=0.14)


def test_a_full_coverage_has_an_error_too() -> None:
    run = MonteCarlo("toy", 0, ("low", "high"), ((-1.0, 1.0),) * 98)
    found = coverage(run, "low", "high", 0.0)
    assert found.estimate == 1.0
    assert found.std_error == pytest.approx(sqrt(0.99 * 0.01 / 98))


def test_the_two_errors_are_combined() -> None:
    found = cell("r", "c", Measured(2.0, 0.3, 100, 0), printed=Printed(1.0, 1e-12, std_error=0.4))
    assert found.z_printed == pytest.approx(1.0 / hypot(0.3, 0.4))
