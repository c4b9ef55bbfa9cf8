"""diagnose gives one answer: whatever holds the rows, in any order, in any pieces, on any number of threads.

Every number of the Diagnosis is compared, by walking its JSON.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from softlabel import DataError, Diagnosis, diagnose

N, LABELLED = 17_700, 300
CONTROLS = ["age", "frailty", "emergency"]
ROLES: dict[str, Any] = {"outcome": "days", "group": "g", "score": "p", "controls": CONTROLS, "basis": "linear"}


def _table(n: int = N, labelled: int = LABELLED, seed: int = 7) -> pa.Table:
    """Labelled rows scattered among the others; more than one block of the kernel; columns without a role."""
    rng = np.random.default_rng(seed)
    rows = n + labelled
    age = rng.integers(40, 95, rows)
    frailty = rng.normal(size=rows)
    emergency = rng.random(rows) < 0.4
    r = expit(0.03 * (age - 70) + 0.5 * frailty)
    p = rng.beta(3 * r, 3 * (1 - r))
    g = rng.random(rows) < p
    days = 5 + 0.1 * age + frailty + emergency + g + rng.normal(size=rows)
    hidden = np.ones(rows, dtype=np.bool_)
    hidden[rng.permutation(rows)[:labelled]] = False
    visit = [f"visit {i}" for i in rng.permutation(rows)]
    columns = {
        "note": ['é, "quoted"\nand long'] * rows,
        "visit": visit,
        "days": days,
        "g": pa.array(g.astype(np.int8), mask=hidden),
        "p": p,
        "age": age,
        "frailty": frailty,
        "emergency": emergency.astype(np.int8),
        "when": pa.array(rng.integers(0, 10**9, rows), pa.timestamp("s")),
    }
    return pa.table(columns)


TABLE = _table()


def _taken(rows: NDArray[Any]) -> pa.Table:
    return TABLE.take(pa.array(rows))


# ----------------------------------------------------------------------------------------- comparing


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif isinstance(value, list):
        yield f"{path}.length", len(value)
        for i, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{i}]")
    else:
        yield path, value


def _differences(a: Diagnosis, b: Diagnosis) -> list[str]:
    """List every leaf of the JSON that differs by more than 1e-10 of itself, but for the source's name."""
    ours, theirs = (dict(_leaves(json.loads(d.to_json()))) for d in (a, b))
    assert ours.keys() == theirs.keys()
    found = []
    for path, value in ours.items():
        other = theirs[path]
        if path != ".sample.source" and not _same(value, other, log="p_value" in path):
            found.append(f"{path}: {value!r} != {other!r}")
    return found


def _same(a: Any, b: Any, *, log: bool) -> bool:
    if not (isinstance(a, float) and isinstance(b, float)):
        return bool(a == b)
    if log and a > 0 and b > 0:
        # log p is about -z²/2: its relative error is that of the estimate, p's own is z² times as large.
        a, b = math.log(a), math.log(b)
    return math.isclose(a, b, rel_tol=1e-10)


@pytest.fixture(scope="module", params=[None, "visit"], ids=["by values", "by id"])
def by(request: pytest.FixtureRequest) -> str | None:
    """What folds depend on."""
    column: str | None = request.param
    return column


@pytest.fixture(scope="module")
def reference(by: str | None) -> Diagnosis:
    return diagnose(TABLE, **ROLES, id=by, threads=1)


def test_the_comparison_sees_the_ninth_digit_and_not_the_twelfth() -> None:
    def scaled(factor: float) -> list[str]:
        at = TABLE.schema.get_field_index("days")
        days = pa.array(TABLE["days"].to_numpy() * factor)
        d = diagnose(TABLE.set_column(at, "days", days), **ROLES, id="visit")
        # These hash the very bits of the rows, the last to draw some that are compared with their neighbours.
        at = f".checks.rows[{d.checks['code'].index('score.collapse')}]"
        return [
            line for line in _differences(d, start) if not line.startswith((".sample.fingerprint", ".sample.n_eff", at))
        ]

    start = diagnose(TABLE, **ROLES, id="visit")
    assert any("estimate" in line for line in scaled(1 + 1e-9))
    assert scaled(1 + 1e-12) == []


# ------------------------------------------------------------------------------ sources, order, pieces


def _parquet(folder: Path, group_rows: int) -> Path:
    pq.write_table(TABLE, folder / "visits.parquet", row_group_size=group_rows)
    return folder / "visits.parquet"


