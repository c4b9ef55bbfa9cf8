"""Formula: controls written as text, in the part of R's language that a regression on controls needs.

::

    formula  = crossing { "+" crossing }
    crossing = "1" | product { "*" product }         a*b is a + b + a:b
    product  = factor { ":" factor }
    factor   = name | "C(" name ")" | "lin(" name ")" | "ns(" name [ "," knots ] ")" | "bs(" name [ "," knots ] ")"
    name     = word | "`" anything "`"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple, NoReturn

from softlabel.basis.terms import DEFAULT_KNOTS, KNOTS, Factor, Kind, Term, wanted_knots
from softlabel.errors import InputError

__all__ = ["parse_formula"]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?)|(?P<quoted>`[^`]+`)|(?P<word>[^\W\d]\w*(?:\.\w+)*)|(?P<sign>\*\*|\S))"
)

_FUNCTIONS: dict[str, Kind] = {"C": "category", "lin": "linear", "ns": "natural", "bs": "bspline"}

# Products of more terms than this would be hundreds of columns.
_CROSSED = 6

_INTERCEPT = "Leave it out: the intercept is always there"
_ABSORBED = (
    "Absorbed fixed effects are not supported: C(name) takes a category of up to 200 levels; with more, group the "
    "levels, and use cluster= for the standard errors"
)
_COMPUTE = "Compute the column first and name it here; there are C(name), lin(name), ns(name, knots), bs(name, knots)"
_WRITE_OUT = "Write the products out, as in a + b + a:b, and compute powers as columns of their own first"

_SIGNS = {
    "~": "Pass the outcome as outcome= and write the controls alone",
    "|": _ABSORBED,
    "**": _WRITE_OUT,
    "^": _WRITE_OUT,
    "/": _WRITE_OUT,
    "%": _WRITE_OUT,
    "`": "Close the backquote, with a name inside",
    "'": "Put names with odd characters in backquotes",
    '"': "Put names with odd characters in backquotes",
    "=": "Write the number of knots alone, as in ns(name, 5)",
}

_CALLS = {
    "i": _ABSORBED,
    "poly": f"Use ns(name) for a smooth curve. {_COMPUTE}",
    "s": f"Use ns(name) for a smooth curve. {_COMPUTE}",
    "cr": f"Use ns(name) for a natural cubic spline. {_COMPUTE}",
    "factor": "Use C(name) for a category",
    "c": "Use C(name) for a category",
}


def parse_formula(text: str) -> tuple[Term, ...]:
    """Return the terms of a formula for controls, each once, in the order written.

    A bare name is "plain": it enters linearly if numeric and as a category if text. ``1`` is the intercept, which is
    there anyway, so it adds no term.

    Examples
    --------
    >>> [term[0].kind for term in parse_formula("age + C(region) + ns(income, 5)")]
    ['plain', 'category', 'natural']
    >>> [":".join(factor.control for factor in term) for term in parse_formula("age * region")]
    ['age', 'region', 'age:region']
    >>> parse_formula("1")
    ()
    >>> parse_formula("age + log(income)")
    Traceback (most recent call last):
        ...
    softlabel.errors.InputError: Expected a formula of controls, such as 'age + C(region) + ns(income)'; found \
