"""What the labelled rows say, and its covariance: from the rows by least squares, with every row written out."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression

import softlabel as sl
from tests.diagnosed import id_folds
from tests.labelled import Floats, diagnosed, study

# Sums of thousands of terms in another order, and a least-squares solve.
SAME = 1e-8


def table(seed: int = 3, *, n: int = 900, labelled: int = 130) -> dict[str, Any]:
    """A study with weights, frequencies, and 25 clusters that hold rows of both kinds and shocks of their own."""
    rng = np.random.default_rng(seed)
    rows = n + labelled
    cluster = rng.integers(0, 25, rows)
    data = study(rng, n=n, labelled=labelled, leak=0.2, tilt=0.3)
    data["y"] = data["y"] + (rng.normal(size=25) * 0.5)[cluster] * (1 + data["x1"])
    return data | {
        "w": rng.gamma(2.0, 1.5, rows),
        "times": rng.integers(1, 4, rows),
        "cl": pa.array([f"c{i}" for i in cluster]),
        "id": pa.array([f"row {i}" for i in range(rows)]),
    }


class Reference(NamedTuple):
    """(supervised, soft_L, soft_U, c_L), their covariance, and residuals a, R and e of the audit rows."""

    g: Floats
    omega: Floats
    a: Floats
    r: Floats
    e: Floats


def solved(design: Floats, y: Floats, weight: Floats, ridge: float = 0.0) -> Floats:
    """Weighted least squares; a ridge is on columns of mean zero and deviation one, but for the intercept."""
    mean = np.average(design[:, 1:], axis=0, weights=weight)
    spread = np.sqrt(np.average((design[:, 1:] - mean) ** 2, axis=0, weights=weight))
    unit = np.column_stack([np.ones(len(design)), (design[:, 1:] - mean) / spread])
    penalty = ridge * weight.sum() * np.diag([0.0, *np.ones(len(mean))])
    found = np.linalg.solve((unit * weight[:, None]).T @ unit + penalty, unit.T @ (weight * y))
    slopes = found[1:] / spread
    return np.array([found[0] - slopes @ mean, *slopes])


def reference(
    data: dict[str, Any],
    *,
    weights: str | None = None,
    cluster: str | None = None,
    ridge: float = 0.0,
    audit: Any = None,
) -> Reference:
    """HC0 of four numbers, nuisances fitted on all unlabelled rows: nothing here knows of sums or of blocks."""
    y, p = np.asarray(data["y"]), np.asarray(data["p"])
    x = np.column_stack([np.ones(len(y)), data["x1"], data["x2"]])
    hidden = np.asarray(data["g"].is_null())
    group = np.nan_to_num(np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float))
    w = np.ones(len(y)) if weights is None else np.asarray(data[weights], dtype=float)
    maps = [solved(x[hidden], v[hidden], w[hidden], ridge) for v in (p, y)]
    a, r = p - x @ maps[0], y - x @ maps[1]
    clean = ~hidden if audit is None else ~hidden & audit
    line = np.column_stack([np.ones(len(y)), x @ maps[0]])
    e = group - line @ solved(line[clean], group[clean], w[clean])
    psi = np.zeros((len(y), 4))
    full = np.column_stack([x, group])
    sup = solved(full[~hidden], y[~hidden], w[~hidden])
    left = y - full @ sup
    hat = np.linalg.inv((full[~hidden] * w[~hidden, None]).T @ full[~hidden])[-1]
    psi[~hidden, 0] = (full[~hidden] @ hat) * left[~hidden]
    g = [sup[-1]]
    for place, rows, target in ((1, clean, r), (2, hidden, r), (3, clean, e)):
        size = float((w * a * a)[rows].sum())
        slope = float((w * a * target)[rows].sum()) / size
        psi[rows, place] = (a * (target - slope * a))[rows] / size
        g.append(slope)
    if weights == "times":  # every copy of a row by itself
        again = np.repeat(np.arange(len(y)), w.astype(int))
        psi, hidden = psi[again], hidden[again]
    else:
        again = np.arange(len(y))
        psi *= w[:, None]
    if cluster is not None:
        names = np.asarray(data[cluster])[again]
        held = len(np.unique(names[hidden]))
        psi[:, 2] *= np.sqrt(held / (held - 1))  # the unlabelled rows' sandwich has this factor
        psi = np.array([psi[names == name].sum(axis=0) for name in np.unique(names)])
    return Reference(np.array(g), psi.T @ psi, a[clean], r[clean], e[clean])


def numbers(d: sl.Diagnosis) -> tuple[Floats, Floats]:
    """The four numbers and their covariance, as a diagnosis has them."""
    assert d.ladder.reason is None
    return np.array(d.ladder.moments), np.array(d.ladder.covariance)


@pytest.mark.parametrize("cluster", [None, "cl"])
@pytest.mark.parametrize("weights", [None, "w", "times"])
def test_four_numbers_and_their_covariance(weights: str | None, cluster: str | None) -> None:
    data = table()
    options: dict[str, Any] = {"weights": weights, "cluster": cluster, "folds": None, "covariance": "HC0"}
    if weights == "times":
        options["weight_type"] = "frequency"
    g, omega = numbers(diagnosed(data, **options))
    expected = reference(data, weights=weights, cluster=cluster)
    np.testing.assert_allclose(g, expected.g, rtol=SAME)
    # Entries that are zero by construction are compared with the size of those beside them.
    np.testing.assert_allclose(omega, expected.omega, rtol=1e-7, atol=1e-10 * np.abs(expected.omega).max())


def test_rows_of_both_kinds_in_one_cluster_are_not_independent() -> None:
    _, apart = numbers(diagnosed(table()))
    _, together = numbers(diagnosed(table(), cluster="cl"))
    # Without clusters soft_U shares nothing with what the labelled rows say.
    assert (apart[2, [0, 1, 3]] == 0).all()
    assert (together[2, [0, 1, 3]] != 0).all()


@pytest.mark.parametrize("option", [{"weights": "w"}, {"weights": "times", "weight_type": "frequency"}])
def test_weights_reach_every_number(option: dict[str, Any]) -> None:
    plain, weighted = diagnosed(table()), diagnosed(table(), **option)
    for one, other in zip(numbers(plain), numbers(weighted), strict=True):
        assert (one[other != 0] != other[other != 0]).all()
    for row, beside in zip(plain.audits, weighted.audits, strict=True):
        assert (row.slope, row.leak, row.bias_error) != (beside.slope, beside.leak, beside.bias_error)
    assert plain.calibration.ece != weighted.calibration.ece
    assert plain.calibration.brier != weighted.calibration.brier


def test_clusters_reach_every_error() -> None:
    one, other = numbers(diagnosed(table()))[1], numbers(diagnosed(table(), cluster="cl"))[1]
    assert (one != other).all()


def test_a_ridge_is_the_unlabelled_rows_own() -> None:
    data = table()
    d = diagnosed(data, basis=sl.Basis("linear", ridge=0.3), covariance="HC0", id="id", folds=5)
    g, omega = numbers(d)
    expected = reference(data, ridge=0.3)
    # soft_U has folds, and is compared elsewhere; what is of labelled rows has none.
    mine = [0, 1, 3]
    np.testing.assert_allclose(g[mine], expected.g[mine], rtol=SAME)
    np.testing.assert_allclose(omega[np.ix_(mine, mine)], expected.omega[np.ix_(mine, mine)], rtol=1e-7)
    # And it does matter.
    assert abs(reference(data).g[1] - g[1]) > 1e-3


def test_hard_labels_are_residualised_on_the_unlabelled_rows() -> None:
    data, thresholds = table(), (0.3, 0.5, 0.7)
    d = diagnosed(data, thresholds=thresholds, folds=None)
    expected = reference(data)
    hidden = np.asarray(data["g"].is_null())
    x = np.column_stack([np.ones(len(hidden)), data["x1"], data["x2"]])
    for t, audit in zip(thresholds, d.audits.rows[1:], strict=True):
        h = (data["p"] > t).astype(float)
        b = (h - x @ solved(x[hidden], h[hidden], np.ones(int(hidden.sum()))))[~hidden]
        c, theta = b @ expected.e / (b @ b), b @ expected.r / (b @ b)
        assert audit.slope == pytest.approx(c, rel=SAME)
        assert audit.leak == pytest.approx(theta - expected.g[0] * c, rel=SAME)


def test_a_learner_predicts_with_the_mean_of_its_folds() -> None:
    data = table()
    d = diagnosed(data, learner=LinearRegression(), id="id", folds=3, covariance="HC0")
    hidden = np.asarray(data["g"].is_null())
    x = np.column_stack([np.ones(len(hidden)), data["x1"], data["x2"]])
    fold = id_folds(data, "id", 3)
    residuals = []
    for v in (np.asarray(data["p"]), np.asarray(data["y"])):
        fits = [solved(x[hidden][fold != k], v[hidden][fold != k], np.ones(int((fold != k).sum()))) for k in range(3)]
        residuals.append((v - x @ np.mean(fits, axis=0))[~hidden])
    a, r = residuals
    assert d.ladder.moments[1] == pytest.approx(a @ r / (a @ a), rel=SAME)
    group = np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float)[~hidden]
    line = np.column_stack([np.ones(len(a)), np.asarray(data["p"])[~hidden] - a])
    e = group - line @ solved(line, group, np.ones(len(a)))
    assert d.ladder.moments[3] == pytest.approx(a @ e / (a @ a), rel=SAME)


@pytest.mark.parametrize("cluster", [None, "cl"])
def test_only_audit_rows_audit_and_all_labelled_rows_supervise(cluster: str | None) -> None:
    data = table()
    audit = np.random.default_rng(8).random(len(data["y"])) < 0.6
    d = diagnosed(data | {"clean": audit}, audit="clean", folds=None, covariance="HC0", cluster=cluster)
    expected = reference(data, audit=audit, cluster=cluster)
    g, omega = numbers(d)
    np.testing.assert_allclose(g, expected.g, rtol=SAME)
    np.testing.assert_allclose(omega, expected.omega, rtol=1e-7, atol=1e-12)
    assert (d.ladder.n_audit, d.ladder.n_labelled) == (int(audit[:130].sum()), 130)


@pytest.mark.parametrize("covariance", ["HC1", "HC2", "HC3"])
def test_small_sample_factors_are_those_of_each_regression(covariance: str) -> None:
    data = table()
    expected = reference(data)
    _, omega = numbers(diagnosed(data, folds=None, covariance=covariance))
    n, share = len(expected.a), expected.a**2 / (expected.a @ expected.a)
    factor = {"HC1": np.full(n, n / (n - 1)), "HC2": 1 / (1 - share), "HC3": 1 / (1 - share) ** 2}[covariance]
    left = expected.r - expected.g[1] * expected.a
    assert omega[1, 1] == pytest.approx(float(share @ (factor * left**2)) / (expected.a @ expected.a), rel=SAME)
    d = diagnosed(data, folds=None, covariance=covariance)
    assert omega[0, 0] == pytest.approx((d.estimate("supervised").std_error or 0) ** 2, rel=SAME)


def test_the_controls_leave_of_the_group_what_least_squares_leaves() -> None:
    data = table()
    group = np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float)[:130]
    x = np.column_stack([np.ones(130), data["x1"][:130], data["x2"][:130]])
    left = group - x @ solved(x, group, np.ones(130))
    assert diagnosed(data).ladder.group_variance == pytest.approx(left @ left / (130 - 3), rel=SAME)
