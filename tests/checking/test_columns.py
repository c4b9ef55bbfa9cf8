"""What a column holds, what it could be, and the guess at the roles."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel import check
from softlabel.checking.columns import MANY, Seen, roles_of, see

RNG = np.random.default_rng(3)
N = 3_000


@pytest.mark.parametrize(
    ("values", "roles"),
    [
        (RNG.random(N), "score, outcome, control"),
        (RNG.normal(size=N), "outcome, control"),
        (pa.array([None, 0.0, 1.0] * 1_000), "group, control"),
        (pa.array([None, False, True] * 1_000), "group, control"),
        (np.arange(N) % 2, "outcome, control"),
        (np.arange(N), "outcome, control, id, cluster"),
        ([f"ward {i % 9}" for i in range(N)], "control, cluster"),
        ([f"person {i}" for i in range(N)], "id, cluster"),
        (pa.array([f"v{i % 9}" for i in range(N)]).dictionary_encode(), "control, cluster"),
        (np.full(N, 7.0), "nothing: it is constant"),
        (pa.nulls(N), "nothing: it is empty"),
        (np.where(np.arange(N) == 5, np.inf, RNG.random(N)), "nothing: infinite values"),
        (pa.array(np.arange(N), pa.int32()).cast(pa.date32()), "nothing: not numbers or text"),
        (pa.array([[1, 2]] * N), "nothing: not numbers or text"),
    ],
)
def test_what_a_column_could_be(values: Any, roles: str) -> None:
    (row,) = check({"column": values}).columns
    assert row.role == roles


@pytest.mark.parametrize(("distinct", "known"), [(3, 3), (MANY, MANY), (MANY + 1, None), (N, None)])
@pytest.mark.parametrize("text", [False, True])
def test_distinct_values_are_counted_up_to_a_bound(distinct: int, known: int | None, text: bool) -> None:
    values: Any = np.arange(N) % distinct
    column = pa.array([f"v{v}" if text else float(v) for v in values])
    (row,) = check({"column": column}).columns
    assert row.distinct == known


def test_missing_values_are_no_values_whichever_way_they_are_written() -> None:
    seen = see(pa.array([1.0, None, float("nan"), 2.0, 1.0]))
    assert (seen.rows, seen.missing, seen.distinct) == (5, 2, frozenset({1.0, 2.0}))
    assert see(pa.array(["a", None, "b"])).missing == 1


@given(st.lists(st.one_of(st.none(), st.floats(allow_infinity=True), st.integers(-3, 3).map(float)), max_size=30))
def test_what_is_seen_does_not_depend_on_how_rows_are_cut(values: list[float | None]) -> None:
    whole = see(pa.array(values, pa.float64()))
    for cut in range(len(values) + 1):
        parts = [see(pa.array(part, pa.float64())) for part in (values[:cut], values[cut:])]
        assert parts[0].merge(parts[1]) == whole
    assert whole.merge(Seen()) == Seen().merge(whole) == whole


def test_a_score_of_every_value_missing_could_be_nothing() -> None:
    assert roles_of(pa.float64(), see(pa.array([None, None], pa.float64()))) == ()


def test_the_guess_takes_names_and_values_together() -> None:
    g = np.where(np.arange(N) < 100, np.arange(N) % 2, np.nan)
    data = {
        "patient_id": np.arange(N),
        "frailty": RNG.random(N),
        "stay": RNG.normal(size=N),
        "sick": g,
        "p_sick": RNG.random(N),
        "region": ["north", "south"] * (N // 2),
        "note": [f"note {i}" for i in range(N)],
    }
    c = check(data)
    assert c.ready
    assert " ".join(c.command) == (
        "softlabel.check(data, outcome='stay', score='p_sick', group='sick', controls=['frailty', 'region'])"
    )


def test_without_any_score_it_is_not_ready_and_says_so() -> None:
    c = check({"y": RNG.normal(size=N), "x": 5 + RNG.normal(size=N)})
    assert not c.ready
    assert "No column could be a score" in c.sentence
    assert "score='SCORE'" in " ".join(c.command)


def test_no_rows_and_no_columns_are_said_and_not_raised() -> None:
    for data in ({"y": np.empty(0), "p": np.empty(0)}, {}):
        c = check(data)
        assert (c.ready, c.rows) == (False, 0)
    assert [p.code for p in check({"y": np.empty(0)}).problems] == ["rows.none"]


def test_columns_that_cannot_be_read_are_a_problem_each_and_the_others_are_described() -> None:
    data = {"y": RNG.normal(size=4), "odd": [1, "a", {}, None]}
    c = check(data)
    assert c.columns["name"] == ["y"]
    assert [p.code for p in c.problems] == ["column.unreadable"]
    assert "'odd'" in c.problems[0].message
