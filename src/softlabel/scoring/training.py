"""Training: from labelled rows to a scorer, the scores of these rows, and what is to be said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from softlabel.asking import control_plan, feature_names, folds_by, plain_name
from softlabel.errors import DataError, InputError, did_you_mean
from softlabel.folds import check_folds, check_seed
from softlabel.hashing import Hashes
from softlabel.results import Table
from softlabel.results.records import Column
from softlabel.results.scoring import ScoreMetrics, ScoreReport
from softlabel.scoring.calibrators import check_calibrator
from softlabel.scoring.folds import Dealt, deal_labelled
from softlabel.scoring.labelled import Labelled
from softlabel.scoring.metrics import Beyond, beyond_controls, measure
from softlabel.scoring.models import Model, dense_columns, make_model
from softlabel.scoring.names import DRAWS, SPLITS
from softlabel.scoring.pieces import Piece, Recipe, Rows, fit_halves, fit_piece
from softlabel.scoring.preparing import prepare
from softlabel.scoring.scorer import Roles, Scorer, gaps
from softlabel.scoring.structure import check_structure, said

__all__ = ["Asked", "Trained", "check_asked", "train"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What the caller asked for, checked; ``given`` are folds of the labelled rows that were handed in."""

    roles: Roles
    model: Model
    calibrator: str
    split: str
    given: NDArray[np.intp] | None
    folds: int
    draw: str
    sigma: float
    categories: tuple[str, ...]
    seed: int
    force: bool


def check_asked(
    *,
    features: Sequence[str],
    group: Any,
    controls: Sequence[str] | str = (),
    model: Any = "logistic",
    calibrator: Any = "conditional",
    split: Any = "folds",
    folds: Any = 5,
    draw: Any = "mean",
    sigma: Any = 0.3,
    categories: Collection[str] = (),
    weights: Any = None,
    cluster: Any = None,
    id: Any = None,
    seed: Any = 0,
    force: bool = False,
    outcome: str | None = None,
    further: tuple[str, ...] = (),
) -> Asked:
    """Return what was asked for, or say what is wrong with it; an ``outcome`` must not be a feature."""
    seen, plan = feature_names(features), control_plan(controls)
    folds_by(id, cluster)
    roles = Roles(
        features=seen,
        controls=plan.controls,
        group=plain_name(group),
        weights=plain_name(weights),
        cluster=plain_name(cluster),
        id=plain_name(id),
        further=further,
    )
    check_structure(roles, outcome, force=bool(force))
    unknown = [name for name in categories if name not in roles.seen]
    if unknown:
        raise InputError(
            expected="categories to be features or controls",
            found=repr(unknown[0]),
            fix=did_you_mean(str(unknown[0]), roles.seen),
        )
    seed = check_seed(seed)
    given = None if isinstance(split, str) else _given(split)
    made = make_model(model, seed)
    _check_choice("split", split if given is None else "folds", SPLITS)
    _check_choice("draw", draw, DRAWS)
    if draw == "member" and not made.draws:
        raise InputError(
            expected="an ensemble to draw members from",
            found=f"model={made.name!r}",
            fix="Use model='bootstrap', 'deep' or 'dropout', or draw='mean'",
        )
    if made.given and len(seen) != 1:
        raise InputError(
            expected="one feature, the score, with model='given'",
            found=f"{len(seen)}",
            fix="Name the column of the score alone, or choose a model to train",
        )
    if isinstance(sigma, bool) or not isinstance(sigma, int | float | np.floating) or not 0 < sigma < 1:
        raise InputError(expected="sigma between 0 and 1", found=repr(sigma), fix="Use for instance sigma=0.3")
    if folds is None:
        raise InputError(expected="folds to be a whole number from 2 to 100", found="folds=None", fix="Use folds=5")
    return Asked(
        roles=roles,
        model=made,
        calibrator=check_calibrator(calibrator),
        split="folds" if given is not None else split,
        given=given,
        folds=check_folds(folds) if given is None else int(given.max()) + 1,
        draw=draw,
        sigma=float(sigma),
        categories=tuple(categories),
        seed=seed,
        force=bool(force),
    )


def _check_choice(what: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(
            expected=f"{what} to be one of {', '.join(map(repr, known))}",
            found=repr(value),
            fix=did_you_mean(str(value), known),
        )


def _given(split: Any) -> NDArray[np.intp]:
    array = np.asarray(split)
    labels, which = np.unique(array, return_inverse=True)
    if array.ndim != 1 or len(labels) < 2 or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise InputError(
            expected="split to be a name, or the fold of each labelled row, of at least 2 folds",
            found=f"shape {array.shape} with {len(labels)} values",
            fix="Pass one whole number per labelled row, or split='folds'",
        )
    return which.astype(np.intp)


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
    scorer = Scorer(asked.roles, layout, pieces, None if asked.split == "halves" else dealt, asked.split == "mean")
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
    dense = dense_columns(categorical).fit_transform(controls) if controls.shape[1] else controls
    return beyond_controls(p, rows.labels, dense, rows.weight)
