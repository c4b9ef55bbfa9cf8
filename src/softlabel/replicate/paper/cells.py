"""A cell of a table: what the paper printed, what is true, what we found, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt
from typing import Literal

from softlabel.errors import DataError
from softlabel.simulate import Measured

__all__ = ["MOST", "Cell", "Printed", "cell"]

# Cells differ from what they are held against when they are more than so many of their standard errors away from it.
MOST = 4.0


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as the paper prints it.

    Attributes
    ----------
    value, unit
        The number, and one unit of its last digit.
    std_error
        Its own Monte Carlo error, 0 for a number that was computed; ``None`` where the paper gives none and
        simulates: it is then taken from ours, at the paper's number of replications.

    Examples
    --------
    >>> Printed.of("0.0073", std_error=0.0)
    Printed(value=0.0073, unit=0.0001, std_error=0.0)
    """

    value: float
    unit: float
    std_error: float | None = None

    @classmethod
    def of(cls, text: str, *, std_error: float | None = None) -> Printed:
        """Return the number of these digits."""
        decimals = len(text.partition(".")[2])
        return cls(float(text), float(f"1e-{decimals}"), std_error)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes
    ----------
    row, column
        Where it stands.
    source
        "paper" for a cell of the paper's table, "ours" for what we set beside it.
    printed, printed_unit, printed_error
        The paper's value, one unit of its last digit, and its Monte Carlo error.
    exact
        The population value, or the limit of what generates the cell; ``None`` where there is none.
    value, std_error, n
        Ours, its Monte Carlo error, and how many replications it rests on.
    z_exact
        How many of our errors we are away from ``exact``.
    z_printed
        The distance from ``printed`` over our error, the paper's and the rounding of the print together.
    outcome
        "differs" where either is more than `MOST`.
    why
        Why, where it differs.
    """

    row: str
    column: str
    source: Literal["paper", "ours"]
    printed: float | None
    printed_unit: float | None
    printed_error: float | None
    exact: float | None
    value: float
    std_error: float
    n: int
    z_exact: float | None
    z_printed: float | None
    outcome: Literal["agree", "differs"]
    why: str


def cell(
    row: str,
    column: str,
    measured: Measured,
    *,
    printed: Printed | None = None,
    exact: float | None = None,
    replications: int | None = None,
    why: str = "",
) -> Cell:
    """Return the cell, compared.

    Parameters
    ----------
    printed
        What the paper has there; without it the cell is ours.
    replications
        The paper's, from which the error of ``printed`` follows where it is not given.
    why
        Why a cell that differs does: kept where it does, and dropped where it does not.

    Examples
    --------
    >>> found = cell("t = 0.50", "hard", Measured(0.2487, 0.003, 400, 0), printed=Printed.of("0.251"), exact=0.2486,
    ...              replications=400)
    >>> round(found.z_exact, 2), round(found.z_printed, 2), found.outcome
    (0.03, -0.54, 'agree')
    """
    z_exact = None if exact is None else _z(measured.estimate - exact, measured.std_error)
    own = None if printed is None else _own_error(printed, measured, replications)
    z_printed = None
    if printed is not None and own is not None:
        error = hypot(measured.std_error, own, printed.unit / sqrt(12.0))
        z_printed = _z(measured.estimate - printed.value, error)
    differs = any(z is not None and abs(z) > MOST for z in (z_exact, z_printed))
    return Cell(
        row=row,
        column=column,
        source="ours" if printed is None else "paper",
        printed=None if printed is None else printed.value,
        printed_unit=None if printed is None else printed.unit,
        printed_error=own,
        exact=exact,
        value=measured.estimate,
        std_error=measured.std_error,
        n=measured.n,
        z_exact=z_exact,
        z_printed=z_printed,
        outcome="differs" if differs else "agree",
        why=why if differs else "",
    )


def _own_error(printed: Printed, measured: Measured, replications: int | None) -> float:
    if printed.std_error is not None:
        return printed.std_error
    if replications is None:
        raise DataError(
            expected="the paper's replications, or its Monte Carlo error",
            found="neither",
            fix="Give cell() replications=, or Printed its std_error",
        )
    return measured.std_error * sqrt(measured.n / replications)


def _z(distance: float, error: float) -> float | None:
    return distance / error if error > 0.0 else None
