"""Out of fold: a learner's predictions for the rows of each fold, from fits on the rows of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from softlabel.errors import DataError
from softlabel.nuisances.learners import Learner, first_line, last_step, weight_argument
from softlabel.nuisances.ridge import LeaveOneOutRidge

__all__ = ["LEAST_TO_TRAIN", "LearnerScore", "Progress", "fewest_to_train", "out_of_fold", "v_star_of"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Progress = Callable[[int, int], None]

LEAST_TO_TRAIN = 2

# Below so many values to train on, boosting gains nothing from OpenMP's threads (16,000 rows of 5 columns: 0.27 s with
# one, 0.25 s with two), and where another process has the second core they wait for each other a hundred times longer.
_FEW_VALUES = 200_000


@dataclass(frozen=True, slots=True)
class LearnerScore:
    """V̂* with one learner's r̂(X), for n cases: of several learners the smallest is the most trustworthy."""

    name: str
    v_star: float
    std_error: float
    n: int


def out_of_fold(
    learner: Learner,
    x: Floats,
    targets: Floats,
    fold: NDArray[np.intp],
    folds: int,
    *,
    weight: Floats | None = None,
    frequency: bool = False,
    members: Bools | None = None,
    progress: Progress | None = None,
    others: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Return each row's predictions from fits on the other folds, (m, n), for targets (m, n) and controls (k, n).

    Parameters
    ----------
    fold, folds
        Each row's fold (n,), from 0 to below ``folds``.
    weight : (n,), optional
        Handed to ``fit`` as ``sample_weight``; a row of weight zero trains nothing.
    frequency
        Whether weights count copies: "ridge" then predicts what it would for so many rows; others know no difference.
    members : (n,), optional
        The rows that train and are predicted. The others are given the mean of the predictions: nothing reads them,
        and at that level they leave the digits of the sums alone.
    progress
        Called with (done, total) after every fit.
    others
        Controls (k, o) of rows that belong to no fold, and where to write the mean of all fits' predictions for them,
        (m, o).

    Notes
    -----
    Without controls, and for a target that is the same in all training rows, the fit is the (weighted) mean. BLAS is
    held to one thread and a forest adds its trees up in order, so that the same seed gives the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> from softlabel.nuisances import make_learner
    >>> x, fold = np.arange(6.0)[None], np.arange(6) % 2
    >>> out_of_fold(make_learner("ridge", seed=0), x, 3 * x + 1, fold, 2).round(1).tolist()
    [[1.0, 4.0, 7.0, 10.0, 13.0, 16.0]]
    """
    inside = np.ones(x.shape[1], dtype=np.bool_) if members is None else members
    usable = inside if weight is None else inside & (weight > 0)
    argument = (
        None if weight is None else weight_argument(learner.estimator, learner.name, "learner", "learner='boosting'")
    )
    if frequency and isinstance(learner.estimator, LeaveOneOutRidge):
        learner = replace(learner, estimator=LeaveOneOutRidge(copies=True))
    splits = [(np.flatnonzero(usable & (fold != k)), np.flatnonzero(inside & (fold == k))) for k in range(folds)]
    splits = [(train, rows) for train, rows in splits if len(rows)]
    least = LEAST_TO_TRAIN if len(x) else 1
    fewest = min((len(train) for train, _ in splits), default=least)
    if fewest < least:
        raise DataError(
            expected=f"at least {least} rows outside each fold to fit {learner.name} on",
            found=str(fewest),
            fix="Use folds with more rows in each, or spread the rows over at least 2 folds",
        )
    found = np.zeros(targets.shape)
    by_row = np.ascontiguousarray(x.T)
    x_others, out_others = (np.empty((0, len(x))), None) if others is None else (others[0].T, others[1])
    done, total = 0, len(splits) * len(targets)
    few = max((len(train) for train, _ in splits), default=0) * len(x) < _FEW_VALUES
    with threadpool_limits(limits={"blas": 1, "openmp": 1} if few else {"blas": 1}):
        for train, rows in splits:
            x_train, x_rows = by_row[train], np.concatenate([by_row[rows], x_others])
            w_train = None if weight is None else weight[train]
            for j, (target, out) in enumerate(zip(targets, found, strict=True)):
                predicted = _fit_predict(learner, x_train, target[train], w_train, argument, x_rows)
                out[rows] = predicted[: len(rows)]
                if out_others is not None:
                    out_others[j] += predicted[len(rows) :] / len(splits)
                done += 1
                if progress is not None:
                    progress(done, total)
    if splits and not inside.all():
        found[:, ~inside] = found[:, inside].mean(axis=1, keepdims=True)
    return found


def fewest_to_train(fold: NDArray[np.intp], members: Bools, copies: Floats | None = None) -> int:
    """Return the rows, or their copies, that the worst-off fold of a set (n,) has; a fold without rows needs none."""
    by_fold = np.bincount(fold[members], None if copies is None else copies[members])
    return int(by_fold.sum() - by_fold.max(initial=0))


def _fit_predict(
    learner: Learner, x: Floats, y: Floats, weight: Floats | None, argument: str | None, x_new: Floats
) -> Floats:
    """Return predictions for x_new (r, k) of a fit on x (m, k), y (m,) and weights (m,)."""
    if y.min() == y.max():
        return np.full(len(x_new), y[0])
    if not x.shape[1]:
        return np.full(len(x_new), np.average(y, weights=weight))
    from sklearn.base import clone

    try:
        model = clone(learner.estimator)
        model.fit(x, y, **({} if argument is None else {argument: weight}))
        found = np.asarray(_in_order(model).predict(x_new), dtype=np.float64)
    except Exception as error:  # whatever somebody else's learner raises
        raise DataError(
            expected=f"the learner {learner.name} to fit {len(x):,} rows of {x.shape[1]} columns and predict others",
            found=f"{type(error).__name__}: {first_line(error)}",
            fix="Change its settings, or use another learner",
        ) from error
    if found.shape != (len(x_new),) or not np.isfinite(found).all():
        wrong = f"shape {found.shape}" if found.shape != (len(x_new),) else "missing or infinite ones"
        raise DataError(
            expected=f"one finite prediction of the learner {learner.name} for each of {len(x_new):,} rows",
            found=wrong,
            fix="Change its settings, or use another learner",
        )
    return found


def _in_order(model: Any) -> Any:
    """Return the model; forests of several jobs would add their trees up in the order in which threads finish."""
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

    last = last_step(model)
    if isinstance(last, RandomForestRegressor | ExtraTreesRegressor):
        last.set_params(n_jobs=1)
    return model


def v_star_of(
    learner: Learner,
    x: Floats,
    score: Floats,
    fold: NDArray[np.intp],
    folds: int,
    *,
    weight: Floats | None = None,
    frequency: bool = False,
    cluster: NDArray[Any] | None = None,
    progress: Progress | None = None,
) -> LearnerScore:
    r"""Return V̂* with this learner, from one fit per fold: to compare learners before one is used for everything.

    .. math:: \hat V^* = \frac{\sum_i w_i a_i^2}{\sum_i w_i}, \qquad
              se^2 = \frac{\sum_i w_i^2 (a_i^2 - \hat V^*)^2}{(\sum_i w_i)^2}, \qquad a = p - \hat r(X)

    with the sum within clusters before squaring and the factor G/(G − 1), where there are any; a row whose weight
    is a frequency counts as so many rows. Out of fold, V̂* is V* + E(r̂ − r)², so the smallest of several is nearest.

    Parameters
    ----------
    x : (k, n)
    score : (q, n)
        V* of several contrasts is the trace.
    fold, weight, cluster : (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from softlabel.nuisances import make_learner
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 1, size=2_000)
    >>> p = (x - 0.5) ** 2 + rng.uniform(0, 0.7, size=2_000)  # V* is 0.7²/12 = 0.041
    >>> fold = np.arange(2_000) % 2
    >>> for name in ("ridge", "boosting"):
    ...     print(name, round(v_star_of(make_learner(name, 0), x[None], p[None], fold, 2).v_star, 3))
    ridge 0.045
    boosting 0.041
    """
    left = score - out_of_fold(learner, x, score, fold, folds, weight=weight, frequency=frequency, progress=progress)
    square = np.square(left).sum(axis=0)
    ones = np.ones(len(square)) if weight is None else weight
    v_star = float(np.average(square, weights=ones))
    psi = square - v_star
    if cluster is not None:
        _, which = np.unique(cluster, return_inverse=True)
        sums = np.bincount(which, ones * psi)
        meat = float(sums @ sums) * len(sums) / max(len(sums) - 1, 1)
    else:
        meat = float((ones * psi) @ (psi if frequency else ones * psi))
    n = round(float(ones.sum())) if frequency else len(square)
    return LearnerScore(learner.name, v_star, float(np.sqrt(meat) / ones.sum()), n)
