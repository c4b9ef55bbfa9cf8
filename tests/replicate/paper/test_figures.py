"""Figures: what is drawn are the cells' numbers; drawing itself is the business of tests/report/test_charts.py."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from softlabel.errors import InputError
from softlabel.replicate.paper import TableFound, TablesFound, figures, replicate_figures, replicate_tables
from softlabel.replicate.paper.figures import FiguresFound, charts
from softlabel.replicate.paper.table5 import SIZES
from softlabel.report.charts import Chart, Series
from softlabel.results import Table
from softlabel.results.inference import quantile

SIX = ("P1", "P3", "P3-prediction", "P4", "P5", "P6")


def _fifth() -> TableFound:
    """Return table 5 with the printed values in place of ours, for trees take their time."""
    from softlabel.replicate.paper import Cell

    names = ("deterministic", "posterior-predictive", "injected noise alone")
    learners = ("V* by linear", "V* by spline", "V* by boosting")
    cells = [
        Cell(f"n_L = {n}", name, "ours", 0.01, 0.01, 0.0, None, 1 / n, 0.1 / n, 9, None, None, "agree", "")
        for n in SIZES
        for name in (*names, *learners)
    ]
    return TableFound("table5", "", "", 250, 9, 0, Table(tuple(cells)))


def _adult() -> TableFound:
    """Return the table of Adult with made-up numbers in place of forests."""
    from softlabel.replicate.paper import Cell

    names = ("MSE supervised", "MSE soft", "MSE hard", "cross-fitted: MSE rectified", "permuted: MSE soft")
    cells = [
        Cell(f"n_L = {n}", name, "ours", n / 10, 0.01, 0.0, None, 1 / n, 0.1 / n, 9, None, None, "agree", "")
        for n in (500, 1000, 2000)
        for name in names
    ]
    return TableFound("adult", "", "", 30, 9, 0, Table(tuple(cells)))


@pytest.fixture(scope="module")
def tables() -> TablesFound:
    found = replicate_tables(8, tables=["table1", "table3", "table4"], seed=5)
    return TablesFound((*found.tables, _fifth(), _adult()))


@pytest.fixture(scope="module")
def drawn(tables: TablesFound) -> Mapping[str, Chart]:
    return {chart.name: chart for chart in charts(tables)}


def _series(chart: Chart, label: str) -> Series:
    return next(series for series in chart.series if series.label == label)


def test_the_six_figures(drawn: Mapping[str, Chart]) -> None:
    assert tuple(drawn) == SIX
    for chart in drawn.values():
        assert any(f"{n} {what}" in chart.caption for n in (8, 9) for what in ("replications", "random splits"))
        assert ("30,162 rows" if chart.name == "P6" else "3,000 rows") in chart.caption
        for series in chart.series:
            assert len(series.x) == len(series.y)
            assert len(series.reach) in {0, len(series.x)}


def test_what_is_drawn_are_the_numbers_of_the_cells(tables: TablesFound, drawn: Mapping[str, Chart]) -> None:
    one, three, four, five, adult = tables.tables
    cell = one.at("t = 0.80", "mean hard")
    series = _series(drawn["P1"], "moment form (the paper's)")
    assert series.y[3] == cell.value
    assert series.reach[3] == pytest.approx(quantile(0.95, None) * cell.std_error)
    assert _series(drawn["P1"], r"its $\kappa$").y[3] == cell.exact
    assert _series(drawn["P1"], "printed in the paper").y == (0.251, 0.235, 0.226, 0.211, 0.148, 0.188)
    assert _series(drawn["P3"], "variance (the paper's)").y[5] == three.at("t = 0.95", "variance").value
    assert _series(drawn["P3"], "MSE of soft").y == (three.at("soft", "MSE").value,) * 2
    prediction = _series(drawn["P3-prediction"], "all within C (ours)")
    within = three.at("t = 0.85", "within C: bias")
    assert (prediction.x[3], prediction.y[3]) == (within.exact, within.value)
    paper = _series(drawn["P3-prediction"], "the paper's")
    kappa = three.at("t = 0.55", "kappa_FM").exact
    assert kappa is not None
    assert (paper.x[0], paper.names[0]) == (kappa - 1, "0.55")
    bound = _series(drawn["P4"], "the paper's bound")
    assert (bound.x[0], bound.y[0]) == (0.0, 0.0)
    assert bound.y[4] == four.at("worst-case, delta = 0.20", "bound").exact
    assert _series(drawn["P4"], "score drifts: linear").x == (0.05, 0.20)
    assert _series(drawn["P6"], "rectified (ours)").y == tuple(
        adult.at(f"n_L = {n}", "cross-fitted: MSE rectified").value for n in (500, 1000, 2000)
    )
    assert _series(drawn["P6"], "printed in the paper").y == (50.0, 100.0, 200.0)
    assert _series(drawn["P5"], "boosted r").y[2] == five.at("n_L = 1000", "V* by boosting").value


def test_nothing_of_it_needs_matplotlib(tables: TablesFound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert len(list(charts(tables))) == 6
    with pytest.raises(InputError, match=r"pip install softlabel\[figures\]"):
        replicate_figures(4)


def test_files_of_the_command(
    tables: TablesFound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from softlabel.cli import main

    asked: dict[str, Any] = {}

    def cheap(*arguments: Any, **options: Any) -> TablesFound:
        asked.update(options, replications=arguments[0])
        return tables

    monkeypatch.setattr(figures, "replicate_tables", cheap)
    code = main(["replicate", "figures", "--reps", "8", "--seed", "5", "--out", str(tmp_path), "--json", "-"])
    assert code == 0
    assert (asked["replications"], asked["seed"]) == (8, 5)
    names = {f"{name}.{ending}" for name in SIX for ending in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {*names, "figures.md"}
    captions = (tmp_path / "figures.md").read_text(encoding="utf-8")
    assert all(f"![{name}]({name}.png)" in captions for name in SIX)
    out = json.loads(capsys.readouterr().out)
    assert [chart["name"] for chart in out["charts"]] == list(SIX)


def test_the_page_has_the_captions(tables: TablesFound) -> None:
    page = FiguresFound(tuple(charts(tables)), tables).summary()
    assert max(map(len, page.splitlines())) <= 96
    assert page.startswith("P1\n  ")


def test_figures_need_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    from softlabel.cli import main

    assert main(["replicate", "figures"]) == 2
    assert "Expected --out for figures" in capsys.readouterr().err


def test_a_chart_of_a_table_that_was_not_run_is_not_drawn(tables: TablesFound) -> None:
    only = TablesFound(tuple(table for table in tables.tables if table.name == "table3"))
    assert [chart.name for chart in charts(only)] == ["P3", "P3-prediction"]
