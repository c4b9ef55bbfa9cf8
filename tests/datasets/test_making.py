"""The script behind the Parquet files: the same bytes each time, every value as it was."""

import gzip
import importlib.util
from io import BytesIO
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from softlabel.datasets import about
from tests.datasets.oracle import beside_the_checkout

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def making() -> ModuleType:
    script = ROOT / "tools" / "make_datasets.py"
    spec = importlib.util.spec_from_file_location("make_datasets", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_integer_is_as_narrow_as_it_may_be(making: ModuleType) -> None:
    table = making.narrowed(
        pa.table(
            {
                "int8": [-128, 127],
                "int16": [-129, 0],
                "upto": [0, 128],
                "int32": [0, 1 << 31 - 1],
                "int64": [0, 1 << 31],
                "whole": [1.0, None],
                "broken": [1.0, 1.5],
                "text": ["a", None],
            }
        )
    )
    kinds = [str(field.type) for field in table.schema]
    assert kinds == ["int8", "int16", "int16", "int32", "int64", "int8", "double", "string"]
    assert table["whole"].to_pylist() == [1, None]


def test_the_same_table_gives_the_same_bytes_and_itself_back(making: ModuleType) -> None:
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "few": pa.array(rng.integers(0, 3, 5000), pa.int8()),
            "many": pa.array(rng.integers(0, 1 << 30, 5000), pa.int32()),
            "gaps": pa.array(rng.integers(0, 9, 5000), pa.int16(), mask=rng.random(5000) < 0.1),
            "text": pa.array(rng.choice(["x", "y"], 5000).tolist()),
        }
    )
    content = making.packed(table)
    assert content == making.packed(table)
    assert parquet.read_table(BytesIO(content)).equals(table)


def test_empty_fields_and_question_marks_are_missing(making: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "small.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,?\n,x\n3,NA\n"))
    assert making.table_of(path).to_pydict() == {"a": [1, None, 3], "b": [None, "x", "NA"]}


def test_a_file_too_large_is_refused(making: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adult.csv.gz").write_bytes(gzip.compress(b"a,b\n1,?\n"))
    monkeypatch.setattr(making, "MOST_BYTES", 10)
    with pytest.raises(SystemExit, match="more than 10"):
        making.main(tmp_path, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["adult", "credit_default", "nycflights"])
def test_what_ships_is_what_it_was_made_from(making: ModuleType, name: str) -> None:
    file = making.SOURCES[name]
    path = beside_the_checkout(file) / file
    stored = parquet.read_table(making.HOME / about(name).file)
    # Read as text: no type is guessed. Whole numbers were written as 3 or as 3.0.
    names = stored.column_names
    options = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    original = csv.read_csv(path, convert_options=options)
    assert original.column_names == names
    for column in names:
        ours = ["" if value is None else str(value) for value in stored[column].to_pylist()]
        theirs = ["" if text == "?" else text.removesuffix(".0") for text in original[column].to_pylist()]
        assert ours == theirs, column
