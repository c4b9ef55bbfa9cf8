"""Exact population values of the paper's design.

Everything in the design depends on the controls through ``s = beta_r'X ~ N(0, q²)``: write
``X = s beta_r / q² + Z`` with ``Z`` independent of ``(p, s)`` and of mean zero; then the linear
projection on ``(1, X)`` of any function of ``(p, s)`` is its projection on ``(1, s)``, over the whole
population and inside a confident set alike. ``mu`` is linear in ``X``, so it leaves every residual,
and ``R - tau a = tau (G - p) + e`` with ``E[G | p, X] = p`` whichever way both are residualised.

The design is its own mirror image, ``(s, p) -> (-s, 1-p)``: ``p`` has mean 1/2, and inside any
confident set ``s`` has mean zero and the label mean 1/2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from softlabel.simulate.quadrature import Array, Law, Line, Piece, settle
from softlabel.simulate.truth import Attenuation, ConfidentTruth, HardTruth, Truth

__all__ = ["Problem", "population"]

# A weight below this has lost digits to gradual underflow, and a ratio over it means nothing.
_EMPTY = 1e-290


@dataclass(frozen=True, slots=True)
class Problem:
    """What the population values depend on.

    Attributes
    ----------
    sigma_u, tau
        As in `PaperDesign`.
    length
        The Euclidean length q of ``beta_r``.
    variance
        The variance of the noise in the outcome.
    """

    sigma_u: float
    tau: float
    length: float
    variance: float


def population(problem: Problem, thresholds: Sequence[float], confident: Sequence[float]) -> Truth:
    """Return the exact values at these thresholds; `PaperDesign.truth` is the door that checks them."""
    return settle(lambda line: _truth(_Nodes.on(line, problem), thresholds, confident), problem.length)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The problem on one line of nodes: r is ``1/2 + slope z``, its linear projection, plus ``misfit``."""

    line: Line
    law: Law
    problem: Problem
    slope: float
    misfit: Array

    @classmethod
    def on(cls, line: Line, problem: Problem) -> "_Nodes":
        law = Law.at(problem.length * line.z, problem.sigma_u)
        slope = -0.5 * line.mean(line.z * law.skew)
        return cls(
            line=line,
            law=law,
            problem=problem,
            slope=slope,
            misfit=-0.5 * law.skew - slope * line.z,
        )


def _truth(nodes: _Nodes, thresholds: Sequence[float], confident: Sequence[float]) -> Truth:
    line, law = nodes.line, nodes.law
    whole = law.central()
    v_star, avar_orthogonal, avar_v_star = _soft(nodes, whole, np.zeros_like(line.z))
    v_star_linear, avar_linear, avar_v_star_linear = _soft(nodes, whole, nodes.misfit)
    above = law.above(0.5)
    # By the mirror image E|2p-1| is four times E[(p-1/2)+].
    margin = 4.0 * line.mean(above.first - 0.5 * law.skew * above.mass)
    mean_abs_a = line.mean(law.mean_absolute())
    return Truth(
        v_star=v_star,
        v_star_linear=v_star_linear,
        var_p=v_star + line.mean(0.25 * law.skew**2),
        mean_abs_margin=margin,
        mean_abs_a=mean_abs_a,
        drift_paper=margin / (2.0 * v_star),
        drift_orthogonal=mean_abs_a / v_star,
        avar_moment=_moment_form(nodes, whole, v_star),
        avar_orthogonal=avar_orthogonal,
        avar_orthogonal_linear=avar_linear,
        avar_v_star=avar_v_star,
        avar_v_star_linear=avar_v_star_linear,
        avar_supervised=nodes.problem.variance / (0.25 - nodes.slope**2),
        hard=tuple(_hard(nodes, t) for t in thresholds),
        confident=tuple(_confident(nodes, t) for t in confident),
    )


def _soft(nodes: _Nodes, whole: tuple[Array, Array, Array], shift: Array) -> tuple[float, float, float]:
    """Return V*, and the variances of orthogonal soft and of V*, for the residual ``p - r + shift``."""
    problem, line, law = nodes.problem, nodes.line, nodes.law
    m2, m3, m4 = whole
    v_star = line.mean(m2 + shift**2)
    # E[residual² p(1-p) | s], with p(1-p) = spread + skew (p-r) - (p-r)².
    bernoulli = line.mean(
        law.spread * m2 + law.skew * m3 - m4 + 2.0 * shift * (law.skew * m2 - m3) + shift**2 * (law.spread - m2)
    )
    fourth = line.mean(m4 + 4.0 * shift * m3 + 6.0 * shift**2 * m2 + shift**4)
    avar = (problem.tau**2 * bernoulli + problem.variance * v_star) / v_star**2
    return v_star, avar, fourth - v_star**2


