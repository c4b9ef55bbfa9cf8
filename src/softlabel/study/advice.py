"""Advice: what to do about a column of the wrong type."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from softlabel.study.columns import is_number

__all__ = ["type_advice"]

_TYPE_ADVICE: Mapping[str, str] = {
    "control": "Pass numbers, or text for categories",
    "weights": "Pass one number from 0 up for each row",
    "group": "Code the group 0 or 1 and leave it null where it is unknown",
    "score": "Pass the predicted probability of group 1, a number between 0 and 1",
    "audit": "Code it 1 where neither the classifier nor its calibrator has seen the label, else 0",
}


def type_advice(role: str, kind: pa.DataType) -> str:
    """Return what to do about a column whose type does not suit its role."""
    advice = _TYPE_ADVICE.get(role, "Convert the column to numbers")
    if pa.types.is_temporal(kind) and role in ("outcome", "control"):
        return "Pass a number, such as the days since a start"
    if pa.types.is_dictionary(kind) and is_number(kind.value_type):
        return f"{advice}. It is a category of numbers: convert it to the numbers themselves"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return f"{advice}. Numbers must be plain, like 1234.5, and empty where they are missing"
    return advice
