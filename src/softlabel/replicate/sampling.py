"""How a scenario's rows come about: which are labelled, which belong together, which stand for many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from softlabel.replicate.population import DiscreteLaw, Law, Rows

__all__ = ["Clustered", "Independent", "LabelledByGroup", "Sampled", "Shifted", "Weighted"]

Floats = NDArray[np.float64]


class Sampled(NamedTuple):
    """Unlabelled and labelled rows, and further columns of both, the unlabelled first, by their role."""

    unlabelled: Rows
    labelled: Rows
    roles: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Independent:
    """Labelled rows are a random sample."""

    def __call__(self, law: Law | DiscreteLaw, n_u: int, n_l: int, rng: np.random.Generator) -> Sampled:
        """Return the rows of one draw."""
        return Sampled(law.draw(n_u, rng), law.draw(n_l, rng), {})


@dataclass(frozen=True, slots=True)
class Shifted:
    """Labelled rows come from elsewhere: the means of X and S differ, the laws of G and Y given them do not."""

    x: tuple[float, float, float] = (0.5, 0.0, 0.0)
    s: tuple[float, float] = (0.5, 0.0)

    def __call__(self, law: Law, n_u: int, n_l: int, rng: np.random.Generator) -> Sampled:
        """Return the rows of one draw."""
        x = rng.standard_normal((n_l, 3)) + np.array(self.x)
        s = rng.standard_normal((n_l, 2)) + np.array(self.s)
        labelled = law.rows(x, s, rng.standard_normal(n_l), rng)
        return Sampled(law.draw(n_u, rng), labelled, {})


@dataclass(frozen=True, slots=True)
class LabelledByGroup:
    """Rows are labelled with probability σ(−1 + group · G + slope · x₁): supervised stays right, ĉ does not."""

    group: float = 1.5
    slope: float = 0.5

    def __call__(self, law: Law | DiscreteLaw, n_u: int, n_l: int, rng: np.random.Generator) -> Sampled:
        """Return the rows of one draw."""

        def kept(rows: Rows) -> Floats:
            return np.asarray(expit(-1 + self.group * rows.group + self.slope * rows.x[:, 0]))

        return Sampled(law.draw(n_u, rng), _accepted(law, n_l, kept, rng), {})


@dataclass(frozen=True, slots=True)
class Clustered:
    """Clusters of ``size`` rows, of which the first so many ``labelled`` are, as long as labels last.

    Clusters straddle both kinds of rows. A cluster shares ``icc`` of the variance of every X and S, and of the noise.
    """

    size: int = 50
    labelled: int = 5
    icc: float = 0.2

    def __call__(self, law: Law, n_u: int, n_l: int, rng: np.random.Generator) -> Sampled:
        """Return the rows of one draw."""
        n = n_u + n_l
        cluster = np.arange(n) // self.size
        shared = rng.standard_normal((int(cluster[-1]) + 1, 6))
        drawn = np.sqrt(self.icc) * shared[cluster] + np.sqrt(1 - self.icc) * rng.standard_normal((n, 6))
        rows = law.rows(drawn[:, :3], drawn[:, 3:5], drawn[:, 5], rng)
        is_labelled = (np.arange(n) % self.size < self.labelled) & (cluster < n_l // self.labelled)
        order = np.concatenate([cluster[~is_labelled], cluster[is_labelled]]).astype(np.float64)
        return Sampled(rows.take(~is_labelled), rows.take(is_labelled), {"cluster": order})


@dataclass(frozen=True, slots=True)
class Weighted:
    """Rows with a negative outcome enter with probability ``share``, labelled or not, and weigh 1/share.

    Without the weights every regression on the group is wrong, for what is sampled depends on the outcome.
    """

    share: float = 0.25

    def __call__(self, law: Law | DiscreteLaw, n_u: int, n_l: int, rng: np.random.Generator) -> Sampled:
        """Return the rows of one draw."""

        def kept(rows: Rows) -> Floats:
            return np.where(rows.outcome > 0, 1.0, self.share)

        unlabelled, labelled = _accepted(law, n_u, kept, rng), _accepted(law, n_l, kept, rng)
        chance = np.concatenate([kept(unlabelled), kept(labelled)])
        return Sampled(unlabelled, labelled, {"weights": 1 / chance})


def _accepted(law: Law | DiscreteLaw, n: int, kept: Callable[[Rows], Floats], rng: np.random.Generator) -> Rows:
    """Return n rows, each of the population accepted with a probability of its own."""
    parts: list[Rows] = []
    while sum(len(rows.group) for rows in parts) < n:
        rows = law.draw(2 * n, rng)
        parts.append(rows.take(rng.random(2 * n) < kept(rows)))
    return Rows.joined(parts).take(np.arange(n))
