"""The record of a forecast."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Forecast"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The mean squared error about τ that an estimate has, if calibration and exclusion hold: no label is needed.

    Attributes
    ----------
    kappa
        What it estimates of τ: one for soft.
    bias
        (κ − 1)τ, with τ as soft has it.
    squared_bias, variance, mse
        Its square, the noise of κ and of soft taken off; the square of the standard error; their sum.
    relative_to_soft, relative_to_best
        The mean squared error over that of soft, and over that of the estimator's best threshold.
    best
        Whether no threshold of this estimator does better.
    reason
        Why there is no forecast.
    """

    name: str
    threshold: float | None
    kappa: float | None = None
    bias: float | None = None
    squared_bias: float | None = None
    variance: float | None = None
    mse: float | None = None
    relative_to_soft: float | None = None
    relative_to_best: float | None = None
    best: bool = False
    reason: str | None = None
