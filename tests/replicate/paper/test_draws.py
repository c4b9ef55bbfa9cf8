"""Draws, least squares and the grid against slower computations."""

import numpy as np
import pytest
from scipy.special import expit

from softlabel.replicate.paper.draws import DESIGN, FOLDS, draw, out_of_fold, residuals, slope_on_group
from softlabel.replicate.paper.grid import grid_of
from softlabel.replicate.paper.table4 import SHAPES, bounds
from softlabel.simulate import PaperDesign


def test_draws_are_those_of_the_design() -> None:
    rows = draw(PaperDesign(sigma_u=0.4, tau=2.0), 50, np.random.default_rng(3))
    table = PaperDesign(sigma_u=0.4, tau=2.0).sample(0, 50, seed=np.random.default_rng(3))
    for name, values in (("x2", rows.x[1]), ("p", rows.p), ("y", rows.y), ("g", rows.group)):
        assert (table[name].to_numpy() == values).all()
    assert rows.r == pytest.approx(expit(rows.x.T @ DESIGN.beta_r))
    assert rows.m == pytest.approx(rows.x.T @ DESIGN.beta_m + 2.0 * rows.r)
    assert rows.outcome_given(rows.p) == pytest.approx(rows.y)
    # Were everybody in the group, every outcome would hold the effect.
    assert rows.outcome_given(np.ones(50)) == pytest.approx(rows.y + 2.0 * (1 - rows.group))


def test_residuals_are_those_of_a_dense_solver() -> None:
    rng = np.random.default_rng(5)
    x, targets = rng.normal(3.0, 2.0, (3, 40)), rng.normal(size=(2, 40))
    design = np.column_stack([np.ones(40), x.T])
    dense = targets - (design @ np.linalg.lstsq(design, targets.T, rcond=None)[0]).T
    assert residuals(x, targets) == pytest.approx(dense, abs=1e-12)
    assert residuals(x, targets[0]) == pytest.approx(dense[0], abs=1e-12)


def test_out_of_fold_is_a_loop_over_folds() -> None:
    rng = np.random.default_rng(6)
    x, targets = rng.normal(size=(2, 35)), rng.normal(size=(3, 35))
    design, fold = np.column_stack([np.ones(35), x.T]), np.repeat(np.arange(FOLDS), 7)
    expected = np.empty_like(targets)
    for each in range(FOLDS):
        inside = fold == each
        beta = np.linalg.lstsq(design[~inside], targets[:, ~inside].T, rcond=None)[0]
        expected[:, inside] = targets[:, inside] - (design[inside] @ beta).T
    assert out_of_fold(x, targets) == pytest.approx(expected, abs=1e-12)


def test_supervised_is_the_slope_of_a_dense_regression() -> None:
    rows = draw(DESIGN, 80, np.random.default_rng(7))
    design = np.column_stack([np.ones(80), rows.x.T, rows.group])
    assert slope_on_group(rows) == pytest.approx(np.linalg.lstsq(design, rows.y, rcond=None)[0][-1])


@pytest.mark.parametrize("sigma_u", [0.1, 0.3, 0.5])
def test_the_grid_has_the_moments_of_the_closed_forms(sigma_u: float) -> None:
    design = PaperDesign(sigma_u=sigma_u)
    grid, truth = grid_of(design), design.truth(thresholds=(), confident=())
    a = grid.p - grid.r
    # What is left is a cell's own variance, 1/12 of (1/2000)², relative to V* at most 1e-5; and the cell that holds r.
    assert grid.mean(a**2) == pytest.approx(truth.v_star, rel=1.5e-5)
    assert grid.mean(np.abs(a)) == pytest.approx(truth.mean_abs_a, rel=1.5e-5)
    assert grid.mean(np.abs(2 * grid.p - 1)) == pytest.approx(truth.mean_abs_margin, rel=1e-12)
    assert grid.mean((grid.p - grid.r_linear) ** 2) == pytest.approx(truth.v_star_linear, rel=1.5e-5)
    assert grid.given_s(grid.p) == pytest.approx(grid.r, abs=1e-9)


def test_drifts_on_the_grid_are_those_of_a_million_rows() -> None:
    rows, grid, delta = draw(DESIGN, 1_000_000, np.random.default_rng(8)), grid_of(DESIGN), 0.15
    a, exact = rows.p - rows.r, grid.p - grid.r
    for shape in SHAPES.values():
        q = np.clip(rows.p + delta * shape(rows.p), 0.0, 1.0)
        drifted = np.clip(grid.p + delta * shape(grid.p), 0.0, 1.0)
        for sample, value in (
            ((2 * q - 1) * a, (2 * drifted - 1) * exact),
            ((q - rows.r) ** 2, (drifted - grid.r) ** 2),
            ((2 * rows.p - 1) * (q - rows.p), (2 * grid.p - 1) * (drifted - grid.p)),
        ):
            # Nine means, each within 4 of its errors.
            assert abs(sample.mean() - grid.mean(value)) < 4 * sample.std() / 1000
    up, down = bounds(grid, delta)
    for bound, sign in ((up, 1.0), (-down, -1.0)):
        eta = np.clip(rows.p + sign * delta * np.sign(a), 0.0, 1.0) - rows.p
        v_star = np.square(a).mean()
        influence = a * eta - bound * a**2
        assert abs((a * eta).mean() / v_star - bound) < 4 * influence.std() / v_star / 1000


def test_the_symmetric_shape_does_no_harm() -> None:
    grid = grid_of(DESIGN)
    assert grid.mean((2 * grid.p - 1) * np.sin(np.pi * grid.p)) == pytest.approx(0.0, abs=1e-12)
