"""What may be asked for, and the plan made of it."""

from typing import Any

import numpy as np
import pytest

from softlabel.basis import Basis, Factor, Plan, plan_basis
from softlabel.errors import InputError


def kinds(plan: Plan) -> list[str]:
    return [":".join(f"{factor.control}/{factor.kind}" for factor in term) for term in plan.terms]


def test_lists_become_tuples_of_plain_text() -> None:
    basis = Basis(
        knots=np.int64(5),  # type: ignore[arg-type]
        categories=[np.str_("a"), "a", "b"],  # type: ignore[arg-type]
        linear=["c"],  # type: ignore[arg-type]
        interactions=[["a", "c"], ("b", "c"), ("c", "a")],  # type: ignore[arg-type]
        ridge=np.float64(2),
    )
    assert basis == Basis("spline", 5, ("a", "b"), ("c",), (("a", "c"), ("b", "c")), 2.0)
    assert type(basis.knots) is int
    assert type(basis.ridge) is float
    assert type(basis.categories[0]) is str


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ({"kind": "splien"}, ["kind='splien'", "Did you mean 'spline'?"]),
        ({"kind": "natural"}, ["kind='natural'", "'bspline'"]),
        ({"kind": []}, ["kind=[]"]),
        ({"knots": 2}, ["3 to 20", "found 2"]),
        ({"knots": 21}, ["3 to 20", "found 21"]),
        ({"knots": 5.0}, ["whole number", "found 5.0"]),
        ({"knots": True}, ["found True"]),
        ({"knots": None}, ["found None"]),
        ({"categories": "region"}, ["categories to be a list", "Use categories=['region']"]),
        ({"categories": 3}, ["categories to be a list"]),
        ({"linear": [3]}, ["linear to be a list", "[3]"]),
        ({"categories": ["a"], "linear": ["a"]}, ["'a' in categories= and in linear=", "one of them"]),
        ({"interactions": "ab"}, ["pairs", "'ab'"]),
        ({"interactions": ["ab"]}, ["pairs", "['ab']"]),
        ({"interactions": ("a", "b")}, ["pairs"]),
        ({"interactions": [("a", "b", "c")]}, ["pairs"]),
        ({"interactions": [("a", "a")]}, ["pairs", "square"]),
        ({"interactions": [("a", 1)]}, ["pairs"]),
        ({"interactions": 7}, ["pairs"]),
        ({"ridge": -1}, ["ridge", "found -1"]),
        ({"ridge": float("inf")}, ["found inf"]),
        ({"ridge": float("nan")}, ["found nan"]),
        ({"ridge": "CV"}, ["'CV'", "Use ridge='cv'"]),
        ({"ridge": True}, ["found True"]),
        ({"ridge": [1]}, ["[1]"]),
    ],
)
def test_options_that_cannot_be(wrong: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        Basis(**wrong)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("basis", "name", "kind", "ridge"),
    [
        (None, "spline", "natural", "cv"),
        ("spline", "spline", "natural", "cv"),
        ("bspline", "bspline", "bspline", "cv"),
        ("linear", "linear", "linear", 0.0),
        (Basis(ridge=3), "spline", "natural", 3.0),
        (Basis("linear", ridge="cv"), "linear", "linear", "cv"),
    ],
)
def test_numeric_controls_enter_as_the_basis_says(basis: Any, name: str, kind: str, ridge: Any) -> None:
    plan = plan_basis(["age", np.str_("income")], basis)
    assert (plan.controls, plan.name, plan.ridge) == (("age", "income"), name, ridge)
    assert kinds(plan) == ["age/plain", "income/plain"]
    resolved = plan.resolve({"income"})
    assert kinds(resolved) == [f"age/{kind}", "income/category"]
    assert resolved.resolve({"income"}) == resolved
    assert resolved.categories == ("income",)
    assert resolved.splines == (() if kind == "linear" else ("age",))
    assert resolved.needs_look
    assert plan.resolve(()).needs_look == (kind != "linear")


def test_the_parts_of_a_basis() -> None:
    asked = Basis(knots=4, categories=("ward",), linear=("age",), interactions=(("age", "ward"), ("bmi", "age")))
    plan = plan_basis(["age", "ward", "bmi", "sex"], asked).resolve({"sex"})
    assert kinds(plan) == [
        "age/linear",
        "ward/category",
        "bmi/natural",
        "sex/category",
        "age/linear:ward/category",
        "bmi/natural:age/linear",
    ]
    assert plan.terms[2] == (Factor("bmi", "natural", 4),)
    assert (plan.categories, plan.splines, plan.ridge) == (("ward", "sex"), ("bmi",), "cv")


def test_nothing_to_shrink_without_splines() -> None:
    assert plan_basis([]).ridge == 0.0
    assert plan_basis(["a", "b"], Basis(categories=("a",), linear=("b",))).ridge == 0.0


def test_a_formula_says_itself_how_controls_enter() -> None:
    plan = plan_basis("age + sex + bs(bmi, 4):C(ward)")
    assert (plan.name, plan.ridge, plan.controls) == ("formula", "cv", ("age", "sex", "bmi", "ward"))
    resolved = plan.resolve({"sex", "ward"})
    assert kinds(resolved) == ["age/linear", "sex/category", "bmi/bspline:ward/category"]
    assert plan_basis("age + C(sex)").ridge == 0.0
    assert plan_basis("1") == Plan((), (), "formula", 0.0)
    assert not plan_basis("1").needs_look


def test_terms_that_turn_out_to_be_the_same_are_one() -> None:
    assert kinds(plan_basis("age + lin(age) + sex + C(sex)").resolve({"sex"})) == ["age/linear", "sex/category"]


@pytest.mark.parametrize("formula", ["lin(sex)", "ns(sex)", "bs(sex)", "age + age:ns(sex)"])
def test_text_is_no_number(formula: str) -> None:
    with pytest.raises(InputError, match=r"'sex' to be numeric.*Use C\(sex\)"):
        plan_basis(formula).resolve({"sex"})


def test_text_does_not_enter_linearly() -> None:
    with pytest.raises(InputError, match=r"'sex' to be numeric.*Leave it out of linear="):
        plan_basis(["sex"], Basis(linear=("sex",))).resolve({"sex"})


@pytest.mark.parametrize(
    ("controls", "basis", "parts"),
    [
        (["age"], "splnie", ["basis='splnie'", "Did you mean 'spline'?"]),
        (["age"], "formula", ["basis='formula'"]),
        (["age"], 3, ["basis=3"]),
        ("age", "spline", ["no basis with a formula", "basis='spline'"]),
        ("age", Basis(), ["no basis with a formula"]),
        (["age"], Basis(categories=("agee",)), ["categories", "'agee'", "Did you mean 'age'?"]),
        (["age"], Basis(linear=("agee",)), ["linear", "'agee'", "Did you mean 'age'?"]),
        (["age"], Basis(interactions=(("age", "sex"),)), ["interactions", "'sex'", "There are: 'age'"]),
        (5, None, ["controls to be a list of columns", "found 5"]),
        ([5], None, ["controls to be a list of columns", "[5]"]),
    ],
)
def test_plans_that_cannot_be(controls: Any, basis: Any, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        plan_basis(controls, basis)
    for part in parts:
        assert part in str(caught.value)
