"""One behaviour for every engine: the same table comes back, as often and in as small pieces as asked."""

import csv
import glob
import gzip
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from softlabel.errors import InputError
from softlabel.sources import Source, open_source

ROWS = 11
TABLE: dict[str, list[Any]] = {
    "id": [f"row {i}" for i in range(ROWS)],
    "y": [None if i == 4 else i / 7 - 0.5 for i in range(ROWS)],
    "n": [i * i for i in range(ROWS)],
    "g": [None if i % 3 else i % 2 for i in range(ROWS)],
    "flag": [i > 5 for i in range(ROWS)],
    "region": [None if i == 7 else 'no, "th"\nern' if i % 2 else "south" for i in range(ROWS)],
}
NAMES = list(TABLE)


def _write(path: Path, start: int = 0, stop: int = ROWS) -> Path:
    part = {name: values[start:stop] for name, values in TABLE.items()}
    if path.suffix == ".parquet":
        pq.write_table(pa.table(part), path, row_group_size=4)
        return path
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in path.name else ",")
        writer.writerows([NAMES, *zip(*part.values(), strict=True)])
    return path


def _many(folder: Path, ending: str) -> str:
    for k, (start, stop) in enumerate([(0, 3), (3, 4), (4, ROWS)]):
        _write(folder / f"part-{k}{ending}", start, stop)
    return str(folder / f"part-*{ending}")


def _relation(query: str) -> duckdb.DuckDBPyRelation:
    """A query over the table, on a connection that nothing but the relation holds."""
    connection = duckdb.connect()
    connection.register("source", pa.table(TABLE))
    connection.execute("create table kept as from source")
    return connection.sql(query)


