"""Integrals over the paper's design: closed forms in p given s, a trapezoid rule in s.

Given ``s`` the score is ``Beta(r k0, (1-r) k0)`` with density f. Its tail mass and its tail mean are
incomplete beta functions, the mean's with a shifted parameter, good to the last bits; no Beta
function is evaluated, whose logarithm is not. With ``W = x (1-x) f`` one has
``W' = k0 (r - x) f``, and integrating by parts gives every further truncated moment *about r*.

Over ``s`` the integrands are analytic and the density is normal, so the trapezoid rule on the whole
line converges faster than any power of its step (Trefethen & Weideman, *The exponentially
convergent trapezoidal rule*, SIAM Review 56, 2014). It is used in u, with ``s = c sinh(u)``: the odds
of the two labels inside a confident set turn over within about ``sigma_u²`` of ``s = 0``, all else
varies in proportion to ``s``, and sinh puts nodes accordingly. The step is halved until no integral
moves.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, expit

from softlabel.errors import DataError

__all__ = ["Array", "Law", "Line", "Piece", "settle"]

Array = NDArray[np.float64]
_Answer = TypeVar("_Answer")

# Beyond 38 standard deviations the normal density is no longer a normal float64.
_REACH = 38.0
_FIRST_STEP = 0.25
# The c of s = c sinh(u); the answer does not depend on it, only the number of nodes does.
_CORE = 0.05
_HALVINGS = 8
# An integral has settled when halving the step moves it by less than this share of the integral of
# its absolute value. The error left is far smaller; rounding sets a floor of about 1e-14.
_SETTLED = 1e-11
# A Beta parameter this small means that p is 0 or 1 with certainty, to the last bit.
_LEAST = 1e-300
# Steps of the backward recurrence: 80 reach the last bit three standard deviations out and beyond.
_MILLER = 80


@dataclass(slots=True)
class Line:
    """Trapezoid nodes for a standard normal z, and a memory of the integrals taken with them.

    Attributes
    ----------
    z, weight
        Shape (nodes,).
    taken
        ``(integral of f, integral of |f|)`` for every call of `mean`, in order.
    """

    z: Array
    weight: Array
    taken: list[tuple[float, float]] = field(default_factory=list)

    @classmethod
    def with_step(cls, step: float, core: float) -> "Line":
        """Return the rule in u with this step, symmetric about zero, for ``z = core sinh(u)``."""
        half = np.arange(1, int(np.arcsinh(_REACH / core) / step) + 1) * step
        u = np.concatenate([-half[::-1], [0.0], half])
        z = core * np.sinh(u)
        density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        return cls(z=z, weight=step * core * np.cosh(u) * density)

    def mean(self, values: Array) -> float:
        """Return ``E[values(z)]`` and remember it for `settle`."""
        terms = self.weight * values
        integral = float(terms.sum())
        self.taken.append((integral, float(np.abs(terms).sum())))
        return integral


def settle(answer: Callable[[Line], _Answer], length: float) -> _Answer:
    """Return ``answer(line)`` on the first line fine enough that no integral it takes still moves.

    ``length`` is the standard deviation of s.
    """
    core = _CORE / max(length, _CORE)
    step = _FIRST_STEP
    coarse = Line.with_step(step, core)
    answer(coarse)
    for _ in range(_HALVINGS):
        step /= 2.0
        fine = Line.with_step(step, core)
        result = answer(fine)
        if _agree(coarse, fine):
            return result
        coarse = fine
    raise DataError(
        expected=f"the integrals over beta_r'X to settle by {coarse.z.size} nodes",
        found="integrals that still move",
        fix="Use a larger sigma_u, a shorter beta_r or thresholds farther from 0 and 1",
    )


def _agree(coarse: Line, fine: Line) -> bool:
    # A cell may be empty on one line and not on the other: then nothing has settled.
    if len(coarse.taken) != len(fine.taken):
        return False
    before, after = np.array(coarse.taken), np.array(fine.taken)
    return bool(np.all(np.abs(after[:, 0] - before[:, 0]) <= _SETTLED * after[:, 1]))


@dataclass(frozen=True, slots=True)
class Piece:
    """Moments of p on one side of a threshold, given s; every array has shape (nodes,).

    Attributes
    ----------
    mass, first, second
        ``E[(p-r)^j 1{piece} | s]`` for j = 0, 1, 2.
    mean
        ``first / mass``: how far the piece's mean lies from r (0 where the piece is empty).
    within
        ``E[(p - r - mean)² 1{piece} | s]``.
    """

    mass: Array
    first: Array
    second: Array
    mean: Array
    within: Array

    def mirrored(self) -> "Piece":
        """Return the same piece seen from ``1 - p``."""
        return replace(self, first=-self.first, mean=-self.mean)


@dataclass(frozen=True, slots=True)
class Law:
    """The law of p at every node: ``p | s ~ Beta(r k0, r_c k0)``.

    Attributes
    ----------
    s
        ``beta_r'X``, shape (nodes,).
    k0
        ``(1 - sigma_u²) / sigma_u²``.
    """

    s: Array
    k0: float

    @classmethod
    def at(cls, s: Array, sigma_u: float) -> "Law":
        """Return the law at the values s of ``beta_r'X``."""
        k0 = (1.0 - sigma_u) * (1.0 + sigma_u) / sigma_u**2
        return cls(s=s, k0=k0)

    @property
    def r(self) -> Array:
        """``E[p|s]``."""
        return np.asarray(expit(self.s))

    @property
    def r_c(self) -> Array:
        """``1 - r``, to full relative precision."""
        return np.asarray(expit(-self.s))

    @property
    def spread(self) -> Array:
        """``r (1-r)``."""
        return self.r * self.r_c

    @property
    def skew(self) -> Array:
        """``1 - 2r``, to full relative precision."""
        return -np.tanh(0.5 * self.s)

    def central(self) -> tuple[Array, Array, Array]:
        """Return ``E[(p-r)^j | s]`` for j = 2, 3, 4; each of shape (nodes,)."""
        second = self.spread / (self.k0 + 1.0)
        third = 2.0 * self.skew * second / (self.k0 + 2.0)
        return second, third, 3.0 * (self.spread * second + self.skew * third) / (self.k0 + 3.0)

    def mean_absolute(self) -> Array:
        """Return ``E[|p-r| | s] = 2 E[(p-r) 1{p > r} | s]``; shape (nodes,)."""
        # 1-p lies as far from 1-r as p from r.
        rarer = np.minimum(self.r, self.r_c)
        alpha, beta = np.maximum(rarer * self.k0, _LEAST), (1.0 - rarer) * self.k0
        gained = betaincc(alpha + 1.0, beta, rarer) - betaincc(alpha, beta, rarer)
        return np.asarray(2.0 * rarer * gained)

    def above(self, threshold: float, rest: float | None = None) -> Piece:
        """Return the piece ``p > threshold``; ``rest`` is ``1 - threshold`` where that is the exact one."""
        t, t_c = threshold, 1.0 - threshold if rest is None else rest
        alpha, beta = np.maximum(self.r * self.k0, _LEAST), np.maximum(self.r_c * self.k0, _LEAST)
        low = t <= t_c

        def tail(one: Array, other: Array) -> Array:
            # Of t and 1-t the smaller is the exact one, and so with r and 1-r.
            return np.asarray(betaincc(one, other, t) if low else betainc(other, one, t_c))

        mass, gap = tail(alpha, beta), t - self.r if low else self.r_c - t_c
        # E[p 1] and E[(1-p) 1] are tails with one parameter shifted; the smaller of the two is used.
        small = self.r <= 0.5
        shifted = tail(np.where(small, alpha + 1.0, alpha), np.where(small, beta, beta + 1.0))
        first = np.where(small, self.r * (shifted - mass), self.r_c * (mass - shifted))
        known = np.where(mass > 0.0, mass, 1.0)
        mean = first / known
        second = (self.k0 * gap * first + self.spread * mass + self.skew * first) / (self.k0 + 1.0)
        within = second - mean * first
        if not low:
            far = gap > 3.0 * np.sqrt(t * t_c / (self.k0 + 1.0))
            mean_far, variance_far = self._far_above(t, t_c, gap)
            mean = np.where(far, mean_far, mean)
            within = np.where(far, variance_far * mass, within)
        first = mean * mass
        return Piece(mass=mass, first=first, second=within + mean * first, mean=mean, within=within)

    def below(self, threshold: float) -> Piece:
        """Return the piece ``1 - p > threshold``."""
        return self.mirrored().above(threshold).mirrored()

    def upto(self, threshold: float) -> Piece:
        """Return the piece ``p <= threshold``."""
        return self.mirrored().above(1.0 - threshold, rest=threshold).mirrored()

    def mirrored(self) -> "Law":
        """Return the law of ``1 - p``."""
        return Law(s=-self.s, k0=self.k0)

    def _far_above(self, t: float, t_c: float, gap: Array) -> tuple[Array, Array]:
        """Return mean minus r, and variance, of p beyond a threshold of 1/2 or more that is far above r.

        There p hugs the threshold, and moments about r lose the digits that matter. Those about t,
        ``N[j] = E[(p-t)^j 1{p > t}]``, obey ``(k0 + j) N[j+1] = j t (1-t) N[j-1] - c[j] N[j]`` with
        ``c[j] = k0 (t-r) + j (2t-1)``, of which they are the minimal solution: run backwards on the
        ratios ``N[j+1]/N[j]`` (Miller's method), every term is positive and nothing cancels.
        """
        excess = further = np.full_like(gap, t_c)
        for j in range(_MILLER, 0, -1):
            further = excess
            step = self.k0 * np.maximum(gap, 0.0) + j * (t - t_c)
            excess = j * t * t_c / (step + (self.k0 + j) * further)
        return gap + excess, excess * (further - excess)
