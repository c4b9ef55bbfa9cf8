"""Regret, coverage, summary lines, thresholds and aims, on numbers made by hand."""

from collections.abc import Mapping

import numpy as np
import pytest

from softlabel.errors import DataError
from softlabel.replicate.aims import Aim, verdicts
from softlabel.replicate.command import rules_found
from softlabel.replicate.losses import Losses, geometric_mean, ratio
from softlabel.replicate.rules import ESTIMATORS, STEPS
from softlabel.replicate.scenarios import SCENARIOS
from softlabel.replicate.tables import cells, lines, losses, search, shares
from softlabel.simulate import MonteCarlo, Proportion

# Errors of each estimator in four replications; means of squares 4, 1, 25, 2, 0.5, 9, 1, 0.25, 0.5, 0.5.
ERRORS: dict[str, tuple[float, ...]] = {
    "supervised": (2, -2, 2, -2),
    "soft": (1, 1, -1, -1),
    "hard": (5, 5, 5, 5),
    "rectified": (2, -2, 0, 0),
    "instrumented": (1, -1, 0, 0),
    "combined": (3, 3, 3, 3),
    "paper": (1, 1, -1, -1),
    "pretest": (0.5, 0.5, 0.5, 0.5),
    "adaptive": (1, 0, 0, -1),
    "guarded": (1, 0, 0, -1),
}
REACH = 1.5
STEP = {"exclusion": (1.0, -1.0, 0.0, 0.0), "calibration": (-2.0, -4.0, -3.0, -3.0)}


def made(name: str, changes: Mapping[str, tuple[float | None, ...]] | None = None) -> MonteCarlo:
    """Return four replications of a scenario, with errors as above around its target."""
    target = SCENARIOS[name].target
    columns: dict[str, tuple[float | None, ...]] = {}
    for label in ESTIMATORS:
        points = [target + error for error in ERRORS[label]]
        columns[label] = tuple(points)
        columns[f"{label} low"] = tuple(point - REACH for point in points)
        columns[f"{label} high"] = tuple(point + REACH for point in points)
    for step in STEPS:
        both = STEP.get(step) or tuple(a + b for a, b in zip(*STEP.values(), strict=True))
        columns[f"{step} difference"], columns[f"{step} sd"] = both, (1.0,) * 4
    columns |= {"suspect": (1.0, 0.0, 0.0, 0.0), "ar covers": (1.0, 1.0, 1.0, 0.0), "paper soft": (1.0,) * 4}
    columns |= changes or {}
    return MonteCarlo(name, 0, tuple(columns), tuple(zip(*columns.values(), strict=True)))


def test_cells_by_hand() -> None:
    table = cells(losses({"exact": made("exact")}))
    by = {cell.estimator: cell for cell in table}
    assert [by[name].mse for name in ESTIMATORS] == pytest.approx([4, 1, 25, 2, 0.5, 9, 1, 0.25, 0.5, 0.5])
    # Soft is the better of supervised and soft, with a mean square of 1.
    assert by["instrumented"].regret == pytest.approx(0.5)
    assert by["instrumented"].against_rectified == pytest.approx(0.25)
    assert by["adaptive"].bias == pytest.approx(0.0)
    assert by["hard"].bias == pytest.approx(5.0)
    # Errors within 1.5 are covered.
    assert [by[name].coverage for name in ("supervised", "soft", "rectified")] == [0.0, 1.0, 0.5]
    share = Proportion.of(2, 4)
    assert (by["rectified"].coverage_low, by["rectified"].coverage_high) == (share.low, share.high)
    # Soft's squares are all 1, so the error of the regret is that of a mean of squares.
    assert by["rectified"].regret_error == pytest.approx(np.std([4, 4, 0, 0]) / 2)
    assert by["rectified"].against_error == 0.0
    assert {cell.n for cell in table} == {4}


def test_a_replication_without_some_estimate_counts_in_none() -> None:
    target = SCENARIOS["exact"].target
    run = made("exact", {"instrumented": (None, target + 1, target, target)})
    cell = next(cell for cell in cells(losses({"exact": run})) if cell.estimator == "rectified")
    assert (cell.n, cell.missing) == (3, 1)
    assert cell.mse == pytest.approx(4 / 3)
    # The error counts replications with values, not those without.
    assert cell.regret_error == pytest.approx(np.std([4, 0, 0]) / 3**0.5)
    with pytest.raises(DataError, match="a replication of exact with every estimate"):
        losses({"exact": made("exact", {"soft": (None,) * 4})})


