"""SpreadSums: exact sums in any order, and where residuals lie by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.influence.spread_sums import SPREAD_KNOTS, SpreadSums
from softlabel.moments import Partition
from tests.oracle import Floats, draw, residual
from tests.passes import run

PART = Partition((0.5,), ())
KNOTS = np.array(SPREAD_KNOTS)

# Whole numbers below 2⁵³ add exactly, so that the laws hold to the bit.
states = st.lists(st.integers(0, 50), min_size=101, max_size=101).map(lambda v: SpreadSums(np.array(v, float)))


@given(states, states, states)
def test_merge_is_associative_and_commutative_and_has_an_identity(a: SpreadSums, b: SpreadSums, c: SpreadSums) -> None:
    assert np.array_equal(a.merge(b).merge(c).mass, a.merge(b.merge(c)).mass)
    assert np.array_equal(a.merge(b).mass, b.merge(a).mass)
    assert np.array_equal(a.merge(SpreadSums(np.zeros(101))).mass, a.mass)
    assert np.array_equal(a.join().mass, a.mass)


def dense(a: Floats, weight: Floats) -> Floats:
    """Each row's weight under the hats of the knots, one knot at a time."""
    distance = np.abs(np.clip(a, -1, 1)[:, None] - KNOTS)
    hats: Floats = np.maximum(1 - distance / 0.02, 0.0)
    return weight @ hats


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_brute_force(weighted: bool) -> None:
    rows = draw(700, 2, 3)
    rng = np.random.default_rng(1)
    rows = rows._replace(fold=rng.integers(0, 4, 700), weight=rng.gamma(2.0, size=700) if weighted else None)
    weight = np.ones(700) if rows.weight is None else rows.weight
    found = run(rows, PART).spread.mass
    # Hats of width 0.02: an error of 1e-14 in a residual moves a share by fifty times that.
    assert found == pytest.approx(dense(residual(rows.p, rows)[:, 0], weight), rel=1e-9, abs=1e-9)
    assert found.sum() == pytest.approx(weight.sum(), rel=1e-12)


def test_batches_in_any_order_give_the_same() -> None:
    rows = draw(600, 2, 3)._replace(fold=np.arange(600) % 3)
    pieces = np.split(np.random.default_rng(0).permutation(600), [100, 350])
    assert run(rows, PART, pieces).spread.mass == pytest.approx(run(rows, PART).spread.mass, rel=1e-9, abs=1e-9)


def test_what_lies_beyond_the_knots_counts_to_the_last() -> None:
    rows = draw(400, 1, 2)
    # One control far out drives a straight line's residual of its score beyond one.
    X = rows.X.copy()
    X[0] = 1e6
    rows = rows._replace(X=X, fold=np.arange(400) % 4)
    a = residual(rows.p, rows)[:, 0]
    assert np.abs(a).max() > 1
    found = run(rows, PART).spread.mass
    assert found.sum() == pytest.approx(400, rel=1e-12)
    assert found[0] + found[-1] >= 1 - 1e-9
