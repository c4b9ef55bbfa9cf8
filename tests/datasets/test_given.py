"""Tables from a folder of the caller's: made-up ones in full, the real ones where they are."""

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from softlabel.datasets import NAMES, Dataset, about, read_study
from softlabel.datasets.derived import prepared
from softlabel.datasets.given import read_given
from softlabel.errors import InputError, SourceError
from tests.datasets.oracle import beside_the_checkout, by_cells, by_least_squares

GIVEN = [name for name in NAMES if not about(name).ships]
RUNNERS = """\
first_name,sex,age,country,state,half_min,finish_min,ssa_p_female
Ada,F,30,GBR,,100.5,210.25,0.99
Na,M,41,NAM,,,300.0,
NA,M,28,USA,MA,90.0,190.5,0.25
"""


def written(folder: Path, text: str, packed: bytes | None = None) -> Dataset:
    """The marathon's record for a file of our own, which is put into the folder."""
    content = text.encode()
    (folder / "runners.csv.gz").write_bytes(packed if packed is not None else gzip.compress(content))
    sha256 = hashlib.sha256(content).hexdigest()
    return replace(about("boston_marathon"), file="runners.csv.gz", sha256=sha256)


def test_a_made_up_race(tmp_path: Path) -> None:
    dataset = written(tmp_path, RUNNERS)
    table = prepared(dataset, read_given(dataset, tmp_path), complete=False)
    assert table["female"].to_pylist() == [1, 0, 0]
    assert table["ssa_p_female"].to_pylist() == [0.99, None, 0.25]
    assert table["first_name"].to_pylist() == ["Ada", "Na", "NA"]  # a name, not a missing value
    assert table["state"].to_pylist() == [None, None, "MA"]
    # Half a minute has no role: a row that misses it stays.
    assert prepared(dataset, read_given(dataset, tmp_path), complete=True)["age"].to_pylist() == [30, 28]


def test_packing_anew_changes_nothing(tmp_path: Path) -> None:
    dataset = written(tmp_path, RUNNERS, gzip.compress(RUNNERS.encode(), compresslevel=1, mtime=7))
    assert read_given(dataset, tmp_path).num_rows == 3


def test_other_rows_are_noticed(tmp_path: Path) -> None:
    dataset = written(tmp_path, RUNNERS, gzip.compress(RUNNERS.replace("210.25", "210.35").encode()))
    with pytest.raises(SourceError, match="holds other rows"):
        read_given(dataset, tmp_path)


@pytest.mark.parametrize("damage", ["cut", "flipped", "not gzip", "empty"])
def test_a_damaged_file(damage: str, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(RUNNERS.encode()))
    packed[len(packed) // 2] ^= 0xFF
    whole = gzip.compress(RUNNERS.encode())
    content = {"cut": whole[:-20], "flipped": bytes(packed), "not gzip": RUNNERS.encode(), "empty": b""}[damage]
    dataset = written(tmp_path, RUNNERS, content)
    with pytest.raises(SourceError, match="Get the file anew"):
        read_given(dataset, tmp_path)


@pytest.mark.parametrize("name", GIVEN)
def test_no_file_says_where_it_comes_from(name: str, tmp_path: Path) -> None:
    for folder in (tmp_path, str(tmp_path / "absent")):
        with pytest.raises(InputError, match="nothing is downloaded") as caught:
            read_study(name, folder)
        assert about(name).source in str(caught.value)
        assert about(name).file in str(caught.value)


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / about("alphafold").file).mkdir()
    with pytest.raises(SourceError, match="to its end"):
        read_study("alphafold", tmp_path)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="no such file"):
        read_study("alphafold", tmp_path / "file")


def test_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Did you mean 'boston_marathon'"):
        read_study("boston_maraton", tmp_path)


# -------------------------------------------------------------------------- the real ones, beside the checkout


@pytest.mark.parametrize("name", GIVEN)
def test_the_real_data(name: str) -> None:
    dataset = about(name)
    folder = beside_the_checkout(dataset.file)
    table, complete = read_study(name, folder), read_study(name, folder, complete=True)
    assert (table.num_rows, complete.num_rows) == (dataset.rows, dataset.complete_rows)
    assert set(dataset.roles.columns()) <= set(table.column_names)
    # Half a unit of the sixth decimal that is written down, and as much again for rounding.
    assert by_least_squares(complete, dataset.roles) == pytest.approx(dataset.effects.linear, abs=1e-6)
    assert by_cells(complete, dataset.roles) == pytest.approx(dataset.effects.cells, abs=1e-6)