'log(' at character 7 of 'age + log(income)'. Compute the column first and name it here; there are C(name), \
lin(name), ns(name, knots), bs(name, knots).
    """
    reader = _Reader(text, _tokens(text))
    terms: dict[frozenset[Factor], Term] = {}
    while True:
        for term in _crossing(reader):
            terms.setdefault(frozenset(term), term)
        if reader.next.kind == "end":
            return tuple(terms.values())
        reader.expect("+", "Join terms by + and factors by : or *")


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def _tokens(text: str) -> list[_Token]:
    found = [_Token(m.lastgroup or "", m[m.lastgroup or 0], m.start(m.lastgroup or 0)) for m in _TOKEN.finditer(text)]
    return [*found, _Token("end", "", len(text))]


@dataclass(slots=True)
class _Reader:
    """A place in a formula, and how to say where that is."""

    formula: str
    tokens: list[_Token]
    place: int = 0

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def calls(self) -> bool:
        """Whether a bracket follows the next token, so that it is a function and not a name."""
        return self.next.kind == "word" and self.tokens[self.place + 1].text == "("

    def take(self) -> _Token:
        token = self.next
        self.place += 1
        return token

    def took(self, sign: str) -> bool:
        """Step over the sign if it is next, and say whether it was."""
        found = self.next.kind == "sign" and self.next.text == sign
        self.place += found
        return found

    def expect(self, sign: str, fix: str) -> None:
        if not self.took(sign):
            self.refuse(fix)

    def refuse(self, fix: str, token: _Token | None = None, shown: str = "") -> NoReturn:
        """Raise an error that shows a token, the next one if none is given, and where it stands."""
        token = token or self.next
        if token.kind == "sign":
            fix = self._why(token.text) or fix
        what = f"{(shown or token.text)!r} at character {token.start + 1}" if token.kind != "end" else "the end"
        raise InputError(
            expected="a formula of controls, such as 'age + C(region) + ns(income)'",
            found=f"{what} of {self.formula!r}",
            fix=fix,
        )

    def _why(self, sign: str) -> str | None:
        if sign == "-":
            after = self.tokens[self.place + 1].text
            return _INTERCEPT if after in {"0", "1"} else "Leave the term out instead of subtracting it"
        return _SIGNS.get(sign)


def _crossing(reader: _Reader) -> list[Term]:
    """Return every product of some of the terms joined by ``*``, the short ones first."""
    if reader.next.kind == "number":
        return _intercept(reader)
    start = reader.next
    crossed = [_product(reader)]
    while reader.took("*"):
        crossed.append(_product(reader))
    if len(crossed) > _CROSSED:
        reader.refuse(f"Join at most {_CROSSED} terms by *, and write the products you need out", start)
    chosen = chain.from_iterable(combinations(crossed, size) for size in range(1, len(crossed) + 1))
    terms = [tuple(chain.from_iterable(some)) for some in chosen]
    for term in terms:
        _check_once(reader, term, start)
    return terms


def _check_once(reader: _Reader, term: Term, start: _Token) -> None:
    seen: set[str] = set()
    for factor in term:
        if factor.control in seen:
            fix = f"Name {factor.control!r} once in a product; compute its square as a column of its own first"
            reader.refuse(fix, start)
        seen.add(factor.control)


def _intercept(reader: _Reader) -> list[Term]:
    number = reader.next.text
    if number == "0":
        reader.refuse(_INTERCEPT)
    if number != "1" or reader.tokens[reader.place + 1].text not in {"+", "-", "|", "~", ""}:
        reader.refuse("Name a column; put a name that begins with a digit in backquotes")
    reader.take()
    return []


def _product(reader: _Reader) -> Term:
    factors = [_factor(reader)]
    while reader.took(":"):
        factors.append(_factor(reader))
    return tuple(factors)


def _factor(reader: _Reader) -> Factor:
    if not reader.calls():
        return Factor(_name(reader))
    function = reader.next.text
    if function not in _FUNCTIONS:
        reader.refuse(_CALLS.get(function, _COMPUTE), shown=f"{function}(")
    kind = _FUNCTIONS[function]
    reader.take()
    reader.take()
    if reader.calls():
        reader.refuse(_COMPUTE, shown=f"{reader.next.text}(")
    control, knots = _name(reader), DEFAULT_KNOTS
    spline = kind in {"natural", "bspline"}
    if spline and reader.took(","):
        knots = _knots(reader)
    usage = f"{function}(name) or {function}(name, 5)" if spline else f"{function}(name) and nothing else"
    reader.expect(")", f"Write {usage}; compute anything else as a column first")
    return Factor(control, kind, knots)


def _name(reader: _Reader) -> str:
    token = reader.next
    if token.kind not in {"word", "quoted"}:
        brackets = "Write the terms out without brackets: (a + b):c is a:c + b:c"
        reader.refuse(brackets if token.text == "(" else "Name a column")
    reader.take()
    return token.text.strip("`")


def _knots(reader: _Reader) -> int:
    token = reader.next
    knots = wanted_knots(int(token.text)) if token.text.isdecimal() else None
    if knots is None:
        reader.refuse(f"Give a whole number of knots from {KNOTS[0]} to {KNOTS[-1]}, as in ns(name, 5)")
    reader.take()
    return knots
