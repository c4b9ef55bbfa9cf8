"""What cannot be computed is null with a reason, and what can be computed anyway is."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

import softlabel as sl
from softlabel.errors import DataError, InputError
from softlabel.results import Estimate
from tests import oracle
from tests.oracle import Floats

FORMS: tuple[Literal["orthogonal", "moment", "deattenuated"], ...] = ("orthogonal", "moment", "deattenuated")


def without(found: Estimate, *words: str) -> None:
    """There is no number, and the reason has these words."""
    assert (found.estimate, found.std_error, found.ci_low, found.ci_high, found.p_value) == (None,) * 5
    assert found.interval is None
    assert found.reason is not None
    for word in words:
        assert word in found.reason


def rows_of(n: int = 160, k: int = 2) -> tuple[Floats, Floats, Floats]:
    rows = oracle.draw(n, k, 12)
    return rows.y, rows.p[:, 0], rows.X


@pytest.mark.parametrize("folds", [None, 4])
@pytest.mark.parametrize("form", FORMS)
def test_a_threshold_nobody_crosses(form: Literal["orthogonal", "moment", "deattenuated"], folds: int | None) -> None:
    y, p, X = rows_of()
    without(sl.hard(y, 0.8 * p, X, 0.8, form=form, folds=folds), "no score is above 0.8")
    without(sl.hard(y, 0.8 + 0.2 * p, X, 0.5, form=form, folds=folds), "every score is above 0.5")


def test_a_threshold_that_scores_reach_but_do_not_cross() -> None:
    y, p, X = rows_of()
    without(sl.hard(y, np.minimum(p, 0.7), X, 0.7), "no score is above 0.7")
    assert sl.hard(y, np.minimum(p, np.nextafter(0.7, 1)), X, 0.7, folds=None).reason is None


def test_confident_sets_that_are_empty_or_on_one_side() -> None:
    y, p, X = rows_of()
    without(sl.confident(y, 0.3 + 0.4 * p, X, 0.7), "no row has a score that is confident at 0.7")
    without(sl.confident(y, 0.7 * p, X, 0.75), "no score within the confident set is above 0.75")
    without(sl.confident(y, 0.3 + 0.7 * p, X, 0.75), "every score within the confident set is above 0.75")
    few = np.full(len(p), 0.5)
    few[:4] = [0.9, 0.05, 0.97, 0.01]
    without(sl.confident(y, few, X, 0.8), "2 of 4 scores within the confident set above 0.8 are too few")


def test_controls_that_explain_the_label() -> None:
    y, p, X = rows_of()
    label = (p > 0.6).astype(float)
    without(sl.hard(y, p, np.column_stack([X, label]), 0.6), "the controls explain the hard label completely")
    without(
        sl.confident(y, p, np.column_stack([X, label]), 0.6),
        "the controls explain the hard label within the confident set completely",
    )
    # Within C two cut-offs are one label, so a control that is h(0.3) explains h(0.8) there and nowhere else.
    low = (p > 0.3).astype(float)
    without(sl.confident(y, p, np.column_stack([X, low]), 0.8), "completely")
    assert sl.hard(y, p, np.column_stack([X, low]), 0.8).reason is None


@pytest.mark.parametrize("folds", [None, 4])
@pytest.mark.parametrize("form", ["orthogonal", "moment"])
def test_controls_that_explain_the_score(form: Literal["orthogonal", "moment"], folds: int | None) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(300, 2))
    p = 0.5 + 0.2 * X[:, 0] - 0.1 * X[:, 1]
    y = X.sum(axis=1) + rng.normal(size=300)
    without(sl.soft(y, p, X, form=form, folds=folds), "the controls explain the score completely")
    without(sl.hard(y, p, X, 0.5, form="deattenuated", folds=folds), "the controls explain the score completely")
    # The label is not linear in the controls, so its regression exists.
    assert sl.hard(y, p, X, 0.5, folds=folds).reason is None
    report = sl.attenuation(p, X, [0.5], folds=folds)
    assert report.v_star.estimate == pytest.approx(0.0, abs=1e-30)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 1.0, 1e-300])
@pytest.mark.parametrize("folds", [None, 4])
def test_a_constant_score(folds: int | None, value: float) -> None:
    y, _, X = rows_of()
    p = np.full(len(y), value)
    without(sl.soft(y, p, X, folds=folds), "the score is the same in every row")
    without(sl.soft(y, p, X, form="moment", folds=folds), "the score is the same in every row")
    without(sl.hard(y, p, X, 0.4, folds=folds), "no score is above" if value < 0.4 else "every score is above")
    report = sl.attenuation(p, X, [0.4], confident=[0.6], folds=folds)
    assert report.v_star.estimate == pytest.approx(0.0, abs=1e-30)
    assert report.kappa["kappa"] == [None]
    assert report.kappa_confident["kappa"] == [None]


def test_a_score_that_moves_in_the_last_digits_is_not_constant() -> None:
    rng = np.random.default_rng(4)
    steps = rng.integers(-4_000, 4_000, size=400)
    p = 0.5 + steps * 2.0**-40  # exact
    y = rng.normal(size=400)
    found = sl.soft(y, p, folds=None)
    # The same regression in units where nothing is lost.
    whole = oracle.soft(oracle.Rows(y, steps[:, None].astype(float), np.empty((400, 0))))["orthogonal"]
    assert found.estimate == pytest.approx(whole.value * 2.0**40, rel=1e-9)
    assert found.std_error == pytest.approx(whole.std_error * 2.0**40, rel=1e-9)


def test_no_rows() -> None:
    for call in (
        lambda: sl.soft([], []),
        lambda: sl.hard([], []),
        lambda: sl.confident([], []),
        lambda: sl.attenuation([]),
    ):
        with pytest.raises(DataError, match="empty"):
            call()
    without(sl.supervised([], []), "no labelled rows")


@pytest.mark.parametrize("group", [0, 1])
def test_one_class_among_the_labels(group: int) -> None:
    y, _, X = rows_of(30)
    without(sl.supervised(y, np.full(30, group), X), f"all 30 labelled rows are of group {group}")


def test_too_few_labelled_rows() -> None:
    y, p, X = rows_of(20, 4)
    g = (p > 0.5).astype(float)
    g[:2] = [0, 1]
    without(sl.supervised(y[:6], g[:6], X[:6]), "6 labelled rows are too few for 6 coefficients")
    without(sl.supervised(y[:2], g[:2], X[:2]), "too few")
    without(sl.supervised(y[:2], g[:2]), "2 labelled rows are too few for 2 coefficients")
    without(sl.supervised(y[:1], g[:1]), "all 1 labelled rows")
    assert sl.supervised(y[:7], g[:7], X[:7], covariance="HC1").reason is None


@pytest.mark.parametrize("folds", [None, 2])
def test_too_few_unlabelled_rows(folds: int | None) -> None:
    # d + 1 rows fit d + 1 coefficients without a residual: a standard error of zero would be nonsense.
    y, p, X = rows_of(20, 3)
    X = X[:, :2]
    p = np.where(np.arange(20) % 2, 0.6 + p / 4, p / 4)
    for n in (1, 2, 3, 4, 7):
        cut = slice(0, n)
        without(sl.soft(y[cut], p[cut], X[cut], folds=folds), f"{n} unlabelled rows are too few for 4 coefficients")
        without(
            sl.hard(y[cut], p[cut], X[cut], folds=folds, form="deattenuated"), " is above " if n == 1 else "too few"
        )
        without(sl.hard(y[cut], p[cut], X[cut], folds=folds), " is above " if n == 1 else "too few")
    found = sl.soft(y[:8], p[:8], X[:8], folds=None)
    assert found.estimate == pytest.approx(
        oracle.soft(oracle.Rows(y[:8], p[:8, None], X[:8]))["orthogonal"].value, rel=1e-9
    )


def test_a_fold_that_leaves_too_few_rows_to_train_on() -> None:
    y, p, X = rows_of(60, 3)
    fold = np.where(np.arange(60) < 3, 0, 1)  # outside fold 1 there are 3 rows for 4 coefficients
    without(sl.soft(y, p, X, folds=fold), "outside one fold there are 3 rows", "too few for 4 coefficients")
    without(sl.hard(y, p, X, folds=fold), "60 rows, of which 3 fit the nuisances of some fold, are too few")
    # Enough rows everywhere, but all confident ones of one fold.
    far = np.isin(np.arange(60), np.arange(20, 40))
    q = np.where(far, np.where(np.arange(60) % 2, 0.95, 0.05), 0.3 + 0.4 * p)
    fold = far.astype(int)
    assert sl.soft(y, q, X, folds=fold).reason is None
    assert sl.hard(y, q, X, folds=fold).reason is None
    without(
        sl.confident(y, q, X, 0.9, folds=fold),
        "within the confident set, of which 0 fit the nuisances of some fold, are too few",
    )


def test_controls_that_explain_the_group() -> None:
    y, p, X = rows_of(50)
    g = (p > 0.5).astype(float)
    without(sl.supervised(y, g, np.column_stack([X, 3 - 2 * g])), "the controls explain the group completely")


def test_a_row_that_alone_decides_a_coefficient() -> None:
    y, p, X = rows_of(50)
    g = (p > 0.5).astype(float)
    alone = np.column_stack([X, np.arange(50) == 17])
    for covariance in ("HC2", "HC3"):
        without(sl.supervised(y, g, alone, covariance=covariance), "labelled row 17", covariance)
    # Its residual is zero, so HC0 is that of the other rows, and HC1 differs by the count of rows.
    rest = np.arange(50) != 17
    others = sl.supervised(y[rest], g[rest], X[rest], covariance="HC0")
    found = sl.supervised(y, g, alone, covariance="HC0")
    assert found.estimate == pytest.approx(others.estimate, rel=1e-11)
    assert found.std_error == pytest.approx(others.std_error, rel=1e-9)
    adjusted = sl.supervised(y, g, alone, covariance="HC1")
    assert adjusted.std_error == pytest.approx(np.sqrt(50 / 45) * found.std_error, rel=1e-12)


def test_the_only_row_of_a_group_has_leverage_one() -> None:
    y, _, _ = rows_of(12)
    g = np.zeros(12)
    g[5] = 1
    without(sl.supervised(y, g), "labelled row 5 alone decides")


def test_an_exact_fit_is_reported_as_one() -> None:
    found = sl.supervised([1.0, 1.0, 3.0, 3.0], [0, 0, 1, 1])
    assert (found.estimate, found.std_error, found.interval, found.p_value) == (2.0, 0.0, (2.0, 2.0), 0.0)
    flat = sl.soft(np.full(40, 2.0), np.linspace(0, 1, 40), folds=None)
    assert (flat.estimate, flat.std_error, flat.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("k", [1, 3])
def test_redundant_controls_change_nothing(k: int) -> None:
    rows = oracle.draw(350, k, 21)
    y, p, X = rows.y, rows.p[:, 0], rows.X
    fold = np.random.default_rng(0).integers(0, 4, 350)
    wide = np.column_stack([np.full(350, 0.1), X, X[:, 0], X.sum(axis=1) + 7.7, 1e5 * X[:, 0], np.zeros(350)])
    # Left-out columns leave the kept ones' cross products as they were, up to the order of sums.
    for folds in (None, fold):
        pairs = [
            (sl.soft(y, p, X, folds=folds), sl.soft(y, p, wide, folds=folds)),
            *(
                (sl.hard(y, p, X, 0.7, form=f, folds=folds), sl.hard(y, p, wide, 0.7, form=f, folds=folds))
                for f in FORMS
            ),
            (sl.confident(y, p, X, 0.8, folds=folds), sl.confident(y, p, wide, 0.8, folds=folds)),
        ]
        for narrow, found in pairs:
            assert narrow.reason is None
            assert found.estimate == pytest.approx(narrow.estimate, rel=1e-9)
            assert found.std_error == pytest.approx(narrow.std_error, rel=1e-9)


def test_columns_of_zeros_alone_are_no_controls() -> None:
    y, p, _ = rows_of()
    # No folds: the value of every control takes part in the hash that deals rows to folds.
    assert sl.soft(y, p, np.zeros((160, 3)), folds=None) == sl.soft(y, p, folds=None)


def test_wrong_calls() -> None:
    y, p, X = rows_of()
    for call in (
        lambda: sl.soft(y, p[:-1], X),
        lambda: sl.soft(y, p, X[:-1]),
        lambda: sl.soft(y, p[:, None], X),
        lambda: sl.soft(y, p, X[:, :, None]),
        lambda: sl.soft(y, p, X, folds=1),
        lambda: sl.soft(y, p, X, folds=np.zeros(160)),
        lambda: sl.soft(y, p, X, folds=np.zeros(159)),
        lambda: sl.soft(y, p, X, form="nonesuch"),  # type: ignore[arg-type]
        lambda: sl.hard(y, p, X, 1.0),
        lambda: sl.hard(y, p, X, -0.1),
        lambda: sl.confident(y, p, X, 0.49),
        lambda: sl.soft(y, p, X, level=1.0),
        lambda: sl.supervised(y, p > 0.5, X, covariance="HC9"),  # type: ignore[arg-type]
        lambda: sl.attenuation(p, X, [0.5, 0.5]),
    ):
        with pytest.raises(InputError):
            call()
    impossible: tuple[Callable[[], object], ...] = (
        lambda: sl.soft(y, p + 0.5, X),
        lambda: sl.soft(y, p - 0.5, X),
        lambda: sl.soft(np.where(p > 0.5, np.nan, y), p, X),
        lambda: sl.soft(y, p, np.where(X > 2, np.inf, X)),
        lambda: sl.supervised(y, p, X),
    )
    for values in impossible:
        with pytest.raises(DataError):
            values()
