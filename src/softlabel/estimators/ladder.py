r"""The ladder: three estimators that trust the score more and more, from four numbers and their covariance.

The score is an instrument for the group. With c the slope of G on p given X, and ℓ what the score leaks into the
outcome beyond the group,

.. math::
    g = (\hat\tau_{sup},\; \hat\theta_L,\; \hat\theta_U,\; \hat c_L), \qquad
    \mathrm E\,g = (\tau,\; \tau c + \ell,\; \tau c + \ell,\; c),

where θ is soft, on the labelled audit rows L and on the unlabelled rows U. Minimum distance with the inverse of
Ω = Cov(g) gives one estimator per rung (Hansen 1982 for the weighting; Newey & McFadden 1994 for the tests):

* rung 0, *rectified*, leaves τ, c and ℓ free: supervised plus a multiple of θ_U − θ_L, which is predict-then-debias;
* rung 1, *instrumented*, sets ℓ = 0: it holds where exclusion does, however badly the score is calibrated;
* rung 2, *combined*, sets c = 1 too: it holds where the score is calibrated given the controls besides.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rungs", "Step", "climb", "compatible", "inverse", "rung_variances", "soft_threshold"]

Floats = NDArray[np.float64]

# Eigenvalues of the correlation of g are kept from falling below this. Where two of the four numbers are one and the
# same, as supervised and soft_L for a score that is the group, nothing is learnt from their difference.
_LEAST_EIGENVALUE = 1e-6

# A step whose standard deviation is below this share of rung 0's is none: what is left of it is rounding.
_NO_STEP = 1e-6

_SUP, _LABELLED, _UNLABELLED, _SLOPE = range(4)


class Step(NamedTuple):
    """One step between neighbouring rungs: how far apart they are, and how far they would be by chance."""

    difference: float
    std_error: float

    @property
    def statistic(self) -> float:
        """The squared ratio, χ²₁ where the lower rung's assumption holds; zero for a step that vanishes."""
        return (self.difference / self.std_error) ** 2 if self.std_error > 0 else 0.0

    def kept(self, threshold: float) -> float:
        """Return the share of the step that soft-thresholding at so many standard deviations keeps."""
        size = abs(self.difference)
        return max(0.0, 1 - threshold * self.std_error / size) if size > 0 else 0.0


class Rungs(NamedTuple):
    """Every rung: estimates (3,), their covariance (3, 3), and the steps between them.

    Attributes
    ----------
    slope, leak
        ĉ of rung 1, and soft_U − τ̂₀ ĉ_L of rung 0.
    exclusion, calibration
        The steps from rung 1 to 0 and from rung 2 to 1.
    weights : (3, 4)
        Each rung as a linear function of g, to first order.
    distance : (3,)
        The minimum of the distance (g − E g)ᵀ Ω⁻¹ (g − E g) on each rung, χ² with 1, 2 and 3 degrees of freedom.
    """

    estimates: Floats
    covariance: Floats
    slope: float
    leak: float
    exclusion: Step
    calibration: Step
    weights: Floats
    distance: Floats

    def adaptive(self, exclusion: float, calibration: float) -> float:
        """Return the telescoped estimate: each step soft-thresholded at so many of its own standard deviations."""
        return float(
            self.estimates[2]
            + soft_threshold(self.calibration, calibration)
            + soft_threshold(self.exclusion, exclusion)
        )


def soft_threshold(step: Step, threshold: float) -> float:
    """Return what is left of a step.

    Examples
    --------
    >>> soft_threshold(Step(3.0, 1.0), 1.0), soft_threshold(Step(-0.5, 1.0), 1.0)
    (2.0, 0.0)
    """
    return step.kept(threshold) * step.difference


