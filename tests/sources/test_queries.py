"""What only engines that run a query do: nothing beyond the chosen columns, every fault one clear paragraph."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from polars.io.plugins import register_io_source

from softlabel import diagnose
from softlabel.errors import DataError, InputError, SourceError
from softlabel.sources import Selection, open_source
from softlabel.sources.threads import map_merge

LONG = 1_000_000  # rows; no engine reads so many ahead, so it has handed out some before it comes to the last


def _boom(_: object) -> pl.Series:
    raise ValueError("a function of the caller's failed")


def _files(folder: Path, *parts: dict[str, list[Any]]) -> list[str]:
    paths = [folder / f"part-{k}.parquet" for k in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        pq.write_table(pa.table(part), path)
    return [str(path) for path in paths]


def _values(rows: Selection) -> list[Any]:
    return [value for batch in rows.batches() for value in batch.column(0).to_pylist()]


# ------------------------------------------------------------------------------------- what is asked for


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (
            lambda _: pl.LazyFrame({"y": [1.0, 2.0]}).with_columns(
                odd=pl.col("y").map_batches(_boom, return_dtype=pl.Float64)
            ),
            "Polars LazyFrame",
        ),
        (
            lambda folder: ds.dataset(
                _files(folder, {"y": [1.0], "odd": [1]}, {"y": [2.0], "odd": ["a"]}), format="parquet"
            ),
            "pyarrow FileSystemDataset",
        ),
        (
            lambda _: duckdb.sql("select y, error('odd') as odd from (values (1.0::double), (2.0)) t(y)"),
            "DuckDB relation",
        ),
    ],
)
def test_a_column_that_fails_matters_only_when_chosen(make: Callable[[Path], Any], name: str, tmp_path: Path) -> None:
    source = open_source(make(tmp_path))
    assert (source.name, source.columns()) == (name, ["y", "odd"])
    assert _values(source.select(["y"])) == [1.0, 2.0]
    with pytest.raises(SourceError, match=f"Expected to read {name} to its end; found "):
        list(source.select(["y", "odd"]).batches())


@pytest.mark.parametrize("dtype", [pl.Object, pl.Int128])
def test_a_lazy_column_without_an_arrow_form_matters_only_when_chosen(dtype: Any) -> None:
    source = open_source(pl.LazyFrame({"y": [1.0], "odd": pl.Series([3], dtype=dtype)}))
    assert _values(source.select(["y"])) == [1.0]
    with pytest.raises(DataError, match="column 'odd' of Polars LazyFrame to hold one kind of value"):
        source.select(["odd", "y"])


NAMES = ["*", "^a.*$", "^$", "ab", 'say "x"', "a.b", "select", "#1", "Größe 1"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_a_name_and_no_pattern_or_expression(name: str) -> None:
    table = pa.table({each: [float(k)] for k, each in enumerate(NAMES)})
    for data in (pl.DataFrame(table).lazy(), ds.dataset(table), duckdb.from_arrow(table)):
        rows = open_source(data).select([name])
        assert rows.schema() == pa.schema([(name, pa.float64())])
        assert _values(rows) == [NAMES.index(name)]


def test_names_that_differ_in_case_alone_are_the_same_to_duckdb() -> None:
    source = open_source(duckdb.sql('select 1 as a, 2 as "A", 3 as y'))
    assert _values(source.select(["y"])) == [3]
    assert _values(source.select(["a"])) == [1]
    with pytest.raises(InputError, match="names differ in more than case; found 'a' beside 'A'"):
        source.select(["y", "A"])


def test_types_are_the_engines_own_and_text_is_plain() -> None:
    lazy = pl.LazyFrame({"s": ["a"], "f": pl.Series([1.5], dtype=pl.Float32), "b": [True]})
    dataset = ds.dataset(pa.table({"s": pa.array(["a"], pa.string_view()), "n": pa.array([1], pa.uint8())}))
    relation = duckdb.sql("select 'a' as s, 1.5::decimal(5, 2) as d, date '2020-01-01' as t")
    expected = {
        "Polars LazyFrame": [("s", pa.large_string()), ("f", pa.float32()), ("b", pa.bool_())],
        "pyarrow InMemoryDataset": [("s", pa.large_string()), ("n", pa.uint8())],
        "DuckDB relation": [("s", pa.string()), ("d", pa.decimal128(5, 2)), ("t", pa.date32())],
    }
    for data in (lazy, dataset, relation):
        source = open_source(data)
        rows = source.select(source.columns())
        assert rows.schema() == pa.schema(expected[source.name])
        assert sum(batch.num_rows for batch in rows.batches()) == 1


def test_nan_and_null_are_left_as_the_engine_has_them() -> None:
    values = [1.0, None, float("nan")]
    for data in (
        pl.LazyFrame({"x": values}),
        ds.dataset(pa.table({"x": pa.array(values, from_pandas=False)})),
        duckdb.sql("select unnest([1.0::double, null, 'nan'::double]) as x"),
    ):
        assert str(_values(open_source(data).select(["x"]))) == "[1.0, None, nan]"


def test_no_rows_give_no_batches_but_a_schema() -> None:
    table = pa.table({"x": pa.array([], pa.float64())})
    for data in (pl.DataFrame(table).lazy(), ds.dataset(table), duckdb.from_arrow(table)):
        rows = open_source(data).select(["x"])
        assert rows.schema() == pa.schema([("x", pa.float64())])
        assert list(rows.batches()) == []


# ------------------------------------------------------------------------------------------- how it runs


def test_a_relation_is_streamed() -> None:
    endless = open_source(duckdb.connect().sql("select range as x from range(1_000_000_000_000)"))
    batches = endless.select(["x"]).batches(rows=1000)
    assert next(batches).column(0).to_pylist() == list(range(1000))


def test_a_lazy_frame_is_streamed() -> None:
    made = []

    def pieces(*_: object) -> Iterator[pl.DataFrame]:
        for k in range(100_000):
            made.append(k)
            yield pl.DataFrame({"x": [k] * 1000})

    batches = open_source(register_io_source(pieces, schema={"x": pl.Int64})).select(["x"]).batches(rows=1000)
    assert next(batches).num_rows == 1000
    assert len(made) < 50_000


def test_a_relation_is_run_anew_for_every_reading() -> None:
    connection = duckdb.connect()
    connection.execute("create table t as select 1 as x")
    rows = open_source(connection.table("t")).select(["x"])
    assert _values(rows) == [1]
    connection.execute("insert into t values (2)")
    assert _values(rows) == [1, 2]


def test_a_second_reading_ends_a_first_that_was_left_unfinished() -> None:
    rows = open_source(duckdb.connect().sql("select range as x from range(1_000_000)")).select(["x"])
    first = rows.batches(rows=1000)
    next(first)
    assert sum(batch.num_rows for batch in rows.batches()) == LONG
    with pytest.raises(SourceError, match="a stream that has already been closed"):
        next(first)


class _Nothing:
    """A state that is the same after any batch."""

    def merge(self, _: "_Nothing") -> "_Nothing":
        return self


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_pass_leaves_no_result_open_on_the_connection(threads: int) -> None:
    connection = duckdb.connect()
    rows = open_source(connection.sql("select range as x from range(1_000_000)")).select(["x"])

    def interrupt(_: pa.RecordBatch) -> _Nothing:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        map_merge(rows.batches(rows=1000), interrupt, threads, _Nothing())
    # The traceback, which notebooks keep, is still alive.
    assert caught.tb is not None
    assert connection.sql("select 5").fetchall() == [(5,)]


# ------------------------------------------------------------------------------------------------ faults


def _dropped(_: Path) -> tuple[Any, Callable[[], object]]:
    connection = duckdb.connect()
    connection.execute("create table visits as select 1 as x")
    return connection.table("visits"), lambda: connection.execute("drop table visits")


def _closed(_: Path) -> tuple[Any, Callable[[], object]]:
    connection = duckdb.connect()
    return connection.sql("select 1 as x"), connection.close


def _lazy_file_gone(folder: Path) -> tuple[Any, Callable[[], object]]:
    (path,) = _files(folder, {"x": [1]})
    return pl.scan_parquet(path), Path(path).unlink


def _dataset_file_gone(folder: Path) -> tuple[Any, Callable[[], object]]:
    paths = _files(folder, {"x": [1]}, {"x": [2]})
    return ds.dataset(paths), Path(paths[1]).unlink


def _one_paragraph(error: SourceError, name: str, found: str) -> None:
    message = str(error)
    assert re.search(
        f"Expected to read {name} to its end; found .*{found}.*" + re.escape(". See that it runs"), message
    )
    assert "\n" not in message
    assert len(message) < 500
    assert error.__cause__ is not None


@pytest.mark.parametrize(
    ("make", "name", "found"),
    [
        (_dropped, "DuckDB relation", "Table with name visits does not exist"),
        (_closed, "DuckDB relation", "[Cc]onnection .*closed"),
        (_lazy_file_gone, "Polars LazyFrame", r"No such file .*part-0\.parquet"),
        (_dataset_file_gone, "pyarrow FileSystemDataset", r"part-1\.parquet.*No such file"),
    ],
)
def test_what_a_query_reads_may_be_gone(
    make: Callable[[Path], tuple[Any, Callable[[], object]]], name: str, found: str, tmp_path: Path
) -> None:
    data, remove = make(tmp_path)
    rows = open_source(data).select(["x"])
    assert _values(rows)[0] == 1
    remove()
    for _ in range(2):
        with pytest.raises(SourceError) as caught:
            list(rows.batches())
        _one_paragraph(caught.value, name, found)


def test_what_a_query_reads_may_be_gone_before_it_is_opened(tmp_path: Path) -> None:
    for make, name in ((_dropped, "DuckDB relation"), (_closed, "DuckDB relation")):
        data, remove = make(tmp_path)
        remove()
        with pytest.raises(SourceError, match=f"to read {name} to its end"):
            open_source(data).select(["x"])
    with pytest.raises(SourceError, match=r"to read Polars LazyFrame to its end; found .*none\.parquet"):
        open_source(pl.scan_parquet(tmp_path / "none.parquet"))


@pytest.mark.parametrize(
    ("make", "name", "found"),
    [
        (
            lambda _: pl.LazyFrame({"n": range(LONG)}).select(
                x=pl.when(pl.col("n") == LONG - 1)
                .then(pl.lit("abc"))
                .otherwise(pl.col("n").cast(pl.String))
                .cast(pl.Int64)
            ),
            "Polars LazyFrame",
            "conversion from .*abc",
        ),
        (
            lambda _: pl.LazyFrame({"x": range(LONG)}).map_batches(
                lambda frame: frame.with_columns(x=pl.lit("a")), schema={"x": pl.Int64}
            ),
            "Polars LazyFrame",
            "schema",
        ),
        (
            lambda folder: ds.dataset(_files(folder, {"x": [1, 2]}, {"x": ["a", "b"]}), format="parquet"),
            "pyarrow FileSystemDataset",
            "'[ab]' as a scalar of type int64",
        ),
        (
            lambda folder: ds.dataset(_files(folder, {"x": [1, 2]}, {"x": [1.5, 2.0]}), format="parquet"),
            "pyarrow FileSystemDataset",
            "truncated",
        ),
        (
            lambda _: duckdb.sql("select if(range = 999_999, 'abc', range::varchar)::int as x from range(1_000_000)"),
            "DuckDB relation",
            "Could not convert string 'abc' to INT32",
        ),
        (
            lambda _: duckdb.sql("select if(range = 999_999, error('no such ward'), range) as x from range(1_000_000)"),
            "DuckDB relation",
            "no such ward",
        ),
    ],
    ids=["lazy value", "lazy type", "dataset text", "dataset fraction", "relation value", "relation error"],
)
def test_a_fault_on_the_way_is_no_end(make: Callable[[Path], Any], name: str, found: str, tmp_path: Path) -> None:
    rows = open_source(make(tmp_path)).select(["x"])
    for _ in range(2):
        with pytest.raises(SourceError) as caught:
            list(rows.batches(rows=1000))
        _one_paragraph(caught.value, name, found)


def test_a_stream_inside_a_relation_is_not_taken_for_an_empty_table() -> None:
    connection = duckdb.connect()
    connection.register("stream", pa.table({"y": [1.0, 2.0], "p": [0.1, 0.9]}).to_reader())
    # DuckDB 2 says so itself; before, the second reading had no rows.
    with pytest.raises(SourceError, match=r"can be read only once|every reading"):
        diagnose(connection.sql("from stream"), outcome="y", score="p")


class _Older:
    """A relation as DuckDB before 1.5 had them, whose stream went by another name."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self.relation = relation
        self.columns = relation.columns

    def project(self, text: str) -> "_Older":
        return _Older(self.relation.project(text))

    def limit(self, rows: int) -> duckdb.DuckDBPyRelation:
        return self.relation.limit(rows)

    def fetch_arrow_reader(self, rows: int) -> pa.RecordBatchReader:
        return self.relation.to_arrow_reader(rows)


@pytest.mark.parametrize("module", ["duckdb.duckdb", "_duckdb"])
def test_relations_of_older_releases_are_read(module: str) -> None:
    older = type("DuckDBPyRelation", (_Older,), {"__module__": module})
    rows = open_source(older(duckdb.sql("select 'a' as s, range as x from range(5)"))).select(["x"])
    assert [batch.column(0).to_pylist() for batch in rows.batches(rows=2)] == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize("version", ["1.20.0", "1.36.1"])
def test_a_polars_that_would_hide_faults_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl, "__version__", version)
    with pytest.raises(InputError, match=rf"Polars 1\.37 or newer .*found {re.escape(version)}\. .*\.collect\(\)"):
        open_source(pl.LazyFrame({"x": [1]}))
