"""Text categories, weights, clusters and splines: one diagnosis, whatever holds the rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from softlabel import Diagnosis, diagnose
from tests.diagnosed import differing, drawn

ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "controls": ["age", "ward", "frailty"],
    "thresholds": (0.5, 0.8),
    "confident": (0.7,),
    "weights": "w",
    "cluster": "clinic",
    "missing": "drop",
}


def _table() -> pa.Table:
    """Rows with holes in a category, a cluster and an outcome, zero weights, and names beyond ASCII."""
    made = drawn(n=1_500, labelled=200)
    rows = len(made["y"])
    at = np.arange(rows)
    names = {"east": "Öst", "north": "nord, upper", "south": 'the "old" south', "west": "西"}
    return pa.table(
        {
            **made,
            "y": pa.array(made["y"], mask=at % 97 == 1),
            "ward": pa.array([names[w] for w in made["ward"].to_pylist()], mask=at % 89 == 2),
            "clinic": pa.array(made["clinic"].to_pylist(), mask=at % 83 == 3),
            "w": np.where(at % 71 == 4, 0.0, made["w"]),
        }
    )


TABLE = _table()


def _gzipped(table: pa.Table, path: Path) -> str:
    with pa.CompressedOutputStream(str(path), "gzip") as stream:
        pc.write_csv(table, stream)
    return str(path)


def _csv(folder: Path) -> str:
    pc.write_csv(TABLE, folder / "rows.csv")
    return str(folder / "rows.csv")


def _parquet_files(folder: Path) -> str:
    for k in range(4):
        pq.write_table(TABLE.slice(450 * k, 450), folder / f"part-{k}.parquet", row_group_size=131)
    return str(folder / "part-*.parquet")


def _mixed_files(folder: Path) -> list[str]:
    """Three files of two kinds, each with its own dictionary or none."""
    pq.write_table(TABLE.slice(0, 500), folder / "a.parquet")
    pc.write_csv(TABLE.slice(500, 700), folder / "b.csv")
    return [str(folder / "a.parquet"), str(folder / "b.csv"), _gzipped(TABLE.slice(1_200), folder / "c.csv.gz")]


def _relation() -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("source", TABLE)
    connection.execute("create table kept as from source")
    return connection.sql("select * from kept")


def _dictionaries() -> pa.Table:
    """Categories as dictionaries, each batch with one of its own."""
    batches = TABLE.to_batches(max_chunksize=301)
    encoded = [
        pa.table(
            {name: b[name].dictionary_encode() if name in {"ward", "clinic"} else b[name] for name in b.schema.names}
        )
        for b in batches
    ]
    return pa.concat_tables(encoded)


def _categorical() -> pd.DataFrame:
    frame = TABLE.to_pandas()
    return frame.astype({"ward": "category", "clinic": "category"})


def _reversed_two_tables() -> tuple[Any, Any]:
    known = TABLE["g"].is_valid()
    backwards = TABLE.take(np.arange(len(TABLE))[::-1])
    return backwards.filter(backwards["g"].is_null()), TABLE.filter(known)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: TABLE.to_pandas(),
    "pandas categories": lambda _: _categorical(),
    "polars": lambda _: pl.DataFrame(TABLE),
    "polars categories": lambda _: pl.DataFrame(TABLE).with_columns(pl.col("ward", "clinic").cast(pl.Categorical)),
    "lazy frame": lambda _: pl.DataFrame(TABLE).lazy(),
    "lazy csv": lambda folder: pl.scan_csv(_csv(folder)),
    "dictionaries": lambda _: _dictionaries(),
    "large text": lambda _: TABLE.cast(
        pa.schema([(f.name, pa.large_string() if f.type == pa.string() else f.type) for f in TABLE.schema])
    ),
    "dataset": lambda _: ds.dataset(TABLE),
    "relation": lambda _: _relation(),
    "relation of files": lambda folder: duckdb.connect().read_parquet(_parquet_files(folder)),
    "parquet": _parquet_files,
    "csv": _csv,
    "csv.gz": lambda folder: _gzipped(TABLE, folder / "rows.csv.gz"),
    "files of two kinds": _mixed_files,
    "dict": lambda _: {name: column.combine_chunks() for name, column in zip(TABLE.column_names, TABLE, strict=True)},
}


@pytest.fixture(scope="module")
def expected() -> Diagnosis:
    return diagnose(TABLE, **ROLES, threads=1)


@pytest.mark.parametrize("engine", MAKERS)
def test_every_engine_gives_the_same_diagnosis(engine: str, expected: Diagnosis, tmp_path: Path) -> None:
    found = diagnose(MAKERS[engine](tmp_path), **ROLES, threads=2)
    # Sums over batches that start elsewhere, through splines and a ridge: their last digits differ.
    assert differing(found, expected, 1e-10) == set()
    # The same rows to the bit: values, weights and clusters.
    assert found.sample.fingerprint == expected.sample.fingerprint
    assert [note.code for note in found.notes] == [note.code for note in expected.notes]
    assert (found.sample.weightless, found.sample.rows) == (expected.sample.weightless, len(TABLE))


def test_two_tables_in_another_order_give_the_same_diagnosis(expected: Diagnosis) -> None:
    data, labelled = _reversed_two_tables()
    found = diagnose(data, labelled=labelled, **ROLES)
    assert differing(found, expected, 1e-10) == set()
    assert found.sample.fingerprint == expected.sample.fingerprint


def test_this_would_be_seen(expected: Diagnosis) -> None:
    # That the comparison can fail: one weight, cluster or category of one row, told apart.
    for name, value in (("w", 9.0), ("clinic", "clinic 0"), ("ward", "西"), ("frailty", 0.125)):
        column = TABLE[name].to_pylist()
        place = next(i for i, old in enumerate(column) if old not in {value, None, 0.0} and i > 900)
        column[place] = value
        other = diagnose(TABLE.set_column(TABLE.schema.get_field_index(name), name, pa.array(column)), **ROLES)
        assert other.sample.fingerprint != expected.sample.fingerprint
        assert len(differing(other, expected, 1e-10)) > 10, name
