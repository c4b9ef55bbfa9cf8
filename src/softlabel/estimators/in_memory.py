"""In memory: arrays as one batch for the same two passes that tables take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.basis import LinearBasis
from softlabel.errors import DataError, InputError
from softlabel.estimators.arrays import controls_array, score_array, vector
from softlabel.estimators.weights import check_weight_type, cluster_array, weight_array, zero_weight_note
from softlabel.folds import check_folds, check_seed, hash_rows
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.look import Clusters, Dealing
from softlabel.moments import Design, Partition
from softlabel.moments.kernel import fold_of
from softlabel.study import Batch, Columns, Tally

__all__ = ["ArrayRows", "analyse_arrays", "array_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRows:
    """Checked arrays as one batch, with what decides its regressions.

    ``used`` (n,) tells which rows of the arrays entered; ``note`` what a reader should know of the others.
    """

    batch: Batch
    design: Design
    rule: FoldRule
    used: NDArray[np.bool_]
    note: str | None

    def analyse(self) -> tuple[Analysis, str | None]:
        """Run both passes; return the sums, and what a reader should know."""
        analysis = analyse(lambda: [self.batch], _itself, self.design, self.rule, verify=_trust)
        notes = (self.note, _fallback_note(analysis, self.rule.count))
        return analysis, ". ".join(note for note in notes if note is not None) or None

    def fold(self, analysis: Analysis) -> NDArray[np.intp] | None:
        """Return the fold of each row that entered, ``None`` where nuisances are fitted in sample."""
        rows = self.batch.unlabelled
        return None if analysis.nuisances.in_sample else fold_of(rows, hash_rows(rows), self.design)


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
    rows = array_rows(
        y,
        p,
        X,
        partition=Partition.of(thresholds, confident),
        folds=folds,
        seed=seed,
        weights=weights,
        weight_type=weight_type,
        cluster=cluster,
    )
    return rows.analyse()


def array_rows(
    y: ArrayLike | None,
    p: ArrayLike,
    X: ArrayLike | None,
    *,
    partition: Partition,
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    weights: ArrayLike | None = None,
    weight_type: str = "sampling",
    cluster: ArrayLike | None = None,
) -> ArrayRows:
    """Check the arrays of `analyse_arrays` and return them as one batch."""
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
    used = np.ones(n, dtype=np.bool_) if columns.weight is None else columns.weight > 0
    zero = n - int(np.count_nonzero(used))
    if zero:
        columns = columns.take(used)
    names = tuple(f"x{j + 1}" for j in range(len(x)))
    design = Design(LinearBasis(names), partition, count, check_seed(seed))
    batch = Batch(columns, columns.take(slice(0, 0)), Tally(rows=n, unlabelled=len(columns)))
    if columns.cluster is not None:
        dealt = Dealing.of(Clusters.of(columns.cluster), 1 if given is not None else count, design.seed).apply(batch)
        batch = dealt if given is None else batch
    by = "given" if given is not None else "values" if cluster is None else "cluster"
    rule = FoldRule(None if folds is None else count, by)
    return ArrayRows(batch, design, rule, used, zero_weight_note(zero, n))


def _itself(batch: Batch) -> Batch:
    return batch


def _trust(_: Tally) -> None:
    """Accept the counts: the arrays were checked at the door."""


def _fallback_note(analysis: Analysis, folds: int | None) -> str | None:
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
