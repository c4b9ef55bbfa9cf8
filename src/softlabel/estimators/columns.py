"""Design columns made orthonormal, rows times the root of their weights: what a regression in memory stands on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.moments.solve import independent

__all__ = ["ROUNDING", "centred", "orthonormal", "relative", "scaled"]

Floats = NDArray[np.float64]

# Centring a constant leaves about 1e-16 of its size, and so do terms of a sum that cancel.
ROUNDING = 1e-13


def relative(weight: Floats | None) -> Floats | None:
    """Return weights of mean one: whatever their unit, the tolerances below mean the same."""
    return None if weight is None else weight / weight.mean()


def centred(values: Floats, weight: Floats | None) -> Floats:
    """Return values (..., n) less their weighted mean, each row times the root of its weight."""
    if weight is None:
        about_mean: Floats = values - values.mean(axis=-1, keepdims=True)
        return about_mean
    root: Floats = np.sqrt(weight)
    mean: Floats = np.asarray(values @ weight)[..., None] / weight.sum()
    return (values - mean) * root


def scaled(controls: Floats, weight: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the controls centred and of unit length, and which of them are independent."""
    left = centred(controls, weight)
    size = np.sqrt(np.square(left).sum(axis=1, keepdims=True))
    noise = ROUNDING * np.sqrt(controls.shape[1]) * np.abs(controls).max(axis=1, initial=0.0)
    varies = size[:, 0] > noise
    unit = left / np.where(varies[:, None], size, 1.0)
    return unit, independent(unit @ unit.T, varies)


def orthonormal(controls: Floats, weight: Floats | None) -> Floats:
    """Return an orthonormal basis (n, rank) of the intercept and the controls (k, n)."""
    unit, free = scaled(controls, weight)
    n = controls.shape[1]
    intercept = np.full((1, n), n**-0.5) if weight is None else np.sqrt(weight / n)[None]
    return np.linalg.qr(np.vstack([intercept, unit[free]]).T).Q
