"""InfluenceSums and ClusterSums: exact sums in any order, and the covariance they stand for."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.folds import RowCheck
from softlabel.influence.score_pass import ScoreState
from softlabel.influence.sums import ClusterSums, InfluenceSums, influence_sums

Floats = NDArray[np.float64]

# Whole numbers below 2⁵³ add exactly, so that the laws hold to the bit.
B, M = 2, 3


@st.composite
def pieces(draw: Any, clustered: bool) -> InfluenceSums:
    n = draw(st.integers(1, 12))

    def whole(*shape: int) -> Floats:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(st.integers(-50, 50), min_size=size, max_size=size)), float).reshape(shape)

    cluster = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=np.uint64)
    weight = np.abs(whole(n)) if draw(st.booleans()) else None
    return influence_sums(whole(B, M, n), whole(B, 1, 2), weight, cluster if clustered else None)


def equal(a: Any, b: Any) -> bool:
    clusters = (a.clusters is None) == (b.clusters is None)
    if a.clusters is not None and b.clusters is not None:
        clusters = all(map(np.array_equal, a.clusters.joined, b.clusters.joined))
    return clusters and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("weight", "bread", "moment", "meat")
    )


@pytest.mark.parametrize("clustered", [False, True])
@given(data=st.data())
def test_merge_is_associative_and_commutative(clustered: bool, data: Any) -> None:
    a, b, c = (data.draw(pieces(clustered)) for _ in range(3))
    assert equal(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert equal(a.merge(b), b.merge(a))


@pytest.mark.parametrize("clustered", [False, True])
@given(data=st.data())
def test_score_states_merge_and_have_an_identity(clustered: bool, data: Any) -> None:
    a, b = (ScoreState({"core": data.draw(pieces(clustered))}, RowCheck(i, 7 * i)) for i in (1, 2))
    for one in (a.merge(ScoreState.empty()), ScoreState.empty().merge(a)):
        assert equal(one.sums["core"], a.sums["core"])
        assert one.check == a.check
    assert equal(a.merge(b).sums["core"], b.merge(a).sums["core"])
    assert a.merge(b).check == RowCheck(3, 21)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@given(cuts=st.lists(st.integers(1, 29), max_size=4))
def test_pieces_sum_to_the_dense_sums(clustered: bool, weighted: bool, cuts: list[int]) -> None:
    rng = np.random.default_rng(3)
    n = 30
    g = rng.integers(-9, 10, size=(B, M, n)).astype(float)
    rows = rng.integers(-9, 10, size=(B, 1, 2, n)).astype(float)
    weight = rng.integers(0, 4, size=n).astype(float) if weighted else None
    cluster = rng.integers(0, 6, size=n).astype(np.uint64) + np.uint64(2**63) if clustered else None
    w = np.ones(n) if weight is None else weight
    bounds = sorted({0, n, *cuts})
    parts = [
        influence_sums(
            g[..., i:j],
            rows[..., i:j].sum(axis=3),
            None if weight is None else weight[i:j],
            None if cluster is None else cluster[i:j],
        )
        for i, j in pairwise(bounds)
    ]
    whole = parts[-1]
    for part in parts[:-1]:
        whole = whole.merge(part)
    assert whole.weight == w.sum()
    assert np.array_equal(whole.bread, rows.sum(axis=3))
    assert np.array_equal(whole.moment, (w * g).sum(axis=2))
    groups = [np.arange(n) == i for i in range(n)] if cluster is None else [cluster == c for c in np.unique(cluster)]
    for b in range(B):
        expected = sum(np.outer(total, total) for total in ((w[of] * g[b][:, of]).sum(axis=1) for of in groups))
        # G/(G − 1) rounds once; the rest is whole numbers.
        factor = 1.0 if cluster is None else len(groups) / (len(groups) - 1)
        np.testing.assert_allclose(whole.covariance_of_sums()[b], expected * factor, rtol=1e-15)


def test_a_frequency_counts_copies() -> None:
    rng = np.random.default_rng(8)
    g = rng.integers(-9, 10, size=(B, M, 20)).astype(float)
    copies = rng.integers(1, 4, size=20)
    bread = np.zeros((B, 1, 2))
    counted = influence_sums(g, bread, copies.astype(float), None, frequency=True)
    repeated = influence_sums(np.repeat(g, copies, axis=2), bread, None, None)
    assert equal(counted, repeated)


@pytest.mark.parametrize("pieces", [1, 2, 57])
def test_pieces_of_cluster_sums_stay_few(pieces: int) -> None:
    rng = np.random.default_rng(9)
    cluster = rng.integers(0, 500, size=(pieces, 100)).astype(np.uint64)
    values = rng.integers(-9, 10, size=(pieces, M, 100)).astype(float)
    state = ClusterSums.of(cluster[0], values[0])
    for ids, value in zip(cluster[1:], values[1:], strict=True):
        state = state.merge(ClusterSums.of(ids, value))
    # None is larger than the number of clusters, and together they are no more than four times the largest.
    assert sum(len(ids) for ids, _ in state.pieces) <= 4 * 500
    ids, found = state.joined
    assert ids.tolist() == np.unique(cluster).tolist()
    for i, one in enumerate(ids):
        assert found[i].tolist() == values.swapaxes(0, 1)[:, cluster == one].sum(axis=1).tolist()


def test_cluster_sums_by_hand() -> None:
    sums = ClusterSums.of(
        np.array([9, 4, 9, 4, 2**64 - 1], dtype=np.uint64), np.array([[1.0, 2, 3, 4, 5], [0, 1, 0, 1, 0]])
    )
    ids, values = sums.joined
    assert ids.tolist() == [4, 9, 2**64 - 1]
    assert values.tolist() == [[6.0, 2.0], [4.0, 0.0], [5.0, 0.0]]
