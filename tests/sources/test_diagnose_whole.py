"""Text categories, weights, clusters and splines: one diagnosis, whatever holds the rows."""

from collections.abc import Callable
from functools import cache
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


def _csv(table: pa.Table, folder: Path) -> str:
    pc.write_csv(table, folder / "rows.csv")
    return str(folder / "rows.csv")


def _tsv(table: pa.Table, folder: Path) -> str:
    pc.write_csv(table, folder / "rows.tsv", pc.WriteOptions(delimiter="\t"))
    return str(folder / "rows.tsv")


def _parquet_files(table: pa.Table, folder: Path) -> str:
    size = -(-len(table) // 4)
    for k in range(4):
        pq.write_table(table.slice(size * k, size), folder / f"part-{k}.parquet", row_group_size=131)
    return str(folder / "part-*.parquet")


def _mixed_files(table: pa.Table, folder: Path) -> list[str]:
    """Three files of two kinds, each with its own dictionary or none."""
    first, second = len(table) // 3, 2 * len(table) // 3
    pq.write_table(table.slice(0, first), folder / "a.parquet")
    pc.write_csv(table.slice(first, second - first), folder / "b.csv")
    last = _gzipped(table.slice(second), folder / "c.csv.gz")
    return [str(folder / "a.parquet"), str(folder / "b.csv"), last]


def _relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("source", table)
    connection.execute("create table kept as from source")
    return connection.sql("select * from kept")


def _dictionaries(table: pa.Table) -> pa.Table:
    """Categories as dictionaries, each batch with one of its own."""
    batches = table.to_batches(max_chunksize=301)
    encoded = [
        pa.table(
            {name: b[name].dictionary_encode() if name in {"ward", "clinic"} else b[name] for name in b.schema.names}
        )
        for b in batches
    ]
    return pa.concat_tables(encoded)


class Exporter:
    """Some other library's table: all that is known of it is that it exports an Arrow stream."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def _large(table: pa.Table) -> pa.Table:
    wide = [(f.name, pa.large_string() if f.type == pa.string() else f.type) for f in table.schema]
    return table.cast(pa.schema(wide))


MAKERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "pandas": lambda t, _: t.to_pandas(),
    "pandas object": lambda t, _: t.to_pandas().astype(object),
    "pandas nullable": lambda t, _: t.to_pandas().convert_dtypes(),
    "pandas pyarrow": lambda t, _: t.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda t, _: t.to_pandas().astype({"ward": "category", "clinic": "category"}),
    "polars": lambda t, _: pl.DataFrame(t),
    "polars chunked": lambda t, _: pl.concat([pl.DataFrame(t)[:99], pl.DataFrame(t)[99:]], rechunk=False),
    "polars categories": lambda t, _: pl.DataFrame(t).with_columns(pl.col("ward", "clinic").cast(pl.Categorical)),
    "lazy frame": lambda t, _: pl.DataFrame(t).lazy(),
    "lazy query": lambda t, _: pl.LazyFrame(pl.DataFrame(t)).with_columns(b=1).filter(pl.col("b") > 0).drop("b"),
    "lazy csv": lambda t, folder: pl.scan_csv(_csv(t, folder)),
    "lazy files": lambda t, folder: pl.scan_parquet(_parquet_files(t, folder)),
    "batch": lambda t, _: t.combine_chunks().to_batches()[0],
    "stream": lambda t, _: Exporter(t),
    "dictionaries": lambda t, _: _dictionaries(t),
    "large text": lambda t, _: _large(t),
    "dataset": lambda t, _: ds.dataset(t),
    "dataset filtered": lambda t, _: ds.dataset(t).filter(ds.field("times") > 0),
    "dataset of files": lambda t, folder: ds.dataset(sorted(Path(_parquet_files(t, folder)).parent.glob("*.parquet"))),
    "relation": lambda t, _: _relation(t),
    "relation of files": lambda t, folder: duckdb.connect().read_parquet(_parquet_files(t, folder)),
    "parquet": _parquet_files,
    "csv": _csv,
    "csv.gz": lambda t, folder: _gzipped(t, folder / "rows.csv.gz"),
    "tsv": _tsv,
    "files of two kinds": _mixed_files,
    "dict": lambda t, _: {name: column.combine_chunks() for name, column in zip(t.column_names, t, strict=True)},
}

# What is asked of every source: options in the place of `ROLES`, and whether labelled rows are a table of their own.
SETTINGS: dict[str, tuple[dict[str, Any], bool]] = {
    "weights, clusters and splines": ({}, False),
    "two tables": ({}, True),
    "frequencies, and folds by id": (
        {"weights": "times", "weight_type": "frequency", "cluster": None, "id": "visit"},
        False,
    ),
    "folds by value": ({"weights": None, "cluster": None, "basis": "linear", "covariance": "HC1"}, False),
    "formula": ({"controls": "age*C(ward) + ns(frailty, 4) + C(times)", "weights": None}, False),
    "learner": ({"learner": "ridge", "weights": None, "cluster": None, "id": "visit"}, True),
}


def _asked(setting: str, make: Callable[[pa.Table, str], Any], threads: int) -> Diagnosis:
    options, apart = SETTINGS[setting]
    known = TABLE["g"].is_valid()
    # Without the group: Polars takes a column of a CSV file that is empty throughout for text.
    data = make(TABLE.filter(TABLE["g"].is_null()).drop_columns(["g"]) if apart else TABLE, "data")
    labelled = make(TABLE.filter(known), "labelled") if apart else None
    return diagnose(data, labelled=labelled, **{**ROLES, **options}, threads=threads)


@cache
def _from_arrow(setting: str) -> Diagnosis:
    return _asked(setting, lambda table, _: table, 1)


@pytest.fixture(scope="module")
def expected() -> Diagnosis:
    return _from_arrow("weights, clusters and splines")


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("engine", MAKERS)
def test_every_engine_gives_the_same_diagnosis(engine: str, setting: str, tmp_path: Path) -> None:
    def make(table: pa.Table, name: str) -> Any:
        (tmp_path / name).mkdir()
        return MAKERS[engine](table, tmp_path / name)

    expected = _from_arrow(setting)
    found = _asked(setting, make, 2)
    # Sums over batches that start elsewhere, through splines and a ridge: their last digits differ.
    assert differing(found, expected, 1e-10) == set()
    # The same rows to the bit: values, weights, clusters and ids.
    assert found.sample.fingerprint == expected.sample.fingerprint
    assert [note.code for note in found.notes] == [note.code for note in expected.notes]
    assert (found.sample.weightless, found.sample.rows) == (expected.sample.weightless, len(TABLE))


def _reversed_two_tables() -> tuple[Any, Any]:
    known = TABLE["g"].is_valid()
    backwards = TABLE.take(np.arange(len(TABLE))[::-1])
    return backwards.filter(backwards["g"].is_null()), TABLE.filter(known)


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
