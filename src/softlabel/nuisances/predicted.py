r"""Out-of-fold predictions in the place of the controls: a learner takes the same two passes as least squares.

With z = (1, P, p, Y), where P holds the predictions of every nuisance, a residual is the difference of two entries
of z. So the maps of the nuisances are known beforehand, and nothing after them asks where the predictions are from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.folds import hash_rows
from softlabel.moments.cells import CellMoments
from softlabel.moments.design import Design
from softlabel.moments.kernel import fold_of
from softlabel.moments.partition import Partition
from softlabel.nuisances.learners import Learner
from softlabel.nuisances.linear import LinearNuisances
from softlabel.nuisances.out_of_fold import LEAST_TO_TRAIN, Progress, fewest_to_train, out_of_fold
from softlabel.study import Columns

__all__ = ["PredictionBasis", "predicted_nuisances", "prediction_names", "predictions", "with_predictions"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PredictionBasis:
    """B(X) = (1, P): predictions in the order of the rows of `LinearNuisances.maps`; ``name`` is the learner's."""

    name: str
    columns: tuple[str, ...]
    ridge: float = 0.0

    @property
    def controls(self) -> tuple[str, ...]:
        """Names of the rows that stand where the controls were: the predictions."""
        return self.columns

    @property
    def categories(self) -> frozenset[str]:
        """None: predictions are numbers."""
        return frozenset()

    @property
    def owners(self) -> tuple[tuple[str, ...], ...]:
        """Each prediction is made of all controls: for this room it is one of its own."""
        return tuple((column,) for column in self.columns)

    @property
    def fingerprint(self) -> list[object]:
        """Equal for bases of the same columns."""
        return ["predicted", self.name, *self.columns]

    def fill(self, controls: Floats, out: Floats) -> None:
        """Write the columns after the intercept, (M, n), which are the predictions themselves, into ``out``."""
        out[:] = controls


def prediction_names(partition: Partition) -> tuple[str, ...]:
    """Return the names of the rows of P.

    Examples
    --------
    >>> prediction_names(Partition((0.5,), (0.9,)))
    ('E[p|X]', 'E[y|X]', 'E[h(0.5)|X]', 'E[p|X,C(0.9)]', 'E[y|X,C(0.9)]', 'E[h(0.9)|X,C(0.9)]')
    """
    contrasts = [""] if partition.contrasts == 1 else [str(j + 1) for j in range(partition.contrasts)]
    names = [*(f"E[p{j}|X]" for j in contrasts), "E[y|X]"]
    names += [f"E[h{j}({t:g})|X]" for t in partition.thresholds for j in contrasts]
    for t in partition.confident:
        within = [*(f"p{j}" for j in contrasts), "y", *(f"h{j}({t:g})" for j in contrasts)]
        names += [f"E[{what}|X,C({t:g})]" for what in within]
    return tuple(names)


