"""Records of how scores are spread, and of how often the group is what they say along each control."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ControlReliability", "ScoreDistribution"]


@dataclass(frozen=True, slots=True)
class ScoreDistribution:
    """Where the scores lie, and where what the controls leave of them does: shares of the rows, weighted.

    Attributes
    ----------
    edges
        Ends of the bins of the score; a bin holds its upper end, the first one zero too.
    unlabelled, labelled
        The share of the unlabelled rows in each bin, and of the labelled rows that have a score; empty without any.
    mean
        Of the score over the unlabelled rows.
    knots, left
        The share of the unlabelled rows at each value of p − r̂(X), what the controls leave of the score; a row between
        two values counts to both, to each in part. Its variance is V*, what the rounding adds taken off. A value
        beyond the knots counts to the last.
    """

    edges: tuple[float, ...]
    unlabelled: tuple[float, ...]
    labelled: tuple[float, ...]
    mean: float
    knots: tuple[float, ...]
    left: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ControlReliability:
    """Audit rows of like scores in one part of a control: their mean score, the share of them in the group, its error.

    Parts are the levels of a category, or the halves of a number at its median; levels of few rows are one part.
    """

    control: str
    part: str
    low: float
    high: float
    n: int
    mean_score: float
    share: float
    std_error: float
