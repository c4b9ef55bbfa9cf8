"""diagnose gives one answer: whatever holds the rows, in any order, in any pieces, on any number of threads.

Every number of the Diagnosis is compared, by walking its JSON. The numbers themselves are compared with dense
least squares written out by hand, and with statsmodels.
"""

import json
import math
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
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy.special import expit

from softlabel import Diagnosis, Estimate, diagnose
from softlabel.folds import deal, hash_ids

Floats = NDArray[np.float64]

N, LABELLED = 17_700, 300
CONTROLS = ["age", "frailty", "emergency"]
ROLES: dict[str, Any] = {"outcome": "days", "group": "g", "score": "p", "controls": CONTROLS}


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
        "note": ["é, \"quoted\"\nand long"] * rows,
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
        same = value == other
        if isinstance(value, float) and isinstance(other, float) and not same:
            if path.endswith("p_value") and value > 0 and other > 0:
                # log p is about -z²/2: its relative error is that of the estimate, p's own is z² as large.
                value, other = math.log(value), math.log(other)
            same = math.isclose(value, other, rel_tol=1e-10)
        if not same and path != ".sample.source":
            found.append(f"{path}: {value!r} != {other!r}")
    return found


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
        # These two hash the very bits of the rows.
        return [line for line in _differences(d, start) if "fingerprint" not in line and "n_eff" not in line]

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
def test_every_source_gives_the_same_numbers(
    source: str, by: str | None, reference: Diagnosis, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize("source", ["arrow in small chunks", "many parquet", "parquet in small row groups"])
def test_threads_do_not_change_a_bit(source: str, by: str | None, tmp_path: Path) -> None:
    data = SOURCES[source](tmp_path)
    one, *others = (diagnose(data, **ROLES, id=by, threads=k).to_json() for k in (1, 1, 2, 4, None))
    assert others == [one] * 4


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
    d = diagnose(hidden, outcome="days", score="p", controls=CONTROLS)
    supervised = d.estimate("supervised")
    assert (supervised.estimate, supervised.std_error, supervised.interval, supervised.p_value) == (None,) * 4
    assert (supervised.n, supervised.reason) == (0, "there are no labelled rows")
    assert d.verdict.choice == "soft"
    assert [reason.code for reason in d.verdict.because][0] == "supervised.unavailable"
    assert "there are no labelled rows" in d.verdict.sentence
    (note,) = [note for note in d.notes if note.code == "labels.none"]
    assert "calibrated" in note.message
    assert "only through the group" in note.message
    assert "taken on trust" in note.message
    assert (d.sample.labelled, d.sample.labelled_by_class) == (0, (0, 0))
    assert {row.labels for row in d.label_equivalents} == {None}
    assert {row.reason for row in d.label_equivalents} == {"there are no labelled rows"}
    # Everything that needs no label is what it is with labels.
    full = diagnose(TABLE, **ROLES)
    for name in ("v_star", "score_variance", "kappa", "kappa_confident"):
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


# -------------------------------------------------------------------------------- numbers by hand


def _residual(v: Floats, x: Floats, fold: NDArray[Any], rows: NDArray[np.bool_] | None = None) -> Floats:
    """Return v less its least-squares fit on (1, x) over the other folds (over all if there is one fold)."""
    inside = np.ones(len(v), dtype=np.bool_) if rows is None else rows
    z = np.column_stack([np.ones(len(v)), x])
    out = np.zeros(len(v))
    for k in np.unique(fold):
        train = inside & (fold != k) if len(np.unique(fold)) > 1 else inside
        beta = np.linalg.lstsq(z[train], v[train], rcond=None)[0]
        use = inside & (fold == k)
        out[use] = v[use] - z[use] @ beta
    return out


def _close(estimate: Estimate, point: float, g: Floats, bread: float) -> None:
    """Compare with a point estimate and its HC0 standard error from g of one row each."""
    assert estimate.reason is None
    # Both sides lose about four digits of sixteen to the condition of the design.
    assert estimate.estimate == pytest.approx(point, rel=1e-9)
    assert estimate.std_error == pytest.approx(math.sqrt(float(g @ g)) / abs(bread), rel=1e-9)


@pytest.mark.parametrize("folds", [None, 3])
def test_every_estimate_is_that_of_dense_least_squares(folds: int | None) -> None:
    table = _table(3_000, 120, seed=2)
    thresholds, confident = (0.5, 0.8), (0.6, 0.9)
    d = diagnose(table, **ROLES, id="visit", folds=folds, seed=4, thresholds=thresholds, confident=confident)
    hidden = np.asarray(table["g"].is_null())
    columns = {name: table[name].to_pandas().to_numpy(np.float64) for name in ["days", "p", "g", *CONTROLS]}
    y, p = columns["days"][hidden], columns["p"][hidden]
    x = np.column_stack([columns[name][hidden] for name in CONTROLS])
    ids = table["visit"].combine_chunks().filter(pa.array(hidden))
    fold = np.zeros(len(y), dtype=np.int64) if folds is None else deal(hash_ids(ids), folds, 4)
    assert len(np.unique(fold)) == (folds or 1)

    a, r = _residual(p, x, fold), _residual(y, x, fold)
    soft = float(a @ r / (a @ a))
    _close(d.estimate("soft"), soft, a * (r - soft * a), float(a @ a))
    moment = float((2 * p - 1) @ r / (2 * a @ a))
    _close(d.estimate("soft", form="moment"), moment, (2 * p - 1) * r - 2 * moment * a * a, float(2 * a @ a))
    v_star = float(a @ a) / len(a)
    _close(d.v_star, v_star, a * a - v_star, len(a))
    assert d.score_variance == pytest.approx(p.var(), rel=1e-12)

    for row in d.kappa:
        t = row.threshold
        h = (p > t).astype(np.float64)
        b = _residual(h, x, fold)
        bb, ba = float(b @ b), float(b @ a)
        hard, kappa, deattenuated = float(b @ r) / bb, ba / bb, float(b @ r) / ba
        _close(d.estimate("hard", threshold=t), hard, b * (r - hard * b), bb)
        _close(d.estimate("deattenuated", threshold=t), deattenuated, b * (r - deattenuated * a), ba)
        moment = float((2 * h - 1) @ r) / (2 * bb)
        at = d.estimate("hard", threshold=t, form="moment")
        _close(at, moment, (2 * h - 1) * r - 2 * moment * b * b, 2 * bb)
        assert row.kappa == pytest.approx(kappa, rel=1e-9)
        g = b * (a - kappa * b)
        assert row.std_error == pytest.approx(math.sqrt(float(g @ g)) / bb, rel=1e-9)
        assert (row.n, row.n_above) == (3_000, int(h.sum()))

    for inside in d.kappa_confident:
        t = inside.threshold
        rows = np.maximum(p, 1 - p) > t
        h = (p > t).astype(np.float64)
        a_c, r_c, b_c = (_residual(v, x, fold, rows) for v in (p, y, h))
        bb = float(b_c @ b_c)
        effect, kappa = float(b_c @ r_c) / bb, float(b_c @ a_c) / bb
        estimate = d.estimate("confident", threshold=t)
        _close(estimate, effect, b_c * (r_c - effect * b_c), bb)
        assert inside.kappa == pytest.approx(kappa, rel=1e-9)
        g = b_c * (a_c - kappa * b_c)
        assert inside.std_error == pytest.approx(math.sqrt(float(g @ g)) / bb, rel=1e-9)
        assert estimate.n == inside.n_confident == rows.sum()
        assert inside.share == pytest.approx(rows.mean())
        assert inside.floor == pytest.approx(2 * t - 1)

    design = np.column_stack([columns["g"], *(columns[name] for name in CONTROLS), np.ones(len(hidden))])
    fit = sm.OLS(columns["days"][~hidden], design[~hidden]).fit(cov_type="HC3", use_t=True)
    supervised = d.estimate("supervised")
    expected = (fit.params[0], fit.bse[0], *fit.conf_int()[0], fit.pvalues[0], fit.df_resid, 120)
    got = (
        supervised.estimate,
        supervised.std_error,
        supervised.ci_low,
        supervised.ci_high,
        supervised.p_value,
        supervised.df,
        supervised.n,
    )
    assert got == pytest.approx(expected, rel=1e-9)

    (worth,) = [row.labels for row in d.label_equivalents if row.name == "soft"]
    ratio = (supervised.std_error or 0) / (d.estimate("soft").std_error or 1)
    assert worth == pytest.approx(120 * ratio**2)
