"""The grammar of formulas: what each says, and what each refusal says."""

import pytest

from softlabel.basis import Factor, Term, parse_formula
from softlabel.errors import InputError


def shown(term: Term) -> str:
    return ":".join(f"{factor.control}/{factor.kind}/{factor.knots}" for factor in term)


def plain(*terms: str) -> tuple[Term, ...]:
    return tuple(tuple(Factor(name) for name in term.split(":")) for term in terms)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("1", ()),
        (" 1 ", ()),
        ("1 + age", plain("age")),
        ("age + 1", plain("age")),
        ("age", plain("age")),
        ("age+sex", plain("age", "sex")),
        ("age\n + sex", plain("age", "sex")),
        ("age + age", plain("age")),
        ("age:sex", plain("age:sex")),
        ("age:sex + sex:age", plain("age:sex")),
        ("age*sex", plain("age", "sex", "age:sex")),
        ("age*sex + sex", plain("age", "sex", "age:sex")),
        ("sex + age*sex", plain("sex", "age", "age:sex")),
        ("a*b*c", plain("a", "b", "c", "a:b", "a:c", "b:c", "a:b:c")),
        ("a*b:c", plain("a", "b:c", "a:b:c")),
        ("`my age` + `1st`", plain("my age", "1st")),
        ("`a+b`:`C(x)`", plain("a+b:C(x)")),
        ("income.net + naïve_α", plain("income.net", "naïve_α")),
        ("C + ns + bs:lin", plain("C", "ns", "bs:lin")),
    ],
)
def test_plain_names(text: str, terms: tuple[Term, ...]) -> None:
    assert parse_formula(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("C(region)", ["region/category/6"]),
        ("lin(age)", ["age/linear/6"]),
        ("ns(age)", ["age/natural/6"]),
        ("ns(age, 5)", ["age/natural/5"]),
        ("bs(age,20)", ["age/bspline/20"]),
        ("ns(`my age`, 3)", ["my age/natural/3"]),
        ("ns (age) : C(region)", ["age/natural/6:region/category/6"]),
        ("ns(age, 6) + ns(age)", ["age/natural/6"]),
        ("age + C(age)", ["age/plain/6", "age/category/6"]),
    ],
)
def test_functions(text: str, terms: list[str]) -> None:
    assert [shown(term) for term in parse_formula(text)] == terms


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["the end of ''", "Name a column"]),
        ("   ", ["the end of '   '", "Name a column"]),
        ("age +", ["the end of 'age +'", "Name a column"]),
        ("+ age", ["'+' at character 1", "Name a column"]),
        ("age sex", ["'sex' at character 5", "Join terms by +"]),
        ("age:", ["the end", "Name a column"]),
        ("y ~ age", ["'~' at character 3", "outcome="]),
        ("~ age", ["'~' at character 1", "outcome="]),
        ("1 ~ age", ["'~' at character 3", "outcome="]),
        ("age | firm", ["'|' at character 5", "fixed effects are not supported", "C(name)", "200 levels", "cluster="]),
        ("age + i(firm)", ["'i(' at character 7", "fixed effects are not supported"]),
        ("age - 1", ["'-' at character 5", "the intercept is always there"]),
        ("1 - 1", ["'-' at character 3", "the intercept is always there"]),
        ("-1 + age", ["'-' at character 1", "the intercept is always there"]),
        ("0 + age", ["'0' at character 1", "the intercept is always there"]),
        ("age + 0", ["'0' at character 7", "the intercept is always there"]),
        ("age - sex", ["'-' at character 5", "Leave the term out"]),
        ("2 + age", ["'2' at character 1", "backquotes"]),
        ("1.5", ["'1.5' at character 1", "backquotes"]),
        ("1:age", ["'1' at character 1", "Name a column"]),
        ("1st", ["'1' at character 1", "backquotes"]),
        ("age:2", ["'2' at character 5", "Name a column"]),
        ("age**2", ["'**' at character 4", "a + b + a:b", "powers"]),
        ("(a + b)**2", ["'(' at character 1", "without brackets"]),
        ("age^2", ["'^' at character 4", "powers"]),
        ("age/sex", ["'/' at character 4", "Write the products out"]),
        ("a %in% b", ["'%' at character 3", "Write the products out"]),
        ("(a + b):c", ["'(' at character 1", "a:c + b:c"]),
        ("age)", ["')' at character 4", "Join terms"]),
        ("poly(age, 2)", ["'poly(' at character 1", "ns(name)", "Compute the column first"]),
        ("s(age)", ["'s(' at character 1", "ns(name)"]),
        ("cr(age)", ["'cr(' at character 1", "ns(name)"]),
        ("log(age)", ["'log(' at character 1", "Compute the column first"]),
        ("np.log(age)", ["'np.log(' at character 1", "Compute the column first"]),
        ("I(age)", ["'I(' at character 1", "Compute the column first"]),
        ("sex + ns(log(age))", ["'log(' at character 10", "Compute the column first"]),
        ("factor(region)", ["'factor(' at character 1", "C(name)"]),
        ("c(region)", ["'c(' at character 1", "C(name)"]),
        ("C(region, 3)", ["',' at character 9", "C(name) and nothing else"]),
        ("C(a + b)", ["'+' at character 5", "C(name) and nothing else"]),
        ("lin(age, 3)", ["',' at character 8", "lin(name) and nothing else"]),
        ("C()", ["')' at character 3", "Name a column"]),
        ("C(age", ["the end", "C(name) and nothing else"]),
        ("ns(age", ["the end", "ns(name, 5)"]),
        ("ns(age, 2)", ["'2' at character 9", "from 3 to 20"]),
        ("bs(age, 21)", ["'21' at character 9", "from 3 to 20"]),
        ("ns(age, 5.5)", ["'5.5' at character 9", "whole number"]),
        ("ns(age, )", ["')' at character 9", "whole number"]),
        ("ns(age, df=5)", ["'df' at character 9", "whole number"]),
        ("ns(age=5)", ["'=' at character 7", "the number of knots alone"]),
        ("ns(age, 5, 3)", ["',' at character 10", "ns(name, 5)"]),
        ("age:age", ["'age' at character 1", "Name 'age' once in a product", "square"]),
        ("sex + age*age", ["'age' at character 7", "Name 'age' once in a product"]),
        ("age:ns(age)", ["Name 'age' once in a product"]),
        ("a*a:b", ["Name 'a' once in a product"]),
        ("a*b*c*d*e*f*g", ["'a' at character 1", "at most 6 terms"]),
        ("`age", ["'`' at character 1", "Close the backquote"]),
        ("``", ["'`' at character 1", "Close the backquote"]),
        ("'age'", ['"\'" at character 1', "backquotes"]),
        ('C("age")', ["'\"' at character 3", "backquotes"]),
        ("age & sex", ["'&' at character 5", "Join terms by +"]),
    ],
)
def test_refusals_say_where_and_what_to_do(text: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_formula(text)
    message = str(caught.value)
    assert message.startswith("Expected a formula of controls")
    for part in parts:
        assert part in message
