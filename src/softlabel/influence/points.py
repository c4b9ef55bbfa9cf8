"""Point estimates from the cell moments alone: where the influence functions are evaluated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.moments.cells import CellMoments
from softlabel.moments.design import Design
from softlabel.nuisances import LinearNuisances

__all__ = ["LabelPoints", "Points", "divide", "points"]

Floats = NDArray[np.float64]


class LabelPoints(NamedTuple):
    """Estimates that use a hard label, one row per threshold.

    hard, moment, deattenuated : (T, q); kappa : (T, q, q).
    """

    hard: Floats
    moment: Floats
    kappa: Floats
    deattenuated: Floats


class Points(NamedTuple):
    """Every point estimate of the unlabelled rows.

    v_star : (q, q); soft, soft_moment : (q,); score_variance : (q, q), Var(p) without the controls.
    """

    v_star: Floats
    soft: Floats
    soft_moment: Floats
    score_variance: Floats
    score_mean: Floats
    score_square: Floats
    hard: LabelPoints
    confident: LabelPoints


def divide(matrix: Floats, right: Floats) -> Floats:
    """Return matrix⁻¹ right for stacks (..., q, q) and (..., q, m), zero where the matrix is zero.

    What cannot be solved is reported by the caller, who knows its name; a zero keeps the sums finite.
    """
    if matrix.shape[-1] == 1:
        return np.divide(right, matrix, out=np.zeros(np.broadcast_shapes(matrix.shape, right.shape)), where=matrix != 0)
    solved: Floats = np.linalg.pinv(matrix) @ right
    return solved


def points(moments: CellMoments, nuisances: LinearNuisances, design: Design) -> Points:
    """Return every point estimate as a function of the sums: no row is touched.

    With z = (1, B, p, Y), residuals are linear in z but for the hard label h, so that for instance
    Σ b R = m_Rᵀ Σ z h + m_bᵀ (Σ z zᵀ) m_R, with m_R and m_b the rows of the nuisance map.
    """
    part, d, q = design.partition, design.d, design.q
    t = len(part.thresholds)
    grams = moments.grams.sum(axis=1)
    plain, rest = nuisances.maps[:, : q + 1], nuisances.maps[:, q + 1 :]
    cross = plain @ grams @ plain.swapaxes(1, 2)
    aa, ar = cross[:, :q, :q].sum(axis=0), cross[:, :q, q].sum(axis=0)
    # 2p − 1 in terms of z: twice the score, its shift restored, less one times the intercept.
    sign = np.zeros((q, design.width))
    sign[:, d : d + q] = 2 * np.eye(q)
    sign[:, 0] = 2 * moments.shift[d : d + q] - 1
    signed = (sign @ grams @ plain[:, q, :, None]).sum(axis=0)[:, 0]
    pooled = grams.sum(axis=0)
    weight = pooled[0, 0]
    mean = pooled[0, d : d + q] / weight
    score_mean = mean + moments.shift[d : d + q]
    variance = pooled[d : d + q, d : d + q] / weight - np.outer(mean, mean)
    hard = _label_points(
        grams[:, None],
        part.labels,
        moments.sums,
        plain[:, None],
        rest[:, : t * q].reshape(design.folds, t, q, design.width),
    )
    within = np.einsum("ts,ksyz->ktyz", part.segment_members, moments.grams)
    sets = rest[:, t * q :].reshape(design.folds, len(part.confident), 2 * q + 1, design.width)
    confident = _label_points(
        within,
        part.confident_labels * part.members[:, None, :],
        moments.sums,
        sets[:, :, : q + 1],
        sets[:, :, q + 1 :],
    )
    return Points(
        v_star=aa / weight,
        soft=divide(aa, ar[:, None])[:, 0],
        soft_moment=divide(2 * aa, signed[:, None])[:, 0],
        score_variance=variance,
        score_mean=score_mean,
        score_square=score_mean**2 + np.diagonal(variance),
        hard=hard,
        confident=confident,
    )


def _label_points(grams: Floats, labels: Floats, sums: Floats, plain: Floats, label_map: Floats) -> LabelPoints:
    """Return the estimates of labels (T, q, C) from grams (K, T or 1, D, D) and maps (K, T, rows, D)."""
    q = labels.shape[1]
    # Σ w h z and Σ w h hᵀ, both over codes.
    hz = np.einsum("tqc,kcz->ktqz", labels, sums)
    hh = np.einsum("tqc,tpc,kc->tqp", labels, labels, sums[:, :, 0])
    gz = hz + label_map @ grams
    b_plain = (gz @ plain.swapaxes(-1, -2)).sum(axis=0)
    bb = hh + (hz @ label_map.swapaxes(-1, -2) + label_map @ gz.swapaxes(-1, -2)).sum(axis=0)
    ba, br = b_plain[..., :q], b_plain[..., q:]
    # Σ (2h − 1) R = 2 Σ h R − Σ R.
    signed = 2 * hz @ plain[..., q, :, None] - (grams[..., :1, :] @ plain[..., q, :, None])
    return LabelPoints(
        hard=divide(bb, br)[..., 0],
        moment=divide(2 * bb, signed.sum(axis=0))[..., 0],
        kappa=divide(bb, ba),
        deattenuated=divide(ba, br)[..., 0],
    )