def predictions(
    learner: Learner,
    columns: Columns,
    partition: Partition,
    fold: NDArray[np.intp],
    folds: int,
    *,
    others: tuple[Floats, Floats] | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Return the out-of-fold predictions of every nuisance, (M, n), with M = q + 1 + T·q + T_C·(2q + 1).

    ``others`` is as `out_of_fold` has it: controls (k, o) of rows that no fit has seen, and where to write P for them,
    (M, o). The rows are those of `LinearNuisances.maps`: r̂, m̂, ê[h|X] by threshold, then the three within each
    confident set. Equal fits are done once: those of thresholds between which no score lies, or of a set that holds
    every row.

    Notes
    -----
    A confident set with no more rows to train on than linear regressions on M columns would need is not reported on
    (its estimates are null, with that reason), so no learner is tried on it: it gets means, or zeros without rows.
    """
    found = np.zeros((len(prediction_names(partition)), len(columns)))
    x_others, elsewhere = (np.empty((0, 0)), np.empty((len(found), 0))) if others is None else others
    copies = columns.weight if columns.frequency else None
    fits = []
    for group in _plan(columns, partition):
        everyone, rows = bool(group.members.all()), fewest_to_train(fold, group.members)
        reported = rows >= LEAST_TO_TRAIN and fewest_to_train(fold, group.members, copies) > len(found) + 1
        if everyone or rows:
            used = slice(None) if everyone or reported else slice(0)
            controls = columns.controls[used], x_others[used]
            fits.append((group, controls, len(np.unique(fold[group.members])) * len(group.targets)))
    done, total = 0, sum(count for *_, count in fits)
    for group, (x, x_new), count in fits:
        out = np.zeros((len(group.targets), elsewhere.shape[1]))
        predicted = out_of_fold(
            learner,
            x,
            np.stack(group.targets),
            fold,
            folds,
            weight=columns.weight,
            frequency=columns.frequency,
            members=group.members,
            progress=_offset(progress, done, total),
            others=None if others is None else (x_new, out),
        )
        done += count
        for values, means, filled in zip(predicted, out, group.rows, strict=True):
            found[filled], elsewhere[filled] = values, means
    return found


class _Group(NamedTuple):
    """Different targets to be fitted on the same rows, and the rows of P that each one fills."""

    members: Bools
    targets: list[Floats]
    rows: list[list[int]]


def _plan(columns: Columns, partition: Partition) -> list[_Group]:
    groups: dict[bytes, _Group] = {}
    fills: dict[bytes, list[int]] = {}
    for row, (members, target) in enumerate(_targets(columns, partition)):
        same_rows = hashlib.sha256(members.tobytes()).digest()
        group = groups.setdefault(same_rows, _Group(members, [], []))
        # What a target is outside the set decides nothing.
        same_fit = hashlib.sha256(same_rows + target[members].tobytes()).digest()
        if same_fit not in fills:
            fills[same_fit] = []
            group.targets.append(target)
            group.rows.append(fills[same_fit])
        fills[same_fit].append(row)
    return list(groups.values())


def _targets(columns: Columns, partition: Partition) -> Iterator[tuple[Bools, Floats]]:
    """Yield, for each row of P, the rows it is fitted on and what is regressed on the controls."""
    codes = partition.codes(columns.score)
    everyone = np.ones(len(columns), dtype=np.bool_)
    plain = [*columns.score, columns.outcome]
    yield from ((everyone, target) for target in plain)
    for labels in partition.labels:
        yield from ((everyone, label[codes]) for label in labels)
    for codes_inside, labels in zip(partition.members, partition.confident_labels, strict=True):
        members = codes_inside[codes]
        yield from ((members, target) for target in [*plain, *(label[codes] for label in labels)])


def _offset(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return a hook for one part of the fits that reports on all of them."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def with_predictions(
    learner: Learner,
    columns: Columns,
    design: Design,
    *,
    others: tuple[Floats, Floats] | None = None,
    progress: Progress | None = None,
) -> tuple[Columns, Design]:
    """Return the rows with P for controls and their folds written down, and the design that reads them so.

    The learner is given the design columns of the basis, (d − 1, n), so categories come to it as dummies; so it is for
    ``others``, which are as `predictions` has them. Both passes over what is returned, with `predicted_nuisances` in
    the place of `fit_nuisances`, are those of the learner.
    """
    x = np.empty((design.d - 1, len(columns)))
    design.basis.fill(columns.controls, x)
    fold = fold_of(columns, hash_rows(columns), design)
    laid_out = replace(columns, controls=x)
    predicted = predictions(learner, laid_out, design.partition, fold, design.folds, others=others, progress=progress)
    basis = PredictionBasis(learner.name, prediction_names(design.partition))
    return replace(columns, controls=predicted, fold=fold), replace(design, basis=basis)


def predicted_nuisances(moments: CellMoments, design: Design, *, in_sample: bool) -> LinearNuisances:
    r"""Return the maps from z = (1, P, p, Y) to residuals: row j is −P_j, with p added for a and Y for R.

    As z is taken about a shift s, the intercept restores it: :math:`p - P_j = z_p - z_j + (s_p - s_j)`.
    """
    if in_sample:
        raise InputError(
            expected="folds for a learner",
            found="nuisances asked for in sample",
            fix="Use for instance folds=5: a learner predicts the rows it has seen better than it knows the rest",
        )
    part, d, q = design.partition, design.d, design.q
    rows = len(prediction_names(part))
    if d != rows + 1:
        raise InputError(
            expected=f"a design of {rows} predicted columns",
            found=f"{d - 1} columns of {design.basis.name}",
            fix="Make the rows and the design with with_predictions",
        )
    maps = np.zeros((rows, design.width))
    maps[np.arange(rows), np.arange(1, d)] = -1.0
    first_set = q + 1 + len(part.thresholds) * q
    for start in (0, *range(first_set, rows, 2 * q + 1)):
        maps[np.arange(start, start + q + 1), np.arange(d, design.width)] = 1.0
    maps[:, 0] = maps @ moments.shift
    return LinearNuisances(
        shift=moments.shift,
        maps=np.repeat(maps[None], design.folds, axis=0),
        kept=np.ones(d, dtype=np.bool_),
        in_sample=False,
    )
