"""The look: levels, a sample of rows and the clusters, however the rows are cut, ordered or repeated."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel import look
from softlabel.basis import MAX_LEVELS
from softlabel.basis.knots import distinct, weighted_quantiles
from softlabel.errors import DataError
from softlabel.folds import hash_rows
from softlabel.look import Clusters, LookState, RowSample, Wanted, look_batch
from softlabel.study import Study

Hashes = NDArray[np.uint64]

WANTED = Wanted(("x", "ward"), ("ward",), ("x",))
STUDY = Study("y", "g", "p", ("x", "ward"), cluster="c", weights="w", weight_type="frequency")


def _sample(hashes: list[int], copies: list[int] | None = None) -> RowSample:
    """A sample of rows whose values are functions of their hashes."""
    h = np.array(hashes, dtype=np.uint64)
    values = np.stack([h.astype(float), -2.0 * h])
    return RowSample.of(h, values, None if copies is None else np.array(copies, dtype=float))


def _equal(one: RowSample, other: RowSample) -> bool:
    pairs = [(one.hashes, other.hashes), (one.counts, other.counts), (one.values, other.values)]
    return all(a.shape == b.shape and bool((a == b).all()) for a, b in pairs)


# Few different hashes, so that rows repeat and the sample of four overflows.
rows = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), max_size=12)
parts = st.lists(rows, min_size=1, max_size=4)


@given(parts)
def test_samples_merge_to_the_sample_of_all_rows(pieces: list[list[tuple[int, int]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look, "SAMPLE_ROWS", 4)
        states = [_sample([h for h, _ in piece], [c for _, c in piece]) for piece in pieces]
        empty = _sample([])
        everything = [pair for piece in pieces for pair in piece]
        whole = _sample([h for h, _ in everything], [c for _, c in everything])
        forward, backward = empty, empty
        for state in states:
            forward, backward = forward.merge(state), state.merge(backward)
        assert _equal(forward, whole)
        assert _equal(backward, whole)
        # The four smallest hashes, with every copy there is of them.
        smallest = sorted({h for h, _ in everything})[:4]
        assert whole.hashes.tolist() == smallest
        assert whole.counts.tolist() == [sum(c for h, c in everything if h == each) for each in smallest]
        assert whole.values[0].tolist() == smallest
        for one in states:
            for two in states:
                for three in states:
                    assert _equal(one.merge(two).merge(three), one.merge(two.merge(three)))


@given(st.lists(st.lists(st.integers(0, 40), max_size=10), min_size=1, max_size=4), st.integers(1, 6))
def test_clusters_merge_to_the_clusters_of_all_rows(pieces: list[list[int]], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look, "MOST_CLUSTERS", most)
        patch.setattr(look, "_SUPER_BITS", 2)
        # Spread over all 64 bits, so that super-clusters differ.
        arrays = [np.array(piece, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) for piece in pieces]
        whole = Clusters.of(np.concatenate(arrays))
        forward = backward = Clusters.of(np.empty(0, dtype=np.uint64))
        for array in arrays:
            forward, backward = forward.merge(Clusters.of(array)), Clusters.of(array).merge(backward)
        for found in (forward, backward):
            assert found.joined == whole.joined == (len({i for piece in pieces for i in piece}) > most)
            assert found.ids.tolist() == whole.ids.tolist()


def _batch(numbers: list[tuple[int, int, int, bool]]) -> pa.RecordBatch:
    """Rows of (x, ward, frequency, labelled)."""
    columns = np.array(numbers, dtype=float).reshape(-1, 4).T
    labelled = columns[3] > 0
    return pa.record_batch(
        {
            "y": columns[0] * 2 + 0.5,
            "p": (columns[1] + 1) / 10,
            "g": pa.array(columns[0] > 3, mask=~labelled),
            "x": columns[0],
            "ward": pa.array([f"ward {ward:g}" for ward in columns[1]], pa.string()),
            "w": columns[2],
            "c": pa.array((columns[0] + 7 * columns[1]).astype(int)),
        }
    )


def _looked(numbers: list[tuple[int, int, int, bool]]) -> LookState:
    record = _batch(numbers)
    return look_batch(STUDY.read(record, "mixed"), record, WANTED)


def _said(state: LookState) -> tuple[Any, ...]:
    """Everything a look found, as plain values."""
    sample = state.sample
    tally = state.tally
    return (
        (tally.rows, tally.unlabelled, tally.labelled, tally.positive, tally.weightless, tally.graded),
        dict(tally.extremes),
        (tally.pairs, tally.differ),
        state.check,
        {control: dict(names) for control, names in state.levels.items()},
        (sample.hashes.tolist(), sample.counts.tolist(), sample.values.tolist()),
        (state.clusters.ids.tolist(), state.clusters.joined),
    )


row = st.tuples(st.integers(0, 6), st.integers(0, 3), st.integers(0, 3), st.booleans())


@given(st.lists(st.lists(row, max_size=6), min_size=1, max_size=4))
def test_a_look_is_the_same_however_rows_are_cut_and_ordered(pieces: list[list[tuple[int, int, int, bool]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(look, "SAMPLE_ROWS", 3)
        patch.setattr(look, "MOST_CLUSTERS", 5)
        patch.setattr(look, "_SUPER_BITS", 2)
        whole = _said(_looked([each for piece in pieces for each in piece]))
        forward = backward = LookState.empty(WANTED)
        for piece in pieces:
            forward, backward = forward.merge(_looked(piece)), _looked(piece).merge(backward)
        assert _said(forward) == whole
        assert _said(backward) == whole


def test_a_look_finds_what_is_there() -> None:
    numbers = [(1, 0, 2, False), (1, 0, 3, False), (5, 1, 1, True), (4, 2, 1, False), (6, 3, 0, False)]
    state = _looked(numbers)
    # The level of the labelled row is a level; that of the row of weight zero is not there.
    levels = state.ordered_levels()["ward"]
    assert levels.names == ("ward 0", "ward 1", "ward 2")
    ((values, counts),) = state.samples(WANTED).values()
    # Equal rows are one with five copies; labelled rows place no knots.
    assert sorted(zip(values.tolist(), counts.tolist(), strict=True)) == [(1.0, 5.0), (4.0, 1.0)]
    assert len(state.clusters.ids) == 2


@pytest.mark.parametrize("numeric", [True, False])
def test_levels_are_in_the_order_of_numbers_or_of_names(numeric: bool) -> None:
    values = [10, 9, 2, 10, 1]
    study = Study("y", None, "p", ("ward",))
    ward = pa.array(values) if numeric else pa.array([str(v) for v in values])
    record = pa.record_batch({"y": np.arange(5.0), "p": np.linspace(0.1, 0.9, 5), "ward": ward})
    wanted = Wanted(("ward",), ("ward",), ())
    found = look_batch(study.read(record, "unlabelled"), record, wanted).ordered_levels()["ward"].names
    assert found == (("1", "2", "9", "10") if numeric else ("1", "10", "2", "9"))


@pytest.mark.parametrize("kind", ["numbers", "text", "text of numbers"])
def test_too_many_levels_are_refused_in_one_batch_or_in_several(kind: str) -> None:
    study = Study("y", None, "p", ("ward",))
    wanted = Wanted(("ward",), ("ward",), ())

    def looked(first: int, last: int) -> LookState:
        ward = pa.array(range(first, last))
        if kind != "numbers":
            ward = pa.array([f"{'' if kind == 'text of numbers' else 'w'}{i}" for i in range(first, last)])
        n = last - first
        record = pa.record_batch({"y": np.arange(n) / 2, "p": np.linspace(0, 1, n), "ward": ward})
        return look_batch(study.read(record, "unlabelled"), record, wanted)

    assert len(looked(0, MAX_LEVELS).levels["ward"]) == MAX_LEVELS
    fix = {
        "numbers": r"such as '0', '1', '2'.* Leave C\(\) or categories= out, .*by ns\(ward\)",
        "text": "Group rare levels",
        "text of numbers": "convert the column to numbers",
    }[kind]
    with pytest.raises(DataError, match=f"at most {MAX_LEVELS} levels in the category 'ward'.*{fix}"):
        looked(0, MAX_LEVELS + 1)
    with pytest.raises(DataError, match=f"at most {MAX_LEVELS} levels in the category 'ward'"):
        looked(0, 150).merge(looked(100, 201))


# ------------------------------------------------------------------------------------------ quantiles


def _study_rows(n: int, seed: int) -> tuple[Hashes, NDArray[np.float64]]:
    """Hashes and first control of rows of a plain study."""
    rng = np.random.default_rng(seed)
    record = pa.record_batch({"y": rng.normal(size=n), "p": rng.random(n), "x": rng.gamma(2.0, size=n)})
    columns = Study("y", None, "p", ("x",)).read(record, "unlabelled").unlabelled
    return hash_rows(columns), columns.controls


def test_every_row_of_a_small_table_is_in_the_sample() -> None:
    hashes, values = _study_rows(look.SAMPLE_ROWS, 1)
    sample = RowSample.of(hashes, values)
    assert sorted(sample.values[0].tolist()) == sorted(values[0].tolist())
    assert (sample.counts == 1).all()
    levels = np.linspace(0.03, 0.97, 6)
    found = weighted_quantiles(*distinct(sample.values[0], sample.counts), levels)
    # The same interpolation between the same values.
    np.testing.assert_allclose(found, np.quantile(values[0], levels), rtol=1e-13)


def test_a_row_twice_counts_twice() -> None:
    hashes, values = _study_rows(500, 2)
    twice = np.concatenate([np.arange(500), np.arange(0, 500, 5)])
    sample = RowSample.of(hashes[twice], values[:, twice])
    assert sample.counts.sum() == 600
    counted = RowSample.of(hashes, values, 1.0 + (np.arange(500) % 5 == 0))
    assert _equal(sample, counted)
    levels = np.linspace(0, 1, 11)
    np.testing.assert_allclose(
        weighted_quantiles(*distinct(sample.values[0], sample.counts), levels),
        np.quantile(values[0, twice], levels),
        rtol=1e-13,
    )


def test_the_fast_path_of_large_batches_is_the_slow_one() -> None:
    hashes, values = _study_rows(8 * look.SAMPLE_ROWS + 1, 3)
    assert _equal(RowSample.of(hashes, values), look._smallest(hashes, np.ones(len(hashes)), values))
    # With so many copies that too few distinct rows lie below the bound, it falls back.
    repeated = np.resize(hashes[:9_000], len(hashes))
    again = np.resize(values[:, :9_000], (1, len(hashes)))
    assert _equal(RowSample.of(repeated, again), look._smallest(repeated, np.ones(len(hashes)), again))


def test_quantiles_of_a_million_rows_are_unbiased_and_as_near_as_stated() -> None:
    levels = np.linspace(0.03, 0.97, 6)
    draws = 8
    off = np.empty((draws, len(levels)))
    for seed in range(draws):
        # Ranks: the value of a row is its place among a million, so errors are in shares of the table.
        hashes = np.random.default_rng(seed).integers(0, 2**64, 1_000_000, dtype=np.uint64)
        rank: NDArray[np.float64] = (np.arange(1_000_000, dtype=np.float64) + 0.5) / 1e6
        sample = RowSample.of(hashes, rank[None])
        assert len(sample.hashes) == look.SAMPLE_ROWS
        off[seed] = weighted_quantiles(*distinct(sample.values[0], sample.counts), levels) - levels
    error = np.sqrt(levels * (1 - levels) / look.SAMPLE_ROWS)
    # Stated: two standard errors at the median are 1.1 points.
    assert 2 * np.sqrt(0.25 / look.SAMPLE_ROWS) < 0.0111
    # 48 quantiles within four errors, means of eight within four of theirs; and not far nearer than they can be.
    assert (np.abs(off) < 4 * error).all()
    assert (np.abs(off.mean(axis=0)) < 4 * error / np.sqrt(draws)).all()
    assert np.sqrt(np.mean((off / error) ** 2)) > 0.6


def test_hashes_of_rows_choose_them_at_random() -> None:
    # Real hashes, of real rows: the sampled values are as good as a simple random sample of the column.
    hashes, values = _study_rows(200_000, 4)
    sample = RowSample.of(hashes, values)
    levels = np.linspace(0.03, 0.97, 6)
    found = weighted_quantiles(*distinct(sample.values[0], sample.counts), levels)
    shares = np.searchsorted(np.sort(values[0]), found) / 200_000
    assert (np.abs(shares - levels) < 4 * np.sqrt(levels * (1 - levels) / look.SAMPLE_ROWS)).all()
