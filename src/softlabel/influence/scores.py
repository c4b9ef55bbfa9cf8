r"""Estimating functions of every estimator on the unlabelled rows, evaluated at the point estimates.

With residuals a = p − r̂(X), R = Y − m̂(X) and b = h − ê[h|X], q contrasts each, at estimates θ:

.. math::
    g_{soft} &= a (R - aᵀθ)          & g_{moment} &= (2p-1) R - 2 a aᵀθ \\
    g_{hard} &= b (R - bᵀθ)          & g_{hard,moment} &= (2h-1) R - 2 b bᵀθ \\
    g_{κ}    &= b (a - κᵀb)ᵀ         & g_{de}     &= b (R - aᵀθ) \\
    g_{V^*}  &= a aᵀ - V^*

An estimate's influence function is its g divided by its bread (V* for soft, E[bbᵀ] for hard and κ, E[baᵀ] for
de-attenuated). All but the moment forms are first-order insensitive to the nuisances (Robinson 1988;
Chernozhukov et al. 2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.influence.points import LabelPoints, Points
from softlabel.influence.sums import InfluenceSums, influence_sums
from softlabel.moments.design import Design
from softlabel.moments.kernel import Block
from softlabel.nuisances import LinearNuisances

__all__ = ["Residuals", "confident_sums", "core_sums", "hard_sums", "residuals", "share_sums"]

Floats = NDArray[np.float64]


class Residuals(NamedTuple):
    """One block after the nuisances: n rows, q contrasts, T thresholds, T_C confident sets.

    a, sign = 2p − 1 : (q, n); r : (n,); b, h : (T, q, n);
    a_c, b_c : (T_C, q, n) and r_c : (T_C, n), taken within each confident set, b_c zero outside it;
    counts : (K, C) rows by fold and code of the score, in the order of the rows.
    """

    a: Floats
    r: Floats
    sign: Floats
    b: Floats
    h: Floats
    a_c: Floats
    r_c: Floats
    b_c: Floats
    counts: NDArray[np.int64]
    weight: Floats | None
    cluster: NDArray[np.uint64] | None
    frequency: bool = False


def residuals(block: Block, nuisances: LinearNuisances, design: Design) -> Residuals:
    """Return the residuals of one block: one matrix product per fold, then the hard labels."""
    part, d, q = design.partition, design.d, design.q
    t, t_c, n = len(part.thresholds), len(part.confident), block.z.shape[1]
    out = np.empty((nuisances.maps.shape[1], n))
    for fold in range(design.folds):
        rows = slice(block.starts[fold], block.starts[fold + 1])
        np.matmul(nuisances.maps[fold], block.z[:, rows], out=out[:, rows])
    h = _by_code(part.labels, block)
    sets = out[q + 1 + t * q :].reshape(t_c, 2 * q + 1, n)
    b_c = (sets[:, q + 1 :] + _by_code(part.confident_labels, block)) * _by_code(
        part.members[:, None].astype(np.float64), block
    )
    return Residuals(
        a=out[:q],
        r=out[q],
        sign=2 * (block.z[d : d + q] + nuisances.shift[d : d + q, None]) - 1,
        b=out[q + 1 : q + 1 + t * q].reshape(t, q, n) + h,
        h=h,
        a_c=sets[:, :q],
        r_c=sets[:, q],
        b_c=b_c,
        counts=block.counts,
        weight=block.weight,
        cluster=block.cluster,
        frequency=block.frequency,
    )


def _by_code(table: Floats, block: Block) -> Floats:
    """Return a table (T, q, C) at each row's code, (T, q, n): rows are sorted, so values repeat."""
    folds = len(block.counts)
    spread: Floats = np.repeat(np.tile(table, folds), block.counts.ravel(), axis=2)
    return spread


def core_sums(res: Residuals, at: Points) -> InfluenceSums:
    """Return the sums of (soft, soft moment, V*): g is (1, 2q + q², n), bread Σ w a aᵀ."""
    q = len(res.a)
    soft = res.a * (res.r - _dot(at.soft, res.a))
    moment = res.sign * res.r - 2 * res.a * _dot(at.soft_moment, res.a)
    v_star = (res.a[:, None] * res.a[None] - at.v_star[:, :, None]).reshape(q * q, -1)
    g = np.concatenate([soft, moment, v_star])[None]
    weighted = res.a if res.weight is None else res.a * res.weight
    return influence_sums(g, (weighted @ res.a.T)[None], res.weight, res.cluster, frequency=res.frequency)


def hard_sums(res: Residuals, at: Points) -> InfluenceSums:
    """Return the sums of (hard, κ, de-attenuated, hard moment, soft) at every threshold."""
    soft = res.a * (res.r - _dot(at.soft, res.a))
    signed = (2 * res.h - 1) * res.r - 2 * res.b * _dots(at.hard.moment, res.b)[:, None]
    extra = [signed, np.broadcast_to(soft, res.b.shape)]
    return _label_sums(res.b, res.a[None], res.r[None], at.hard, extra, res)


def confident_sums(res: Residuals, at: Points) -> InfluenceSums:
    """Return the sums of (hard, κ, de-attenuated) within every confident set."""
    return _label_sums(res.b_c, res.a_c, res.r_c, at.confident, [], res)


def share_sums(res: Residuals, at: Points) -> InfluenceSums:  # noqa: ARG001  (an accumulator like the others)
    """Return the sums of (1, |a|², |b|² at every threshold, |b|² in every confident set), each (1, n).

    With them, how many clusters or rows decide an estimate. Nothing is summed where all rows count alike.
    """
    if res.cluster is None and (res.weight is None or res.frequency):
        g = np.empty((0, 1, len(res.r)))
    else:
        squares = [np.square(v).sum(axis=-2)[..., None, :] for v in (res.a, res.b, res.b_c)]
        g = np.concatenate([np.ones((1, 1, len(res.r))), squares[0][None], *squares[1:]])
    return influence_sums(g, np.zeros((len(g), 0, 0)), res.weight, res.cluster, frequency=res.frequency)


def _label_sums(b: Floats, a: Floats, r: Floats, at: LabelPoints, extra: list[Floats], res: Residuals) -> InfluenceSums:
    t, q, n = b.shape
    hard = b * (r - _dots(at.hard, b))[:, None]
    left = a - np.stack([_dots(at.kappa[:, :, j], b) for j in range(q)], axis=1)
    kappa = (b[:, :, None] * left[:, None]).reshape(t, q * q, n)
    deattenuated = b * (r - _dots(at.deattenuated, np.broadcast_to(a, b.shape)))[:, None]
    g = np.concatenate([hard, kappa, deattenuated, *extra], axis=1)
    weighted = b if res.weight is None else b * res.weight
    bread = np.concatenate([weighted @ b.swapaxes(1, 2), weighted @ a.swapaxes(1, 2)], axis=2)
    return influence_sums(g, bread, res.weight, res.cluster, frequency=res.frequency)


def _dot(coefficients: Floats, values: Floats) -> Floats:
    """Return coefficientsᵀ values: (q,) and (q, n) to (n,), without the overhead of a tiny matrix product."""
    return sum((c * v for c, v in zip(coefficients, values, strict=True)), start=np.zeros(()))


def _dots(coefficients: Floats, values: Floats) -> Floats:
    """Return the same at every threshold: (T, q) and (T, q, n) to (T, n)."""
    q = values.shape[1]
    return sum((coefficients[:, j, None] * values[:, j] for j in range(q)), start=np.zeros(()))
