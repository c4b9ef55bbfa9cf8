"""Weights and clusters through both passes, against the dense reference and against repeated rows."""

from typing import NamedTuple

import numpy as np
import pytest

from softlabel.diagnostics.attenuation import confident_table, kappa_table
from softlabel.estimators.confident import confident_estimates
from softlabel.estimators.hard import hard_estimates
from softlabel.estimators.labels import solved
from softlabel.estimators.soft import soft_estimates, v_star_estimate
from softlabel.influence import Analysis
from softlabel.moments import Partition, kernel
from softlabel.nuisances import fit_nuisances
from softlabel.results import Estimate
from tests import oracle
from tests.oracle import Answer, Rows
from tests.passes import run

THRESHOLDS, CONFIDENT = (0.4, 0.77), (0.6, 0.7, 0.85)
PARTITION = Partition.of(THRESHOLDS, CONFIDENT)
SAME = 1e-9
# Sums of estimating functions; the others are of shares.
ESTIMATING = ("core", "hard", "confident")


class Pair(NamedTuple):
    name: str
    found: tuple[float | None, float | None]
    expected: Answer


def pairs(analysis: Analysis, rows: Rows) -> list[Pair]:
    """Every number of an analysis beside the reference's."""

    def numbers(row: Estimate) -> tuple[float | None, float | None]:
        return row.estimate, row.std_error

    soft = oracle.soft(rows)
    found = [
        Pair("soft", numbers(soft_estimates(analysis, 0.95)[0]), soft["orthogonal"]),
        Pair("soft moment", numbers(soft_estimates(analysis, 0.95)[1]), soft["moment"]),
        Pair("V*", numbers(v_star_estimate(analysis, 0.95)), soft["v_star"]),
    ]
    hard = iter(hard_estimates(analysis, 0.95))
    for t, kappa in zip(THRESHOLDS, kappa_table(analysis, 0.95), strict=True):
        expected = oracle.hard(rows, t)
        found += [
            Pair(f"hard {form} {t}", numbers(next(hard)), expected[form])
            for form in ("orthogonal", "moment", "deattenuated")
        ]
        found.append(Pair(f"kappa {t}", (kappa.kappa, kappa.std_error), expected["kappa"]))
    confident = zip(confident_estimates(analysis, 0.95), confident_table(analysis, 0.95), strict=True)
    for t, (estimate, kappa_fm) in zip(CONFIDENT, confident, strict=True):
        expected = oracle.confident(rows, t)
        found.append(Pair(f"confident {t}", numbers(estimate), expected["orthogonal"]))
        found.append(Pair(f"kappa_FM {t}", (kappa_fm.kappa, kappa_fm.std_error), expected["kappa"]))
    return found


def made(*, n: int = 431, k: int = 2, folded: bool = True, weighted: bool = False, clusters: int | None = None) -> Rows:
    rng = np.random.default_rng(17)
    rows = oracle.draw(n, k, 17, edges=(*THRESHOLDS, *CONFIDENT))
    weight = rng.gamma(2.0, size=n) * 30 if weighted else None
    cluster = None
    if clusters is not None:
        # A common shock, so that clustered errors differ from those of rows.
        cluster = rng.integers(0, clusters, size=n)
        rows = rows._replace(y=rows.y + 2 * rng.normal(size=clusters)[cluster] * (rows.p[:, 0] - 0.3))
    return rows._replace(fold=rng.integers(0, 3, size=n) if folded else None, weight=weight, cluster=cluster)


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("clusters", [None, 40])
def test_every_number(clusters: int | None, weighted: bool, folded: bool) -> None:
    rows = made(folded=folded, weighted=weighted, clusters=clusters)
    found = pairs(run(rows, PARTITION), rows)
    assert len(found) == 3 + 4 * len(THRESHOLDS) + 2 * len(CONFIDENT)
    for name, (estimate, std_error), expected in found:
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


def test_clusters_and_weights_change_the_errors_they_should() -> None:
    rows = made(weighted=True, clusters=40)
    plain, clustered = oracle.soft(rows._replace(cluster=None)), oracle.soft(rows)
    assert clustered["orthogonal"].value == plain["orthogonal"].value
    assert clustered["orthogonal"].std_error > 1.2 * plain["orthogonal"].std_error
    unweighted = oracle.soft(rows._replace(weight=None))["orthogonal"]
    assert abs(unweighted.value / clustered["orthogonal"].value - 1) > 1e-3


@pytest.mark.parametrize("weighted", [True, False])
def test_clusters_that_straddle_blocks_and_batches(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "BLOCK_ROWS", 37)
    rows = made(weighted=weighted, clusters=11)
    order = np.random.default_rng(4).permutation(len(rows.y))
    # Batches of other sizes than the blocks, one of them of a single row.
    analysis = run(rows, PARTITION, np.split(order, [100, 101, 300]))
    for name, (estimate, std_error), expected in pairs(analysis, rows):
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


@pytest.mark.parametrize("weighted", [True, False])
def test_clusters_of_one_row_are_rows(weighted: bool) -> None:
    rows = made(weighted=weighted)
    alone = rows._replace(cluster=np.random.default_rng(5).permutation(len(rows.y)) * 977)
    by_row, by_cluster = run(rows, PARTITION), run(alone, PARTITION)
    for name in ESTIMATING:
        sums = by_row.sums[name]
        clustered = by_cluster.sums[name]
        assert clustered.clusters is not None
        assert not clustered.meat.any()
        count = clustered.n_clusters
        assert count is not None
        meat = sums.covariance_of_sums() * (count / (count - 1))[:, None, None]
        np.testing.assert_allclose(clustered.covariance_of_sums(), meat, rtol=1e-11, atol=1e-13 * np.abs(meat).max())