def _many_parquet(folder: Path) -> str:
    for i, start in enumerate(range(0, len(TABLE), 2_500)):
        pq.write_table(TABLE.slice(start, 2_500), folder / f"{i:02}.parquet", row_group_size=999)
    return str(folder / "*.parquet")


def _csv(folder: Path, name: str, **options: Any) -> Path:
    TABLE.to_pandas().to_csv(folder / name, index=False, **options)
    return folder / name


def _arrow_csv(folder: Path) -> Path:
    pyarrow.csv.write_csv(TABLE, folder / "visits.csv")
    return folder / "visits.csv"


def _chunked(rows: int) -> pa.Table:
    """Every column in chunks of its own size."""
    return pa.table(
        {
            name: pa.chunked_array([column.slice(i, rows + k) for i in range(0, len(TABLE), rows + k)])
            for k, (name, column) in enumerate(zip(TABLE.column_names, TABLE.columns, strict=True))
        }
    )


def _arrays() -> dict[str, Any]:
    frame = TABLE.to_pandas()
    return {name: frame[name].to_numpy() for name in ["visit", "days", "g", "p", *CONTROLS]}


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: TABLE.to_pandas(),
    "pandas nullable": lambda _: TABLE.to_pandas().convert_dtypes(),
    "pandas arrow": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with an index": lambda _: TABLE.to_pandas().set_index("frailty", drop=False),
    "polars": lambda _: pl.from_arrow(TABLE),
    "polars pieces": lambda _: pl.concat([pl.DataFrame(TABLE[:5_000]), pl.DataFrame(TABLE[5_000:])], rechunk=False),
    "arrow in small chunks": lambda _: _chunked(700),
    "arrow batch": lambda _: TABLE.combine_chunks().to_batches()[0],
    "dict of arrays": lambda _: _arrays(),
    "dict of lists": lambda _: {name: list(values) for name, values in _arrays().items()},
    "parquet": lambda folder: _parquet(folder, 1 << 20),
    "parquet in small row groups": lambda folder: _parquet(folder, 1_000),
    "many parquet": _many_parquet,
    "csv by pandas": lambda folder: _csv(folder, "visits.csv"),
    "csv of 17 digits": lambda folder: _csv(folder, "visits.csv", float_format="%.17g"),
    "csv by arrow": _arrow_csv,
    "csv.gz": lambda folder: _csv(folder, "visits.csv.gz"),
    "tsv": lambda folder: _csv(folder, "visits.tsv", sep="\t"),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_numbers(source: str, by: str | None, reference: Diagnosis, tmp_path: Path) -> None:
    d = diagnose(SOURCES[source](tmp_path), **ROLES, id=by)
    assert _differences(d, reference) == []


ORDERS: dict[str, Callable[[], NDArray[Any]]] = {
    "reversed": lambda: np.arange(len(TABLE))[::-1],
    "shuffled": lambda: np.random.default_rng(1).permutation(len(TABLE)),
    "by outcome": lambda: np.argsort(TABLE["days"].to_numpy()),
    "by score": lambda: np.argsort(TABLE["p"].to_numpy()),
    "labelled last": lambda: np.argsort(~np.asarray(TABLE["g"].is_null()), kind="stable"),
    "labelled first": lambda: np.argsort(np.asarray(TABLE["g"].is_null()), kind="stable"),
}


@pytest.mark.parametrize("order", ORDERS)
def test_any_order_of_rows_gives_the_same_numbers(order: str, by: str | None, reference: Diagnosis) -> None:
    rows = ORDERS[order]()
    assert not np.array_equal(rows, np.arange(len(TABLE)))
    assert _differences(diagnose(_taken(rows), **ROLES, id=by), reference) == []


PIECES = ["arrow in small chunks", "many parquet", "parquet in small row groups"]


