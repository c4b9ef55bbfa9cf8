"""What the records of drift answer: concave bounds, breakdowns, intervals by hand, and refusals."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel import Diagnosis, InputError, diagnose
from softlabel.results import DriftCurve, Forecast, LearnerScore, Table
from softlabel.results.drift import (
    CONTOUR,
    KNOTS,
    Drift,
    SupportedDrift,
    bound_at,
    breakdown_table,
    contour_table,
    first_reaching,
    stretched,
)
from softlabel.simulate import PaperDesign


@given(
    rooms=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8),
    delta=st.floats(0.0, 1.0),
    level=st.floats(0.01, 1.2),
)
def test_a_curve_is_never_below_and_exact_at_knots(rooms: list[float], delta: float, level: float) -> None:
    room = np.array(rooms)

    def truth(d: float) -> float:
        return float(np.minimum(d, room).mean())

    values = [truth(k) for k in KNOTS]
    assert bound_at(KNOTS, values, 1.0, delta) >= truth(delta) - 1e-12
    # No knot is farther from its neighbours than 0.05, so neither is the bound.
    assert bound_at(KNOTS, values, 1.0, delta) <= truth(delta) + 0.05
    assert [bound_at(KNOTS, values, 1.0, k) for k in KNOTS] == values
    assert bound_at(KNOTS, values, 1.0, 0.0) == 0.0
    reached = first_reaching(KNOTS, values, 1.0, level)
    if reached is None:
        assert truth(1.0) < level
    else:
        assert bound_at(KNOTS, values, 1.0, reached) >= level - 1e-9
        assert reached == 0 or bound_at(KNOTS, values, 1.0, max(reached - 1e-6, 0.0)) <= level + 1e-9


@pytest.mark.parametrize(
    ("low", "high", "kappa", "up", "down", "expected"),
    [
        (2.0, 3.0, 1.0, 0.25, 0.5, (1.6, 6.0)),
        (-3.0, -2.0, 1.0, 0.25, 0.5, (-6.0, -1.6)),
        (-1.0, 2.0, 1.0, 0.25, 0.5, (-2.0, 4.0)),
        (0.0, 2.0, 1.0, 0.25, 0.5, (0.0, 4.0)),
        (-2.0, 0.0, 1.0, 0.25, 0.5, (-4.0, 0.0)),
        (2.0, 3.0, 0.5, 0.3, 0.25, (2.5, 12.0)),
        (2.0, 3.0, 1.0, 0.0, 0.0, (2.0, 3.0)),
        (2.0, 3.0, 1.0, 0.5, 1.0, None),
        (2.0, 3.0, 0.5, 0.5, 0.7, None),
        (2.0, 3.0, -0.5, 0.9, 0.1, None),
    ],
)
def test_intervals_by_hand(
    low: float, high: float, kappa: float, up: float, down: float, expected: tuple[float, float] | None
) -> None:
    found = stretched(low, high, kappa, up, down)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-14))


@given(tau=st.floats(-5, 5), beta=st.floats(0, 1), kappa=st.floats(0.1, 1), up=st.floats(0, 2), down=st.floats(0, 2))
def test_the_interval_holds_every_effect_that_fits(
    tau: float, beta: float, kappa: float, up: float, down: float
) -> None:
    theta = tau * (kappa - down + beta * (up + down))
    found = stretched(theta, theta, kappa, up, down)
    assert (found is None) == (kappa <= down) or found is None
    if found is not None:
        assert found[0] - 1e-9 * (1 + abs(found[0])) <= tau <= found[1] + 1e-9 * (1 + abs(found[1]))


def made(**parts: Any) -> Drift:
    curve: dict[str, Any] = {
        "name": "soft",
        "threshold": None,
        "estimate": -2.0,
        "ci_low": -3.0,
        "ci_high": 1.0,
        "kappa": 1.0,
        "paper": 3.0,
        "unclipped": 2.0,
        "up": (0.5, 0.6),
        "down": (1.0, 1.2),
    }
    return Drift((0.5, 1.0), (DriftCurve(**(curve | parts)),), SupportedDrift(None, None, 0.95, 0, 0, "no labels"))


def test_a_bound_by_hand() -> None:
    row = contour_table(made(down=(0.5, 0.6)), [0.5]).rows[0]
    assert (row.paper_bound, row.unclipped_bound, row.up, row.down) == (1.5, 1.0, 0.5, 0.5)
    assert (row.low, row.ci_low, row.ci_high) == (-4.0, -6.0, 2.0)
    assert row.high == pytest.approx(-2 / 1.5)
    assert row.reason is None


def test_without_drift_hard_is_divided_by_kappa() -> None:
    row = contour_table(made(kappa=0.5), [0.0]).rows[0]
    assert (row.up, row.down, row.low, row.high, row.ci_low, row.ci_high) == (0.0, 0.0, -4.0, -4.0, -6.0, 2.0)


@pytest.mark.parametrize(
    ("parts", "breakdown", "conservative", "reason"),
    [
        ({}, 0.5, 0.5, None),
        ({"down": (0.4, 0.6)}, None, 0.5, "no drift at all"),
        ({"kappa": 0.25, "down": (0.4, 0.6)}, 0.3125, 0.125, None),
        ({"kappa": -0.1}, None, None, "kappa"),
        ({"unclipped": None, "reason": "V* is zero"}, None, None, "V* is zero"),
        ({"kappa": None, "reason": "no kappa"}, None, None, "no kappa"),
    ],
)
def test_breakdowns(
    parts: dict[str, Any], breakdown: float | None, conservative: float | None, reason: str | None
) -> None:
    row = breakdown_table(made(**parts)).rows[0]
    assert (row.conservative, row.reason is None) == (conservative, reason is None)
    assert reason is None or (row.reason is not None and reason in row.reason)
    # In the first half the curve is below 2δ, and below the line through its knots made longer: 0.4 − 0.4 (0.5 − δ).
    assert row.breakdown == (None if breakdown is None else pytest.approx(breakdown, abs=0.2))


def test_beyond_the_breakdown_nothing_is_left() -> None:
    row = contour_table(made(), [0.75]).rows[0]
    assert (row.low, row.high, row.ci_low, row.ci_high) == (None,) * 4
    assert row.reason == "a drift of 0.75 could take all of the effect away"
    assert row.up is not None


@pytest.fixture(scope="module")
def found() -> Diagnosis:
    table = PaperDesign(0.3).sample(2000, 200, seed=2)
    return diagnose(table, outcome="y", score="p", group="g", controls=["x1", "x2", "x3"], basis="linear")


@pytest.mark.parametrize("delta", [-0.1, 1.5, float("nan"), float("inf"), True, "0.1", None, [0.1]])
def test_a_drift_that_is_no_probability_is_refused(found: Diagnosis, delta: Any) -> None:
    with pytest.raises(InputError, match="Expected delta, the largest drift of a probability"):
        found.drift(delta)


@pytest.mark.parametrize("delta", [0, 1, 0.05, np.float64(0.25), np.float32(0.5), np.int64(1)])
def test_any_number_of_drift_is_taken(found: Diagnosis, delta: Any) -> None:
    assert set(found.drift(delta)["delta"]) == {float(delta)}


def test_deltas_must_be_a_sequence(found: Diagnosis) -> None:
    with pytest.raises(InputError, match="Expected deltas to be a sequence"):
        found.drift_contour(0.1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Expected delta"):
        found.drift_contour([0.1, 2.0])


def test_the_contour_is_the_drifts_one_by_one(found: Diagnosis) -> None:
    rows = found.drift_contour().rows
    assert len(rows) == len(CONTOUR) * 13
    assert {row.delta for row in rows} == set(CONTOUR)
    for delta in (0.05, 0.2):
        assert found.drift(delta).rows == tuple(row for row in rows if row.delta == delta)


def test_what_was_stored_answers_alike(found: Diagnosis) -> None:
    for again in (Diagnosis.from_json(found.to_json()), pickle.loads(pickle.dumps(found))):  # noqa: S301
        assert again == found
        assert again.drift(0.123) == found.drift(0.123)
        assert again.breakdown == found.breakdown
    assert found.drift(0.1).to_arrow().num_rows == 13


def test_yes_and_no_have_a_type_of_their_own_in_a_frame() -> None:
    row = Forecast("soft", None, 1.0, None, None, None, None, None, None, best=True)
    table = Table((row,)).to_arrow()
    assert table["best"].to_pylist() == [True]
    assert Table((LearnerScore("ridge", 1.0, 0.1, used=False),)).to_arrow()["used"].to_pylist() == [False]