def test_a_whole_weight_is_a_repeated_row() -> None:
    rows = made()
    times = np.random.default_rng(6).integers(0, 4, size=len(rows.y))
    assert (times == 0).any()
    weighted = run(rows._replace(weight=times.astype(float)), PARTITION)
    repeated = run(rows.only(np.repeat(np.arange(len(rows.y)), times)), PARTITION)
    for name, expected in repeated.points._asdict().items():
        found = getattr(weighted.points, name)
        # One matrix, or the four estimators of a hard label.
        for a, b in zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]:
            np.testing.assert_allclose(a, b, rtol=1e-10)
    np.testing.assert_allclose(
        weighted.nuisances.maps @ shift_back(weighted),
        repeated.nuisances.maps @ shift_back(repeated),
        rtol=1e-8,
        atol=1e-9,
    )
    for name in ESTIMATING:
        sums, other = weighted.sums[name], repeated.sums[name]
        assert sums.weight == other.weight == times.sum()
        np.testing.assert_allclose(sums.bread, other.bread, rtol=1e-10)
        # A weight is squared in the meat, a repeated row is not: only weights 0 and 1 agree there.
        assert (np.diagonal(sums.meat, axis1=1, axis2=2) > np.diagonal(other.meat, axis1=1, axis2=2)).all()


def shift_back(analysis: Analysis) -> oracle.Floats:
    """The linear map from z about zero to z about the analysis's shift."""
    move = np.eye(analysis.design.width)
    move[:, 0] -= analysis.nuisances.shift
    return move


def test_weights_of_zero_and_one_choose_rows() -> None:
    rows = made()
    chosen = np.random.default_rng(7).random(len(rows.y)) < 0.8
    weighted = pairs(run(rows._replace(weight=chosen.astype(float)), PARTITION), rows.only(chosen))
    for name, (estimate, std_error), expected in weighted:
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


def test_the_unit_of_weights_does_not_matter() -> None:
    rows = made(weighted=True, clusters=20)
    assert rows.weight is not None
    plain = pairs(run(rows, PARTITION), rows)
    scaled = pairs(run(rows._replace(weight=rows.weight * 1e-7), PARTITION), rows)
    for (name, one, _), (_, other, _) in zip(plain, scaled, strict=True):
        assert other == pytest.approx(one, rel=1e-11), name


@pytest.mark.parametrize("weighted", [True, False])
def test_batches_and_blocks_do_not_matter(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made(weighted=weighted)
    whole = pairs(run(rows, PARTITION), rows)
    monkeypatch.setattr(kernel, "BLOCK_ROWS", 5)
    order = np.random.default_rng(8).permutation(len(rows.y))
    cut = pairs(run(rows, PARTITION, [np.arange(0), *np.split(order, [1, 2, 250]), np.arange(0)]), rows)
    for (name, one, _), (_, other, _) in zip(whole, cut, strict=True):
        assert other == pytest.approx(one, rel=1e-11), name


def test_points_are_what_the_score_pass_returns_to() -> None:
    # The one-pass estimates and the Newton step from them are the same numbers where nothing was lost: the
    # estimating functions sum to zero at the points.
    analysis = run(made(weighted=True), PARTITION)
    for sums in (analysis.sums[name] for name in ESTIMATING):
        size = np.sqrt(np.diagonal(sums.meat, axis1=1, axis2=2))
        assert (np.abs(sums.moment) < 1e-10 * size * np.sqrt(analysis.n)).all()


def test_hard_and_soft_share_their_rows() -> None:
    # The block of a threshold carries soft too, for covariances between them.
    rows = made(weighted=True)
    analysis = run(rows, PARTITION)
    hard, core = analysis.sums["hard"], analysis.sums["core"]
    for t in range(len(THRESHOLDS)):
        np.testing.assert_allclose(hard.meat[t, -1, -1], core.meat[0, 0, 0], rtol=1e-12)
    a = oracle.residual(rows.p, rows)[:, 0]
    r = oracle.residual(rows.y[:, None], rows)[:, 0]
    b = oracle.residual((rows.p > THRESHOLDS[1]).astype(float), rows)[:, 0]
    soft, label = oracle.soft(rows)["orthogonal"].value, oracle.hard(rows, THRESHOLDS[1])["orthogonal"].value
    assert rows.weight is not None
    cross = (rows.weight**2 * a * (r - soft * a) * b * (r - label * b)).sum()
    assert hard.meat[1, 0, -1] == pytest.approx(cross, rel=1e-9)


def test_in_sample_nuisances_are_one_map_for_all_folds() -> None:
    rows = made(weighted=True)
    analysis = run(rows, PARTITION)
    maps = fit_nuisances(analysis.fit.moments, analysis.design, in_sample=True).maps
    assert maps.shape[0] == 3
    np.testing.assert_array_equal(maps[0], maps[1])
    alone = run(rows._replace(fold=None), PARTITION)
    np.testing.assert_allclose(
        maps[0] @ shift_back(analysis), alone.nuisances.maps[0] @ shift_back(alone), rtol=1e-8, atol=1e-10
    )


def test_solved_names_what_the_sums_hold() -> None:
    analysis = run(made(), PARTITION)
    assert list(solved(analysis.sums["hard"], analysis.points.hard, 1)) == ["hard", "kappa", "deattenuated", "moment"]
    assert list(solved(analysis.sums["confident"], analysis.points.confident, 1)) == ["hard", "kappa", "deattenuated"]
