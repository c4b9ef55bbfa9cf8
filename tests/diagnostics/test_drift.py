"""Drift: bounds that a worst case attains and nothing exceeds, and the drift that labels support."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel import Diagnosis
from softlabel.diagnostics.drift import supported_drift
from softlabel.results import DriftBound, DriftCurve
from softlabel.results.drift import KNOTS
from softlabel.simulate import PaperDesign
from tests.diagnosed import drawn
from tests.oracle import Floats, Rows, draw, residual

THRESHOLDS, CONFIDENT = (0.3, 0.5, 0.9), (0.55, 0.8)


def diagnosed(rows: Rows, **options: Any) -> Diagnosis:
    data = {"y": rows.y, "p": rows.p[:, 0], **{f"x{j}": x for j, x in enumerate(rows.X.T)}}
    if rows.weight is not None:
        data["w"] = rows.weight
        options["weights"] = "w"
    roles: dict[str, Any] = {"outcome": "y", "score": "p", "controls": [f"x{j}" for j in range(rows.X.shape[1])]}
    fixed: dict[str, Any] = {"basis": "linear", "folds": None, "thresholds": THRESHOLDS, "confident": CONFIDENT}
    return sl.diagnose(data, **roles, **(fixed | options))


def leftover(rows: Rows, name: str, threshold: float | None) -> Floats:
    """The residual that an estimate multiplies the outcome with, (n,)."""
    p = rows.p[:, 0]
    if threshold is None:
        return residual(rows.p, rows)[:, 0]
    inside = np.maximum(p, 1 - p) > threshold if name == "confident" else np.ones(len(p), bool)
    v = np.zeros(len(p))
    v[inside] = residual((p[inside] > threshold).astype(float)[:, None], rows.only(inside))[:, 0]
    return v


def mean(values: Floats, rows: Rows) -> float:
    return float(np.average(values, weights=rows.weight))


def worst(v: Floats, p: Floats, delta: float, sign: int) -> Floats:
    """The drift that carries Σ v(G − p) farthest up or down."""
    up = np.minimum(delta, 1 - p)
    down = np.minimum(delta, p)
    return np.where(sign * v > 0, up, -down)


def by_estimate(d: Diagnosis, delta: float) -> list[tuple[DriftCurve, DriftBound]]:
    return list(zip(d.drift_curves.curves, d.drift(delta), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_every_curve_is_what_brute_force_finds(weighted: bool) -> None:
    rows = draw(1500, 2, 7, edges=(0.5, 0.8))
    if weighted:
        rows = rows._replace(weight=np.random.default_rng(3).gamma(2.0, size=1500))
    d, p = diagnosed(rows), rows.p[:, 0]
    residuals = [leftover(rows, c.name, c.threshold) for c in d.drift_curves.curves]
    for delta in (*KNOTS, *np.linspace(0, 1, 61), 0.003, 0.0149):
        for v, (curve, row) in zip(residuals, by_estimate(d, float(delta)), strict=True):
            square = mean(v**2, rows)
            up = mean(v * worst(v, p, delta, 1), rows) / square
            down = -mean(v * worst(v, p, delta, -1), rows) / square
            for found, exact in ((row.up, up), (row.down, down)):
                assert found is not None
                at_knot = delta in KNOTS or delta == 0
                # Never too small; between knots at most by what chords of 0.01 or 0.05 leave.
                assert found >= exact * (1 - 1e-9)
                assert found <= exact * (1 + 1e-9) if at_knot else found <= exact * 1.02 + 0.01
            assert row.unclipped_bound == pytest.approx(delta * mean(np.abs(v), rows) / square, rel=1e-9)
            assert row.up is not None and row.unclipped_bound is not None and row.down is not None  # noqa: PT018
            assert max(row.up, row.down) <= row.unclipped_bound * (1 + 1e-9) + 1e-15
            paper = delta * mean(np.abs(2 * p - 1), rows) / (2 * square) if curve.name == "soft" else None
            assert row.paper_bound == (None if paper is None else pytest.approx(paper, rel=1e-9))


@pytest.mark.parametrize("delta", [0.02, 0.05, 0.2, 0.6])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_estimates_themselves_go_where_the_bounds_say(delta: float, sign: int) -> None:
    # Y = μ(X) + τE[G|p,X] without noise: what the estimate adds to κτ is the bias.
    rows = draw(2000, 2, 11)
    p, tau, mu = rows.p[:, 0], -1.5, rows.X.sum(axis=1)
    d = diagnosed(rows._replace(y=mu + tau * p))
    for curve, row in by_estimate(d, delta):
        v = leftover(rows, curve.name, curve.threshold)
        eta = worst(v, p, delta, sign)
        moved = diagnosed(rows._replace(y=mu + tau * (p + eta))).estimate(curve.name, threshold=curve.threshold)
        limit = row.up if sign > 0 else row.down
        assert moved.estimate is not None and curve.kappa is not None and limit is not None  # noqa: PT018
        # Exact at a knot but for the rounding of solved equations.
        assert moved.estimate / tau - curve.kappa == pytest.approx(sign * limit, rel=1e-6)


def test_a_worst_drift_of_drawn_groups_attains_the_bound() -> None:
    rng, n, delta = np.random.default_rng(5), 1_000_000, 0.1
    x, p, a = _paper(rng, n)
    d = _curves(x, p, rng)
    for sign in (-1, 1):
        g = rng.random(n) < p + worst(a, p, delta, sign)
        beta = float(a @ (g - p) / (a @ a))
        row = d.drift(delta).rows[0]
        limit = row.up if sign > 0 else row.down
        # Drawing the groups alone has a standard error of 0.003 on a bound of 0.57.
        assert limit is not None
        assert abs(beta) == pytest.approx(limit, rel=0.02)


SHAPES: list[Callable[[np.random.Generator, Floats, Floats, Floats], Floats]] = [
    lambda rng, _p, _x, v: np.sign(v) * (rng.random(len(v)) < rng.uniform(0.5, 1)),
    lambda rng, p, _x, _v: np.sin(rng.uniform(1, 20) * p + rng.uniform(0, 6)),
    lambda rng, _p, x, _v: np.tanh(x @ rng.normal(size=x.shape[1])),
    lambda rng, p, _x, v: np.sign(v) * rng.choice([-1, 1]) * (np.abs(p - 0.5) > rng.uniform(0, 0.5)),
    lambda rng, p, _x, _v: rng.uniform(-1, 1, len(p)) + rng.uniform(-1, 1),
]


def test_no_drift_exceeds_the_bounds() -> None:
    rng = np.random.default_rng(17)
    rows = draw(1200, 2, 19)
    d, p = diagnosed(rows), rows.p[:, 0]
    residuals = [leftover(rows, c.name, c.threshold) for c in d.drift_curves.curves]
    tight = 0.0
    for k in range(200):
        delta = float(rng.uniform(0, 1) ** 2)
        for v, (_, row) in zip(residuals, by_estimate(d, delta), strict=True):
            eta = np.clip(delta * np.clip(SHAPES[k % 5](rng, p, rows.X, v), -1, 1), -p, 1 - p)
            beta = float(v @ eta / (v @ v))
            assert row.up is not None and row.down is not None  # noqa: PT018
            assert -row.down - 1e-12 <= beta <= row.up + 1e-12
            tight = max(tight, beta / row.up if beta > 0 else -beta / row.down)
    assert tight > 0.95


def test_a_full_drift_could_always_take_the_effect_away() -> None:
    rows = draw(1000, 2, 23)
    d = diagnosed(rows)
    for curve, row in by_estimate(d, 1.0):
        v = leftover(rows, curve.name, curve.threshold)
        assert curve.kappa is not None
        assert row.down == pytest.approx(curve.kappa + np.maximum(-v, 0).sum() / (v @ v), rel=1e-9)
    for broken, curve in zip(d.breakdown, d.drift_curves.curves, strict=True):
        assert broken.breakdown is not None and broken.conservative is not None and curve.kappa is not None  # noqa: PT018
        assert broken.conservative <= broken.breakdown < 1
        at = d.drift(broken.breakdown).rows[list(d.breakdown).index(broken)]
        assert at.down == pytest.approx(curve.kappa, rel=1e-9)
        before = d.drift(broken.breakdown * 0.999).rows[list(d.breakdown).index(broken)]
        assert before.low is not None


# --------------------------------------------------------------------------------------- the paper's design


def _paper(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats]:
    design = PaperDesign(0.3)
    x = rng.normal(size=(n, 3))
    r = 1 / (1 + np.exp(-x @ np.array(design.beta_r)))
    k0 = design.concentration
    p = rng.beta(r * k0, (1 - r) * k0)
    return x, p, p - r


def _curves(x: Floats, p: Floats, rng: np.random.Generator) -> Diagnosis:
    data = {"y": rng.normal(size=len(p)), "p": p, **{f"x{j}": x[:, j] for j in range(3)}}
    return sl.diagnose(data, outcome="y", score="p", controls=["x0", "x1", "x2"], thresholds=(), confident=())


def test_the_factors_of_the_papers_design_and_its_table_4() -> None:
    rng, n = np.random.default_rng(29), 400_000
    x, p, a = _paper(rng, n)
    curve, truth = _curves(x, p, rng).drift_curves.curves[0], PaperDesign(0.3).truth()
    assert (round(truth.drift_orthogonal, 3), round(truth.drift_paper, 3)) == (5.747, 9.374)
    for found, expected, size in (
        (curve.unclipped, truth.drift_orthogonal, np.abs(a)),
        (curve.paper, truth.drift_paper, np.abs(2 * p - 1) / 2),
    ):
        error = (size - expected * a**2).std() / np.sqrt(n) / truth.v_star
        # Splines leave 0.1% of the scale of r unexplained in V*.
        assert found == pytest.approx(expected, abs=4 * error + 0.002 * expected)
    # The theorem's drift, upwards, with m held: clipped at one it is off by 0.460, the bound being 0.469.
    eta = worst(2 * p - 1, p, 0.05, 1)
    each = (2 * p - 1) * eta / (2 * truth.v_star)
    assert each.mean() == pytest.approx(0.460, abs=4 * each.std() / np.sqrt(n) + 5e-4)
    assert 0.05 * truth.drift_paper == pytest.approx(0.469, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "threshold", "sign"), [("soft", None, -1), ("soft", None, 1), ("hard", 0.5, -1), ("confident", 0.75, -1)]
)
def test_the_interval_covers_under_the_worst_drift(name: str, threshold: float | None, sign: int) -> None:
    design, delta, reps, n = PaperDesign(0.3), 0.05, 400, 2000
    rng = np.random.default_rng(31)
    covered = plain = 0
    for _ in range(reps):
        x, p, a = _paper(rng, n)
        v = a if threshold is None else leftover(Rows(p, p[:, None], x), name, threshold)
        y = x @ np.array(design.beta_m) + (rng.random(n) < p + worst(v, p, delta, sign)) + rng.normal(size=n)
        d = diagnosed(Rows(y, p[:, None], x), thresholds=(0.5,), confident=(0.75,))
        row = next(row for row in d.drift(delta) if (row.name, row.threshold) == (name, threshold))
        assert row.ci_low is not None and row.ci_high is not None  # noqa: PT018
        covered += row.ci_low <= 1.0 <= row.ci_high
        interval = d.estimate(name, threshold=threshold).interval
        assert interval is not None
        plain += interval[0] <= 1.0 <= interval[1]
    # One end alone is at risk, so 97.5% is nominal; four binomial standard errors of 95% below 95%.
    assert covered / reps >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / reps)
    assert covered / reps >= 0.95
    assert plain / reps < 0.9


# ------------------------------------------------------------------------------- weights, copies, clusters


def _drawn(**options: Any) -> Diagnosis:
    roles: dict[str, Any] = {"outcome": "y", "score": "p", "group": "g", "controls": ["age", "frailty"]}
    return sl.diagnose(options.pop("table", drawn()), **roles, **({"folds": None, "basis": "linear"} | options))


def test_copies_are_repeated_rows() -> None:
    table = drawn()
    times = np.asarray(table["times"])
    repeated = {name: np.repeat(np.asarray(column), times) for name, column in table.items() if name != "g"}
    group = np.asarray(table["g"].to_numpy(zero_copy_only=False), float)
    repeated["g"] = np.repeat(group, times)
    one = _drawn(table=table, weights="times", weight_type="frequency")
    other = _drawn(table=repeated)
    for a, b in zip(one.drift_contour(), other.drift_contour(), strict=True):
        for field in ("up", "down", "paper_bound", "low", "high", "ci_low", "ci_high"):
            found, expected = getattr(a, field), getattr(b, field)
            assert found == (None if expected is None else pytest.approx(expected, rel=1e-7))
    assert one.forecast["mse"] == pytest.approx(other.forecast["mse"], rel=1e-6)
    assert one.drift_curves.supported.delta_upper == pytest.approx(other.drift_curves.supported.delta_upper, rel=1e-7)
    assert one.drift_curves.supported.delta_hat == pytest.approx(other.drift_curves.supported.delta_hat, rel=1e-7)
    assert one.drift_curves.supported.n == other.drift_curves.supported.n


def test_clusters_change_the_interval_and_not_the_bounds() -> None:
    plain, clustered = _drawn(), _drawn(cluster="clinic")
    for a, b in zip(plain.drift(0.05), clustered.drift(0.05), strict=True):
        assert (a.up, a.down, a.low) == pytest.approx((b.up, b.down, b.low), rel=1e-9)
    assert plain.drift(0.05)["ci_low"] != clustered.drift(0.05)["ci_low"]
    assert clustered.drift_curves.supported.delta_upper != plain.drift_curves.supported.delta_upper


def test_weights_of_one_change_nothing_and_others_do() -> None:
    table = drawn() | {"one": np.ones(1050)}
    plain, one, weighted = (_drawn(table=table, **o) for o in ({}, {"weights": "one"}, {"weights": "w"}))
    assert one.drift_curves.curves[0].up == pytest.approx(plain.drift_curves.curves[0].up, rel=1e-9)
    assert one.drift_curves.supported.delta_hat == pytest.approx(plain.drift_curves.supported.delta_hat, rel=1e-9)
    assert weighted.drift_curves.curves[0].up != plain.drift_curves.curves[0].up
    assert weighted.drift_curves.supported.delta_hat != plain.drift_curves.supported.delta_hat


# ----------------------------------------------------------------------------------------------- degenerate


def test_without_labels_bounds_are_there_and_the_supported_drift_says_why_not() -> None:
    d = diagnosed(draw(500, 1, 3))
    assert d.drift_curves.supported.delta_hat is None
    assert d.drift_curves.supported.reason == "there are no labelled rows"
    assert d.drift(0.01).rows[0].low is not None


def test_where_every_row_or_none_is_confident() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 1))
    for p, none in (
        (np.where(rng.random(600) < 0.5, 0.99, 0.01) + 0.001 * rng.random(600), False),
        (rng.uniform(0.3, 0.7, 600), True),
    ):
        d = diagnosed(Rows(x[:, 0] + p, p[:, None], x))
        row = next(row for row in d.drift(0.05) if (row.name, row.threshold) == ("confident", 0.8))
        hard = next(row for row in d.drift(0.05) if (row.name, row.threshold) == ("hard", 0.5))
        forecast = next(row for row in d.forecast if (row.name, row.threshold) == ("confident", 0.8))
        if none:
            assert (row.up, row.low, forecast.mse) == (None, None, None)
            assert row.reason == forecast.reason == d.estimate("confident", threshold=0.8).reason
        else:
            assert (row.up, row.down) == pytest.approx((hard.up, hard.down), rel=1e-9)


def test_a_score_that_the_controls_explain_has_no_curve() -> None:
    x = np.random.default_rng(2).uniform(0.1, 0.9, size=(400, 1))
    d = diagnosed(Rows(np.square(x[:, 0]), 0.05 + 0.9 * x, x))
    row, broken = d.drift(0.05).rows[0], d.breakdown.rows[0]
    assert (row.up, row.low, broken.breakdown) == (None, None, None)
    assert row.reason == broken.reason == d.estimate("soft").reason
    assert d.forecast.rows[0].reason == row.reason


def test_of_a_useless_score_a_small_drift_takes_all_away() -> None:
    rng = np.random.default_rng(2)
    p, x = 0.5 + 0.01 * rng.normal(size=800), rng.normal(size=(800, 1))
    d = diagnosed(Rows(x[:, 0] + rng.normal(size=800), p[:, None], x))
    row = d.drift(0.05).rows[0]
    assert row.down is not None
    assert row.down >= 1
    assert (row.low, row.high, row.ci_low, row.ci_high) == (None,) * 4
    assert row.reason == "a drift of 0.05 could take all of the effect away"
    assert d.breakdown.rows[0].breakdown == pytest.approx(0.01 * np.sqrt(np.pi / 2), rel=0.1)


# ------------------------------------------------------------------------------------ what the labels support


def test_the_supported_drift_by_brute_force() -> None:
    rng = np.random.default_rng(4)
    n, w = 300, rng.gamma(2.0, size=300)
    p, x = rng.uniform(0.1, 0.9, n), rng.normal(size=(2, n))
    g = (rng.random(n) < np.clip(p + 0.1, 0, 1)).astype(float)
    z = np.vstack([np.ones(n), p, x])
    gram = (z * w) @ z.T
    gamma = np.linalg.solve(gram, (z * w) @ (g - p))
    bread = np.linalg.inv(gram)
    leverage = w * np.einsum("in,ij,jn->n", z, bread, z)
    meat = (z * w**2 * (g - p - gamma @ z) ** 2 / (1 - leverage)) @ z.T
    square = (gamma @ gram @ gamma - np.trace(gram @ bread @ meat @ bread)) / w.sum()
    found = supported_drift(p, g, x, weight=w)
    assert found.delta_hat == pytest.approx(np.sqrt(square), rel=1e-10)
    assert (found.n, found.df) == (n, 4)
    # The basis of the columns does not matter, nor the scale of the weights, nor a column said twice.
    again = supported_drift(p, g, np.vstack([1e6 + 3 * x[0] - x[1], x, x[:1]]), weight=5 * w)
    assert (again.delta_hat, again.delta_upper) == pytest.approx((found.delta_hat, found.delta_upper), rel=1e-6)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("drift", [0.0, 0.05, 0.15])
def test_the_upper_limit_covers(drift: float, clustered: bool) -> None:
    rng = np.random.default_rng(6)
    reps, n, covered, squares = 300, 400, 0, 0.0
    cluster = np.arange(n) // 4 if clustered else None
    for _ in range(reps):
        p, x = rng.uniform(0.2, 0.8, n), rng.normal(size=(2, n))
        eta = drift * np.clip(x[0], -1, 1)
        draws = (
            rng.random(n) if cluster is None else np.where(rng.random(n // 4) < 0.3, rng.random(n // 4), -1)[cluster]
        )
        draws = np.where(draws < 0, rng.random(n), draws)
        found = supported_drift(p, draws < p + eta, x, cluster=cluster)
        assert found.delta_upper is not None and found.delta_hat is not None  # noqa: PT018
        slope = (x[0] @ eta) / (x[0] @ x[0])
        covered += found.delta_upper >= np.sqrt(np.mean((slope * x[0]) ** 2))
        squares += found.delta_hat
    # 95% less three of its binomial standard errors.
    assert covered / reps >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / reps)
    if drift == 0.15:
        assert squares / reps == pytest.approx(0.15 * 0.7, rel=0.25)
    if drift == 0:
        assert squares / reps < 0.03


@pytest.mark.parametrize(
    ("n", "score", "reason"),
    [(8, 0.5, "8 audit rows are too few for 4 coefficients"), (60, 1.0, "too near zero and one")],
)
def test_a_supported_drift_that_cannot_be_told(n: int, score: float, reason: str) -> None:
    rng = np.random.default_rng(8)
    p = rng.uniform(0.2, 0.8, n) if score < 1 else np.where(rng.random(n) < 0.5, 1.0, 0.0)
    found = supported_drift(p, rng.random(n) < 0.5, rng.normal(size=(2, n)))
    assert found.delta_hat is found.delta_upper is None
    assert found.reason is not None
    assert reason in found.reason


def test_few_clusters_are_said() -> None:
    rng = np.random.default_rng(8)
    p = rng.uniform(0.2, 0.8, 60)
    found = supported_drift(p, rng.random(60) < p, rng.normal(size=(2, 60)), cluster=np.arange(60) // 10)
    assert found.reason == "6 clusters of audit rows are too few for 4 coefficients"
