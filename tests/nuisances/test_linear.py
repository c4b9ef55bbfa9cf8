"""The maps of the linear nuisances: residuals of every regression, on the rows they are for."""

import numpy as np
import pytest
from numpy.typing import NDArray

from softlabel.moments import Partition
from tests import oracle
from tests.oracle import Floats, Rows
from tests.passes import run

THRESHOLDS, CONFIDENT = (0.35, 0.5, 0.8), (0.6, 0.9)
PARTITION = Partition.of(THRESHOLDS, CONFIDENT)


def made(n: int = 389, k: int = 3, folds: int | None = 4, *, weighted: bool = False) -> Rows:
    rng = np.random.default_rng(41)
    return oracle.draw(n, k, 41, edges=(*THRESHOLDS, *CONFIDENT))._replace(
        fold=None if folds is None else rng.integers(0, folds, size=n),
        weight=rng.gamma(2.0, size=n) if weighted else None,
    )


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("folds", [None, 2, 4])
@pytest.mark.parametrize("k", [0, 3])
def test_maps_take_rows_to_residuals(k: int, folds: int | None, weighted: bool) -> None:
    rows = made(k=k, folds=folds, weighted=weighted)
    fit = run(rows, PARTITION).nuisances
    assert fit.in_sample == (folds is None)
    # Rows of a map: a, R, a label per threshold, then a, R and a label per confident set.
    assert fit.maps.shape == (folds or 1, 2 + 3 + 2 * 3, k + 3)
    z = np.column_stack([np.ones(len(rows.y)), rows.X, rows.p, rows.y]) - fit.shift
    p = rows.p[:, 0]

    def check(row: int, members: NDArray[np.bool_], values: Floats, label: bool) -> None:
        chosen = rows.only(members)
        expected = oracle.residual(values[members, None], chosen)[:, 0]
        which = np.zeros(members.sum(), dtype=int) if chosen.fold is None else chosen.fold
        found = (fit.maps[which, row] * z[members]).sum(axis=1) + (values[members] if label else 0.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(values).max())

    everyone = np.ones(len(p), dtype=bool)
    check(0, everyone, p, label=False)
    check(1, everyone, rows.y, label=False)
    for i, t in enumerate(THRESHOLDS):
        check(2 + i, everyone, (p > t).astype(float), label=True)
    for i, t in enumerate(CONFIDENT):
        members = np.maximum(p, 1 - p) > t
        for j, (values, label) in enumerate([(p, False), (rows.y, False), ((p > t).astype(float), True)]):
            check(5 + 3 * i + j, members, values, label=label)


def test_kept_names_the_independent_columns() -> None:
    rows = made()
    x = rows.X
    wide = np.column_stack([np.full(len(x), 0.1), x[:, 0], x[:, 0] * -1e6 + 3, x[:, 1], x[:, 0] - x[:, 1], x[:, 2]])
    for weighted in (True, False):
        fit = run(made(weighted=weighted)._replace(X=wide), PARTITION).nuisances
        assert fit.kept.tolist() == [True, False, True, False, True, False, True]
        assert run(made(weighted=weighted), PARTITION).nuisances.kept.all()


@pytest.mark.parametrize("value", [0.0, 0.1, -3.7, 1e8 / 3, 1e-9])
@pytest.mark.parametrize("n", [50, 131, 20_001])
def test_a_constant_is_seen_to_be_one(n: int, value: float) -> None:
    # About the mean of its own rows a constant is rounding alone, in one batch or in several.
    rows = oracle.draw(n, 1, 43)._replace(fold=np.arange(n) % 3)
    wide = rows._replace(X=np.column_stack([np.full(n, value), rows.X, np.full(n, -value)]))
    plain = run(rows, PARTITION).points.soft
    for pieces in (None, np.split(np.arange(n), [7, 20, 21])):
        found = run(wide, PARTITION, pieces)
        assert found.nuisances.kept.tolist() == [True, False, True, False]
        assert found.points.soft == pytest.approx(plain, rel=1e-10)


def test_what_a_fold_holds_does_not_enter_its_own_map() -> None:
    rows = made(weighted=True)
    assert rows.fold is not None
    changed = rows._replace(
        y=np.where(rows.fold == 2, -7 * rows.y, rows.y), p=np.where(rows.fold[:, None] == 2, 0.5, rows.p)
    )
    before, after = (run(r, PARTITION) for r in (rows, changed))
    maps = []
    for analysis in (before, after):
        back = np.eye(analysis.design.width)
        back[:, 0] -= analysis.nuisances.shift
        maps.append(analysis.nuisances.maps @ back)
    np.testing.assert_allclose(maps[0][2], maps[1][2], rtol=1e-9, atol=1e-10)
    assert np.abs(maps[0][1] - maps[1][1]).max() > 1e-3


def test_a_control_that_is_missing_from_the_training_rows_gets_no_coefficient() -> None:
    # A dummy that is one in fold 0 alone: the other folds cannot say what it does, so it does nothing. (Zero
    # about the pilot shift is 0 − 1/4: exact, so that its variance is exactly zero.)
    rows = made(n=400, k=1)._replace(fold=np.arange(400) % 4)
    assert rows.fold is not None
    dummy = (rows.fold == 0).astype(float)
    fit = run(rows._replace(X=np.column_stack([rows.X, dummy])), PARTITION).nuisances
    assert fit.kept.all()
    assert not fit.maps[0, :5, 2].any()
    assert fit.maps[1, :5, 2].all()
