"""Exact expectations over (s, p) of the paper's design, for functions that have no closed form.

`simulate.population` has closed forms in p; the scores and groups that drift, table 4, have none. Here p is cut into
cells whose probabilities and means are incomplete beta functions, and s into trapezoid nodes. What is left is the
curvature of a function within a cell of 1/2000: relative errors near 1e-6, which the tests measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import hypot

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit

from softlabel.simulate import PaperDesign

__all__ = ["Grid", "grid_of"]

Floats = NDArray[np.float64]

_CELLS = 2000
_NODES, _REACH = 161, 8.0


# Terms that cancel leave about 1e-16 of their size.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The joint law of (s, p).

    Attributes
    ----------
    s : (nodes, 1)
        ``beta_r'X``.
    p : (nodes, cells)
        The mean of the score in each cell given s.
    weight : (nodes, cells)
        Probabilities; they add up to one.
    """

    s: Floats
    p: Floats
    weight: Floats

    @property
    def r(self) -> Floats:
        """``E[p|X]``, (nodes, 1)."""
        return np.asarray(expit(self.s))

    @property
    def r_linear(self) -> Floats:
        """The linear projection of r on (1, X), (nodes, 1)."""
        return 0.5 + self.s * self.mean(self.s * self.r) / self.mean(self.s**2)

    def mean(self, values: Floats) -> float:
        """Return the expectation of values (nodes, cells) or (nodes, 1); what symmetry makes zero is zero."""
        terms = self.weight * values
        total = float(terms.sum())
        return 0.0 if abs(total) <= _ROUNDING * float(np.abs(terms).sum()) else total

    def given_s(self, values: Floats) -> Floats:
        """Return ``E[values|s]``, (nodes, 1)."""
        return np.asarray((self.weight * values).sum(axis=1, keepdims=True) / self.weight.sum(axis=1, keepdims=True))


@cache
def grid_of(design: PaperDesign) -> Grid:
    """Return the grid of a design.

    Examples
    --------
    >>> grid = grid_of(PaperDesign())
    >>> print(f"{grid.mean((grid.p - grid.r) ** 2):.6f}")
    0.019817
    """
    z = np.linspace(-_REACH, _REACH, _NODES)
    weight = np.exp(-0.5 * z * z)
    s = (hypot(*design.beta_r) * z)[:, None]
    r = expit(s)
    alpha, beta = r * design.concentration, expit(-s) * design.concentration
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    mass = np.diff(betainc(alpha, beta, edges), axis=1)
    first = r * np.diff(betainc(alpha + 1.0, beta, edges), axis=1)
    middle = 0.5 * (edges[1:] + edges[:-1])
    # Where a cell's probability is nothing to the last bit, any p of the cell will do.
    known = mass > 1e-12
    p = np.where(known, first / np.where(known, mass, 1.0), middle)
    return Grid(s=s, p=p, weight=mass * (weight / weight.sum())[:, None])
