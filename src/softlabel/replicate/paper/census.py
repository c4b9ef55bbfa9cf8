"""Adult as the paper has it: its rows, what a forest is given of them, and outcomes for which exclusion holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from softlabel.datasets import Roles, about, load_adult
from softlabel.replicate.paper.draws import residuals

__all__ = ["AGES", "HOURS", "Census", "census", "slope", "within"]

Floats = NDArray[np.float64]
Cells = NDArray[np.intp]

# Where bands begin: five years of age up to 75, and hours a week about the usual 35 to 40.
AGES = (20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75)
HOURS = (20, 35, 40, 41, 50, 60)


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """The rows of Adult that lack nothing, n of them.

    Attributes
    ----------
    roles
        Which column is what.
    texts, codes
        The features and the group, with categories as text, and as the place of each level in the alphabet.
    x : (3, n)
        Age, hours a week, and 1 for men: the controls, which enter linearly.
    group, outcome : (n,)
        G and Y.
    cell : (n,)
        Which band of age and of hours, and which sex.
    target
        The coefficient of G in the regression of Y on G and the controls, all rows.
    """

    roles: Roles
    texts: pa.Table
    codes: pa.Table
    x: Floats
    group: Floats
    outcome: Floats
    cell: Cells
    target: float

    def __len__(self) -> int:
        return len(self.group)

    def permuted(self, rng: np.random.Generator) -> Floats:
        """Return the outcomes (n,) shuffled among rows of one group and cell.

        Given those two, what such an outcome is has nothing to do with the classifier's features: exclusion holds by
        construction, and scores stay what they are.
        """
        both = 2 * self.cell + self.group.astype(np.intp)
        found = np.empty_like(self.outcome)
        # Rows sorted by cell, and sorted by cell in another random order: a shuffle within each.
        places = np.argsort(both, kind="stable")
        drawn = np.lexsort((rng.random(len(both)), both))
        found[places] = self.outcome[drawn]
        return found


@cache
def census() -> Census:
    """Return the rows.

    Examples
    --------
    >>> rows = census()
    >>> len(rows), round(rows.target, 4), len(set(rows.cell.tolist()))
    (30162, 2.0154, 182)
    """
    table, roles = load_adult(complete=True), about("adult").roles
    texts = table.select([*roles.features, roles.group])
    age, hours = (table[name].to_numpy().astype(np.float64) for name in roles.controls[:2])
    male = pc.equal(table["sex"], "Male").to_numpy().astype(np.float64)
    group, outcome = (table[name].to_numpy().astype(np.float64) for name in (roles.group, roles.outcome))
    x = np.stack([age, hours, male])
    bands = np.digitize(age, AGES) * (len(HOURS) + 1) + np.digitize(hours, HOURS)
    return Census(
        roles=roles,
        texts=texts,
        codes=_coded(texts),
        x=x,
        group=group,
        outcome=outcome,
        cell=2 * bands + male.astype(np.intp),
        target=slope(x, group, outcome),
    )


def slope(x: Floats, group: Floats, outcome: Floats) -> float:
    """Return the coefficient of a group (n,) in the regression of an outcome (n,) on it and controls x (k, n)."""
    e, y = residuals(x, np.stack([group, outcome]))
    return float(e @ y / (e @ e))


def within(cell: Cells, values: Floats) -> Floats:
    """Return values (n,) less the mean of their cell (n,).

    Examples
    --------
    >>> within(np.array([0, 1, 0]), np.array([1.0, 5.0, 2.0])).tolist()
    [-0.5, 0.0, 0.5]
    """
    sizes = np.maximum(np.bincount(cell), 1)
    return np.asarray(values - (np.bincount(cell, weights=values) / sizes)[cell])


def _coded(table: pa.Table) -> pa.Table:
    """Return the table with the place of each text in the alphabet in place of the text."""
    for at, field in enumerate(table.schema):
        if not pa.types.is_integer(field.type):
            _, place = np.unique(table[field.name].to_numpy(), return_inverse=True)
            table = table.set_column(at, field.name, pa.array(place.tolist()))
    return table
