"""Splines, categories, interactions and formulas through diagnose, against columns made elsewhere."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from patsy import dmatrix  # type: ignore[import-untyped]
from sklearn.preprocessing import SplineTransformer

from softlabel import Basis, DataError, Diagnosis, diagnose
from softlabel.basis.knots import OUTER
from softlabel.results import Table
from tests.diagnosed import WARDS, beside, differing, drawn, id_folds, numbers, rows_of, unlabelled, without_checks
from tests.oracle import Floats, Rows

ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "thresholds": (0.4, 0.7),
    "confident": (0.6,),
    "id": "visit",
    "threads": 1,
}
TABLE = drawn(n=1_200)
HIDDEN = unlabelled(TABLE)
WARD = np.asarray(TABLE["ward"])
AGE, FRAILTY = TABLE["age"], TABLE["frailty"]
DUMMIES = (WARD[:, None] == np.array(WARDS[1:])).astype(float)

# Fits agree to the precision of normal equations: 1e-16 times the square of a condition below 1e4.
SAME = 1e-7


def _diagnose(table: Any = None, **options: Any) -> Diagnosis:
    return diagnose(TABLE if table is None else table, **{**ROLES, **options})


def _assert_is(d: Diagnosis, columns: Floats, *, rel: float = SAME) -> None:
    """Fail unless every number of the unlabelled rows is that of least squares on these columns, and supervised too."""
    fold = None if d.sample.folds is None else id_folds(TABLE, "visit", d.sample.folds)
    rows = rows_of(TABLE, columns, fold=fold)
    for name, (estimate, std_error), expected in beside(d, rows):
        assert estimate == pytest.approx(expected.value, rel=rel), name
        assert std_error == pytest.approx(expected.std_error, rel=rel), name
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    design = np.column_stack([g, np.ones(len(g)), columns])[~HIDDEN]
    expected_slope = np.linalg.lstsq(design, TABLE["y"][~HIDDEN], rcond=1e-11)[0][0]
    assert d.estimate("supervised").estimate == pytest.approx(expected_slope, rel=rel)


def _knots(values: Floats, knots: int) -> Floats:
    """Knots evenly spaced in probability among the unlabelled rows."""
    placed: Floats = np.quantile(values[HIDDEN], np.linspace(OUTER, 1 - OUTER, knots))
    return placed


def _bspline(values: Floats, knots: int) -> Floats:
    transformer = SplineTransformer(knots=_knots(values, knots)[:, None], degree=3, extrapolation="linear")
    columns: Floats = transformer.fit_transform(values[:, None])[:, 1:]  # they add up to one, as an intercept does
    return columns


def _natural(values: Floats, knots: int) -> Floats:
    at = _knots(values, knots)
    given = {"x": values, "inner": at[1:-1], "low": at[0], "high": at[-1]}
    columns = np.asarray(dmatrix("cr(x, knots=inner, lower_bound=low, upper_bound=high) - 1", given))
    return columns[:, 1:]


@pytest.mark.parametrize("folds", [None, 3])
@pytest.mark.parametrize("knots", [3, 6, 9])
def test_bsplines_are_scikit_learns(knots: int, folds: int | None) -> None:
    d = _diagnose(controls=["age", "frailty"], basis=Basis("bspline", knots=knots, ridge=0), folds=folds)
    assert len(d.sample.columns) == 2 * (knots + 1)
    assert d.sample.redundant_controls == ()
    _assert_is(d, np.column_stack([_bspline(AGE, knots), _bspline(FRAILTY, knots)]))


@pytest.mark.parametrize("folds", [None, 3])
@pytest.mark.parametrize("knots", [3, 6, 9])
def test_natural_splines_are_patsys(knots: int, folds: int | None) -> None:
    d = _diagnose(controls=["age", "frailty"], basis=Basis(knots=knots, ridge=0), folds=folds)
    assert len(d.sample.columns) == 2 * (knots - 1)
    _assert_is(d, np.column_stack([_natural(AGE, knots), _natural(FRAILTY, knots)]))


def test_the_default_is_natural_splines_of_six_knots_and_a_chosen_ridge() -> None:
    d = _diagnose(controls=["age", "frailty", "ward"])
    assert d.settings.basis == "spline"
    assert d.sample.columns == (
        *(f"ns(age){i}" for i in range(1, 6)),
        *(f"ns(frailty){i}" for i in range(1, 6)),
        *(f"ward={ward}" for ward in WARDS[1:]),
    )
    given = _diagnose(controls=["age", "frailty", "ward"], basis=Basis(ridge=d.sample.ridge))
    assert numbers(given) == numbers(d)
    # In sample no ridge can be chosen, so none is used.
    whole = _diagnose(controls=["age", "frailty", "ward"], folds=None)
    assert whole.sample.ridge == 0
    _assert_is(whole, np.column_stack([_natural(AGE, 6), _natural(FRAILTY, 6), DUMMIES]))


def test_a_ridge_moves_every_estimate_of_the_unlabelled_rows_and_not_supervised() -> None:
    none, some = (_diagnose(controls=["age", "ward"], basis=Basis(ridge=ridge)) for ridge in (0, 0.3))
    assert some.sample.ridge == 0.3
    for one, other in zip(none.estimates, some.estimates, strict=True):
        assert (one.estimate == other.estimate) == (one.name == "supervised"), one


# ---------------------------------------------------------------------------------------- categories


@pytest.mark.parametrize("folds", [None, 3])
def test_text_is_a_column_for_each_level_but_the_first(folds: int | None) -> None:
    d = _diagnose(controls=["age", "ward"], basis="linear", folds=folds)
    assert d.sample.columns == ("age", "ward=north", "ward=south", "ward=west")
    _assert_is(d, np.column_stack([AGE, DUMMIES]))


def test_a_category_is_its_dummies_in_the_table() -> None:
    by_hand = {**TABLE, **{f"d{i}": column for i, column in enumerate(DUMMIES.T)}}
    names = ["age", *(f"d{i}" for i in range(3))]
    expected = _diagnose(by_hand, controls=names, basis="linear")
    found = _diagnose(controls=["age", "ward"], basis="linear")
    # The same columns in the same order: rounding alone. The sketch of distinct rows is of other hashes, and so are the
    # rows drawn by their hashes to be compared with their neighbours. A text is one control, three dummies are three.
    apart = ("calibration.control", "score.collapse")
    one, other = (replace(without_checks(d, *apart), reliability=Table(())) for d in (found, expected))
    assert differing(one, other, 1e-11) == {*(f".sample.columns.{i}" for i in (1, 2, 3)), ".sample.n_effective"}
    assert [one.title for one in found.checks if one.code == "calibration.control"] == [
        "Calibrated along age",
        "Calibrated along ward",
    ]


@pytest.mark.parametrize("kind", ["text", "dictionary", "numbers", "dictionary of numbers", "large text"])
def test_how_a_category_is_written_says_nothing(kind: str) -> None:
    at = np.unique(WARD, return_inverse=True)[1]
    column = {
        "text": pa.array(WARD.tolist()),
        "dictionary": pa.array(WARD.tolist()).dictionary_encode(),
        "numbers": pa.array(at * 10),
        "dictionary of numbers": pa.array(at * 10).dictionary_encode(),
        "large text": pa.array(WARD.tolist(), pa.large_string()),
    }[kind]
    d = _diagnose({**TABLE, "ward": column}, controls=["age", "ward"], basis=Basis("linear", categories=("ward",)))
    _assert_is(d, np.column_stack([AGE, DUMMIES]))


def test_a_dictionary_may_hold_levels_twice_or_not_at_all() -> None:
    names = pa.array(["none", "east", "north", "south", "west", "east"])
    place = {"north": 2, "south": 3, "west": 4}
    which = [place.get(ward, 1 if i % 2 else 5) for i, ward in enumerate(WARD)]
    column = pa.DictionaryArray.from_arrays(pa.array(which, pa.int8()), names)
    d = _diagnose({**TABLE, "ward": column}, controls=["age", "ward"], basis="linear")
    assert d.sample.columns == ("age", "ward=north", "ward=south", "ward=west")
    _assert_is(d, np.column_stack([AGE, DUMMIES]))


def test_a_level_of_one_row_is_the_reference_where_it_was_never_seen() -> None:
    # The only row of "attic" is in one fold, so the others cannot say what it does: no coefficient, as in the oracle,
    # whose least squares give a column of zeros none.
    alone = int(np.flatnonzero(HIDDEN)[10])
    ward = pa.array(["attic" if i == alone else name for i, name in enumerate(WARD)])
    d = _diagnose({**TABLE, "ward": ward}, controls=["age", "ward"], basis="linear", folds=3)
    assert d.sample.columns == ("age", "ward=east", "ward=north", "ward=south", "ward=west")
    columns = np.column_stack([AGE, (np.asarray(ward)[:, None] == np.array(WARDS)).astype(float)])
    rows = rows_of(TABLE, columns, fold=id_folds(TABLE, "visit", 3))
    # The reference is the attic, so in the fold that trains without it the four wards add up to the intercept:
    # the last is redundant, and what is predicted for the attic is the ward "west".
    assert d.sample.redundant_controls == ()
    without = _oracle_soft(rows, redundant=4)
    assert d.estimate("soft").estimate == pytest.approx(without, rel=SAME)


def _oracle_soft(rows: Rows, redundant: int) -> float:
    """Soft, where one fold trains without the column of this number because the others explain it."""
    assert rows.fold is not None
    residuals = []
    for values in (rows.p[:, 0], rows.y):
        left = np.empty(len(values))
        for k in range(3):
            train, inside = rows.fold != k, rows.fold == k
            x = np.column_stack([np.ones(len(values)), rows.X])
            if np.linalg.matrix_rank(x[train]) < x.shape[1]:
                x = np.delete(x, 1 + redundant, axis=1)
            left[inside] = values[inside] - x[inside] @ np.linalg.lstsq(x[train], values[train], rcond=None)[0]
        residuals.append(left)
    a, r = residuals
    return float(a @ r / (a @ a))


def test_a_level_of_labelled_rows_alone_reaches_supervised_and_is_named() -> None:
    shown = np.flatnonzero(~HIDDEN)[:12]
    ward = WARD.astype(object)
    ward[shown] = "zenith"
    table = {**TABLE, "ward": pa.array(ward.tolist())}
    d = _diagnose(table, controls=["age", "ward"], basis="linear")
    assert d.sample.columns[-1] == "ward=zenith"
    # No unlabelled row has it, so there it is a constant; it changes nothing there.
    assert d.sample.redundant_controls == ("ward=zenith",)
    assert d.estimate("soft").estimate == pytest.approx(
        _diagnose(controls=["age", "ward"], basis="linear").estimate("soft").estimate, rel=1e-10
    )
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    dummies = (ward[:, None] == np.array(["north", "south", "west", "zenith"])).astype(float)
    design = np.column_stack([g, np.ones(len(g)), AGE, dummies])[~HIDDEN]
    slope = np.linalg.lstsq(design, TABLE["y"][~HIDDEN], rcond=None)[0][0]
    assert d.estimate("supervised").estimate == pytest.approx(slope, rel=SAME)


def test_nulls_in_a_category_are_missing_values() -> None:
    holes = np.arange(len(WARD)) % 100 == 3
    table = {**TABLE, "ward": pa.array(WARD.tolist(), mask=holes)}
    with pytest.raises(DataError, match=rf"null or NaN in 'ward' \({holes.sum()}\)"):
        _diagnose(table, controls=["age", "ward"])
    dropped = _diagnose(table, controls=["age", "ward"], missing="drop")
    without = _diagnose(pa.table(TABLE).filter(pa.array(~holes)), controls=["age", "ward"])
    assert dropped.sample.dropped == holes.sum()
    for one, other in zip(dropped.estimates, without.estimates, strict=True):
        ends = (other.estimate, other.ci_low, other.ci_high)
        assert (one.estimate, one.ci_low, one.ci_high) == pytest.approx(ends, rel=1e-10)


def test_a_level_of_incomplete_rows_alone_is_no_level() -> None:
    ward = WARD.astype(object)
    ward[:5] = "lost"
    y = np.where(np.arange(len(WARD)) < 5, np.nan, TABLE["y"])
    d = _diagnose({**TABLE, "ward": pa.array(ward.tolist()), "y": y}, controls=["ward"], missing="drop")
    assert d.sample.columns == ("ward=north", "ward=south", "ward=west")


# --------------------------------------------------------------------------- formulas and interactions


@pytest.mark.parametrize(
    ("formula", "controls", "basis"),
    [
        ("age + frailty", ["age", "frailty"], Basis("linear")),
        ("age + C(ward)", ["age", "ward"], Basis("linear")),
        ("ns(age) + ns(frailty) + ward", ["age", "frailty", "ward"], Basis()),
        ("bs(age, 4) + bs(frailty, 4)", ["age", "frailty"], Basis("bspline", knots=4)),
        ("ns(age, 5) + lin(frailty)", ["age", "frailty"], Basis(knots=5, linear=("frailty",))),
        ("age * ward", ["age", "ward"], Basis("linear", interactions=(("age", "ward"),))),
        ("ns(age) + ward + ns(age):ward", ["age", "ward"], Basis(interactions=(("ward", "age"),), ridge="cv")),
    ],
)
def test_a_formula_is_its_terms_in_a_list(formula: str, controls: list[str], basis: Basis) -> None:
    differ = differing(_diagnose(controls=formula), _diagnose(controls=controls, basis=basis), 1e-8)
    # κ says which basis it belongs to; a product may be named, and its columns ordered, the other way round.
    assert {path for path in differ if not path.endswith(".basis") and not path.startswith(".sample.columns")} == set()


def test_interactions_are_products() -> None:
    basis = Basis("linear", interactions=(("age", "ward"), ("age", "frailty")))
    d = _diagnose(controls=["age", "frailty", "ward"], basis=basis)
    assert d.sample.columns[5:] == ("age:ward=north", "age:ward=south", "age:ward=west", "age:frailty")
    _assert_is(d, np.column_stack([AGE, FRAILTY, DUMMIES, AGE[:, None] * DUMMIES, AGE * FRAILTY]))


def test_a_spline_for_every_level() -> None:
    d = _diagnose(controls="ns(age, 4) * ward", folds=None)
    spline = _natural(AGE, 4)
    crossed = (spline[:, :, None] * DUMMIES[:, None, :]).reshape(len(AGE), -1)
    _assert_is(d, np.column_stack([spline, DUMMIES, crossed]))


def test_collinear_columns_are_left_out_and_named() -> None:
    table = {**TABLE, "copy": 3 * AGE - 1, "ward2": TABLE["ward"]}
    d = _diagnose(table, controls=["age", "ward", "copy", "ward2"], basis="linear")
    assert d.sample.redundant_controls == ("copy", "ward2=north", "ward2=south", "ward2=west")
    _assert_is(d, np.column_stack([AGE, DUMMIES]))
    # A spline holds its straight line.
    d = _diagnose(table, controls=["age", "copy"], basis=Basis(knots=4, ridge=0, linear=("copy",)))
    assert d.sample.redundant_controls == ("copy",)
    _assert_is(d, _natural(AGE, 4))


def test_few_values_make_a_saturated_spline() -> None:
    ages = np.round(AGE / 20) * 20
    assert 3 < len(np.unique(ages)) <= 6
    seen = np.unique(ages[HIDDEN])
    dummies = (ages[:, None] == seen[1:]).astype(float)
    # In sample, for where a value was never seen a spline goes on and a dummy does not.
    d = _diagnose({**TABLE, "age": ages}, controls=["age"], basis=Basis(ridge=0), folds=None)
    rows = Rows(TABLE["y"][HIDDEN], TABLE["p"][HIDDEN, None], dummies[HIDDEN])
    for name, (estimate, std_error), expected in beside(d, rows):
        assert (estimate, std_error) == pytest.approx((expected.value, expected.std_error), rel=SAME), name


# -------------------------------------------------------------------------------- order, cuts, threads


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("rows", [None, 333, 50])
def test_rows_may_be_cut_and_ordered_in_any_way(rows: int | None, threads: int) -> None:
    options = {"controls": ["age", "frailty", "ward"], "cluster": "clinic", "id": None, "weights": "w"}
    expected = _diagnose(**options)
    table = pa.table(TABLE).take(np.random.default_rng(3).permutation(len(AGE)))
    if rows is not None:
        table = pa.Table.from_batches(table.to_batches(max_chunksize=rows))
    found = _diagnose(table, **{**options, "threads": threads})
    # Sums of another order, through splines and a ridge: rounding times a condition of a hundred.
    assert differing(found, expected, 1e-10) == set()


def test_one_more_copy_of_a_row_moves_the_knots() -> None:
    # Every row of high age twice: the quantiles of age rise, and with them the knots.
    high = HIDDEN & (AGE > 65)
    table = pa.table(TABLE)
    doubled = pa.concat_tables([table, table.filter(pa.array(high))])
    d = _diagnose(doubled, controls=["age"], basis=Basis(knots=4, ridge=0), folds=None)
    chosen = np.concatenate([np.flatnonzero(HIDDEN), np.flatnonzero(high)])
    at = np.quantile(AGE[chosen], np.linspace(OUTER, 1 - OUTER, 4))
    given = {"x": AGE[chosen], "inner": at[1:-1], "low": at[0], "high": at[-1]}
    columns = np.asarray(dmatrix("cr(x, knots=inner, lower_bound=low, upper_bound=high) - 1", given))[:, 1:]
    rows = Rows(TABLE["y"][chosen], TABLE["p"][chosen, None], columns)
    for name, (estimate, std_error), expected in beside(d, rows):
        assert (estimate, std_error) == pytest.approx((expected.value, expected.std_error), rel=SAME), name
