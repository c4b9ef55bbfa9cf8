"""The paper's design: what is drawn has the law that the exact values are computed from."""

import math

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.simulate import PaperDesign, Truth

Array = NDArray[np.float64]

DESIGN = PaperDesign(sigma_u=0.35, tau=-1.5, beta_r=(0.9, -0.7), beta_m=(1.0, 2.0), noise=0.8)
ROWS = 2_000_000


def column(table: pa.Table, name: str) -> Array:
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


@pytest.fixture(scope="module")
def drawn() -> dict[str, Array]:
    table = DESIGN.sample(0, ROWS, seed=20_24)
    return {name: column(table, name) for name in table.column_names}


@pytest.fixture(scope="module")
def truth() -> Truth:
    return DESIGN.truth((0.5, 0.8), (0.75,))


def slope(y: Array, a: Array) -> tuple[float, float]:
    """Slope of y on a without intercept, and the standard deviation of its influence function."""
    estimate = float(y @ a / (a @ a))
    return estimate, float(np.std(a * (y - estimate * a)) / np.mean(a * a))


def residual(y: Array, x: Array) -> Array:
    return np.asarray(y - x @ np.linalg.solve(x.T @ x, x.T @ y))


def agrees(found: tuple[float, float], estimand: float, avar: float, rows: int) -> None:
    """Within 4 Monte Carlo errors of the estimand, and a spread within 2% of the asymptotic variance.

    The spread is an average of squares over ``rows`` rows or the confident part of them: 2% is more
    than 4 of its own errors for every quantity below.
    """
    estimate, spread = found
    assert abs(estimate - estimand) < 4 * math.sqrt(avar / rows)
    assert spread**2 == pytest.approx(avar, rel=0.02)


def test_a_large_sample_meets_the_exact_values(drawn: dict[str, Array], truth: Truth) -> None:
    """The estimators by brute force, linear controls, against their limits and asymptotic variances."""
    x = np.column_stack([np.ones(ROWS), drawn["x1"], drawn["x2"]])
    y, a, g = (residual(drawn[name], x) for name in ("y", "p", "g"))
    p, tau = drawn["p"], DESIGN.tau
    agrees((float(np.mean(a * a)), float(np.std(a * a))), truth.v_star_linear, truth.avar_v_star_linear, ROWS)
    agrees(slope(y, a), tau, truth.avar_orthogonal_linear, ROWS)
    agrees(slope(y, g), tau, truth.avar_supervised, ROWS)
    for t in (0.5, 0.8):
        b, record = residual((p > t).astype(float), x), truth.hard_at(t)
        assert record.linear is not None
        agrees(slope(y, b), record.linear.kappa * tau, record.linear.avar_hard, ROWS)
        agrees(slope(a, b), record.linear.kappa, record.linear.avar_kappa, ROWS)
        instrument = float(y @ b / (a @ b))
        spread = float(np.std(b * (y - instrument * a)) / np.mean(a * b))
        assert record.linear.avar_deattenuated is not None
        agrees((instrument, spread), tau, record.linear.avar_deattenuated, ROWS)
        # 4 binomial errors.
        assert abs(np.mean(p > t) - record.share) < 4 * math.sqrt(record.share / ROWS)


def test_a_large_confident_set_meets_the_exact_values(drawn: dict[str, Array], truth: Truth) -> None:
    p, record = drawn["p"], truth.confident_at(0.75)
    inside = np.maximum(p, 1 - p) > 0.75
    x = np.column_stack([np.ones(ROWS), drawn["x1"], drawn["x2"]])[inside]
    b = residual((p[inside] > 0.5).astype(float), x)
    y, a = residual(drawn["y"][inside], x), residual(p[inside], x)
    assert record.linear is not None
    # The variances are per unlabelled row, confident or not.
    per_row = 1 / math.sqrt(inside.mean())
    for found, estimand, avar in (
        (slope(y, b), record.linear.kappa * DESIGN.tau, record.linear.avar_hard),
        (slope(a, b), record.linear.kappa, record.linear.avar_kappa),
    ):
        agrees((found[0], found[1] * per_row), estimand, avar, ROWS)
    assert abs(inside.mean() - record.share) < 4 * math.sqrt(record.share / ROWS)


