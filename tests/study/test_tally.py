"""Tally: counts that add up, however the rows are cut, and against counting one row at a time."""

import math
from collections import Counter
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel import DataError
from softlabel.study import Batch, Part, Study, Tally
from softlabel.study.verify import group_copies, verify

STUDY = Study("y", "g", "p", ("x",))
AUDITED = Study("y", "g", "p", ("x",), audit="a")

_numbers = st.sampled_from([0.0, 0.25, 1.0, 1.5, -3.0, 1e80, math.nan, math.inf, -math.inf, None])
_rows = st.lists(st.tuples(_numbers, _numbers, _numbers, st.sampled_from([None, math.nan, 0.0, 1.0, 2.0])))


def _batch(rows: list[tuple[float | None, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [[]] * 4
    arrays = [pa.array(list(column), pa.float64(), from_pandas=False) for column in columns]
    return pa.record_batch(arrays, names=["y", "p", "x", "g"])


def _tally(rows: list[tuple[float | None, ...]], part: Part = "mixed") -> Tally:
    return STUDY.read(_batch(rows), part).tally


def _absent(value: float | None) -> bool:
    return value is None or math.isnan(value)


@given(_rows, st.sampled_from(["mixed", "labelled"]))
def test_counts_are_those_of_counting_row_by_row(rows: list[tuple[float | None, ...]], part: Part) -> None:
    counts: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    infinite: Counter[str] = Counter()
    for y, p, x, g in rows:
        named = {"y": y, "p": p, "x": x}
        # A labelled row may lack its score.
        absent = [name for name, value in named.items() if _absent(value) and (name != "p" or _absent(g))]
        boundless = [name for name, value in named.items() if value is not None and math.isinf(value)]
        if part == "labelled" and _absent(g):
            absent.append("g")
        missing.update(absent)
        infinite.update(boundless)
        outside = p is not None and not 0 <= p <= 1 and not math.isnan(p)
        counts["dropped"] += bool(absent or boundless)
        counts["outside"] += outside
        counts["not_binary"] += g == 2
        large = 1e80 in (y, p, x)
        if not (absent or boundless or outside or large or g == 2):
            counts["unlabelled" if _absent(g) else "labelled"] += 1
            counts["positive"] += g == 1
    tally = _tally(rows, part)
    assert tally.rows == len(rows)
    for name in ("dropped", "outside", "not_binary", "unlabelled", "labelled", "positive"):
        assert getattr(tally, name) == counts[name], name
    assert dict(tally.missing) == dict(missing)
    assert dict(tally.infinite) == dict(infinite)
    finite = {
        name: [value for value in column if value is not None and math.isfinite(value)]
        for name, column in zip(["y", "p", "x"], zip(*rows, strict=True), strict=False)
    }
    assert dict(tally.extremes) == {name: (min(v), max(v)) for name, v in finite.items() if v}
    # What read gives back is what it counted.
    read = STUDY.read(_batch(rows), part)
    assert (len(read.unlabelled), len(read.labelled)) == (tally.unlabelled, tally.labelled)
    for columns in (read.unlabelled, read.labelled):
        assert np.isfinite(columns.outcome).all()
        assert np.isfinite(columns.controls).all()
        scored = columns.score[:, ~np.isnan(columns.score[0])]
        assert ((scored >= 0) & (scored <= 1)).all()
    assert np.isfinite(read.unlabelled.score).all()
    assert np.isnan(read.unlabelled.group).all()
    assert np.isin(read.labelled.group, [0, 1]).all()


@given(_rows, st.lists(st.integers(0, 40), max_size=4))
def test_pieces_merge_to_the_whole(rows: list[tuple[float | None, ...]], cuts: list[int]) -> None:
    ends = sorted(min(cut, len(rows)) for cut in cuts)
    pieces = [rows[a:b] for a, b in zip([0, *ends], [*ends, len(rows)], strict=True)]
    assert reduce(Tally.merge, map(_tally, pieces), Tally()) == _tally(rows)


@given(_rows, _rows, _rows)
def test_tallies_are_a_commutative_monoid(
    a: list[tuple[float | None, ...]], b: list[tuple[float | None, ...]], c: list[tuple[float | None, ...]]
) -> None:
    x, y, z = map(_tally, (a, b, c))
    assert x.merge(Tally()) == Tally().merge(x) == x
    assert x.merge(y).merge(z) == x.merge(y.merge(z))
    assert x.merge(y) == y.merge(x)


@given(_rows)
def test_a_pass_without_an_error_has_counted_every_row(rows: list[tuple[float | None, ...]]) -> None:
    tally = _tally(rows)
    try:
        verify(tally, score="p", group="g", missing="drop")
    except DataError:
        return
    assert tally.rows == tally.unlabelled + tally.labelled + tally.dropped


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "an empty table"),
        ([(math.inf, 0.5, 0.0, None), (math.nan, 7.0, 1e80, 2.0)], "infinite values in 'y'"),
        ([(math.nan, 7.0, 1e80, 2.0)], "null or NaN in 'y'"),
        ([(0.0, 7.0, 1e80, 2.0)], "the group 'g'"),
        ([(0.0, 7.0, 1e80, None)], "the score 'p'"),
        ([(0.0, 0.5, 1e80, None)], "'x' to have a size"),
    ],
)
def test_the_gravest_error_is_told(rows: list[tuple[float | None, ...]], told: str) -> None:
    with pytest.raises(DataError) as caught:
        verify(_tally(rows), score="p", group="g", missing="raise")
    assert told in str(caught.value)


