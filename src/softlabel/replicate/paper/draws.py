"""Rows of the paper's design with everything that only a simulation knows, and least squares on its controls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from softlabel.simulate import PaperDesign

__all__ = ["DESIGN", "FOLDS", "Draw", "draw", "out_of_fold", "residuals", "slope_on_group"]

Floats = NDArray[np.float64]

FOLDS = 5
# The paper's default: score noise 0.3, effect 1.
DESIGN = PaperDesign()


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Rows of a `PaperDesign`, n of them.

    Attributes
    ----------
    x : (3, n)
    s, r, mu, p, y : (n,)
        ``beta_r'X``, ``E[p|X]``, ``E[Y|X, G=0]``, the score, the outcome.
    uniform, noise : (n,)
        What decided on G and what was added to Y: G is ``uniform < p``, and under drift ``uniform < p + eta``.
    tau
        The effect.
    """

    x: Floats
    s: Floats
    r: Floats
    mu: Floats
    p: Floats
    y: Floats
    uniform: Floats
    noise: Floats
    tau: float

    @property
    def m(self) -> Floats:
        """``E[Y|X]``."""
        return self.mu + self.tau * self.r

    @property
    def group(self) -> Floats:
        """G."""
        return (self.uniform < self.p).astype(np.float64)

    def outcome_given(self, chance: Floats) -> Floats:
        """Return the outcomes (n,) of the same rows had G been drawn with this chance (n,)."""
        return self.mu + self.tau * (self.uniform < chance) + self.noise


def draw(design: PaperDesign, n: int, rng: np.random.Generator) -> Draw:
    """Return n rows: the same as `PaperDesign.sample` draws from this generator, digit for digit.

    Examples
    --------
    >>> rows = draw(PaperDesign(), 4, np.random.default_rng(1))
    >>> bool((rows.y == PaperDesign().sample(4, seed=np.random.default_rng(1))["y"].to_numpy()).all())
    True
    """
    x = rng.standard_normal((design.dimension, n))
    s = np.asarray(design.beta_r) @ x
    k0 = design.concentration
    r = np.asarray(expit(s))
    p = rng.beta(r * k0, expit(-s) * k0)
    uniform = rng.random(n)
    noise = design.noise * rng.standard_normal(n)
    mu = np.asarray(design.beta_m) @ x
    return Draw(x, s, r, mu, p, mu + design.tau * (uniform < p) + noise, uniform, noise, design.tau)


def residuals(x: Floats, targets: Floats) -> Floats:
    """Return what least squares on an intercept and x (k, n) leave of targets (m, n) or (n,), in sample.

    Examples
    --------
    >>> residuals(np.array([[0.0, 1.0, 2.0]]), np.array([1.0, 3.0, 8.0])).round(6).tolist()
    [0.5, -1.0, 0.5]
    """
    design = x - x.mean(axis=-1, keepdims=True)
    centred = targets - targets.mean(axis=-1, keepdims=True)
    coefficients = np.linalg.solve(design @ design.T, design @ centred.T)
    return np.asarray(centred - (coefficients.T @ design))


def out_of_fold(x: Floats, targets: Floats, folds: int = FOLDS) -> Floats:
    """Return what least squares on an intercept and x (k, n), fitted on the other folds, leave of targets (m, n).

    Rows are independent, so folds are runs of rows; n must be a multiple of ``folds``.

    Examples
    --------
    >>> out_of_fold(np.array([[0.0, 1.0, 2.0, 4.0]]), np.array([[1.0, 3.0, 5.0, 8.0]]), folds=2).tolist()
    [[-1.0, -0.5, 0.0, -1.0]]
    """
    n = x.shape[1]
    z = np.concatenate([np.ones((1, n)), x, targets]).T.reshape(folds, n // folds, -1)
    grams = np.swapaxes(z, 1, 2) @ z
    rest = grams.sum(axis=0) - grams
    k = len(x) + 1
    coefficients = np.linalg.solve(rest[:, :k, :k], rest[:, :k, k:])
    return np.asarray((z[:, :, k:] - z[:, :, :k] @ coefficients).reshape(n, -1).T)


def slope_on_group(rows: Draw) -> float:
    """Return the slope of Y on G, controls and an intercept: the supervised estimate."""
    group, outcome = residuals(rows.x, np.stack([rows.group, rows.y]))
    return float(group @ outcome / (group @ group))
