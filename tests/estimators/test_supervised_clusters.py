"""Clusters of the supervised estimator: against other packages, dense algebra, the jackknife and a simulation."""

from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

import softlabel as sl
from softlabel.errors import DataError, InputError
from softlabel.estimators.supervised import fit_supervised
from tests import oracle
from tests.oracle import Floats

Name = Literal["HC0", "HC1", "HC2", "HC3"]
COVARIANCES: tuple[Name, ...] = ("HC0", "HC1", "HC2", "HC3")

# Least squares and inverse roots by two routes on well-conditioned columns: 12 to 13 digits are left.
SAME = 1e-10


class Rows(NamedTuple):
    y: Floats
    g: Floats
    X: Floats
    cluster: Any
    weight: Floats


def made(n: int = 90, k: int = 3, seed: int = 5) -> Rows:
    """Clusters of 1 to about 30 rows that share an error, and weights from 0.2 to 5."""
    rows = oracle.draw(n, k, seed)
    rng = np.random.default_rng(seed)
    cluster = (12 * rng.random(n) ** 2).astype(int)
    cluster[:2] = [50, 51]  # clusters of one row
    g = (rng.random(n) < rows.p[:, 0]).astype(float)
    shared = rng.normal(size=60)[cluster]
    return Rows(rows.y + shared * (0.5 + g), g, rows.X, cluster, 0.2 + 4.8 * rng.random(n))


def dense(rows: Rows, power: float, weight: Floats) -> tuple[float, float]:
    """Slope and CR standard error from hat matrices written out: (I − H_gg)^(−power) by eigenvectors."""
    root = np.sqrt(weight)
    design = root[:, None] * np.column_stack([np.ones(len(rows.y)), rows.g, rows.X])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ design.T @ (root * rows.y)
    errors = root * rows.y - design @ coefficients
    hat = design @ bread @ design.T
    meat = np.zeros_like(bread)
    for label in np.unique(rows.cluster):
        inside = np.flatnonzero(rows.cluster == label)
        values, vectors = np.linalg.eigh(np.eye(len(inside)) - hat[np.ix_(inside, inside)])
        score = design[inside].T @ (vectors @ np.diag(values**-power) @ vectors.T) @ errors[inside]
        meat += np.outer(score, score)
    return float(coefficients[1]), float(np.sqrt((bread @ meat @ bread)[1, 1]))


