"""Dealing labelled rows to folds, and unlabelled rows to the models of a fold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlabel.errors import DataError
from softlabel.scoring.folds import deal_labelled

RNG = np.random.default_rng(0)
HASHES = RNG.integers(0, 2**64, size=501, dtype=np.uint64)
GROUP = (RNG.random(501) < 0.13).astype(float)
CLUSTER = RNG.integers(0, 2**64, size=30, dtype=np.uint64)[RNG.integers(0, 30, size=501)]


@given(st.integers(2, 12), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_every_fold_has_its_share_of_both_groups(folds: int, seed: int) -> None:
    fold = deal_labelled(HASHES, GROUP, None, folds, seed).fold
    for members in (np.ones(501, dtype=bool), GROUP == 0, GROUP == 1):
        sizes = np.bincount(fold[members], minlength=folds)
        assert sizes.max() - sizes.min() <= 1


def test_the_order_of_rows_does_not_matter_and_the_seed_does() -> None:
    fold = deal_labelled(HASHES, GROUP, None, 5, 1).fold
    order = RNG.permutation(501)
    assert (deal_labelled(HASHES[order], GROUP[order], None, 5, 1).fold == fold[order]).all()
    assert (deal_labelled(HASHES, GROUP, None, 5, 2).fold != fold).any()


def test_clusters_stay_whole_and_folds_are_alike() -> None:
    dealt = deal_labelled(HASHES, GROUP, CLUSTER, 5, 0)
    for one in np.unique(CLUSTER):
        assert len(set(dealt.fold[one == CLUSTER].tolist())) == 1
    rare = np.bincount(dealt.fold, GROUP, minlength=5)
    # Greedy: the folds differ by no more than one cluster's rare rows.
    assert rare.max() - rare.min() <= np.bincount(np.unique(CLUSTER, return_inverse=True)[1], GROUP).max()
    order = RNG.permutation(501)
    assert (deal_labelled(HASHES[order], GROUP[order], CLUSTER[order], 5, 0).fold == dealt.fold[order]).all()


def test_an_unlabelled_row_goes_to_the_fold_of_its_cluster() -> None:
    dealt = deal_labelled(HASHES, GROUP, CLUSTER, 5, 0)
    hashes = RNG.integers(0, 2**64, size=501, dtype=np.uint64)
    assert (dealt.of_unlabelled(hashes, CLUSTER) == dealt.fold).all()
    elsewhere = RNG.integers(0, 2**64, size=5_000, dtype=np.uint64)
    found = dealt.of_unlabelled(elsewhere, elsewhere)
    assert (dealt.of_unlabelled(RNG.permutation(elsewhere), elsewhere) == found).all()  # rows of one cluster agree
    # Of 5,000 clusters unknown a fold gets 1,000, give or take sqrt(5000 * .2 * .8) = 28.
    assert np.bincount(found) == pytest.approx(np.full(5, 1_000), abs=4 * 28)


def test_unlabelled_rows_are_spread_by_their_hashes() -> None:
    dealt = deal_labelled(HASHES, GROUP, None, 4, 0)
    found = dealt.of_unlabelled(RNG.integers(0, 2**64, size=4_000, dtype=np.uint64), None)
    assert np.bincount(found) == pytest.approx(np.full(4, 1_000), abs=4 * 27)


def test_fewer_clusters_than_folds_are_refused() -> None:
    with pytest.raises(DataError, match=r"at least as many clusters with labelled rows as folds \(31\); found 30"):
        deal_labelled(HASHES, GROUP, CLUSTER, 31, 0)
