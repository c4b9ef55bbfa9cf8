"""Every calibrator and split at once: what `score` gives for each alone."""

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import softlabel as sl
from softlabel.scoring.each import score_each

CALIBRATORS = ("none", "temperature", "platt", "beta", "isotonic", "conditional")
SPLITS = ("folds", "mean", "halves")


def _table(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(2, n))
    group = (rng.random(n) < 1 / (1 + np.exp(-x - 2 * w))).astype(float)
    return {"x": x, "w": w, "g": group, "v": rng.uniform(0.5, 2, n), "c": rng.integers(0, 40, n)}


@pytest.mark.parametrize(
    "making",
    [
        {},
        {"model": GaussianNB(), "folds": 3, "weights": "v"},
        {"cluster": "c", "seed": 7, "draw": "beta"},
        {"model": "given", "features": ["q"]},
    ],
    ids=["plain", "another model, weighted", "clusters and draws", "given"],
)
def test_it_is_what_score_gives(making: dict[str, Any]) -> None:
    labelled, unlabelled = _table(120, 1), _table(500, 2)
    for rows in (labelled, unlabelled):
        rows["q"] = 1 / (1 + np.exp(-rows["x"] - rows["w"]))
    asked = {"features": ["x", "w"], "controls": ["x"], "group": "g", **making}
    found = score_each(labelled, unlabelled, calibrators=CALIBRATORS, splits=SPLITS, **asked)
    assert list(found) == [(name, split) for name in CALIBRATORS for split in SPLITS]
    for (name, split), each in found.items():
        alone = sl.score(labelled, unlabelled, calibrator=name, split=split, threads=1, **asked)  # type: ignore[arg-type]
        # Rows in other batches: matrix products may differ in their last bit.
        assert each.unlabelled == pytest.approx(alone.unlabelled, abs=1e-13), (name, split)
        assert each.labelled == pytest.approx(alone.labelled, abs=1e-13), (name, split)
        assert each.audit.tolist() == alone.audit.tolist()


def test_some_alone_are_as_among_others() -> None:
    labelled, unlabelled = _table(100, 3), _table(300, 4)
    asked: dict[str, Any] = {"features": ["x", "w"], "controls": ["x"], "group": "g"}
    every = score_each(labelled, unlabelled, calibrators=CALIBRATORS, splits=SPLITS, **asked)
    for name, split in (("platt", "folds"), ("none", "folds"), ("isotonic", "halves")):
        alone = score_each(labelled, unlabelled, calibrators=[name], splits=[split], **asked)
        assert list(alone) == [(name, split)]
        assert alone[name, split].unlabelled == pytest.approx(every[name, split].unlabelled, abs=1e-13)
