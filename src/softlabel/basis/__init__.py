"""Basis: how controls become the columns of a regression.

A `Plan` says which terms there are; it is made before any row is read. What a term needs to know of the data (the
levels of a category, where the knots of a spline lie) is looked up next, and `fit_basis` turns both into a
`FittedBasis`, which lays rows out as design columns.
"""

from softlabel.basis.fitted import MAX_COLUMNS, MAX_LEVELS, FittedBasis, Levels, fit_basis
from softlabel.basis.formula import parse_formula
from softlabel.basis.linear import BASES, LinearBasis, make_basis
from softlabel.basis.spec import Basis, Plan, plan_basis
from softlabel.basis.terms import DEFAULT_KNOTS, DesignBasis, Factor, Kind, Term

__all__ = [
    "BASES",
    "DEFAULT_KNOTS",
    "MAX_COLUMNS",
    "MAX_LEVELS",
    "Basis",
    "DesignBasis",
    "Factor",
    "FittedBasis",
    "Kind",
    "Levels",
    "LinearBasis",
    "Plan",
    "Term",
    "fit_basis",
    "make_basis",
    "parse_formula",
    "plan_basis",
]
