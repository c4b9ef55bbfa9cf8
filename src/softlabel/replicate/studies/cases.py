"""Real data as cases: rows whose group is known, how controls enter, and a score or what makes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from softlabel.datasets import Roles, about, load, read_study
from softlabel.errors import InputError, did_you_mean

__all__ = ["CASES", "Case", "Known", "case", "design", "found_in"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Known:
    """A case by name: its dataset, the classifier that makes its score, and how a ready-made one is changed."""

    name: str
    dataset: str
    title: str
    model: str = "logistic"
    made_of: Callable[[pa.Table, Roles], Floats] | None = None


def _ready(table: pa.Table, roles: Roles) -> Floats:
    """Return the score that the table has."""
    return _column(table, str(roles.score))


def _two_letters(table: pa.Table, roles: Roles) -> Floats:
    """Return the mean of the ready-made score among rows whose text begins with the same two letters."""
    begins = pc.utf8_slice_codeunits(pc.utf8_lower(table[str(roles.text)]), 0, 2).to_numpy()
    _, which = np.unique(begins, return_inverse=True)
    return np.asarray((np.bincount(which, weights=_ready(table, roles)) / np.bincount(which))[which])


CASES = {
    one.name: one
    for one in (
        Known("credit_default", "credit_default", "Credit limits of clients who default"),
        Known("nycflights", "nycflights", "Delays of one carrier, known by route and plane", "boosting"),
        Known("boston_marathon", "boston_marathon", "Finish of women, known by first name", made_of=_ready),
        Known("boston_letters", "boston_marathon", "The same, known by two letters of it", made_of=_two_letters),
        Known("alphafold", "alphafold", "Phosphorylation where proteins are disordered", made_of=_ready),
    )
}


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Rows that lack nothing, n of them.

    Attributes
    ----------
    known, roles
        What it is, and which column is what.
    table
        The rows.
    group, outcome : (n,)
        G and Y.
    score : (n,) or None
        One that is there already.
    basis : (n, d)
        Orthonormal columns that span an intercept and the controls: numbers as straight lines, categories as dummies.
    target
        The coefficient of G in the regression of Y on G and those.
    """

    known: Known
    roles: Roles
    table: pa.Table
    group: Floats
    outcome: Floats
    score: Floats | None
    basis: Floats
    target: float

    def __len__(self) -> int:
        return len(self.group)


@cache
def case(name: str, folder: str | None = None) -> Case:
    """Return a case; ``folder`` holds what does not ship.

    Examples
    --------
    >>> one = case("credit_default")
    >>> len(one), round(one.target, 4)
    (30000, -0.3548)
    """
    known = CASES[name]
    dataset = about(known.dataset)
    table = load(dataset.name, complete=True) if dataset.ships else read_study(dataset.name, str(folder), complete=True)
    roles = dataset.roles
    basis = design(table, roles)
    group, outcome = _column(table, roles.group), _column(table, roles.outcome)
    left = group - basis @ (basis.T @ group)
    return Case(
        known=known,
        roles=roles,
        table=table,
        group=group,
        outcome=outcome,
        score=None if known.made_of is None else known.made_of(table, roles),
        basis=basis,
        target=float(left @ outcome / (left @ left)),
    )


def design(table: pa.Table, roles: Roles) -> Floats:
    """Return orthonormal columns (n, d) that span an intercept, numeric controls and dummies of the others."""
    columns = [np.ones(table.num_rows)]
    for name in roles.controls:
        if name in roles.categories or not _is_number(table, name):
            _, level = np.unique(table[name].to_numpy(), return_inverse=True)
            columns += list(np.eye(level.max() + 1)[1:, level])
        else:
            values = _column(table, name)
            columns.append((values - values.mean()) / values.std())
    return np.asarray(np.linalg.qr(np.column_stack(columns))[0])


def found_in(folder: str | None, asked: Sequence[str] | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the cases asked for whose data are there, and a sentence for each that is not shown.

    Examples
    --------
    >>> found_in(None)[0]
    ('credit_default', 'nycflights')
    """
    unknown = [name for name in asked or () if name not in CASES]
    if unknown:
        raise InputError(expected="the name of a study", found=repr(unknown[0]), fix=did_you_mean(unknown[0], CASES))
    names: list[str] = []
    missing: dict[str, str] = {}
    for name in CASES if asked is None else asked:
        dataset = about(CASES[name].dataset)
        if dataset.ships or (folder is not None and (Path(folder) / dataset.file).is_file()):
            names.append(name)
        else:
            missing[dataset.name] = dataset.file
    if folder is not None and missing and all(about(CASES[name].dataset).ships for name in names):
        raise InputError(
            expected=f"{' or '.join(missing.values())} in the folder of --data",
            found=f"none of them in {folder}",
            fix="Name the folder that holds them, or leave --data out",
        )
    told = (
        f"{name} is not shown: its data do not ship with softlabel; --data DIR reads {file} there"
        for name, file in missing.items()
    )
    return tuple(names), tuple(told)


def _is_number(table: pa.Table, name: str) -> bool:
    kind = table.schema.field(name).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _column(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].to_numpy(), dtype=np.float64)
