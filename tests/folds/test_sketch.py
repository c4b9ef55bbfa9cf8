"""RowSketch: how many distinct rows a table is worth, from 64 thousand counters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.folds import RowSketch, hash_rows
from softlabel.study import Columns

Hashes = NDArray[np.uint64]

# √(2/2¹⁶), the bound on the relative standard deviation of Σm² that the class states.
STATED_SD = (2 / 2**16) ** 0.5


def hashes_of(copies: NDArray[np.int64], seed: int) -> Hashes:
    """Hashes of a table in which distinct row i stands copies[i] times, through real rows."""
    rng = np.random.default_rng(seed)
    distinct = Columns(
        rng.normal(size=len(copies)),
        rng.random((1, len(copies))),
        np.empty((0, len(copies))),
        np.full(len(copies), np.nan),
    )
    return np.repeat(hash_rows(distinct), copies)


TABLES: dict[str, NDArray[np.int64]] = {
    "all distinct": np.ones(20_000, dtype=np.int64),
    "every row eleven times": np.full(1_819, 11),
    "one row is half of the table": np.array([10_000, *[1] * 10_000]),
    "147 distinct rows": np.array([*[136] * 146, 20_000 - 146 * 136]),
    "copies of all numbers": np.arange(1, 200),
    "more distinct rows than counters": np.ones(150_000, dtype=np.int64),
}


def squares(sketch: RowSketch) -> float:
    return float(np.square(sketch.buckets.astype(float)).sum())


@pytest.mark.parametrize("table", TABLES)
def test_effective_rows_against_the_exact_number(table: str) -> None:
    copies = TABLES[table]
    n, exact = int(copies.sum()), float(np.square(copies).sum())
    ratios = []
    for seed in range(16):
        sketch = RowSketch.of(hashes_of(copies, seed))
        # The stated sd is a bound; 4.5 of it, for 16 tables of 6 kinds.
        assert sketch.effective_rows(n) == pytest.approx(n * n / exact, rel=4.5 * STATED_SD)
        assert 1 <= sketch.effective_rows(n) <= n
        ratios.append(squares(sketch) / exact)
    # No bias, and a spread no larger than stated: a standard deviation of 16 errs by 18%, three times that is 54%.
    assert abs(np.mean(ratios) - 1) < 4.5 * STATED_SD / 4
    assert np.std(ratios) < 1.54 * STATED_SD


def test_a_table_without_copies_is_worth_its_rows() -> None:
    # With few rows no two share a counter, and the number is exact.
    hashes = hashes_of(np.ones(12, dtype=np.int64), 0)
    assert RowSketch.of(hashes).effective_rows(12) == 12
    assert RowSketch.of(np.repeat(hashes, 5)).effective_rows(60) == 12
    assert RowSketch.of(np.repeat(hashes[:1], 7)).effective_rows(7) == 1


def test_no_rows_are_worth_nothing() -> None:
    assert RowSketch.empty().effective_rows(0) == 0


hash_lists = st.lists(st.integers(0, 2**64 - 1), max_size=30).map(lambda v: np.array(v, dtype=np.uint64))


@given(hash_lists, hash_lists, hash_lists)
def test_sketches_are_a_commutative_monoid(a: Hashes, b: Hashes, c: Hashes) -> None:
    x, y, z = (RowSketch.of(h).buckets for h in (a, b, c))

    def merged(*parts: NDArray[np.int64]) -> RowSketch:
        state = RowSketch(parts[0])
        for part in parts[1:]:
            state = state.merge(RowSketch(part))
        return state

    whole = RowSketch.of(np.concatenate([a, b, c])[::-1])
    for order in ((x, y, z), (z, x, y), (y, z, x)):
        assert np.array_equal(merged(*order).buckets, whole.buckets)
    assert np.array_equal(merged(x, RowSketch.empty().buckets).buckets, x)
    assert np.abs(whole.buckets).sum() <= len(a) + len(b) + len(c)
    assert (whole.buckets.sum() - len(a) - len(b) - len(c)) % 2 == 0
