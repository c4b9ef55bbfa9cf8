"""One table, one diagnosis, whatever holds the rows."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from softlabel import Diagnosis, SourceChanged, diagnose

ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "controls": ["x", "n"],
    "missing": "drop",
    "thresholds": (0.5, 0.8),
    "confident": (0.7,),
}


def _table(rows: int = 3000, labelled: int = 200) -> pa.Table:
    """Rows with every kind of number a source may have to pass on, and some that are missing."""
    rng = np.random.default_rng(8)
    x, p = rng.normal(size=rows), rng.beta(2, 2, size=rows)
    group = rng.random(rows) < p
    y = x + group + rng.normal(size=rows)
    x[5], y[[7, 40]] = np.nan, np.nan
    known = np.arange(rows) < labelled
    return pa.table(
        {
            "note": [f"row {k}" for k in range(rows)],
            "x": pa.array(x, from_pandas=True),
            "y": pa.array(y, from_pandas=True),
            "p": pa.array(p.astype(np.float32)),
            "n": pa.array(rng.poisson(3, size=rows), pa.int32()),
            "g": pa.array(group, mask=~known),
        }
    )


TABLE = _table()


def _files(folder: Path) -> str:
    for k in range(3):
        pq.write_table(TABLE.slice(1000 * k, 1000), folder / f"part-{k}.parquet", row_group_size=300)
    return str(folder / "part-*.parquet")


def _kept() -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("source", TABLE)
    connection.execute("create table kept as from source")
    return connection.sql("select * from kept")


MAKERS: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: TABLE.to_pandas(),
    "polars": lambda _: pl.DataFrame(TABLE),
    "dict": lambda _: {name: column.to_numpy() for name, column in zip(TABLE.column_names, TABLE.columns, strict=True)},
    "files": _files,
    "lazy frame": lambda _: pl.DataFrame(TABLE).lazy(),
    "lazy files": lambda folder: pl.scan_parquet(_files(folder)),
    "dataset": lambda _: ds.dataset(TABLE),
    "dataset of files": lambda folder: ds.dataset([_files(folder).replace("*", str(k)) for k in range(3)]),
    "relation": lambda _: _kept(),
    "relation of files": lambda folder: duckdb.connect().read_parquet(_files(folder)),
}


@pytest.fixture(scope="module")
def expected() -> Diagnosis:
    return diagnose(TABLE, **ROLES)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, word and null of a record, and where it stands."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in pairs:
            yield from _leaves(each, f"{path}.{key}")
    else:
        yield path, value


def _same(diagnosis: Diagnosis, expected: Diagnosis) -> None:
    ours, theirs = (dict(_leaves(msgspec.json.decode(d.to_json()))) for d in (diagnosis, expected))
    assert ours.keys() == theirs.keys()
    assert ours.pop(".sample.source") != theirs.pop(".sample.source")
    # Sums are taken over batches that start elsewhere, so their last bits differ.
    assert ours == {path: pytest.approx(v, rel=1e-10, abs=1e-10) if _real(v) else v for path, v in theirs.items()}
    assert sum(_real(v) for v in theirs.values()) > 50


def _real(value: Any) -> bool:
    return isinstance(value, float)


@pytest.mark.parametrize("engine", MAKERS)
def test_every_engine_gives_the_same_diagnosis(engine: str, expected: Diagnosis, tmp_path: Path) -> None:
    diagnosis = diagnose(MAKERS[engine](tmp_path), **ROLES)
    assert diagnosis.sample.fingerprint == expected.sample.fingerprint
    _same(diagnosis, expected)


def test_two_tables_may_be_on_one_connection(expected: Diagnosis) -> None:
    connection = duckdb.connect()
    connection.register("source", TABLE)
    connection.execute("create table kept as from source")
    known, unknown = (connection.sql(f"from kept where g is {test} null") for test in ("not", ""))
    diagnosis = diagnose(unknown, labelled=known, **ROLES)
    for name in ("supervised", "soft"):
        ours, theirs = diagnosis.estimate(name), expected.estimate(name)
        assert ours.estimate == pytest.approx(theirs.estimate, rel=1e-10)
        assert ours.std_error == pytest.approx(theirs.std_error, rel=1e-10)


def test_a_query_that_draws_anew_is_no_table() -> None:
    relation = _kept().project("y, g, p, n, x + random() as x")
    with pytest.raises(SourceChanged, match="every reading"):
        diagnose(relation, **ROLES)
    lazy = pl.DataFrame(TABLE).lazy()
    drawn = lazy.with_columns(x=pl.col("x").map_batches(_shaken, return_dtype=pl.Float64, is_elementwise=True))
    with pytest.raises(SourceChanged, match="every reading"):
        diagnose(drawn, **ROLES)


GENERATOR = np.random.default_rng(1)


def _shaken(values: pl.Series) -> pl.Series:
    return values + GENERATOR.normal(size=len(values))
