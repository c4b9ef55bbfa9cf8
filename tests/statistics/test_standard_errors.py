"""Reported standard errors against the spread of 2,000 replications, and coverage."""

import numpy as np
import pytest

from softlabel.asking import CONFIDENT, THRESHOLDS
from softlabel.simulate import Diagnosing, MonteCarlo, PaperDesign, run

REPLICATIONS, ROWS = 2_000, 2_000
# A note says of smaller sets that their errors are too small: "threshold.few_rows", "confident.few_rows".
LEAST, LEAST_CONFIDENT = 50, 100
# Mean standard error over Monte Carlo deviation of the paper's moment form at n = 2,000.
MOMENT = {0.2: 2.06, 0.3: 1.54, 0.5: 1.21}


@pytest.fixture(scope="module", params=[0.2, 0.3, 0.5])
def runs(request: pytest.FixtureRequest) -> tuple[float, MonteCarlo]:
    experiment = Diagnosing(PaperDesign(sigma_u=request.param), n_unlabelled=ROWS, options={"basis": "linear"})
    return request.param, run(experiment, REPLICATIONS, seed=11, workers=2, progress=False)


def honest(sigma_u: float) -> list[str]:
    """Every number whose label, in the population, leaves rows enough on either side that no note warns of it."""
    p = np.asarray(PaperDesign(sigma_u=sigma_u).sample(400_000, 0, seed=5)["p"])
    sides = {t: min((p > t).mean(), (p <= t).mean()) for t in THRESHOLDS}
    inside = {t: min((p > t).mean(), (1 - p > t).mean()) for t in CONFIDENT}
    found = [f"{name} {t:g}" for t, side in sides.items() if side * ROWS >= LEAST for name in ("hard", "kappa")]
    found += [
        f"{name} {t:g}"
        for t, side in inside.items()
        if side * ROWS >= LEAST_CONFIDENT
        for name in ("confident", "kappa_confident")
    ]
    return ["soft", "v_star", *found]


def test_what_is_held_to_it() -> None:
    # Every threshold and every set at 0.5; at 0.2 the sets up to 0.75.
    assert len(honest(0.5)) == 2 + 2 * (len(THRESHOLDS) + len(CONFIDENT))
    assert "confident 0.75" in honest(0.2)
    assert "confident 0.85" in honest(0.3)


def test_standard_errors_are_the_spread_of_the_estimates(runs: tuple[float, MonteCarlo]) -> None:
    sigma_u, monte_carlo = runs
    ratios = {name: monte_carlo.se_ratio(f"{name} se", name) for name in honest(sigma_u)}
    # Each ratio is known to 1.6%, so this bound is three of its standard errors.
    outside = {name: ratio for name, ratio in ratios.items() if not 0.95 <= ratio.estimate <= 1.05}
    assert outside == {}


def test_the_moment_form_reports_its_oracle_error(runs: tuple[float, MonteCarlo]) -> None:
    sigma_u, monte_carlo = runs
    ratio = monte_carlo.se_ratio("soft moment se", "soft moment")
    # Two Monte Carlo values are compared, each known to 1.6%: three standard errors of their difference.
    assert ratio.estimate == pytest.approx(MOMENT[sigma_u], rel=0.07)


@pytest.mark.parametrize("name", ["soft", "deattenuated 0.5"])
def test_intervals_cover_the_effect(runs: tuple[float, MonteCarlo], name: str) -> None:
    _, monte_carlo = runs
    # 99.9% interval of the coverage: six of these are made.
    coverage = monte_carlo.coverage(f"{name} low", f"{name} high", truth=1.0, level=0.999)
    assert not coverage.excludes(0.95)


def test_other_intervals_cover_their_population_values(runs: tuple[float, MonteCarlo]) -> None:
    sigma_u, monte_carlo = runs
    truth = PaperDesign(sigma_u=sigma_u).truth()
    limits = {f"kappa {t:g}": truth.hard_at(t).linear for t in (0.5, 0.7)}
    limits |= {f"hard {t:g}": truth.hard_at(t).linear for t in (0.5, 0.7)}
    for name in ("kappa_confident", "confident"):
        limits |= {f"{name} {t:g}": truth.confident_at(t).linear for t in (0.55, 0.65)}
    for name, at in limits.items():
        assert at is not None  # the effect is one, so hard and confident aim at kappa itself
        # Cross-fitting shifts kappa by O(1/n), a tenth of a standard error here, which costs up to 1% of coverage.
        low, high = f"{name} low", f"{name} high"
        coverage = monte_carlo.coverage(low, high, truth=at.kappa, level=0.999)
        assert coverage.high > 0.94, (name, coverage)
        assert coverage.low < 0.96, (name, coverage)
