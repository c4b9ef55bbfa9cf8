"""Folds that depend on the row alone: the same for any engine, chunking and order of rows.

A row is hashed in unsigned 64-bit arithmetic on the bits of its float64 values (or of its id), and the hash
is dealt to a fold. Rows with equal values therefore share a fold, which is harmless while most rows are
distinct and not otherwise; `RowSketch` estimates how many effectively distinct rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.hashing import MASK, Hashes, add_column, finish, hash_ids, splitmix
from softlabel.study import Columns

__all__ = ["RowCheck", "RowSketch", "check_folds", "check_seed", "deal", "hash_ids", "hash_rows"]


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
        key = splitmix(key)
        # Every NaN has the same bits after this, whichever way it was made.
        absent = np.isnan(values)
        add_column(h, np.where(absent, np.nan, values) if absent.any() else values, key)
    return finish(h)


def deal(hashes: Hashes, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold 0…folds−1 of each row from its hash and the seed.

    Examples
    --------
    >>> import numpy as np
    >>> deal(np.arange(6, dtype=np.uint64), folds=3, seed=0).tolist()
    [0, 1, 0, 1, 0, 2]
    """
    mixed = finish(hashes ^ np.uint64(splitmix(seed & MASK)))
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
        extras += [None if columns.audit is None else columns.audit.astype(np.uint64)]
        mixed = hashes
        for key, extra in enumerate(extras):
            if extra is not None:
                mixed = finish(mixed + extra * np.uint64(splitmix(key) | 1))
        return cls(len(hashes), int(mixed.sum(dtype=np.uint64)))

    def merge(self, other: RowCheck) -> RowCheck:
        """Return the check of both sets of rows."""
        return RowCheck(self.rows + other.rows, (self.total + other.total) & MASK)

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
    def of(cls, hashes: Hashes, copies: NDArray[np.float64] | None = None) -> RowSketch:
        """Return the sketch of these rows, each as often as ``copies`` says, (n,)."""
        size = 1 << cls.BITS
        # Sign and bucket together are 17 bits of the hash: count each half and subtract.
        signed = np.bincount((hashes & np.uint64(2 * size - 1)).astype(np.int64), copies, minlength=2 * size)
        return cls((signed[:size] - signed[size:]).astype(np.int64))

    def merge(self, other: RowSketch) -> RowSketch:
        """Return the sketch of both sets of rows."""
        return RowSketch(self.buckets + other.buckets)

    def effective_rows(self, n: int) -> float:
        """Return n²/Σm², the number of distinct rows that would be as informative; between 1 and n."""
        squares = float(np.square(self.buckets.astype(np.float64)).sum())
        return min(max(n * n / squares, 1.0), float(n)) if squares else 0.0