def test_hard_may_be_missing_alone() -> None:
    target = SCENARIOS["rare"].target
    nothing = (None,) * 4
    some = made("rare", {"hard": (None, target + 2, target, target), "hard low": nothing, "hard high": nothing})
    by = {cell.estimator: cell for cell in cells(losses({"rare": some}))}
    assert (by["hard"].n, by["hard"].missing, by["rectified"].n) == (3, 1, 4)
    assert by["hard"].mse == by["hard"].regret == pytest.approx(4 / 3)
    # Rectified's squares were 4, 0, 0 in those three.
    assert by["hard"].against_rectified == pytest.approx(1.0)
    assert by["rectified"].mse == pytest.approx(2.0)
    none = rules_found({"rare": made("rare", {"hard": nothing})})
    assert set(none.cells["estimator"]) == set(none.lines["estimator"]) == set(ESTIMATORS) - {"hard"}
    assert " - " in none.summary()


def test_ratios_have_the_error_of_the_delta_method() -> None:
    rng = np.random.default_rng(0)
    draws = rng.chisquare(2, (4000, 50, 2))
    draws[..., 1] = draws[..., 1] / 2 + draws[..., 0]
    found = [ratio(top, bottom) for top, bottom in np.moveaxis(draws, 2, 1)[:, :, :]]
    spread = np.std([one.value for one in found])
    assert np.mean([one.std_error for one in found]) == pytest.approx(spread, rel=0.05)


