"""Folds that depend on the row alone: the same for any engine, chunking and order of rows.

A row is hashed in unsigned 64-bit arithmetic on the bits of its float64 values (or of its id), and the hash
is dealt to a fold. Rows with equal values therefore share a fold, which is harmless while most rows are
distinct and not otherwise; `RowSketch` estimates how many effectively distinct rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.study import Columns

__all__ = ["RowCheck", "RowSketch", "check_folds", "check_seed", "deal", "hash_ids", "hash_rows"]

Hashes = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = 0xFFFFFFFFFFFFFFFF
_EXACT = 1 << 53


def _splitmix(x: int) -> int:
    """Return one step of SplitMix64 (Steele, Lea & Flood 2014), the source of the column keys."""
    x = (x + _GOLDEN) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def _finish(h: Hashes) -> Hashes:
    """Scramble in place so that every input bit reaches every output bit (SplitMix64's finaliser)."""
    t = h >> np.uint64(30)
    h ^= t
    h *= np.uint64(0xBF58476D1CE4E5B9)
    np.right_shift(h, np.uint64(27), out=t)
    h ^= t
    h *= np.uint64(0x94D049BB133111EB)
    np.right_shift(h, np.uint64(31), out=t)
    h ^= t
    return h


def _add_column(h: Hashes, values: NDArray[np.float64], key: int) -> None:
    """Add one column to the running hash: fold the high bits down, multiply by the column's odd key."""
    # Adding 0.0 turns −0.0 into 0.0 and makes the copy that is scrambled below.
    bits = (values + 0.0).view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(key | 1)
    h += bits


def hash_rows(columns: Columns) -> Hashes:
    """Return one hash per row, (n,), of its values; NaN (no label, no score) is one value like any other.

    Examples
    --------
    >>> import numpy as np
    >>> row = Columns(np.array([1.0, 1.0]), np.array([[.5, .5]]), np.array([[0.0, -0.0]]), np.full(2, np.nan))
    >>> a, b = hash_rows(row)
    >>> bool(a == b)
    True
    """
    h = np.zeros(len(columns), dtype=np.uint64)
    key = 0
    for values in (columns.outcome, *columns.score, *columns.controls, columns.group):
        key = _splitmix(key)
        # Every NaN has the same bits after this, whichever way it was made.
        absent = np.isnan(values)
        _add_column(h, np.where(absent, np.nan, values) if absent.any() else values, key)
    return _finish(h)


def hash_ids(ids: pa.Array) -> Hashes:
    """Return one hash per id, (n,); numbers hash by value, so 7 and 7.0 agree, text by its UTF-8 bytes."""
    if pa.types.is_dictionary(ids.type):
        ids = ids.cast(ids.type.value_type)
    kind = ids.type
    absent = ids.null_count
    if pa.types.is_floating(kind) and not absent:
        absent = int(np.isnan(ids.to_numpy(zero_copy_only=False)).sum())
    if absent:
        raise InputError(
            expected="an id in every row",
            found=f"{absent:,} missing in one batch",
            fix="Fill the id, or leave id= out",
        )
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind):
        numbers = (ids.cast(pa.int8()) if pa.types.is_boolean(kind) else ids).to_numpy(zero_copy_only=False)
        h = np.zeros(len(ids), dtype=np.uint64)
        _add_column(h, numbers.astype(np.float64), _splitmix(1))
        if numbers.dtype.kind in "iu":
            # Beyond 2⁵³ neighbours share a float64: there the bits of the integer itself are added.
            large = (numbers > _EXACT) | (numbers < -_EXACT) if numbers.dtype.kind == "i" else numbers > _EXACT
            h += np.where(large, numbers.astype(np.uint64), np.uint64(0))
        return _finish(h)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _finish(_hash_text(ids.cast(pa.large_string())))
    raise InputError(expected="the id to be a number or text", found=f"values of type {kind}", fix="Cast it to text")


def _hash_text(ids: pa.Array) -> Hashes:
    """Return Σ (byte+1)·key^position mod 2⁶⁴ per string: a polynomial hash, all strings at once."""
    offsets = np.frombuffer(ids.buffers()[1], dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1]
    start, stop = (int(offsets[0]), int(offsets[-1])) if len(ids) else (0, 0)
    if start == stop:
        return np.zeros(len(ids), dtype=np.uint64)
    data = np.frombuffer(ids.buffers()[2], dtype=np.uint8)[start:stop].astype(np.uint64)
    lengths = np.diff(offsets)
    position = np.arange(stop - start) - np.repeat(offsets[:-1] - start, lengths)
    powers = np.cumprod(np.full(int(lengths.max()), _GOLDEN | 1, dtype=np.uint64), dtype=np.uint64)
    data += np.uint64(1)
    data *= powers[position]
    h = np.zeros(len(ids), dtype=np.uint64)
    # reduceat would give an empty string its neighbour's value, so only the others take part.
    full = lengths > 0
    h[full] = np.add.reduceat(data, (offsets[:-1] - start)[full])
    return h


