"""Weights through diagnose: against statsmodels, the dense reference and repeated rows."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm

from softlabel import Basis, Diagnosis, diagnose
from softlabel.basis.knots import place_knots
from softlabel.basis.splines import evaluate, pieces
from tests.diagnosed import beside, differing, drawn, id_folds, numbers, rows_of, unlabelled
from tests.oracle import Floats

THRESHOLDS, CONFIDENT = (0.4, 0.7), (0.6, 0.8)
ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "controls": ["age", "frailty"],
    "basis": "linear",
    "thresholds": THRESHOLDS,
    "confident": CONFIDENT,
    "threads": 1,
}
TABLE = drawn()
HIDDEN = unlabelled(TABLE)
X = np.column_stack([TABLE["age"], TABLE["frailty"]])

# Two roundings of 1e-16 each, times the condition of a design of a few well-spread controls: below 1e4.
SAME = 1e-9


def _diagnose(table: Any = None, **options: Any) -> Diagnosis:
    return diagnose(TABLE if table is None else table, **{**ROLES, **options})


@cache
def _weighted(folds: int | None) -> Diagnosis:
    return _diagnose(weights="w", folds=folds, id="visit")


# ------------------------------------------------------------------------------------- other packages


def _wls(dependent: Floats, first: Floats, rows: Any, **options: Any) -> Any:
    """Weighted least squares of one column on another, the controls and an intercept."""
    design = np.column_stack([first, X, np.ones(len(X))])[rows]
    return sm.WLS(dependent[rows], design, weights=TABLE["w"][rows]).fit(**options)


@pytest.mark.parametrize("t", [None, *THRESHOLDS])
def test_soft_and_hard_are_statsmodels_slopes(t: float | None) -> None:
    first = TABLE["p"] if t is None else (TABLE["p"] > t).astype(float)
    fit = _wls(TABLE["y"], first, HIDDEN, cov_type="HC0")
    row = _weighted(None).estimate("soft" if t is None else "hard", threshold=t)
    found = (row.estimate, row.std_error, row.ci_low, row.ci_high)
    assert found == pytest.approx((fit.params[0], fit.bse[0], *fit.conf_int()[0]), rel=SAME)
    # A p-value far in the tail has a relative error of z times that of z.
    assert row.p_value == pytest.approx(fit.pvalues[0], rel=1e-7)


@pytest.mark.parametrize("t", THRESHOLDS)
def test_kappa_is_the_slope_of_the_score_on_the_label(t: float) -> None:
    fit = _wls(TABLE["p"], (TABLE["p"] > t).astype(float), HIDDEN, cov_type="HC0")
    (row,) = [row for row in _weighted(None).kappa if row.threshold == t]
    assert (row.kappa, row.std_error) == pytest.approx((fit.params[0], fit.bse[0]), rel=SAME)


@pytest.mark.parametrize("t", CONFIDENT)
def test_confident_and_its_kappa_are_slopes_within_the_set(t: float) -> None:
    p = TABLE["p"]
    inside, h = HIDDEN & (np.maximum(p, 1 - p) > t), (p > t).astype(float)
    fit = _wls(TABLE["y"], h, inside, cov_type="HC0")
    row = _weighted(None).estimate("confident", threshold=t)
    assert (row.estimate, row.std_error, row.n) == pytest.approx((fit.params[0], fit.bse[0], inside.sum()), rel=SAME)
    (kappa,) = [row for row in _weighted(None).kappa_confident if row.threshold == t]
    fit = _wls(p, h, inside, cov_type="HC0")
    assert (kappa.kappa, kappa.std_error) == pytest.approx((fit.params[0], fit.bse[0]), rel=SAME)


@pytest.mark.parametrize("covariance", ["HC0", "HC1", "HC2", "HC3"])
def test_supervised_is_statsmodels(covariance: str) -> None:
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    fit = _wls(TABLE["y"], g, ~HIDDEN, cov_type=covariance, use_t=True)
    row = _diagnose(weights="w", covariance=covariance).estimate("supervised")
    found = (row.estimate, row.std_error, row.ci_low, row.ci_high, row.df)
    assert found == pytest.approx((fit.params[0], fit.bse[0], *fit.conf_int()[0], fit.df_resid), rel=SAME)


# ------------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize("folds", [None, 4])
def test_every_number_is_the_references(folds: int | None) -> None:
    fold = None if folds is None else id_folds(TABLE, "visit", folds)
    pairs = beside(_weighted(folds), rows_of(TABLE, X, weights="w", fold=fold))
    assert len(pairs) == 3 + 4 * len(THRESHOLDS) + 2 * len(CONFIDENT)
    for name, (estimate, std_error), expected in pairs:
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


def test_the_rest_of_a_weighted_diagnosis() -> None:
    d = _weighted(None)
    p, w = TABLE["p"][HIDDEN], TABLE["w"][HIDDEN]
    assert d.score_variance == pytest.approx(np.average((p - np.average(p, weights=w)) ** 2, weights=w), rel=SAME)
    # A sampling weight is no count: rows are counted.
    assert (d.estimate("soft").n, d.estimate("supervised").n) == (HIDDEN.sum(), (~HIDDEN).sum())
    assert [row.n_above for row in d.kappa] == [(p > t).sum() for t in THRESHOLDS]
    soft, supervised = d.estimate("soft"), d.estimate("supervised")
    (worth,) = [row.labels for row in d.label_equivalents if row.name == "soft"]
    assert worth == pytest.approx(supervised.n * ((supervised.std_error or 0) / (soft.std_error or 1)) ** 2, rel=SAME)
    moment = d.estimate("soft", form="moment")
    (compared, *_) = _diagnose(weights="w", folds=None, id="visit", rule="paper").verdict.because
    n = HIDDEN.sum()
    assert (compared.value, compared.limit) == pytest.approx(
        ((moment.std_error or 0) * np.sqrt(n / (n - 1)), supervised.std_error), rel=SAME
    )


# ------------------------------------------------------------------------- a frequency is so many rows

RICH: dict[str, Any] = {"controls": ["age", "frailty", "ward"], "basis": Basis(knots=4)}
BASES: dict[str, dict[str, Any]] = {
    "linear": {},
    "spline with a ridge": RICH,
    "bspline": {"controls": ["age", "ward"], "basis": Basis("bspline", knots=5, ridge=0)},
    "formula": {"controls": "age * C(ward) + ns(frailty, 4)", "basis": None},
}


def _written_out(table: dict[str, Any]) -> pa.Table:
    """Every row as often as its frequency says, in another order."""
    times = np.asarray(table["times"])
    order = np.random.default_rng(1).permutation(times.sum())
    return pa.table(table).take(np.repeat(np.arange(len(times)), times)[order])


def _assert_same_numbers(found: Diagnosis, expected: Diagnosis, rel: float = 1e-9) -> None:
    assert len(numbers(expected)) > 150
    assert differing(found, expected, rel) == set()


@pytest.mark.parametrize("cluster", [None, "clinic"])
@pytest.mark.parametrize("folds", [None, 4])
@pytest.mark.parametrize("basis", BASES)
def test_a_frequency_is_so_many_rows(basis: str, folds: int | None, cluster: str | None) -> None:
    # Folds by id, as copies of a row would else call for nuisances in sample; clusters decide folds themselves.
    options = {**BASES[basis], "folds": folds, "cluster": cluster, "id": None if cluster else "visit"}
    counted = _diagnose(weights="times", weight_type="frequency", **options)
    # Sums of other orders and splines of condition 1e4: what differs is rounding.
    _assert_same_numbers(counted, _diagnose(_written_out(TABLE), **options), rel=1e-8)
    assert counted.sample.unlabelled == TABLE["times"][HIDDEN].sum() == counted.estimate("soft").n


def test_a_frequency_calls_for_nuisances_in_sample_as_copies_do() -> None:
    counted = _diagnose(weights="times", weight_type="frequency")
    _assert_same_numbers(counted, _diagnose(_written_out(TABLE)))
    assert counted.sample.folds is None
    times = TABLE["times"][HIDDEN]
    # The sketch is exact where its 65,536 buckets hold 900 rows with hardly a collision: within 1%.
    assert counted.sample.n_effective == pytest.approx(times.sum() ** 2 / (times**2).sum(), rel=0.01)


def test_a_frequency_of_one_is_no_weight() -> None:
    plain = {**TABLE, "one": np.ones(len(X))}
    for kind in ("frequency", "sampling"):
        _assert_same_numbers(_diagnose(plain, weights="one", weight_type=kind), _diagnose(plain), rel=1e-12)


def test_a_frequency_is_not_a_sampling_weight() -> None:
    # Two copies of a case halve a variance; a weight of two on every row says nothing.
    table = {**TABLE, "two": np.full(len(X), 2)}
    counted = _diagnose(table, weights="two", weight_type="frequency", id="visit").estimate("soft")
    weighted, plain = (_diagnose(table, weights=w, id="visit").estimate("soft") for w in ("two", None))
    assert weighted.std_error == pytest.approx(plain.std_error, rel=1e-12)
    assert counted.std_error == pytest.approx((plain.std_error or 0) / np.sqrt(2), rel=1e-12)


# ----------------------------------------------------------------------- the unit, zeros, and influence


@pytest.mark.parametrize("basis", BASES)
def test_the_unit_of_sampling_weights_says_nothing(basis: str) -> None:
    options = {**BASES[basis], "cluster": "clinic"}
    plain = _diagnose(weights="w", **options)
    for unit in (1e-9, 3.0, 2.0**40):
        scaled = _diagnose({**TABLE, "w": TABLE["w"] * unit}, weights="w", **options)
        _assert_same_numbers(scaled, plain, rel=1e-8)


@pytest.mark.parametrize("kind", ["frequency", "sampling"])
@pytest.mark.parametrize("basis", BASES)
def test_a_row_of_weight_zero_is_not_there(basis: str, kind: str) -> None:
    zero = np.random.default_rng(2).random(len(X)) < 0.3
    table = {**TABLE, "times": np.where(zero, 0, TABLE["times"])}
    options = {**BASES[basis], "cluster": "clinic", "weights": "times", "weight_type": kind}
    found = _diagnose(table, **options)
    without = pa.table(table).filter(pa.array(~zero))
    _assert_same_numbers(found, _diagnose(without, **options), rel=1e-12)
    assert found.sample.weightless == zero.sum()


def test_a_row_of_weight_zero_may_hold_anything() -> None:
    zero = np.arange(len(X)) % 7 == 0
    times = np.where(zero, 0, TABLE["times"])
    wild = {**TABLE, "times": times, "y": np.where(zero, np.nan, TABLE["y"]), "p": np.where(zero, 7.0, TABLE["p"])}
    options: dict[str, Any] = {"weights": "times", **RICH}
    _assert_same_numbers(_diagnose(wild, **options), _diagnose({**TABLE, "times": times}, **options), rel=1e-12)


def test_weights_move_every_estimate_and_error() -> None:
    plain, weighted = (_diagnose(weights=w, id="visit", **RICH) for w in (None, "w"))
    rest = numbers(plain).keys() - differing(plain, weighted, 0)
    stayed = {path for path in rest if isinstance(numbers(plain)[path], float)}
    # What was asked, counts of rows, and the scores at the ends of the first bin and the last.
    asked = (".threshold", ".level", ".floor", ".share", ".n_effective", ".because.3.limit")
    stayed = {path for path in stayed if not path.endswith(asked) and not path.startswith(".drift_curves.knots")}
    stayed -= {".calibration.bins.rows.0.low", ".calibration.bins.rows.6.high", _place(plain, "labels.few")}
    stayed -= {".calibration.ece_low"}  # clipped at zero
    stayed -= {path for path in stayed if path.startswith((".distribution.edges", ".distribution.knots"))}
    # A bin without a row, or with one class, has no share to move; the ends of parts are rows.
    stayed -= {path for path in stayed if path.startswith(".distribution.") and numbers(plain)[path] == 0}
    stayed -= {path for path in stayed if path.startswith(".reliability.") and path.endswith((".low", ".high"))}
    # Of τ itself soft has all, whatever the weights, and no bias; the best forecast is one times the best.
    soft = {f".forecast.rows.0.{name}" for name in ("kappa", "bias", "squared_bias", "relative_to_soft")}
    best = {path for path in rest if path.endswith(".relative_to_best") and numbers(plain)[path] == 1}
    # Rows of the two kinds are independent without clusters.
    apart = {f".ladder.covariance.{i}.{j}" for k in (0, 1, 3) for i, j in ((k, 2), (2, k))}
    assert stayed == {".drift_curves.curves.0.kappa"} | soft | best | apart


def _place(d: Diagnosis, code: str) -> str:
    """Where the statistic of a check stands."""
    return f".checks.rows.{d.checks['code'].index(code)}.statistic"


@pytest.mark.parametrize("which", ["labelled", "unlabelled"])
def test_the_weight_of_one_row_moves_what_it_should(which: str) -> None:
    place = int(np.flatnonzero((which == "unlabelled") == HIDDEN)[0])
    heavier = TABLE["w"].copy()
    heavier[place] *= 3
    before, after = (_diagnose(t, weights="w") for t in (TABLE, {**TABLE, "w": heavier}))
    names = {row.name for row, new in zip(before.estimates, after.estimates, strict=True) if row != new}
    climbed = {"rectified", "instrumented", "combined", "adaptive"}
    assert before.ladder != after.ladder
    if which == "labelled":
        assert names == {"supervised", *climbed}
        assert (before.kappa, before.v_star, before.forecast) == (after.kappa, after.v_star, after.forecast)
        assert before.drift_curves.curves == after.drift_curves.curves
        assert before.calibration != after.calibration
    else:
        assert climbed <= names
        names -= climbed
        # It is the nuisances on the labelled rows that an unlabelled one moves; calibration asks for none.
        assert before.calibration == after.calibration
        assert before.audits != after.audits
        # The first unlabelled row is in some confident sets only, but folds are of values, not of weights.
        assert {"soft", "hard", "deattenuated"} <= names <= {"soft", "hard", "deattenuated", "confident"}
        assert before.v_star != after.v_star
    assert before.sample.fingerprint != after.sample.fingerprint


def _spline(values: Floats, counts: Floats, knots: int) -> Floats:
    """Columns of a natural spline with knots at the quantiles of values that count so often."""
    order = np.argsort(values)
    places = np.array(place_knots(values[order], counts[order], knots))
    columns: Floats = evaluate(TABLE["age"], places, pieces(places, natural=True)).T
    return columns


def test_knots_follow_frequencies_but_not_sampling_weights() -> None:
    ages, first = np.unique(TABLE["age"][HIDDEN], return_inverse=True)
    for kind, counts in (("frequency", np.bincount(first, TABLE["times"][HIDDEN])), ("sampling", np.bincount(first))):
        d = _diagnose(weights="times", weight_type=kind, folds=None, controls=["age"], basis=Basis(knots=5, ridge=0))
        rows = rows_of(TABLE, _spline(ages, counts.astype(float), 5), weights="times")
        expected = beside(d, rows)[0]
        assert expected.found[0] == pytest.approx(expected.expected.value, rel=1e-8)
