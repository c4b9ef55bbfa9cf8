"""The tables at a quarter of the paper's replications: against exact values, against its prints, against themselves."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from softlabel.errors import InputError
from softlabel.replicate.paper import TABLES, Cell, TableFound, TablesFound, command, replicate_tables, table5
from softlabel.replicate.paper.groups import Group
from softlabel.simulate import MonteCarlo, PaperDesign, run

GOLDEN = Path(__file__).with_name("golden.json")
SEED = 4

# Where the paper and its own mechanism part ways by more than 4 errors at its own counts: nowhere.
EXCEPTIONS: Mapping[tuple[str, str, str], str] = {}


def few_trees(replications: int) -> tuple[Group, ...]:
    """Trees take a second for 3,000 rows, and 300 show that they are called as they should be."""
    return (
        Group("collapse", table5.Collapse(), replications, seconds=0.01),
        Group("trees", table5.Trees(rows=300), 2, seconds=1.0),
    )


@pytest.fixture(scope="module")
def found() -> dict[str, TableFound]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TABLES, "table5", replace(TABLES["table5"], groups=few_trees))
        tables = [
            replicate_tables(TABLES[name].replications // 4, tables=[name], seed=SEED, progress=False).tables[0]
            for name in TABLES
        ]
    return {table.name: table for table in tables}


def _cells(found: Mapping[str, TableFound]) -> list[tuple[str, Cell]]:
    return [(name, one) for name, table in found.items() for one in table.cells]


def test_every_cell_agrees_with_its_exact_value(found: Mapping[str, TableFound]) -> None:
    away = {(name, one.row, one.column): one.z_exact for name, one in _cells(found) if one.z_exact is not None}
    # As many cells as there are: a normal one is beyond 4 once in 16,000, and beyond 4.5, as the errors of a quarter
    # of the replications are known less well, less than that.
    assert len(away) == 210
    assert {key: z for key, z in away.items() if abs(z) > 4.5} == {}
    assert np.sqrt(np.mean(np.square(list(away.values())))) < 1.5


def test_every_cell_agrees_with_the_print(found: Mapping[str, TableFound]) -> None:
    cells = {(name, one.row, one.column): one for name, one in _cells(found) if one.source == "paper"}
    assert len(cells) == 36 + 25 + 37 + 24 + 8
    assert all(one.z_printed is not None for one in cells.values())
    differing = {key for key, one in cells.items() if abs(one.z_printed or 0.0) > 4.5}
    assert differing == set(EXCEPTIONS)


def test_golden_values(found: Mapping[str, TableFound]) -> None:
    """The same seed gives the same numbers as when they were looked at.

    1e-6 of a number: sums differ in their last bits between machines, and one row more or less above a threshold
    moves no mean by that little, so that a change of any draw or formula shows. Trees may split ties otherwise.
    """
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    values = {f"{name} | {one.row} | {one.column}": one.value for name, one in _cells(found)}
    assert list(values) == list(golden)
    for key, value in values.items():
        trees = key.endswith(("forest", "boosting"))
        assert value == pytest.approx(golden[key], rel=0.1 if trees else 1e-6, abs=1e-9), key


def test_what_the_tables_are_to_show(found: Mapping[str, TableFound]) -> None:
    one, two, three, four, five = (found[name] for name in TABLES)
    # 1: the orthogonal form has a fraction of the error at high thresholds.
    moment, orthogonal = (one.at("t = 0.95", name).std_error for name in ("mean hard", "hard, orthogonal, linear"))
    assert orthogonal < moment / 3
    # 2: mean SE over sd of the fitted moment form, against a claim of nominal coverage.
    for row, ratio in (("sigma_u = 0.20", 2.1), ("sigma_u = 0.30", 1.5), ("sigma_u = 0.50", 1.2)):
        cell = two.at(row, "fitted moment: mean SE / sd")
        assert abs(cell.value - ratio) < 4 * cell.std_error
        assert two.at(row, "fitted moment: coverage").value > 0.97
    # 3: the printed kappa_FM predicts -0.30 at 0.95 where the bias is above 1; within C it is predicted.
    assert three.at("t = 0.95", "bias of the paper's estimator").value > 1
    assert abs(three.at("t = 0.95", "within C: bias").z_exact or 9) < 4
    assert three.at("t = 0.95", "within C: MSE").value < three.at("t = 0.95", "MSE").value / 5
    # 4: the bound is reached by its own drift, and pointless for the paper's.
    attained = four.at("worst-case, delta = 0.05", "group drifts: moment form, m frozen")
    assert abs(attained.value - 0.469) < 4 * attained.std_error
    assert four.at("worst-case, delta = 0.05", "bias").value < 0
    # 5: injected noise adds its own variance, and r̂'s eleven coefficients take 11/3000 of it.
    for n in table5.SIZES:
        row = f"n_L = {n}"
        parts = [five.at(row, name).value for name in ("deterministic", "injected noise alone", "posterior-predictive")]
        assert parts[0] + parts[1] * (1 - 10 / 3000) == pytest.approx(parts[2], abs=2e-4)
        assert five.at(row, "V* by spline").value < five.at(row, "V* by linear").value


def test_more_labels_less_misfit(found: Mapping[str, TableFound]) -> None:
    values = [found["table5"].at(f"n_L = {n}", "deterministic").value for n in table5.SIZES]
    assert values == sorted(values, reverse=True)


def test_interrupted_and_resumed_is_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = replicate_tables(9, tables=["table3"], seed=2)
    calls = []

    def interrupted(experiment: object, replications: int, **options: object) -> MonteCarlo:
        calls.append(replications)
        run(experiment, 5, **options)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            replicate_tables(9, tables=["table3"], seed=2, resume=tmp_path)
    file = tmp_path / "table3-confident-sets.jsonl"
    assert calls == [9]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1 + 5
    # A line that was being written when the run stopped.
    with file.open("a", encoding="utf-8") as half:
        half.write('{"i": 5, "v": {"so')
    resumed = replicate_tables(9, tables=["table3"], seed=2, resume=tmp_path)
    assert resumed.to_json() == whole.to_json()


def test_two_workers_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "POOL_PAYS", 0.0)
    one, two = (replicate_tables(6, tables=["table1", "table4"], seed=3, workers=workers) for workers in (1, 2))
    assert one == two
    assert one.to_json() == two.to_json()


def test_processes_are_started_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(experiment: object, _: int, **options: object) -> MonteCarlo:
        asked.append(options["workers"])
        return run(experiment, 4, seed=0)  # type: ignore[arg-type]

    monkeypatch.setattr(command, "run", counted)
    # Five milliseconds a replication: 2,000 of them are ten seconds.
    for replications in (400, 2000):
        replicate_tables(replications, tables=["table1"], workers=2)
    assert asked == [1, 2]


def test_the_seed_and_the_count_matter() -> None:
    tables = [
        replicate_tables(count, tables=["table4"], seed=seed).tables[0] for count, seed in ((4, 0), (4, 1), (5, 0))
    ]
    assert len({table.cells.rows[0].value for table in tables}) == 3
    assert [table.cells.rows[0].n for table in tables] == [4, 4, 5]


def test_too_few_replications_are_refused() -> None:
    with pytest.raises(InputError, match="at least 4 replications"):
        replicate_tables(3)


def test_the_default_is_the_papers_count(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(experiment: object, replications: int, **options: object) -> MonteCarlo:
        asked.append(replications)
        return run(experiment, 4, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(command, "run", counted)
    found = replicate_tables(tables=["table1", "table2", "table3", "table4"])
    assert asked == [400, 1000, 400, 300]
    assert [table.replications for table in found.tables] == asked


def test_the_posterior_predictive_draw_has_the_papers_variance() -> None:
    p = np.full(200_000, 0.3)
    drawn = table5._posterior_predictive(p, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(0.3, abs=4 * drawn.std() / 447)
    # The error of a variance of 200,000 bounded values is below 1/300 of it.
    assert drawn.var() == pytest.approx(0.09 * 0.3 * 0.7, rel=4 / 300)
    assert table5._posterior_predictive(np.array([0.0, 1.0]), np.random.default_rng(1)).tolist() == [0.0, 1.0]


def test_a_score_with_nothing_to_learn_is_the_share_of_the_group() -> None:
    design = PaperDesign(beta_r=(0.0, 0.0, 0.0))
    _, p = table5._scored(design, 20_000, 500, np.random.default_rng(2))
    # Steps of the isotonic fit rest on thousands of labels each, but for some at the ends.
    assert np.median(np.abs(p - 0.5)) < 0.02


def test_a_cell_that_is_not_there_is_an_error(found: Mapping[str, TableFound]) -> None:
    with pytest.raises(InputError, match="a cell of table1"):
        found["table1"].at("t = 0.50", "nothing")


def test_time_is_no_part_of_what_was_found() -> None:
    some = replicate_tables(4, tables=["table4"], seed=3)
    assert some.seconds["table4"] > 0
    assert some == TablesFound(some.tables)
    assert "seconds" not in some.to_json()
