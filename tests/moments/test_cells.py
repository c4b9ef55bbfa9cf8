"""The sums of the first pass: right against dense sums, and a commutative monoid however rows are cut."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel.basis import LinearBasis
from softlabel.errors import StateError
from softlabel.folds import deal, hash_ids, hash_rows
from softlabel.moments import CellMoments, Design, FitState, Partition, fit_batch, kernel
from tests import oracle
from tests.oracle import Floats, Rows
from tests.passes import batch, columns, design_of

PARTITION = Partition.of((0.3, 0.5), (0.6, 0.85))

# Values up to 100 and at most 60 rows: sums of products stay below 6e5, known to 1e-16 of that per addition.
ROUNDING = 1e-8


def moments(rows: Rows, design: Design | None = None) -> CellMoments:
    return fit_batch(batch(rows), design or design_of(rows, PARTITION)).moments


def same(a: CellMoments, b: CellMoments, atol: float = ROUNDING) -> None:
    """Equal sums, compared about one shift."""
    assert a.design == b.design
    assert np.array_equal(a.counts, b.counts)
    b = b.about(a.shift)
    np.testing.assert_allclose(a.sums, b.sums, rtol=0, atol=atol)
    np.testing.assert_allclose(a.grams, b.grams, rtol=0, atol=atol)


values = st.floats(-100, 100).map(lambda v: round(v, 3))
scores = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.4, 0.15, 0.85, 1.0]))


@st.composite
def some_rows(draw: Any, least: int = 0, weighted: bool = False) -> Rows:
    """Rows of two folds and two controls; the first two rows open both folds, so that designs agree."""
    n = draw(st.integers(least, 20))

    def floats(each: Any, count: int) -> Floats:
        return np.array(draw(st.lists(each, min_size=count, max_size=count)), dtype=float)

    fold = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), dtype=np.intp)
    weight = floats(st.integers(0, 3), n) if weighted else None
    return Rows(floats(values, n), floats(scores, n)[:, None], floats(values, 2 * n).reshape(n, 2), fold, weight)


DESIGN = Design(LinearBasis(("x0", "x1")), PARTITION, folds=2, seed=0)


def both(a: Rows, b: Rows) -> Rows:
    return Rows(*(None if x is None else np.concatenate([x, y]) for x, y in zip(a, b, strict=True)))  # type: ignore[arg-type]


@given(some_rows(), some_rows(), some_rows())
def test_merge_is_associative_and_commutative(a: Rows, b: Rows, c: Rows) -> None:
    x, y, z = (moments(rows, DESIGN) for rows in (a, b, c))
    same(x.merge(y).merge(z), x.merge(y.merge(z)))
    same(x.merge(y), y.merge(x))


@given(some_rows())
def test_the_empty_state_is_the_identity(rows: Rows) -> None:
    state, empty = moments(rows, DESIGN), CellMoments.empty(DESIGN)
    same(state.merge(empty), state, atol=0)
    same(empty.merge(state), state, atol=0)
    assert empty.rows == 0
    assert state.rows == len(rows.y)


@given(some_rows(least=1, weighted=True), some_rows(least=1, weighted=True))
def test_states_about_different_shifts_merge_to_one_pass(a: Rows, b: Rows) -> None:
    # Far apart, so that the two shifts are.
    b = b._replace(y=b.y + 1_000.0, X=b.X - [500.0, 0.0])
    x, y = moments(a, DESIGN), moments(b, DESIGN)
    assert not np.allclose(x.shift, y.shift)
    # Values up to 1100 now: sums of products below 5e7.
    same(x.merge(y), moments(both(a, b), DESIGN), atol=1e-6)


@given(some_rows(least=2, weighted=True), st.randoms(use_true_random=False), st.integers(1, 7))
def test_chunks_and_order_of_rows_do_not_matter(rows: Rows, random: Any, size: int) -> None:
    order = list(range(len(rows.y)))
    random.shuffle(order)
    state = CellMoments.empty(DESIGN)
    for start in range(0, len(order), size):
        state = state.merge(moments(rows.only(np.array(order[start : start + size])), DESIGN))
    same(state, moments(rows, DESIGN))


@given(some_rows(weighted=True))
def test_sums_are_the_dense_sums(rows: Rows) -> None:
    state = moments(rows, DESIGN).about(np.zeros(5))
    z = np.column_stack([np.ones(len(rows.y)), rows.X, rows.p, rows.y])
    assert rows.fold is not None
    assert rows.weight is not None
    codes = PARTITION.codes(rows.p.T)
    for k in range(2):
        for c in range(PARTITION.n_codes):
            cell = (rows.fold == k) & (codes == c)
            assert state.counts[k, c] == cell.sum()
            expected = (rows.weight[cell, None] * z[cell]).sum(axis=0)
            np.testing.assert_allclose(state.sums[k, c], expected, rtol=0, atol=ROUNDING)
        for s in range(PARTITION.n_segments):
            cell = (rows.fold == k) & (PARTITION.segments[codes] == s)
            expected = (rows.weight[cell, None] * z[cell]).T @ z[cell]
            np.testing.assert_allclose(state.grams[k, s], expected, rtol=0, atol=ROUNDING)
    assert state.weight == pytest.approx(rows.weight.sum())


@given(some_rows(weighted=True))
def test_bytes_and_back_is_exact(rows: Rows) -> None:
    state = moments(rows, DESIGN)
    back = CellMoments.from_bytes(state.to_bytes())
    assert back.design == state.design
    for name in ("shift", "counts", "sums", "grams"):
        before, after = getattr(state, name), getattr(back, name)
        assert after.dtype == before.dtype
        assert np.array_equal(after, before)
    # A state that was read merges like any other.
    same(back.merge(state), state.merge(state), atol=0)
    assert back.to_bytes() == state.to_bytes()


def test_bytes_that_are_no_state() -> None:
    data = CellMoments.empty(DESIGN).to_bytes()
    for wrong in (b"", b"hello", data[:-9], data.replace(b"CellMoments", b"CellMomentz")):
        with pytest.raises(StateError):
            CellMoments.from_bytes(wrong)


@pytest.mark.parametrize(
    "other",
    [
        Design(LinearBasis(("x0",)), PARTITION, 2, 0),
        Design(LinearBasis(("x1", "x0")), PARTITION, 2, 0),
        Design(LinearBasis(("x0", "x1")), Partition.of((0.3,), (0.6, 0.85)), 2, 0),
        Design(LinearBasis(("x0", "x1")), Partition.of((0.3, 0.5), (0.6, 0.86)), 2, 0),
        Design(LinearBasis(("x0", "x1")), PARTITION, 3, 0),
        Design(LinearBasis(("x0", "x1")), PARTITION, 2, 1),
    ],
    ids=["fewer columns", "columns in another order", "thresholds", "confident", "folds", "seed"],
)
def test_unlike_designs_refuse_to_merge(other: Design) -> None:
    with pytest.raises(StateError, match="one design"):
        CellMoments.empty(DESIGN).merge(CellMoments.empty(other))
    assert (
        DESIGN.fingerprint == Design(LinearBasis(("x0", "x1")), Partition.of((0.5, 0.3), (0.85, 0.6)), 2, 0).fingerprint
    )


def test_a_large_offset_costs_no_digits() -> None:
    # Raw sums of values near 10⁸ would know nothing of a variance of one.
    rows = oracle.draw(2_000, 2, 3)
    steps = np.round(rows.X * 1024) / 1024  # exact after the offset too
    plain = moments(rows._replace(X=steps), DESIGN_OF_ONE)
    moved = moments(rows._replace(X=steps + np.array([2.0**26, -(2.0**27)])), DESIGN_OF_ONE)
    back = moved.shift - [0, 2.0**26, -(2.0**27), 0, 0]
    same(CellMoments(moved.design, back, moved.counts, moved.sums, moved.grams), plain, atol=1e-7)


DESIGN_OF_ONE = Design(LinearBasis(("x0", "x1")), PARTITION, folds=1, seed=0)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = oracle.draw(997, 2, 4, edges=(0.3, 0.6))
    rows = rows._replace(fold=np.arange(997) % 2, weight=np.arange(997) % 5 + 0.5)
    whole = moments(rows, DESIGN)
    monkeypatch.setattr(kernel, "BLOCK_ROWS", 10)
    assert len(list(kernel.sorted_blocks(columns(rows), hash_rows(columns(rows)), DESIGN, whole.shift))) == 100
    same(moments(rows, DESIGN), whole)


def test_a_block_is_sorted_and_complete() -> None:
    rows = oracle.draw(211, 2, 5, edges=(0.5,))._replace(
        fold=np.arange(211) % 2, weight=np.arange(211.0), cluster=np.arange(211) % 9
    )
    held = columns(rows)
    shift = kernel.centre(held, DESIGN)
    z = np.column_stack([np.ones(211), rows.X, rows.p, rows.y])
    np.testing.assert_allclose(shift[1:], z.mean(axis=0)[1:], rtol=1e-13)
    assert shift[0] == 0
    (block,) = kernel.sorted_blocks(held, hash_rows(held), DESIGN, shift)
    assert rows.fold is not None
    codes = PARTITION.codes(rows.p.T)
    order = np.lexsort((np.arange(211), codes, rows.fold))
    assert np.array_equal(block.z, (z - shift).T[:, order])
    assert block.weight is not None
    assert np.array_equal(block.weight, order)
    assert block.cluster is not None
    assert np.array_equal(block.cluster, order % 9)
    assert block.starts.tolist() == [0, 106, 211]
    assert block.counts.sum() == 211


def test_folds_come_from_what_was_handed_in_else_cluster_else_id_else_values() -> None:
    rows = oracle.draw(300, 2, 6)._replace(fold=np.arange(300) % 7, cluster=np.arange(300) % 11)
    design = Design(LinearBasis(("x0", "x1")), PARTITION, 7, 3)
    ids = pa.array([f"row {i // 2}" for i in range(300)])
    held = replace(columns(rows), id=ids)
    hashes = hash_rows(held)
    assert np.array_equal(kernel.fold_of(held, hashes, design), np.arange(300) % 7)
    held = replace(held, fold=None)
    by_cluster = kernel.fold_of(held, hashes, design)
    assert all(len(set(by_cluster[np.arange(300) % 11 == c].tolist())) == 1 for c in range(11))
    held = replace(held, cluster=None)
    by_id = kernel.fold_of(held, hashes, design)
    assert np.array_equal(by_id, deal(hash_ids(ids), 7, 3))
    assert np.array_equal(by_id[::2], by_id[1::2])
    held = replace(held, id=None)
    assert np.array_equal(kernel.fold_of(held, hashes, design), deal(hashes, 7, 3))


def test_states_of_the_fit_pass_merge() -> None:
    rows = oracle.draw(120, 2, 8)._replace(fold=np.arange(120) % 2)
    whole = fit_batch(batch(rows), DESIGN)
    parts = [fit_batch(batch(rows.only(np.arange(a, b))), DESIGN) for a, b in ((0, 50), (50, 51), (51, 120))]
    empty = FitState.empty(DESIGN)
    merged = empty.merge(parts[2]).merge(parts[0]).merge(empty).merge(parts[1])
    same(merged.moments, whole.moments)
    assert merged.check == whole.check
    assert merged.tally == whole.tally
    assert np.array_equal(merged.sketch.buckets, whole.sketch.buckets)
    # A batch without unlabelled rows adds nothing.
    none = fit_batch(batch(rows.only(np.arange(0))), DESIGN)
    assert none.moments.rows == 0
    same(whole.merge(none).moments, whole.moments, atol=0)


def test_a_flipped_bit_is_noticed() -> None:
    data = bytearray(CellMoments.empty(DESIGN).to_bytes())
    at = data.index(bytes(64))  # within the zeros of some array
    data[at + 32] ^= 1
    with pytest.raises(StateError, match="checksum"):
        CellMoments.from_bytes(bytes(data))
