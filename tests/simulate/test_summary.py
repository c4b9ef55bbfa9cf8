"""The statistics of a Monte Carlo run against SciPy, against hand computation and against simulation."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

from softlabel.errors import DataError, InputError
from softlabel.simulate import MonteCarlo, Proportion

RNG = np.random.default_rng(11)
SAMPLE = RNG.gamma(2.0, 1.5, size=40)


def run_of(**columns: object) -> MonteCarlo:
    values = [list(column) for column in columns.values()]  # type: ignore[call-overload]
    return MonteCarlo("toy", 0, tuple(columns), tuple(zip(*values, strict=True)))


# ------------------------------------------------------------------------------------------ by hand


def test_by_hand() -> None:
    found = run_of(x=[1.0, 2.0, None, 6.0], low=[0.0, None, 1.0, 5.0], high=[2.0, 9.0, 2.0, 7.0])
    assert found.replications == 4
    assert found.column("x") == (1.0, 2.0, None, 6.0)
    assert found.values("x").tolist() == [1.0, 2.0, 6.0]
    assert found.missing("x") == 1
    assert found.mean("x") == 3.0
    assert found.sd("x") == pytest.approx(math.sqrt(7))
    assert found.mcse("x") == pytest.approx(math.sqrt(7 / 3))
    bias, mse = found.bias("x", truth=1), found.mse("x", truth=1)
    assert (bias.estimate, bias.n, bias.missing) == (2.0, 3, 1)
    assert bias.std_error == pytest.approx(math.sqrt(7 / 3))
    # Squared distances from 1: 0, 1, 25.
    assert (mse.n, mse.missing) == (3, 1)
    assert mse.estimate == pytest.approx(26 / 3)
    assert mse.std_error == pytest.approx(np.std([0, 1, 25], ddof=1) / math.sqrt(3))
    # [0, 2] and [1, 2] hold 1.5, [5, 7] does not, and the second replication has no interval.
    covered = found.coverage("low", "high", truth=1.5)
    assert (covered.estimate, covered.n, covered.missing) == (2 / 3, 3, 1)
    assert found.coverage("low", "high", truth=2.0).estimate == 2 / 3  # ends belong to the interval
    assert found.share("x", below=2.0) == Proportion.of(2, 3, missing=1)
    assert found.to_arrow().to_pydict()["x"] == [1.0, 2.0, None, 6.0]


# --------------------------------------------------------------------------------------- against SciPy


def test_moments_against_scipy() -> None:
    found = run_of(x=SAMPLE)
    assert found.mean("x") == pytest.approx(SAMPLE.mean(), rel=1e-14)
    assert found.sd("x") == pytest.approx(stats.tstd(SAMPLE), rel=1e-14)
    assert found.mcse("x") == pytest.approx(stats.sem(SAMPLE), rel=1e-14)
    # Var(s²) = (m4 - m2² (n-3)/(n-1))/n, with SciPy's kurtosis m4/m2².
    n, m2, kurtosis = 40, float(stats.moment(SAMPLE, 2)), float(stats.kurtosis(SAMPLE, fisher=False))
    variance = m2**2 * (kurtosis - (n - 3) / (n - 1)) / n
    assert found.sd_se("x") == pytest.approx(math.sqrt(variance) / (2 * stats.tstd(SAMPLE)), rel=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 17), (950, 1000)])
def test_clopper_pearson_against_scipy(successes: int, n: int, level: float) -> None:
    found = Proportion.of(successes, n, level=level)
    expected = stats.binomtest(successes, n).proportion_ci(level, method="exact")
    # SciPy solves for the ends by root finding, to about 1e-10.
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.estimate == successes / n
    assert found.level == level


def test_excludes() -> None:
    found = Proportion.of(90, 100)
    assert found.excludes(0.99)
    assert found.excludes(0.5)
    assert not found.excludes(0.9)
    assert not found.excludes(found.low)


# ------------------------------------------------------------------------------------ by simulation


@pytest.mark.parametrize("law", ["normal", "heavy"])
def test_monte_carlo_errors_are_the_spread_over_repeated_runs(law: str) -> None:
    """Each reported error against the standard deviation over 2000 runs of 200 replications."""
    rng, repetitions, n = np.random.default_rng(5), 2000, 200
    shape = (repetitions, n)
    x = rng.standard_normal(shape) if law == "normal" else rng.standard_t(9, shape)
    se = np.exp(0.3 * rng.standard_normal(shape) + 0.3 * np.abs(x))  # errors that follow the estimates
    runs = [run_of(x=x[i], se=se[i]) for i in range(repetitions)]
    pairs = {
        "mean": ([r.mean("x") for r in runs], [r.mcse("x") for r in runs]),
        "sd": ([r.sd("x") for r in runs], [r.sd_se("x") for r in runs]),
        "mse": zip(*[(m.estimate, m.std_error) for m in (r.mse("x", 0.3) for r in runs)], strict=True),
        "se_ratio": zip(*[(m.estimate, m.std_error) for m in (r.se_ratio("se", "x") for r in runs)], strict=True),
    }
    for name, (estimates, errors) in pairs.items():
        # The spread over 2000 runs has itself an error of 1.6% (more for heavy tails), and at n = 200 the
        # delta method is a few per cent low there: fourth moments of a t with 9 degrees are rough.
        tolerance = 0.06 if law == "normal" else 0.12
        ratio = math.sqrt(float(np.mean(np.square(errors)))) / float(np.std(estimates))
        assert ratio == pytest.approx(1, abs=tolerance), name


def test_clopper_pearson_covers() -> None:
    rng, n, chance = np.random.default_rng(6), 60, 0.93
    hits = [not Proportion.of(int(k), n).excludes(chance) for k in rng.binomial(n, chance, 4000)]
    # Exact coverage from the binomial law; the interval's promise is at least 0.95.
    law = stats.binom(n, chance)
    exact = sum(law.pmf(k) for k in range(n + 1) if not Proportion.of(k, n).excludes(chance))
    assert exact >= 0.95
    assert abs(np.mean(hits) - exact) < 4 * math.sqrt(exact * (1 - exact) / 4000)


def test_coverage_of_a_right_interval_and_of_a_wrong_one() -> None:
    rng, n = np.random.default_rng(8), 3000
    x = rng.standard_normal(n)
    found = run_of(low=x - 1.96, high=x + 1.96, short=x + 0.5)
    assert not found.coverage("low", "high", 0.0, level=0.999).excludes(0.95)
    assert found.coverage("low", "short", 0.0, level=0.999).excludes(0.95)
    assert found.coverage("low", "high", 0.0, level=0.5).high < found.coverage("low", "high", 0.0).high


def test_se_ratio_of_a_right_error_is_one() -> None:
    rng = np.random.default_rng(9)
    samples = rng.exponential(size=(2000, 50))
    found = run_of(mean=samples.mean(1), se=samples.std(1, ddof=1) / math.sqrt(50))
    ratio = found.se_ratio("se", "mean")
    # The mean of s lies 2-3% under sigma for exponential samples of 50.
    assert ratio.estimate == pytest.approx(0.975, abs=4 * ratio.std_error)
    assert 0 < ratio.std_error < 0.03


# -------------------------------------------------------------------------------------- what is refused


def test_pairs_use_replications_that_have_both() -> None:
    found = run_of(se=[1.0, 2.0, None, 4.0, 5.0, 3.0], x=[1.0, None, 3.0, 4.0, 7.0, 2.0])
    ratio = found.se_ratio("se", "x")
    assert (ratio.n, ratio.missing) == (4, 2)
    assert ratio.estimate == pytest.approx(3.25 / np.std([1, 4, 7, 2], ddof=1))


def test_constant_columns() -> None:
    found = run_of(x=[2.0] * 5, se=[1.0] * 5)
    assert (found.sd("x"), found.sd_se("x"), found.mcse("x")) == (0.0, 0.0, 0.0)
    with pytest.raises(DataError, match="x to vary over replications"):
        found.se_ratio("se", "x")


def test_too_few_values() -> None:
    found = run_of(x=[1.0, None], y=[None, None], z=[1.0, 2.0])
    assert found.mean("x") == 1.0
    for call in (
        lambda: found.mean("y"),
        lambda: found.sd("x"),
        lambda: found.mcse("x"),
        lambda: found.sd_se("z"),
        lambda: found.bias("x", 0),
        lambda: found.se_ratio("z", "z"),
    ):
        with pytest.raises(DataError, match="replications with a value"):
            call()
    with pytest.raises(DataError, match="found 0 of 0"):
        found.coverage("y", "y", 0)


def test_wrong_calls() -> None:
    found = run_of(estimate=[1.0])
    with pytest.raises(InputError, match="Did you mean 'estimate'"):
        found.mean("estimates")
    with pytest.raises(InputError, match=r"a level strictly between 0 and 1; found 1\.0"):
        Proportion.of(1, 2, level=1.0)
    with pytest.raises(DataError, match="found 3 of 2"):
        Proportion.of(3, 2)


def test_frozen_and_picklable() -> None:
    found = run_of(x=[1.0, None])
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  (our own bytes)
    with pytest.raises(AttributeError):
        found.seed = 1  # type: ignore[misc]