@pytest.mark.parametrize("source", PIECES)
def test_pieces_as_small_as_they_come_give_the_same_numbers_on_any_number_of_threads(
    source: str, by: str | None, reference: Diagnosis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small batches are joined before they are read; here they are not, so that there are many to merge.
    monkeypatch.setattr(sys.modules["softlabel.reading"], "coalesced", iter)
    data = SOURCES[source](tmp_path)
    one, *others = (diagnose(data, **ROLES, id=by, threads=k) for k in (1, 1, 2, 4, None))
    assert [d.to_json() for d in others] == [one.to_json()] * 4
    assert _differences(one, reference) == []


def test_threads_do_not_change_a_bit_of_a_table_of_many_batches() -> None:
    # Batches are joined until they hold 65,536 rows, so these ten become four.
    table = pa.concat_tables([_table(29_600, 400, seed) for seed in range(10)])
    one, *others = (diagnose(table, **ROLES, threads=k) for k in (1, 4, 2, None))
    assert [d.to_json() for d in others] == [one.to_json()] * 3
    assert _differences(diagnose(table.combine_chunks(), **ROLES), one) == []


def test_columns_without_a_role_do_not_matter(reference: Diagnosis, by: str | None) -> None:
    kept = [*ROLES["controls"], "days", "g", "p", "visit"]
    assert _differences(diagnose(TABLE.select(kept), **ROLES, id=by), reference) == []


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int64(), pa.uint8(), pa.float32(), pa.decimal128(3, 1)], ids=str)
def test_the_group_may_have_any_numeric_type(kind: pa.DataType) -> None:
    table = _table(600, 90)
    at = table.schema.get_field_index("g")
    group = table["g"].cast(pa.float64()).cast(kind) if kind != pa.bool_() else table["g"].cast(kind)
    d = diagnose(table.set_column(at, "g", group), **ROLES)
    assert _differences(d, diagnose(table, **ROLES)) == []


def test_null_and_nan_are_the_same_in_the_group() -> None:
    table = _table(600, 90)
    at = table.schema.get_field_index("g")
    nan = pa.array(table["g"].to_pandas().to_numpy(np.float64))
    assert nan.null_count == 0
    d = diagnose(table.set_column(at, "g", nan), **ROLES)
    assert _differences(d, diagnose(table, **ROLES)) == []


def test_values_that_compare_equal_have_equal_folds_whatever_their_bits() -> None:
    table = _table(600, 90)

    def diagnosed(unknown: float, zero: float) -> Diagnosis:
        g = np.where(np.asarray(table["g"].is_null()), unknown, table["g"].to_pandas())
        emergency = np.where(table["emergency"].to_numpy() == 0, zero, 1.0)
        changed = table.drop_columns(["g", "emergency"]).append_column("g", pa.array(g, from_pandas=False))
        return diagnose(changed.append_column("emergency", pa.array(emergency)), **ROLES)

    d = diagnosed(math.nan, 0.0)
    assert d.sample.folds_by == "values"
    for unknown, zero in ((math.copysign(math.nan, -1), 0.0), (math.nan, -0.0)):
        assert _differences(diagnosed(unknown, zero), d) == []


# ------------------------------------------------------------------------------------- labels apart, none


APART: dict[str, Callable[[pa.Table, pa.Table, Path], tuple[Any, Any]]] = {
    "tables": lambda hidden, shown, _: (hidden, shown),
    "no group column": lambda hidden, shown, _: (hidden.drop_columns("g"), shown),
    "pandas and polars": lambda hidden, shown, _: (hidden.to_pandas(), pl.from_arrow(shown)),
    "parquet and dict": lambda hidden, shown, folder: (
        pq.write_table(hidden, folder / "hidden.parquet") or folder / "hidden.parquet",
        shown.to_pydict(),
    ),
    "other order of columns": lambda hidden, shown, _: (hidden, shown.select(sorted(shown.column_names))),
}


@pytest.mark.parametrize("kinds", APART)
def test_labelled_rows_in_a_table_of_their_own(
    kinds: str, by: str | None, reference: Diagnosis, tmp_path: Path
) -> None:
    labelled = ~np.asarray(TABLE["g"].is_null())
    hidden, shown = (_taken(np.flatnonzero(part)) for part in (~labelled, labelled))
    data, apart = APART[kinds](hidden, shown, tmp_path)
    d = diagnose(data, labelled=apart, **ROLES, id=by)
    assert _differences(d, reference) == []
    assert " and " in d.sample.source


