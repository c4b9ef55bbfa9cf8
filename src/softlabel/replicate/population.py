r"""Populations that scenarios draw from, with the exact coefficient that is to be estimated.

.. math::
    X \sim N(0, I_3),\quad S \sim N(0, I_2),\quad P(G=1) = \sigma(b + k\,\beta_r'X + s_1 S_1 + s_2 S_2), \\
    Y = \beta_m'X + (\tau + \gamma x_1) G + e S_1 + N(0, 1), \qquad \text{controls } x_1, x_2, x_3, \sigma(\beta_r'X).

A classifier sees X and S. The target is the population coefficient of Y on G given the controls, linearly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

__all__ = ["BETA_M", "BETA_R", "DiscreteLaw", "Law", "Rows", "intercept_for"]

Floats = NDArray[np.float64]

BETA_R = (0.6, -0.4, 0.3)
BETA_M = (1.0, 0.5, -0.5)

# Gauss-Hermite in β_r'X and in what S adds to the logit: twice as many move no target by 1e-12.
_NODES = 200


class Rows(NamedTuple):
    """Rows of a population, n of them.

    Attributes
    ----------
    x : (n, 3)
        What the controls are made of, as the classifier reads them.
    s : (n, 2)
        What the classifier sees beyond the controls.
    logit : (n,)
        Of P(G = 1 | X, S).
    group, outcome : (n,)
        G and Y.
    controls
        The controls by name, each (n,).
    """

    x: Floats
    s: Floats
    logit: Floats
    group: Floats
    outcome: Floats
    controls: Mapping[str, NDArray[np.generic]]

    def take(self, which: NDArray[np.generic]) -> Rows:
        """Return some rows, by a mask or by their numbers."""
        controls = {name: values[which] for name, values in self.controls.items()}
        x, s, logit, group, outcome = self.x, self.s, self.logit, self.group, self.outcome
        return Rows(x[which], s[which], logit[which], group[which], outcome[which], controls)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts."""
        return cls(
            np.concatenate([rows.x for rows in parts]),
            np.concatenate([rows.s for rows in parts]),
            np.concatenate([rows.logit for rows in parts]),
            np.concatenate([rows.group for rows in parts]),
            np.concatenate([rows.outcome for rows in parts]),
            {name: np.concatenate([rows.controls[name] for rows in parts]) for name in parts[0].controls},
        )


@dataclass(frozen=True, slots=True)
class Law:
    """The population of the module's equation.

    Attributes
    ----------
    slopes
        (k, s₁, s₂) of the logit.
    intercept
        b of the logit.
    tau, tau_slope
        τ and γ of the effect.
    leak
        e: what S₁ adds to the outcome beyond the group. Zero is exclusion.
    """

    slopes: tuple[float, float, float] = (1.2, 1.2, -0.8)
    intercept: float = 0.0
    tau: float = 1.0
    tau_slope: float = 0.0
    leak: float = 0.0

    def rows(self, x: Floats, s: Floats, noise: Floats, rng: np.random.Generator) -> Rows:
        """Return the rows of given X (n, 3), S (n, 2) and noise (n,), with G and Y drawn."""
        index = x @ np.array(BETA_R)
        logit = self.intercept + self.slopes[0] * index + s @ np.array(self.slopes[1:])
        group = (rng.random(len(x)) < expit(logit)).astype(np.float64)
        effect = self.tau + self.tau_slope * x[:, 0]
        outcome = x @ np.array(BETA_M) + effect * group + self.leak * s[:, 0] + noise
        controls = {"x1": x[:, 0], "x2": x[:, 1], "x3": x[:, 2], "r": expit(index)}
        return Rows(x, s, logit, group, outcome, controls)

    def draw(self, n: int, rng: np.random.Generator) -> Rows:
        """Return n rows of the population."""
        x, s, noise = rng.standard_normal((n, 3)), rng.standard_normal((n, 2)), rng.standard_normal(n)
        return self.rows(x, s, noise, rng)

    @property
    def target(self) -> float:
        r"""The population coefficient of Y on G given the controls.

        Write X = z βᵣ/q + Z with z = βᵣ'X/q, q = \|βᵣ\| and Z independent of (z, G) and of mean zero. So G's projection
        π on the controls is that on (1, z, σ(qz)); with v = G − π, E[v²] = E[Gv] and S independent of X,

        .. math:: \{E[(τ + γ \tfrac{βᵣ₁}{q} z)\,Gv] + e\,s_1 E[σ'(\text{logit})]\} / E[Gv],
                  \qquad E[G v | z] = g(z)(1 - π(z)),

        where the second term is Stein's. Gauss-Hermite in z and in what S adds to the logit.
        """
        z, weight = _normal()
        q = float(np.linalg.norm(BETA_R))
        spread = float(np.hypot(*self.slopes[1:]))
        logit = self.intercept + self.slopes[0] * q * z[:, None] + spread * z[None, :]
        share = expit(logit)
        g = share @ weight
        basis = np.column_stack([np.ones_like(z), z, expit(q * z)])
        gram = (basis * weight[:, None]).T @ basis
        kept = g * (1 - basis @ np.linalg.solve(gram, basis.T @ (weight * g)))
        effect = self.tau + self.tau_slope * BETA_R[0] / q * z
        leaked = self.leak * self.slopes[1] * float(weight @ (share * (1 - share)) @ weight)
        return (float(weight @ (effect * kept)) + leaked) / float(weight @ kept)


@dataclass(frozen=True, slots=True)
class DiscreteLaw:
    """Three discrete controls: ill ~ B(.5), old ~ B(.3 + .2 ill), region of three, whose dummies carry E[Y|G, X].

    With nothing left out of the regression the target is τ itself.
    """

    tau: float = 1.0

    def draw(self, n: int, rng: np.random.Generator) -> Rows:
        """Return n rows of the population."""
        ill = (rng.random(n) < 0.5).astype(np.float64)
        old = (rng.random(n) < 0.3 + 0.2 * ill).astype(np.float64)
        region = rng.integers(0, 3, n)
        s = rng.standard_normal((n, 2))
        logit = 0.8 * ill - 0.6 * old + np.array([-0.5, 0.0, 0.7])[region] + 1.2 * s[:, 0] - 0.8 * s[:, 1]
        group = (rng.random(n) < expit(logit)).astype(np.float64)
        means = 1.0 * ill + 0.5 * old + np.array([0.0, 0.5, -0.5])[region]
        outcome = means + self.tau * group + rng.standard_normal(n)
        x = np.column_stack([ill, old, region.astype(np.float64)])
        names: NDArray[np.str_] = np.array(["east", "north", "west"])
        return Rows(x, s, logit, group, outcome, {"ill": ill, "old": old, "region": names[region]})

    @property
    def target(self) -> float:
        """The population coefficient of Y on G given the dummies."""
        return self.tau


def intercept_for(share: float, slopes: tuple[float, float, float] = Law().slopes) -> float:
    """Return the intercept with which so large a share of a `Law` has G = 1.

    Examples
    --------
    >>> round(intercept_for(0.5), 6) + 0.0
    0.0
    """
    z, weight = _normal()
    spread = float(np.hypot(slopes[0] * np.linalg.norm(BETA_R), np.hypot(*slopes[1:])))
    return float(brentq(lambda b: float(weight @ expit(b + spread * z)) - share, -50, 50, xtol=1e-14))


@cache
def _normal() -> tuple[Floats, Floats]:
    """Return nodes and weights of the mean over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()
