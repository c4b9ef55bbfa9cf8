"""Numbers of a Monte Carlo run that tables print, each with its own Monte Carlo error."""

from __future__ import annotations

from math import sqrt

import numpy as np

from softlabel.replicate.losses import ratio
from softlabel.simulate import Measured, MonteCarlo, Proportion

__all__ = ["bias", "coverage", "mean", "mse", "mse_ratio", "over", "spread_of_mean", "squared_bias", "variance"]


def mean(found: MonteCarlo, name: str) -> Measured:
    """Return the mean.

    Examples
    --------
    >>> runs = MonteCarlo("toy", 0, ("a", "b"), ((1.0, 2.0), (3.0, 2.0), (5.0, 4.0), (3.0, 4.0)))
    >>> print(mean(runs, "a").estimate, round(mean(runs, "a").std_error, 3))
    3.0 0.816
    """
    return found.bias(name, truth=0.0)


def bias(found: MonteCarlo, name: str, truth: float) -> Measured:
    """Return the mean less the truth."""
    return found.bias(name, truth)


def mse(found: MonteCarlo, name: str, truth: float) -> Measured:
    """Return the mean squared distance from the truth."""
    return found.mse(name, truth)


def squared_bias(found: MonteCarlo, name: str, truth: float) -> Measured:
    """Return the square of the bias; near zero its error is that of the square of a normal variable.

    ``Var(d²) = 4 b² se² + 2 se⁴`` for ``d ~ N(b, se²)``.
    """
    away = found.bias(name, truth)
    error = sqrt(4.0 * away.estimate**2 * away.std_error**2 + 2.0 * away.std_error**4)
    return Measured(away.estimate**2, error, away.n, away.missing)


def variance(found: MonteCarlo, name: str) -> Measured:
    """Return the variance over replications, with denominator n - 1."""
    sd = found.sd(name)
    missing = found.missing(name)
    return Measured(sd**2, 2.0 * sd * found.sd_se(name), found.replications - missing, missing)


def spread_of_mean(found: MonteCarlo, name: str, replications: int) -> Measured:
    """Return the Monte Carlo standard error that a mean of so many replications has: sd / √replications."""
    missing = found.missing(name)
    error = found.sd_se(name) / sqrt(replications)
    return Measured(found.sd(name) / sqrt(replications), error, found.replications - missing, missing)


def mse_ratio(found: MonteCarlo, top: str, bottom: str, truth: float) -> Measured:
    """Return the mean squared error of one estimator over another's, by the delta method."""
    pairs = [(a, b) for a, b in zip(found.column(top), found.column(bottom), strict=True) if None not in (a, b)]
    squares = np.square(np.array(pairs, dtype=np.float64) - truth)
    one = ratio(squares[:, 0], squares[:, 1])
    return Measured(one.value, one.std_error, len(pairs), found.replications - len(pairs))


def coverage(found: MonteCarlo, low: str, high: str, truth: float) -> Measured:
    """Return the share of intervals that hold the truth.

    The error is that of a share with one miss and one hit added: an interval that always covers has an error too.
    """
    share: Proportion = found.coverage(low, high, truth)
    likely = (share.estimate * share.n + 1.0) / (share.n + 2.0)
    return Measured(share.estimate, sqrt(likely * (1.0 - likely) / share.n), share.n, share.missing)


def over(measured: Measured, divisor: float) -> Measured:
    """Return a measured number over a known one.

    Examples
    --------
    >>> over(Measured(3.0, 0.5, 10, 0), -2.0)
    Measured(estimate=-1.5, std_error=0.25, n=10, missing=0)
    """
    return Measured(measured.estimate / divisor, measured.std_error / abs(divisor), measured.n, measured.missing)