def test_the_error_of_a_geometric_mean_sees_shared_streams() -> None:
    one = ratio(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    mean, error = geometric_mean([one, one])
    assert (mean, error) == pytest.approx((one.value, one.std_error))
    other = ratio(np.array([3.0, 2.0, 1.0]), np.array([1.0, 1.0, 1.0]))
    assert geometric_mean([one, other]) == pytest.approx((2.0, 0.0))


def test_lines_by_hand() -> None:
    # In the second scenario soft is three times as far off: supervised is then the better one, at 4.
    far = {"soft": tuple(SCENARIOS["platt"].target + error for error in (3.0, 3.0, -3.0, -3.0))}
    runs = {"exact": made("exact"), "platt": made("platt", far), "rare": made("rare"), "shift": made("shift")}
    by = {(line.group, line.estimator): line for line in lines(losses(runs))}
    assert {group for group, _ in by} == {"chosen on", "held out", "incomparable"}
    soft = by["chosen on", "soft"]
    assert soft.geometric_mean == pytest.approx((1 * 9 / 4) ** 0.5)
    assert (soft.maximum_at, soft.against_at) == ("platt", "platt")
    assert (soft.maximum, soft.against_rectified) == pytest.approx((9 / 4, 4.5))
    rectified = by["chosen on", "rectified"]
    assert rectified.geometric_mean == pytest.approx((2 * 2 / 4) ** 0.5)
    assert rectified.maximum == pytest.approx(2.0)
    assert rectified.maximum_at == "exact"
    assert (rectified.coverage, rectified.coverage_at) == (0.5, "exact")
    assert by["held out", "soft"].geometric_mean == pytest.approx(1.0)


def test_other_thresholds_by_hand() -> None:
    found = losses({"exact": made("exact")})[0]
    target = SCENARIOS["exact"].target
    # Combined is 3 off; the steps bring it to (3 - 2 + 1, 3 - 4 - 1, 3 - 3, 3 - 3).
    assert found.adaptive(0, 0) - target == pytest.approx([2, -2, 0, 0])
    assert found.adaptive(1, 0) - target == pytest.approx([1, -1, 0, 0])
    assert found.adaptive(0, 1) - target == pytest.approx([3, -1, 1, 1])
    assert found.adaptive(9, 9) - target == pytest.approx([3, 3, 3, 3])
    # As one step of (-1, -5, -3, -3).
    assert found.joint(0) - target == pytest.approx([2, -2, 0, 0])
    assert found.joint(2) - target == pytest.approx([3, 0, 2, 2])
    # Give or take half of rectified's interval, 1.5.
    assert found.covered(found.adaptive(1, 0)) == 4
    assert found.covered(found.joint(2)) == 1


def test_search_finds_the_best_and_holds_rectified_and_combined() -> None:
    every = losses({"exact": made("exact"), "rare": made("rare")})
    table = search(every, (0.0, 1.0, 9.0))
    at = {(row.group, row.how, row.exclusion, row.calibration): row for row in table}
    assert len(at) == len(table) == 2 * (9 + 2)
    assert at["chosen on", "steps", 0.0, 0.0].geometric_mean == pytest.approx(2.0)
    assert at["chosen on", "steps", 0.0, 0.0].against_rectified == pytest.approx(1.0)
    assert at["chosen on", "steps", 1.0, 0.0].geometric_mean == pytest.approx(0.5)
    assert at["chosen on", "steps", 9.0, 9.0].geometric_mean == pytest.approx(9.0)
    assert at["held out", "joint", 9.0, 9.0].maximum == pytest.approx(9.0)
    means = [row.geometric_mean for row in table if row.group == "held out"]
    assert means == sorted(means)


def test_shares_are_counted() -> None:
    found = {row.what: row.share for row in shares({"exact": made("exact")})}
    assert found == {"suspect": 0.25, "ar covers": 0.75, "paper soft": 1.0}
    run = made("exact", {"suspect": (None, 1.0, 1.0, 0.0), "ar covers": (None,) * 4})
    rows = {row.what: row for row in shares({"exact": run})}
    assert set(rows) == {"suspect", "paper soft"}
    assert (rows["suspect"].share, rows["suspect"].n) == (2 / 3, 3)


# -------------------------------------------------------------------------------------------- aims


def test_an_aim_fails_only_where_its_interval_excludes_it() -> None:
    assert Aim.of("c", "w", (0.90, 0.88, 0.93), least=0.93, most=0.97).outcome == "pass"
    assert Aim.of("c", "w", (0.90, 0.88, 0.92), least=0.93, most=0.97).outcome == "fail"
    assert Aim.of("c", "w", (0.99, 0.98, 1.00), least=0.93, most=0.97).outcome == "fail"
    assert Aim.of("c", "w", (0.99, 0.98, 1.00), least=0.93).outcome == "pass"


def _large(name: str, changes: Mapping[str, tuple[float | None, ...]] | None = None) -> MonteCarlo:
    """Return the four replications a hundred times."""
    run = made(name, changes)
    return MonteCarlo(run.experiment, run.seed, run.names, run.rows * 100)


def test_which_aims_are_asked_where() -> None:
    found = verdicts(
        {name: _large(name) for name in ("exact", "platt", "exclusion-0.1", "tiny-exact", "shift", "both")}
    )
    where = {code: set() for code in dict.fromkeys(found["code"])}  # type: ignore[var-annotated]
    for aim in found:
        where[aim.code].add(aim.where)
    comparable = {"exact", "platt", "exclusion-0.1", "both"}
    assert where["rectified.mse"] == where["rectified.coverage"] == comparable
    assert where["instrumented.coverage"] == {"platt"}
    assert where["samples.power"] == {"shift"}
    assert where["guarded.geometric_mean"] == {"chosen on", "held out"}


def test_aims_by_hand() -> None:
    found = {aim.code: aim for aim in verdicts({"platt": _large("platt")})}
    # 2/4; 50%; 100%; then 0.5 over 1, 0.5 over 2.
    assert found["rectified.mse"].value == pytest.approx(0.5)
    assert found["rectified.mse"].outcome == "pass"
    assert (found["rectified.coverage"].value, found["rectified.coverage"].outcome) == (0.5, "fail")
    assert (found["instrumented.coverage"].value, found["instrumented.coverage"].outcome) == (1.0, "fail")
    assert found["guarded.geometric_mean"].value == found["guarded.maximum"].value == pytest.approx(0.5)
    assert found["guarded.against_rectified"].value == pytest.approx(0.25)
    assert verdicts({"shift": _large("shift")}).rows[0].outcome == "fail"
    # 75% of 4 may well be 80%; of 400 it is at most 79.2%.
    suspected = {"suspect": (1.0, 1.0, 1.0, 0.0)}
    assert verdicts({"shift": made("shift", suspected)}).rows[0].outcome == "pass"
    assert verdicts({"shift": _large("shift", suspected)}).rows[0].outcome == "fail"


def test_losses_know_their_scenario() -> None:
    one = Losses.of(SCENARIOS["negative"], made("negative"))
    assert one.scenario.target == -1.0
    assert one.squares("soft") == pytest.approx([1, 1, 1, 1])
