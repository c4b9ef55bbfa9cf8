"""Training: from labelled rows to a scorer, the scores of these rows, and what is to be said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from softlabel.errors import DataError, InputError
from softlabel.hashing import Hashes
from softlabel.results import Table
from softlabel.results.records import Column
from softlabel.results.scoring import ScoreMetrics, ScoreReport
from softlabel.scoring.asked import Asked
from softlabel.scoring.copies import repeat
from softlabel.scoring.folds import Dealt, deal_labelled
from softlabel.scoring.labelled import Labelled
from softlabel.scoring.metrics import Beyond, beyond_controls, measure
from softlabel.scoring.models import dense_columns
from softlabel.scoring.pieces import Piece, Recipe, Rows, fit_halves, fit_piece
from softlabel.scoring.preparing import prepare
from softlabel.scoring.scorer import Scorer, gaps
from softlabel.scoring.structure import said

__all__ = ["Trained", "train"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A scorer, and of the labelled rows scores p, hashes, whether they may audit, folds (n,) and gaps by column."""

    asked: Asked
    scorer: Scorer
    p: Floats
    hashes: Hashes
    audit: NDArray[np.bool_]
    fold: NDArray[np.intp]
    missing: Mapping[str, int]
    group: Floats
    metrics: Table[ScoreMetrics]
    beyond: Beyond | None

    def report(self, unlabelled: int, missing: Counter[str]) -> ScoreReport:
        """Return the report, with the count of unlabelled rows and of what all rows lack."""
        asked, ones = self.asked, int(self.group.sum())
        gone = tuple(Column(name, count) for name, count in missing.items() if count)
        return ScoreReport(
            model=asked.model.name,
            calibrator=asked.calibrator,
            split="given" if asked.given is not None else asked.split,
            folds=None if asked.split == "halves" else asked.folds,
            draw=asked.draw,
            seed=asked.seed,
            features=asked.roles.features,
            controls=asked.roles.controls,
            labelled=len(self.group),
            labelled_by_class=(len(self.group) - ones, ones),
            unlabelled=unlabelled,
            audit=int(self.audit.sum()),
            missing=gone,
            metrics=self.metrics,
            remainder=None if self.beyond is None else self.beyond.share,
            slope=None if self.beyond is None else self.beyond.slope,
            slope_error=None if self.beyond is None else self.beyond.std_error,
            notes=said(asked.roles, asked.split, asked.draw, self.beyond, gone),
        )


def train(labelled: Labelled, asked: Asked) -> Trained:
    """Fit the pieces, and score each labelled row by those that have not seen it, where there are such."""
    layout, rows, order, recipe = prepare(labelled, asked)
    back = np.argsort(order)
    # Labelled rows are few: threads of the numerical libraries would mostly wait for each other.
    with threadpool_limits(limits=1):
        fit = _by_halves if asked.split == "halves" else _by_folds
        dealt, pieces, raw, p, audit = fit(recipe, rows, _in_order(asked, order))
    scorer = Scorer(
        roles=asked.roles,
        layout=layout,
        pieces=pieces,
        dealt=None if asked.split == "halves" else dealt,
        mean=asked.split == "mean",
        repeat=asked.roles.cluster is None and asked.roles.id is None and repeat(rows.hashes),
    )
    return Trained(
        asked=asked,
        scorer=scorer,
        p=p[back],
        hashes=rows.hashes[back],
        audit=audit[back],
        fold=dealt.fold[back],
        missing=gaps(labelled.table, asked.roles.seen),
        group=rows.labels,
        metrics=_metrics(raw, p, rows, audit),
        beyond=_beyond(p, rows, recipe.control_categories) if audit.any() else None,
    )


_Fitted = tuple[Dealt, tuple[Piece, ...], Floats, Floats, NDArray[np.bool_]]


def _by_halves(recipe: Recipe, rows: Rows, asked: Asked) -> _Fitted:
    dealt = deal_labelled(rows.hashes, rows.labels, rows.cluster, 2, asked.seed)
    piece = fit_halves(recipe, rows, dealt.fold == 0)
    raw, p = piece.both(rows)
    return dealt, (piece,), raw, p, np.zeros(len(rows), dtype=np.bool_)


def _by_folds(recipe: Recipe, rows: Rows, asked: Asked) -> _Fitted:
    if asked.given is None:
        dealt = deal_labelled(rows.hashes, rows.labels, rows.cluster, asked.folds, asked.seed)
    else:
        dealt = _as_given(rows, asked)
    pieces = []
    raw, p = np.empty(len(rows)), np.empty(len(rows))
    for k in range(dealt.count):
        own = dealt.fold == k
        piece = fit_piece(recipe, rows.take(~own))
        raw[own], p[own] = piece.both(rows.take(own))
        pieces.append(piece)
    return dealt, tuple(pieces), raw, p, np.ones(len(rows), dtype=np.bool_)


def _in_order(asked: Asked, order: NDArray[np.intp]) -> Asked:
    """Return what was asked, with folds that were handed in put in the order of rows that are fitted on."""
    if asked.given is None or len(asked.given) != len(order):
        return asked
    return replace(asked, given=asked.given[order])


def _as_given(rows: Rows, asked: Asked) -> Dealt:
    fold = asked.given
    if fold is None or len(fold) != len(rows):
        raise InputError(
            expected=f"split to hold a fold for each of the {len(rows):,} labelled rows",
            found=f"{0 if fold is None else len(fold):,}",
            fix="Pass one per labelled row, in their order",
        )
    if rows.cluster is None:
        return Dealt(fold, asked.folds, asked.seed)
    ids, first, which = np.unique(rows.cluster, return_index=True, return_inverse=True)
    if (fold[first][which] != fold).any():
        raise DataError(
            expected="rows of a cluster to share a fold",
            found="a cluster in two folds of split",
            fix="Give all labelled rows of a cluster one fold, or leave cluster out",
        )
    return Dealt(fold, asked.folds, asked.seed, ids, fold[first])


def _metrics(raw: Floats, p: Floats, rows: Rows, audit: NDArray[np.bool_]) -> Table[ScoreMetrics]:
    if not audit.any():
        return Table(())
    weight = None if rows.weight is None else rows.weight[audit]
    both = (("classifier", raw), ("calibrated", p))
    return Table(tuple(measure(name, values[audit], rows.labels[audit], weight) for name, values in both))


def _beyond(p: Floats, rows: Rows, categorical: Sequence[bool]) -> Beyond:
    controls = rows.controls
    dense = dense_columns(categorical, curves=True).fit_transform(controls) if controls.shape[1] else controls
    return beyond_controls(p, rows.labels, dense, rows.weight)
