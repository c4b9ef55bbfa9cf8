"""From the columns of a file to those of a study: the group as 0 and 1, an outcome on its scale, plain types."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from softlabel.datasets.records import Dataset

__all__ = ["prepared"]

# Columns that are computed, by dataset; they come after those of the file.
_COMPUTED: dict[str, dict[str, Callable[[pa.Table], pa.ChunkedArray]]] = {
    "adult": {"high_income": lambda table: pc.equal(table["income"], ">50K")},
    "credit_default": {"log_limit": lambda table: pc.ln(table["LIMIT_BAL"].cast(pa.float64()))},
    "nycflights": {"jetblue": lambda table: pc.equal(table["carrier"], "B6")},
    "boston_marathon": {"female": lambda table: pc.equal(table["sex"], "F")},
}


def prepared(dataset: Dataset, table: pa.Table, *, complete: bool) -> pa.Table:
    """Return the table with its computed columns; with `complete` only rows that lack nothing with a role."""
    table = pa.table({name: _wide(table[name]) for name in table.column_names})
    for name, compute in _COMPUTED.get(dataset.name, {}).items():
        table = table.append_column(name, compute(table))
    at = table.column_names.index(dataset.roles.group)
    table = table.set_column(at, dataset.roles.group, table[dataset.roles.group].cast(pa.int8()))
    if complete:
        present = [pc.is_valid(table[name]) for name in dataset.roles.columns()]
        whole = present[0]
        for column in present[1:]:
            whole = pc.and_(whole, column)
        table = table.filter(whole)
    return table.combine_chunks()


def _wide(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # Files hold the narrowest integers; sums and products of a caller's should not overflow.
    return column.cast(pa.int64()) if pa.types.is_integer(column.type) else column
