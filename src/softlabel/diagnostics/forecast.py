"""Forecast: the error that each threshold would have, from rows without a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from softlabel.results import Attenuation, ConfidentAttenuation, Estimate, Forecast, Table

__all__ = ["forecast_table"]


def forecast_table(
    soft: Estimate,
    hard: Sequence[Estimate],
    confident: Sequence[Estimate],
    kappa: Sequence[Attenuation],
    kappa_confident: Sequence[ConfidentAttenuation],
) -> Table[Forecast]:
    r"""Return the forecast of the mean squared error about τ of soft, hard(t) and confident(t).

    If the score is calibrated given the controls and matters for the outcome only through the group, hard(t) aims at
    κ(t)τ and soft at τ, so that

    .. math::
        \mathrm{bias} = (κ - 1) τ, \qquad
        \widehat{\mathrm{MSE}} = \big[(\hat κ - 1)^2 - SE_κ^2\big]_+ \big[\hat τ^2 - SE_τ^2\big]_+ + SE^2 ,

    with the noise of either square taken off. The other way to bias², (hard − soft)² less its variance, carries the
    noise of the outcome through b as well as through a, where here it enters through a alone, times (κ − 1)² ≤ 1: at
    hard(.8) of the paper's design its error is 15 to 65% larger.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> design = sl.simulate.PaperDesign(sigma_u=.5)
    >>> d = sl.diagnose(design.sample(20_000, seed=1), outcome="y", score="p", controls=["x1", "x2", "x3"])
    >>> [(row.name, row.threshold) for row in d.forecast if row.best]
    [('soft', None), ('hard', 0.5), ('confident', 0.95)]
    """
    rows = [_forecast(soft, soft, 1.0, 0.0, soft.reason)]
    factors: tuple[Attenuation | ConfidentAttenuation, ...] = (*kappa, *kappa_confident)
    for row, factor in zip((*hard, *confident), factors, strict=True):
        reason = row.reason or factor.reason or soft.reason
        rows.append(_forecast(soft, row, factor.kappa, factor.std_error, reason))
    return Table(tuple(_compared(row, rows) for row in rows))


def _forecast(soft: Estimate, row: Estimate, kappa: float | None, error: float | None, reason: str | None) -> Forecast:
    numbers = (soft.estimate, soft.std_error, row.std_error, kappa, error)
    if reason is not None or any(number is None for number in numbers):
        return Forecast(row.name, row.threshold, kappa, reason=reason)
    tau, tau_error, own_error, factor, factor_error = (float(number or 0.0) for number in numbers)
    short = factor - 1
    squared_bias = max(short * short - factor_error**2, 0.0) * max(tau**2 - tau_error**2, 0.0)
    variance = own_error**2
    return Forecast(row.name, row.threshold, factor, short * tau, squared_bias, variance, squared_bias + variance)


def _compared(row: Forecast, rows: Sequence[Forecast]) -> Forecast:
    """Return the row beside soft and beside the best threshold of its estimator."""
    if row.mse is None:
        return row
    least = min(other.mse for other in rows if other.name == row.name and other.mse is not None)
    first = next(other for other in rows if other.name == row.name and other.mse == least)
    soft = rows[0].mse
    return replace(
        row,
        relative_to_soft=_ratio(row.mse, soft),
        relative_to_best=_ratio(row.mse, least),
        best=row.threshold == first.threshold,
    )


def _ratio(mse: float, other: float | None) -> float | None:
    return mse / other if other else None
