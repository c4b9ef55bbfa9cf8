"""Tally: what a pass counted about the values it saw, and the error that the counts call for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "MOST_COPIES", "Tally", "tally"]

Floats = NDArray[np.float64]

# Fourth powers of residuals are summed, and 1e70 to the fourth is still a float64; so is its inverse.
LARGEST = 1e70

# Copies of rows are counted in 64-bit integers: nine million rows of so many still fit.
MOST_COPIES = 1e12


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over rows; a commutative monoid under `merge` with ``Tally()`` as identity.

    ``missing`` and ``infinite`` count per column; ``extremes`` are the least and largest finite value of each.
    ``rows``, ``dropped`` and what is wrong count rows of the table; ``unlabelled``, ``labelled`` and ``positive``
    count cases, of which a row stands for several where weights are frequencies. ``weightless`` rows have weight zero,
    ``weightless_unlabelled`` of them no label.
    ``graded``: some outcome is neither 0 nor 1; ``unsure``: some score of an unlabelled row is.
    ``differ`` holds the pairs (control, other column) that were seen to hold different values, and ``unlike_group``
    the controls that differ from the group or are missing where it is not, or the other way round. ``not_audit`` counts
    labelled rows where the audit column is neither 0 nor 1 nor missing.
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
    not_audit: int = 0
    audit_example: float | None = None
    weightless: int = 0
    weightless_unlabelled: int = 0
    fractional: int = 0
    pairs: frozenset[tuple[str, str]] = frozenset()
    differ: frozenset[tuple[str, str]] = frozenset()
    unlike_group: frozenset[str] = frozenset()
    graded: bool = False
    unsure: bool = False

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
            example=_least(self.example, other.example),
            not_audit=self.not_audit + other.not_audit,
            audit_example=_least(self.audit_example, other.audit_example),
            weightless=self.weightless + other.weightless,
            weightless_unlabelled=self.weightless_unlabelled + other.weightless_unlabelled,
            fractional=self.fractional + other.fractional,
            pairs=self.pairs | other.pairs,
            differ=self.differ | other.differ,
            unlike_group=self.unlike_group | other.unlike_group,
            graded=self.graded or other.graded,
            unsure=self.unsure or other.unsure,
        )


def _widest(
    a: Mapping[str, tuple[float, float]], b: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    both = dict(a)
    for name, (low, high) in b.items():
        other = both.get(name, (math.inf, -math.inf))
        both[name] = (min(low, other[0]), max(high, other[1]))
    return both


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _add(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {name: a.get(name, 0) + b.get(name, 0) for name in [*a, *(n for n in b if n not in a)]}


def tally(
    values: Mapping[str, Floats],
    *,
    score: str,
    group: str | None,
    labels: Floats,
    all_labelled: bool,
    controls: Sequence[str] = (),
    outcome: str | None = None,
    absent: Mapping[str, NDArray[np.bool_]] = MappingProxyType({}),
    weights: str | None = None,
    frequency: bool = False,
) -> tuple[Tally, NDArray[np.bool_] | None]:
    """Count a batch; return the counts and which rows are usable (``None``: every row).

    Parameters
    ----------
    values
        The columns that must be complete, each (n,); ``score`` names the one that must lie in [0, 1], and that
        labelled rows may lack.
    labels : (n,)
        The group; NaN means unlabelled, which is a missing value only where ``all_labelled``.
    controls, outcome
        Columns of ``values`` to compare: no control may be a copy of the score, the outcome or the group.
    absent
        Where columns that are not numbers are missing, (n,) each.
    weights, frequency
        Column of ``values`` that holds weights, and whether they count copies.
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
            nothing = np.isnan(column) & ~spared
            bad |= ~finite & ~spared
            _count(missing, name, int(nothing.sum()))
            _count(infinite, name, int(np.isinf(column).sum()))
            low = float(column.min(initial=math.inf, where=finite))
            high = float(column.max(initial=-math.inf, where=finite))
        if low <= high:
            extremes[name] = (low, high)
            if max(-low, high) > LARGEST:
                too_large |= np.abs(column) > LARGEST
    for name, gone in absent.items():
        bad |= gone
        _count(missing, name, int(gone.sum()))
    p = values[score]
    # NaN compares False, so a missing score counts as missing only.
    outside = (p < 0) | (p > 1)
    not_binary = known & (labels != 0) & (labels != 1)
    if all_labelled and not known.all():
        bad |= ~known
        _count(missing, group or "group", int(n - known.sum()))
    dropped = int(bad.sum())
    bad |= outside | not_binary | too_large
    weight = None if weights is None else values[weights]
    copies = weight if frequency else None
    fractional = np.zeros(n, dtype=np.bool_)
    if copies is not None:
        fractional = np.isfinite(copies) & (copies != np.floor(copies))
        bad |= copies > MOST_COPIES
    if weight is not None:
        bad |= (weight < 0) | fractional
    usable = None if not bad.any() else ~bad
    chosen = known if usable is None else known & usable
    pairs, differ = _compared(values, controls, score, outcome, group, labels, known)
    counts = Tally(
        rows=n,
        unlabelled=_cases(~known if usable is None else ~known & usable, copies),
        labelled=_cases(chosen, copies),
        positive=_cases(chosen & (labels == 1), copies),
        dropped=dropped,
        missing=missing,
        infinite=infinite,
        outside=int(outside.sum()),
        extremes=extremes,
        not_binary=int(not_binary.sum()),
        example=float(labels[not_binary].min()) if not_binary.any() else None,
        fractional=int(fractional.sum()),
        graded=outcome is not None and _graded(values[outcome], *extremes.get(outcome, (0.0, 0.0))),
        pairs=pairs,
        differ=differ,
        unlike_group=frozenset(name for name in controls if _unlike(values[name], labels)),
        unsure=bool(((p > 0) & (p < 1) & ~known).any()),
    )
    return counts, usable


