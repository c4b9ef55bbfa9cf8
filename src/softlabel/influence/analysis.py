"""Both passes over a table, whatever it is read from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import DataError, SourceChanged
from softlabel.folds import RowCheck
from softlabel.influence.drawn import Drawn, limit
from softlabel.influence.drift_sums import DriftSums
from softlabel.influence.points import Points, points
from softlabel.influence.score_pass import ScoreState, score_batch
from softlabel.influence.spread_sums import SpreadSums
from softlabel.influence.sums import InfluenceSums
from softlabel.moments import Design, FitState, fit_batch
from softlabel.nuisances import LinearNuisances, fit_nuisances
from softlabel.sources.threads import map_merge
from softlabel.study import Batch, Tally

__all__ = ["FEW_DISTINCT_ROWS", "Analysis", "FoldRule", "analyse", "check_unchanged"]

# Dealing by row values needs distinct rows: copies share a fold, so folds depend on the outcome. That adds errors of
# order d/n_eff where standard errors are of order n^-1/2, so a table that does repeat rows has its nuisances fitted
# in sample unless n_eff exceeds both 5,000 and 10·d·√n. In sample the error is of order d/n only.
FEW_DISTINCT_ROWS = 5_000
_MARGIN = 10
REPEATS = 0.9

Chunk = TypeVar("Chunk")


@dataclass(frozen=True, slots=True)
class FoldRule:
    """How rows come to folds: ``count`` folds (``None``: in sample) by ``by``, "values", "id", "cluster" or "given"."""

    count: int | None
    by: str

    def in_sample(self, n_effective: float, n: int, d: int) -> bool:
        """Return whether nuisances with d columns are fitted in sample, for n rows worth so many distinct ones."""
        few = n_effective < max(FEW_DISTINCT_ROWS, _MARGIN * d * math.sqrt(n))
        return self.count is None or (self.by == "values" and few and n_effective < REPEATS * n)


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """All sums and fits of one table; every estimate is a function of this.

    ``sums`` are those of the influence functions, by accumulator; ``drift`` is what a drift could do; ``spread``
    is where the residuals of the score lie; ``drawn`` holds a few unlabelled rows.
    """

    design: Design
    fit: FitState
    n_effective: float
    nuisances: LinearNuisances
    points: Points
    sums: Mapping[str, InfluenceSums]
    drift: DriftSums
    spread: SpreadSums
    drawn: Drawn

    @property
    def n(self) -> int:
        """Unlabelled rows."""
        return self.fit.moments.rows

    @property
    def clusters(self) -> int | None:
        """Clusters that the unlabelled rows fall into; ``None``: rows are independent."""
        count = self.sums["core"].n_clusters
        return None if count is None else int(count[0])

    def fewest_to_train(self, members: NDArray[np.bool_] | None = None) -> int:
        """Return the rows that the nuisances of the worst-off fold were fitted on, (C,) members or all codes.

        A fold without rows needs no nuisances.
        """
        counts = self.fit.moments.counts
        by_fold = counts.sum(axis=1) if members is None else counts @ members
        if self.nuisances.in_sample or not by_fold.any():
            return int(by_fold.sum())
        return int((by_fold.sum() - by_fold[by_fold > 0]).min())


def analyse(
    chunks: Callable[[], Iterable[Chunk]],
    read: Callable[[Chunk], Batch],
    design: Design,
    rule: FoldRule,
    *,
    verify: Callable[[Tally], None],
    threads: int = 1,
    nuisances_of: Callable[..., LinearNuisances] | None = None,
) -> Analysis:
    """Run both passes; ``chunks()`` starts a reading from the beginning and ``read`` makes a chunk columns.

    ``verify`` is shown the counts of the first pass and must raise where there is no unlabelled row.
    ``nuisances_of`` makes nuisances of moments and design, in place of `fit_nuisances`.
    """
    fit = map_merge(chunks(), lambda chunk: fit_batch(read(chunk), design), threads, FitState.empty(design))
    verify(fit.tally)
    n_effective = fit.sketch.effective_rows(fit.moments.rows)
    in_sample = rule.in_sample(n_effective, fit.moments.rows, design.d)
    if not in_sample:
        _check_folds_used(fit.moments.counts, rule)
    nuisances = (nuisances_of or fit_nuisances)(fit.moments, design, in_sample=in_sample)
    at = points(fit.moments, nuisances, design)
    below = limit(n_effective)
    score = map_merge(
        chunks(),
        lambda chunk: score_batch(read(chunk), nuisances, at, design, draw_below=below),
        threads,
        ScoreState.empty(),
    )
    check_unchanged(fit.check, score.check)
    influence = {name: part for name, part in score.sums.items() if isinstance(part, InfluenceSums)}
    drift, spread = score.sums["drift"], score.sums["spread"]
    assert isinstance(drift, DriftSums)  # noqa: S101  (its accumulator says so)
    assert isinstance(spread, SpreadSums)  # noqa: S101  (the same)
    return Analysis(design, fit, n_effective, nuisances, at, influence, drift, spread, score.drawn)


def check_unchanged(first: RowCheck, later: RowCheck) -> None:
    """Raise unless two readings gave the same rows."""
    if first != later:
        raise SourceChanged(
            expected=f"every reading to give the rows of the first ({first})",
            found=str(later),
            fix="Run again once nothing writes to the data, or copy them first",
        )


def _check_folds_used(counts: NDArray[np.int64], rule: FoldRule) -> None:
    used = int((counts.sum(axis=1) > 0).sum())
    if used < 2 and rule.by != "values":  # one row alone is a fold of its own, and has too few coefficients to say so
        raise DataError(
            expected=f"the {rule.by} to deal rows to at least 2 folds",
            found="every row in one",
            fix="Use an id with more distinct values, or folds=None to fit the nuisances in sample",
        )
