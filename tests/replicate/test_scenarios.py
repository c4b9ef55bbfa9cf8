"""Scenarios are what they say: which assumptions hold, what is shared, shifted, rare or weighted."""

import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.replicate.rules import Rules
from softlabel.replicate.scenarios import SCENARIOS, Scenario, chosen
from softlabel.replicate.scores import CrossFitted

Floats = NDArray[np.float64]
ROWS = 200_000


def _controls(table: dict[str, NDArray[np.generic]], names: list[str]) -> Floats:
    columns = [np.ones(len(table["y"]))]
    for name in names:
        values = table[name]
        if values.dtype.kind == "U":
            columns += [(values == level).astype(np.float64) for level in np.unique(values)[1:]]
        else:
            columns.append(values.astype(np.float64))
    return np.column_stack(columns)


def _slope_and_leak(scenario: Scenario, seed: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return c and ℓ with their errors, on unlabelled rows whose group is known to this test alone."""
    rng = np.random.default_rng(seed)
    hidden, shown, roles = scenario.sampling(scenario.law, ROWS, scenario.n_labelled, rng)  # type: ignore[arg-type]
    p = scenario.score(hidden, shown, rng)[0]
    weight = roles["weights"][:ROWS] if "weights" in roles else np.ones(ROWS)
    b = _controls({"y": hidden.outcome, **hidden.controls}, list(hidden.controls))
    gram = (b * weight[:, None]).T @ b

    def left(values: Floats) -> Floats:
        residual: Floats = values - b @ np.linalg.solve(gram, (b * weight[:, None]).T @ values)
        return residual

    a, e = left(p), left(hidden.group)
    r = left(hidden.outcome - scenario.target * hidden.group)
    cluster = roles["cluster"][:ROWS].astype(np.intp) if "cluster" in roles else np.arange(ROWS)
    spread = float(weight @ a**2)

    def estimate(target: Floats) -> tuple[float, float]:
        value = float(weight @ (a * target)) / spread
        sums = np.bincount(cluster, weight * a * (target - value * a))
        return value, float(np.sqrt(np.square(sums).sum())) / spread

    return estimate(e), estimate(r)


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_holds_and_what_does_not(name: str) -> None:
    scenario = SCENARIOS[name]
    found = [_slope_and_leak(scenario, seed) for seed in range(3)]
    off = [abs(c - 1) / error for (c, error), _ in found]
    leak = abs(sum(leak for _, (leak, _) in found)) / sum(error**2 for _, (_, error) in found) ** 0.5
    # Of three draws; a calibrator of labels may by chance be right in some, never in all.
    assert max(off) < 4 if scenario.calibration else max(off) > 5, off
    assert leak < 4 if scenario.exclusion else leak > 8


def test_the_design_set_is_that_of_the_theory() -> None:
    assert sum(scenario.chosen_on for scenario in SCENARIOS.values()) == 16
    assert sum(not scenario.chosen_on for scenario in SCENARIOS.values()) >= 9
    assert all(scenario.comparable for scenario in SCENARIOS.values() if scenario.chosen_on)
    assert all(name == scenario.name for name, scenario in SCENARIOS.items())
    # A formula is calibrated or not in every draw alike; what was fitted on labels never is.
    assert not any(s.calibration for s in SCENARIOS.values() if isinstance(s.score, CrossFitted))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_draw_is_a_table_of_so_many_rows(name: str) -> None:
    scenario = SCENARIOS[name]
    table, options = scenario.draw(np.random.default_rng(0))
    n = scenario.n_unlabelled + scenario.n_labelled
    assert {len(values) for values in table.values()} == {n}
    assert np.isnan(table["g"].astype(np.float64)).sum() == scenario.n_unlabelled
    assert set(options["controls"]) <= set(table)
    again, _ = scenario.draw(np.random.default_rng(0))
    other, _ = scenario.draw(np.random.default_rng(1))
    assert np.array_equal(table["p"], again["p"])
    assert not np.array_equal(table["p"], other["p"])


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_experiment_travels_and_is_named_by_all_it_depends_on(name: str) -> None:
    experiment = Rules(SCENARIOS[name])
    assert pickle.loads(pickle.dumps(experiment)) == experiment  # noqa: S301  (our own bytes)
    assert " at 0x" not in repr(experiment)
    assert len({repr(Rules(scenario)) for scenario in SCENARIOS.values()}) == len(SCENARIOS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_twenty_labels_of_each_group_where_promised(name: str) -> None:
    scenario = SCENARIOS[name]
    rng = np.random.default_rng(4)
    fewest = []
    for _ in range(30):
        # As many unlabelled rows as the clusters of the labelled ones hold.
        group = scenario.sampling(scenario.law, 4500, scenario.n_labelled, rng).labelled.group  # type: ignore[arg-type]
        fewest.append(min(group.sum(), len(group) - group.sum()))
    assert (np.mean(np.array(fewest) >= 20) > 0.9) == scenario.classes


def test_clusters_share_what_they_say_and_straddle() -> None:
    scenario = SCENARIOS["clusters"]
    rng = np.random.default_rng(0)
    hidden, shown, roles = scenario.sampling(scenario.law, 199_500, 500, rng)  # type: ignore[arg-type]
    cluster = roles["cluster"].astype(np.intp)
    labelled = set(cluster[-500:].tolist())
    assert len(labelled) == 100
    assert labelled < set(cluster[:-500].tolist())
    rows = type(hidden).joined([hidden, shown])
    noise = rows.outcome - rows.x @ [1.0, 0.5, -0.5] - rows.group
    size = 50
    for values in (noise, rows.x[:, 0], rows.s[:, 1]):
        assert values.var() == pytest.approx(1.0, abs=0.05)
        between = (np.bincount(cluster, values) / np.bincount(cluster)).var()
        # The variance of a cluster's mean is icc + (1 − icc)/size; 4,000 clusters know it within 3%.
        assert (size * between - 1) / (size - 1) == pytest.approx(0.2, abs=0.02)


def test_few_are_in_the_rare_group() -> None:
    group = SCENARIOS["rare"].law.draw(200_000, np.random.default_rng(0)).group
    assert abs(group.mean() - 0.02) < 4 * (0.02 * 0.98 / 200_000) ** 0.5


def test_labels_of_another_population_differ_in_score_and_outcome() -> None:
    for name in ("shift", "labelled-by-group"):
        table, _ = SCENARIOS[name].draw(np.random.default_rng(0))
        labelled = ~np.isnan(table["g"].astype(np.float64))
        for column in ("p", "x1", "y"):
            values = table[column].astype(np.float64)
            gap = values[labelled].mean() - values[~labelled].mean()
            assert gap > 4 * values.std() / labelled.sum() ** 0.5
    # Labelling by the group breaks calibration on the labelled rows, a shift of X and S does not.
    for name, calibrated in (("shift", True), ("labelled-by-group", False)):
        scenario = SCENARIOS[name]
        _, shown, _ = scenario.sampling(scenario.law, 10, 50_000, np.random.default_rng(0))  # type: ignore[arg-type]
        gap = shown.group - scenario.score(shown, shown, np.random.default_rng(0))[0]
        assert (abs(gap.mean()) < 4 * gap.std() / 50_000**0.5) == calibrated


def test_weights_undo_the_sampling() -> None:
    scenario = SCENARIOS["weights"]
    hidden, shown, roles = scenario.sampling(scenario.law, 100_000, 1000, np.random.default_rng(0))  # type: ignore[arg-type]
    assert len(roles["weights"]) == 101_000
    outcome = np.concatenate([hidden.outcome, shown.outcome])
    error = outcome.std() / 101_000**0.5
    # E[Y] = τ P(G = 1) = 1/2.
    assert abs(np.average(outcome, weights=roles["weights"]) - 0.5) < 8 * error
    assert outcome.mean() - 0.5 > 50 * error


def test_scenarios_by_name() -> None:
    assert chosen(None) == tuple(SCENARIOS.values())
    assert [scenario.name for scenario in chosen(["weak", "platt"])] == ["platt", "weak"]
    with pytest.raises(InputError, match="Did you mean 'platt'"):
        chosen(["plat"])
