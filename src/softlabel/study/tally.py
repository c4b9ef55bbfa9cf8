"""Tally: what a pass counted about the values it saw, and the error that the counts call for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import DataError

__all__ = ["LARGEST", "Tally", "check_size", "tally"]

Floats = NDArray[np.float64]

# Fourth powers of residuals are summed, and 1e70 to the fourth is still a float64; so is its inverse.
LARGEST = 1e70

# A probability this far outside [0, 1] is a probability computed in float32.
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over rows; a commutative monoid under `merge` with ``Tally()`` as identity.

    ``missing`` and ``infinite`` count per column; ``extremes`` are the least and largest finite value of each.
    """

    rows: int = 0
    unlabelled: int = 0
    labelled: int = 0
    positive: int = 0
    dropped: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    infinite: Mapping[str, int] = field(default_factory=dict)
    outside: int = 0
    extremes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    not_binary: int = 0
    example: float | None = None

    def merge(self, other: Tally) -> Tally:
        """Return the counts of both sets of rows."""
        return Tally(
            rows=self.rows + other.rows,
            unlabelled=self.unlabelled + other.unlabelled,
            labelled=self.labelled + other.labelled,
            positive=self.positive + other.positive,
            dropped=self.dropped + other.dropped,
            missing=_add(self.missing, other.missing),
            infinite=_add(self.infinite, other.infinite),
            outside=self.outside + other.outside,
            extremes=_widest(self.extremes, other.extremes),
            not_binary=self.not_binary + other.not_binary,
            example=min((e for e in (self.example, other.example) if e is not None), default=None),
        )

    def verify(self, *, score: str, group: str | None, missing: str) -> None:
        """Raise the clearest DataError that these counts call for, if any."""
        if not self.rows:
            raise DataError(expected="rows", found="an empty table", fix="Check the file or the filter before")
        if self.infinite:
            raise DataError(
                expected="finite numbers",
                found=f"infinite values in {_listed(self.infinite)} of {self.rows:,} rows",
                fix="Replace them, or make them null and use missing='drop'",
            )
        if group is not None and group in self.missing and missing == "raise":
            raise DataError(
                expected=f"a {group!r} in every row of the labelled table",
                found=f"null or NaN in {_listed({group: self.missing[group]})} of {self.rows:,} rows",
                fix="Leave those rows out of it, or use missing='drop' to have them left out and counted",
            )
        if self.missing and missing == "raise":
            raise DataError(
                expected="no missing values but in the group",
                found=f"null or NaN in {_listed(self.missing)} of {self.rows:,} rows",
                fix="Impute them, or use missing='drop' to leave those rows out and have them counted",
            )
        if self.not_binary:
            raise DataError(
                expected=f"the group {group!r} to be 0, 1 or null",
                found=f"other values in {self.not_binary:,} of {self.rows:,} rows, such as {self.example:g}",
                fix="Code the group 0 or 1 and leave it null where it is unknown",
            )
        if self.outside:
            low, high = self.extremes[score]
            raise DataError(
                expected=f"the score {score!r} to lie in [0, 1]",
                found=f"values from {_shown(low)} to {_shown(high)}, {self.outside:,} of {self.rows:,} rows outside",
                fix=_score_advice(low, high),
            )
        for name, (low, high) in self.extremes.items():
            if name == score:
                continue
            check_size(name, low, high)


def check_size(name: str, low: float, high: float) -> None:
    """Raise if a column's largest value has powers that overflow or vanish."""
    size = max(abs(low), abs(high))
    if size > LARGEST or 0 < size < 1 / LARGEST:
        raise DataError(
            expected=f"{name!r} to have a size between {1 / LARGEST:g} and {LARGEST:g}, so that its powers "
            "stay within floating point",
            found=f"values from {low:g} to {high:g}",
            fix="Rescale the column, in another unit for instance",
        )


