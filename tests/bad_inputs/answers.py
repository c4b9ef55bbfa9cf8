"""What every answer keeps, whatever the question was."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from softlabel import Diagnosis, SoftlabelError
from softlabel.report.summary import WIDTH
from softlabel.results import Table

__all__ = ["check_diagnosis", "check_error", "check_record", "odd_numbers"]


def check_error(error: SoftlabelError) -> str:
    """Return the message, once it is three parts in one paragraph."""
    text = str(error)
    assert text == f"Expected {error.expected}; found {error.found}. {error.fix}."
    parts = (error.expected, error.found, error.fix)
    assert [
        part for part in parts if not part.strip() or "\n" in part or part.removesuffix("...").endswith(".")
    ] == [], text
    assert len(text) < 1_500, text
    assert "nan" not in error.expected, text
    return text


def odd_numbers(value: Any, path: str = "") -> Iterator[str]:
    """Yield where a record holds a number that is not finite."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield f"{path}={value}"
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from odd_numbers(item, f"{path}[{i}]")
    elif isinstance(value, Table):
        yield from odd_numbers(value.rows, path)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from odd_numbers(getattr(value, field.name), f"{path}.{field.name}")


def check_record(record: Any, point: str = "estimate") -> None:
    """Check a number with its error and interval, or that a reason stands in their place."""
    low, high, error, value = record.ci_low, record.ci_high, record.std_error, getattr(record, point)
    assert list(odd_numbers(record)) == []
    if record.reason is not None:
        assert record.reason.strip()
        assert not record.reason.endswith(".")
        assert (value, error, low, high) == (None, None, None, None)
        return
    assert None not in (value, error, low, high), record
    assert error >= 0
    assert low <= value <= high
    assert 0 <= getattr(record, "p_value", 0.0) <= 1


def check_diagnosis(d: Diagnosis) -> None:
    """Check that every number is finite or has a reason, that JSON keeps it, and that a page can be made of it."""
    assert list(odd_numbers(d)) == []
    for estimate in (*d.estimates, d.v_star):
        check_record(estimate)
    for row in (*d.kappa, *d.kappa_confident):
        check_record(row, "kappa")
    for worth in d.label_equivalents:
        assert (worth.labels is None) == bool(worth.reason)
        assert worth.labels is None or worth.labels >= 0
    assert (d.verdict.choice is None) == (d.verdict.estimate is None)
    assert 0 <= d.score_variance <= 0.25 + 1e-12
    assert d.v_star.estimate is None or d.v_star.estimate >= 0
    assert Diagnosis.from_json(d.to_json()) == d
    page = d.summary()
    assert page.isascii()
    assert [line for line in page.splitlines() if len(line) > WIDTH] == []
    assert "nan" not in page
    assert " inf" not in page