@given(st.lists(st.tuples(st.sampled_from([None, 0.0, 1.0]), st.booleans()), min_size=1), st.integers(0, 9))
def test_a_control_that_is_the_group_with_its_nulls_is_a_copy(rows: list[tuple[float | None, bool]], cut: int) -> None:
    spoilt: list[tuple[float | None, ...]] = [
        (0.0, 0.5, (0.0 if g is None else 1 - g) if other else g, g) for g, other in rows
    ]
    tally = _tally(spoilt[:cut]).merge(_tally(spoilt[cut:]))
    groups = {g for g, _ in rows}
    copy = not any(other for _, other in rows) and None in groups and len(groups) > 1
    assert group_copies(tally, "g") == (["x"] if copy else [])


# -------------------------------------------------------------------------------------- who audits

_audits = st.lists(
    st.tuples(st.sampled_from([None, 0.0, 1.0]), st.sampled_from([None, math.nan, 0.0, 1.0, 2.0, -1.0, math.inf]))
)


def _audited(rows: list[tuple[float | None, float | None]]) -> Batch:
    given: list[tuple[float | None, ...]] = [(0.5, 0.5, float(i), g) for i, (g, _) in enumerate(rows)]
    seen = pa.array([a for _, a in rows], pa.float64(), from_pandas=False)
    return AUDITED.read(_batch(given).append_column("a", seen), "mixed")


@given(_audits, st.integers(0, 20))
def test_audit_rows_are_labelled_ones_that_say_one(rows: list[tuple[float | None, float | None]], cut: int) -> None:
    read = _audited(rows)
    assert read.labelled.audit is not None
    assert read.labelled.audit.tolist() == [a == 1 for g, a in rows if g is not None]
    assert read.unlabelled.audit is not None
    assert not read.unlabelled.audit.any()
    wrong = [a for g, a in rows if g is not None and a in (2.0, -1.0, math.inf)]
    tally = read.tally
    assert (tally.not_audit, tally.audit_example) == (len(wrong), min(wrong, default=None))
    # What the column says leaves no row out, and its gaps are no missing values.
    assert (tally.dropped, dict(tally.missing), dict(tally.infinite)) == (0, {}, {})
    both = _audited(rows[:cut]).tally.merge(_audited(rows[cut:]).tally)
    assert (both.not_audit, both.audit_example) == (tally.not_audit, tally.audit_example)
    if wrong:
        with pytest.raises(DataError, match=rf"'a' to be 0, 1 or empty.* {len(wrong)} of {len(rows)} rows"):
            AUDITED.verify(tally)


def test_a_table_of_unlabelled_rows_may_lack_who_audits() -> None:
    assert AUDITED.needed("unlabelled", ["y", "p", "x"]) == ("y", "p", "x")
    for part in ("mixed", "labelled"):
        assert "a" in AUDITED.needed(part, ["y", "p", "x", "g"])
    batch = _batch([(0.5, 0.5, 1.0, None)]).drop_columns(["g"])
    read = AUDITED.read(batch, "unlabelled").unlabelled
    assert read.audit is not None
    assert read.audit.tolist() == [False]
