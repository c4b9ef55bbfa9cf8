"""Linear nuisances: every regression on the controls, for every fold and threshold, from the cell moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.moments.cells import CellMoments
from softlabel.moments.design import Design
from softlabel.moments.solve import least_squares

__all__ = ["LinearNuisances", "fit_nuisances"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LinearNuisances:
    """Fitted regressions as maps: row j of ``maps[k] @ z`` is a residual of the rows of fold k.

    The rows of a map are, in order: a = p − r̂ (q), R = Y − m̂ (1), then −ê[h|X] for every threshold (T·q),
    then within each confident set a (q), R (1) and −ê[h|X] (q), set after set. To the −ê[h|X] rows the hard
    label is added, which depends on the row's code alone.

    Attributes
    ----------
    shift : (D,)
        What z is taken about.
    maps : (K, q + 1 + T·q + T_C·(2q + 1), D)
    kept : (d,)
        Which design columns are independent of those before them, over all rows.
    in_sample
        Whether each row helped to fit its own nuisances.
    ridge
        The penalty in use, on columns of unit variance; 0 is least squares.
    """

    shift: Floats
    maps: Floats
    kept: NDArray[np.bool_]
    in_sample: bool
    ridge: float = 0.0


# From none to where a column of unit variance loses half its coefficient.
RIDGES: tuple[float, ...] = (0.0, *(10.0 ** (k / 2) for k in range(-12, 1)))


def fit_nuisances(
    moments: CellMoments, design: Design, *, in_sample: bool, ridge: float | None = None
) -> LinearNuisances:
    """Fit r̂, m̂ and ê[h|X] on the rows outside each fold, or on all rows for ``in_sample``.

    The basis may ask for a ridge; "cv" takes the one of `RIDGES` that predicts the score and the outcome best out of
    fold, which in sample cannot be told and is none. One ridge serves all regressions: soft needs r̂ and m̂ to err
    alike. A ``ridge`` that is handed in is used as it is.
    """
    part, d = design.partition, design.d
    grams = moments.grams.sum(axis=1)
    # Σ w z h over codes: the sums of z wherever the label is one.
    hard = np.einsum("tqc,kcz->kztq", part.labels, moments.sums)
    confident = np.einsum("ts,ksyz->ktyz", part.segment_members, moments.grams)
    inside = part.confident_labels * part.members[:, None, :]
    confident_hard = np.einsum("tqc,kcz->ktzq", inside, moments.sums)
    if in_sample:
        train = [np.broadcast_to(x.sum(axis=0), x.shape) for x in (grams, hard, confident, confident_hard)]
    else:
        # The sum of the other folds, not the total less this one: a fold that holds every row of a
        # confident set then leaves exact zeros instead of rounding noise.
        others = 1 - np.eye(design.folds)
        train = [np.tensordot(others, x, axes=1) for x in (grams, hard, confident, confident_hard)]
    gram, labels, within, within_labels = train
    asked = design.basis.ridge if ridge is None else ridge
    ridge = asked if asked != "cv" else 0.0 if in_sample else _best_ridge(gram, grams, moments.shift, design)
    targets = np.concatenate([gram[:, :d, d:], labels[:, :d].reshape(design.folds, d, -1)], axis=2)
    everywhere = _residual(least_squares(gram[:, :d, :d], targets, ridge).coefficients, design)
    targets = np.concatenate([within[:, :, :d, d:], within_labels[:, :, :d]], axis=3)
    within_sets = _residual(least_squares(within[:, :, :d, :d], targets, ridge).coefficients, design)
    pooled = grams.sum(axis=0)
    return LinearNuisances(
        shift=moments.shift,
        maps=np.concatenate([everywhere, within_sets.reshape(design.folds, -1, design.width)], axis=1),
        kept=least_squares(pooled[:d, :d], pooled[:d, d:]).kept,
        in_sample=in_sample,
        ridge=ridge,
    )


def _best_ridge(train: Floats, held_out: Floats, shift: Floats, design: Design) -> float:
    r"""Return the ridge of least cross-validated risk, from Gram matrices (K, D, D) outside and inside each fold.

    .. math:: \hat\lambda = \arg\min_\lambda \sum_j \log \sum_k m_{jk\lambda}^\top G_k\, m_{jk\lambda}

    over the scores and the outcome j, with m the map from z to the residual: risks are compared as ratios, so that
    no unit matters. Of equal ones the smallest is taken.
    """
    d = design.d
    # Of a constant only rounding is left, whose risk would be compared like any other: below this all are equal.
    rounding = np.finfo(np.float64).tiny + 1e-24 * held_out[:, 0, 0].sum() * shift[d:] ** 2
    risks = []
    for ridge in RIDGES:
        maps = _residual(least_squares(train[:, :d, :d], train[:, :d, d:], ridge).coefficients, design)
        risk = np.einsum("kjz,kzy,kjy->j", maps, held_out, maps, optimize=True)
        risks.append(float(np.log(np.maximum(risk, rounding)).sum()))
    # A gain below a millionth is none.
    return RIDGES[int(np.argmin(np.round(risks, 6)))]


def _residual(coefficients: Floats, design: Design) -> Floats:
    """Return maps (..., m, D) from z to residuals, for coefficients (..., d, m) of p, Y and hard labels.

    The first q + 1 belong to columns of z itself; from a label only the fitted value can be subtracted here.
    """
    d, plain = design.d, design.q + 1
    maps = np.zeros((*coefficients.shape[:-2], coefficients.shape[-1], design.width))
    maps[..., :d] = -coefficients.swapaxes(-1, -2)
    maps[..., :plain, d:] = np.eye(plain)
    return maps