def climb(g: Floats, omega: Floats) -> Rungs:
    """Return the rungs of g = (supervised, soft_L, soft_U, c_L), (4,), with covariance Ω (4, 4).

    Examples
    --------
    >>> omega = np.diag([0.04, 0.01, 0.0001, 0.0025])
    >>> omega[0, 1] = omega[1, 0] = 0.01
    >>> found = climb(np.array([1.3, 1.1, 1.0, 1.0]), omega)
    >>> found.estimates.round(3).tolist()  # supervised with 0.99 of soft_U − soft_L; then with soft itself
    [1.201, 1.017, 1.001]
    """
    # In units of supervised's standard error, so that no unit of the outcome is large or small.
    unit = _outcome_unit(omega)
    units = np.array([unit, unit, unit, 1.0])
    g, omega = g / units, omega / np.outer(units, units)
    w0, distance0 = _rectified(g, omega)
    precision = inverse(omega)
    tau, slope, distance1 = _instrumented(g, precision)
    w1 = _weights(np.column_stack([_level(slope), _turn(tau)]), precision)
    w2 = _weights(_level(1.0)[:, None], precision)
    calibrated = g - _turn(0.0)
    combined = float(w2 @ calibrated)
    left = calibrated - combined * _level(1.0)
    # The step's own error with the slope at one, where the step is tested.
    at_one = _weights(np.column_stack([_level(1.0), _turn(combined)]), precision)
    rectified = float(w0 @ g)
    weights = np.stack([w0, w1, w2])
    return Rungs(
        estimates=unit * np.array([rectified, tau, combined]),
        covariance=unit**2 * weights @ omega @ weights.T,
        slope=slope,
        leak=unit * float(g[_UNLABELLED] - rectified * g[_SLOPE]),
        exclusion=_step(rectified - tau, w0 - w1, omega, w0, unit),
        calibration=_step(tau - combined, at_one - w2, omega, w0, unit),
        weights=weights * unit / units,
        distance=np.array([distance0, distance1, float(left @ precision @ left)]),
    )


def rung_variances(omega: Floats, tau: float, slope: float) -> Floats:
    """Return the variance of every rung, (3,), where the effect is τ, the slope is c and Ω (4, 4) is the covariance.

    Rung 2, which knows the slope to be one, does not look at it.

    Examples
    --------
    >>> rung_variances(np.diag([0.04, 0.01, 0.0001, 0.0025]), tau=1.0, slope=1.0).round(5).tolist()
    [0.04, 0.00244, 0.0001]
    """
    unit = _outcome_unit(omega)
    units = np.array([unit, unit, unit, 1.0])
    omega = omega / np.outer(units, units)
    precision = inverse(omega)
    w0, _ = _rectified(np.zeros(4), omega)
    w1 = _weights(np.column_stack([_level(slope), _turn(tau / unit)]), precision)
    w2 = _weights(_level(1.0)[:, None], precision)
    found: Floats = unit**2 * np.array([w @ omega @ w for w in (w0, w1, w2)])
    return found


def inverse(omega: Floats) -> Floats:
    """Return the inverse of a covariance, the eigenvalues of its correlation kept from zero.

    Examples
    --------
    >>> inverse(np.array([[4.0, 0.0], [0.0, 0.25]])).tolist()
    [[0.25, 0.0], [0.0, 4.0]]
    """
    size = np.sqrt(np.diagonal(omega))
    # A number without any error of its own is known: it is given one that is small beside the others'.
    size = np.maximum(size, max(1e-8 * float(size.max(initial=0.0)), np.finfo(np.float64).tiny ** 0.25))
    values, vectors = np.linalg.eigh(omega / np.outer(size, size))
    scaled = vectors / size[:, None]
    found: Floats = (scaled / np.maximum(values, _LEAST_EIGENVALUE)) @ scaled.T
    return found


def compatible(g: Floats, omega: Floats, limit: float) -> list[tuple[float, float]]:
    r"""Return the intervals of τ that rung 1 does not reject: of Anderson & Rubin's (1949) kind.

    .. math:: \{\tau : \min_c Q(\tau, c) - \min_{\tau, c} Q(\tau, c) \le \mathrm{limit}\}

    Nothing is divided by the slope, so the set covers also where the score says little. The distance at its best c is
    a ratio of polynomials in τ, whose level set is found from the roots of one of degree four; it is bounded, because
    supervised holds it.
    """
    unit = _outcome_unit(omega)
    units = np.array([unit, unit, unit, 1.0])
    g, precision = g / units, inverse(omega / np.outer(units, units))
    best = _instrumented(g, precision)
    # With g − τ e₁ and c multiplying (0, τ, τ, 1), Q = A − B²/D, each a polynomial in τ.
    fixed, moving = _turn(0.0), _turn(1.0) - _turn(0.0)
    away = _unit(_SUP)
    a = _quadratic(g, -away, g, -away, precision)
    b = _quadratic(g, -away, fixed, moving, precision)
    d = _quadratic(fixed, moving, fixed, moving, precision)
    excess = np.polysub(np.polysub(np.polymul(a, d), np.polymul(b, b)), (best[2] + limit) * d)
    roots = np.roots(excess)
    real = np.sort(roots[np.abs(roots.imag) <= 1e-7 * np.maximum(np.abs(roots), 1e-300)].real)
    inside = [(float(low), float(high)) for low, high in pairwise(real)]
    kept = [pair for pair in inside if np.polyval(excess, (pair[0] + pair[1]) / 2) <= 0]
    return [(unit * low, unit * high) for low, high in _joined(kept) or [(best[0], best[0])]]


