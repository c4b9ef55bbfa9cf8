"""Hashes and folds: a function of the row alone, fair, and the same however the row is stored."""

import decimal
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.folds import RowCheck, check_folds, check_seed, deal, hash_ids, hash_rows
from softlabel.study import Columns

Hashes = NDArray[np.uint64]
MASK = 2**64 - 1


def rows_of(n: int, k: int = 3, q: int = 2, seed: int = 0) -> Columns:
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.5, np.nan, rng.integers(0, 2, n))
    return Columns(rng.normal(size=n), rng.random((q, n)), rng.normal(size=(k, n)), group)


# ------------------------------------------------------------------------------ a second derivation in Python


def splitmix(x: int) -> int:
    """SplitMix64's next number after state x, from its publication."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    return finish(x)


def finish(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def hash_of_row(values: list[float]) -> int:
    """The hash of one row in whole numbers of any size: the definition, value by value."""
    key, total = 0, 0
    for value in values:
        key = splitmix(key)
        bits = int(np.float64(value + 0.0).view(np.uint64))
        total += (bits ^ (bits >> 32)) * (key | 1)
    return finish(total & MASK)


def fold_of(hash_value: int, folds: int, seed: int) -> int:
    return ((finish(hash_value ^ splitmix(seed & MASK)) >> 32) * folds) >> 32


def test_the_published_splitmix_numbers() -> None:
    # The first outputs of SplitMix64 from state 1234567, as its reference implementation prints them.
    state, found = 1234567, []
    for _ in range(3):
        found.append(splitmix(state))
        state += 0x9E3779B97F4A7C15
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_hash_and_fold_by_definition() -> None:
    rows = rows_of(40)
    hashes = hash_rows(rows)
    assert hashes.dtype == np.uint64
    stacked = np.vstack([rows.outcome, rows.score, rows.controls, rows.group]).T
    assert hashes.tolist() == [hash_of_row(row) for row in stacked.tolist()]
    for folds, seed in ((2, 0), (5, 1), (100, 2**63 + 11), (7, 2**70 + 3)):
        assert deal(hashes, folds, seed).tolist() == [fold_of(int(h), folds, seed) for h in hashes]


def test_these_hashes_never_change() -> None:
    # A saved state or a published number depends on them: a change of the hash is a change of the results.
    row = Columns(np.array([1.5]), np.array([[0.25]]), np.array([[-3.0], [1e300]]), np.array([np.nan]))
    assert hash_rows(row).tolist() == [8634021421074411097]
    assert hash_ids(pa.array(["patient 7", "", "Ünï"])).tolist() == [9097084217824232160, 0, 10252565158043263234]
    assert hash_ids(pa.array([7])).tolist() == [13602939035830296790]


def text_by_definition(text: str) -> int:
    odd = 0x9E3779B97F4A7C15 | 1
    return finish(sum((b + 1) * pow(odd, i + 1, 2**64) for i, b in enumerate(text.encode())) & MASK)


@given(st.lists(st.text(max_size=9), max_size=12))
def test_text_hashes_by_definition(texts: list[str]) -> None:
    assert hash_ids(pa.array(texts, pa.string())).tolist() == [text_by_definition(t) for t in texts]


# -------------------------------------------------------------------------------------------------- of rows


def test_negative_zero_is_zero() -> None:
    zero = Columns(np.zeros(1), np.zeros((1, 1)), np.zeros((2, 1)), np.zeros(1))
    negative = Columns(-zero.outcome, -zero.score, -zero.controls, -zero.group)
    assert math.copysign(1, negative.outcome[0]) == -1
    assert np.array_equal(hash_rows(zero), hash_rows(negative))


def test_every_nan_is_one_value() -> None:
    quiet = np.array([np.nan])
    other = np.array([0xFFF8DEADBEEF0001], dtype=np.uint64).view(np.float64)
    assert np.isnan(other[0])
    row = rows_of(1)
    hashes = [hash_rows(Columns(row.outcome, row.score, row.controls, group)) for group in (quiet, other, -quiet)]
    assert hashes[0] == hashes[1] == hashes[2]
    assert hash_rows(Columns(row.outcome, row.score, row.controls, np.zeros(1))) != hashes[0]


def test_every_column_and_every_bit_matters() -> None:
    rows = rows_of(200)
    plain = hash_rows(rows)
    stacked = [rows.outcome, *rows.score, *rows.controls]
    for j in range(len(stacked)):
        changed = [column.copy() for column in stacked]
        changed[j] = np.nextafter(changed[j], np.inf)
        one_more = Columns(changed[0], np.stack(changed[1:3]), np.stack(changed[3:]), rows.group)
        differ = np.bitwise_count(hash_rows(one_more) ^ plain)
        # The lowest bit of one column turns about half of the 64 bits: 32 ± 4 per row.
        assert differ.min() > 8
        assert abs(differ.mean() - 32) < 5 * 4 / np.sqrt(200)


def test_columns_are_not_interchangeable() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    nan = np.full(50, np.nan)
    half = np.full((1, 50), 0.5)
    hashes = [
        hash_rows(Columns(a, half, b[None], nan)),
        hash_rows(Columns(b, half, a[None], nan)),
        hash_rows(Columns(a, half, np.stack([b, b]), nan)),
        hash_rows(Columns(a, half, np.stack([b, np.zeros(50)]), nan)),
        hash_rows(Columns(a, half, np.stack([np.zeros(50), b]), nan)),
    ]
    assert len(np.unique(np.concatenate(hashes))) == 250


def test_small_whole_numbers_do_not_collide() -> None:
    # The values of survey data: few bits in use, many rows. 400,000 random 64-bit numbers collide with
    # probability 4e-9.
    grid = np.array(np.meshgrid(*[np.arange(8.0)] * 5, [0.0, 1.0, 2.0], indexing="ij")).reshape(6, -1)
    grid = np.concatenate([grid, 4 * grid, -grid], axis=1)
    grid = np.unique(grid, axis=1)
    rows = Columns(grid[0], grid[1:2], grid[2:], np.full(grid.shape[1], np.nan))
    assert grid.shape[1] > 250_000
    assert len(np.unique(hash_rows(rows))) == grid.shape[1]


def test_order_and_chunks_of_rows_do_not_matter() -> None:
    rows = rows_of(1_000)
    order = np.random.default_rng(1).permutation(1_000)
    turned = Columns(rows.outcome[order], rows.score[:, order], rows.controls[:, order], rows.group[order])
    plain = hash_rows(rows)
    assert np.array_equal(hash_rows(turned), plain[order])
    pieces = [hash_rows(rows.take(slice(start, start + 77))) for start in range(0, 1_000, 77)]
    assert np.array_equal(np.concatenate(pieces), plain)
    assert np.array_equal(hash_rows(rows.take(slice(None, None, -3))), plain[::-3])


def test_no_rows_hash_to_nothing() -> None:
    assert hash_rows(rows_of(0)).shape == (0,)
    assert deal(np.empty(0, dtype=np.uint64), 5, 0).shape == (0,)


def test_hashing_leaves_the_values_alone() -> None:
    rows = rows_of(10)
    before = rows.outcome.copy(), rows.score.copy(), rows.group.copy()
    hashes = hash_rows(rows)
    kept = hashes.copy()
    deal(hashes, 5, 0)
    assert np.array_equal(hashes, kept)
    assert np.array_equal(rows.outcome, before[0])
    assert np.array_equal(rows.score, before[1])
    assert np.array_equal(rows.group, before[2], equal_nan=True)


# ------------------------------------------------------------------------------------------------- of folds


@pytest.mark.parametrize("folds", [2, 3, 5, 10, 100])
@pytest.mark.parametrize("kind", ["rows", "whole numbers", "text"])
def test_folds_are_about_equal_in_size(folds: int, kind: str) -> None:
    n = 20_000
    hashes = {
        "rows": lambda: hash_rows(rows_of(n, seed=folds)),
        "whole numbers": lambda: hash_ids(pa.array(np.arange(n))),
        "text": lambda: hash_ids(pa.array([f"id-{i:06d}" for i in range(n)])),
    }[kind]()
    fold = deal(hashes, folds, seed=4)
    counts = np.bincount(fold, minlength=folds)
    assert len(counts) == folds
    # Binomial, at 5 standard deviations: one of 345 counts beyond it has probability 2e-4.
    sd = np.sqrt(n * (1 / folds) * (1 - 1 / folds))
    assert np.abs(counts - n / folds).max() < 5 * sd


def test_another_seed_deals_anew() -> None:
    hashes = hash_rows(rows_of(10_000))
    first, second = deal(hashes, 5, seed=0), deal(hashes, 5, seed=1)
    assert np.array_equal(first, deal(hashes, 5, seed=0))
    # Independent dealings agree on a fifth of the rows: 0.2 ± 0.004.
    assert abs((first == second).mean() - 0.2) < 0.02
    table = np.bincount(first * 5 + second, minlength=25)
    assert np.abs(table - 400).max() < 5 * np.sqrt(400)


def test_folds_do_not_depend_on_the_values_but_through_the_hash() -> None:
    # Dealt by value, folds must still be unrelated to the outcome: 20,000 rows, 5 sd.
    rows = rows_of(20_000, seed=3)
    fold = deal(hash_rows(rows), 4, seed=0)
    for column in (rows.outcome, *rows.score, *rows.controls):
        z = (column - column.mean()) / column.std()
        means = np.array([z[fold == j].mean() for j in range(4)])
        assert np.abs(means).max() < 5 / np.sqrt(5_000)


@pytest.mark.parametrize("folds", [2, 100, None])
def test_folds_that_can_be(folds: int | None) -> None:
    assert check_folds(folds) == (1 if folds is None else folds)


@pytest.mark.parametrize("folds", [0, 1, 101, -5, 2.0, True, "5"])
def test_folds_that_cannot_be(folds: object) -> None:
    with pytest.raises(InputError, match="folds"):
        check_folds(folds)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 0.5, True, "0", None])
def test_seeds_that_cannot_be(seed: object) -> None:
    with pytest.raises(InputError, match="seed"):
        check_seed(seed)  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------------- of ids


def test_numbers_hash_by_value_in_every_type() -> None:
    numbers = [0, 1, 7, 100, 5]
    expected = hash_ids(pa.array(numbers, pa.int64())).tolist()
    for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float32(), pa.float64()):
        assert hash_ids(pa.array(numbers, pa.int64()).cast(kind)).tolist() == expected
    half = pa.array(np.array(numbers, dtype=np.float16))
    assert hash_ids(half).tolist() == expected
    assert hash_ids(pa.array([False, True])).tolist() == expected[:2]
    assert hash_ids(pa.array([-0.0])).tolist() == expected[:1]
    # A number is not its text.
    assert not set(expected) & set(hash_ids(pa.array([str(i) for i in numbers])).tolist())


def test_whole_numbers_beyond_double_precision_differ() -> None:
    for start in (2**53, 2**60, -(2**53) - 100, -(2**62)):
        ids = pa.array(range(start, start + 100), pa.int64())
        assert len(set(hash_ids(ids).tolist())) == 100
    # Signed and unsigned types agree where both hold the number.
    large = [2**53 + 1, 2**62 + 3]
    assert hash_ids(pa.array(large, pa.int64())).tolist() == hash_ids(pa.array(large, pa.uint64())).tolist()
    assert len(set(hash_ids(pa.array([2**64 - 1, 2**64 - 2, 2**63], pa.uint64())).tolist())) == 3
    # At the boundary itself a double still says everything.
    assert hash_ids(pa.array([2**53, -(2**53)])).tolist() == hash_ids(pa.array([2.0**53, -(2.0**53)])).tolist()


def test_the_check_depends_on_ids_weights_and_clusters_and_the_hash_of_the_values_does_not() -> None:
    rows = rows_of(40)
    plain = RowCheck.of(rows, hash_rows(rows))
    seen = {plain.total}
    for extra in (
        {"id": pa.array(range(1, 41))},
        {"id": pa.array(range(2, 42))},
        {"weight": np.arange(1.0, 41.0)},
        {"cluster": np.arange(40, dtype=np.uint64)},
    ):
        more = replace(rows, **extra)
        assert np.array_equal(hash_rows(more), hash_rows(rows))
        check = RowCheck.of(more, hash_rows(more))
        # In any pieces the same.
        pieces = [more.take(slice(start, start + 7)) for start in range(0, 40, 7)]
        merged = RowCheck()
        for piece in pieces:
            merged = merged.merge(RowCheck.of(piece, hash_rows(piece)))
        assert merged == check
        seen.add(check.total)
    assert len(seen) == 5


TEXT: dict[str, Callable[[list[str]], pa.Array]] = {
    "string": lambda v: pa.array(v, pa.string()),
    "large string": lambda v: pa.array(v, pa.large_string()),
    "string view": lambda v: pa.array(v, pa.string_view()),
    "dictionary": lambda v: pa.array(v, pa.string()).dictionary_encode(),
    "dictionary of large strings": lambda v: pa.array(v, pa.large_string()).dictionary_encode(),
}
WORDS = ["a", "", "bc", "é", "bc", "", "a longer one than twelve bytes", "z"]


@pytest.mark.parametrize("kind", TEXT)
def test_text_hashes_alike_however_it_is_stored(kind: str) -> None:
    array = TEXT[kind](WORDS)
    expected = [text_by_definition(word) for word in WORDS]
    assert hash_ids(array).tolist() == expected
    # A slice shares its parent's buffers and starts somewhere inside them.
    for start, stop in ((2, 8), (1, 2), (5, 6), (3, 3), (0, 7)):
        assert hash_ids(array[start:stop]).tolist() == expected[start:stop]
    assert hash_ids(array[1:][2:][1:4]).tolist() == expected[4:7]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.bool_()])
def test_slices_of_numbers(kind: pa.DataType) -> None:
    array = pa.array([1, 0, 1, 1, 0, 1, 0, 0, 1, 1]).cast(kind)
    assert hash_ids(array[3:9]).tolist() == hash_ids(array).tolist()[3:9]


@pytest.mark.parametrize("kind", [*TEXT, "whole numbers", "floats", "booleans"])
def test_no_ids(kind: str) -> None:
    empty = {"whole numbers": pa.int64(), "floats": pa.float64(), "booleans": pa.bool_()}
    array = TEXT[kind]([]) if kind in TEXT else pa.array([], empty[kind])
    assert hash_ids(array).shape == (0,)


def test_texts_that_are_nearly_the_same() -> None:
    texts = ["ab", "ba", "a", "aa", "aaa", "", "\0", "\0\0", "b", "a\0", "ab ", " ab"]
    assert len(set(hash_ids(pa.array(texts)).tolist())) == len(texts)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["a", None]),
        pa.array([1, None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([None, None]),
        pa.array([b"bytes"]),
        pa.array([[1], [2]]),
        pa.array([decimal.Decimal("1.5")]),
        pa.array([1.0, np.nan], from_pandas=False),
    ],
    ids=["null text", "null number", "null in a dictionary", "all null", "bytes", "lists", "decimal", "NaN"],
)
def test_ids_that_cannot_be(ids: pa.Array) -> None:
    with pytest.raises(InputError, match="id"):
        hash_ids(ids)


# ------------------------------------------------------------------------------------------------ the check

checks = st.builds(RowCheck, st.integers(0, 10**12), st.integers(0, MASK))


@given(checks, checks, checks)
def test_checks_are_a_commutative_monoid(a: RowCheck, b: RowCheck, c: RowCheck) -> None:
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(b) == b.merge(a)
    assert a.merge(RowCheck()) == RowCheck().merge(a) == a


def test_the_check_sees_any_change_and_no_order() -> None:
    rows = rows_of(500)
    hashes = hash_rows(rows)
    check = RowCheck.of(rows, hashes)
    assert check == RowCheck(500, sum(hashes.tolist()) & MASK)
    assert RowCheck.of(rows, hashes[::-1]) == check
    assert RowCheck.of(rows, hashes[:200]).merge(RowCheck.of(rows, hashes[200:])) == check
    twice = hashes.copy()
    twice[3] = twice[4]
    assert RowCheck.of(rows, twice) != check
    assert str(RowCheck(3, 255)) == "3-00000000000000ff"
