"""What check says beforehand is what diagnose says afterwards: the same refusals, the same reasons."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from softlabel import Checkup, DataError, Diagnosis, InputError, check, diagnose

N, LABELLED = 3_000, 200
ROLES: dict[str, Any] = {"outcome": "y", "score": "p", "group": "g", "controls": ["age", "sex"]}
Columns = dict[str, Any]


def _columns(n: int = N, labelled: int = LABELLED) -> Columns:
    """Return rows as columns, the first ones labelled."""
    rng = np.random.default_rng(5)
    p = rng.beta(0.7, 0.9, n)
    g = (rng.random(n) < p).astype(np.float64)
    age, sex = rng.normal(50, 9, n), rng.choice(["f", "m"], n)
    y = g + age / 10 + (sex == "f") + rng.normal(size=n)
    g[labelled:] = np.nan
    ward, person = np.arange(n) % 40, np.arange(n)
    return {"y": y, "g": g, "p": p, "age": age, "sex": sex, "ward": ward, "person": person, "w": rng.integers(1, 4, n)}


def _some(values: Any, at: Any, new: Any) -> Any:
    changed = np.array(values, dtype=np.float64)
    changed[at] = new
    return changed


# ------------------------------------------------------------------------------------ refusals

REFUSED: dict[str, tuple[Callable[[Columns], Columns], dict[str, Any]]] = {
    "percentage": (lambda c: {"p": 100 * c["p"]}, {}),
    "logit": (lambda c: {"p": np.log(c["p"] / (1 - c["p"]))}, {}),
    "rounding": (lambda c: {"p": _some(c["p"], 0, 1.0000001)}, {}),
    "group of 1 and 2": (lambda c: {"g": c["g"] + 1}, {}),
    "missing control": (lambda c: {"age": _some(c["age"], [3, 500], np.nan)}, {}),
    "missing twice": (lambda c: {"age": _some(c["age"], 3, np.nan), "y": _some(c["y"], 9, np.nan)}, {}),
    "missing cluster": (lambda c: {"ward": _some(c["ward"], 7, np.nan)}, {"cluster": "ward"}),
    "missing id": (lambda c: {"person": _some(c["person"], 7, np.nan)}, {"id": "person"}),
    "all missing": (lambda _: {"age": np.full(N, np.nan)}, {}),
    "infinite": (lambda c: {"y": _some(c["y"], 3, np.inf)}, {}),
    "too large": (lambda c: {"age": _some(c["age"], 3, 1e90)}, {}),
    "negative weight": (lambda c: {"w": _some(c["w"], 3, -1)}, {"weights": "w"}),
    "half a copy": (lambda c: {"w": _some(c["w"], 3, 1.5)}, {"weights": "w", "weight_type": "frequency"}),
    "no weight": (lambda _: {"w": np.zeros(N)}, {"weights": "w"}),
    "copy of the score": (lambda c: {"age": c["p"]}, {}),
    "copy of the group": (lambda c: {"age": c["g"]}, {}),
    "copy of the group, dropped": (lambda c: {"age": c["g"]}, {"missing": "drop"}),
    "no weight without a label": (lambda c: {"w": np.isfinite(c["g"])}, {"weights": "w"}),
    "odds": (lambda c: {"p": c["p"] / (1 - np.minimum(c["p"], 0.9))}, {}),
    "levels of a column of numbers": (lambda c: {"sex": np.arange(len(c["y"]))}, {"controls": "age + C(sex)"}),
    "copy of the outcome": (lambda c: {"age": c["y"]}, {}),
    "every row labelled": (lambda c: {"g": (c["p"] > 0.5).astype(float)}, {}),
    "no rows": (lambda c: {name: values[:0] for name, values in c.items()}, {}),
    "too many levels": (lambda c: {"sex": [f"v{i % 300}" for i in range(len(c["y"]))]}, {}),
    "levels that are numbers": (lambda c: {"sex": [str(i) for i in range(len(c["y"]))]}, {}),
    "too many columns": (
        lambda c: {"sex": [f"v{i % 150}" for i in range(len(c["y"]))]},
        {"controls": "C(sex) * ns(age)"},
    ),
    "few clusters": (lambda c: {"ward": c["ward"] % 3}, {"cluster": "ward"}),
    "one id": (lambda _: {"person": np.zeros(N)}, {"id": "person"}),
    "audit of other values": (lambda c: {"ward": c["ward"] % 3}, {"audit": "ward"}),
    "audit of texts": (lambda _: {}, {"audit": "sex", "controls": ["age"]}),
    "text outcome": (lambda c: {"y": [str(v) for v in c["y"]]}, {}),
    "dates": (lambda c: {"age": pa.array(np.arange(len(c["y"])), pa.int32()).cast(pa.date32())}, {}),
    "dates for clusters": (
        lambda c: {"ward": pa.array(np.arange(len(c["y"])), pa.int32()).cast(pa.date32())},
        {"cluster": "ward"},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_diagnose_refuses_is_a_problem_in_the_same_words(name: str) -> None:
    change, options = REFUSED[name]
    columns = _columns()
    data = {**columns, **change(columns)}
    with pytest.raises((DataError, InputError)) as refused:
        diagnose(data, **{**ROLES, **options})
    checkup = check(data, **{**ROLES, **options})
    said = [f"{problem.message}." for problem in checkup.problems]
    assert str(refused.value) in said
    assert not checkup.ready
    assert len(said) == len(set(said))


def test_labels_in_both_tables_are_a_problem_in_the_same_words() -> None:
    columns = _columns()
    labelled = {name: values[:LABELLED] for name, values in columns.items()}
    with pytest.raises(DataError) as refused:
        diagnose(columns, **ROLES, labelled=labelled)
    checkup = check(columns, **ROLES, labelled=labelled)
    assert [f"{problem.message}." for problem in checkup.problems] == [str(refused.value)]


def test_a_control_of_two_kinds_is_a_problem_in_the_same_words() -> None:
    columns = _columns()
    hidden = {name: values[LABELLED:] for name, values in columns.items() if name != "g"}
    labelled = {**{name: values[:LABELLED] for name, values in columns.items()}, "sex": np.zeros(LABELLED)}
    with pytest.raises(InputError) as refused:
        diagnose(hidden, **ROLES, labelled=labelled)
    checkup = check(hidden, **ROLES, labelled=labelled)
    assert [f"{problem.message}." for problem in checkup.problems] == [str(refused.value)]


def test_every_problem_is_listed_not_only_the_gravest() -> None:
    columns = _columns()
    data = {
        **columns,
        "y": _some(columns["y"], 3, np.inf),
        "p": _some(columns["p"], 700, 1.5),
        "g": _some(columns["g"], 5, 2),
        "age": _some(columns["age"], [3, 4], np.nan),
        "sex": [f"v{i % 300}" for i in range(N)],
        "ward": columns["ward"] % 3,
        "w": _some(columns["w"], 3, -1),
        "when": pa.array(np.arange(N), pa.int32()).cast(pa.date32()),
    }
    checkup = check(data, **{**ROLES, "controls": ["age", "sex", "when"]}, cluster="ward", weights="w")
    assert {problem.code for problem in checkup.problems} == {
        "column.type",
        "values.infinite",
        "values.missing",
        "group.values",
        "score.values",
        "weights.negative",
        "control.levels",
        "cluster.few",
    }


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"outcome": "yy"}, "'yy'"),
        ({"outcome": "p"}, "one role"),
        ({"weight_type": "copies"}, "weight_type"),
        ({"missing": "keep"}, "missing"),
        ({"cluster": "g"}, "the group 'g'"),
        ({"cluster": "ward", "id": "person"}, "one column to decide folds"),
        ({"controls": "age + log(age)"}, "log("),
        ({"threads": 0}, "threads=0"),
        ({"progress": "yes"}, "progress='yes'"),
        ({"score": None}, "score=None"),
        ({"outcome": None}, "outcome=None"),
        ({"outcome": None, "score": None}, "group= alone"),
        ({"outcome": None, "score": None, "group": None, "controls": (), "audit": "ward"}, "audit= alone"),
        ({"audit": "ward", "group": None}, "a group with audit="),
        ({"audit": "p"}, "one role"),
        ({"audit": "wart"}, "Did you mean 'ward'?"),
    ],
)
def test_a_wrong_call_is_refused(options: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as refused:
        check(_columns(), **{**ROLES, **options})
    assert part in str(refused.value)


# ------------------------------------------------------------------------------------- reasons


def _reasons_of(diagnosis: Diagnosis) -> dict[tuple[str, float | None], str | None]:
    # An estimate that adapts has a reason for its lack of a standard error beside its number.
    return {
        (row.name, row.threshold): None if row.estimate is not None else row.reason
        for row in diagnosis.estimates
        if row.form != "moment"
    }


def _reasons(checkup: Checkup) -> dict[tuple[str, float | None], str | None]:
    return {(row.name, row.threshold): row.reason for row in checkup.estimators}


ANSWERED: dict[str, tuple[Callable[[Columns], Columns], dict[str, Any]]] = {
    "all is well": (lambda _: {}, {}),
    "formula": (lambda _: {}, {"controls": "ns(age, 4) + C(ward) + age:sex"}),
    "clusters": (lambda _: {}, {"cluster": "ward"}),
    "id": (lambda _: {}, {"id": "person"}),
    "weights": (lambda _: {}, {"weights": "w"}),
    "copies": (lambda _: {}, {"weights": "w", "weight_type": "frequency"}),
    "weight of zero": (lambda c: {"w": _some(c["w"], slice(0, 50), 0)}, {"weights": "w"}),
    "dropped": (lambda c: {"age": _some(c["age"], slice(100, 900), np.nan)}, {"missing": "drop"}),
    "no controls": (lambda _: {}, {"controls": []}),
    "no group": (lambda _: {}, {"group": None}),
    "one class": (lambda c: {"g": np.where(np.isnan(c["g"]), np.nan, 1.0)}, {}),
    "few labels": (lambda c: {"g": _some(c["g"], slice(6, None), np.nan)}, {}),
    "constant score": (lambda _: {"p": np.full(N, 0.7)}, {}),
    "score explained": (lambda c: {"p": np.where(c["sex"] == "f", 0.3, 0.8)}, {}),
    # A formula without splines has no ridge, which would leave a trace of the label.
    "label explained": (lambda c: {"p": np.where(c["sex"] == "f", 0.2, 0.8) + c["p"] / 10}, {"controls": "age + sex"}),
    "low score": (lambda c: {"p": c["p"] / 2}, {}),
    "hard score": (lambda c: {"p": np.round(c["p"])}, {}),
    "few above": (lambda c: {"p": np.where(np.arange(N) < N - 3, c["p"] * 0.7, 0.97)}, {}),
    "constant control": (lambda _: {"age": np.full(N, 3.0)}, {}),
    "repeated rows": (lambda c: {k: np.tile(v[:300], 10) for k, v in c.items()}, {}),
    "one cluster of labels": (lambda c: {"ward": _some(c["ward"], slice(0, LABELLED), 7)}, {"cluster": "ward"}),
    "some audit": (lambda c: {"ward": c["ward"] % 2}, {"audit": "ward"}),
    "audit where some lack a score": (
        lambda c: {"ward": c["ward"] % 2, "p": _some(c["p"], slice(0, 60), np.nan)},
        {"audit": "ward"},
    ),
    "copies that audit": (
        lambda c: {"ward": np.arange(N) < 3, "w": _some(c["w"], slice(0, 3), 4), "g": _some(c["g"], 0, 1 - c["g"][1])},
        {"audit": "ward", "weights": "w", "weight_type": "frequency"},
    ),
    "few audit": (lambda _: {"ward": np.arange(N) < 9}, {"audit": "ward"}),
    "one class audits": (lambda c: {"ward": c["g"] == 1}, {"audit": "ward"}),
    "no score on labelled rows": (lambda c: {"p": _some(c["p"], slice(0, LABELLED), np.nan)}, {}),
    "one cluster audits": (
        lambda c: {"ward": np.where(np.arange(N) < 50, 3, c["ward"]), "w": np.arange(N) < 50},
        {"audit": "w", "cluster": "ward"},
    ),
    "score explained where it audits": (
        lambda c: {"p": np.where(np.arange(N) < LABELLED, 0.5 + 0.01 * (c["age"] - 50), c["p"])},
        {"controls": "age"},
    ),
    "group explained": (lambda c: {"age": np.where(np.isnan(c["g"]), c["age"], 2 * c["g"])}, {"controls": "age"}),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_what_is_possible_is_what_diagnose_computes(name: str) -> None:
    change, options = ANSWERED[name]
    columns = _columns()
    data, asked = {**columns, **change(columns)}, {**ROLES, **options}
    diagnosis, checkup = diagnose(data, **asked), check(data, **asked)
    assert checkup.problems == ()
    assert _reasons(checkup) == _reasons_of(diagnosis)
    _same_counts(checkup, diagnosis)


def _same_counts(checkup: Checkup, diagnosis: Diagnosis) -> None:
    counts, sample = checkup.counts, diagnosis.sample
    assert counts is not None
    assert (counts.rows, counts.unlabelled, counts.labelled) == (sample.rows, sample.unlabelled, sample.labelled)
    assert (counts.labelled_by_class, counts.incomplete) == (sample.labelled_by_class, sample.dropped)
    assert (counts.weightless, counts.n_effective) == (sample.weightless, sample.n_effective)
    assert (counts.clusters, counts.clusters_labelled) == (sample.clusters, sample.clusters_labelled)
    assert diagnosis.ladder.reason is not None or counts.audit == diagnosis.ladder.n_audit
    assert counts.columns == len(sample.columns)
    assert counts.in_sample is (sample.folds is None)
    assert checkup.above["above"] == diagnosis.kappa["n_above"]
    assert checkup.confident["rows"] == diagnosis.kappa_confident["n_confident"]


@pytest.mark.parametrize("n", [8, 12, 16, 20, 30, 60])
def test_few_rows_have_the_same_reasons(n: int) -> None:
    data = _columns(n + 5, labelled=5)
    diagnosis, checkup = diagnose(data, **ROLES), check(data, **ROLES)
    assert checkup.problems == ()
    assert _reasons(checkup) == _reasons_of(diagnosis)


def test_rows_that_cannot_answer_at_all_are_not_ready() -> None:
    data = {**_columns(), "p": np.full(N, 0.3), "g": np.full(N, np.nan)}
    checkup = check(data, **ROLES)
    assert checkup.problems == ()
    assert not checkup.ready
    assert "no estimator is possible" in checkup.sentence