def _outcome_unit(omega: Floats) -> float:
    """Return the standard error of supervised; of an exact one that of another number in units of the outcome."""
    errors = np.sqrt(np.diagonal(omega)[[_SUP, _UNLABELLED, _LABELLED]])
    return float(next((error for error in errors if error > 0), 1.0))


def _joined(pairs: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join intervals that touch: a double root splits none."""
    joined: list[tuple[float, float]] = []
    for low, high in pairs:
        if joined and joined[-1][1] == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined


def _rectified(g: Floats, omega: Floats) -> tuple[Floats, float]:
    """Return rung 0's weights, supervised plus ω (soft_U − soft_L), and its χ²₁ of soft_L = soft_U."""
    gap = _unit(_LABELLED) - _unit(_UNLABELLED)
    variance = float(gap @ omega @ gap)
    scale = float(omega[_LABELLED, _LABELLED] + omega[_UNLABELLED, _UNLABELLED])
    if variance <= _LEAST_EIGENVALUE * scale:
        return _unit(_SUP), 0.0
    share = float(omega[_SUP] @ gap) / variance
    return _unit(_SUP) - share * gap, float(g @ gap) ** 2 / variance


def _instrumented(g: Floats, precision: Floats) -> tuple[float, float, float]:
    """Return rung 1: (τ, c, distance) at the least distance there is.

    For a given c the distance is quadratic in τ, and at its best τ it is a ratio of polynomials in c. Its stationary
    points are the roots of one polynomial of degree five: the least of them is the global minimum, so nothing iterates
    and nothing can fail to converge. It grows without bound in either direction of c, for c_L holds it.
    """
    fixed, moving = _level(0.0), _level(1.0) - _level(0.0)
    away = _unit(_SLOPE)
    a = _quadratic(g, -away, g, -away, precision)
    b = _quadratic(g, -away, fixed, moving, precision)
    d = _quadratic(fixed, moving, fixed, moving, precision)
    top: Any = np.polysub(np.polymul(a, d), np.polymul(b, b))
    rise: Any = np.polyder(d)
    roots = np.roots(np.polysub(np.polymul(np.polyder(top), d), np.polymul(top, rise)))
    # A root that rounding made complex is a double one; its real part is as good a candidate as any number.
    candidates = np.append(roots.real, g[_SLOPE])
    distances = [_profile(c, g, precision) for c in candidates.tolist()]
    c, (tau, distance) = min(zip(candidates.tolist(), distances, strict=True), key=lambda pair: pair[1][1])
    return tau, c, distance


def _profile(c: float, g: Floats, precision: Floats) -> tuple[float, float]:
    """Return (τ, distance) at the best τ for a slope c."""
    level = _level(c)
    left = g - c * _unit(_SLOPE)
    tau = float(level @ precision @ left) / float(level @ precision @ level)
    left = left - tau * level
    return tau, float(left @ precision @ left)


def _quadratic(u0: Floats, u1: Floats, v0: Floats, v1: Floats, precision: Floats) -> Floats:
    """Return (u₀ + u₁x)ᵀ P (v₀ + v₁x) as coefficients of x², x and 1."""
    return np.array([u1 @ precision @ v1, u0 @ precision @ v1 + u1 @ precision @ v0, u0 @ precision @ v0])


def _level(slope: float) -> Floats:
    """Return how E g moves with τ where exclusion holds."""
    return np.array([1.0, slope, slope, 0.0])


def _turn(tau: float) -> Floats:
    """Return how E g moves with c where exclusion holds."""
    return np.array([0.0, tau, tau, 1.0])


def _unit(place: int) -> Floats:
    unit: Floats = np.eye(4)[place]
    return unit


def _weights(jacobian: Floats, precision: Floats) -> Floats:
    """Return the weights (4,) of the first parameter of a Jacobian (4, m)."""
    weighted = precision @ jacobian
    # In units of the parameters' own information; where two parameters cannot be told apart, the smallest solution.
    size = np.sqrt(np.einsum("ij,ij->j", jacobian, weighted))
    found: Floats = (np.linalg.pinv(jacobian.T @ weighted / np.outer(size, size)) @ (weighted / size).T)[0] / size[0]
    return found


def _step(difference: float, weights: Floats, omega: Floats, rectified: Floats, unit: float) -> Step:
    """Return a step, zero where it has no error to speak of."""
    variance = max(float(weights @ omega @ weights), 0.0)
    if variance <= _NO_STEP**2 * float(rectified @ omega @ rectified):
        return Step(0.0, 0.0)
    return Step(unit * difference, unit * variance**0.5)
