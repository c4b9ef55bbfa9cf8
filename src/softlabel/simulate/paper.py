"""The paper's simulation design, in any dimension, with its exact population values."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit

from softlabel.errors import InputError
from softlabel.simulate.arguments import Seed, finite, finites, generator, whole
from softlabel.simulate.population import Problem, population
from softlabel.simulate.truth import Truth

__all__ = ["PaperDesign"]

# A Beta parameter may not underflow to zero; this one gives 0 or 1 with certainty.
_LEAST = 1e-300


@dataclass(frozen=True, slots=True)
class PaperDesign:
    """The simulation design of the seed paper.

    ``X ~ N(0, I_d)``, ``r(X) = sigma(beta_r'X)``, ``mu(X) = beta_m'X``,
    ``p | X ~ Beta(r k0, (1-r) k0)`` with ``k0 = (1 - sigma_u²) / sigma_u²``, ``G ~ Bernoulli(p)`` and
    ``Y = mu + tau G + noise * e`` with ``e ~ N(0, 1)``. Calibration given the controls and exclusion
    hold by construction, and ``Var(p|X) = sigma_u² r (1-r)``.

    Parameters
    ----------
    sigma_u
        How much the score knows beyond the controls; strictly between 0 and 1.
    tau
        The effect of G on Y.
    beta_r, beta_m
        Coefficients of the score's and of the outcome's dependence on X, of one length d.
    noise
        The standard deviation of the outcome's noise.

    Examples
    --------
    >>> from softlabel.simulate import PaperDesign
    >>> design = PaperDesign(sigma_u=0.3)
    >>> design.dimension
    3
    >>> table = design.sample(n_unlabelled=5, n_labelled=2, seed=1)
    >>> table.column_names
    ['x1', 'x2', 'x3', 'p', 'y', 'g']
    >>> table["g"].to_pylist()
    [None, None, None, None, None, 1.0, 1.0]
    >>> print(f"{design.truth().v_star:.6f}")
    0.019817
    """

    sigma_u: float = 0.3
    tau: float = 1.0
    beta_r: tuple[float, ...] = (0.6, -0.4, 0.3)
    beta_m: tuple[float, ...] = (1.0, 0.5, -0.5)
    noise: float = 1.0

    def __post_init__(self) -> None:
        # Lists and NumPy scalars are welcome; what is stored is plain, hashable and comparable.
        for name in ("sigma_u", "tau", "noise"):
            object.__setattr__(self, name, finite(name, getattr(self, name)))
        for name in ("beta_r", "beta_m"):
            object.__setattr__(self, name, finites(name, getattr(self, name)))
        if not 0.0 < self.sigma_u < 1.0:
            raise InputError(
                expected="sigma_u strictly between 0 and 1",
                found=str(self.sigma_u),
                fix="The paper uses 0.1 to 0.5",
            )
        if self.noise < 0.0:
            raise InputError(
                expected="noise to be a standard deviation, at least 0",
                found=str(self.noise),
                fix="Give its absolute value",
            )
        if len(self.beta_r) != len(self.beta_m) or not self.beta_r:
            raise InputError(
                expected="beta_r and beta_m of one length, at least 1",
                found=f"lengths {len(self.beta_r)} and {len(self.beta_m)}",
                fix="Give each control a coefficient in both; it may be 0",
            )

    @property
    def dimension(self) -> int:
        """The number of controls, d."""
        return len(self.beta_r)

    @property
    def concentration(self) -> float:
        """``k0 = (1 - sigma_u²) / sigma_u²``."""
        return (1.0 - self.sigma_u) * (1.0 + self.sigma_u) / self.sigma_u**2

    def sample(self, n_unlabelled: int, n_labelled: int = 0, seed: Seed = 0) -> pa.Table:
        """Draw rows.

        Parameters
        ----------
        n_unlabelled, n_labelled
            How many rows hide G, and how many show it.
        seed
            A number, a SeedSequence, or a Generator (which then moves on). The unlabelled rows do not
            depend on ``n_labelled``.

        Returns
        -------
        pyarrow.Table
            ``x1 .. xd, p, y, g``, all float64: first the unlabelled rows, whose g is null, then the
            labelled ones, whose g is 0 or 1. A p may be 0 or 1 to the last bit when sigma_u is large.
        """
        counts = whole("n_unlabelled", n_unlabelled), whole("n_labelled", n_labelled)
        rng = generator(seed)
        hidden, shown = (self._draw(n, rng) for n in counts)
        names = [f"x{j + 1}" for j in range(self.dimension)] + ["p", "y"]
        columns = {name: np.concatenate([hidden[name], shown[name]]) for name in names}
        labelled = np.arange(sum(counts)) >= counts[0]
        g = pa.array(np.concatenate([hidden["g"], shown["g"]]), mask=~labelled)
        return pa.table({**columns, "g": g})

    def truth(
        self,
        thresholds: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
        confident: Sequence[float] = (0.55, 0.65, 0.75, 0.85, 0.9, 0.95),
    ) -> Truth:
        """Return the exact population values, to about ten digits.

        Parameters
        ----------
        thresholds
            Thresholds t of the hard labels ``1{p > t}``, strictly between 0 and 1.
        confident
            Thresholds of the confident sets ``{max(p, 1-p) > t}``, from 0.5 to below 1.
        """
        problem = Problem(sigma_u=self.sigma_u, tau=self.tau, length=hypot(*self.beta_r), variance=self.noise**2)
        return population(
            problem,
            _thresholds("thresholds", thresholds, least=np.nextafter(0.0, 1.0)),
            _thresholds("confident", confident, least=0.5),
        )

    def _draw(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        x = rng.standard_normal((self.dimension, n))
        s = np.asarray(self.beta_r) @ x
        k0 = self.concentration
        p = rng.beta(np.maximum(expit(s) * k0, _LEAST), np.maximum(expit(-s) * k0, _LEAST))
        g = (rng.random(n) < p).astype(np.float64)
        y = np.asarray(self.beta_m) @ x + self.tau * g + self.noise * rng.standard_normal(n)
        return {**{f"x{j + 1}": x[j] for j in range(self.dimension)}, "p": p, "y": y, "g": g}


def _thresholds(name: str, values: Sequence[float], *, least: float) -> tuple[float, ...]:
    checked = finites(name, values)
    wrong = [t for t in checked if not least <= t < 1.0]
    if wrong:
        shown = "strictly between 0 and 1" if least < 0.5 else "from 0.5 to below 1"
        raise InputError(expected=f"{name} {shown}", found=", ".join(map(str, wrong)), fix="Leave these thresholds out")
    return checked
