"""The tables that ship are whole, are the originals, and hold the effects that are told of them."""

import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import softlabel as sl
from softlabel.datasets import NAMES, about, load, load_adult, load_credit_default, load_nycflights, read_study
from softlabel.datasets.shipped import read_shipped
from softlabel.errors import InputError, SourceError
from tests.datasets.oracle import by_cells, by_least_squares

FILES = Path(str(files("softlabel.datasets"))) / "files"
SHIPPED = [name for name in NAMES if about(name).ships]
# Half a unit of the sixth decimal that is written down, and as much again for rounding in a long regression.
WRITTEN = 1e-6


@pytest.fixture(scope="module", params=SHIPPED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def table(name: str) -> pa.Table:
    return load(name)


@pytest.fixture(scope="module")
def adult() -> pa.Table:
    return load_adult()


# -------------------------------------------------------------------------------------------- whole


@pytest.mark.parametrize(
    ("name", "rows", "complete"),
    [("adult", 32_561, 30_162), ("credit_default", 30_000, 30_000), ("nycflights", 100_000, 98_179)],
)
def test_rows_and_complete_rows(name: str, rows: int, complete: int) -> None:
    dataset = about(name)
    assert (dataset.rows, dataset.complete_rows) == (rows, complete)
    assert load(name).num_rows == rows
    assert load(name, complete=True).num_rows == complete


def test_each_loader_loads_its_own() -> None:
    assert load_adult().equals(load("adult"))
    assert load_credit_default().equals(load("credit_default"))
    assert load_nycflights().equals(load("nycflights"))
    assert load_adult(complete=True).equals(load("adult", complete=True))
    assert load_credit_default(complete=True).num_rows == 30_000
    assert load_nycflights(complete=True).equals(load("nycflights", complete=True))


def test_complete_rows_are_the_rows_in_which_nothing_with_a_role_is_missing(name: str, table: pa.Table) -> None:
    kept = [row for row in table.to_pylist() if all(row[column] is not None for column in about(name).roles.columns())]
    assert load(name, complete=True).to_pylist() == kept


def test_what_is_missing_is_where_it_is_said_to_be(name: str, table: pa.Table) -> None:
    expected = {
        "adult": {"workclass": 1836, "occupation": 1843, "native_country": 583},
        "credit_default": {},
        "nycflights": {"plane_year": 1821},
    }
    assert {column: n for column in table.column_names if (n := table[column].null_count)} == expected[name]


def test_every_role_is_a_column_and_the_group_is_0_or_1_in_every_row(name: str, table: pa.Table) -> None:
    roles = about(name).roles
    assert set(roles.columns()) <= set(table.column_names)
    assert set(roles.categories) <= set(roles.controls)
    assert table.schema.field(roles.group).type == pa.int8()
    assert set(table[roles.group].to_pylist()) == {0, 1}


def test_numbers_are_wide_enough_to_calculate_with(name: str, table: pa.Table) -> None:
    others = [field.type for field in table.schema if field.name != about(name).roles.group]
    assert set(others) <= {pa.int64(), pa.float64(), pa.string()}


# ------------------------------------------------------------------------------------- the originals


def test_the_original_file_of_adult_can_be_written_back_to_its_last_byte(adult: pa.Table) -> None:
    rows = adult.drop_columns(["high_income"]).to_pylist()
    lines = (", ".join("?" if value is None else str(value) for value in row.values()) for row in rows)
    text = "\n".join(lines) + "\n\n"  # adult.data ends in an empty line
    # Begins and ends as its publishers' file does.
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    assert sha256 == "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
    assert sha256 in (FILES / "adult.md").read_text(encoding="utf-8")


def test_high_income_is_over_50k(adult: pa.Table) -> None:
    income = adult["income"].to_pylist()
    assert set(income) == {"<=50K", ">50K"}
    assert adult["high_income"].to_pylist() == [int(each == ">50K") for each in income]


def test_credit_default_has_the_counts_of_its_paper() -> None:
    table = load_credit_default()
    assert table["ID"].to_pylist() == list(range(1, 30_001))
    assert sum(table["default"].to_pylist()) == 6_636
    assert sum(table["SEX"].to_pylist()) == 18_112
    limit = table["LIMIT_BAL"].to_numpy()
    # The logarithm of two libraries may differ in its last bit.
    np.testing.assert_allclose(table["log_limit"].to_numpy(), np.log(limit), rtol=1e-15)


def test_nycflights_is_in_the_order_of_its_package_and_jetblue_is_b6() -> None:
    table = load_nycflights()
    days = list(zip(map(str, table["month"].to_pylist()), table["day"].to_pylist(), strict=True))
    assert days == sorted(days)  # months in the order of their text: 1, 10, 11, 12, 2, ...
    assert set(table["origin"].to_pylist()) == {"EWR", "JFK", "LGA"}
    assert table["jetblue"].to_pylist() == [int(carrier == "B6") for carrier in table["carrier"].to_pylist()]
    assert sum(table["jetblue"].to_pylist()) == 19_033


# --------------------------------------------------------------------------------------- the effects


def test_the_effects_of_the_true_group(name: str) -> None:
    dataset, table = about(name), load(name, complete=True)
    assert by_least_squares(table, dataset.roles) == pytest.approx(dataset.effects.linear, abs=WRITTEN)
    assert by_cells(table, dataset.roles) == pytest.approx(dataset.effects.cells, abs=WRITTEN)


def test_adult_gives_the_number_of_the_right_file() -> None:
    # The copy of 48,842 rows gives 2.018.
    assert about("adult").effects.linear == pytest.approx(2.0154, abs=5e-5)


def test_adult_through_the_supervised_estimator() -> None:
    table = load_adult(complete=True)
    x = np.column_stack([table["age"], table["hours_per_week"], np.equal(table["sex"].to_pylist(), "Male")])
    found = sl.supervised(table["education_num"].to_numpy(), table["high_income"].to_numpy(), x.astype(np.float64))
    assert found.estimate == pytest.approx(about("adult").effects.linear, abs=WRITTEN)


def test_a_table_goes_into_diagnose_as_it_is(name: str, table: pa.Table) -> None:
    # A score made of one feature: the share of the group among the labelled rows with the same value.
    feature = {"adult": "relationship", "credit_default": "PAY_0", "nycflights": "origin"}[name]
    roles = about(name).roles
    labelled = np.arange(table.num_rows) % 20 == 0
    truth = table[roles.group].to_numpy()
    values, codes = np.unique(table[feature].to_numpy().astype(str), return_inverse=True)
    counts = np.bincount(codes[labelled], minlength=len(values))
    sums = np.bincount(codes[labelled], weights=truth[labelled], minlength=len(values))
    hidden = pa.array(truth, mask=~labelled)
    asked = table.set_column(table.column_names.index(roles.group), roles.group, hidden)
    asked = asked.append_column("p", pa.array(((sums + 0.5) / (counts + 1))[codes]))
    d = sl.diagnose(
        asked,
        outcome=roles.outcome,
        group=roles.group,
        score="p",
        controls=roles.controls,
        basis=sl.Basis("linear", categories=roles.categories),
        rule="paper",
    )
    assert d.sample.unlabelled == int((~labelled).sum())


# --------------------------------------------------------------------------------- files and damage


def test_the_files_are_under_one_mebibyte(name: str) -> None:
    assert (FILES / about(name).file).stat().st_size < 1 << 20


def test_each_file_has_its_note(name: str) -> None:
    dataset = about(name)
    note = (FILES / f"{name}.md").read_text(encoding="utf-8")
    told = [dataset.sha256, dataset.file, dataset.doi, dataset.licence]
    told += [f"{dataset.rows:,}, of which {dataset.complete_rows:,} are complete"]
    assert [each for each in told if each is None or each not in note] == []
    row = f"| {dataset.file} | {dataset.rows:,} | {dataset.complete_rows:,} | {dataset.licence} |"
    assert row in (FILES / "README.md").read_text(encoding="utf-8")


def test_the_folder_holds_the_files_their_notes_and_nothing_else() -> None:
    expected = {"README.md", *(f"{each}.md" for each in SHIPPED), *(about(each).file for each in SHIPPED)}
    assert {path.name for path in FILES.iterdir()} == expected


@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
def test_one_changed_byte_is_noticed(name: str, at: float, tmp_path: Path) -> None:
    dataset = about(name)
    content = bytearray((FILES / dataset.file).read_bytes())
    content[int(at * (len(content) - 1))] ^= 1
    (tmp_path / dataset.file).write_bytes(content)
    with pytest.raises(SourceError, match=f"{dataset.file} with SHA-256 {dataset.sha256[:12]}.* damaged"):
        read_shipped(dataset, tmp_path)


def test_a_copy_is_read_and_a_missing_file_is_a_clear_error(name: str, tmp_path: Path) -> None:
    dataset = about(name)
    with pytest.raises(SourceError, match=re.escape(dataset.file) + ".* Install softlabel anew"):
        read_shipped(dataset, tmp_path)
    (tmp_path / dataset.file).write_bytes((FILES / dataset.file).read_bytes())
    assert read_shipped(dataset, tmp_path).num_rows == dataset.rows


def test_the_checksum_of_the_record_is_the_one_that_counts(name: str) -> None:
    with pytest.raises(SourceError, match="SHA-256 000000000000"):
        read_shipped(replace(about(name), sha256="0" * 64), FILES)


# --------------------------------------------------------------------------------------- the calls


def test_an_unknown_name() -> None:
    with pytest.raises(InputError, match="Did you mean 'adult'"):
        about("Adult")
    with pytest.raises(InputError, match="There are: 'adult', 'credit_default'"):
        load("iris")
    with pytest.raises(InputError, match="the name of a dataset; found 3"):
        about(3)  # type: ignore[arg-type]


def test_what_does_not_ship_says_how_it_is_read() -> None:
    with pytest.raises(InputError, match=r"read_study\('alphafold', folder\).* alphafold_idr.csv.gz"):
        load("alphafold")


def test_what_ships_needs_no_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"load_{name}\(\)"):
        read_study(name, tmp_path)


def test_the_room_is_not_imported_until_it_is_asked_for() -> None:
    program = (
        "import sys, softlabel; assert 'softlabel.datasets' not in sys.modules; "
        "softlabel.datasets.about('adult'); assert 'softlabel.datasets' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
