"""Files of the tables: the numbers in each are the numbers that were found."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from softlabel.replicate.paper import TableFound, TablesFound, replicate_tables
from softlabel.replicate.paper.written import agreement
from softlabel.results.text import number

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def found() -> TablesFound:
    return replicate_tables(8, tables=["table3", "table4"], seed=5)


@pytest.fixture
def written(found: TablesFound, tmp_path: Path) -> Path:
    found.write(tmp_path)
    return tmp_path


def test_each_table_has_four_files(written: Path) -> None:
    names = {f"{table}.{ending}" for table in ("table3", "table4") for ending in ("md", "csv", "tex", "json")}
    assert {path.name for path in written.iterdir()} == names


def test_json_is_the_record(found: TablesFound, written: Path) -> None:
    for table in found.tables:
        text = (written / f"{table.name}.json").read_text(encoding="utf-8")
        assert msgspec.json.decode(text, type=TableFound) == table
    assert json.loads(found.to_json())["tables"][0]["name"] == "table3"


def test_csv_has_every_digit(found: TablesFound, written: Path) -> None:
    for table in found.tables:
        with (written / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(table.cells)
        for row, cell in zip(rows, table.cells, strict=True):
            assert (row["table"], row["source"], row["row"], row["column"]) == (
                table.name,
                cell.source,
                cell.row,
                cell.column,
            )
            numbers = {
                "printed": cell.printed,
                "printed unit": cell.printed_unit,
                "printed error": cell.printed_error,
                "exact": cell.exact,
                "ours": cell.value,
                "MC error": cell.std_error,
                "z exact": cell.z_exact,
                "z printed": cell.z_printed,
                "replications": cell.n,
            }
            assert {name: float(row[name]) if row[name] else None for name in numbers} == numbers


def _markdown(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| row")]
    return [[each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def _latex(text: str) -> list[list[str]]:
    bodies = re.findall(r"\\midrule\n(.*?)\\bottomrule", text, flags=re.DOTALL)
    lines = [line.removesuffix(r" \\") for body in bodies for line in body.splitlines()]
    plain = [re.sub(r"\\([&%$#_{}])", r"\1", re.sub(r"\$(-[^$]*)\$", r"\1", line)) for line in lines]
    return [line.split(" & ") for line in plain]


def test_markdown_and_latex_show_the_same_digits_as_the_record(found: TablesFound, written: Path) -> None:
    for table in found.tables:
        shown = _markdown((written / f"{table.name}.md").read_text(encoding="utf-8"))
        assert _latex((written / f"{table.name}.tex").read_text(encoding="utf-8")) == shown
        cells = sorted(table.cells, key=lambda cell: cell.source == "ours")
        assert len(shown) == len(cells)
        for row, cell in zip(shown, cells, strict=True):
            assert row[:2] == [cell.row, cell.column]
            kept = row[2:] if cell.source == "paper" else ["", *row[2:6], "", row[-1]]
            printed, exact, value, error, z_exact, z_printed, outcome = kept
            assert (exact, value, error) == (number(cell.exact, 4), number(cell.value, 4), number(cell.std_error, 2))
            assert (z_exact, outcome) == (
                "-" if cell.z_exact is None else f"{cell.z_exact:.2f}",
                cell.outcome if (cell.z_exact, cell.z_printed) != (None, None) else "-",
            )
            if cell.source == "paper":
                assert float(printed) == cell.printed
                assert z_printed == ("-" if cell.z_printed is None else f"{cell.z_printed:.2f}")


def test_the_print_keeps_its_digits(written: Path) -> None:
    rows = {(row[0], row[1]): row for row in _markdown((written / "table3.md").read_text(encoding="utf-8"))}
    assert rows["t = 0.90", "variance"][2] == "1.752"
    assert rows["t = 0.90", "bias2"][2] == "2.970"
    assert rows["t = 0.95", "rows in C"][2] == "57"


def test_the_page_has_every_cell_and_fits(found: TablesFound) -> None:
    page = found.summary()
    assert page.isascii()
    assert max(map(len, page.splitlines())) <= 96
    # Two tables, each as the paper's and ours; a row's label once, its columns below it.
    assert page.count("ours beside it") == 2
    assert page.count("\n    kappa_FM ") == 6
    assert "of the printed value" in page
    assert re.search(r"Time\n  [\d.]+ s in all with 1 worker on \d+ cores: table3 [\d.]+ s, table4 [\d.]+ s\.\n$", page)


def test_agreement_counts(found: TablesFound) -> None:
    three = found.tables[0]
    exact = [abs(cell.z_exact) for cell in three.cells if cell.z_exact is not None]
    beyond = sum(z > 4 for z in exact)
    assert f"{len(exact) - beyond} of {len(exact)} cells of the exact value" in agreement(three)


def test_the_command_line_writes_and_prints(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    code, out, err = run("replicate", "table3", "--reps", "6", "--seed", "2", "--out", str(folder), "--no-progress")
    assert (code, err) == (0, "")
    assert out.startswith("Table 3: ")
    assert "6 replications of seed 2; the paper has 400." in " ".join(out.split())
    assert len(list(folder.iterdir())) == 4
    expected = replicate_tables(6, tables=["table3"], seed=2)
    code, out, err = run("replicate", "table3", "--reps", "6", "--seed", "2", "--json", "-", "--resume", str(folder))
    assert (code, err, out) == (0, "", expected.to_json(indent=2) + "\n")
    assert (folder / "table3-confident-sets.jsonl").exists()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run the command line here; return its exit code, stdout and stderr."""
    from softlabel.cli import main

    return lambda *arguments: (main(arguments), *capsys.readouterr())
