"""soft, hard and confident against the dense reference: every form, folds of every kind, 0 to 4 controls."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import softlabel as sl
from softlabel.folds import deal, hash_rows
from softlabel.results import Estimate
from tests import oracle
from tests.passes import columns

# On and off the 0.01 grid; 1 − t is not on it in floating point for all of them.
THRESHOLDS = (0.3, 0.5, 0.7, 0.123456789, 2 / 3)
CONFIDENT = (0.5, 0.55, 0.6, 0.7654321, 0.9)
FoldKind = Literal["given", "values", "none"]

# The reference solves least squares by singular values, the package from cross products of well-scaled columns:
# they share 12 to 13 digits. A wrong row, fold or formula shows in the second.
SAME = 1e-10


def rows_of(k: int, kind: FoldKind, seed: int = 7) -> tuple[oracle.Rows, Any]:
    """Rows with their folds as the reference needs them, and what to pass as ``folds``."""
    rows = oracle.draw(523, k, seed, edges=(*THRESHOLDS, *CONFIDENT))
    if kind == "none":
        return rows, None
    if kind == "given":
        fold = np.random.default_rng(seed).integers(0, 3, size=len(rows.y))
        return rows._replace(fold=fold), fold
    return rows._replace(fold=deal(hash_rows(columns(rows)), 4, seed=11)), 4


def agree(found: Estimate, expected: oracle.Answer) -> None:
    assert found.reason is None
    assert found.estimate == pytest.approx(expected.value, rel=SAME)
    assert found.std_error == pytest.approx(expected.std_error, rel=SAME)


@pytest.mark.parametrize("kind", ["given", "values", "none"])
@pytest.mark.parametrize("k", [0, 1, 4])
@pytest.mark.parametrize("form", ["orthogonal", "moment"])
def test_soft(form: Literal["orthogonal", "moment"], k: int, kind: FoldKind) -> None:
    rows, folds = rows_of(k, kind)
    found = sl.soft(rows.y, rows.p[:, 0], rows.X, form=form, folds=folds, seed=11)
    agree(found, oracle.soft(rows)[form])
    assert (found.name, found.form, found.n, found.df) == ("soft", form, 523, None)


@pytest.mark.parametrize("kind", ["given", "values", "none"])
@pytest.mark.parametrize("k", [0, 1, 4])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_hard(threshold: float, k: int, kind: FoldKind) -> None:
    rows, folds = rows_of(k, kind)
    expected = oracle.hard(rows, threshold)
    forms: tuple[Literal["orthogonal", "moment", "deattenuated"], ...] = (
        "orthogonal",
        "moment",
        "deattenuated",
    )
    for form in forms:
        found = sl.hard(rows.y, rows.p[:, 0], rows.X, threshold, form=form, folds=folds, seed=11)
        agree(found, expected[form])
        assert found.threshold == threshold
        assert found.n == 523


@pytest.mark.parametrize("kind", ["given", "values", "none"])
@pytest.mark.parametrize("k", [0, 1, 4])
@pytest.mark.parametrize("threshold", CONFIDENT)
def test_confident(threshold: float, k: int, kind: FoldKind) -> None:
    rows, folds = rows_of(k, kind)
    found = sl.confident(rows.y, rows.p[:, 0], rows.X, threshold, folds=folds, seed=11)
    agree(found, oracle.confident(rows, threshold)["orthogonal"])
    p = rows.p[:, 0]
    assert found.n == int((np.maximum(p, 1 - p) > threshold).sum())


@pytest.mark.parametrize("threshold", [0.0, float(np.nextafter(1.0, 0.0))])
def test_hard_at_the_ends_of_the_unit_interval(threshold: float) -> None:
    # p > 0 leaves out the rows with p = 0 alone, p > 1 − 2⁻⁵³ takes in those with p = 1 alone.
    rows, folds = rows_of(1, "given")
    rows.p[:6, 0] = np.round(threshold)  # the label takes at least five on a side
    label = rows.p[:, 0] > threshold
    assert 5 <= min(label.sum(), (~label).sum()) < 20
    agree(
        sl.hard(rows.y, rows.p[:, 0], rows.X, threshold, folds=folds),
        oracle.hard(rows, threshold)["orthogonal"],
    )


def test_interval_and_p_value_are_normal() -> None:
    rows, _ = rows_of(1, "none")
    found = sl.soft(rows.y, rows.p[:, 0], rows.X, folds=None, level=0.9)
    assert found.estimate is not None
    assert found.std_error is not None
    assert found.interval == pytest.approx(
        (found.estimate - 1.6448536269514722 * found.std_error, found.estimate + 1.6448536269514722 * found.std_error),
        rel=1e-14,
    )
    from scipy.stats import norm

    # Far in the tail both functions lose a few digits.
    assert found.p_value == pytest.approx(2 * norm.sf(found.estimate / found.std_error), rel=1e-10)


def test_seed_and_number_of_folds_matter() -> None:
    rows, _ = rows_of(4, "none")
    found = {
        (folds, seed): sl.soft(rows.y, rows.p[:, 0], rows.X, folds=folds, seed=seed).estimate
        for folds in (None, 2, 5)
        for seed in (0, 1)
    }
    assert found[None, 0] == found[None, 1]
    assert len(set(found.values())) == 5


def test_fold_labels_may_be_any_numbers() -> None:
    rows, folds = rows_of(1, "given")
    odd = np.array([7.5, -3.0, 1e9])[folds]
    first = sl.soft(rows.y, rows.p[:, 0], rows.X, folds=folds)
    assert sl.soft(rows.y, rows.p[:, 0], rows.X, folds=odd).estimate == pytest.approx(first.estimate, rel=1e-13)
    assert sl.soft(rows.y, rows.p[:, 0], rows.X, folds=odd.tolist()).n == 523


def test_a_fold_for_every_row() -> None:
    # Leave one out: as many folds as rows.
    rows = oracle.draw(41, 2, 3)._replace(fold=np.arange(41))
    agree(
        sl.soft(rows.y, rows.p[:, 0], rows.X, folds=rows.fold),
        oracle.soft(rows)["orthogonal"],
    )


def test_a_fold_without_rows_changes_nothing() -> None:
    # By values, 7 rows cannot fill 9 folds.
    rows = oracle.draw(7, 0, 3)
    fold = deal(hash_rows(columns(rows)), 9, seed=0)
    assert len(np.unique(fold)) < 8
    agree(sl.soft(rows.y, rows.p[:, 0], folds=9), oracle.soft(rows._replace(fold=fold))["orthogonal"])


def read_only(values: oracle.Floats) -> oracle.Floats:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


KINDS_OF_INPUT: dict[str, Callable[[oracle.Floats], Any]] = {
    "float32": lambda v: np.asarray(v, dtype=np.float32),
    "fortran": np.asfortranarray,
    "every second row of a longer array": lambda v: np.repeat(v, 2, axis=0)[::2],
    "reversed twice": lambda v: v[::-1].copy()[::-1],
    "read only": read_only,
    "list": lambda v: v.tolist(),
}


@pytest.mark.parametrize("kind", KINDS_OF_INPUT)
def test_the_memory_of_the_input_does_not_matter(kind: str) -> None:
    rows, _ = rows_of(3, "none")
    # Values that single precision holds exactly, so that every kind of input means the same numbers.
    exact = [np.asarray(v, dtype=np.float32).astype(np.float64) for v in (rows.y, rows.p[:, 0], rows.X)]
    convert = KINDS_OF_INPUT[kind]
    plain = sl.hard(exact[0], exact[1], exact[2], 0.6, folds=5)
    turned = sl.hard(convert(exact[0]), convert(exact[1]), convert(exact[2]), 0.6, folds=5)
    assert turned == plain


def test_the_input_is_not_changed() -> None:
    rows, _ = rows_of(3, "none")
    given = (rows.y.copy(), rows.p[:, 0].copy(), rows.X.copy())
    sl.confident(*given, 0.8)
    sl.supervised(given[0], (given[1] > 0.5).astype(float), given[2])
    assert all(np.array_equal(a, b) for a, b in zip(given, (rows.y, rows.p[:, 0], rows.X), strict=True))


def test_whole_numbers_and_booleans_count_as_numbers() -> None:
    rng = np.random.default_rng(5)
    y, p, x = rng.integers(0, 9, 200), rng.integers(0, 2, 200), rng.integers(-4, 5, size=(200, 2))
    floats = sl.soft(y.astype(float), p.astype(float), x.astype(float), folds=None)
    assert sl.soft(y, p.astype(bool), x.astype(np.int8), folds=None) == floats
    assert sl.soft(y, p, x[:, 0], folds=None) == sl.soft(y, p, x[:, :1], folds=None)


def test_a_single_precision_score_is_compared_in_double_precision() -> None:
    # float32(0.9) is 0.89999998, not above 0.9; a comparison in single precision would call them equal too,
    # but float32(0.7) = 0.69999999 and float32(0.6) = 0.60000002 part ways.
    p = np.tile(np.array([0.6, 0.7, 0.2, 0.95], dtype=np.float32), 20)
    report = sl.attenuation(p, thresholds=[0.6, 0.7], folds=None)
    assert report.kappa["n_above"] == [60, 20]