class Exporter:
    """Some other library's table: all that is known of it is that it exports an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table(TABLE).__arrow_c_stream__(requested_schema)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(TABLE),
    "pandas object": lambda _: pd.DataFrame(TABLE, dtype=object),
    "pandas nullable": lambda _: pd.DataFrame(TABLE).convert_dtypes(),
    "pandas pyarrow": lambda _: pd.DataFrame(TABLE).convert_dtypes(dtype_backend="pyarrow"),
    "pandas category": lambda _: pd.DataFrame(TABLE).astype({"region": "category"}),
    "pandas indexed": lambda _: pd.DataFrame(TABLE).set_index("id", drop=False),
    "polars": lambda _: pl.DataFrame(TABLE),
    "polars categorical": lambda _: pl.DataFrame(TABLE).with_columns(pl.col("region").cast(pl.Categorical)),
    "polars chunked": lambda _: pl.concat([pl.DataFrame(TABLE)[:2], pl.DataFrame(TABLE)[2:]], rechunk=False),
    "table": lambda _: pa.table(TABLE),
    "batch": lambda _: pa.record_batch(TABLE),
    "stream": lambda _: Exporter(),
    "dict": lambda _: TABLE,
    "dict of series": lambda _: {name: pd.Series(values, dtype=object) for name, values in TABLE.items()},
    "lazy frame": lambda _: pl.LazyFrame(TABLE),
    "lazy categorical": lambda _: pl.LazyFrame(TABLE).with_columns(pl.col("region").cast(pl.Categorical)),
    "lazy query": lambda _: pl.LazyFrame(TABLE).with_columns(copy=1).filter(pl.col("copy") > 0).drop("copy"),
    "lazy files": lambda folder: pl.scan_parquet(_many(folder, ".parquet")),
    "dataset": lambda _: ds.dataset(pa.table(TABLE)),
    "dataset filtered": lambda _: ds.dataset(pa.table(TABLE)).filter(ds.field("n") >= 0),
    "dataset of files": lambda folder: ds.dataset(sorted(glob.glob(_many(folder, ".parquet")))),  # noqa: PTH207
    "relation": lambda _: _relation("from kept"),
    "relation of arrow": lambda _: _relation("from source"),
    "relation enum": lambda _: _relation(
        "select * replace (region::enum ('south', 'no, \"th\"\nern') as region) from kept"
    ),
    "relation of files": lambda folder: duckdb.connect().read_parquet(_many(folder, ".parquet")),
    "parquet": lambda folder: str(_write(folder / "one.parquet")),
    "parquet list": lambda folder: [_write(folder / "b.parquet", 0, 6), str(_write(folder / "a.parquet", 6))],
    "parquet glob": lambda folder: _many(folder, ".parquet"),
    "csv": lambda folder: _write(folder / "one.csv"),
    "csv.gz": lambda folder: _write(folder / "one.csv.gz"),
    "tsv": lambda folder: _write(folder / "one.tsv"),
    "tsv.gz": lambda folder: _write(folder / "one.tsv.gz"),
    "csv glob": lambda folder: _many(folder, ".csv"),
    "mixed files": lambda folder: [_write(folder / "a.csv", 0, 6), _write(folder / "b.parquet", 6)],
}


@pytest.fixture(params=MAKERS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    return open_source(MAKERS[request.param](tmp_path))


def _read(source: Source, columns: list[str], rows: int = 1000) -> dict[str, list[Any]]:
    """Return the rows by column; NaN and null are both None, as every reader must take them."""
    table: dict[str, list[Any]] = {name: [] for name in columns}
    for batch in source.select(columns).batches(rows):
        for name, values in batch.to_pydict().items():
            table[name] += [None if isinstance(v, float) and math.isnan(v) else v for v in values]
    return table


def test_the_same_table_comes_back(source: Source) -> None:
    assert source.columns() == NAMES
    assert _read(source, NAMES) == TABLE


def test_projection_keeps_the_order_asked_for(source: Source) -> None:
    chosen = source.select(["region", "y"])
    assert chosen.name == source.name
    assert chosen.schema().names == ["region", "y"]
    assert chosen.schema().field("y").type == pa.float64()
    assert _read(source, ["region", "y"]) == {"region": TABLE["region"], "y": TABLE["y"]}


def test_batches_keep_to_the_schema_and_the_limit_and_are_never_empty(source: Source) -> None:
    chosen = source.select(["n", "region", "flag"])
    batches = list(chosen.batches(rows=3))
    assert all(batch.schema.equals(chosen.schema(), check_metadata=True) for batch in batches)
    assert all(1 <= batch.num_rows <= 3 for batch in batches)
    assert sum(batch.num_rows for batch in batches) == ROWS
    assert _read(source, NAMES, rows=3) == TABLE


def test_it_reads_again_from_the_first_row(source: Source) -> None:
    chosen = source.select(["id"])
    abandoned = chosen.batches(rows=2)
    next(abandoned)
    first, second = ([b.to_pydict() for b in chosen.batches(rows=2)] for _ in range(2))
    assert first == second
    assert first[0] == {"id": ["row 0", "row 1"]}
    assert _read(source, ["id"]) == _read(source, ["id"]) == {"id": TABLE["id"]}


def test_text_is_plain_text(source: Source) -> None:
    kind = source.select(["region"]).schema().field(0).type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    assert value in {pa.string(), pa.large_string()}


def test_an_unknown_column_is_named_with_the_closest_known_one(source: Source) -> None:
    with pytest.raises(InputError, match=r"column 'regoin' in .*Did you mean 'region'\?") as caught:
        source.select(["y", "regoin"])
    assert source.name in str(caught.value)


@pytest.mark.parametrize(("columns", "found"), [([], "none"), (["y", "g", "y"], "'y', 'g', 'y'")])
def test_columns_are_asked_for_once(source: Source, columns: list[str], found: str) -> None:
    with pytest.raises(InputError, match=f"each once; found {found}"):
        source.select(columns)


def test_neither_opening_the_room_nor_reading_files_loads_another_engine(tmp_path: Path) -> None:
    paths = [str(_write(tmp_path / "a.csv.gz")), str(_write(tmp_path / "b.parquet"))]
    script = (
        "import sys; from softlabel.sources import open_source\n"
        "unwanted = {'duckdb', 'pandas', 'polars', 'pyarrow.dataset'}\n"
        "print(sorted(unwanted & set(sys.modules)), 'pyarrow.parquet' in sys.modules)\n"
        f"rows = open_source({paths}).select(['n', 'region'])\n"
        "print(sum(b.num_rows for b in rows.batches()), sorted(unwanted & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[] False", f"{2 * ROWS} []"]
