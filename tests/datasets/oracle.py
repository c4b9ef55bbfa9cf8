"""Effects of the true group by NumPy's least squares alone; and where the data beside the checkout would be."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from softlabel.datasets import Roles

__all__ = ["beside_the_checkout", "by_cells", "by_least_squares"]

Array = NDArray[np.float64]


def by_least_squares(table: pa.Table, roles: Roles) -> float:
    """The coefficient of the group beside an intercept, numeric controls and a dummy for each level of the others."""
    columns = [np.ones(table.num_rows), _column(table, roles.group)]
    for name in roles.controls:
        if name in roles.categories or pa.types.is_string(table.schema.field(name).type):
            values = table[name].to_numpy()
            columns += [(values == level).astype(np.float64) for level in sorted(set(values))[1:]]
        else:
            columns.append(_column(table, name))
    return float(np.linalg.lstsq(np.column_stack(columns), _column(table, roles.outcome))[0][1])


def by_cells(table: pa.Table, roles: Roles) -> float:
    """The same with a dummy for each combination of the controls, which is to take cell means away."""
    cells = np.zeros(table.num_rows, dtype=np.int64)
    for name in roles.controls:
        _, codes = np.unique(table[name].to_numpy(), return_inverse=True)
        _, cells = np.unique(cells * (codes.max() + 1) + codes, return_inverse=True)
    sizes = np.bincount(cells)
    group, outcome = (
        values - (np.bincount(cells, weights=values) / sizes)[cells]
        for values in (_column(table, roles.group), _column(table, roles.outcome))
    )
    return float(group @ outcome / (group @ group))


def _column(table: pa.Table, name: str) -> Array:
    values: Array = table[name].to_numpy().astype(np.float64)
    return values


def beside_the_checkout(file: str) -> Path:
    """The folder of data beside the checkout; skips where `file` is not in it."""
    folder = Path(__file__).parents[2].parent / "shared" / "data"
    if not (folder / file).is_file():
        pytest.skip(f"the data are not there: ../shared/data/{file}")
    return folder
