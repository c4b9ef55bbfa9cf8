"""A table that can be diagnosed, to spoil in one place, and what the refusal of it must say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlabel import Diagnosis, SoftlabelError, diagnose
from tests.bad_inputs.answers import check_diagnosis, check_error

__all__ = ["HIDDEN", "ROWS", "columns", "diagnosed", "refused", "spoilt"]

ROWS, HIDDEN = 120, 80
ROLES: dict[str, Any] = {"outcome": "days", "group": "sick", "score": "risk", "controls": ["age", "sex"]}


def columns(**changes: Any) -> dict[str, Any]:
    """Return a table of 80 unlabelled and 40 labelled rows, with these columns in place or besides."""
    rng = np.random.default_rng(0)
    risk = rng.random(ROWS)
    sick = (rng.random(ROWS) < risk).astype(np.float64)
    days = rng.normal(size=ROWS) + sick
    sick[:HIDDEN] = np.nan
    age, sex = rng.normal(50, 9, ROWS), rng.integers(0, 2, ROWS).astype(np.float64)
    return {"days": days, "sick": sick, "risk": risk, "age": age, "sex": sex, **changes}


def spoilt(column: str, value: Any, *rows: int) -> dict[str, Any]:
    """Return the table with a value put into some rows of a column."""
    values = columns()[column].copy()
    values[list(rows)] = value
    return columns(**{column: values})


def diagnosed(data: Any, **options: Any) -> Diagnosis:
    """Return a diagnosis that has no odd number in it."""
    d = diagnose(data, **{**ROLES, "basis": "linear", **options})
    check_diagnosis(d)
    return d


def refused(data: Any, options: dict[str, Any], kind: type[SoftlabelError], says: tuple[str, str, str]) -> None:
    """Check that the error is of this kind and says what was expected, what came and what to do."""
    with pytest.raises(SoftlabelError) as caught:
        diagnosed(data, **options)
    error = caught.value
    assert type(error) is kind, error
    check_error(error)
    for said, part in zip((error.expected, error.found, error.fix), says, strict=True):
        assert part in said, error
