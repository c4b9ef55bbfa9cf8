"""The rows: those that change between the two readings, those that repeat, and what is counted of them."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel import DataError, SourceChanged, SourceError, diagnose
from softlabel.basis import LinearBasis
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.moments import Design, Partition
from softlabel.nuisances import fit_nuisances
from softlabel.study import Study

ROLES: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "controls": ["x"], "basis": "linear"}


def _frame(n: int = 900, labelled: int = 100, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, p = rng.normal(size=n + labelled), rng.beta(2, 2, size=n + labelled)
    g = (rng.random(n + labelled) < p).astype(np.float64)
    y = x + g + rng.normal(size=n + labelled)
    g[:n] = np.nan
    return pd.DataFrame({"y": y, "g": g, "p": p, "x": x, "id": np.arange(n + labelled)})


FRAME = _frame()
Change = Callable[[pd.DataFrame], pd.DataFrame]


def _set(row: int, column: str, value: float) -> Change:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.copy()
        frame.loc[row, column] = value
        return frame

    return change


CHANGES: dict[str, Change] = {
    "an outcome": _set(3, "y", 0.0),
    "an outcome's last bit": _set(3, "y", math.nextafter(float(FRAME["y"][3]), math.inf)),
    "a score": _set(3, "p", 0.123),
    "a control": _set(3, "x", 7.0),
    "a label": _set(950, "g", 1.0 - float(FRAME["g"][950])),
    "a label that is new": _set(3, "g", 1.0),
    "a label that is gone": _set(950, "g", math.nan),
    "an outcome of a labelled row": _set(950, "y", 0.0),
    "a score that becomes impossible": _set(3, "p", 7.0),
    "a value that goes missing": _set(3, "x", math.nan),
    "a row fewer": lambda frame: frame.drop(index=3),
    "a row more": lambda frame: pd.concat([frame, frame.tail(1)]),
    "one row in place of another": lambda frame: pd.concat([frame.drop(index=3), frame.iloc[[4]]]),
    "two rows that swap outcomes": lambda frame: frame.assign(
        y=frame["y"].iloc[[1, 0, *range(2, len(frame))]].to_numpy()
    ),
    "no row": lambda frame: frame.iloc[:0],
}


@pytest.fixture
def between_passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Do something when the first pass is over and the second has not begun."""

    def arrange(action: Callable[[], object]) -> None:
        def act_and_fit(*arguments: Any, **options: Any) -> Any:
            action()
            return fit_nuisances(*arguments, **options)

        monkeypatch.setattr("softlabel.influence.analysis.fit_nuisances", act_and_fit)

    return arrange


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    ".parquet": lambda frame, path: frame.to_parquet(path, row_group_size=300),
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_replaced_between_the_passes_is_noticed(
    ending: str, change: str, tmp_path: Path, between_passes: Callable[[Callable[[], object]], None]
) -> None:
    path, other = tmp_path / f"data{ending}", tmp_path / f"other{ending}"
    WRITERS[ending](FRAME, path)
    WRITERS[ending](CHANGES[change](FRAME), other)
    between_passes(lambda: other.replace(path))
    with pytest.raises(SourceChanged) as caught:
        diagnose(path, **ROLES, missing="drop")
    message = str(caught.value)
    assert "every reading" in message
    assert "1000-" in message, "it says how many rows there were"
    assert "copy them first" in message
    assert isinstance(caught.value, SourceError)
    assert not other.exists()


@pytest.mark.parametrize("ending", WRITERS)
def test_rows_that_only_move_are_the_same_rows(
    ending: str, tmp_path: Path, between_passes: Callable[[Callable[[], object]], None]
) -> None:
    path, other = tmp_path / f"data{ending}", tmp_path / f"other{ending}"
    WRITERS[ending](FRAME, path)
    WRITERS[ending](FRAME.sample(frac=1, random_state=1), other)
    before = diagnose(path, **ROLES)
    between_passes(lambda: other.replace(path))
    after = diagnose(path, **ROLES)
    assert not other.exists()
    assert after.sample.fingerprint == before.sample.fingerprint
    assert after.estimate("soft").std_error == pytest.approx(before.estimate("soft").std_error, rel=1e-10)


