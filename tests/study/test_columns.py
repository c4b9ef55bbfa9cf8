"""Columns: any numeric Arrow column as float64, null as NaN, and rows picked from all of them alike."""

import decimal
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from softlabel.study import Columns
from softlabel.study.columns import numbers

TYPES = [
    *[pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
    *[pa.float16(), pa.float32(), pa.float64(), pa.decimal128(5, 2), pa.decimal256(40, 2)],
]


def _values(kind: pa.DataType) -> list[Any]:
    if pa.types.is_decimal(kind):
        return [decimal.Decimal(1), None, decimal.Decimal(0)]
    return [np.float16(1), None, np.float16(0)] if kind == pa.float16() else [1, None, 0]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_numeric_type(kind: pa.DataType) -> None:
    got = numbers(pa.array(_values(kind), kind))
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, [1.0, math.nan, 0.0])
    full = numbers(pa.array([v for v in _values(kind) if v is not None], kind))
    np.testing.assert_array_equal(full, [1.0, 0.0])


def test_booleans_and_nothing() -> None:
    np.testing.assert_array_equal(numbers(pa.array([True, None, False])), [1.0, math.nan, 0.0])
    np.testing.assert_array_equal(numbers(pa.nulls(2)), [math.nan, math.nan])
    assert numbers(pa.array([], pa.float64())).shape == (0,)


def test_a_slice_is_read_from_where_it_starts() -> None:
    np.testing.assert_array_equal(numbers(pa.array([1.5, 2.5, 3.5]).slice(1, 1)), [2.5])
    np.testing.assert_array_equal(numbers(pa.array([True, False, None]).slice(1)), [0.0, math.nan])


def test_contiguous_float64_is_not_copied() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert np.shares_memory(numbers(pa.array(values)), values)


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([False, True, True, False])], ids=["slice", "mask"])
def test_take_picks_the_same_rows_of_every_column(rows: Any) -> None:
    k = np.arange(4.0)
    columns = Columns(
        outcome=k,
        score=np.stack([k / 10, k / 20]),
        controls=np.stack([k + 10, k + 20, k + 30]),
        group=k % 2,
        weight=k + 1,
        cluster=k.astype(np.uint64) + 5,
        fold=k.astype(np.intp),
        id=pa.array(["a", "b", "c", "d"]),
    )
    taken = columns.take(rows)
    assert len(taken) == 2
    np.testing.assert_array_equal(taken.outcome, [1, 2])
    np.testing.assert_array_equal(taken.score, [[0.1, 0.2], [0.05, 0.1]])
    np.testing.assert_array_equal(taken.controls, [[11, 12], [21, 22], [31, 32]])
    np.testing.assert_array_equal(taken.group, [1, 0])
    for got, expected in ((taken.weight, [2, 3]), (taken.cluster, [6, 7]), (taken.fold, [1, 2])):
        assert got is not None
        assert got.tolist() == expected
    assert taken.id is not None
    assert taken.id.to_pylist() == ["b", "c"]


def test_take_leaves_absent_columns_absent() -> None:
    k = np.arange(3.0)
    taken = Columns(k, k[None], np.empty((0, 3)), k).take(slice(0, 2))
    assert (taken.weight, taken.cluster, taken.fold, taken.id) == (None,) * 4
    assert taken.controls.shape == (0, 2)