def _widest(
    a: Mapping[str, tuple[float, float]], b: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    both = dict(a)
    for name, (low, high) in b.items():
        other = both.get(name, (math.inf, -math.inf))
        both[name] = (min(low, other[0]), max(high, other[1]))
    return both


def _add(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: a.get(name, 0) + b.get(name, 0) for name in [*a, *(n for n in b if n not in a)]}


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} ({count:,})" for name, count in counts.items())


def _shown(value: float) -> str:
    """Return a score's extreme, with more digits where six would hide that it is not zero or one."""
    return f"{value:g}" if f"{value:g}" not in ("0", "-0", "1") else f"{value:.17g}"


def _score_advice(low: float, high: float) -> str:
    if low >= -_ROUNDING and high <= 1 + _ROUNDING:
        return "It is outside by rounding: clip it to [0, 1]"
    if low >= 0 and high <= 100:
        return "It looks like a percentage: divide it by 100"
    if low < 0 < high:
        return "It looks like a logit: pass 1/(1+exp(-score))"
    return "Pass the predicted probability of group 1"


def tally(
    values: Mapping[str, Floats], *, score: str, group: str | None, labels: Floats, all_labelled: bool
) -> tuple[Tally, NDArray[np.bool_] | None]:
    """Count a batch; return the counts and which rows are usable (``None``: every row).

    Parameters
    ----------
    values
        The columns that must be complete, each (n,); ``score`` names the one that must lie in [0, 1], and that
        labelled rows may lack.
    labels : (n,)
        The group; NaN means unlabelled, which is a missing value only where ``all_labelled``.
    """
    n = len(labels)
    known = ~np.isnan(labels)
    missing: dict[str, int] = {}
    infinite: dict[str, int] = {}
    extremes: dict[str, tuple[float, float]] = {}
    bad = np.zeros(n, dtype=np.bool_)
    too_large = np.zeros(n, dtype=np.bool_)
    for name, column in values.items():
        # The extremes of a column are finite exactly when all of it is, so the common case costs nothing more.
        low, high = float(column.min(initial=math.inf)), float(column.max(initial=-math.inf))
        if n and not (math.isfinite(low) and math.isfinite(high)):
            finite = np.isfinite(column)
            # Supervised needs no score, and rows that trained the classifier often have none to show.
            spared = np.isnan(column) & known if name == score else np.zeros(n, dtype=np.bool_)
            absent = np.isnan(column) & ~spared
            bad |= ~finite & ~spared
            _count(missing, name, int(absent.sum()))
            _count(infinite, name, int(np.isinf(column).sum()))
            low = float(column.min(initial=math.inf, where=finite))
            high = float(column.max(initial=-math.inf, where=finite))
        if low <= high:
            extremes[name] = (low, high)
            if max(-low, high) > LARGEST:
                too_large |= np.abs(column) > LARGEST
    p = values[score]
    # NaN compares False, so a missing score counts as missing only.
    outside = (p < 0) | (p > 1)
    not_binary = known & (labels != 0) & (labels != 1)
    if all_labelled and not known.all():
        bad |= ~known
        _count(missing, group or "group", int(n - known.sum()))
    dropped = int(bad.sum())
    bad |= outside | not_binary | too_large
    usable = None if not bad.any() else ~bad
    chosen = known if usable is None else known & usable
    counts = Tally(
        rows=n,
        unlabelled=(n if usable is None else int(usable.sum())) - int(chosen.sum()),
        labelled=int(chosen.sum()),
        positive=int((labels[chosen] == 1).sum()),
        dropped=dropped,
        missing=missing,
        infinite=infinite,
        outside=int(outside.sum()),
        extremes=extremes,
        not_binary=int(not_binary.sum()),
        example=float(labels[not_binary].min()) if not_binary.any() else None,
    )
    return counts, usable


def _count(counts: dict[str, int], name: str, number: int) -> None:
    if number:
        counts[name] = number