def test_a_file_that_is_gone_by_the_second_pass_is_a_source_error(
    tmp_path: Path, between_passes: Callable[[Callable[[], object]], None]
) -> None:
    path = tmp_path / "data.parquet"
    FRAME.to_parquet(path)
    between_passes(path.unlink)
    with pytest.raises(SourceError, match=r"data\.parquet"):
        diagnose(path, **ROLES)


def test_ids_that_change_between_the_passes_are_noticed(
    tmp_path: Path, between_passes: Callable[[Callable[[], object]], None]
) -> None:
    path, other = tmp_path / "data.parquet", tmp_path / "other.parquet"
    FRAME.to_parquet(path)
    FRAME.assign(id=FRAME["id"].to_numpy()[::-1]).to_parquet(other)
    between_passes(lambda: other.replace(path))
    with pytest.raises(SourceChanged):
        diagnose(path, **ROLES, id="id")


@given(
    which=st.integers(0, 999),
    column=st.sampled_from(["y", "p", "x"]),
    value=st.floats(0, 1),
    cut=st.integers(1, 999),
    shuffled=st.booleans(),
)
def test_any_change_is_noticed_and_no_order_is(which: int, column: str, value: float, cut: int, shuffled: bool) -> None:
    second = _set(which, column, value)(FRAME)
    changed = float(FRAME[column][which]) != value
    if shuffled:
        second = second.sample(frac=1, random_state=cut)
    readings = iter([[FRAME], [second[:cut], second[cut:]]])

    def run() -> Analysis:
        study = Study("y", "g", "p", ("x",))
        return analyse(
            lambda: [pa.RecordBatch.from_pandas(part, preserve_index=False) for part in next(readings)],
            lambda batch: study.read(batch, "mixed"),
            Design(LinearBasis(("x",)), Partition.of((0.5,), ()), 5, 0),
            FoldRule(5, "values"),
            verify=study.verify,
        )

    if changed:
        with pytest.raises(SourceChanged):
            run()
    else:
        assert run().n == 900


class _Moody:
    """A table that exports other rows each time it is asked."""

    def __init__(self) -> None:
        self.exports = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.exports += 1
        return pa.table(_frame(seed=self.exports)).__arrow_c_stream__(requested_schema)


def test_a_table_of_unknown_make_is_read_once_so_it_cannot_change() -> None:
    moody = _Moody()
    d = diagnose(moody, **ROLES)
    assert moody.exports == 1
    assert d.estimates == diagnose(_frame(seed=1), **ROLES).estimates


def test_the_fingerprint_tells_rows_apart_and_not_their_order() -> None:
    def fingerprint(frame: pd.DataFrame) -> str:
        return diagnose(frame, **ROLES, missing="drop").sample.fingerprint

    # Left out: what is an error in a first reading, and a second way to lose row 3.
    left_out = {"a score that becomes impossible", "no row", "a value that goes missing"}
    prints = [fingerprint(change(FRAME)) for name, change in CHANGES.items() if name not in left_out]
    assert len({*prints, fingerprint(FRAME)}) == len(CHANGES) - len(left_out) + 1
    assert fingerprint(FRAME[::-1]) == fingerprint(FRAME)


# --------------------------------------------------------------------------------------- rows that repeat


def _discrete(n: int, kinds: int, seed: int = 8) -> dict[str, Any]:
    """About `kinds` distinct rows; the id tells copies apart."""
    rng = np.random.default_rng(seed)
    base = _frame(kinds, 0, seed)
    rows = rng.integers(0, kinds, n)
    data: dict[str, Any] = {name: base[name].to_numpy()[rows] for name in ("y", "p", "x")}
    return {**data, "g": np.full(n, np.nan), "id": np.arange(n)}


def _exact_effective(data: dict[str, Any]) -> float:
    rows = np.column_stack([data[name] for name in ("y", "p", "x")])
    counts = np.unique(rows, axis=0, return_counts=True)[1]
    return float(counts.sum() ** 2 / np.square(counts).sum())


