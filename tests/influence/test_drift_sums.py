"""DriftSums: exact sums in any order, and what they are by brute force."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.influence.drift_sums import DriftSums
from softlabel.moments import Partition
from tests.oracle import Floats, Rows, draw, residual
from tests.passes import run

PART = Partition((0.3, 0.5, 0.905), (0.55, 0.8))


@st.composite
def states(draw_: Any) -> DriftSums:
    # Whole numbers below 2⁵³ add exactly, so that the laws hold to the bit.
    values = draw_(st.lists(st.integers(-50, 50), min_size=24, max_size=24))
    mass, lean = np.array(values, float).reshape(2, 2, 2, 3)
    return DriftSums(np.abs(mass), lean)


def equal(a: DriftSums, b: DriftSums) -> bool:
    return np.array_equal(a.mass, b.mass) and np.array_equal(a.lean, b.lean)


@given(states(), states(), states())
def test_merge_is_associative_and_commutative_and_has_an_identity(a: DriftSums, b: DriftSums, c: DriftSums) -> None:
    assert equal(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert equal(a.merge(b), b.merge(a))
    zero = DriftSums(np.zeros((2, 2, 3)), np.zeros((2, 2, 3)))
    assert equal(a.merge(zero), a)
    assert equal(a.join(), a)


def dense(rows: Rows) -> tuple[list[Floats], list[Floats]]:
    """Each residual (n,), and the weights that go with it."""
    p, w = rows.p[:, 0], np.ones(len(rows.y)) if rows.weight is None else rows.weight
    found, weights = [residual(rows.p, rows)[:, 0]], [w]
    for t in PART.thresholds:
        found.append(residual((p > t).astype(float)[:, None], rows)[:, 0])
        weights.append(w)
    for t in PART.confident:
        inside = np.maximum(p, 1 - p) > t
        v = np.zeros(len(p))
        v[inside] = residual((p[inside] > t).astype(float)[:, None], rows.only(inside))[:, 0]
        found.append(v)
        weights.append(w)
    return found, weights


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_brute_force(weighted: bool) -> None:
    rows = draw(700, 2, 3, edges=(0.3, 0.5, 0.55, 0.8))
    rng = np.random.default_rng(1)
    rows = rows._replace(fold=rng.integers(0, 4, 700), weight=rng.gamma(2.0, size=700) if weighted else None)
    sums = run(rows, PART).drift
    codes, p = PART.codes(rows.p.T), rows.p[:, 0]
    for i, (v, w) in enumerate(zip(*dense(rows), strict=True)):
        for side, chosen in enumerate((v > 1e-12, v < -1e-12)):
            size = w * np.abs(v) * chosen
            for found, each in ((sums.mass, size), (sums.lean, size * (2 * p - 1))):
                expected = np.bincount(codes, each, minlength=PART.n_codes)
                np.testing.assert_allclose(found[i, side], expected, atol=1e-10 * w.sum())
        for upwards, room in ((True, np.where(v > 0, 1 - p, p)), (False, np.where(v > 0, p, 1 - p))):
            mass, left = sums.room(upwards=upwards)
            np.testing.assert_allclose(mass[i].sum(), (w * np.abs(v)).sum(), rtol=1e-9)
            np.testing.assert_allclose(left[i].sum(), (w * np.abs(v) * room).sum(), rtol=1e-9)
            assert (left >= 0).all()


@given(cuts=st.lists(st.integers(1, 299), max_size=4), seed=st.integers(0, 99))
def test_rows_in_any_order_and_any_batches_give_the_same_sums(cuts: list[int], seed: int) -> None:
    rows = draw(300, 1, 4, edges=(0.5,))
    rows = rows._replace(fold=np.random.default_rng(2).integers(0, 3, 300))
    order = np.random.default_rng(seed).permutation(300)
    pieces = [piece for piece in np.split(order, sorted(set(cuts))) if len(piece)]
    whole, cut = run(rows, PART).drift, run(rows, PART, pieces).drift
    # Rounding of sums in another order, and of nuisances from them.
    np.testing.assert_allclose(cut.mass, whole.mass, atol=1e-10)
    np.testing.assert_allclose(cut.lean, whole.lean, atol=1e-10)