def test_without_a_group_nothing_is_supervised_and_it_says_so() -> None:
    hidden = _taken(np.flatnonzero(np.asarray(TABLE["g"].is_null())))
    d = diagnose(hidden, outcome="days", score="p", controls=CONTROLS, basis="linear")
    supervised = d.estimate("supervised")
    assert (supervised.estimate, supervised.std_error, supervised.interval, supervised.p_value) == (None,) * 4
    assert (supervised.n, supervised.reason) == (0, "there are no labelled rows")
    assert d.verdict.choice == "soft"
    assert d.verdict.because[0].code == "assumptions.untested"
    # Before anything is recommended it is said what cannot be tested.
    assert d.verdict.sentence.startswith("Neither calibration nor exclusion can be tested: there are no labelled rows")
    assert [reason.code for reason in d.verdict.would_change] == ["labels.audit"]
    paper = diagnose(hidden, outcome="days", score="p", controls=CONTROLS, basis="linear", rule="paper").verdict
    assert (paper.choice, paper.because[0].code) == ("soft", "supervised.unavailable")
    assert "there are no labelled rows" in paper.sentence
    for name in ("rectified", "instrumented", "combined", "adaptive"):
        row = d.estimate(name)
        assert (row.estimate, row.interval, row.n, row.reason) == (None, None, 0, "there are no labelled rows")
    assert d.ladder.reason == d.calibration.reason == d.drift_curves.supported.reason == "there are no labelled rows"
    assert {row.reason for row in d.audits} == {"there are no labelled rows"}
    skipped = {one.code for one in d.checks if one.outcome == "skipped"}
    assert {"calibration.given_controls", "exclusion", "samples.soft", "audit.clean"} <= skipped
    (note,) = [note for note in d.notes if note.code == "labels.none"]
    assert "calibrated" in note.message
    assert "only through the group" in note.message
    assert "taken on trust" in note.message
    assert (d.sample.labelled, d.sample.labelled_by_class) == (0, (0, 0))
    assert {row.labels for row in d.label_equivalents} == {None}
    assert {row.reason for row in d.label_equivalents} == {"there are no labelled rows"}
    # Everything that needs no label is what it is with labels.
    full = diagnose(TABLE, **ROLES)
    for name in ("v_star", "score_variance", "kappa", "kappa_confident", "forecast"):
        assert [v for _, v in _leaves(_plain(getattr(d, name)))] == pytest.approx(
            [v for _, v in _leaves(_plain(getattr(full, name)))], rel=1e-10
        )


def _plain(value: Any) -> Any:
    """Return the numbers of a record or table, nested in lists."""
    if hasattr(value, "rows"):
        return [_plain(row) for row in value]
    if hasattr(value, "__slots__"):
        numbers = [getattr(value, name) for name in value.__slots__]
        return [each for each in numbers if isinstance(each, float)]
    return value


def test_without_a_group_a_column_of_that_name_is_not_read() -> None:
    table = _table(600, 0)
    roles = {**ROLES, "group": None}
    words = table.set_column(table.schema.get_field_index("g"), "g", pa.array(["?"] * len(table)))
    assert diagnose(words, **roles) == diagnose(table, **roles)


def test_labelled_rows_may_lack_a_score() -> None:
    rng = np.random.default_rng(12)
    n, labelled = 1_000, 80
    known = np.arange(n) < labelled
    data = {"y": rng.normal(size=n), "x": rng.normal(size=n), "p": rng.random(n)}
    data["g"] = np.where(known, rng.integers(0, 2, size=n), np.nan)
    options: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "controls": ["x"]}
    plain = diagnose(data, **options)
    scoreless = diagnose(data | {"p": np.where(known, np.nan, data["p"])}, **options)
    apart = diagnose(
        {name: column[~known] for name, column in data.items() if name != "g"},
        **options,
        labelled={name: column[known] for name, column in data.items() if name != "p"},
    )
    for d in (scoreless, apart):
        assert (d.sample.dropped, d.sample.labelled) == (0, labelled)
        climbed = [d.estimate(name) for name in ("rectified", "instrumented", "combined", "adaptive")]
        assert d.estimates.rows == (*plain.estimates.rows[: -len(climbed)], *climbed)
        # Without a score a row cannot audit one.
        too_few = "0 labelled rows with a score are too few to audit the score: at least 10 are needed"
        assert {row.reason for row in climbed} == {too_few}
        assert d.drift_curves.curves == plain.drift_curves.curves
        assert (d.kappa, d.forecast) == (plain.kappa, plain.forecast)
    # Those that have one do.
    half = known & (np.arange(n) % 2 == 0)
    some = diagnose(data | {"p": np.where(half, np.nan, data["p"])}, **options)
    assert (some.ladder.n_labelled, some.ladder.n_audit) == (labelled, labelled // 2)
    assert some.estimate("supervised") == plain.estimate("supervised")


def test_the_scores_of_unlabelled_rows_are_still_needed() -> None:
    data = {"y": np.zeros(9), "p": np.append(np.full(8, 0.5), np.nan), "g": np.full(9, np.nan)}
    with pytest.raises(DataError, match=r"'p' \(1\) of 9 rows"):
        diagnose(data, outcome="y", group="g", score="p")
