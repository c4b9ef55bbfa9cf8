"""Partition: the comparisons of floating point, bit for bit, through codes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from softlabel.errors import InputError
from softlabel.moments.partition import Partition, largest_confident_zero
from tests import oracle
from tests.passes import run

Floats = NDArray[np.float64]

# Hypothesis likes round numbers; these add the ones where 1 − p rounds in surprising ways.
SPECIAL = [0.0, 5e-324, 1e-300, 2.0**-54, 2.0**-53, 0.05, 0.1, 1 / 3, 0.3, 0.95, 0.57, 0.29, 1 - 2.0**-53]
any_threshold = st.one_of(
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 99).map(lambda k: k / 100),
    st.sampled_from([*SPECIAL, 0.5]),
)
any_confident = st.one_of(
    st.floats(0.5, 1, exclude_max=True),
    st.integers(50, 99).map(lambda k: k / 100),
    st.sampled_from([0.5, math.nextafter(0.5, 1), 2 / 3, 0.7654321, 1 - 2.0**-53, 1 - 2.0**-20]),
)
partitions = st.builds(
    Partition.of,
    st.lists(any_threshold, max_size=5, unique=True),
    st.lists(any_confident, max_size=4, unique=True),
)


def neighbours(values: list[float]) -> list[float]:
    """The values, the doubles two steps to either side, and the same of their complements, within [0, 1]."""
    found = set()
    for value in values:
        for centre in (value, 1 - value, 1 - (1 - value)):
            for direction in (0.0, 1.0):
                near = centre
                for _ in range(3):
                    found.add(near)
                    near = math.nextafter(near, direction)
    return sorted(p for p in found if 0 <= p <= 1)


def adversarial(partition: Partition, drawn: list[float]) -> Floats:
    """Scores where a comparison could go wrong: at and beside every threshold, its complement and every edge."""
    lookup = [k / 1024 for k in range(0, 1025, 31)]
    hard = neighbours([*partition.thresholds, *partition.confident, *lookup])
    return np.array([*SPECIAL, 0.0, -0.0, 1.0, *hard, *neighbours(partition.edges.tolist()), *drawn])


@given(partitions, st.lists(st.floats(0, 1), max_size=20))
def test_labels_are_p_above_t(partition: Partition, drawn: list[float]) -> None:
    p = adversarial(partition, drawn)
    codes = partition.codes(p[None, :])
    for thresholds, labels in (
        (partition.thresholds, partition.labels),
        (partition.confident, partition.confident_labels),
    ):
        assert labels.shape == (len(thresholds), 1, partition.n_codes)
        for t, by_code in zip(thresholds, labels[:, 0], strict=True):
            assert np.array_equal(by_code[codes], (p > t).astype(float))


@given(partitions, st.lists(st.floats(0, 1), max_size=20))
def test_members_are_the_confident_rows(partition: Partition, drawn: list[float]) -> None:
    p = adversarial(partition, drawn)
    codes = partition.codes(p[None, :])
    assert partition.members.shape == (len(partition.confident), partition.n_codes)
    for t, by_code in zip(partition.confident, partition.members, strict=True):
        assert np.array_equal(by_code[codes], np.maximum(p, 1 - p) > t)


@given(partitions, st.lists(st.floats(0, 1), max_size=20))
def test_codes_count_the_edges_below(partition: Partition, drawn: list[float]) -> None:
    p = adversarial(partition, drawn)
    edges = partition.edges
    assert (np.diff(edges) > 0).all()
    assert set(partition.thresholds) | set(partition.confident) <= set(edges.tolist())
    codes = partition.codes(p[None, :])
    assert np.array_equal(codes, np.searchsorted(edges, p, side="left"))
    assert np.array_equal(codes[:50], [(edges < v).sum() for v in p[:50]])
    assert partition.n_codes == len(edges) + 1


@given(partitions)
def test_segments_are_runs_of_codes_with_equal_membership(partition: Partition) -> None:
    segments, members = partition.segments, partition.members
    assert segments[0] == 0
    assert segments.shape == (partition.n_codes,)
    assert set(np.diff(segments).tolist()) <= {0, 1}
    assert partition.n_segments == segments[-1] + 1
    assert partition.segment_members.shape == (len(partition.confident), partition.n_segments)
    # Each code's membership is its segment's, and neighbouring segments differ.
    assert np.array_equal(partition.segment_members[:, segments], members)
    assert (np.diff(partition.segment_members, axis=1) != 0).any(axis=0).all()
    # A confident set has two ends, so T sets cut [0, 1] into at most 2T + 1 runs.
    assert partition.n_segments <= 2 * len(partition.confident) + 1


@given(any_confident)
def test_largest_confident_zero_is_the_last_that_passes(threshold: float) -> None:
    p = largest_confident_zero(threshold)
    assert 1 - p > threshold
    assert not 1 - math.nextafter(p, 1) > threshold


def test_codes_of_a_million_scores() -> None:
    partition = Partition.of([0.5, 1 / 3, *np.linspace(0.2, 0.2001, 40)], [0.9, 0.95])
    p = np.random.default_rng(0).random(1_000_000)
    p[::7] = np.round(p[::7], 2)
    assert np.array_equal(partition.codes(p[None, :]), np.searchsorted(partition.edges, p))


def test_more_cells_than_sixteen_bits_count() -> None:
    # 100 folds of 800 codes: the sort must not take codes for numbers below 65,536.
    thresholds = np.linspace(0.0005, 0.9995, 701).tolist()
    rows = oracle.draw(1_500, 0, 1)._replace(fold=np.random.default_rng(1).integers(0, 100, 1_500))
    many = run(rows, Partition.of(thresholds, []))
    assert many.design.folds * many.design.partition.n_codes > 1 << 16
    (one, *_) = (i for i, t in enumerate(many.design.partition.thresholds) if t > 0.6)
    few = run(rows, Partition.of([many.design.partition.thresholds[one]], []))
    for name in ("hard", "kappa", "moment", "deattenuated"):
        found, expected = getattr(many.points.hard, name)[one], getattr(few.points.hard, name)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-11)
    np.testing.assert_allclose(many.sums["hard"].meat[one], few.sums["hard"].meat[0], rtol=1e-10)


def test_no_scores_and_a_strided_view() -> None:
    partition = Partition.of([0.5], [0.9])
    assert partition.codes(np.empty((1, 0))).shape == (0,)
    wide = np.random.default_rng(0).random((1, 300))
    assert np.array_equal(partition.codes(wide[:, ::-3]), partition.codes(wide)[::-3])


def test_order_of_thresholds_does_not_matter() -> None:
    assert Partition.of([0.9, 0.2], [0.8, 0.6]) == Partition.of((0.2, 0.9), np.array([0.6, 0.8]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("thresholds", "confident"),
    [
        ([1.0], []),
        ([-0.01], []),
        ([math.nan], []),
        ([math.inf], []),
        ([0.5, 0.5], []),
        ([], [0.49]),
        ([], [1.0]),
        ([], [0.9, 0.9]),
        (["high"], []),
        (0.5, []),
    ],
)
def test_thresholds_that_cannot_be(thresholds: list[float], confident: list[float]) -> None:
    with pytest.raises(InputError):
        Partition.of(thresholds, confident)


def test_codes_know_the_score_to_a_hundredth() -> None:
    # Whatever the thresholds: what is summed by code can be drawn and bounded by code.
    edges = Partition.of((0.515,), ()).edges
    assert edges.tolist() == sorted([*(k / 100 for k in range(1, 100)), 0.515])