def test_calibration_and_exclusion_hold_in_the_draw(drawn: dict[str, Array]) -> None:
    """G - p is unpredictable from (p, X); what is left of Y given (G, X) is noise of the stated size."""
    p, g = drawn["p"], drawn["g"]
    for z in (np.ones(ROWS), p, drawn["x1"], drawn["x2"], p * drawn["x1"]):
        score = (g - p) * z
        assert abs(score.mean()) < 4 * score.std() / math.sqrt(ROWS)
    noise = drawn["y"] - drawn["x1"] - 2 * drawn["x2"] - DESIGN.tau * g
    assert abs(np.mean(noise * p)) < 4 * np.std(noise * p) / math.sqrt(ROWS)
    assert noise.std() == pytest.approx(0.8, rel=4 / math.sqrt(2 * ROWS))


def test_the_table() -> None:
    table = PaperDesign(beta_r=(1, 2), beta_m=(3, 4)).sample(5, 3, seed=1)
    assert table.column_names == ["x1", "x2", "p", "y", "g"]
    assert set(table.schema.types) == {pa.float64()}
    assert table["g"].to_pylist()[:5] == [None] * 5
    assert set(table["g"].to_pylist()[5:]) <= {0.0, 1.0}
    assert table.num_rows == 8
    assert PaperDesign().sample(0, 0).num_rows == 0


def test_seeds() -> None:
    design = PaperDesign()
    assert design.sample(9, 4, seed=3).equals(design.sample(9, 4, seed=np.random.SeedSequence(3)))
    assert design.sample(9, 4, seed=3).equals(design.sample(9, 4, seed=np.random.default_rng(3)))
    assert not design.sample(9, 4, seed=3).equals(design.sample(9, 4, seed=4))
    rng = np.random.default_rng(3)
    assert not design.sample(9, 4, seed=rng).equals(design.sample(9, 4, seed=rng))
    # The unlabelled rows are the same whatever the number of labels.
    assert design.sample(9, 4, seed=3)[:9].equals(design.sample(9, 0, seed=3))


def test_a_score_that_knows_almost_everything_stays_a_probability() -> None:
    p = column(PaperDesign(sigma_u=0.999, beta_r=(300,), beta_m=(0,)).sample(1000), "p")
    assert np.all((p >= 0) & (p <= 1))
    assert {0.0, 1.0} <= set(p.tolist())


def test_plain_values_are_kept() -> None:
    design = PaperDesign(sigma_u=np.float64(0.2), tau=2, beta_r=np.array([1, 2]), beta_m=[0, 1])  # type: ignore[arg-type]
    assert design == PaperDesign(0.2, 2.0, (1.0, 2.0), (0.0, 1.0))
    assert hash(design) == hash(PaperDesign(0.2, 2.0, (1.0, 2.0), (0.0, 1.0)))
    assert design.dimension == 2
    assert design.concentration == pytest.approx(24)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma_u": 1.0}, "sigma_u strictly between 0 and 1; found 1.0"),
        ({"sigma_u": 0}, "sigma_u strictly between 0 and 1; found 0.0"),
        ({"sigma_u": float("nan")}, "sigma_u to be a finite number"),
        ({"tau": "1"}, "tau to be a finite number; found '1'"),
        ({"noise": -1}, "at least 0; found -1.0"),
        ({"beta_r": (1.0,)}, "found lengths 1 and 3"),
        ({"beta_r": (), "beta_m": ()}, "found lengths 0 and 0"),
        ({"beta_m": (1.0, None, 2.0)}, "every entry of beta_m to be a finite number; found None"),
    ],
)
def test_wrong_designs(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PaperDesign(**arguments)  # type: ignore[arg-type]


def test_wrong_requests() -> None:
    design = PaperDesign()
    with pytest.raises(InputError, match="n_unlabelled to be a whole number"):
        design.sample(-1)
    with pytest.raises(InputError, match="n_labelled to be a whole number"):
        design.sample(1, n_labelled=True)
    with pytest.raises(InputError, match="seed to be a whole number"):
        design.sample(1, seed=-1)
    with pytest.raises(InputError, match=r"thresholds strictly between 0 and 1; found 0\.0, 1\.0"):
        design.truth((0, 0.5, 1))
    with pytest.raises(InputError, match=r"confident from 0\.5 to below 1; found 0\.4"):
        design.truth(confident=(0.4,))
