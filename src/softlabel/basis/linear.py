"""The controls as they are: the basis of the functions on arrays, which know nothing of types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlabel.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BASES", "LinearBasis", "make_basis"]

BASES = ("linear",)


@dataclass(frozen=True, slots=True)
class LinearBasis:
    """B(X) = (1, X): an intercept and the controls as given.

    ``columns`` names the design columns after the intercept.
    """

    controls: tuple[str, ...]
    name: str = "linear"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns after the intercept."""
        return self.controls

    @property
    def categories(self) -> frozenset[str]:
        """None: every control is a number."""
        return frozenset()

    @property
    def owners(self) -> tuple[tuple[str, ...], ...]:
        """The control that each column is."""
        return tuple((control,) for control in self.controls)

    @property
    def ridge(self) -> float:
        """Nothing is shrunk."""
        return 0.0

    @property
    def fingerprint(self) -> list[object]:
        """The same as that of a `FittedBasis` in which every control enters linearly."""
        return [[["linear", control]] for control in self.controls]

    def fill(self, controls: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Write the columns after the intercept, (d−1, n), for controls (k, n) into ``out``."""
        out[:] = controls


def make_basis(basis: str, controls: tuple[str, ...]) -> LinearBasis:
    """Return the basis of that name for these controls."""
    if basis not in BASES:
        raise InputError(expected="the name of a basis", found=f"basis={basis!r}", fix=did_you_mean(str(basis), BASES))
    return LinearBasis(controls)
