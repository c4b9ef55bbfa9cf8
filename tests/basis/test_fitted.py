"""Design columns against other packages and brute force, and when two bases are the same."""

import json
import pickle
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder

from softlabel.basis import (
    MAX_LEVELS,
    Basis,
    DesignBasis,
    FittedBasis,
    Levels,
    LinearBasis,
    Plan,
    fit_basis,
    plan_basis,
)
from softlabel.errors import DataError, InputError

Floats = NDArray[Any]

N = 300
CONTROLS = ("age", "bmi", "ward", "sex")
REGION = Levels((5.0, 1.0, 3.0), ("five", "one", "three"))


def rows(n: int = N, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return np.stack(
        [rng.normal(size=n), np.exp(rng.normal(size=n)), rng.choice(REGION.keys, n), rng.choice([2.0, 4.0], n)]
    )


LEVELS = {"ward": REGION, "sex": Levels((4.0, 2.0), ("f", "m"))}
SAMPLE = {name: (rows()[i], np.ones(N)) for i, name in enumerate(CONTROLS)}


def made(plan: Plan) -> FittedBasis:
    return fit_basis(plan.resolve({"ward", "sex"}), LEVELS, SAMPLE)


def filled(basis: DesignBasis, controls: Floats) -> Floats:
    out = np.full((len(basis.columns), controls.shape[1]), np.nan)
    basis.fill(controls, out)
    return out


def formula(text: str) -> tuple[FittedBasis, Floats]:
    """Return a basis and its columns for the rows, in the order of the controls the formula names."""
    basis = made(plan_basis(text))
    return basis, filled(basis, rows()[[CONTROLS.index(name) for name in basis.controls]])


def test_linear_controls_are_given_as_they_are() -> None:
    basis = made(plan_basis(["age", "bmi"], "linear"))
    plain = LinearBasis(("age", "bmi"))
    assert (basis.columns, basis.ridge, basis.name) == (plain.columns, plain.ridge, plain.name)
    assert basis.fingerprint == plain.fingerprint
    assert (filled(basis, rows()[:2]) == filled(plain, rows()[:2])).all()


def test_no_controls() -> None:
    for basis in (made(plan_basis([])), made(plan_basis("1")), LinearBasis(())):
        assert filled(basis, np.empty((0, 5))).shape == (0, 5)
        assert basis.fingerprint == []


def test_categories_are_scikit_learns_dummies() -> None:
    basis, columns = formula("ward + sex")
    # As text, for scikit-learn wants numbers in rising order.
    encoder = OneHotEncoder(categories=[list(map(str, level.keys)) for level in LEVELS.values()], drop="first")
    assert (columns == encoder.fit_transform(rows()[2:].T.astype(str).astype(object)).toarray().T).all()
    assert basis.columns == ("ward=one", "ward=three", "sex=m")


def test_an_unknown_level_looks_like_the_reference() -> None:
    basis = made(plan_basis("ward"))
    found = filled(basis, np.array([[5.0, 77.0, 3.0, -1e30]]))
    assert found.tolist() == [[0, 0, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize("n", [0, 1])
def test_a_category_of_one_level_or_none_has_no_columns(n: int) -> None:
    levels = {"ward": Levels((1.0,)[:n], ("one",)[:n])}
    basis = fit_basis(plan_basis("C(ward) + lin(age)*C(ward)"), levels, {})
    assert basis.columns == ("age",)
    assert (filled(basis, rows()[[2, 0]]) == rows()[:1]).all()


@pytest.mark.parametrize(
    "text",
    ["age:bmi", "ward:sex", "ns(age):C(ward)", "C(ward)*ns(age, 4) + sex", "bs(age):ns(bmi)", "age:bmi:ward + bmi"],
)
def test_interactions_are_every_product(text: str) -> None:
    basis, columns = formula(text)
    for name, column in zip(basis.columns, columns, strict=True):
        expected = np.ones(N)
        for part in name.split(":"):
            expected *= single(part, text)
        # The same products in the same order: to the bit.
        assert (column == expected).all(), name
    # Products come with the last factor changing fastest.
    widest = max(text.replace("*", ":").split("+"), key=lambda term: term.count(":"))
    sets = [formula(factor)[0].columns for factor in widest.strip().split(":")]
    names = [":".join(some) for some in product(*sets)]
    assert [name for name in basis.columns if name in names] == names


def single(part: str, text: str) -> Floats:
    """Return one column by its name, from a basis of the one term it belongs to."""
    for factor in text.replace("*", "+").replace(":", "+").split("+"):
        basis, columns = formula(factor.strip())
        if part in basis.columns:
            column: Floats = columns[basis.columns.index(part)]
            return column
    raise AssertionError(part)


def test_names_of_spline_columns() -> None:
    assert formula("ns(age, 4)")[0].columns == ("ns(age)1", "ns(age)2", "ns(age)3")
    assert formula("bs(age, 3)")[0].columns == ("bs(age)1", "bs(age)2", "bs(age)3", "bs(age)4")


def sampled(values: Any, basis: str = "spline") -> FittedBasis:
    values = np.asarray(values, dtype=float)
    return fit_basis(plan_basis(["x"], basis).resolve(()), {}, {"x": (values, np.ones(len(values)))})


@pytest.mark.parametrize("basis", ["spline", "bspline"])
@pytest.mark.parametrize("values", [[], [3.0], [3.0, 3.0, 8.0]])
def test_two_values_make_a_line(values: list[float], basis: str) -> None:
    assert sampled(values, basis).fingerprint == LinearBasis(("x",)).fingerprint


@pytest.mark.parametrize("basis", ["spline", "bspline"])
@pytest.mark.parametrize("distinct", [3, 6])
def test_few_values_are_fitted_exactly_and_without_redundant_columns(distinct: int, basis: str) -> None:
    rng = np.random.default_rng(distinct)
    values = np.concatenate([np.arange(distinct), rng.integers(0, distinct, 200)]) ** 2.0
    fitted = sampled(values, basis)
    design = np.column_stack([np.ones(len(values)), filled(fitted, values[None]).T])
    assert design.shape[1] == np.linalg.matrix_rank(design) == distinct
    y = rng.normal(size=len(values))
    means = np.array([y[values == value].mean() for value in values])
    # A design of condition below a hundred.
    np.testing.assert_allclose(design @ np.linalg.lstsq(design, y, rcond=None)[0], means, rtol=0, atol=1e-12)


def test_counts_are_repeats() -> None:
    plan = plan_basis(["x"]).resolve(())
    values, counts = np.arange(30.0), np.arange(30.0) % 4
    once = fit_basis(plan, {}, {"x": (values[::-1], counts[::-1])})
    repeated = fit_basis(plan, {}, {"x": (np.repeat(values, counts.astype(int)), np.ones(int(counts.sum())))})
    assert once.fingerprint == repeated.fingerprint


def test_too_many_levels() -> None:
    keys = tuple(map(float, range(MAX_LEVELS + 1)))
    levels = {"ward": Levels(keys, tuple(map(str, keys)))}
    with pytest.raises(DataError, match=r"at most 200 levels; found 201 in 'ward'\. Group the levels.*cluster="):
        fit_basis(plan_basis("C(ward)"), levels, {})


def test_too_many_columns() -> None:
    keys = tuple(map(float, range(150)))
    levels = {"ward": Levels(keys, tuple(map(str, keys)))}
    with pytest.raises(InputError, match=r"500 design columns; found 899, 745 of them from 'age:ward'\. Leave"):
        fit_basis(plan_basis("ns(age)*C(ward)"), levels, SAMPLE)


def fingerprints() -> dict[str, list[object]]:
    other = {"age": (rows(seed=1)[0], np.ones(N))}
    different = {
        "linear": made(plan_basis("age")),
        "another control": made(plan_basis("bmi")),
        "two": made(plan_basis("age + bmi")),
        "two the other way round": made(plan_basis("bmi + age")),
        "product": made(plan_basis("age:bmi")),
        "spline": made(plan_basis("ns(age)")),
        "knots": made(plan_basis("ns(age, 5)")),
        "bspline": made(plan_basis("bs(age)")),
        "sample": fit_basis(plan_basis("ns(age)"), {}, other),
        "category": made(plan_basis("ward")),
        "levels": fit_basis(plan_basis("C(ward)"), {"ward": Levels((5.0, 1.0), ("five", "one"))}, {}),
        "order of levels": fit_basis(plan_basis("C(ward)"), {"ward": Levels((5.0, 3.0, 1.0), tuple("abc"))}, {}),
    }
    return {name: basis.fingerprint for name, basis in different.items()}


def test_different_columns_have_different_fingerprints() -> None:
    found = [json.dumps(fingerprint) for fingerprint in fingerprints().values()]
    assert len(set(found)) == len(found)


def test_equal_columns_have_equal_fingerprints() -> None:
    assert made(plan_basis(["age"])).fingerprint == fingerprints()["spline"]
    assert made(plan_basis("ns(age, 6) + ns(age)")).fingerprint == fingerprints()["spline"]
    assert made(plan_basis(["ward"], Basis(categories=("ward",)))).fingerprint == fingerprints()["category"]
    # The reference has no column, so which level it is makes no difference to those there are.
    other = fit_basis(plan_basis("C(ward)"), {"ward": Levels((9.0, 1.0, 3.0), ("nine", "one", "three"))}, {})
    assert other.fingerprint == fingerprints()["category"]
    # JSON keeps every digit of a float.
    assert json.loads(json.dumps(fingerprints())) == fingerprints()


def test_a_basis_goes_to_other_processes() -> None:
    basis = made(plan_basis("ns(age)*ward + bmi"))
    copy = pickle.loads(pickle.dumps(basis))  # noqa: S301  # what was just written
    assert copy == basis
    assert hash(copy) == hash(basis)
    assert (filled(copy, rows()[[0, 2, 1]]) == filled(basis, rows()[[0, 2, 1]])).all()


def test_every_kind_at_once_into_part_of_a_larger_array() -> None:
    basis = made(plan_basis(CONTROLS, Basis(interactions=(("age", "ward"), ("sex", "bmi")))))
    whole = np.full((len(basis.columns) + 2, N + 9), 7.0)
    basis.fill(rows(), whole[1:-1, 4 : N + 4])
    assert (whole[1:-1, 4 : N + 4] == filled(basis, rows())).all()
    assert (whole[[0, -1]] == 7).all()
    assert (whole[:, :4] == 7).all()


SHAPES = ["ns(age)*ward + bs(bmi) + sex", "age + bmi", "ns(age):bs(bmi) + ward:sex"]


@given(
    st.lists(st.tuples(*[st.floats(-1e30, 1e30)] * 4), max_size=40),
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from(SHAPES),
)
def test_finite_and_the_same_however_rows_are_cut(values: list[Any], cuts: list[int], text: str) -> None:
    basis = made(plan_basis(text))
    controls = np.array(values, dtype=float).reshape(-1, 4).T[: len(basis.controls)]
    whole = filled(basis, controls)
    # Slopes are at most a few hundred here, so products of two reach 1e65.
    assert np.isfinite(whole).all()
    ends = [0, *sorted(min(cut, controls.shape[1]) for cut in cuts), controls.shape[1]]
    pieces = [filled(basis, controls[:, a:b]) for a, b in pairwise(ends)]
    assert (np.concatenate(pieces, axis=1) == whole).all()


@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=60), st.sampled_from(["spline", "bspline"]))
def test_any_sample_makes_finite_columns(values: list[float], basis: str) -> None:
    fitted = sampled(values, basis)
    assert np.isfinite(filled(fitted, np.array([[*values, -1e30, 0.0, 1e30]]))).all()