def test_rows_that_repeat_without_an_id_take_nuisances_in_sample_and_say_so() -> None:
    data = _discrete(20_000, 400)
    d = diagnose(data, **ROLES)
    # The sketch has a standard deviation of 0.6%.
    assert d.sample.n_effective == pytest.approx(_exact_effective(data), rel=0.02)
    assert (d.sample.folds, d.sample.folds_by) == (None, "in sample")
    (note,) = [note for note in d.notes if note.code == "folds.in_sample"]
    assert "id=" in note.message
    (repeats,) = [note for note in d.notes if note.code == "rows.repeat"]
    assert "20,000 unlabelled rows hold about" in repeats.message
    plain = diagnose(data, **ROLES, folds=None)
    # The same sums, added fold by fold.
    assert d.estimate("soft").estimate == pytest.approx(plain.estimate("soft").estimate, rel=1e-10)
    assert d.estimate("soft").std_error == pytest.approx(plain.estimate("soft").std_error, rel=1e-10)
    assert "nuisances fitted in sample" in d.summary()
    # Asked for, so not worth a note.
    assert [note for note in plain.notes if note.code == "folds.in_sample"] == []


def test_rows_that_repeat_with_an_id_are_cross_fitted() -> None:
    data = _discrete(20_000, 400)
    d = diagnose(data, **ROLES, id="id")
    assert (d.sample.folds, d.sample.folds_by) == (5, "id")
    assert [note for note in d.notes if note.code.startswith("folds")] == []
    assert d.estimate("soft").estimate != diagnose(data, **ROLES).estimate("soft").estimate
    assert "5 folds by id" in d.summary()


@pytest.mark.parametrize("n", [60, 300, 4_999])
def test_a_small_table_of_distinct_rows_is_cross_fitted(n: int) -> None:
    d = diagnose(_frame(n, 50), **ROLES)
    assert (d.sample.folds, d.sample.folds_by) == (5, "values")
    assert d.sample.n_effective == pytest.approx(n, rel=0.05)


def test_a_large_table_that_repeats_a_little_is_cross_fitted() -> None:
    data = _discrete(20_000, 10_000)
    exact = _exact_effective(data)
    assert 6_000 < exact < 8_000
    d = diagnose(data, **ROLES)
    assert d.sample.n_effective == pytest.approx(exact, rel=0.02)
    assert d.sample.folds == 5


# ------------------------------------------------------------------------------------ nothing goes uncounted


@given(
    holes=st.lists(st.tuples(st.integers(0, 999), st.sampled_from(["y", "p", "x", "g"])), max_size=30),
    chunk=st.integers(50, 1000),
)
def test_every_row_is_used_or_counted_as_dropped(holes: list[tuple[int, str]], chunk: int) -> None:
    frame = FRAME.copy()
    for row, column in holes:
        frame.loc[row, column] = math.nan
    d = diagnose(pa.Table.from_batches(pa.table(frame).to_batches(chunk)), **ROLES, missing="drop")
    s = d.sample
    known = frame["g"].notna()
    # Supervised does without a score.
    frame.loc[known, "p"] = frame.loc[known, "p"].fillna(0.5)
    complete = frame[["y", "p", "x"]].notna().all(axis=1)
    assert s.rows == len(frame) == s.used + s.dropped
    assert (s.dropped, s.unlabelled, s.labelled) == (
        int((~complete).sum()),
        int((complete & ~known).sum()),
        int((complete & known).sum()),
    )
    ones = int((frame["g"][complete] == 1).sum())
    assert s.labelled_by_class == (s.labelled - ones, ones)
    missing = {name: int(frame[name].isna().sum()) for name in ("y", "p", "x")}
    assert {column.name: column.value for column in s.missing} == {k: v for k, v in missing.items() if v}


def test_unlabelled_rows_that_were_all_dropped_are_not_called_labelled() -> None:
    frame = FRAME.assign(p=FRAME["p"].where(FRAME["g"].notna()))
    with pytest.raises(DataError, match="900"):
        diagnose(frame, **ROLES, missing="drop")
