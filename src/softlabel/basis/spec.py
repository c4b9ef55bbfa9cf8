"""Spec: what the user asks for, and the plan made of it before any row is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isfinite
from numbers import Real
from typing import Any, Literal, get_args

from softlabel.basis.formula import parse_formula
from softlabel.basis.terms import DEFAULT_KNOTS, KNOTS, Factor, Kind, Term, wanted_knots
from softlabel.errors import InputError, did_you_mean

__all__ = ["Basis", "Plan", "plan_basis"]

_Numeric = Literal["linear", "spline", "bspline"]
_KINDS: dict[str, Kind] = {"linear": "linear", "spline": "natural", "bspline": "bspline"}
_SPLINES = frozenset({"natural", "bspline"})


@dataclass(frozen=True, slots=True)
class Basis:
    """How controls enter the regressions.

    Parameters
    ----------
    kind
        How numeric controls enter: "spline" (natural cubic), "bspline" (cubic) or "linear". Text controls enter as
        categories.
    knots
        Knots of each spline, 3 to 20, at quantiles of its control.
    categories
        Numeric controls that are categories.
    linear
        Numeric controls that enter linearly whatever the kind.
    interactions
        Pairs of controls whose columns are multiplied, each with each.
    ridge
        Penalty on the coefficients; "cv" has it chosen; ``None`` is "cv" with splines and 0 without.

    Examples
    --------
    >>> Basis(knots=5, categories=["region"], interactions=[("age", "region")]).interactions
    (('age', 'region'),)
    """

    kind: _Numeric = "spline"
    knots: int = DEFAULT_KNOTS
    categories: tuple[str, ...] = ()
    linear: tuple[str, ...] = ()
    interactions: tuple[tuple[str, str], ...] = ()
    ridge: float | Literal["cv"] | None = None

    def __post_init__(self) -> None:
        kinds = get_args(_Numeric)
        if self.kind not in kinds:
            fix = did_you_mean(str(self.kind), kinds)
            raise InputError(expected="the name of a basis", found=f"kind={self.kind!r}", fix=fix)
        categories = _names("categories", self.categories)
        linear = _names("linear", self.linear)
        both = [name for name in categories if name in linear]
        if both:
            raise InputError(
                expected="a control to be a category or linear",
                found=f"{both[0]!r} in categories= and in linear=",
                fix="Name it in one of them",
            )
        checked = {
            "knots": _knots(self.knots),
            "categories": categories,
            "linear": linear,
            "interactions": _pairs(self.interactions),
            "ridge": _ridge(self.ridge),
        }
        for field, value in checked.items():
            object.__setattr__(self, field, value)


def _names(role: str, names: Any) -> tuple[str, ...]:
    """Return names of columns as plain text, each once, for NumPy has strings of its own."""
    listed = None if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    if listed is None or not all(isinstance(name, str) for name in listed):
        raise InputError(
            expected=f"{role} to be a list of columns",
            found=repr(names),
            fix=f"Use {role}=[{names!r}]" if isinstance(names, str) else "Pass the names as text, [] for none",
        )
    return tuple(dict.fromkeys(map(str, listed)))


def _pairs(interactions: Any) -> tuple[tuple[str, str], ...]:
    listed = None if isinstance(interactions, str) or not isinstance(interactions, Iterable) else tuple(interactions)
    if listed is None or not all(map(_is_pair, listed)):
        raise InputError(
            expected="interactions to be a list of pairs of two controls",
            found=f"interactions={interactions!r}",
            fix="Use interactions=[('age', 'region')]; compute the square of a control as a column of its own first",
        )
    # The pair (b, a) is the pair (a, b).
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for a, b in listed:
        pairs.setdefault(frozenset((a, b)), (str(a), str(b)))
    return tuple(pairs.values())


def _is_pair(pair: Any) -> bool:
    text = isinstance(pair, (tuple, list)) and all(isinstance(name, str) for name in pair)
    return text and len(pair) == 2 and pair[0] != pair[1]


def _knots(knots: Any) -> int:
    count = wanted_knots(knots)
    if count is None:
        raise InputError(
            expected=f"knots to be a whole number from {KNOTS[0]} to {KNOTS[-1]}",
            found=repr(knots),
            fix=f"Use knots={DEFAULT_KNOTS}, or kind='linear' for straight lines",
        )
    return count


def _ridge(ridge: Any) -> float | Literal["cv"] | None:
    if ridge is None:
        return None
    if isinstance(ridge, str) and ridge == "cv":
        return "cv"
    number = -1.0 if isinstance(ridge, bool) or not isinstance(ridge, Real) else float(ridge)
    if not (isfinite(number) and number >= 0):
        raise InputError(
            expected="ridge to be 'cv' or a number that is not negative",
            found=repr(ridge),
            fix="Use ridge='cv' to have it chosen, or ridge=0 for none",
        )
    return number


@dataclass(frozen=True, slots=True)
class Plan:
    """Which terms a regression on the controls has.

    ``controls`` is the order of the rows of the controls matrix, ``plain`` what a plain factor becomes when its
    control turns out to be numeric. Ask for ``categories``, ``splines`` and ``needs_look`` after `resolve`.
    """

    controls: tuple[str, ...]
    terms: tuple[Term, ...]
    name: str
    ridge: float | Literal["cv"]
    plain: Kind = "linear"

    def resolve(self, text: Collection[str]) -> Plan:
        """Return the plan once it is known which controls are text: no factor is plain any more.

        Examples
        --------
        >>> plan_basis("age + region").resolve({"region"}).categories
        ('region',)
        """
        terms = (tuple(self._resolved(factor, factor.control in text) for factor in term) for term in self.terms)
        return replace(self, terms=_each_once(terms))

    def _resolved(self, factor: Factor, text: bool) -> Factor:
        if factor.kind == "plain":
            return replace(factor, kind="category" if text else self.plain)
        if text and factor.kind != "category":
            name = factor.control
            raise InputError(
                expected=f"{name!r} to be numeric, as it is to enter {_said(factor.kind)}",
                found="a column of text",
                fix=f"Use C({name})" if self.name == "formula" else "Leave it out of linear=: text is a category",
            )
        return factor

    @property
    def categories(self) -> tuple[str, ...]:
        """Controls whose levels must be known."""
        return self._of({"category"})

    @property
    def splines(self) -> tuple[str, ...]:
        """Controls of which a sample must be seen."""
        return self._of(_SPLINES)

    @property
    def needs_look(self) -> bool:
        """Whether the data must be looked at before a basis can be made."""
        return bool(self.categories or self.splines)

    def _of(self, kinds: Collection[str]) -> tuple[str, ...]:
        found = (factor.control for term in self.terms for factor in term if factor.kind in kinds)
        return tuple(dict.fromkeys(found))


def plan_basis(controls: Sequence[str] | str, basis: str | Basis | None = None) -> Plan:
    """Return the plan for controls named in a list, or written as a formula.

    Parameters
    ----------
    controls
        Names: they enter as the basis says. One text: a formula, which says itself how each enters.
    basis
        "spline" (also ``None``), "bspline", "linear", or a `Basis`; ``None`` with a formula.

    Examples
    --------
    >>> plan_basis(["age", "income"]).resolve(()).splines
    ('age', 'income')
    >>> plan_basis("age + ns(income)").resolve(()).splines
    ('income',)
    """
    if isinstance(controls, str):
        return _plan_formula(str(controls), basis)
    names = _names("controls", controls)
    twice = [name for name in names if list(controls).count(name) > 1]
    if twice:
        raise InputError(
            expected="controls to name each column once", found=f"{twice[0]!r} more than once", fix="Name it once"
        )
    asked = _asked(basis)
    for role, used in (
        ("categories", asked.categories),
        ("linear", asked.linear),
        ("interactions", tuple(chain.from_iterable(asked.interactions))),
    ):
        _check_known(role, used, names)
    factors = {name: _factor(name, asked) for name in names}
    pairs = ((factors[a], factors[b]) for a, b in asked.interactions)
    ridge = asked.ridge
    if ridge is None:
        bends = any(factor.kind == "plain" for factor in factors.values()) and asked.kind != "linear"
        ridge = "cv" if bends else 0.0
    terms = (*((factor,) for factor in factors.values()), *pairs)
    return Plan(names, terms, asked.kind, ridge, _KINDS[asked.kind])


def _plan_formula(formula: str, basis: object) -> Plan:
    if basis is not None:
        raise InputError(
            expected="no basis with a formula, which says itself how each control enters",
            found=f"basis={basis!r}",
            fix="Leave basis out, or pass the controls as a list of names",
        )
    terms = parse_formula(formula)
    factors = [factor for term in terms for factor in term]
    controls = tuple(dict.fromkeys(factor.control for factor in factors))
    bends = any(factor.kind in _SPLINES for factor in factors)
    return Plan(controls, terms, "formula", "cv" if bends else 0.0)


def _asked(basis: Any) -> Basis:
    if isinstance(basis, Basis):
        return basis
    if basis is None:
        return Basis()
    if not isinstance(basis, str) or basis not in _KINDS:
        fix = did_you_mean(str(basis), _KINDS)
        raise InputError(expected="the name of a basis or a Basis", found=f"basis={basis!r}", fix=fix)
    return Basis(kind=basis)  # type: ignore[arg-type]  # it is one of the names


def _check_known(role: str, used: Iterable[str], names: Sequence[str]) -> None:
    for name in used:
        if name not in names:
            raise InputError(
                expected=f"the {role} of a basis to be among the controls",
                found=repr(name),
                fix=did_you_mean(name, names),
            )


def _factor(name: str, asked: Basis) -> Factor:
    if name in asked.categories:
        return Factor(name, "category")
    return Factor(name, "linear") if name in asked.linear else Factor(name, "plain", asked.knots)


def _each_once(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return the terms without repeats, which arise where a plain factor becomes what another one says."""
    kept: dict[frozenset[Factor], Term] = {}
    for term in terms:
        kept.setdefault(frozenset(term), term)
    return tuple(kept.values())


def _said(kind: Kind) -> str:
    return "linearly" if kind == "linear" else "as a spline"
