"""Every calibrator and split after one classifier, which is fitted once: to compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from softlabel.scoring.asked import Asked, check_asked
from softlabel.scoring.folds import Dealt, deal_labelled
from softlabel.scoring.labelled import read_labelled
from softlabel.scoring.pieces import Piece, Rows, fit_halves_each, fit_pieces
from softlabel.scoring.preparing import Prepared, prepare
from softlabel.scoring.scorer import rows_of
from softlabel.sources import open_source

__all__ = ["EachScore", "score_each"]

Floats = NDArray[np.float64]


class EachScore(NamedTuple):
    """Scores of unlabelled rows (n_U,), of labelled ones (n_L,), and which of these may audit (n_L,)."""

    unlabelled: Floats
    labelled: Floats
    audit: NDArray[np.bool_]


def score_each(
    labelled: Any, unlabelled: Any, *, calibrators: Sequence[str], splits: Sequence[str], **making: Any
) -> dict[tuple[str, str], EachScore]:
    """Return what `score` gives, in memory and without its report, for every calibrator and split.

    A classifier costs far more than a calibrator, and "folds" and "mean" are made of the same ones. ``making`` are
    arguments of `score`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, w = rng.normal(size=(2, 300))
    >>> rows = {"x": x, "w": w, "g": (rng.random(300) < 1 / (1 + np.exp(-x - w))).astype(float)}
    >>> making = {"features": ["x", "w"], "controls": ["x"], "group": "g"}
    >>> found = score_each(rows, rows, calibrators=["none", "platt"], splits=["folds", "mean"], **making)
    >>> list(found)
    [('none', 'folds'), ('none', 'mean'), ('platt', 'folds'), ('platt', 'mean')]
    """
    asked = [check_asked(**making, calibrator=name, split=split) for name in calibrators for split in splits]
    first = asked[0]
    shown = prepare(read_labelled(open_source(labelled).select(first.roles.to_train), first.roles), first)
    hidden = _hidden(unlabelled, first, shown)
    crossed = [split for split in splits if split != "halves"]
    found: dict[tuple[str, str], EachScore] = {}
    with threadpool_limits(limits=1):
        if crossed:
            found |= _crossed(shown, hidden, calibrators, crossed, first)
        if "halves" in splits:
            found |= _halved(shown, hidden, calibrators, first)
    # Back to the order of the table.
    back = np.argsort(shown.order)
    return {
        (one.calibrator, one.split): EachScore(each.unlabelled, each.labelled[back], each.audit)
        for one in asked
        for each in [found[one.calibrator, one.split]]
    }


def _hidden(unlabelled: Any, asked: Asked, shown: Prepared) -> Rows:
    selection = open_source(unlabelled).select(asked.roles.to_score)
    table = pa.Table.from_batches(list(selection.batches()), selection.schema()).combine_chunks()
    return rows_of(table, asked.roles, shown.layout, frame=asked.model.takes == "frame")


def _crossed(
    shown: Prepared, hidden: Rows, calibrators: Sequence[str], splits: Sequence[str], asked: Asked
) -> dict[tuple[str, str], EachScore]:
    rows = shown.rows
    dealt = deal_labelled(rows.hashes, rows.labels, rows.cluster, asked.folds, asked.seed)
    own = _by_fold(dealt, rows, hidden)
    labelled = np.empty((len(calibrators), len(rows)))
    folds, mean = np.empty((2, len(calibrators), len(hidden)))
    mean[:] = 0.0
    for k, (train, held, scored) in enumerate(own):
        pieces = fit_pieces(shown.recipe, train, calibrators)
        labelled[:, dealt.fold == k] = _scored(pieces, held)
        if "mean" in splits:
            every = _scored(pieces, hidden)
            mean += every / dealt.count
            folds[:, scored] = every[:, scored]
        else:
            folds[:, scored] = _scored(pieces, hidden.take(scored))
    audit = np.ones(len(rows), dtype=np.bool_)
    by_split = {"folds": folds, "mean": mean}
    return {
        (name, split): EachScore(by_split[split][j], labelled[j], audit)
        for j, name in enumerate(calibrators)
        for split in splits
    }


def _by_fold(dealt: Dealt, rows: Rows, hidden: Rows) -> list[tuple[Rows, Rows, NDArray[np.bool_]]]:
    """Return for each fold the labelled rows that train, those that are held out, and which unlabelled are its own."""
    fold = dealt.of_unlabelled(hidden.hashes, hidden.cluster)
    return [(rows.take(dealt.fold != k), rows.take(dealt.fold == k), fold == k) for k in range(dealt.count)]


def _halved(
    shown: Prepared, hidden: Rows, calibrators: Sequence[str], asked: Asked
) -> dict[tuple[str, str], EachScore]:
    rows = shown.rows
    dealt = deal_labelled(rows.hashes, rows.labels, rows.cluster, 2, asked.seed)
    pieces = fit_halves_each(shown.recipe, rows, dealt.fold == 0, calibrators)
    audit = np.zeros(len(rows), dtype=np.bool_)
    both = zip(calibrators, _scored(pieces, hidden), _scored(pieces, rows), strict=True)
    return {(name, "halves"): EachScore(p_hidden, p_shown, audit) for name, p_hidden, p_shown in both}


def _scored(pieces: Sequence[Piece], rows: Rows) -> Floats:
    """Return the scores of rows (n,) by pieces (m,) of one classifier, (m, n)."""
    raw = pieces[0].raw(rows)
    return np.array([piece.calibrated(raw, rows) for piece in pieces])
