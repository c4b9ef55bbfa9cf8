"""What a Monte Carlo experiment found: every number with its own Monte Carlo error."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv

from softlabel.errors import DataError, InputError, did_you_mean

__all__ = ["Measured", "MonteCarlo", "Proportion"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """A number and its Monte Carlo standard error.

    Attributes
    ----------
    estimate, std_error
        The number, and the standard deviation it would have over repetitions of the whole experiment.
    n, missing
        Replications used, and replications that had no value.
    """

    estimate: float
    std_error: float
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of replications with its Clopper-Pearson interval.

    Attributes
    ----------
    estimate, n
        The share, and the replications it is a share of.
    low, high
        The exact interval: each tail rejects with probability at most ``(1 - level)/2``.
    level
        The interval's confidence level.
    missing
        Replications that had no value; they are not in ``n``.
    """

    estimate: float
    n: int
    low: float
    high: float
    level: float = 0.95
    missing: int = 0

    @classmethod
    def of(cls, successes: int, n: int, *, level: float = 0.95, missing: int = 0) -> "Proportion":
        """Return the share of ``successes`` among ``n`` with its Clopper-Pearson interval.

        Clopper & Pearson, *The use of confidence or fiducial limits*, Biometrika 26, 1934.

        Examples
        --------
        >>> share = Proportion.of(94, 100)
        >>> print(f"{share.estimate:.2f} [{share.low:.3f}, {share.high:.3f}]")
        0.94 [0.874, 0.978]
        >>> share.excludes(0.95)
        False
        """
        if not 0 <= successes <= n or n < 1:
            raise DataError(
                expected="successes between 0 and n, and n at least 1",
                found=f"{successes} of {n}",
                fix="Check that at least one replication has a value",
            )
        _check_level(level)
        tail = (1.0 - level) / 2.0
        low = float(betaincinv(successes, n - successes + 1, tail)) if successes > 0 else 0.0
        high = float(betaincinv(successes + 1, n - successes, 1.0 - tail)) if successes < n else 1.0
        return cls(estimate=successes / n, n=n, low=low, high=high, level=level, missing=missing)

    def excludes(self, value: float) -> bool:
        """Return whether the interval leaves ``value`` out."""
        return not self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class MonteCarlo:
    """The values of every replication, by name, and what they say.

    A replication may lack a value (None). Missing values are counted in every answer and take part in
    none. Answers from two columns use the replications that have both.

    Attributes
    ----------
    experiment, seed
        The experiment's qualified name and the seed of the run: enough to repeat any replication.
    names
        The columns.
    rows
        One tuple per replication, in the order of their indices; its entries follow ``names``.

    Examples
    --------
    >>> found = MonteCarlo("toy", 0, ("estimate",), ((1.0,), (3.0,), (None,), (2.0,)))
    >>> found.mean("estimate"), found.sd("estimate"), found.missing("estimate")
    (2.0, 1.0, 1)
    >>> found.bias("estimate", truth=1.5)
    Measured(estimate=0.5, std_error=0.5773502691896258, n=3, missing=1)
    """

    experiment: str
    seed: int
    names: tuple[str, ...]
    rows: tuple[tuple[float | None, ...], ...]

    @property
    def replications(self) -> int:
        """How many replications there are, values missing or not."""
        return len(self.rows)

    def column(self, name: str) -> tuple[float | None, ...]:
        """Return one column, None where a replication has no value."""
        if name not in self.names:
            raise InputError(expected="the name of a column", found=repr(name), fix=did_you_mean(name, self.names))
        at = self.names.index(name)
        return tuple(row[at] for row in self.rows)

    def values(self, name: str) -> Array:
        """Return the values of one column that are there; shape (replications - missing,)."""
        return self._together(name)[0]

    def missing(self, name: str) -> int:
        """Return how many replications have no value in this column."""
        return sum(value is None for value in self.column(name))

    def to_arrow(self) -> pa.Table:
        """Return the replications as a table, one row each."""
        return pa.table({name: pa.array(self.column(name), pa.float64()) for name in self.names})

    def mean(self, name: str) -> float:
        """Return the mean."""
        return float(self._some(name).mean())

    def mcse(self, name: str) -> float:
        """Return the Monte Carlo standard error of the mean, ``sd / sqrt(n)``."""
        return _standard_error(self._some(name, least=2))

    def sd(self, name: str) -> float:
        """Return the standard deviation, with denominator n - 1."""
        return float(self._some(name, least=2).std(ddof=1))

    def sd_se(self, name: str) -> float:
        """Return the Monte Carlo standard error of the standard deviation.

        ``Var(s²) = (m4 - m2² (n-3)/(n-1)) / n`` with central moments m2 and m4, and
        ``se(s) = sqrt(Var(s²)) / (2s)``: for normal values about ``s / sqrt(2n)``, more for heavy tails.
        """
        values = self._some(name, least=4)
        n, away = values.size, values - values.mean()
        second, fourth = float(np.mean(away**2)), float(np.mean(away**4))
        if second == 0.0:
            return 0.0
        # m4 >= m2² always, so the difference is positive.
        variance = (fourth - second**2 * (n - 3) / (n - 1)) / n
        return sqrt(variance) / (2.0 * sqrt(second * n / (n - 1)))

    def bias(self, name: str, truth: float) -> Measured:
        """Return the mean minus the truth."""
        values = self._some(name, least=2)
        return self._measured(name, float(values.mean()) - truth, _standard_error(values))

    def mse(self, name: str, truth: float) -> Measured:
        """Return the mean squared distance from the truth."""
        squares = (self._some(name, least=2) - truth) ** 2
        return self._measured(name, float(squares.mean()), _standard_error(squares))

    def share(self, name: str, *, below: float, level: float = 0.95) -> Proportion:
        """Return the share of replications whose value is at most ``below``: of p-values, the size."""
        values = self._some(name)
        hits = int(np.count_nonzero(values <= below))
        return Proportion.of(hits, values.size, level=level, missing=self.replications - values.size)

    def coverage(self, low: str, high: str, truth: float, *, level: float = 0.95) -> Proportion:
        """Return the share of replications with ``low <= truth <= high``, from two columns.

        ``level`` is that of the Clopper-Pearson interval around the share.
        """
        bottom, top = self._together(low, high)
        hits = int(np.count_nonzero((bottom <= truth) & (truth <= top)))
        return Proportion.of(hits, bottom.size, level=level, missing=self.replications - bottom.size)

    def se_ratio(self, se_name: str, estimate_name: str) -> Measured:
        """Return the mean reported standard error over the standard deviation of the estimates.

        One means that the reported errors are right. The Monte Carlo error is by the delta method on
        mean and variance together, so it sees that the two columns come from the same replications.
        """
        errors, estimates = self._together(se_name, estimate_name)
        _enough(f"{se_name} and {estimate_name}", errors.size, least=4)
        mean, variance = float(errors.mean()), float(estimates.var(ddof=1))
        if variance == 0.0:
            raise DataError(
                expected=f"{estimate_name} to vary over replications",
                found="one value throughout",
                fix="Use the rng that the experiment is given",
            )
        ratio = mean / sqrt(variance)
        pull = (estimates - estimates.mean()) ** 2 - variance
        influence = errors / sqrt(variance) - ratio * pull / (2.0 * variance)
        missing = self.replications - errors.size
        return Measured(ratio, _standard_error(influence), errors.size, missing)

    def _together(self, *names: str) -> tuple[Array, ...]:
        """Return these columns in the replications that have them all."""
        columns = [self.column(name) for name in names]
        full = [row for row in zip(*columns, strict=True) if None not in row]
        return tuple(np.array([row[at] for row in full], dtype=np.float64) for at in range(len(names)))

    def _some(self, name: str, *, least: int = 1) -> Array:
        values = self.values(name)
        _enough(name, values.size, least=least)
        return values

    def _measured(self, name: str, estimate: float, std_error: float) -> Measured:
        missing = self.missing(name)
        return Measured(estimate, std_error, self.replications - missing, missing)


def _enough(name: str, n: int, *, least: int) -> None:
    if n < least:
        raise DataError(
            expected=f"at least {least} replications with a value of {name}",
            found=str(n),
            fix="Run more replications, or find out why the values are missing",
        )


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1) / sqrt(values.size))


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise InputError(expected="a level strictly between 0 and 1", found=str(level), fix="Use 0.95")
