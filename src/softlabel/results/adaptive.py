"""Records of thresholds that differ between cells and classes, and what each cell's labels keep of the effect."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CellAttenuation", "ClassThreshold"]


@dataclass(frozen=True, slots=True)
class CellAttenuation:
    """κ of one cell, and its weight in κ: Σ weight · kappa over the cells is κ.

    Attributes
    ----------
    cell
        The cell's label as text; "all" where there are no cells.
    threshold
        A score above it makes the label 1.
    weight
        The cell's share of E[b²], what the controls leave of the label; zero where ``kappa`` is ``None``.
    kappa, std_error, ci_low, ci_high
        ``std_error`` and the interval are ``None`` where the rows are too few for an error; ``reason`` then says so.
    n, n_above
        Rows of the cell, or of its kept ones, and how many of these are labelled 1.
    """

    cell: str
    threshold: float | None
    weight: float
    kappa: float | None
    std_error: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_above: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ClassThreshold:
    """The threshold of one class in one cell: rows of that class more certain than it are kept.

    Attributes
    ----------
    cell, group
        The class is that of the rows whose more probable group is ``group``, 0 or 1.
    threshold
        Below one half it binds nobody: every row of the class is kept. ``None`` in a cell without rows.
    learnt
        How well the class has been learnt beside the other, from 0 to 1: β of FlexMatch, p̄/max p̄ of FreeMatch.
        ``None`` where the thresholds were given.
    n, n_kept
        Rows of the class, and those kept.
    """

    cell: str
    group: int
    threshold: float | None
    learnt: float | None
    n: int
    n_kept: int