def _count(counts: dict[str, int], name: str, number: int) -> None:
    if number:
        counts[name] = number


def _cases(rows: NDArray[np.bool_], copies: Floats | None) -> int:
    """Return how many cases the chosen rows stand for."""
    return int(np.count_nonzero(rows)) if copies is None else int(copies[rows].sum())


def _graded(outcome: Floats, low: float, high: float) -> bool:
    """Return whether any outcome is neither 0 nor 1 nor missing."""
    return low < 0 or high > 1 or bool(((outcome != 0) & (outcome != 1) & ~np.isnan(outcome)).any())


def _compared(
    values: Mapping[str, Floats],
    controls: Sequence[str],
    score: str,
    outcome: str | None,
    group: str | None,
    labels: Floats,
    known: NDArray[np.bool_],
) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    """Return which pairs of columns were compared, and which of them differ in some row."""
    others = {} if outcome is None else {score: values[score], outcome: values[outcome]}
    pairs, differ = set(), set()
    for control in controls:
        mine = values[control]
        for name, theirs in others.items():
            if len(mine):
                pairs.add((control, name))
                # Most differ in the first row, which is cheaper to see than that all are equal.
                if mine[0] != theirs[0] or not np.array_equal(mine, theirs):
                    differ.add((control, name))
        theirs = labels[known]
        if group is not None and len(theirs):
            pairs.add((control, group))
            if not np.array_equal(mine[known], theirs):
                differ.add((control, group))
    return frozenset(pairs), frozenset(differ)


def _unlike(column: Floats, labels: Floats) -> bool:
    """Return whether a column differs from the labels in some row, NaN being a value like any other."""
    # Most differ in the first row or the last, which is cheaper to see than that all are equal.
    ends = slice(None, None, max(len(column) - 1, 1))
    return any(not np.array_equal(column[at], labels[at], equal_nan=True) for at in (ends, slice(None)))
