"""Table: rows of records, columns as lists, and frames of pandas, Polars and PyArrow."""

import dataclasses
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from softlabel import Diagnosis, InputError
from softlabel.results import (
    Attenuation,
    Audit,
    Check,
    ConfidentAttenuation,
    Estimate,
    Forecast,
    LabelEquivalent,
    ReliabilityBin,
    Rung,
    StepTest,
    Table,
)
from softlabel.results.drift import Breakdown, DriftBound

STORED = Diagnosis.from_json((Path(__file__).parent / "schema_1.json").read_bytes())
TABLES: dict[type, Table[Any]] = {
    Estimate: STORED.estimates,
    Attenuation: STORED.kappa,
    ConfidentAttenuation: STORED.kappa_confident,
    LabelEquivalent: STORED.label_equivalents,
    Check: STORED.checks,
    Audit: STORED.audits,
    ReliabilityBin: STORED.calibration.bins,
    Rung: STORED.ladder.rungs,
    StepTest: STORED.ladder.steps,
    Forecast: STORED.forecast,
    DriftBound: STORED.drift(0.05),
    Breakdown: STORED.breakdown,
}


@pytest.fixture(params=TABLES.values(), ids=[kind.__name__ for kind in TABLES])
def table(request: pytest.FixtureRequest) -> Table[Any]:
    chosen: Table[Any] = request.param
    return chosen


def test_a_table_is_its_rows() -> None:
    assert len(STORED.estimates) == 15
    assert list(STORED.estimates) == list(STORED.estimates.rows)
    assert STORED.kappa["threshold"] == [0.5, 0.9]
    assert STORED.kappa["kappa"] == [0.45, None]
    assert STORED.kappa["n_above"] == [9_000, 0]


@pytest.mark.parametrize(("kind", "table"), TABLES.items(), ids=[kind.__name__ for kind in TABLES])
def test_columns_are_the_fields_of_a_row_in_their_order(kind: type, table: Table[Any]) -> None:
    names = [field.name for field in dataclasses.fields(kind)]
    assert table.columns == names
    assert list(table.to_dict()) == names
    assert list(table.to_pandas().columns) == table.to_polars().columns == table.to_arrow().column_names == names


def test_frames_hold_the_values_and_null_where_there_is_none(table: Table[Any]) -> None:
    expected = [dataclasses.asdict(row) for row in table]
    assert table.to_arrow().to_pylist() == expected
    assert table.to_polars().to_dicts() == expected
    frame = table.to_pandas()
    assert len(frame) == len(expected)
    for name in table.columns:
        assert frame[name].isna().tolist() == [row[name] is None for row in expected]
        assert frame[name].dropna().tolist() == [row[name] for row in expected if row[name] is not None]


def test_types_in_the_frames() -> None:
    arrow, polars, pandas = STORED.estimates.to_arrow(), STORED.estimates.to_polars(), STORED.estimates.to_pandas()
    for name in ("threshold", "estimate", "std_error", "ci_low", "ci_high", "p_value", "level"):
        assert arrow.schema.field(name).type == pa.float64()
        assert polars.schema[name] == pl.Float64()
        assert pandas[name].dtype == "float64"
    for name in ("name", "form", "reason"):
        assert arrow.schema.field(name).type == pa.string()
        assert polars.schema[name] == pl.String()
    assert arrow.schema.field("n").type == pa.int64()
    assert polars.schema["n"] == pl.Int64()
    assert pandas["n"].dtype == "int64"
    assert polars.schema["df"] == pl.Int64()


def test_types_do_not_depend_on_which_values_are_there() -> None:
    computed = Table(tuple(row for row in STORED.estimates if row.reason is None))
    assert computed.to_arrow().schema == STORED.estimates.to_arrow().schema
    assert computed.to_polars().schema == STORED.estimates.to_polars().schema


def test_an_unknown_column() -> None:
    with pytest.raises(InputError) as caught:
        STORED.kappa["kapa"]
    text = str(caught.value)
    assert "the name of a column of this table" in text
    assert "'kapa'" in text
    assert "Did you mean 'kappa'?" in text
    with pytest.raises(InputError, match="column"):
        STORED.kappa[0]  # type: ignore[index]


def test_a_table_without_rows() -> None:
    empty: Table[Estimate] = Table(())
    assert (len(empty), list(empty), empty.columns, str(empty)) == (0, [], [], "")
    assert (len(empty.to_pandas()), len(empty.to_polars()), empty.to_arrow().num_rows) == (0, 0, 0)


def test_a_column_of_a_table_without_rows_is_empty() -> None:
    assert dataclasses.replace(STORED, kappa=Table(())).kappa["kappa"] == []


def test_as_text() -> None:
    assert str(STORED.kappa).splitlines() == [
        "threshold  kappa  std_error  ci_low  ci_high      n  n_above   basis                 reason",
        "      0.5   0.45      0.005    0.44     0.46  19990     9000  linear                      -",
        "      0.9      -          -       -        -  19990        0  linear  no score is above 0.9",
    ]
