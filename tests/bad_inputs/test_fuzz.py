"""Random tables and arrays: a finite answer or a SoftlabelError that says three things, never a traceback or NaN.

Set SOFTLABEL_FUZZ to a number of examples for each test to search at random; unset, the same few hundred run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import softlabel as sl
from softlabel.diagnostics import AttenuationReport
from tests.bad_inputs.answers import check_diagnosis, check_error, check_record, odd_numbers
from tests.bad_inputs.frames import NAMES, NEARLY, Table, any_column, nearly_valid_tables, wild_tables

_ASKED = int(os.environ.get("SOFTLABEL_FUZZ", "0"))


def _examples(count: int) -> settings:
    """So many examples, or as many as were asked for, and then others each time."""
    return settings(
        max_examples=_ASKED or count,
        derandomize=not _ASKED,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def _optional(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=strategies)


THRESHOLDS = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, 0.9, 1e-9, 1 - 1e-9]), st.floats(0, 1, exclude_max=True)),
    max_size=4,
    unique=True,
)
CONFIDENT = st.lists(st.floats(0.5, 1, exclude_max=True), max_size=3, unique=True)
FORMULAS = ("x1", "x1 + x2", "x1 * x2", "C(x2) + x1", "ns(x1, 4)", "bs(x1) + x3", "x1:x2 + x3", "lin(x1)", "1")

ROLES = st.one_of(
    st.fixed_dictionaries({"controls": st.lists(st.sampled_from(["x1", "x2", "x3"]), unique=True)}),
    st.fixed_dictionaries(
        {
            "controls": st.lists(st.sampled_from(["x1", "x2", "x3"]), unique=True),
            "basis": st.sampled_from(
                [
                    "linear",
                    "linear",
                    "spline",
                    "bspline",
                    sl.Basis(ridge=1.0),
                    sl.Basis(kind="linear", ridge="cv"),
                    sl.Basis(knots=3, ridge=0),
                ]
            ),
        }
    ),
    st.fixed_dictionaries({"controls": st.sampled_from(FORMULAS)}),
)

OPTIONS = _optional(
    thresholds=THRESHOLDS,
    confident=CONFIDENT,
    folds=st.sampled_from([None, 2, 3, 10, 100]),
    seed=st.integers(0, 2**64),
    covariance=st.sampled_from(["HC0", "HC1", "HC2", "HC3"]),
    missing=st.sampled_from(["raise", "drop", "drop"]),
    level=st.sampled_from([0.5, 0.9, 0.95, 0.999999, 1 - 2**-53]),
    kappa_tolerance=st.floats(0.01, 0.99),
    rule=st.sampled_from(["guarded", "guarded", "paper"]),
    features=st.sampled_from([None, [], ["x1"], ["x1", "x2", "x3", "x4"]]),
)

DESIGNS = st.one_of(
    st.just({}),
    st.just({}),
    st.just({"weights": "w"}),
    st.just({"weights": "w", "weight_type": "frequency"}),
    st.just({"cluster": "c"}),
    st.just({"cluster": "c", "weights": "w"}),
    st.just({"cluster": "c", "weights": "w", "weight_type": "frequency"}),
    st.just({"id": "id"}),
    st.just({"audit": "a"}),
    st.just({"audit": "a", "cluster": "c", "weights": "w", "weight_type": "frequency"}),
    st.just({"trust": "nothing"}),
    st.just({"trust": "exclusion"}),
    st.just({"trust": "calibration", "weights": "w"}),
)

WRONG = _optional(
    outcome=st.sampled_from(NAMES),
    score=st.sampled_from(NAMES),
    group=st.sampled_from([None, *NAMES, "q"]),
    cluster=st.sampled_from([None, *NAMES]),
    id=st.sampled_from([None, *NAMES]),
    weights=st.sampled_from([None, *NAMES]),
    basis=st.sampled_from([None, "cubic", 3, sl.Basis(categories=("x1",)), sl.Basis(interactions=(("x1", "x2"),))]),
    folds=st.sampled_from([None, 0, 1, 2.0, "5", 10**9]),
    thresholds=st.sampled_from([0.5, [0.5, 0.5], [1.0], [float("nan")], ["a"], [10**400], np.array([[0.5]])]),
    level=st.sampled_from([95, 0, float("nan"), "0.95", None]),
    seed=st.sampled_from([-1, 0.5, None]),
    missing=st.sampled_from(["keep", None]),
    covariance=st.sampled_from(["HC9", None]),
    weight_type=st.sampled_from(["frequency", "counts", None]),
    controls=st.sampled_from([["x1", "x1"], "x1 +", "x9", "", 3, ["y"], "C(x1):C(x2)", [["x1"]]]),
    labelled=st.sampled_from([3, "nowhere.csv", {"y": [1.0]}]),
    audit=st.sampled_from([None, *NAMES, "q", 3]),
    features=st.sampled_from([None, [], "x1", 3, [3]]),
    trust=st.sampled_from(["all", 3, "nothing"]),
    rule=st.sampled_from(["gaurded", None, "paper"]),
)


def _answer(call: Callable[[], Any], check: Callable[[Any], None]) -> None:
    try:
        answer = call()
    except sl.SoftlabelError as error:
        check_error(error)
        event(type(error).__name__)
        return
    check(answer)
    event("answered")


def _diagnosed(table: Table, options: dict[str, Any], labelled: bool) -> None:
    data = table.make()
    asked = {"outcome": "y", "score": "p", "group": "g", "threads": 1, **options}
    if labelled and asked["group"] == "g":
        asked["labelled"] = data
        hidden = data.clone() if hasattr(data, "clone") else dict(data) if isinstance(data, dict) else data
        data = {name: values for name, values in hidden.items() if name != "g"} if isinstance(hidden, dict) else hidden
    _answer(lambda: sl.diagnose(data, **asked), check_diagnosis)


@_examples(600)
@given(wild_tables(), ROLES, OPTIONS, DESIGNS, _optional(labelled=st.booleans()))
def test_any_table(
    table: Table, roles: dict[str, Any], options: dict[str, Any], design: dict[str, Any], other: dict[str, bool]
) -> None:
    _diagnosed(table, {**roles, **options, **design}, other.get("labelled", False))


@_examples(1000)
@given(nearly_valid_tables(), ROLES, OPTIONS, DESIGNS)
def test_a_nearly_valid_table(
    table: Table, roles: dict[str, Any], options: dict[str, Any], design: dict[str, Any]
) -> None:
    _diagnosed(table, {"missing": "drop", **roles, **options, **design}, labelled=False)


@_examples(400)
@given(nearly_valid_tables(), ROLES, DESIGNS, WRONG)
def test_wrong_options(table: Table, roles: dict[str, Any], design: dict[str, Any], wrong: dict[str, Any]) -> None:
    _diagnosed(table, {**roles, **design, **wrong}, labelled=False)


def _array(role: str) -> st.SearchStrategy[Any]:
    return st.one_of(NEARLY[role], NEARLY[role], NEARLY[role], any_column())


@_examples(1000)
@given(
    st.integers(0, 120),
    st.integers(0, 2**20),
    st.fixed_dictionaries({role: _array(role) for role in ("y", "p", "g", "x1", "x2", "w", "c")}),
    st.sampled_from(["soft", "hard", "confident", "attenuation", "supervised", "supervised", "clustered"]),
    st.sampled_from(["orthogonal", "moment", "deattenuated", "other"]),
    st.one_of(st.none(), st.sampled_from([2, 5, 100, 1]), st.just("array")),
    st.floats(0, 1),
    st.sampled_from([0.5, 0.95, 1 - 2**-53]),
    st.sampled_from(["HC0", "HC1", "HC2", "HC3"]),
)
def test_arrays(
    n: int,
    seed: int,
    columns: dict[str, Any],
    name: str,
    form: str,
    folds: Any,
    threshold: float,
    level: float,
    covariance: Any,
) -> None:
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for role, column in columns.items():
        made[role] = column.make(rng, n, made)
    both = [made["x1"], made["x2"]]
    flat = all(isinstance(x, np.ndarray) and x.shape == (n,) and x.dtype.kind in "biuf" for x in both)
    x = np.column_stack(both) if flat else made["x1"]
    dealt: Any = np.arange(n) % 3 if folds == "array" else folds
    plain: dict[str, Any] = {"folds": dealt, "level": level, "seed": seed}
    y, p, g = made["y"], made["p"], made["g"]
    if isinstance(g, np.ndarray) and g.dtype.kind == "f":
        g = np.nan_to_num(g, posinf=1.0, neginf=0.0)
    calls: dict[str, Callable[[], Any]] = {
        "soft": lambda: sl.soft(y, p, x, form=form, **plain),  # type: ignore[arg-type]
        "hard": lambda: sl.hard(y, p, x, threshold, form=form, **plain),  # type: ignore[arg-type]
        "confident": lambda: sl.confident(y, p, x, max(threshold, 0.5), **plain),
        "attenuation": lambda: sl.attenuation(p, x, [threshold], confident=[max(threshold, 0.5)], **plain),
        "supervised": lambda: sl.supervised(y, g, x, weights=made["w"], covariance=covariance, level=level),
        "clustered": lambda: sl.supervised(y, g, x, cluster=made["c"], covariance=covariance, level=level),
    }
    _answer(calls[name], _check_array_answer)


def _check_array_answer(answer: Any) -> None:
    assert list(odd_numbers(answer)) == []
    if not isinstance(answer, AttenuationReport):
        check_record(answer)
        return
    check_record(answer.v_star)
    for row in (*answer.kappa, *answer.kappa_confident):
        check_record(row, "kappa")
