"""Columns: what each holds, and which roles it could play."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from softlabel.basis import MAX_LEVELS
from softlabel.checking.records import ColumnFacts
from softlabel.study import is_category
from softlabel.study.columns import is_number, numbers

__all__ = ["MANY", "Seen", "facts", "guess", "merged", "roles_of", "see"]

# Distinct values are counted up to here.
MANY = 1_000

# So many rows tell most columns of many values, at less cost than all rows of a batch.
_FIRST = 4_096

_EXAMPLES = 3
_SCORE_NAME = re.compile(r"(^|_)(p|prob|proba|probability|score|pred|phat|p_hat)(_|$)|score|prob", re.IGNORECASE)
_ID_NAME = re.compile(r"(^|_)(id|uuid|key|index|no|nr)($|_)|number$|[a-z]ID$|[a-z]Id$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Seen:
    """What some rows of one column hold; states merge in any grouping, ``examples`` are the first values seen.

    ``distinct`` is ``None`` once there are more than `MANY` values, or where values cannot be compared.
    """

    rows: int = 0
    missing: int = 0
    infinite: int = 0
    low: float = math.inf
    high: float = -math.inf
    whole: bool = True
    distinct: frozenset[object] | None = frozenset()
    examples: tuple[str, ...] = ()

    def merge(self, other: Seen) -> Seen:
        """Return what both sets of rows hold."""
        known = self.distinct is not None and other.distinct is not None
        both = (self.distinct or frozenset()) | (other.distinct or frozenset())
        return Seen(
            rows=self.rows + other.rows,
            missing=self.missing + other.missing,
            infinite=self.infinite + other.infinite,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            whole=self.whole and other.whole,
            distinct=both if known and len(both) <= MANY else None,
            examples=tuple(dict.fromkeys([*self.examples, *other.examples]))[:_EXAMPLES],
        )


def see(column: pa.Array) -> Seen:
    """Return what a column of one batch holds.

    Examples
    --------
    >>> seen = see(pa.array([0.25, None, 1.0, 1.0]))
    >>> seen.missing, seen.low, seen.high, len(seen.distinct)
    (1, 0.25, 1.0, 2)
    """
    rows = len(column)
    if is_number(column.type):
        values = numbers(column)
        finite = values[np.isfinite(values)]
        missing = int(np.isnan(values).sum())
        return Seen(
            rows,
            missing,
            infinite=rows - missing - len(finite),
            low=float(finite.min(initial=math.inf)),
            high=float(finite.max(initial=-math.inf)),
            whole=bool((finite == np.floor(finite)).all()),
            distinct=_distinct(column),
        )
    some = column[:_FIRST].drop_null()[: 10 * _EXAMPLES].to_pylist()
    texts = tuple(dict.fromkeys(map(_short, some)))
    return Seen(rows, column.null_count, whole=False, distinct=_distinct(column), examples=texts[:_EXAMPLES])


def _distinct(column: pa.Array) -> frozenset[object] | None:
    """Return the values that occur, ``None`` if they are too many."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return None if _unique(column[:_FIRST]) is None else _unique(column)


def _unique(column: pa.Array) -> frozenset[object] | None:
    import pyarrow.compute as pc

    try:
        unique = pc.unique(column)
    except pa.ArrowException:  # lists and the like cannot be compared
        return None
    if len(unique) > MANY + 2:  # null and NaN are no values
        return None
    found = frozenset(value for value in unique.to_pylist() if value is not None and value == value)  # noqa: PLR0124
    return found if len(found) <= MANY else None


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 20 else f"{text[:17]}..."


def merged(mine: Mapping[str, Seen], theirs: Mapping[str, Seen]) -> dict[str, Seen]:
    """Return what both sets of rows hold, by column; a table of labelled rows may lack some."""
    return {name: mine.get(name, Seen()).merge(theirs.get(name, Seen())) for name in {**mine, **theirs}}


def facts(name: str, kind: pa.DataType, seen: Seen, role: str) -> ColumnFacts:
    """Return the record of one column."""
    some = seen.low <= seen.high
    return ColumnFacts(
        name=name,
        type=_type_name(kind),
        role=role,
        missing=seen.missing,
        distinct=None if seen.distinct is None else len(seen.distinct),
        low=seen.low if some else None,
        high=seen.high if some else None,
        examples=", ".join(_examples(seen)),
    )


def _examples(seen: Seen) -> tuple[str, ...]:
    """Return some values that are no numbers; where all are known, the same ones however rows were cut."""
    if not seen.examples or seen.distinct is None:
        return seen.examples
    return tuple(dict.fromkeys(map(_short, sorted(seen.distinct, key=str))))[:_EXAMPLES]


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "yes/no"
    if pa.types.is_null(kind):
        return "empty"
    return "number" if is_number(kind) else "text" if is_category(kind) else str(kind)


def roles_of(kind: pa.DataType, seen: Seen) -> tuple[str, ...]:
    """Return the roles that a column of this type and these values could play.

    Examples
    --------
    >>> roles_of(pa.float64(), Seen(9, 5, low=0.0, high=1.0, distinct=frozenset({0.0, 1.0})))
    ('group', 'control')
    """
    count = None if seen.distinct is None else len(seen.distinct)
    if seen.infinite or (count is not None and count < 2):
        return ()
    if is_number(kind):
        binary = count == 2 and seen.low == 0 and seen.high == 1
        within = seen.low >= 0 and seen.high <= 1
        found = [
            ("group", binary and seen.missing > 0),
            ("score", within and not binary),
            # An outcome is known in every row: one that is missing in some would have them left out.
            ("outcome", not (binary and seen.missing)),
            ("control", True),
            ("id", many := seen.whole and (count is None or count > MAX_LEVELS)),
            ("cluster", many),
        ]
        return tuple(role for role, can in found if can)
    if not is_category(kind):
        return ()
    return ("id", "cluster") if count is None or count > MAX_LEVELS else ("control", "cluster")


def guess(columns: Mapping[str, tuple[pa.DataType, Seen]]) -> dict[str, list[str]]:
    """Return a first guess at the roles: names by role, none where no column could play it."""
    could = {name: roles_of(*column) for name, column in columns.items()}
    score = _first(could, "score", taken=[], likely=_SCORE_NAME)
    group = _first(could, "group", taken=score)
    outcome = _first(could, "outcome", taken=[*score, *group])
    taken = {*score, *group, *outcome}
    controls = [name for name, roles in could.items() if "control" in roles and name not in taken and not _is_id(name)]
    # A binary column with gaps is another group, of other rows.
    controls = [name for name in controls if "group" not in could[name]]
    return {"outcome": outcome, "score": score, "group": group, "controls": controls}


def _first(
    could: Mapping[str, tuple[str, ...]], role: str, taken: list[str], likely: re.Pattern[str] | None = None
) -> list[str]:
    """Return the likeliest column for a role, as a list of one name or none."""
    names = [name for name, roles in could.items() if role in roles and name not in taken and not _is_id(name)]
    named = [name for name in names if likely is not None and likely.search(name)]
    # What can be little else is likelier than what can be anything.
    return sorted(named or names, key=lambda name: "score" in could[name] and role != "score")[:1]


def _is_id(name: str) -> bool:
    return bool(_ID_NAME.search(name))
