"""Coverage where rows are not alike: curved controls, clusters, weights. Each with what goes wrong without.

Where the replications are few, for time, the tolerances are those of a binomial, and runs of thousands gave the
figures that stand beside the tests.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import softlabel as sl
from softlabel.simulate import MonteCarlo, run
from tests.statistics.designs import EFFECT, ROLES, Clustered, Weighted, values

REPLICATIONS, FEW = 2_000, 300


def _covers(monte_carlo: MonteCarlo, label: str, truth: float) -> None:
    """Fail if the coverage of 95% intervals is seen to lie outside 93 to 97%.

    At a level of 0.999, so that of the dozen intervals held to it one fails by chance for 1% of seeds.
    """
    coverage = monte_carlo.coverage(f"{label} low", f"{label} high", truth, level=0.999)
    assert coverage.high >= 0.93, (label, coverage)
    assert coverage.low <= 0.97, (label, coverage)


def _holds(monte_carlo: MonteCarlo, label: str, truth: float) -> None:
    """Fail if the coverage of 95% intervals is seen to lie outside 94 to 96%, in so many replications.

    At a level of 0.999: fewer than 92.2% or more than 97.35% of 2,000 are too far. What covers 92% in truth fails for
    61% of seeds, 91% for 97%, 90% for all but 1 in 2,500.
    """
    coverage = monte_carlo.coverage(f"{label} low", f"{label} high", truth, level=0.999)
    assert coverage.high >= 0.94, (label, coverage)
    assert coverage.low <= 0.96, (label, coverage)


# ----------------------------------------------------------------------------------------- curved controls


class Curved:
    """Scores and outcomes that bend alike with two of three controls, diagnosed by a basis."""

    def __init__(self, n: int, bases: Mapping[str, Any], labelled: int = 0) -> None:
        self.n, self.labelled, self.bases = n, labelled, bases

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        table = self.draw(self.n + self.labelled, rng)
        table["g"] = np.where(np.arange(self.n + self.labelled) < self.n, np.nan, table["g"])
        found: dict[str, float | None] = {}
        for name, basis in self.bases.items():
            d = sl.diagnose(table, controls=["x1", "x2", "x3"], basis=basis, thresholds=(0.5,), **ROLES)
            found |= values(d, name)
            found[f"{name} ridge"] = d.sample.ridge
        return found

    @staticmethod
    def draw(n: int, rng: np.random.Generator) -> dict[str, Any]:
        """Rows with the group known: E[G|p,X] = p, and the group alone carries the score into the outcome."""
        x1, x2, x3 = rng.normal(size=(3, n))
        bend = np.sin(1.5 * x1) + 0.5 * (np.abs(x2) - 0.8)
        r = expit(1.2 * bend + 0.3 * x3)
        p = rng.beta(5 * r, 5 * (1 - r))
        g = rng.random(n) < p
        y = 1.5 * bend + 0.5 * x1 - 0.5 * x3 + EFFECT * g + rng.normal(size=n)
        return {"x1": x1, "x2": x2, "x3": x3, "p": p, "g": g.astype(float), "y": y}


BASES = {"default": None, "no ridge": sl.Basis(ridge=0), "linear": "linear"}
# Soft in 2,000 replications, n = 2,000 and 500, default basis: bias 0.23 and 0.20 of its deviation (without a ridge
# 0.22 and 0.16, so it is what six knots cannot follow, not the ridge), mean error over deviation 1.03 and 0.95,
# coverage 0.946 and 0.932 (known to 0.006). The linear basis: bias 18.5 and 9.3 deviations, coverage 0.


@pytest.fixture(scope="module", params=[2_000, 500])
def curved(request: pytest.FixtureRequest) -> MonteCarlo:
    return run(Curved(request.param, BASES), 300 if request.param == 500 else 150, seed=1, progress=False)


def test_the_default_basis_follows_curves(curved: MonteCarlo) -> None:
    _covers(curved, "default soft", EFFECT)
    bias, ratio = curved.bias("default soft", EFFECT), curved.se_ratio("default soft se", "default soft")
    # A quarter of a deviation by the long runs; a mean of 150 is known to a twelfth of one: 0.25 + 4/12.
    assert abs(bias.estimate) < 0.6 * curved.sd("default soft")
    assert abs(ratio.estimate - 1) < 4 * ratio.std_error + 0.05


def test_the_ridge_costs_nothing(curved: MonteCarlo) -> None:
    default, none = (np.array(curved.values(f"{name} soft")) for name in ("default", "no ridge"))
    # The same rows and folds: what a chosen ridge moves is a small part of an error.
    assert abs(float((default - none).mean())) < 0.1 * float(none.std())
    assert float((default - none).std()) < 0.25 * float(none.std())
    assert curved.mean("default ridge") > 0
    # It is chosen for predicting, and so V̂* is not larger with it than without.
    assert curved.mean("default v_star") < curved.mean("no ridge v_star")


def test_the_linear_basis_does_not(curved: MonteCarlo) -> None:
    assert curved.coverage("linear soft low", "linear soft high", EFFECT).estimate == 0
    assert curved.bias("linear soft", EFFECT).estimate > 5 * curved.sd("linear soft")
    assert curved.mean("linear v_star") > 1.3 * curved.mean("default v_star")


# -------------------------------------------------------------------------------------------------- clusters


# In 2,000 replications, with clusters and as if rows were independent: soft 0.932 and 0.765, supervised 0.952 and
# 0.935, hard(0.5) 0.947 and 0.830, hard(0.8) 0.948 and 0.853, κ(0.5) 0.956 and 0.821, κ(0.8) 0.954 and 0.717,
# V* 0.952 and 0.792, each known to 0.006. Errors of soft are 0.95 of its deviation: forty sums of products have
# heavy tails, which t(39) does not know of.


@pytest.fixture(scope="module")
def clustered() -> MonteCarlo:
    return run(Clustered("c"), REPLICATIONS, seed=2, workers=2, progress=False)


@pytest.fixture(scope="module")
def as_rows() -> MonteCarlo:
    return run(Clustered(None), FEW, seed=2, progress=False)


@pytest.mark.parametrize("label", ["soft", "supervised", "v_star", "hard 0.5", "hard 0.8", "kappa 0.5", "kappa 0.8"])
def test_intervals_by_cluster_cover(clustered: MonteCarlo, label: str) -> None:
    _holds(clustered, label, Clustered.truth()[label])


@pytest.mark.parametrize("label", ["soft", "v_star", "hard 0.5", "hard 0.8", "kappa 0.5", "kappa 0.8"])
def test_intervals_by_row_do_not(as_rows: MonteCarlo, label: str) -> None:
    coverage = as_rows.coverage(f"{label} low", f"{label} high", Clustered.truth()[label], level=0.999)
    assert coverage.high < 0.93


def test_the_truth_of_the_clustered_design() -> None:
    table = Clustered.draw(400_000, 0, 100_000, np.random.default_rng(5))
    d = sl.diagnose(table, controls=["x"], basis="linear", cluster="c", thresholds=(0.5, 0.8), **ROLES)
    truth = Clustered.truth()
    for name, value, error in (
        ("v_star", d.v_star.estimate, d.v_star.std_error),
        *((f"kappa {row.threshold:g}", row.kappa, row.std_error) for row in d.kappa),
    ):
        assert value == pytest.approx(truth[name], abs=4 * (error or 0)), name


# --------------------------------------------------------------------------------------------------- weights


# In 2,000 replications, with the weights and without: soft 0.949 and 0.536, supervised 0.953 and 0.294; with them V*
# 0.947 (0.006).


@pytest.fixture(scope="module")
def weighted() -> MonteCarlo:
    return run(Weighted("w"), REPLICATIONS, seed=3, workers=2, progress=False)


@pytest.fixture(scope="module")
def unweighted() -> MonteCarlo:
    return run(Weighted(None), FEW, seed=3, progress=False)


@pytest.mark.parametrize("label", Weighted.TRUTH)
def test_weights_aim_at_the_population(weighted: MonteCarlo, label: str) -> None:
    truth = Weighted.TRUTH[label]
    _holds(weighted, label, truth)
    bias = weighted.bias(label, truth)
    # A tenth of a deviation by the long runs (V*, a square, has one of a sixth), and four errors of a mean.
    part = 0.2 if label == "v_star" else 0.1
    assert abs(bias.estimate) < part * weighted.sd(label) + 4 * bias.std_error


@pytest.mark.parametrize("label", ["soft", "supervised"])
def test_without_weights_they_do_not(unweighted: MonteCarlo, label: str) -> None:
    assert unweighted.bias(label, EFFECT).estimate > 1.5 * unweighted.sd(label)
    assert unweighted.coverage(f"{label} low", f"{label} high", EFFECT, level=0.999).high < 0.93
