"""check: on every source, from labelled tables, its counts, notes, command and JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import softlabel
from softlabel import Checkup, StateError, check

N, LABELLED = 2_000, 150
ROLES: dict[str, Any] = {"outcome": "y", "score": "p", "group": "g", "controls": ["age", "region"]}


def _table(**changes: Any) -> pa.Table:
    rng = np.random.default_rng(8)
    p, age = rng.random(N), rng.normal(50, 9, N)
    region = rng.choice(["north", "south", "island"], N, p=[0.6, 0.395, 0.005])
    g = (rng.random(N) < p).astype(float)
    y = 2 * g + age / 10 + rng.normal(size=N)
    g[LABELLED:] = np.nan
    columns = {"y": y, "p": p, "g": pa.array(g, from_pandas=True), "age": age, "region": region}
    return pa.table({**columns, "ward": np.arange(N) % 20, **changes})


def _parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "rows.parquet", row_group_size=300)
    return str(folder / "rows.parquet")


def _many(table: pa.Table, folder: Path) -> Any:
    for i in range(4):
        pq.write_table(table.slice(500 * i, 500), folder / f"part-{i}.parquet")
    return str(folder / "part-*.parquet")


def _csv(table: pa.Table, folder: Path) -> Any:
    pa.csv.write_csv(table, folder / "rows.csv")
    return folder / "rows.csv"


def _dataset(table: pa.Table, folder: Path) -> Any:
    return pa.dataset.dataset(_parquet(table, folder))


SOURCES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "parquet": _parquet,
    "many files": _many,
    "csv": _csv,
    "dataset": _dataset,
    "pandas": lambda table, _: table.to_pandas(),
    "polars": lambda table, _: pl.DataFrame(table),
    "lazy": lambda table, _: pl.DataFrame(table).lazy(),
    "duckdb": lambda table, _: duckdb.from_arrow(table),
    "dict": lambda table, _: {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names},
}


def _told(c: Checkup) -> list[object]:
    """Return what does not depend on the engine: its name, its types and the command do."""
    facts = [(row.name, row.role, row.missing, row.distinct, row.low, row.high) for row in c.columns]
    return [
        c.ready,
        c.sentence,
        c.problems,
        c.notes,
        c.rows,
        c.counts,
        facts,
        c.levels,
        c.above,
        c.confident,
        c.estimators,
    ]


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_says_the_same(source: str, tmp_path: Path) -> None:
    table = _table()
    data = SOURCES[source](table, tmp_path)
    assert _told(check(data, **ROLES)) == _told(check(table, **ROLES))
    data = SOURCES[source](table, tmp_path)
    described = [(row.name, row.role, row.missing, row.distinct, row.low, row.high) for row in check(data).columns]
    assert described == [
        (row.name, row.role, row.missing, row.distinct, row.low, row.high) for row in check(table).columns
    ]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_and_batches_do_not_matter(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check(_table(), **ROLES, cluster="ward")
    monkeypatch.setattr("softlabel.reading.coalesced", lambda batches: (b for b in batches))
    monkeypatch.setattr("softlabel.sources.arrow.BATCH_ROWS", 100)
    pieces = pa.concat_tables([_table().slice(start, 130) for start in range(0, N, 130)])
    assert check(pieces, **ROLES, cluster="ward", threads=threads) == whole


def test_labelled_rows_of_their_own() -> None:
    table = _table()
    hidden, labelled = table.slice(LABELLED).drop_columns("g"), table.slice(0, LABELLED).drop_columns("p")
    c = check(hidden, **ROLES, labelled=labelled)
    assert c.ready
    assert c.counts is not None
    assert (c.counts.unlabelled, c.counts.labelled) == (N - LABELLED, LABELLED)
    assert " ".join(c.command).endswith("controls=['age', 'region'], labelled=labelled)")


def test_rows_that_audit_are_counted_and_their_column_has_its_role() -> None:
    seen = np.arange(N) % 3 == 0
    c = check(_table(seen=seen), **ROLES, audit="seen")
    assert c.counts is not None
    assert c.counts.audit == seen[:LABELLED].sum() == 50
    assert {row.name: row.role for row in c.columns}["seen"] == "audit"
    assert "audit='seen'" in c.command[-1]
    assert "seen" in c.summary().split("Column")[1]
    for name in ("rectified", "instrumented", "combined", "adaptive"):
        assert f"  {name}" in c.summary()
    assert c.summary().count("50 that audit") == 4
    # All that have a score, where nobody was asked; none, where the named ones are too few.
    plain = check(_table(), **ROLES)
    assert plain.counts is not None
    assert plain.counts.audit == LABELLED
    few = check(_table(seen=np.arange(N) < 9), **{**ROLES, "controls": ["age"]}, audit="seen")
    text = " ".join(few.summary().split())
    assert "rectified, instrumented, combined, adaptive: 9 audit rows are too few to audit the score" in text
    assert "Not possible: rectified, instrumented, combined, adaptive" in text


def test_clusters_of_each_kind_of_row() -> None:
    ward = np.where(np.arange(N) < LABELLED, np.arange(N) % 7, 4 + np.arange(N) % 40)
    c = check(_table(ward=ward), **ROLES, cluster="ward")
    assert c.counts is not None
    assert (c.counts.clusters, c.counts.clusters_labelled, c.counts.clusters_both) == (40, 7, 3)


def test_levels_are_counted_and_rare_ones_noted() -> None:
    c = check(_table(), **ROLES)
    regions = _table()["region"].to_pylist()
    counted = {row.level: (row.unlabelled, row.labelled) for row in c.levels}
    assert counted == {
        level: (regions[LABELLED:].count(level), regions[:LABELLED].count(level))
        for level in ("north", "south", "island")
    }
    (rare,) = [note.message for note in c.notes if note.code == "levels.rare"]
    assert f"island ({counted['island'][0]})" in rare


@pytest.mark.parametrize(
    ("changes", "options", "code"),
    [
        ({"age": np.full(N, 4.0)}, {}, "controls.constant"),
        ({"region": ["north"] * N}, {}, "controls.constant"),
        ({"y": np.arange(N) % 2}, {}, "outcome.binary"),
        ({"p": np.arange(N) % 2}, {}, "score.hard"),
        ({"g": pa.nulls(N, pa.float64())}, {"missing": "drop"}, None),
        ({}, {"group": None}, "labels.none"),
        ({"age": np.where(np.arange(N) % 9, 1.0, np.nan)}, {"missing": "drop"}, "rows.dropped"),
        ({"ward": np.arange(N) % 3}, {"weights": "ward"}, "rows.weightless"),
        ({}, {"cluster": "ward"}, "clusters.few"),
        ({"region": ["isle" if i < 30 else "north" if i % 2 else "south" for i in range(N)]}, {}, "levels.unseen"),
        ({"region": [f"v{i % 190}" for i in range(N)]}, {}, "rows.few"),
    ],
)
def test_notes(changes: dict[str, Any], options: dict[str, Any], code: str | None) -> None:
    c = check(_table(**changes), **{**ROLES, **options})
    assert code is None or code in [note.code for note in c.notes]
    assert len({note.message for note in c.notes}) == len(c.notes)


def test_repeats_are_noted_and_send_the_folds_in_sample() -> None:
    c = check(pa.concat_tables([_table().slice(LABELLED, 300)] * 6), **ROLES)
    assert c.counts is not None
    assert c.counts.in_sample
    assert "rows.repeat" in [note.code for note in c.notes]


def test_the_command_that_is_proposed_runs(tmp_path: Path) -> None:
    path = tmp_path / "my rows.parquet"
    pq.write_table(_table(age=np.where(np.arange(N) % 9, np.arange(N) / 50, np.nan)), path)
    c = check(str(path), **ROLES, cluster="ward")
    assert not c.ready
    assert c.shell
    assert list(c.command[-2:]) == ["--missing", "drop"]
    assert f"'{path}'" in c.command
    # In Python it is an expression.
    table = _table()
    call = " ".join(check(table, **{**ROLES, "controls": "age + C(region)"}, weights="ward").command)
    d = eval(call, {"softlabel": softlabel, "data": table})  # noqa: S307  (what check wrote)
    assert d.settings.weights == "ward"
    assert d.settings.controls == ("age", "region")


def test_json_there_and_back() -> None:
    for c in (
        check(_table(), **ROLES, cluster="ward"),
        check(_table()),
        check(_table(), **{**ROLES, "outcome": "region", "controls": ["age"]}),
    ):
        assert Checkup.from_json(c.to_json()) == c
        assert Checkup.from_json(c.to_json(indent=2)) == c
    with pytest.raises(StateError, match="Checkup"):
        Checkup.from_json("{}")
    with pytest.raises(StateError, match="version 99"):
        Checkup.from_json(check(_table()).to_json().replace('"schema_version":1', '"schema_version":99'))


def test_tables_go_into_frames() -> None:
    c = check(_table(), **ROLES)
    for table in (c.columns, c.levels, c.above, c.confident, c.estimators):
        frame = table.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == len(table)
