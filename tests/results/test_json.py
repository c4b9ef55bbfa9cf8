"""JSON: everything there and back, of one schema version; anything else is refused with a reason."""

import dataclasses
import json
import math
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlabel import Diagnosis, Estimate, StateError, diagnose
from softlabel.results import Table

TEXT = (Path(__file__).parent / "schema_1.json").read_text(encoding="utf-8")
STORED = Diagnosis.from_json(TEXT)

finite = st.floats(allow_nan=False, allow_infinity=False)
maybe = st.none() | finite | st.sampled_from([5e-324, -5e-324, 1.7976931348623157e308, -0.0, 0.1, 1 / 3])
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
estimates = st.builds(
    Estimate,
    name=words,
    threshold=maybe,
    form=st.none() | words,
    estimate=maybe,
    std_error=maybe,
    ci_low=maybe,
    ci_high=maybe,
    p_value=maybe,
    n=st.integers(0, 2**63),
    reason=st.none() | words,
    level=finite,
    df=st.none() | st.integers(1, 2**53),
)


def _values(record: Any) -> Iterator[Any]:
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            yield from _values(getattr(record, field.name))
    elif isinstance(record, tuple):
        for each in record:
            yield from _values(each)
    else:
        yield record


def _refuse_constant(name: str) -> None:
    raise AssertionError(name)


@given(st.lists(estimates, max_size=4), estimates, finite)
def test_any_estimates_come_back_equal(rows: list[Estimate], v_star: Estimate, variance: float) -> None:
    d = dataclasses.replace(STORED, estimates=Table(tuple(rows)), v_star=v_star, score_variance=variance)
    for text in (d.to_json(), d.to_json(indent=2)):
        again = Diagnosis.from_json(text)
        assert again == d
        # Equal floats may differ in sign of zero or in type; their bits may not.
        assert [(type(v), v.hex()) for v in _values(again) if isinstance(v, float)] == [
            (type(v), v.hex()) for v in _values(d) if isinstance(v, float)
        ]
        json.loads(text, parse_constant=_refuse_constant)


def test_a_stored_diagnosis_of_this_version_is_written_as_it_was_read() -> None:
    assert STORED.to_json(indent=2) + "\n" == TEXT
    assert STORED.schema_version == 1


def test_text_and_bytes_and_any_indent_read_alike() -> None:
    for text in (TEXT.encode(), STORED.to_json(), STORED.to_json(indent=4).encode()):
        assert Diagnosis.from_json(text) == STORED


def test_json_is_plain_utf8_without_a_line_break_unless_indented() -> None:
    assert "\n" not in STORED.to_json()
    assert json.loads(STORED.to_json())["settings"]["controls"] == ["age", "bmi"]


def _real(**options: Any) -> Diagnosis:
    rng = np.random.default_rng(4)
    n = 900
    x = rng.normal(size=n)
    # Scores in a narrow band leave most thresholds and confident sets without a number.
    p = 0.5 + 0.1 * np.tanh(x + rng.normal(size=n))
    g = np.where(np.arange(n) < 60, (rng.random(n) < p) * 1.0, np.nan)
    y = x + rng.normal(size=n)
    y[100:103] = np.nan
    data = {"Größe": y, "g": g, "p": p, "x": x}
    return diagnose(data, outcome="Größe", score="p", controls=["x"], missing="drop", **options)


@pytest.mark.parametrize("options", [{"group": "g"}, {}, {"group": "g", "folds": None, "seed": 10**30}])
def test_a_real_diagnosis_comes_back_equal(options: dict[str, Any]) -> None:
    d = _real(**options)
    assert any(row.reason for row in d.estimates)
    again = Diagnosis.from_json(d.to_json())
    assert again == d
    assert again.summary() == d.summary()
    assert all(math.isfinite(value) for value in _values(d) if isinstance(value, float))
    json.loads(d.to_json(), parse_constant=_refuse_constant)


def test_a_real_diagnosis_is_written_again_as_it_was() -> None:
    d = _real(group="g")
    assert Diagnosis.from_json(d.to_json()).to_json() == d.to_json()


def test_a_diagnosis_survives_pickling() -> None:
    d = _real(group="g")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(d, protocol)) == d  # noqa: S301


# ------------------------------------------------------------------------------------------- refused


def _edited(change: Callable[[dict[str, Any]], object]) -> str:
    tree = json.loads(TEXT)
    change(tree)
    return json.dumps(tree)


def _first(tree: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = tree["estimates"]["rows"][0]
    return row


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "truncated"),
    "no JSON": ("d.json", "malformed"),
    "not UTF-8": (b"\xff\xfe{}", "malformed"),
    "cut short": (TEXT[: TEXT.rindex("version")], "truncated"),
    "two of them": (TEXT + TEXT, "malformed"),
    "a list": ("[]", "`array`"),
    "another object": ('{"a": 1}', "schema_version"),
    "no version": (_edited(lambda t: t.pop("schema_version")), "schema_version"),
    "version as text": (_edited(lambda t: t.update(schema_version="1")), "`str`"),
    "no verdict": (_edited(lambda t: t.pop("verdict")), "verdict"),
    "no estimate": (_edited(lambda t: _first(t).pop("estimate")), "$.estimates.rows[0]"),
    "a number as text": (_edited(lambda t: _first(t).update(estimate="1.25")), "$.estimates.rows[0].estimate"),
    "a fraction of a row": (_edited(lambda t: _first(t).update(n=1.5)), "$.estimates.rows[0].n"),
    "an unknown choice": (_edited(lambda t: t["verdict"].update(choice="magic")), "$.verdict.choice"),
    "a null that may not be": (_edited(lambda t: t.update(score_variance=None)), "$.score_variance"),
    "NaN": (_edited(lambda t: t.update(score_variance=math.nan)), "malformed"),
    "a number too large": (TEXT.replace('"score_variance": 0.0625', '"score_variance": 1e999'), "$.score_variance"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_diagnosis_is_refused(what: str) -> None:
    text, found = REFUSED[what]
    with pytest.raises(StateError) as caught:
        Diagnosis.from_json(text)
    message = str(caught.value)
    assert "Expected JSON written by Diagnosis.to_json" in message
    assert found in message
    assert "not edited" in message


@pytest.mark.parametrize("version", [0, 2, -1, 10**6])
def test_another_version_is_refused_even_if_all_else_differs(version: int) -> None:
    for text in (_edited(lambda t: t.update(schema_version=version)), json.dumps({"schema_version": version})):
        with pytest.raises(StateError) as caught:
            Diagnosis.from_json(text)
        message = str(caught.value)
        assert "schema version 1" in message
        assert f"found version {version}" in message
        assert "diagnose the data again" in message


@pytest.mark.parametrize(
    "change",
    [lambda t: t.update(remark="mine"), lambda t: _first(t).update(estimat=2.0)],
    ids=["at the top", "in a row"],
)
def test_a_key_that_is_not_known_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(StateError):
        Diagnosis.from_json(_edited(change))
