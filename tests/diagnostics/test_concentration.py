"""Many rows and clusters of which few decide: it is counted, said, and where only one does, no error is given."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import softlabel as sl
from softlabel.estimators.labels import confident_counts, hard_counts
from softlabel.influence import Analysis
from softlabel.moments import Partition
from softlabel.simulate import run as simulate
from tests import oracle
from tests.oracle import Floats, Rows
from tests.passes import run

PARTITION = Partition.of((0.5, 0.8), (0.7,))


def _codes(d: sl.Diagnosis) -> set[str]:
    return {note.code for note in d.notes} - {"labels.none"}


def _diagnose(data: dict[str, Any], **options: Any) -> sl.Diagnosis:
    options = {"controls": ["x"], "basis": "linear", "confident": (), "thresholds": (0.7,), "threads": 1, **options}
    return sl.diagnose(data, outcome="y", score="p", **options)


def _shares(rows: Rows) -> Analysis:
    return run(rows, PARTITION)


def _expected(rows: Rows, values: Floats) -> float:
    """(Σ w v)² / Σ_g (Σ_g w v)², written out."""
    weighted = values if rows.weight is None else rows.weight * values
    if rows.cluster is not None:
        weighted = np.array([weighted[rows.cluster == g].sum() for g in np.unique(rows.cluster)])
    return float(weighted.sum() ** 2 / (weighted**2).sum())


@pytest.mark.parametrize(("weighted", "clustered"), [(True, False), (False, True), (True, True)])
def test_effective_numbers_are_what_they_say(weighted: bool, clustered: bool) -> None:
    rng = np.random.default_rng(2)
    rows = oracle.draw(600, 2, 8)._replace(
        fold=rng.integers(0, 3, 600),
        weight=rng.gamma(1.0, size=600) if weighted else None,
        cluster=rng.integers(0, 17, 600) if clustered else None,
    )
    analysis = _shares(rows)
    p = rows.p[:, 0]
    squares = [np.ones(600), oracle.residual(rows.p, rows)[:, 0] ** 2]
    squares += [oracle.residual((p > t)[:, None].astype(float), rows)[:, 0] ** 2 for t in (0.5, 0.8)]
    inside = np.maximum(p, 1 - p) > 0.7
    within = np.zeros(600)
    within[inside] = oracle.residual((p > 0.7)[inside, None].astype(float), rows.only(inside))[:, 0] ** 2
    expected = [_expected(rows, values) for values in [*squares, within]]
    np.testing.assert_allclose(analysis.sums["shares"].effective, expected, rtol=1e-9)
    deciding = [count.deciding for count in (*hard_counts(analysis), *confident_counts(analysis))]
    assert deciding == ([pytest.approx(value, rel=1e-9) for value in expected[2:]] if clustered else [None] * 3)


def test_nothing_is_counted_where_every_row_is_as_good_as_another() -> None:
    assert len(_shares(oracle.draw(300, 1, 1)).sums["shares"].effective) == 0


def _hot(clusters: int, rng: np.random.Generator, rows: int = 2_000) -> dict[str, Any]:
    """Fifty clusters, of which so many have every score above 0.7."""
    c = rng.integers(0, 50, rows)
    x = rng.normal(size=rows)
    p = np.where(c < clusters, rng.uniform(0.75, 0.95, rows), rng.uniform(0.05, 0.65, rows))
    y = x + (rng.random(rows) < p) + 0.5 * rng.normal(size=50)[c] + rng.normal(size=rows)
    return {"y": y, "p": p, "x": x, "c": c}


def test_one_cluster_that_decides_gives_no_error() -> None:
    data = _hot(1, np.random.default_rng(1))
    d = _diagnose(data, cluster="c")
    for row in (*(r for r in d.estimates if r.threshold == 0.7), *d.kappa):
        assert "a single cluster decides who is above 0.7" in (row.reason or "")
    # By rows there would be an answer: the forty rows of that cluster are rows enough.
    assert _diagnose(data).estimate("hard", threshold=0.7).reason is None
    assert d.estimate("soft").std_error is not None


def test_few_clusters_that_decide_are_said() -> None:
    d = _diagnose(_hot(3, np.random.default_rng(1)), cluster="c", thresholds=(0.3, 0.7))
    assert _codes(d) == {"threshold.few_clusters"}
    (said,) = (note.message for note in d.notes if note.code == "threshold.few_clusters")
    assert "at 0.7" in said
    assert "at 0.3" not in said
    assert _codes(_diagnose(_hot(15, np.random.default_rng(1)), cluster="c")) == set()


class Hot:
    """One draw of the clusters that decide."""

    def __init__(self, clusters: int) -> None:
        self.clusters = clusters

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        row = _diagnose(_hot(self.clusters, rng, 500), cluster="c").estimate("hard", threshold=0.7)
        return {"hard": row.estimate, "se": row.std_error}


def test_errors_learnt_from_few_clusters_are_as_small_as_the_note_says() -> None:
    few, many = (simulate(Hot(k), 150, seed=1, progress=False).se_ratio("se", "hard") for k in (3, 25))
    # 0.71 of the truth in a run of 400; a ratio of 150 replications is known to 0.06.
    assert few.estimate < 0.85
    assert many.estimate > 0.85


def test_clusters_of_which_a_few_hold_the_score() -> None:
    rng = np.random.default_rng(3)
    c = rng.integers(0, 60, 3_000)
    # The classifier knows something in four clusters; elsewhere the score hardly moves.
    p = np.where(c < 4, rng.uniform(0.1, 0.9, 3_000), 0.5 + 0.01 * rng.normal(size=3_000))
    data = {"y": rng.normal(size=3_000), "p": p, "x": rng.normal(size=3_000), "c": c}
    assert "clusters.uneven" in _codes(_diagnose(data, cluster="c", thresholds=()))
    data["p"] = rng.uniform(0.1, 0.9, 3_000)
    assert _codes(_diagnose(data, cluster="c", thresholds=())) == set()


def _lognormal(spread: float, n: int = 2_000) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    p = expit(0.5 * x + 1.3 * rng.normal(size=n))
    g = rng.random(n) < p
    y = x + g + rng.normal(size=n)
    w = np.exp(spread * rng.normal(size=n))
    return {"y": y, "p": p, "x": x, "w": w, "g": np.where(np.arange(n) < 300, g, np.nan)}


def test_very_unequal_weights_are_said_to_be_worth_few_rows() -> None:
    data = _lognormal(2.0)
    d = _diagnose(data, weights="w", group="g", thresholds=(0.3,))
    assert {"weights.unequal_unlabelled", "weights.unequal_labelled"} <= _codes(d)
    (said,) = (note.message for note in d.notes if note.code == "weights.unequal_unlabelled")
    w = data["w"][300:]
    assert f"the 1,700 unlabelled rows are worth about {w.sum() ** 2 / (w @ w):.3g} " in said
    # As frequencies the same spread says nothing of the kind, and mild weights need no words.
    counts = {**data, "w": np.ceil(data["w"])}
    assert "weights.unequal_unlabelled" not in _codes(
        _diagnose(counts, weights="w", weight_type="frequency", folds=None, group="g")
    )
    assert _codes(_diagnose(_lognormal(0.7), weights="w", group="g", thresholds=(0.3,))) == set()


def test_a_side_of_few_equal_weights_is_named() -> None:
    data = _lognormal(0.0)
    above = data["p"] > 0.7
    data["w"] = np.where(above, np.exp(2.5 * np.random.default_rng(5).normal(size=2_000)) / 50, 1.0)
    d = _diagnose(data, weights="w", thresholds=(0.3, 0.7))
    (said,) = (note.message for note in d.notes if note.code == "threshold.unequal_weights")
    assert "at 0.7" in said


def test_confident_sets_too_small_for_the_columns_are_said() -> None:
    data = _lognormal(0.0)
    options: dict[str, Any] = {"basis": sl.Basis(knots=20, ridge=0), "thresholds": (), "confident": (0.6, 0.88)}
    d = _diagnose(data, **options)
    sizes = {row.threshold: row.n_confident for row in d.kappa_confident}
    assert 100 < sizes[0.88] < 20 * 20 < sizes[0.6]
    (said,) = (note.message for note in d.notes if note.code == "confident.few_for_columns")
    assert f"for 20 columns of the regressions ({sizes[0.88]} at 0.88)" in said
    assert "confident.few_for_columns" not in _codes(_diagnose(data, **{**options, "basis": "linear"}))


def test_a_score_is_called_reversed_by_weighted_means() -> None:
    # Of labelled rows with the score the right way round and the wrong way round, the heavier decide.
    data = _lognormal(0.0)
    shown = np.flatnonzero(~np.isnan(data["g"]))
    right = np.arange(len(shown)) < 200
    data["p"][shown] = np.where(right == (data["g"][shown] == 1), 0.7, 0.3)
    assert "score.reversed" not in _codes(_diagnose(data, group="g"))
    data["w"][shown] = np.where(right, 1.0, 10.0)
    assert "score.reversed" in _codes(_diagnose(data, group="g", weights="w"))
