"""The notes that a diagnosis carries: each appears when it should, and only then."""

from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import softlabel as sl
from softlabel.results import Diagnosis
from tests import oracle


def table(n: int = 1_200, labelled: int = 60, seed: int = 3) -> dict[str, Any]:
    rows = oracle.draw(n, 2, seed)
    g = (np.random.default_rng(seed).random(n) < rows.p[:, 0]).astype(float)
    g[labelled:] = np.nan
    return {"y": rows.y, "p": rows.p[:, 0], "x0": rows.X[:, 0], "x1": rows.X[:, 1], "g": g}


def diagnose(data: dict[str, Any], controls: tuple[str, ...] = ("x0", "x1"), **options: Any) -> Diagnosis:
    options = {"group": "g", "thresholds": (0.5,), "confident": (0.7,), **options}
    return sl.diagnose(data, outcome="y", score="p", controls=controls, **{"basis": "linear", **options})


def codes(found: Diagnosis) -> set[str]:
    return {note.code for note in found.notes}


def message(found: Diagnosis, code: str) -> str:
    (note,) = (note for note in found.notes if note.code == code)
    return note.message


def test_nothing_to_say() -> None:
    assert codes(diagnose(table())) == set()


def test_no_labels() -> None:
    assert codes(diagnose(table(), group=None)) == {"labels.none"}


def test_redundant_controls_are_named_and_change_nothing() -> None:
    data = table()
    plain = diagnose(data, folds=None)
    data |= {"twice": 2 * data["x0"] - 1, "flat": np.full(1_200, 0.1)}
    found = diagnose(data, ("x0", "flat", "twice", "x1"), folds=None)
    assert codes(found) == {"controls.redundant"}
    assert found.sample.redundant_controls == ("flat", "twice")
    assert message(found, "controls.redundant").endswith("flat, twice")
    for a, b in zip(plain.estimates, found.estimates, strict=True):
        # The interval holds the standard error, which what adapts does not have.
        ends = (a.estimate, a.ci_low, a.ci_high)
        assert (b.estimate, b.ci_low, b.ci_high) == pytest.approx(ends, rel=1e-9)


def test_rows_that_repeat() -> None:
    data = {name: np.tile(column[:300], 4) for name, column in table().items()}
    data["g"] = np.where(np.arange(1_200) < 60, data["g"], np.nan)
    found = diagnose(data)
    assert codes(found) == {"folds.in_sample", "rows.repeat"}
    assert found.sample.folds is None
    # 1,140 unlabelled rows: 240 distinct four times and 60 three times.
    assert found.sample.n_effective == pytest.approx(1_140**2 / (240 * 16 + 60 * 9), rel=0.03)
    in_sample = diagnose(data, folds=None)
    assert codes(in_sample) == {"rows.repeat"}
    for name in ("estimate", "std_error"):
        assert getattr(in_sample.estimate("soft"), name) == pytest.approx(
            getattr(found.estimate("soft"), name), rel=1e-12
        )
    # An id tells copies apart.
    data["id"] = np.arange(1_200)
    assert codes(diagnose(data, id="id")) == {"rows.repeat"}


def test_rows_left_out() -> None:
    data = table()
    data["x1"] = data["x1"].copy()
    data["x1"][[5, 700, 701]] = np.nan
    found = diagnose(data, missing="drop")
    assert codes(found) == {"rows.dropped"}
    assert "3 of 1,200 rows" in message(found, "rows.dropped")
    assert "x1 3" in message(found, "rows.dropped")


def test_few_rows_on_one_side() -> None:
    data = table()
    high = float(np.sort(data["p"][60:])[-31])  # 30 unlabelled rows above
    found = diagnose(data, thresholds=(0.5, high), confident=(0.7, high))
    assert codes(found) == {"threshold.few_rows", "confident.few_rows"}
    assert f"30 at {high:g}" in message(found, "threshold.few_rows")


def test_a_kappa_below_its_bound() -> None:
    # Scores 0, .39 and .61 at x = 0, 1 and 2, in equal parts: h is (0, 0, 1), and a line in x leaves
    # Σab ∝ .2767 − 1·.61/2 = −.0283 and Σb² ∝ 2/3 − 1/2, so κ = −.17, for any calibrated score impossible.
    rng = np.random.default_rng(4)
    x = np.repeat([0.0, 1.0, 2.0], 500)
    p = np.array([0.0, 0.39, 0.61])[x.astype(int)] + rng.uniform(0, 0.005, size=1_500)
    data = {"y": rng.normal(size=1_500), "p": p, "x": x}
    options: dict[str, Any] = {"group": None, "confident": (0.6,), "folds": None}
    found = diagnose(data, ("x",), **options)
    assert codes(found) == {"labels.none", "kappa.negative", "kappa_confident.below_floor"}
    assert found.kappa["kappa"] == pytest.approx([-0.17], abs=0.01)
    assert found.kappa_confident["kappa"] == pytest.approx([-0.17], abs=0.01)
    for code in ("kappa.negative", "kappa_confident.below_floor"):
        assert "more than sampling error explains" in message(found, code)
    # Without the control κ is a difference of two means, and nothing is wrong.
    assert codes(diagnose(data, (), **options)) == {"labels.none"}


