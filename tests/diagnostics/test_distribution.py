"""Where the scores lie and what the controls leave of them; reliability in parts of controls, by brute force."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from softlabel import Diagnosis
from softlabel.results import ScoreDistribution
from tests.diagnosed import drawn, numbers
from tests.labelled import Floats, diagnosed, labels, study


def _of(d: Diagnosis) -> ScoreDistribution:
    assert d.distribution is not None
    return d.distribution


def _binned(p: Floats, weight: Floats) -> Floats:
    """Shares of bins (low, high] of a fiftieth."""
    which = np.searchsorted([k / 50 for k in range(1, 50)], p, side="left")
    share: Floats = np.bincount(which, weight, 50) / weight.sum()
    return share


@pytest.mark.parametrize("weights", [None, "w"])
def test_bins_hold_the_shares_of_both_samples(weights: str | None) -> None:
    rng = np.random.default_rng(2)
    data = study(rng, n=700, labelled=120, w=rng.gamma(2.0, 1.0, 820))
    # Scores on the ends of bins belong below them; on 0 and 1 to the first and the last bin.
    data["p"][:6], data["p"][200:206] = ([0.0, 1.0, 0.02, 0.5, 0.98, 0.04],) * 2
    found = _of(diagnosed(data, weights=weights))
    w = np.ones(820) if weights is None else data["w"]
    seen, _ = labels(data)
    unseen = ~seen
    assert found.unlabelled == pytest.approx(_binned(data["p"][unseen], w[unseen]), abs=1e-12)
    assert found.labelled == pytest.approx(_binned(data["p"][seen], w[seen]), abs=1e-12)
    assert found.mean == pytest.approx(np.average(data["p"][unseen], weights=w[unseen]), rel=1e-12)
    assert len(found.edges) == 51


def test_what_is_left_has_the_variance_v_star() -> None:
    d = diagnosed(study(np.random.default_rng(2), n=4_000, labelled=100))
    found = _of(d)
    at, share = np.array(found.knots), np.array(found.left)
    assert share.sum() == pytest.approx(1.0, rel=1e-12)
    spread = share @ at**2 - (share @ at) ** 2
    # A row between two knots adds f(1 − f)h², on average h²/6 and never more than h²/4.
    assert d.v_star.estimate is not None
    assert 0 < spread - d.v_star.estimate < 0.02**2 / 4


def test_without_labels_or_controls() -> None:
    rng = np.random.default_rng(2)
    data = study(rng, n=700, labelled=0)
    d = diagnosed({**data, "g": pa.nulls(700, pa.int8())}, controls=[])
    found = _of(d)
    assert found.labelled == ()
    assert len(d.reliability) == 0
    # Without controls the score less its mean, by fold: as wide as the score.
    assert np.array(found.left) @ np.array(found.knots) ** 2 == pytest.approx(np.var(data["p"]), rel=0.01)


# ------------------------------------------------------------------------------------- along controls


def _audited(d: Diagnosis, control: str) -> dict[str, tuple[int, float, float]]:
    """Rows, score and share of each part of a control: its bins together."""
    found: dict[str, tuple[int, float, float]] = {}
    for part in dict.fromkeys(row.part for row in d.reliability if row.control == control):
        bins = [row for row in d.reliability if (row.control, row.part) == (control, part)]
        n = sum(row.n for row in bins)
        found[part] = (
            n,
            sum(row.n * row.mean_score for row in bins) / n,
            sum(row.n * row.share for row in bins) / n,
        )
    return found


@pytest.mark.parametrize("options", [{}, {"basis": "linear"}, {"learner": "ridge", "basis": "linear", "id": "visit"}])
def test_parts_are_levels_and_halves_and_hold_every_audit_row(options: dict[str, Any]) -> None:
    table = drawn(labelled=300)
    d = diagnosed(table, controls=["age", "ward"], **({"basis": "spline"} | options))
    seen = ~np.asarray(table["g"].is_null())
    p, g = table["p"][seen], table["g"].to_numpy(zero_copy_only=False)[seen].astype(float)
    ward, age = np.asarray(table["ward"])[seen], table["age"][seen]
    by_ward = {f"= {name}": ward == name for name in np.unique(ward)}
    assert set(_audited(d, "ward")) == set(by_ward)
    for part, inside in by_ward.items():
        assert _audited(d, "ward")[part] == pytest.approx((inside.sum(), p[inside].mean(), g[inside].mean()), rel=1e-12)
    middle = np.sort(age)[len(age) // 2 - 1]
    halves = {f"up to {middle:.4g}": age <= middle, f"above {middle:.4g}": age > middle}
    for part, inside in halves.items():
        assert _audited(d, "age")[part] == pytest.approx((inside.sum(), p[inside].mean(), g[inside].mean()), rel=1e-12)


def test_numbers_of_two_values_are_their_parts_and_few_rows_have_none() -> None:
    rng = np.random.default_rng(3)
    data = study(rng, n=500, labelled=100, flag=np.where(np.arange(600) % 10, 1.0, 2.5))
    d = diagnosed(data, controls=["flag"])
    # One row in ten is ten of a hundred: too few for a bin.
    assert set(_audited(d, "flag")) == {"= 1"}


def test_levels_beyond_the_largest_are_one_part() -> None:
    table = drawn(labelled=400)
    rng = np.random.default_rng(1)
    sizes = np.array([30, 25, 20, 15, 4, 3, 3])
    names = np.array(list("abcdefg"))[rng.choice(7, len(table["y"]), p=sizes / 100)]
    d = diagnosed({**table, "kind": pa.array(names)}, controls=["kind"])
    assert set(_audited(d, "kind")) == {"= a", "= b", "= c", "= d", "other"}
    assert sum(n for n, *_ in _audited(d, "kind").values()) == 400


def test_neither_knows_the_order_of_rows() -> None:
    table = drawn(labelled=300)
    order = np.random.default_rng(0).permutation(len(table["y"]))
    turned = {
        name: column.take(order) if isinstance(column, pa.Array) else column[order] for name, column in table.items()
    }
    options: dict[str, Any] = {"controls": ["age", "ward"], "basis": "linear", "id": "visit"}
    one, two = (numbers(diagnosed(each, **options)) for each in (table, turned))
    paths = [path for path in one if path.startswith((".distribution", ".reliability"))]
    assert len(paths) > 150
    # Shares move by the rounding of residuals, times fifty for the narrow hats.
    assert [one[path] for path in paths] == [
        pytest.approx(two[path], rel=1e-8, abs=1e-10) if isinstance(two[path], float) else two[path] for path in paths
    ]