def _moment_form(nodes: _Nodes, whole: tuple[Array, Array, Array], v_star: float) -> float:
    """Return the variance of ``((2p-1) R - 2 tau a²) / (2V*)`` with the true r and m."""
    problem, line, spread, skew = nodes.problem, nodes.line, nodes.law.spread, nodes.law.skew
    m2, m3, m4 = whole
    # The score is (2p-1)(tau (G-p) + e) + tau (2r-1) a, and 2p-1 = 2a - skew.
    noise = line.mean(skew**2 + 4.0 * m2)
    drawn = line.mean(skew**2 * (spread - 5.0 * m2) + 8.0 * skew * m3 + 4.0 * (spread * m2 - m4))
    unorthogonal = line.mean(skew**2 * m2)
    total = problem.tau**2 * (drawn + unorthogonal) + problem.variance * noise
    return total / (2.0 * v_star) ** 2


def _hard(nodes: _Nodes, threshold: float) -> HardTruth:
    line = nodes.line
    above, upto = nodes.law.above(threshold), nodes.law.upto(threshold)
    share, rest = line.mean(above.mass), line.mean(upto.mass)
    # The slope of h on z from whichever label is rarer, so that a tiny share keeps its digits.
    slope = line.mean(line.z * above.mass) if threshold >= 0.5 else -line.mean(line.z * upto.mass)
    residuals = (rest - slope * line.z, -share - slope * line.z)
    linear = _attenuation(nodes, (above, upto), residuals, nodes.misfit, share=1.0)
    exact = _attenuation(nodes, (above, upto), (upto.mass, -above.mass), np.zeros_like(line.z), share=1.0)
    # E[a 1{p > t}] = -E[a 1{p <= t}]: again from the rarer label.
    crossed = line.mean(above.first) if threshold >= 0.5 else -line.mean(upto.first)
    return HardTruth(
        threshold=threshold,
        share=share,
        exact=exact,
        linear=linear,
        paper_kappa=None if linear is None else crossed / linear.label_variance,
    )


def _confident(nodes: _Nodes, threshold: float) -> ConfidentTruth:
    line, law = nodes.line, nodes.law
    above, below = law.above(threshold), law.below(threshold)
    inside = above.mass + below.mass
    share = line.mean(inside)
    if share < _EMPTY:
        return ConfidentTruth(threshold, share, None, None, None, None)
    scale = line.mean(line.z**2 * inside)
    slope_h = line.mean(line.z * above.mass) / scale
    slope_p = line.mean(line.z * (law.r * inside + above.first + below.first)) / scale
    up, low = 0.5 - slope_h * line.z, -0.5 - slope_h * line.z
    shift = -0.5 * law.skew - slope_p * line.z
    linear = _attenuation(nodes, (above, below), (up, low), shift, share=share)
    # Where C is empty given s to the last bit, s has no weight: any finite value will do.
    odds = np.where(inside > 0.0, inside, 1.0)
    exact = _attenuation(
        nodes,
        (above, below),
        (below.mass / odds, -above.mass / odds),
        -(above.first + below.first) / odds,
        share=share,
    )
    crossed = line.mean(up * above.first + low * below.first)
    doubled = line.mean(above.first - below.first)
    variance = None if linear is None else linear.label_variance * share
    return ConfidentTruth(
        threshold=threshold,
        share=share,
        exact=exact,
        linear=linear,
        paper_kappa=None if variance is None else crossed / variance,
        paper_factor=None if variance is None else doubled / (2.0 * variance),
    )


def _attenuation(
    nodes: _Nodes,
    pieces: tuple[Piece, Piece],
    labels: tuple[Array, Array],
    shift: Array,
    *,
    share: float,
) -> Attenuation | None:
    """Return one residualisation's values, or None where the residual label has no variance.

    Parameters
    ----------
    pieces
        Where h is 1 and where it is 0.
    labels
        The residual label b on the two pieces; each of shape (nodes,).
    shift
        The residual score is ``p - r + shift``; shape (nodes,).
    share
        ``P(C)``, or 1.
    """
    line, law, problem = nodes.line, nodes.law, nodes.problem
    both = tuple(zip(pieces, labels, strict=True))
    label = line.mean(sum((b * b * m.mass for m, b in both), np.zeros_like(shift)))
    if label < _EMPTY:
        return None
    crossed = line.mean(sum((b * (m.first + shift * m.mass) for m, b in both), np.zeros_like(shift)))
    kappa = crossed / label
    bernoulli = residual = np.zeros_like(shift)
    for m, b in both:
        bernoulli = bernoulli + b * b * (law.spread * m.mass + law.skew * m.first - m.second)
        residual = residual + b * b * (m.within + m.mass * (m.mean + shift - kappa * b) ** 2)
    drawn = problem.tau**2 * line.mean(bernoulli) + problem.variance * label
    missed = line.mean(residual)
    # Divided twice: the square of a tiny weight would underflow.
    deattenuated = drawn / crossed / crossed if crossed else np.inf
    return Attenuation(
        kappa=kappa,
        label_variance=label / share,
        avar_hard=(drawn + problem.tau**2 * missed) / label / label,
        avar_kappa=missed / label / label,
        avar_deattenuated=deattenuated if isfinite(deattenuated) else None,
    )
