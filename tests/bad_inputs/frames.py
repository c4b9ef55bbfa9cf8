"""Frames drawn at random: recipes for columns, so that a few small draws make a table of any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator
Fill = Callable[[Rng, int], Any]

# Sizes at and beyond the ends of what is accepted, and the ends of float64.
SIZES = (1.0, 1e-3, 1e6, 1e16, 1e-16, 1e30, 1e-30, 1e60, 1e-60, 1e69, 1e-69, 1e71, 1e-71, 1e150, 1e-150, 1e300, 1e-300)
ODD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-308, -0.0, 2.0**53 + 2, 1.0 + 1e-7, -1e-9, 1e70, 1e200)

NUMBERS: dict[str, Fill] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "percent": lambda rng, n: np.round(rng.random(n), 2),
    "coin": lambda rng, n: rng.integers(0, 2, n).astype(np.float64),
    "few": lambda rng, n: rng.integers(0, 4, n).astype(np.float64),
    "half": lambda rng, n: np.where(rng.random(n) < 0.5, 0.5, rng.random(n)),
    "constant": lambda rng, n: np.full(n, float(rng.normal())),
    "zero": lambda _, n: np.zeros(n),
    "one": lambda _, n: np.ones(n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "far": lambda rng, n: 1e8 + rng.normal(size=n) * 1e-8,
    "count": lambda _, n: np.arange(n, dtype=np.float64),
    "outlier": lambda rng, n: np.where(np.arange(n) == 0, 1e12, rng.normal(size=n)),
    "near_one": lambda rng, n: 1 - rng.random(n) * 1e-15,
    "denormal": lambda rng, n: rng.integers(0, 5, n) * 5e-324,
}

OTHERS: dict[str, Fill] = {
    "letters": lambda rng, n: [("a", "b", "c", "d e", "")[i] for i in rng.integers(0, 5, n)],
    "numerals": lambda rng, n: [f"{v:.3g}" for v in rng.normal(size=n)],
    "commas": lambda rng, n: [f"1,{i:03d}" for i in rng.integers(0, 9, n)],
    "booleans": lambda rng, n: rng.integers(0, 2, n).astype(np.bool_),
    "integers": lambda rng, n: rng.integers(-5, 6, n),
    "huge_integers": lambda rng, n: rng.integers(0, 9, n) + 2**62,
    "uint64": lambda rng, n: rng.integers(0, 9, n).astype(np.uint64) + np.uint64(2**63),
    "float16": lambda rng, n: rng.random(n).astype(np.float16),
    "float32": lambda rng, n: rng.random(n).astype(np.float32),
    "dates": lambda rng, n: [datetime(2020, 1, 1, tzinfo=UTC) + timedelta(int(i)) for i in rng.integers(0, 9, n)],
    "durations": lambda rng, n: [timedelta(int(i)) for i in rng.integers(0, 9, n)],
    "lists": lambda _, n: [[1.0]] * n,
    "structs": lambda _, n: [{"a": 1}] * n,
    "bytes": lambda _, n: [b"x"] * n,
    "decimals": lambda rng, n: [Decimal(int(i)) / 8 for i in rng.integers(0, 9, n)],
    "objects": lambda _, n: [object()] * n,
    "mixed": lambda rng, n: [(1, "a", 2.5, None, True)[i] for i in rng.integers(0, 5, n)],
    "nothing": lambda _, n: [None] * n,
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "square": lambda _, n: np.zeros((n, 2)),
    "short": lambda rng, n: rng.normal(size=max(n - 1, 0)),
    "number_categories": lambda rng, n: pd.Series(pd.Categorical(rng.integers(0, 3, n))),
    "text_categories": lambda rng, n: pd.Series(pd.Categorical([("a", "b", "c")[i] for i in rng.integers(0, 3, n)])),
    "masked": lambda rng, n: np.ma.array(rng.random(n), mask=rng.random(n) < 0.2),
}


@dataclass(frozen=True)
class Column:
    """What a column holds: a recipe, its size, and what is strewn over it."""

    fill: str
    size: float = 1.0
    missing: float = 0.0
    odd: tuple[float, ...] = ()
    like: str | None = None

    def make(self, rng: Rng, n: int, before: dict[str, Any]) -> Any:
        if self.fill in OTHERS:
            values = OTHERS[self.fill](rng, n)
            if self.missing and isinstance(values, list):
                return [None if rng.random() < self.missing else v for v in values]
            return values
        copied = before.get(self.like) if self.like is not None else None
        if isinstance(copied, np.ndarray) and copied.shape == (n,) and copied.dtype.kind == "f":
            values = copied.astype(np.float64)
        else:
            values = NUMBERS[self.fill](rng, n)
        with np.errstate(all="ignore"):
            values = values * self.size
        for value in self.odd:
            if n:
                values[rng.integers(n)] = value
        values[rng.random(n) < self.missing] = np.nan
        return values


MISSING = st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.5, 0.95, 1.0])


def any_column(names: tuple[str, ...] = ()) -> st.SearchStrategy[Column]:
    """A column of any kind, whatever its role is to be."""
    number = st.builds(
        Column,
        st.sampled_from(sorted(NUMBERS)),
        st.sampled_from([1.0, 1.0, 1.0, *SIZES]),
        MISSING,
        st.lists(st.sampled_from(ODD), max_size=2).map(tuple),
        st.sampled_from([None, None, None, *names]),
    )
    other = st.builds(Column, st.sampled_from(sorted(OTHERS)), st.just(1.0), MISSING)
    return st.one_of(number, number, other)


def _some(kinds: str, sizes: tuple[float, ...] = (1.0,), missing: tuple[float, ...] = (0.0,)) -> Any:
    return st.builds(Column, st.sampled_from(kinds.split()), st.sampled_from(sizes), st.sampled_from(missing))


_TAME = (1.0, 1.0, 1.0, 1.0, 1e6, 1e-6, 1e30, 1e-30, 1e60, 1e-60, 1e69, 1e-69)

# What each role may hold, so that most draws reach the estimators.
NEARLY: dict[str, st.SearchStrategy[Column]] = {
    "y": st.one_of(
        _some("normal cauchy coin few constant far outlier uniform integers booleans count", _TAME),
        _some("normal", (1.0,), (0.1,)),
        _some("decimals float32 float16 huge_integers masked"),
    ),
    "p": st.one_of(
        _some("uniform percent half", (1.0,) * 4 + (0.3, 1e-8, 1e-30, 1e-60, 1e-69)),
        _some("uniform percent half"),
        _some("coin near_one zero one denormal float32 float16 booleans masked"),
        _some("uniform", (1.0,), (0.1,)),
    ),
    "g": st.one_of(
        _some("coin", (1.0,), (0.3, 0.5, 0.5, 0.8, 0.95, 1.0)),
        _some("zero one", (1.0,), (0.5, 0.95)),
    ),
    "x1": st.one_of(
        _some("normal cauchy coin few constant far outlier uniform count denormal", _TAME, (0.0, 0.0, 0.05)),
        _some("letters numerals text_categories number_categories booleans integers decimals masked"),
        st.builds(Column, st.just("normal"), st.sampled_from((2.0, -1e5, 1e-30)), like=st.sampled_from(("y", "p"))),
    ),
    "x3": st.one_of(
        _some("normal cauchy few constant outlier"),
        st.builds(Column, st.just("normal"), st.sampled_from((1.0, 3.0, -1e-6)), like=st.sampled_from(("x1", "x2"))),
    ),
    "w": st.one_of(_some("one few count integers", (1.0,), (0.0, 0.0, 0.05)), _some("uniform cauchy", _TAME)),
    "c": st.one_of(_some("few coin count letters integers zero text_categories", (1.0,), (0.0, 0.0, 0.05))),
    "id": _some("count uniform letters integers"),
    "a": st.one_of(_some("coin one zero booleans", (1.0,), (0.0, 0.3)), _some("few", (1.0,), (0.0,))),
}
NEARLY["x2"] = NEARLY["x1"]
NAMES = ("y", "p", "g", "x1", "x2", "x3", "w", "c", "id", "a")


@dataclass(frozen=True)
class Table:
    """A table that can be made again: columns, rows, seed, and the engine that holds it."""

    columns: tuple[tuple[str, Column], ...]
    rows: int
    seed: int
    engine: str
    repeat: int = 1

    def make(self) -> Any:
        rng = np.random.default_rng(self.seed)
        made: dict[str, Any] = {}
        for name, column in self.columns:
            made[name] = column.make(rng, self.rows, made)
        if self.repeat > 1 and all(isinstance(v, np.ndarray) and v.ndim == 1 for v in made.values()):
            made = {name: np.tile(values, self.repeat) for name, values in made.items()}
        try:
            return _ENGINES[self.engine](made)
        except Exception:  # noqa: BLE001  (an engine that cannot hold such columns: as arrays they still come)
            return made


_ENGINES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": lambda made: made,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": lambda made: pa.table({name: pa.array(values, from_pandas=True) for name, values in made.items()}),
}

_SEEDS = st.integers(0, 2**20)
_ENGINE = st.sampled_from(sorted(_ENGINES))


def wild_tables() -> st.SearchStrategy[Table]:
    """Tables of which anything may be wrong."""
    columns = st.tuples(*(st.tuples(st.just(name), any_column(NAMES[:i])) for i, name in enumerate(NAMES)))
    return st.builds(Table, columns, st.integers(0, 60), _SEEDS, _ENGINE)


def nearly_valid_tables() -> st.SearchStrategy[Table]:
    """Tables most of which can be diagnosed; a column or two may be anything."""

    def columns(wild: str | None) -> st.SearchStrategy[Any]:
        return st.tuples(
            *(st.tuples(st.just(name), any_column(NAMES[:3]) if name == wild else NEARLY[name]) for name in NAMES)
        )

    return st.sampled_from([None] * 9 + list(NAMES)).flatmap(
        lambda wild: st.builds(
            Table,
            columns(wild),
            st.one_of(st.integers(1, 60), st.integers(60, 300)),
            _SEEDS,
            _ENGINE,
            st.sampled_from([1, 1, 1, 1, 3]),
        )
    )