@pytest.mark.parametrize("k", [0, 1, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("covariance", "power"), [("HC0", 0.0), ("HC2", 0.5), ("HC3", 1.0)])
def test_dense_algebra(covariance: Name, power: float, k: int, *, weighted: bool) -> None:
    rows = made(90, k)
    found = sl.supervised(
        rows.y,
        rows.g,
        rows.X,
        covariance=covariance,
        cluster=rows.cluster,
        weights=rows.weight if weighted else None,
    )
    estimate, std_error = dense(rows, power, rows.weight if weighted else np.ones(90))
    assert found.estimate == pytest.approx(estimate, rel=SAME)
    assert found.std_error == pytest.approx(std_error, rel=SAME)
    assert found.df == len(np.unique(rows.cluster)) - 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("covariance", ["HC0", "HC1"])
def test_statsmodels(covariance: Name, *, weighted: bool) -> None:
    import statsmodels.api as sm

    rows = made()
    weight = rows.weight if weighted else np.ones(90)
    fit = sm.WLS(rows.y, np.column_stack([np.ones(90), rows.g, rows.X]), weights=weight).fit(
        cov_type="cluster",
        cov_kwds={"groups": rows.cluster, "use_correction": covariance == "HC1", "df_correction": True},
        use_t=True,
    )
    found = sl.supervised(
        rows.y, rows.g, rows.X, covariance=covariance, cluster=rows.cluster, weights=weight, level=0.9
    )
    assert found.estimate == pytest.approx(fit.params[1], rel=SAME)
    assert found.std_error == pytest.approx(fit.bse[1], rel=SAME)
    assert found.interval == pytest.approx(tuple(fit.conf_int(alpha=0.1)[1]), rel=SAME)
    assert found.p_value == pytest.approx(fit.pvalues[1], rel=1e-8)  # t in the tail magnifies its argument's error


# From columns of whole numbers, so that anyone can make them again: CR0 and CR1 by linearmodels 7.1
# (IV2SLS without instruments, cov_type="clustered", debiased=False and True), CR3 and all frequency weights by
# pyfixest 0.60.0 (CRV1 and CRV3; ssc with k_adj and G_adj both true for CR1, both false otherwise). pyfixest's
# CR0 and CR1 are linearmodels' to 14 digits.
ELSEWHERE = {
    ("none", "HC0"): (1.514743337805137, 0.46752356977671555),
    ("none", "HC1"): (1.514743337805137, 0.5089929463042275),
    ("none", "HC3"): (1.5147433378051391, 0.5589650312005091),
    ("sampling", "HC0"): (1.708249757869864, 0.4692232466426383),
    ("sampling", "HC1"): (1.708249757869864, 0.5108433846386292),
    ("sampling", "HC3"): (1.7082497578698652, 0.5867224190779269),
    ("frequency", "HC0"): (1.7082497578698652, 0.4692232466426378),
    ("frequency", "HC1"): (1.7082497578698652, 0.500853056877302),
    ("frequency", "HC3"): (1.7082497578698652, 0.5867224190779269),
}


@pytest.mark.parametrize(("kind", "covariance"), ELSEWHERE)
def test_linearmodels_and_pyfixest(kind: str, covariance: Name) -> None:
    i = np.arange(60)
    x, z, firm = (7 * i % 13) / 4, (i * i % 17) / 5, i * i * i % 23 % 9
    g = ((5 * i + i * i) % 11 < 5).astype(float)
    y = 1.0 + 0.8 * g + 0.3 * x - 0.2 * z + (11 * i % 19) / 6 + firm * 0.2 * (1 + g)
    options: dict[str, Any] = {} if kind == "none" else {"weights": 1.0 + i * 3 % 7, "weight_type": kind}
    found = sl.supervised(y, g, np.column_stack([x, z]), cluster=firm, covariance=covariance, **options)
    estimate, std_error = ELSEWHERE[kind, covariance]
    # Both packages are written with normal equations, which keep about 13 digits here.
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.std_error == pytest.approx(std_error, rel=1e-12)
    if (kind, covariance) == ("none", "HC3"):
        assert found.p_value == pytest.approx(0.026661929383190675, rel=1e-11)  # t(8), of pyfixest


@pytest.mark.parametrize("weighted", [False, True])
def test_cr3_is_the_jackknife_about_the_estimate(*, weighted: bool) -> None:
    rows = made()
    weight = rows.weight if weighted else np.ones(90)
    design = np.column_stack([np.ones(90), rows.g, rows.X])

    def slope(some: Any) -> float:
        root = np.sqrt(weight[some])
        return float(np.linalg.lstsq(root[:, None] * design[some], root * rows.y[some], rcond=None)[0][1])

    fit = fit_supervised(
        rows.y,
        rows.g,
        rows.X.T,
        covariance="HC3",
        level=0.95,
        weight=weight,
        cluster=rows.cluster.astype(np.uint64),
    )
    everyone = slope(np.ones(90, dtype=bool))
    labels = np.unique(rows.cluster)
    changes = np.array([everyone - slope(rows.cluster != label) for label in labels])
    assert fit.estimate.std_error is not None
    # Differences of numbers near 1.5 keep 15 digits below it.
    assert fit.estimate.std_error**2 == pytest.approx(float(changes @ changes), rel=1e-11)
    assert fit.influence is not None
    sums = [fit.influence[rows.cluster == label].sum() for label in labels]
    assert np.array(sums) == pytest.approx(changes, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kind", ["none", "sampling", "frequency"])
def test_the_variance_is_the_sum_of_squared_sums_of_influences(covariance: str, kind: str) -> None:
    rows = made()
    weight = {"none": None, "sampling": rows.weight, "frequency": np.ceil(rows.weight)}[kind]
    fit = fit_supervised(
        rows.y,
        rows.g,
        rows.X.T,
        covariance=covariance,
        level=0.95,
        weight=weight,
        frequency=kind == "frequency",
        cluster=rows.cluster.astype(np.uint64),
    )
    assert fit.influence is not None
    assert fit.estimate.std_error is not None
    copies = np.ceil(rows.weight) if kind == "frequency" else np.ones(90)
    sums = np.bincount(rows.cluster, copies * fit.influence)
    assert sums @ sums == pytest.approx(fit.estimate.std_error**2, rel=1e-13)  # the same sum, in another order


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_of_one_row_are_no_clusters(covariance: Name, *, weighted: bool) -> None:
    rows = made()
    weight = rows.weight if weighted else None
    plain = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance, weights=weight)
    found = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance, weights=weight, cluster=np.arange(90))
    assert found.estimate == plain.estimate
    # One singular value of one row instead of a sum of squares.
    assert found.std_error == pytest.approx(plain.std_error, rel=1e-13)
    assert (found.df, plain.df) == (89, 85)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_labels_are_names(covariance: Name) -> None:
    rows = made()
    plain = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance, cluster=rows.cluster)
    names = [f"firm {label}" for label in rows.cluster]
    for labels in (names, np.array(names), rows.cluster * -1.5, np.array(names, dtype=object), rows.cluster.tolist()):
        found = sl.supervised(rows.y, rows.g, rows.X, covariance=covariance, cluster=labels)
        assert found.df == plain.df
        assert found.std_error == pytest.approx(plain.std_error, rel=1e-13)  # clusters are summed in another order
    order = np.random.default_rng(1).permutation(90)
    turned = sl.supervised(
        rows.y[order], rows.g[order], rows.X[order], covariance=covariance, cluster=rows.cluster[order]
    )
    assert turned.std_error == pytest.approx(plain.std_error, rel=1e-12)  # and rows in another order


def test_one_cluster_has_no_standard_error() -> None:
    rows = made()
    found = sl.supervised(rows.y, rows.g, rows.X, cluster=["all"] * 90)
    assert found.estimate is None
    assert found.reason == "all 90 labelled rows are of one cluster: a standard error needs at least 2"


