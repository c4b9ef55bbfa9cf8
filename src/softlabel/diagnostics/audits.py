r"""Audits: why soft and hard are off, on the labelled rows, where the group is seen.

With x = a for soft and x = b for hard, R = Y − m̂(X) and e = G − ĝ(X),

.. math::
    c = \frac{\mathrm E[xe]}{\mathrm E[x^2]}, \qquad \theta = \frac{\mathrm E[xR]}{\mathrm E[x^2]} = \tau c + \ell,

so c is what calibration decides (one for soft, κ for hard) and ℓ what the score tells of the outcome beyond the group.
All errors come from one joint covariance of supervised, θ and c.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.evidence import Evidence
from softlabel.results import Audit, Table
from softlabel.results.inference import quantile

__all__ = ["audit_table"]

Floats = NDArray[np.float64]

# With fewer audit rows on a side of a threshold, one of them decides the slope of a hard label.
_LEAST_ON_A_SIDE = 5


def audit_table(evidence: Evidence | str, thresholds: tuple[float, ...], level: float) -> Table[Audit]:
    """Return the audit of soft, and of hard at each threshold."""
    which = [("soft", None), *(("hard", t) for t in thresholds)]
    if isinstance(evidence, str):
        return Table(tuple(_missing(name, t, 0, evidence) for name, t in which))
    residuals = [evidence.a, *evidence.b]
    return Table(
        tuple(_audit(name, t, x, evidence, level) for (name, t), x in zip(which, residuals, strict=True)),
    )


def _audit(name: str, threshold: float | None, x: Floats, evidence: Evidence, level: float) -> Audit:
    if threshold is not None:
        over = evidence.rows.score[0] > threshold
        above = int(over.sum() if evidence.copies is None else over @ evidence.copies)
        fewest = min(above, evidence.n - above)
        if fewest < _LEAST_ON_A_SIDE:
            side = "above" if fewest == above else "not above"
            few = f"{fewest} audit rows have a score {side} {threshold:g}: too few"
            return _missing(name, threshold, evidence.n, few)
    outcome, group = evidence.slope(x, evidence.r), evidence.slope(x, evidence.e)
    if outcome is None or group is None:
        return _missing(name, threshold, evidence.n, "a single audit row, or cluster of them, decides it")
    omega = evidence.with_supervised(outcome.influence, group.influence)
    tau = float(evidence.g[0])
    leak = outcome.value - tau * group.value
    leak_error = _error(np.array([-group.value, 1.0, -tau]), omega)
    bias, bias_error = outcome.value - tau, _error(np.array([-1.0, 1.0, 0.0]), omega)
    reach = quantile(level, evidence.supervised.estimate.df) * bias_error
    return Audit(
        name=name,
        threshold=threshold,
        slope=group.value,
        slope_error=float(omega[2, 2]) ** 0.5,
        leak=leak,
        leak_error=leak_error,
        bias=bias,
        bias_error=bias_error,
        bias_low=bias - reach,
        bias_high=bias + reach,
        n=evidence.n,
    )


def _error(gradient: Floats, omega: Floats) -> float:
    return math.sqrt(max(float(gradient @ omega @ gradient), 0.0))


def _missing(name: str, threshold: float | None, n: int, reason: str) -> Audit:
    return Audit(name, threshold, None, None, None, None, None, None, None, None, n, reason)
