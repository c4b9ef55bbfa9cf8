"""In memory: arrays as one batch for the same two passes that tables take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.basis import LinearBasis
from softlabel.errors import DataError, InputError
from softlabel.estimators.arrays import controls_array, score_array, vector
from softlabel.estimators.weights import check_weight_type, cluster_array, weight_array, zero_weight_note
from softlabel.folds import check_folds, check_seed
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.look import Clusters, Dealing
from softlabel.moments import Design, Partition
from softlabel.study import Batch, Columns, Tally

__all__ = ["analyse_arrays"]

Floats = NDArray[np.float64]


def analyse_arrays(
    y: ArrayLike | None,
    p: ArrayLike,
    X: ArrayLike | None,
    *,
    thresholds: Sequence[float] = (),
    confident: Sequence[float] = (),
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    weights: ArrayLike | None = None,
    weight_type: str = "sampling",
    cluster: ArrayLike | None = None,
) -> tuple[Analysis, str | None]:
    """Check the arrays and run both passes; return the sums, and what a reader should know.

    y and p (n,), X (n, k); without an outcome it is zero. ``folds`` may hold each row's fold. Controls enter linearly.
    """
    frequency = check_weight_type(weight_type, weighted=weights is not None)
    outcome = None if y is None else vector(y, "y")
    score = score_array(p, None if outcome is None else len(outcome))
    n = len(score)
    x = controls_array(X, n)
    if not n:
        raise DataError(expected="rows", found="empty arrays", fix="Check the filter before")
    given: NDArray[np.intp] | None = None
    if folds is None or isinstance(folds, int | np.integer):
        count = check_folds(None if folds is None else int(folds))
    else:
        given, count = _given_folds(folds, n)
    columns = Columns(
        np.zeros(n) if outcome is None else outcome,
        score[None, :],
        x,
        np.full(n, np.nan),
        weight=None if weights is None else weight_array(weights, n, frequency=frequency),
        cluster=None if cluster is None else cluster_array(cluster, n),
        fold=given,
        frequency=frequency,
    )
    zero = 0 if columns.weight is None else int(np.count_nonzero(columns.weight == 0))
    if zero and columns.weight is not None:
        columns = columns.take(columns.weight > 0)
    names = tuple(f"x{j + 1}" for j in range(len(x)))
    design = Design(LinearBasis(names), Partition.of(thresholds, confident), count, check_seed(seed))
    batch = Batch(columns, columns.take(slice(0, 0)), Tally(rows=n, unlabelled=len(columns)))
    if columns.cluster is not None:
        dealt = Dealing.of(Clusters.of(columns.cluster), 1 if given is not None else count, design.seed).apply(batch)
        batch = dealt if given is None else batch
    by = "given" if given is not None else "values" if cluster is None else "cluster"
    rule = FoldRule(None if folds is None else count, by)
    analysis = analyse(lambda: [batch], _itself, design, rule, verify=_trust)
    notes = (zero_weight_note(zero, n), _fallback_note(analysis, folds))
    return analysis, ". ".join(note for note in notes if note is not None) or None


def _itself(batch: Batch) -> Batch:
    return batch


def _trust(_: Tally) -> None:
    """Accept the counts: the arrays were checked at the door."""


def _fallback_note(analysis: Analysis, folds: int | ArrayLike | None) -> str | None:
    """Return what a caller who asked for folds should know where there are none."""
    if folds is None or not analysis.nuisances.in_sample:
        return None
    return (
        f"The rows repeat: {analysis.n} hold about {analysis.n_effective:.0f} distinct ones. The nuisances were fitted "
        "in sample, because copies would share a fold; pass each row's fold to cross-fit"
    )


def _given_folds(folds: ArrayLike, n: int) -> tuple[NDArray[np.intp], int]:
    array = vector(folds, "folds", n)
    labels, which = np.unique(array, return_inverse=True)
    if len(labels) < 2:
        raise InputError(
            expected="folds to name at least 2 folds", found=f"{len(labels)}", fix="Use folds=None for none"
        )
    return which.astype(np.intp), len(labels)