@pytest.mark.parametrize("covariance", ["HC2", "HC3"])
def test_a_cluster_that_alone_decides_a_coefficient(covariance: Name) -> None:
    rows = made()
    own = (rows.cluster == 3).astype(float)
    first = int(own.argmax())
    for column in (own, own * np.random.default_rng(0).normal(size=90)):
        X = np.column_stack([rows.X, column])
        found = sl.supervised(rows.y, rows.g, X, covariance=covariance, cluster=rows.cluster)
        assert found.estimate is None
        assert found.reason == (
            f"the cluster of labelled row {first} alone decides a coefficient (leverage 1): {covariance} needs a "
            "residual there; use HC1 or fewer controls"
        )
        assert sl.supervised(rows.y, rows.g, X, covariance="HC1", cluster=rows.cluster).reason is None
        # No row of it does so alone.
        assert sl.supervised(rows.y, rows.g, X, covariance=covariance).reason is None


@pytest.mark.parametrize("covariance", ["HC0", "HC1"])
def test_residuals_that_cancel_in_every_cluster_are_no_variance(covariance: Name) -> None:
    # One cluster per group: its residuals add up to zero, so a sandwich would claim a standard error of zero.
    rng = np.random.default_rng(4)
    y, g = rng.normal(size=50), np.repeat([0.0, 1.0], 25)
    found = sl.supervised(y, g, cluster=g, covariance=covariance)
    assert found.estimate is None
    assert found.reason is not None
    assert "residuals cancel within each of the 2 clusters" in found.reason
    # An exact fit is something else: there is nothing to cancel.
    exact = sl.supervised([1.0, 1, 3, 3], [0, 0, 1, 1], cluster=[0, 1, 0, 1], covariance=covariance)
    assert (exact.estimate, exact.std_error) == (2.0, 0.0)


def test_large_clusters_need_no_large_matrices() -> None:
    # Two clusters of 60,000 rows: a hat matrix of one would take 29 GB.
    rng = np.random.default_rng(8)
    n = 120_000
    g, x = (rng.random(n) < 0.5).astype(float), rng.normal(size=n)
    y = g + x + rng.normal(size=n)
    cluster = np.arange(n) % 2
    found = sl.supervised(y, g, x, cluster=cluster, covariance="HC3")
    design = np.column_stack([np.ones(n), g, x])
    changes = [
        np.linalg.lstsq(design[some], y[some], rcond=None)[0][1] - np.linalg.lstsq(design, y, rcond=None)[0][1]
        for some in (cluster == 0, cluster == 1)
    ]
    # Changes of about 0.003 in numbers near 1 keep 13 digits.
    assert found.std_error == pytest.approx(float(np.hypot(*changes)), rel=1e-10)


def test_wrong_clusters() -> None:
    y, g = [1.0, 3, 2, 6], [0, 1, 0, 1]
    missing: tuple[Any, ...] = (
        ["a", None, "b", "b"],
        [1.0, float("nan"), 2, 2],
        np.array(["a", np.nan, "b", "b"], dtype=object),
        np.ma.array([1, 9, 2, 2], mask=[False, True, False, False]),
        np.array(["2020", "NaT", "2021", "2021"], dtype="datetime64[D]"),
    )
    for labels in missing:
        with pytest.raises(DataError, match="1 missing labels of 4"):
            sl.supervised(y, g, cluster=labels)
    wrong: tuple[Any, ...] = (
        ["a", "b", "b"],
        [["a"], ["b"], ["a"], ["b"]],
        [1, "a", 2, 2],
        "abab",
        7,
        np.array([1, 2, 3, 3], dtype="datetime64[D]"),
    )
    for labels in wrong:
        with pytest.raises(InputError, match="cluster"):
            sl.supervised(y, g, cluster=labels)


def test_cr3_covers_with_forty_clusters() -> None:
    # Errors and group both vary between clusters: intraclass correlation 0.2, 40 clusters of 15 rows. The interval
    # of CR3 with t(39) covers within 93% to 97%; with 2,000 replications one standard error of a coverage of 95% is
    # 0.5 points, so a true coverage of 95% fails once in 20,000 seeds. The rows taken for independent cover far less.
    rng = np.random.default_rng(2026)
    cluster = np.repeat(np.arange(40, dtype=np.uint64), 15)
    replications = 2_000
    covered = {"clusters": 0, "rows": 0}
    for _ in range(replications):
        common = rng.normal(size=(3, 40)).repeat(15, axis=1)
        own = rng.normal(size=(2, 600))
        g = (0.7 * common[0] + own[0] > 0).astype(float)
        x = common[2]
        y = g + 0.5 * x + np.sqrt(0.2) * common[1] + np.sqrt(0.8) * own[1]
        for name, hashes in (("clusters", cluster), ("rows", None)):
            found = fit_supervised(y, g, x[None], covariance="HC3", level=0.95, cluster=hashes).estimate.interval
            assert found is not None
            covered[name] += found[0] <= 1.0 <= found[1]
    assert 0.93 < covered["clusters"] / replications < 0.97
    assert covered["rows"] / replications < 0.91
