"""Drift: how far the group's probability may stray from the score before an estimate means nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.evidence import Evidence
from softlabel.estimators.columns import orthonormal, relative
from softlabel.influence import Analysis
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.results import Attenuation, ConfidentAttenuation, Drift, DriftCurve, Estimate, SupportedDrift
from softlabel.results.drift import KNOTS

__all__ = ["drift_record", "supported_drift"]

Floats = NDArray[np.float64]

# Rows, or clusters, beyond the coefficients.
_LEAST_FREEDOM = 5


def drift_record(
    analysis: Analysis,
    soft: Estimate,
    hard: Sequence[Estimate],
    confident: Sequence[Estimate],
    kappa: Sequence[Attenuation],
    kappa_confident: Sequence[ConfidentAttenuation],
    evidence: Evidence | str,
    level: float,
) -> Drift:
    r"""Return the curves of soft, hard and confident in their orthogonal form, and the drift that the labels support.

    For an estimate with residual v (a for soft, b for hard), at each knot δ,

    .. math::
        B_+ = \frac{\mathrm E[|v| \min(δ, 1\{v>0\} - \mathrm{sgn}(v) p)]}{\mathrm E[v^2]}, \qquad
        B_- = \frac{\mathrm E[|v| \min(δ, 1\{v<0\} + \mathrm{sgn}(v) p)]}{\mathrm E[v^2]},

    over the rows themselves: given scores and controls, an estimate's bias is the sum of vη over them, so that no
    error of B₊ and B₋ is left to allow for. In the one bin of the score that holds δ the sum is bounded from above
    by min(δΣ|v|, Σ|v|u) (Jensen), u being the room; knots end bins, so that at them it is exact. As E[v] = 0,
    B₋(1) = κ + E[max(−v, 0)]/E[v²] (Kurbucz 2026 has the bound δE|2p−1|/(2V*)).
    """
    sums, core = analysis.sums, analysis.sums["core"]
    squares = [core.bread[0, 0, 0], *sums["hard"].bread[:, 0, 0], *sums["confident"].bread[:, 0, 0]]
    knots = np.array(KNOTS)[:, None]
    up, down = (
        np.stack([np.minimum(knots * mass, room).sum(axis=1) for mass, room in zip(*sides, strict=True)])
        for sides in (analysis.drift.room(upwards=True), analysis.drift.room(upwards=False))
    )
    mass = analysis.drift.mass.sum(axis=(1, 2))
    estimates = [soft, *hard, *confident]
    factors: list[Attenuation | ConfidentAttenuation | None] = [None, *kappa, *kappa_confident]
    curves = []
    for i, (row, factor) in enumerate(zip(estimates, factors, strict=True)):
        square = float(squares[i])
        reason = row.reason or (None if factor is None else factor.reason)
        if row.estimate is None or not square > 0:
            reason = reason or "the controls explain everything"
            curves.append(DriftCurve(row.name, row.threshold, reason=reason))
            continue
        curves.append(
            DriftCurve(
                name=row.name,
                threshold=row.threshold,
                estimate=row.estimate,
                ci_low=row.ci_low,
                ci_high=row.ci_high,
                kappa=1.0 if factor is None else factor.kappa,
                paper=_margin(analysis) / (2 * square) if factor is None else None,
                unclipped=float(mass[i]) / square,
                up=tuple((up[i] / square).tolist()),
                down=tuple((down[i] / square).tolist()),
                reason=reason,
            )
        )
    return Drift(KNOTS, tuple(curves), _supported(evidence, level))


def _margin(analysis: Analysis) -> float:
    """Return Σ w|2p − 1|: a half is an edge of the partition, so that the sign is that of the code."""
    moments, d = analysis.fit.moments, analysis.design.d
    sums = moments.sums.sum(axis=0)
    doubled = 2 * (sums[:, d] + moments.shift[d] * sums[:, 0]) - sums[:, 0]
    return float(np.abs(doubled).sum())


def _supported(evidence: Evidence | str, level: float) -> SupportedDrift:
    if isinstance(evidence, str):
        return SupportedDrift(None, None, level, 0, 0, evidence)
    rows = evidence.rows
    return supported_drift(
        rows.score[0],
        rows.group,
        rows.controls,
        weight=None if rows.frequency else rows.weight,
        copies=evidence.copies,
        cluster=rows.cluster,
        level=level,
    )


def supported_drift(
    p: Floats,
    g: Floats | NDArray[np.bool_],
    design: Floats,
    weight: Floats | None = None,
    copies: Floats | None = None,
    cluster: NDArray[np.uint64] | NDArray[np.intp] | None = None,
    level: float = 0.95,
) -> SupportedDrift:
    r"""Return the root mean square of the drift that is linear in z = (1, p, B(X)), and its upper limit.

    With γ̂ the least squares of G − p on z, A = Σ w zzᵀ and M = A/Σw,

    .. math::
        \hat\delta^2 = \max\{\hat\gamma^\top M \hat\gamma - \mathrm{tr}(M\,\mathrm{Var}\,\hat\gamma),\, 0\}, \qquad
        \bar\delta^2 = \bar\lambda \max_\gamma \frac{\gamma^\top M \gamma}{\gamma^\top A V^{-1} A \gamma} .

    V = Σ w² p(1 − p) zzᵀ is the variance of Σ w z(G − p) without drift, which is known, and λ̄ is the largest
    noncentrality at which χ²_k is as small as the score test's statistic with probability 1 − level. With clusters V is
    estimated from their sums and F_{k, G−k} takes the place of χ²_k. A mean over rows, so a bound δ that holds for each
    of them is at least this; drift that no linear function sees is not in it.

    Parameters
    ----------
    p, g : (n,)
        Score and group of the audit rows.
    design : (m, n)
        Design columns B(X).
    weight, copies, cluster : (n,), optional
        Sampling weights, or how many equal rows each one stands for; cluster labels.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(.2, .8, 4000)
    >>> found = supported_drift(p, rng.random(4000) < p + .1, np.empty((0, 4000)))
    >>> round(found.delta_hat, 3), round(found.delta_upper, 3)
    (0.104, 0.117)
    """
    w = np.ones(len(p)) if weight is None and copies is None else weight if copies is None else copies
    assert w is not None  # noqa: S101  (one of the three)
    n = len(p) if copies is None else int(copies.sum())
    columns = orthonormal(np.vstack([p, design]), relative(w))
    k = columns.shape[1]
    codes = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    count = n if codes is None else int(codes.max(initial=-1)) + 1
    if count < k + _LEAST_FREEDOM:
        what = "audit rows" if codes is None else "clusters of audit rows"
        return SupportedDrift(None, None, level, n, k, f"{count} {what} are too few for {k} coefficients")
    # In this basis A is the identity.
    drift, root = g - p, np.sqrt(w)
    gamma = columns.T @ (root * drift)
    left = root * drift - columns @ gamma
    if codes is None:
        # A row's weight is squared, but copies are rows of their own.
        per_row = np.ones(len(p)) if weight is None else w
        v = (columns.T * (per_row * p * (1 - p))) @ columns
        size, each = np.square(columns).sum(axis=1), 1.0 if copies is None else copies
        noise = float(size @ (np.square(left) / each / np.maximum(1 - size / each, 1e-9)))
    else:
        scores: Floats = np.array([np.bincount(codes, column * left) for column in columns.T], dtype=np.float64)
        v = scores @ scores.T * (count / (count - 1))
        noise = float(np.trace(v))
    spread = np.linalg.eigvalsh(v)
    if spread[0] <= RANK_TOLERANCE * spread[-1]:
        return SupportedDrift(None, None, level, n, k, "the scores are too near zero and one to tell drift from noise")
    statistic = float(gamma @ np.linalg.solve(v, gamma))
    farthest = _noncentrality(statistic, k, None if codes is None else count, 1 - level)
    total = float(w.sum())
    return SupportedDrift(
        delta_hat=min(math.sqrt(max(float(gamma @ gamma) - noise, 0.0) / total), 1.0),
        delta_upper=min(math.sqrt(farthest * float(spread[-1]) / total), 1.0),
        level=level,
        n=n,
        df=k,
    )


def _noncentrality(statistic: float, k: int, clusters: int | None, tail: float) -> float:
    """Return the noncentrality at which the statistic, or less, has probability ``tail``; zero where it has less."""
    from scipy.special import chndtr, ncfdtr

    def below(noncentrality: float) -> float:
        if clusters is None:
            return float(chndtr(statistic, k, noncentrality))
        # Hotelling's T² of G sums.
        freedom = clusters - k
        return float(ncfdtr(k, freedom, noncentrality, statistic * freedom / (k * (clusters - 1))))

    low, high = 0.0, statistic + k + 1.0
    if below(0.0) <= tail:
        return 0.0
    while below(high) > tail:
        low, high = high, 2 * high
    # Bisection: the inverses of scipy search too, and not as far.
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) > tail else (low, middle)
    return high
