"""What is wrong with labelled rows that no mean shows: chosen by the score, copied into it, of leverage one."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

import softlabel as sl
from softlabel import Diagnosis
from softlabel.results import Check

Floats = NDArray[np.float64]


def table(seed: int, chosen: str = "random", n: int = 4_000, labelled: int = 400) -> dict[str, Any]:
    """Rows with exact scores, of which some are labelled: at random, or where the score is unsure, or sure."""
    rng = np.random.default_rng(seed)
    x, s = rng.normal(size=(2, n))
    p = expit(0.5 * x + 1.5 * s)
    g = (rng.random(n) < p).astype(np.float64)
    y = x + g + 0.3 * s + rng.normal(size=n)
    unsure = np.abs(p - 0.5) < 0.25
    weight = {"random": np.ones(n), "unsure": np.where(unsure, 1.0, 0.1), "sure": np.where(unsure, 0.1, 1.0)}[chosen]
    shown = rng.choice(n, labelled, replace=False, p=weight / weight.sum())
    group = np.full(n, np.nan)
    group[shown] = g[shown]
    return {"y": y, "g": group, "p": p, "x": x}


def diagnosed(data: dict[str, Any], **options: Any) -> Diagnosis:
    options = {"controls": ["x"], "basis": "linear", "thresholds": (0.5,), "confident": (), **options}
    return sl.diagnose(data, outcome="y", group="g", score="p", **options)


def found(d: Diagnosis, code: str) -> Check:
    return next(check for check in d.checks if check.code == code)


@pytest.mark.parametrize("chosen", ["unsure", "sure"])
def test_rows_labelled_by_their_score_are_seen_though_no_mean_differs(chosen: str) -> None:
    d = diagnosed(table(1, chosen))
    assert found(d, "samples.score").outcome == "fail"
    assert d.verdict.choice == "supervised"
    assert "another population" in d.verdict.sentence


def test_rows_labelled_at_random_are_not_taken_for_others() -> None:
    # Of 60 draws none is sent back to supervised: the rule asks for p < 0.001 over four comparisons.
    assert all(diagnosed(table(seed)).verdict.choice == "adaptive" for seed in range(100, 160))


def test_a_label_copied_into_the_score_is_seen() -> None:
    data = table(2)
    shown = ~np.isnan(data["g"])
    data["p"] = np.where(shown, data["g"], data["p"])
    d = diagnosed(data)
    clean = found(d, "audit.clean")
    assert (clean.outcome, clean.p_value) == ("fail", None)
    assert "score is the group itself" in clean.message
    assert d.verdict.choice == "supervised"


def test_a_score_of_exactly_zero_in_the_group_is_one_finding() -> None:
    data = table(3)
    data["p"] = data["p"].copy()
    data["p"][np.flatnonzero(data["g"] == 1)[0]] = 0.0
    d = diagnosed(data)
    marginal = found(d, "calibration.marginal")
    assert (marginal.outcome, marginal.p_value) == ("fail", None)
    assert marginal.message.startswith("1 audit rows have a score of exactly 0 or 1")
    failing = [check.code for check in d.checks if check.outcome == "fail" and check.code.startswith("calibration")]
    assert failing == ["calibration.marginal"]


def test_a_row_that_decides_a_coefficient_alone_does_not_end_the_ladder() -> None:
    data = table(4)
    rare = np.zeros(len(data["y"]))
    rare[np.flatnonzero(~np.isnan(data["g"]))[0]] = 1.0
    rare[np.flatnonzero(np.isnan(data["g"]))[:40]] = 1.0
    d = diagnosed({**data, "rare": rare}, controls=["x", "rare"])
    assert d.estimate("supervised").estimate is None
    assert d.verdict.choice == "adaptive"
    assert any(note.code == "errors.plain" and "use HC1" in note.message for note in d.notes)
    # With HC1 asked for nothing needs saying, and the numbers are the same.
    plain = diagnosed({**data, "rare": rare}, controls=["x", "rare"], covariance="HC1")
    assert plain.estimate("rectified") == d.estimate("rectified")
    assert "errors.plain" not in {note.code for note in plain.notes}


def test_a_classifier_that_saw_the_outcome_or_the_group_fails() -> None:
    for leaked in ("y", "g"):
        structure = found(diagnosed(table(5), features=["x", "notes", leaked]), "score.structure")
        assert structure.outcome == "fail"
        assert leaked in structure.message


def test_scores_that_add_up_nearly_are_doubted_and_those_that_add_up_exactly_fail() -> None:
    # A calibrator leaves zero where it was fitted, and comes near out of fold: only the first is proof.
    data = table(6)
    shown = np.flatnonzero(~np.isnan(data["g"]))
    for left, outcome, choice in ((0.0, "fail", "supervised"), (0.004, "warn", "adaptive")):
        p = data["p"].copy()
        for _ in range(60):
            gap = (p[shown] - data["g"][shown]).sum() - left
            p[shown] = np.clip(
                p[shown] - gap * p[shown] * (1 - p[shown]) / (p[shown] * (1 - p[shown])).sum(), 0.001, 0.999
            )
        d = diagnosed({**data, "p": p})
        assert found(d, "audit.clean").outcome == outcome
        assert d.verdict.choice == choice


def test_scores_that_add_up_nearly_are_doubted_unless_the_caller_vouches_for_the_rows() -> None:
    data = table(3)
    shown = ~np.isnan(data["g"])
    p, group = data["p"][shown], data["g"][shown]
    error = np.sqrt((p * (1 - p)).sum())
    # Off by a thousandth of what chance leaves, as out-of-fold scores may come; then by a hundred-millionth.
    for share, plain, vouched in ((1e-3, "warn", "pass"), (1e-8, "fail", "fail")):
        away = (group - p).sum() - share * error
        data["p"][shown] = np.clip(p + away / shown.sum(), 0, 1)
        for _ in range(50):  # what was cut at 0 and 1 goes to the others
            inside = (data["p"][shown] > 0) & (data["p"][shown] < 1)
            left = (group - data["p"][shown]).sum() - share * np.sqrt((data["p"][shown] * (1 - data["p"][shown])).sum())
            data["p"][np.flatnonzero(shown)[inside]] += left / inside.sum()
        assert found(diagnosed(data), "audit.clean").outcome == plain
        named = data | {"a": np.where(shown, 1.0, np.nan)}
        assert found(diagnosed(named, audit="a"), "audit.clean").outcome == vouched
