"""Terms: what a regression on the controls is made of, before and after the data are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DEFAULT_KNOTS", "KNOTS", "DesignBasis", "Factor", "Kind", "Term", "wanted_knots"]

# "plain": as the basis says, decided once the types of the columns are known.
Kind = Literal["plain", "linear", "category", "natural", "bspline"]

DEFAULT_KNOTS = 6

# How many knots a spline may have. Under three a natural spline is a straight line; over twenty the regressions of
# one fold overfit before they bend anywhere new, and the ridge undoes them.
KNOTS = range(3, 21)


@dataclass(frozen=True, slots=True)
class Factor:
    """One control and how it enters; only splines use ``knots``."""

    control: str
    kind: Kind = "plain"
    knots: int = DEFAULT_KNOTS


# A product of factors, each of a control of its own.
Term = tuple[Factor, ...]


class DesignBasis(Protocol):
    """What lays controls out as design columns."""

    @property
    def name(self) -> str:
        """How to call it in tables and messages."""

    @property
    def controls(self) -> tuple[str, ...]:
        """Names of the rows of the controls matrix, in order."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns after the intercept."""

    @property
    def categories(self) -> frozenset[str]:
        """The controls that enter as categories."""

    @property
    def owners(self) -> tuple[tuple[str, ...], ...]:
        """The controls that each of ``columns`` is made of."""

    @property
    def ridge(self) -> float | Literal["cv"]:
        """The penalty on the coefficients, or "cv" to have it chosen."""

    @property
    def fingerprint(self) -> list[object]:
        """JSON that is equal exactly if the columns are equal functions of the controls."""

    def fill(self, controls: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the columns after the intercept, (d−1, n), for controls (k, n) into ``out``."""


def wanted_knots(knots: object) -> int | None:
    """Return a number of knots as an int, or ``None`` if it is not one that a spline may have."""
    try:
        # Whatever can be an index is a whole number, NumPy's among them; True and False can, but were not meant.
        count = knots.__index__() if not isinstance(knots, bool) else 0  # type: ignore[attr-defined]
    except AttributeError:
        return None
    return int(count) if count in KNOTS else None
