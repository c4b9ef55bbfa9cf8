r"""Precision: standard errors of the ladder as functions of the numbers of labelled and unlabelled rows.

With ω the covariance per row of (supervised, soft_L, c_L), and δ that of soft_U, Ω = diag(ω/n_L, δ/n_U) in the notation
of `softlabel.estimators.ladder`. Every variance is then a ratio of polynomials in n_L, of degree two at most, and the
labels needed for a variance T are the positive root of

.. math:: \alpha n^2 + \beta n - \gamma = 0.

With D = δ/n_U, i = (1,1,0) ω⁻¹ (1,1,0)', M = J'ω⁻¹J for J = [(1,c,c,0)', (0,τ,τ,1)'] without soft_U, v = (c, τ) and
k = v' adj(M) v:

=============  ===========  =====================  ==================
estimator      α            β                      γ
=============  ===========  =====================  ==================
supervised     0            T                      ω₁₁
rectified      T D          T ω₂₂ − ω₁₁ D          ω₁₁ω₂₂ − ω₁₂²
instrumented   T D det M    T k − M₂₂ D            τ²
combined       0            T D i                  D − T
=============  ===========  =====================  ==================
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.evidence import LEAST_AUDIT_ROWS
from softlabel.estimators.ladder import inverse, rung_variances

__all__ = [
    "ESTIMATORS",
    "MOST_LABELS",
    "Precision",
    "beta_uncertainty",
    "calibrated",
    "labels_needed",
    "least_labels",
    "std_errors",
]

Floats = NDArray[np.float64]

ESTIMATORS = ("supervised", "rectified", "instrumented", "combined")

# More than the people there are, many times over.
MOST_LABELS = 10**12


class Precision(NamedTuple):
    """What one row is worth.

    Attributes
    ----------
    labelled : (3, 3)
        n_L Cov of (supervised, soft_L, c_L).
    unlabelled
        n_U Var of soft_U.
    across : (3,)
        Correlations of the three with soft_U: zeros, but where clusters hold rows of both kinds.
    tau, slope
        Where the rungs' weights are evaluated.
    """

    labelled: Floats
    unlabelled: float
    across: Floats
    tau: float
    slope: float

    def omega(self, n_labelled: float, n_unlabelled: float) -> Floats:
        """Return Ω (4, 4), in the order of the ladder, with so many rows of each kind."""
        found = np.zeros((4, 4))
        mine = np.ix_([0, 1, 3], [0, 1, 3])
        found[mine] = self.labelled / n_labelled
        found[2, 2] = self.unlabelled / n_unlabelled
        sides = np.sqrt(np.diagonal(found[mine]) * found[2, 2])
        found[2, [0, 1, 3]] = found[[0, 1, 3], 2] = self.across * sides
        return found


def calibrated(
    tau: float,
    noise_sd: float,
    group_variance: float,
    v_star: float,
    uncertainty: float | None = None,
    audited: float = 1.0,
) -> Precision:
    r"""Return what a row is worth where calibration and exclusion hold and the noise has one size.

    With V_G = E[Var(G|X)], u = E[a² p(1 − p)] / V* and noise of variance σ²,

    .. math::
        \omega = \begin{pmatrix} \sigma^2/V_G & \sigma^2/V_G & 0 \\
        \sigma^2/V_G & (\sigma^2 + \tau^2 u)/V^* & \tau u/V^* \\ 0 & \tau u/V^* & u/V^* \end{pmatrix},
        \qquad \delta = (\sigma^2 + \tau^2 u)/V^*,

    from ψ_sup = (G − r)ε/V_G, ψ_soft = a(τ(G − p) + ε)/V* and ψ_c = a(G − p)/V*. Without an u it
    is `beta_uncertainty`. Where a share ``audited`` of the labelled rows audits, the block of soft_L and c_L is divided
    by it.

    Examples
    --------
    >>> calibrated(1.0, 1.0, 0.25, 0.125, 0.125).labelled.tolist()
    [[4.0, 4.0, 0.0], [4.0, 9.0, 1.0], [0.0, 1.0, 1.0]]
    """
    u = beta_uncertainty(group_variance, v_star) if uncertainty is None else uncertainty
    alone, noise, known = noise_sd**2 / group_variance, noise_sd**2 / v_star, u / v_star
    soft = noise + tau**2 * known
    labelled = np.array([[alone, alone, 0.0], [alone, soft, tau * known], [0.0, tau * known, known]])
    labelled[1:, 1:] /= audited
    return Precision(labelled, soft, np.zeros(3), tau, 1.0)


def beta_uncertainty(group_variance: float, v_star: float) -> float:
    r"""Return E[a² p(1 − p)] / V* of scores that are Beta about a mean r with r(1 − r) = V_G.

    .. math:: u = \frac{k\,(V_G (k - 6) + 2)}{(k + 2)(k + 3)}, \qquad k = V_G/V^* - 1.

    For normal scores on the logit scale it is off by a tenth at most where a fifth or more are of the group. (The
    plain mean, E[p(1 − p)] = V_G − V*, is off by a factor of two or three: too large for a rich score, too small for
    a rare group.)

    Examples
    --------
    >>> beta_uncertainty(0.25, 1 / 12), beta_uncertainty(0.25, 0.25)  # p uniform: 1/4 − 3/20; p that knows G
    (0.1, 0.0)
    """
    k = group_variance / v_star - 1
    return k * (group_variance * (k - 6) + 2) / ((k + 2) * (k + 3))


def std_errors(each: Precision, n_labelled: float, n_unlabelled: float) -> tuple[float, ...]:
    """Return the standard errors of `ESTIMATORS`."""
    omega = each.omega(n_labelled, n_unlabelled)
    return (float(omega[0, 0]) ** 0.5, *np.sqrt(rung_variances(omega, each.tau, each.slope)).tolist())


def labels_needed(each: Precision, n_unlabelled: float, target_se: float) -> tuple[int | None, ...]:
    """Return the fewest labels with which `ESTIMATORS` reach a standard error, ``None`` beyond `MOST_LABELS`.

    ``n_unlabelled`` may be infinite. Fewer than `LEAST_AUDIT_ROWS` labels show no error, so that many is the least; but
    combined needs none where soft alone is precise enough.
    """
    unlabelled = each.unlabelled / n_unlabelled
    enough = math.sqrt(unlabelled) <= target_se
    if each.across.any() and unlabelled:
        alone = float(each.labelled[0, 0]) / target_se / target_se
        found = [alone, *(_searched(each, n_unlabelled, target_se, rung) for rung in (1, 2, 3))]
    else:
        found = _roots(each, unlabelled, target_se)
    whole = [least_labels(n) for n in found]
    return (*whole[:3], 0 if enough else whole[3])


def _roots(each: Precision, unlabelled: float, target_se: float) -> list[float]:
    # In units of supervised's error per row, so that no unit of the outcome is large or small.
    unit = float(each.labelled[0, 0]) ** 0.5
    units = np.array([unit, unit, 1.0])
    omega, d, t = each.labelled / np.outer(units, units), unlabelled / unit**2, (target_se / unit) ** 2
    tau, c = each.tau / unit, each.slope
    precision = inverse(omega)
    both = np.array([1.0, 1.0, 0.0])
    jacobian = np.array([[1.0, 0.0], [c, tau], [0.0, 1.0]])
    m = jacobian.T @ precision @ jacobian
    k = c**2 * m[1, 1] - 2 * c * tau * m[0, 1] + tau**2 * m[0, 0]
    left = max(float(omega[0, 0] * omega[1, 1] - omega[0, 1] ** 2), 0.0)
    determinant = float(m[0, 0] * m[1, 1] - m[0, 1] ** 2)
    return [
        _root(0.0, t, float(omega[0, 0])),
        _root(t * d, float(t * omega[1, 1] - omega[0, 0] * d), left),
        _root(t * d * determinant, float(t * k - m[1, 1] * d), tau**2),
        _root(0.0, t * d * float(both @ precision @ both), d - t),
    ]


def _root(a: float, b: float, c: float) -> float:
    """Return the root of a n² + b n − c that is not negative, infinite where there is none."""
    if c <= 0 and b >= 0:
        return 0.0
    root = math.sqrt(b * b + 4 * a * max(c, 0.0))
    # Of the two forms the one in which nothing cancels.
    if b > 0:
        return 2 * c / (b + root)
    return (root - b) / (2 * a) if a > 0 else math.inf


def _searched(each: Precision, n_unlabelled: float, target_se: float, place: int) -> float:
    """Return the same by halving, where labelled and unlabelled numbers are correlated."""

    def reached(n: int) -> bool:
        return std_errors(each, n, n_unlabelled)[place] <= target_se

    low, high = 0, LEAST_AUDIT_ROWS
    while not reached(high):
        if high > MOST_LABELS:
            return math.inf
        low, high = high, 2 * high
    while high - low > 1 and low >= LEAST_AUDIT_ROWS:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return float(high)


def least_labels(n: float) -> int | None:
    """Return a number of labels as a whole one, `LEAST_AUDIT_ROWS` at least; ``None`` beyond `MOST_LABELS`.

    Examples
    --------
    >>> least_labels(412.3), least_labels(2.0), least_labels(1e30)
    (413, 10, None)
    """
    # What rounding adds to a whole number is no label.
    return None if not n <= MOST_LABELS else max(math.ceil(n * (1 - 1e-12)), LEAST_AUDIT_ROWS)
