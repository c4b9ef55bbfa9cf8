"""Weights of the supervised estimator: sampling weights against statsmodels, frequency weights against copies."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import softlabel as sl
from softlabel.errors import DataError, InputError
from softlabel.estimators.supervised import fit_supervised, independent_controls
from softlabel.results import Estimate
from tests import oracle
from tests.oracle import Floats

COVARIANCES: tuple[Literal["HC0", "HC1", "HC2", "HC3"], ...] = ("HC0", "HC1", "HC2", "HC3")

# Least squares by two routes (QR here, a pseudo-inverse there) on well-conditioned columns: 13 digits are left.
SAME = 1e-10

# The same route on the same numbers, in another order of sums or with another rounding of the weights.
ROUNDING = 1e-12


def made(n: int = 61, k: int = 3, seed: int = 2) -> tuple[Floats, Floats, Floats, Floats]:
    """Outcome, group, controls (n, k), and weights from 0.1 to 8."""
    rows = oracle.draw(n, k, seed)
    rng = np.random.default_rng(seed)
    g = (rng.random(n) < rows.p[:, 0]).astype(float)
    return rows.y, g, rows.X, 0.1 + 7.9 * rng.random(n)


def alike(found: Estimate, expected: Estimate, tolerance: float) -> None:
    """The same to a tolerance: numbers, counts, degrees of freedom, and which reason there is."""
    assert (found.n, found.df, found.reason) == (expected.n, expected.df, expected.reason)
    for name in ("estimate", "std_error", "ci_low", "ci_high", "p_value"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=tolerance, abs=1e-300), name


@pytest.mark.parametrize("k", [0, 1, 5])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_sampling_weights_are_those_of_statsmodels(covariance: Literal["HC0", "HC1", "HC2", "HC3"], k: int) -> None:
    import statsmodels.api as sm

    y, g, X, w = made(61, k)
    found = sl.supervised(y, g, X, weights=w, covariance=covariance, level=0.9)
    fit = sm.WLS(y, np.column_stack([np.ones(61), g, X]), weights=w).fit(cov_type=covariance, use_t=True)
    assert found.estimate == pytest.approx(fit.params[1], rel=SAME)
    assert found.std_error == pytest.approx(fit.bse[1], rel=SAME)
    assert found.interval == pytest.approx(tuple(fit.conf_int(alpha=0.1)[1]), rel=SAME)
    assert found.p_value == pytest.approx(fit.pvalues[1], rel=1e-8)  # t in the tail magnifies its argument's error
    assert (found.df, found.n, found.note) == (fit.df_resid, 61, None)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("clustered", [False, True])
def test_the_unit_of_sampling_weights_does_not_matter(
    covariance: Literal["HC0", "HC1", "HC2", "HC3"], *, clustered: bool
) -> None:
    y, g, X, w = made()
    cluster = np.arange(61) % 13 if clustered else None
    plain = sl.supervised(y, g, X, weights=w, covariance=covariance, cluster=cluster)
    for unit in (1e-60, 1e-6, 1e6, 1e60):
        alike(sl.supervised(y, g, X, weights=unit * w, covariance=covariance, cluster=cluster), plain, ROUNDING)
    # As powers of frequency weights it does: 1,000 copies of each row have a smaller standard error.
    copies = np.ceil(w)
    one, many = (
        sl.supervised(y, g, X, weights=unit * copies, weight_type="frequency", covariance=covariance).std_error
        for unit in (1, 1000)
    )
    assert one is not None
    assert many is not None
    assert many < one / 25


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weight_type", ["sampling", "frequency"])
def test_weights_of_one_are_no_weights(
    weight_type: Literal["sampling", "frequency"],
    covariance: Literal["HC0", "HC1", "HC2", "HC3"],
    *,
    clustered: bool,
) -> None:
    y, g, X, _ = made()
    cluster = np.arange(61) % 13 if clustered else None
    plain = sl.supervised(y, g, X, covariance=covariance, cluster=cluster)
    found = sl.supervised(y, g, X, covariance=covariance, cluster=cluster, weights=np.ones(61), weight_type=weight_type)
    # Only the means are summed in another order.
    alike(found, plain, 1e-13)


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("clustered", [False, True])
def test_frequency_weights_are_copies_of_rows(
    covariance: Literal["HC0", "HC1", "HC2", "HC3"], k: int, *, clustered: bool
) -> None:
    y, g, X, _ = made(40, k)
    w = np.random.default_rng(3).integers(0, 6, 40)
    cluster = np.arange(40) % 7
    again = np.repeat(np.arange(40), w)
    found = sl.supervised(
        y, g, X, weights=w, weight_type="frequency", covariance=covariance, cluster=cluster if clustered else None
    )
    expected = sl.supervised(
        y[again], g[again], X[again], covariance=covariance, cluster=cluster[again] if clustered else None
    )
    assert found.n == w.sum()
    alike(replace(found, note=None), expected, SAME)


@st.composite
def few_rows(draw: st.DrawFn) -> tuple[list[int], list[int], list[float], list[int], list[int], str]:
    """Outcome, group, one control, copies, cluster, covariance: few enough that often there is no number."""
    n = draw(st.integers(1, 7))
    several = {
        "outcome": st.integers(-3, 3),
        "group": st.integers(0, 1),
        "control": st.sampled_from([0.0, 0.3, 2.0]),
        "copies": st.integers(1, 3),
        "cluster": st.integers(0, 2),
    }
    lists: list[Any] = [draw(st.lists(kind, min_size=n, max_size=n)) for kind in several.values()]
    return (*lists, draw(st.sampled_from(COVARIANCES)))


@given(few_rows(), st.booleans())
def test_frequency_weights_are_copies_of_rows_where_there_is_no_number_too(
    rows: tuple[list[int], list[int], list[float], list[int], list[int], Any], clustered: bool
) -> None:
    y, g, x, copies, cluster, covariance = (np.asarray(part) for part in rows)
    again = np.repeat(np.arange(len(y)), copies)
    found = sl.supervised(
        y,
        g,
        x,
        weights=copies,
        weight_type="frequency",
        covariance=str(covariance),  # type: ignore[arg-type]
        cluster=cluster if clustered else None,
    )
    expected = sl.supervised(
        y[again],
        g[again],
        x[again],
        covariance=str(covariance),  # type: ignore[arg-type]
        cluster=cluster[again] if clustered else None,
    )
    assert (found.n, found.df) == (expected.n, expected.df)
    # The first of equal rows is another one after copying, so its number is left out of the comparison.
    assert _without_numbers(found.reason) == _without_numbers(expected.reason)
    if found.estimate is not None and found.std_error is not None:
        # Whole numbers of size 3: what should be zero is zero to 1e-14.
        assert found.estimate == pytest.approx(expected.estimate, rel=1e-9, abs=1e-12)
        assert found.std_error == pytest.approx(expected.std_error, rel=1e-7, abs=1e-12)


def _without_numbers(reason: str | None) -> str | None:
    if reason is None or "labelled row " not in reason:
        return reason
    before, after = reason.split("labelled row ")
    return before + after[after.index(" alone") :]


def test_reasons_count_copies() -> None:
    y, _, X, _ = made(5, 3)
    copies = np.array([2, 1, 1, 1, 1])

    def reason(group: Floats, weight_type: Literal["sampling", "frequency"]) -> str | None:
        return sl.supervised(y, group, X, weights=copies, weight_type=weight_type, covariance="HC0").reason

    assert reason(np.ones(5), "frequency") == "all 6 labelled rows are of group 1"
    assert reason(np.ones(5), "sampling") == "all 5 labelled rows are of group 1"
    group = np.array([0.0, 1, 0, 1, 1])
    assert reason(group, "sampling") == "5 labelled rows are too few for 5 coefficients"
    assert reason(group, "frequency") is None  # six cases, as in the table with the first row twice


@pytest.mark.parametrize("weight_type", ["sampling", "frequency"])
def test_collinear_controls_under_weights(weight_type: Literal["sampling", "frequency"]) -> None:
    y, g, X, w = made(40, 2)
    w = np.ceil(w)
    wide = np.column_stack([X, X @ [1.0, -2.0], np.full(40, 3.7), X[:, 0]])
    assert independent_controls(wide.T, w).tolist() == [True, True, False, False, False]
    for covariance in COVARIANCES:
        found = sl.supervised(y, g, wide, weights=w, weight_type=weight_type, covariance=covariance)
        alike(found, sl.supervised(y, g, X, weights=w, weight_type=weight_type, covariance=covariance), SAME)


def test_controls_far_from_zero_under_weights() -> None:
    # Centring is about the weighted mean: 1e8 leaves 8 of 16 digits of a control, 1e6 leaves 10.
    y, g, X, w = made()
    plain = sl.supervised(y, g, X, weights=w)
    moved = sl.supervised(y + 1e6, g, 3 * X + 1e6, weights=w)
    assert moved.estimate == pytest.approx(plain.estimate, rel=1e-8)
    assert moved.std_error == pytest.approx(plain.std_error, rel=1e-8)


def test_the_rows_of_weight_zero_are_left_out_and_counted() -> None:
    y, g, X, w = made()
    w[[3, 17, 40]] = 0
    cluster = np.arange(61) % 13
    cluster[3] = 99  # would be a cluster of its own, and a degree of freedom
    some = w > 0
    found = sl.supervised(y, g, X, weights=w, cluster=cluster)
    assert found.note is not None
    assert found.note.startswith("3 of 61 rows have weight zero")
    rest = sl.supervised(y[some], g[some], X[some], weights=w[some], cluster=cluster[some])
    assert replace(found, note=None) == rest
    assert (found.n, found.df) == (58, 12)


def test_weights_that_span_thirty_orders() -> None:
    # Rows of weight 1e-30 beside 1: the point and HC0 are those of the other rows, and a control that varies on the
    # light rows alone is as good as constant. (About its plain mean it would seem to vary.)
    y, g, X, w = made()
    w[::4] = 1e-30
    large = w > 1e-3
    X = np.column_stack([X, np.where(large, 5.0, np.arange(61))])
    assert independent_controls(X.T, w).tolist() == [True, True, True, False]
    found = sl.supervised(y, g, X, weights=w, covariance="HC0")
    rest = sl.supervised(y[large], g[large], X[large], weights=w[large], covariance="HC0")
    assert found.estimate == pytest.approx(rest.estimate, rel=ROUNDING)
    assert found.std_error == pytest.approx(rest.std_error, rel=ROUNDING)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kind", ["none", "sampling", "frequency"])
def test_the_variance_is_the_sum_of_squared_influences(covariance: str, kind: str) -> None:
    y, g, X, w = made()
    weight = {"none": None, "sampling": w, "frequency": np.ceil(w)}[kind]
    fit = fit_supervised(y, g, X.T, covariance=covariance, level=0.95, weight=weight, frequency=kind == "frequency")
    assert fit.influence is not None
    assert fit.estimate.std_error is not None
    copies = np.ceil(w) if kind == "frequency" else np.ones(61)
    assert copies @ fit.influence**2 == pytest.approx(fit.estimate.std_error**2, rel=ROUNDING)


@pytest.mark.parametrize("kind", ["none", "sampling", "frequency"])
def test_the_influence_of_hc3_is_what_a_case_changes_by_being_there(kind: str) -> None:
    # An identity of leave-one-out least squares, so it fixes the sign and the size of every row's number.
    y, g, X, w = made(30, 2)
    w = np.ceil(w)
    weight = None if kind == "none" else w
    fit = fit_supervised(y, g, X.T, covariance="HC3", level=0.95, weight=weight, frequency=kind == "frequency")
    assert fit.influence is not None
    design = np.column_stack([np.ones(30), g, X])

    def slope(weights: Floats) -> float:
        root = np.sqrt(weights)
        return float(np.linalg.lstsq(root[:, None] * design, root * y, rcond=None)[0][1])

    start = np.ones(30) if weight is None else weight
    left = start[:, None] * np.ones(30) - np.diag(np.ones(30) if kind == "frequency" else start)
    changes = [slope(start) - slope(column) for column in left.T]
    # A difference of two numbers near 1.5 keeps 15 digits below it.
    assert fit.influence == pytest.approx(np.array(changes), rel=1e-9, abs=1e-13)


def test_wrong_weights() -> None:
    y, g, X, w = made()
    bad = w.copy()
    bad[5] = -1
    with pytest.raises(DataError, match=r"1 negative of 61, such as -1"):
        sl.supervised(y, g, X, weights=bad)
    with pytest.raises(DataError, match="all zero"):
        sl.supervised(y, g, X, weights=np.zeros(61))
    bad[5] = np.nan
    with pytest.raises(DataError, match="weights to be finite"):
        sl.supervised(y, g, X, weights=bad)
    with pytest.raises(DataError, match="whole numbers"):
        sl.supervised(y, g, X, weights=w, weight_type="frequency")
    with pytest.raises(InputError, match="Did you mean 'frequency'"):
        sl.supervised(y, g, X, weights=w, weight_type="freqency")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no weights"):
        sl.supervised(y, g, X, weight_type="frequency")
    with pytest.raises(InputError, match="weights to be a vector of 61 values"):
        sl.supervised(y, g, X, weights=w[:-1])