def deal(hashes: Hashes, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold 0…folds−1 of each row from its hash and the seed.

    Examples
    --------
    >>> import numpy as np
    >>> deal(np.arange(6, dtype=np.uint64), folds=3, seed=0).tolist()
    [0, 1, 0, 1, 0, 2]
    """
    mixed = _finish(hashes ^ np.uint64(_splitmix(seed & _MASK)))
    # The high 32 bits scaled to the number of folds: no modulo bias worth the name, no division.
    return (((mixed >> np.uint64(32)) * np.uint64(folds)) >> np.uint64(32)).astype(np.int64)


def check_folds(folds: int | None) -> int:
    """Return the number of groups rows are dealt to: 1 for ``None``, which asks for in-sample nuisances."""
    if folds is None:
        return 1
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or not 2 <= folds <= 100:
        raise InputError(
            expected="folds to be a whole number from 2 to 100, or None",
            found=f"folds={folds!r}",
            fix="Use folds=5, or folds=None (--folds none) to fit the nuisances in sample",
        )
    return int(folds)


def check_seed(seed: int) -> int:
    """Return the seed, or say what a seed is."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(
            expected="seed to be a whole number from 0", found=f"seed={seed!r}", fix="Use for instance seed=0"
        )
    return int(seed)


@dataclass(frozen=True, slots=True)
class RowCheck:
    """(n, Σ hash mod 2⁶⁴): equal for the same rows in any order. A commutative monoid."""

    rows: int = 0
    total: int = 0

    @classmethod
    def of(cls, columns: Columns, hashes: Hashes) -> RowCheck:
        """Return the check of these rows from the hashes of their values and whatever else bears on a result."""
        extras = [None if columns.id is None else hash_ids(columns.id), columns.cluster]
        extras += [None if columns.weight is None else columns.weight.view(np.uint64)]
        mixed = hashes
        for key, extra in enumerate(extras):
            if extra is not None:
                mixed = _finish(mixed + extra * np.uint64(_splitmix(key) | 1))
        return cls(len(hashes), int(mixed.sum(dtype=np.uint64)))

    def merge(self, other: RowCheck) -> RowCheck:
        """Return the check of both sets of rows."""
        return RowCheck(self.rows + other.rows, (self.total + other.total) & _MASK)

    def __str__(self) -> str:
        return f"{self.rows}-{self.total:016x}"


@dataclass(frozen=True, slots=True, eq=False)
class RowSketch:
    r"""Estimates Σm², m the copies of each distinct row, from one small array: a commutative monoid.

    The tug-of-war sketch of Alon, Matias & Szegedy (1996) in its bucketed form: each distinct row adds ±m to
    one bucket, the sign and bucket being bits of its hash, so that

    .. math:: \mathrm E \sum_b c_b^2 = \sum m^2, \qquad \mathrm{sd} \le \sqrt{2/2^{16}} \sum m^2 = 0.6\%.

    The count is exact integer arithmetic, so it does not depend on the order of rows.
    """

    buckets: NDArray[np.int64]

    BITS = 16

    @classmethod
    def empty(cls) -> RowSketch:
        """Return the identity of `merge`."""
        return cls(np.zeros(1 << cls.BITS, dtype=np.int64))

    @classmethod
    def of(cls, hashes: Hashes) -> RowSketch:
        """Return the sketch of these rows."""
        size = 1 << cls.BITS
        # Sign and bucket together are 17 bits of the hash: count each half and subtract.
        signed = np.bincount((hashes & np.uint64(2 * size - 1)).astype(np.int64), minlength=2 * size)
        return cls(signed[:size] - signed[size:])

    def merge(self, other: RowSketch) -> RowSketch:
        """Return the sketch of both sets of rows."""
        return RowSketch(self.buckets + other.buckets)

    def effective_rows(self, n: int) -> float:
        """Return n²/Σm², the number of distinct rows that would be as informative; between 1 and n."""
        squares = float(np.square(self.buckets.astype(np.float64)).sum())
        return min(max(n * n / squares, 1.0), float(n)) if squares else 0.0
