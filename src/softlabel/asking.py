"""Asking: the arguments that several calls share, checked the same way wherever they are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from softlabel.basis import Basis, Plan, plan_basis
from softlabel.errors import InputError

__all__ = ["CONFIDENT", "THRESHOLDS", "control_plan", "feature_names", "folds_by", "plain_name"]

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CONFIDENT = (0.55, 0.65, 0.75, 0.85, 0.9, 0.95)

_SEEN = "Name what the classifier saw, or leave it out if unknown"


def folds_by(id: str | None, cluster: str | None) -> str:
    """Return what a row's fold depends on."""
    if id is not None and cluster is not None:
        raise InputError(
            expected="one column to decide folds",
            found=f"id={id!r} and cluster={cluster!r}",
            fix="Leave id out: rows of a cluster share a fold",
        )
    return "cluster" if cluster is not None else "id" if id is not None else "values"


def plain_name(column: Any) -> Any:
    """Return a column's name as plain text, for NumPy has strings of its own; Study refuses what is no text."""
    return str(column) if isinstance(column, str) else column


def control_plan(controls: Sequence[str] | str, basis: str | Basis | None = None) -> Plan:
    """Return the plan for controls as the caller names them."""
    return plan_basis(controls if isinstance(controls, str) else _names(controls, "controls"), basis)


def feature_names(features: Sequence[str]) -> tuple[str, ...]:
    """Return the names of what the classifier sees."""
    names = _names(features, "features")
    if not names:
        raise InputError(expected="features to name at least one column", found="an empty list", fix=_SEEN)
    for name in names:
        if not isinstance(name, str):
            raise InputError(expected="features to be names of columns", found=repr(name), fix="Pass each name as text")
    return names


def _names(columns: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        none = f"Use {what}=[] for none" if what == "controls" else _SEEN
        raise InputError(
            expected=f"{what} to be a list of columns",
            found=repr(columns),
            fix=f"Use {what}=[{columns!r}]" if isinstance(columns, str) else none,
        )
    return tuple(plain_name(column) for column in columns)