def test_a_hard_label_passed_as_a_score_is_noted() -> None:
    rng = np.random.default_rng(8)
    p = (rng.random(500) < 0.4) * 1.0
    found = sl.diagnose({"y": p + rng.normal(size=500), "p": p}, outcome="y", score="p").notes
    assert "score.hard" in {note.code for note in found}
    p[7] = 0.999
    found = sl.diagnose({"y": p + rng.normal(size=500), "p": p}, outcome="y", score="p").notes
    assert "score.hard" not in {note.code for note in found}


def test_soft_far_from_supervised_is_noted() -> None:
    table = sl.simulate.PaperDesign(sigma_u=0.6).sample(5_000, 500, seed=2)
    reversed_score = table.set_column(3, "p", pc.subtract(1.0, table["p"]))
    for data, differs in ((table, False), (reversed_score, True)):
        d = sl.diagnose(data, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"])
        assert ("estimates.differ" in {note.code for note in d.notes}) == differs


def test_few_unlabelled_rows_are_noted() -> None:
    rng = np.random.default_rng(9)
    for n, few in ((49, True), (50, False)):
        data = {"y": rng.normal(size=n), "p": rng.random(n)}
        assert ("rows.few" in {note.code for note in sl.diagnose(data, outcome="y", score="p").notes}) == few


def test_a_score_of_the_other_group_is_noted_and_stands_beside_the_verdict() -> None:
    design = sl.simulate.PaperDesign(sigma_u=0.6).sample(5_000, 500, seed=2)
    turned = design.set_column(3, "p", pc.subtract(1.0, design["p"]))
    right, wrong = (
        sl.diagnose(data, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"]) for data in (design, turned)
    )
    assert "score.reversed" not in codes(right)
    assert "score.reversed" in codes(wrong)
    page = wrong.summary()
    assert page.index("! Labelled rows in the group have a lower score") < page.index("Data")


def test_copies_are_noted_whatever_the_folds() -> None:
    rng = np.random.default_rng(3)
    n = 8_000
    once = {"y": rng.normal(size=n), "p": rng.random(n), "g": np.where(np.arange(n) < 60, np.arange(n) % 2, np.nan)}
    tripled = {name: np.tile(column, 3) for name, column in once.items()} | {"row": np.arange(3 * n)}
    options: dict[str, Any]
    for options in ({}, {"id": "row"}, {"folds": None}):
        d = sl.diagnose(tripled, outcome="y", group="g", score="p", **options)
        assert {"rows.repeat", "rows.repeat_labelled"} <= codes(d)
        assert "by a factor of about 1.7" in message(d, "rows.repeat")
        assert "180 hold 60 distinct ones" in message(d, "rows.repeat_labelled")
    plain = sl.diagnose(once, outcome="y", group="g", score="p")
    assert not any(code.startswith("rows.repeat") for code in codes(plain))


def test_a_confident_set_of_few_rows_for_its_controls_gives_a_reason_and_no_error() -> None:
    # With six rows for each column errors were half of what they should be; two scores in three hundred are confident.
    rng = np.random.default_rng(4)
    p = np.concatenate([rng.uniform(0.2, 0.8, 2_000), rng.uniform(0.0, 0.04, 9), rng.uniform(0.96, 1.0, 10)])
    data = {"p": p, "y": p + rng.normal(size=len(p)), **{f"x{j}": rng.normal(size=len(p)) for j in range(2)}}
    options: dict[str, Any] = {"outcome": "y", "score": "p", "basis": "linear", "confident": (0.95,), "folds": None}
    few = sl.diagnose(data, controls=["x0", "x1"], **options).estimate("confident", threshold=0.95)
    assert few.reason is not None
    assert few.reason.startswith("19 rows within the confident set, ")
    assert few.reason.endswith("are too few for 3 coefficients")
    assert sl.diagnose(data, controls=[], **options).estimate("confident", threshold=0.95).std_error is not None
