"""Drawn: the same rows whatever their order, their cut and how often each is written, and never many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.folds import RowSketch
from softlabel.hashing import Hashes, finish
from softlabel.influence import drawn
from softlabel.influence.drawn import DRAWN_ROWS, Drawn, limit
from softlabel.study import Columns

ALL = (1 << 64) - 1


def _of(which: NDArray[np.int64], below: int) -> Drawn:
    """The state of rows numbered so, each with a score and two controls of its own."""
    p = which / 1e6
    rows = Columns(p, p[None], np.stack([2 * p, -p]), np.full(len(p), np.nan))
    return Drawn.of(rows, _hashes(which), below)


def _hashes(which: NDArray[np.int64]) -> Hashes:
    return finish(which.astype(np.uint64))


def _equal(a: Drawn, b: Drawn) -> bool:
    return all(map(np.array_equal, a.distinct(), b.distinct()))


@pytest.mark.parametrize("most", [3, 4_096])
@given(st.lists(st.lists(st.integers(0, 40), max_size=30), min_size=3, max_size=3), st.integers(1, 64))
def test_merge_is_associative_and_commutative_and_has_an_identity(
    most: int, parts: list[list[int]], shift: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawn, "_MOST", most)
        a, b, c = (_of(np.array(part, dtype=np.int64), ALL >> (64 - shift)) for part in parts)
        assert _equal(a.merge(b).merge(c), a.merge(b.merge(c)))
        assert _equal(a.merge(b), b.merge(a))
        assert _equal(a.merge(Drawn()), a)
        assert _equal(a.merge(a), a)


def test_the_lowest_hashes_are_drawn_each_row_once_and_in_order() -> None:
    which = np.tile(np.arange(1_000), 3)
    below = 1 << 63
    score, controls = _of(which, below).distinct()
    hashes = np.sort(_hashes(np.arange(1_000)))
    expected = hashes[hashes < below]
    assert np.array_equal(_hashes(np.rint(score[0] * 1e6).astype(np.int64)), expected)
    assert np.array_equal(controls, np.stack([2 * score[0], -score[0]]))
    # Half of a thousand, give or take four deviations.
    assert abs(len(expected) - 500) < 4 * 250**0.5


def test_about_as_many_are_drawn_of_any_number_of_rows_and_all_of_few() -> None:
    for n in (20_000, 300_000):
        which = np.arange(n)
        effective = RowSketch.of(_hashes(which)).effective_rows(n)
        score, _ = _of(which, limit(effective)).distinct()
        # A count of Poisson's, and an estimate of the number of rows that is off by a percent.
        assert score.shape[1] == pytest.approx(DRAWN_ROWS, abs=4 * DRAWN_ROWS**0.5 + 0.02 * DRAWN_ROWS)
    assert _of(np.arange(900), limit(900.0)).distinct()[0].shape[1] == 900
    assert Drawn().distinct()[0].shape == (1, 0)


def test_never_many_where_a_few_rows_have_most_of_the_copies() -> None:
    pieces = [_of(np.arange(start, start + 50_000), limit(1.5)) for start in range(0, 500_000, 50_000)]
    whole = Drawn()
    for piece in pieces:
        whole = whole.merge(piece)
        assert sum(len(hashes) for hashes, *_ in whole.pieces) <= 4 * DRAWN_ROWS
    assert whole.distinct()[0].shape[1] == 2 * DRAWN_ROWS
    assert _equal(whole, _of(np.arange(500_000), limit(1.5)))
