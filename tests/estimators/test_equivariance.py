"""Units do not matter: shifts and scales of the outcome and of the controls move every number as they must.

Folds are handed in, for by value they depend on the units. Tolerances: a number near 10⁸ is known to 1.5e-8, so
values of size one shifted there carry errors of 1e-8 before anything is computed, which average out over rows.
Changes of scale cost rounding alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel.results import Estimate
from tests import oracle
from tests.oracle import Floats

N = 640


def numbers(y: Floats, p: Floats, X: Floats, fold: oracle.Folds | None) -> list[tuple[float, float]]:
    """Every estimate of the outcome with its standard error."""
    found: list[Estimate] = [
        sl.soft(y, p, X, folds=fold),
        sl.hard(y, p, X, 0.6, folds=fold),
        sl.hard(y, p, X, 0.6, form="deattenuated", folds=fold),
        sl.confident(y, p, X, 0.7, folds=fold),
        sl.supervised(y, p > 0.45, X),
        sl.soft(y, p, X, form="moment", folds=fold),
        sl.hard(y, p, X, 0.6, form="moment", folds=fold),
    ]
    pairs = []
    for row in found:
        assert row.estimate is not None
        assert row.std_error is not None
        pairs.append((row.estimate, row.std_error))
    return pairs


def attenuations(p: Floats, X: Floats, fold: oracle.Folds | None) -> list[float]:
    """V*, κ and κ_FM with their standard errors."""
    report = sl.attenuation(p, X, [0.4, 0.6], confident=[0.7], folds=fold)
    values = [report.v_star.estimate, report.v_star.std_error]
    for table in (report.kappa, report.kappa_confident):
        values += table["kappa"] + table["std_error"]
    assert all(isinstance(v, float) for v in values)
    return values  # type: ignore[return-value]


CHANGES: dict[str, tuple[Callable[[Floats], Floats], float, float]] = {
    # what happens to the outcome, by how much every number is multiplied, relative tolerance
    "shift by 1e8": (lambda y: y + 1e8, 1.0, 1e-8),
    "shift by -3e5": (lambda y: y - 3e5, 1.0, 1e-11),
    "scale by 1e6": (lambda y: y * 1e6, 1e6, 1e-13),
    "scale by 1e-6": (lambda y: y * 1e-6, 1e-6, 1e-13),
    "other sign": (lambda y: -y, -1.0, 1e-13),
}


def made(k: int = 3) -> tuple[Floats, Floats, Floats, oracle.Folds]:
    rows = oracle.draw(N, k, 31)
    return rows.y, rows.p[:, 0], rows.X, np.random.default_rng(1).integers(0, 4, N)


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_units_of_the_outcome(change: str, folded: bool) -> None:
    y, p, X, fold = made()
    move, factor, tolerance = CHANGES[change]
    plain = numbers(y, p, X, fold if folded else None)
    moved = numbers(move(y), p, X, fold if folded else None)
    for (estimate, std_error), (found, found_error) in zip(plain, moved, strict=True):
        assert found == pytest.approx(factor * estimate, rel=tolerance)
        assert found_error == pytest.approx(abs(factor) * std_error, rel=tolerance)


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize(
    ("name", "tolerance"),
    [("shift by 1e8", 1e-7), ("scale by 1e6", 1e-12), ("scale by 1e-6", 1e-12), ("mixed", 1e-11), ("rotated", 1e-11)],
)
def test_units_of_the_controls(name: str, tolerance: float, folded: bool) -> None:
    y, p, X, fold = made()
    moved = {
        "shift by 1e8": X + 1e8,
        "scale by 1e6": X * 1e6,
        "scale by 1e-6": X * 1e-6,
        "mixed": X * [1e6, -1e-6, 1.0] + [1e3, 0.0, -50.0],
        "rotated": X @ np.array([[1.0, 2, 0], [0, 1, -1], [3, 0, 1]]),
    }[name]
    folds = fold if folded else None
    for (estimate, std_error), (found, found_error) in zip(
        numbers(y, p, X, folds), numbers(y, p, moved, folds), strict=True
    ):
        assert found == pytest.approx(estimate, rel=tolerance)
        assert found_error == pytest.approx(std_error, rel=tolerance)
    assert attenuations(p, moved, folds) == pytest.approx(attenuations(p, X, folds), rel=tolerance)


def test_adding_what_the_controls_explain_to_the_outcome_changes_nothing() -> None:
    y, p, X, fold = made()
    for folds in (None, fold):
        # The moment form weighs the outcome's residual with (2p − 1), which is still a residual.
        for (estimate, std_error), (found, found_error) in zip(
            numbers(y, p, X, folds), numbers(y + X @ [4.0, -1.0, 0.5] - 9, p, X, folds), strict=True
        ):
            assert found == pytest.approx(estimate, rel=1e-11)
            assert found_error == pytest.approx(std_error, rel=1e-11)


def test_adding_the_score_to_the_outcome_adds_one_to_soft_and_kappa_to_hard() -> None:
    y, p, X, fold = made()
    before, after = (sl.soft(v, p, X, folds=fold) for v in (y, y + p))
    assert before.estimate is not None
    assert after.estimate == pytest.approx(before.estimate + 1, rel=1e-11)
    hard: list[Any] = [sl.hard(v, p, X, 0.6, folds=fold).estimate for v in (y, y + p)]
    confident: list[Any] = [sl.confident(v, p, X, 0.7, folds=fold).estimate for v in (y, y + p)]
    report = sl.attenuation(p, X, [0.6], confident=[0.7], folds=fold)
    assert hard[1] - hard[0] == pytest.approx(report.kappa["kappa"][0], rel=1e-11)
    assert confident[1] - confident[0] == pytest.approx(report.kappa_confident["kappa"][0], rel=1e-11)


def test_the_other_group_has_the_opposite_effect() -> None:
    # p → 1 − p with t → 1 − t; dyadic scores, so that 1 − p is exact, and none on the threshold.
    y, p, X, fold = made()
    p = (np.floor(p * 1024) + 0.5) / 1024
    for folds in (None, fold):
        for form in ("orthogonal", "deattenuated", "moment"):
            found, other = (sl.hard(y, q, X, t, form=form, folds=folds) for q, t in ((p, 0.625), (1 - p, 0.375)))
            assert other.estimate == pytest.approx(-np.float64(found.estimate), rel=1e-11)
            assert other.std_error == pytest.approx(found.std_error, rel=1e-11)
        for estimator in (sl.soft, sl.confident):
            found, other = (estimator(y, q, X, folds=folds) for q in (p, 1 - p))
            assert other.estimate == pytest.approx(-np.float64(found.estimate), rel=1e-11)
            assert other.std_error == pytest.approx(found.std_error, rel=1e-11)


@pytest.mark.parametrize("by_values", [True, False])
def test_the_order_of_rows_does_not_matter(by_values: bool) -> None:
    y, p, X, fold = made()
    order = np.random.default_rng(2).permutation(N)
    turned = [sl.soft(y, p, X, folds=5 if by_values else fold)]
    turned.append(sl.soft(y[order], p[order], X[order], folds=5 if by_values else fold[order]))
    assert turned[1].estimate == pytest.approx(turned[0].estimate, rel=1e-12)
    assert turned[1].std_error == pytest.approx(turned[0].std_error, rel=1e-12)


@pytest.mark.parametrize("left", [1e-2, 1e-3, 1e-4])
def test_digits_return_as_the_controls_come_to_explain_the_score(left: float) -> None:
    # V*/Var(p) down to 6e-9: one pass alone would leave eps·Var(p)/V* = 4e-8. The reference removes the controls
    # by orthogonalisation in extended precision.
    rng = np.random.default_rng(6)
    n = 1_500
    X = rng.uniform(-1, 1, size=(n, 2))
    p = 0.5 + X @ [0.1, -0.05] + 0.05 * left * rng.uniform(-2, 2, size=n)
    y = X @ [1.0, 2.0] + 2 * p + rng.normal(size=n)
    basis: list[Any] = []
    for column in (np.ones(n), *X.T):
        v = column.astype(np.longdouble)
        for _ in range(2):
            for e in basis:
                v = v - e * (e @ v)
        basis.append(v / np.sqrt(v @ v))
    a, r = p.astype(np.longdouble), y.astype(np.longdouble)
    for _ in range(2):
        for e in basis:
            a, r = a - e * (e @ a), r - e * (e @ r)
    theta = (a @ r) / (a @ a)
    scores = a * (r - theta * a)
    found = sl.soft(y, p, X, folds=None)
    report = sl.attenuation(p, X, [0.5], folds=None)
    # a = p − r̂ loses the digits of ``left``, no more; the rest is headroom for other BLAS libraries.
    assert found.estimate == pytest.approx(float(theta), rel=1e-10)
    assert found.std_error == pytest.approx(float(np.sqrt(scores @ scores) / (a @ a)), rel=1e-9)
    assert report.v_star.estimate == pytest.approx(float((a @ a) / n), rel=1e-11)
