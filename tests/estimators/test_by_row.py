"""hard with a threshold per row: against the dense reference, against one threshold for all, and what it refuses."""

from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel.estimators.hard import FORMS, Form
from tests import oracle

SAME = 1e-10  # see tests/estimators/test_brute_force.py


def _rows(n: int = 411) -> tuple[oracle.Rows, oracle.Floats]:
    """Rows with folds, weights and clusters, and thresholds that differ by the sign of the first control."""
    rng = np.random.default_rng(5)
    rows = oracle.draw(n, 2, 5)
    rows = rows._replace(
        fold=rng.integers(0, 3, size=n), weight=rng.uniform(0.2, 3, size=n), cluster=rng.integers(0, 30, size=n)
    )
    return rows, np.where(rows.X[:, 0] > 0, 0.8, 0.35)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("folded", [False, True])
def test_against_the_dense_reference(*, form: Form, weighted: bool, clustered: bool, folded: bool) -> None:
    rows, threshold = _rows()
    used = rows._replace(
        fold=rows.fold if folded else None,
        weight=rows.weight if weighted else None,
        cluster=rows.cluster if clustered else None,
    )
    found = sl.hard(
        rows.y,
        rows.p[:, 0],
        rows.X,
        threshold,
        form=form,
        weights=used.weight,
        cluster=used.cluster,
        folds=used.fold,
    )
    expected = oracle.label(used, (used.p > threshold[:, None]).astype(float))[form]
    assert found.estimate == pytest.approx(expected.value, rel=SAME)
    assert found.std_error == pytest.approx(expected.std_error, rel=SAME)
    assert (found.n, found.df, found.threshold, found.reason) == (411, 29 if clustered else None, None, None)
    # The thresholds matter, row by row.
    assert found.estimate != pytest.approx(sl.hard(rows.y, rows.p[:, 0], rows.X, 0.8, form=form).estimate, rel=1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "options",
    [{}, {"folds": None, "level": 0.9}, {"seed": 3, "folds": 3}, {"weights": 1}, {"weights": 2, "cluster": True}],
    ids=str,
)
def test_one_threshold_for_all_is_the_same_either_way(form: Form, options: dict[str, Any]) -> None:
    rows, _ = _rows()
    assert rows.weight is not None
    if "weights" in options:
        copies = np.floor(rows.weight)  # some are zero: their rows are left out, and their thresholds with them
        kind = "frequency" if options["weights"] == 2 else "sampling"
        options = options | {"weights": copies, "weight_type": kind}
    if "cluster" in options:
        options = options | {"cluster": rows.cluster}
    one = sl.hard(rows.y, rows.p[:, 0], rows.X, 0.6, form=form, **options)
    many = sl.hard(rows.y, rows.p[:, 0], rows.X, [0.6] * 411, form=form, **options)
    assert many.estimate == pytest.approx(one.estimate, rel=SAME)
    assert many.interval == pytest.approx(one.interval, rel=SAME)
    assert (many.n, many.df, many.level, many.note) == (one.n, one.df, one.level, one.note)
    assert (many.name, many.form) == (one.name, one.form)


def test_a_row_of_weight_zero_takes_its_threshold_along() -> None:
    rows, threshold = _rows()
    weight = np.ones(411)
    weight[::3] = 0
    some = weight > 0
    whole = sl.hard(rows.y, rows.p[:, 0], rows.X, threshold, weights=weight)
    part = sl.hard(rows.y[some], rows.p[some, 0], rows.X[some], threshold[some])
    assert whole.estimate == pytest.approx(part.estimate, rel=SAME)
    assert whole.note is not None


def test_the_comparison_with_a_threshold_is_exact() -> None:
    p = np.tile([0.25, 0.5, np.nextafter(0.5, 1), 0.75], 50)
    y = np.random.default_rng(0).normal(size=200)
    for t in (0.5, np.nextafter(0.5, 1)):
        h = p > t
        expected = y[h].mean() - y[~h].mean()
        found = sl.hard(y, p, threshold=np.full(200, t), folds=None).estimate
        assert found == pytest.approx(expected, rel=1e-12)  # a difference of two means


@pytest.mark.parametrize(
    ("threshold", "form", "said"),
    [
        (0.99, "orthogonal", "no score is above its threshold"),
        (0.0, "moment", "every score is above its threshold"),
        (0.955, "orthogonal", "3 of 100 scores above its threshold are too few"),
    ],
)
def test_what_cannot_be_estimated_says_why(threshold: float, form: Form, said: str) -> None:
    p = np.linspace(0.01, 0.98, 100)
    found = sl.hard(np.arange(100.0), p, threshold=np.full(100, threshold), form=form, folds=None)
    assert found.estimate is None
    assert found.std_error is None
    assert found.reason is not None
    assert said in found.reason


def test_a_label_that_says_nothing_of_the_score_does_not_stand_in_for_it() -> None:
    # Thresholds chosen so that the label alternates whatever the score: the mean score is the same on both sides.
    p = np.repeat(np.linspace(0.2, 0.8, 20), 2)
    threshold = np.tile([0.1, 0.9], 20)
    y = np.random.default_rng(0).normal(size=40)
    found = sl.hard(y, p, threshold=threshold, form="deattenuated", folds=None)
    assert found.reason == "given the controls the hard label says nothing about the score (kappa = 0)"
    assert sl.hard(y, p, threshold=threshold, folds=None).estimate is not None


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (np.full(9, 0.5), "threshold to be a vector of 10 values"),
        (np.full((10, 1), 0.5), "threshold to be a vector of 10 values"),
        (np.full(10, 1.0), "from 0 to below 1"),
        (np.full(10, -0.1), "from 0 to below 1"),
        ([0.5] * 9 + [np.nan], "threshold to be finite"),
        (["a"] * 10, "threshold to hold numbers"),
    ],
)
def test_wrong_thresholds_are_refused(threshold: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sl.hard(np.arange(10.0), np.linspace(0, 1, 10), threshold=threshold)
