"""The note that soft rests on few labels: when it comes, and that its number is about right."""

import math
from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel.diagnostics.calibrator_note import calibrator_notes
from softlabel.results import ScoreReport, Table
from softlabel.results.records import estimated, not_estimated

SOFT = estimated("soft", -2.0, 0.03**2, 20_000)


def _report(slope_error: float | None, labelled: int = 200) -> ScoreReport:
    return ScoreReport(
        model="logistic",
        calibrator="platt",
        split="folds",
        folds=5,
        draw="mean",
        seed=0,
        features=("x", "w"),
        controls=("x",),
        labelled=labelled,
        labelled_by_class=(labelled // 2, labelled // 2),
        unlabelled=20_000,
        audit=labelled,
        missing=(),
        metrics=Table(()),
        remainder=0.5,
        slope=1.0,
        slope_error=slope_error,
        notes=(),
    )


def test_errors_add_up_by_hand() -> None:
    # 3-4-5: a standard error of 0.03 and noise of 2 x 0.02 make 0.05.
    (note,) = calibrator_notes(SOFT, _report(0.02))
    assert note.code == "soft.calibrator_noise"
    assert "200 labels" in note.message
    assert "soft, 0.030, does" in note.message
    assert "about 0.050," in note.message
    assert "read rectified" in note.message


def test_quiet_where_the_noise_is_small_unknown_or_soft_missing() -> None:
    # Half of 0.03 over 2 is where it begins.
    assert calibrator_notes(SOFT, _report(0.0074)) == []
    assert len(calibrator_notes(SOFT, _report(0.0076))) == 1
    assert calibrator_notes(SOFT, None) == []
    assert calibrator_notes(not_estimated("soft", "-", 0), _report(0.5)) == []
    nothing = estimated("soft", 0.0, 1.0, 9)
    assert calibrator_notes(nothing, _report(0.5)) == []


def test_without_audit_rows_it_comes_without_a_number() -> None:
    (note,) = calibrator_notes(SOFT, _report(None))
    assert not any(character.isdigit() for character in note.message.replace("200", ""))


def _drawn(seed: int, labelled: int, unlabelled: int = 4_000) -> dict[str, Any]:
    rng = np.random.default_rng([seed, labelled])
    n = unlabelled + labelled
    x, w = rng.normal(size=(2, n))
    g = (rng.random(n) < 1 / (1 + np.exp(-x - 1.5 * w))).astype(float)
    y = x + 2 * g + rng.normal(size=n)
    g[labelled:] = np.nan
    return {"x": x, "w": w, "g": g, "y": y}


def _diagnosed(seed: int, labelled: int) -> sl.Diagnosis:
    return sl.diagnose(
        _drawn(seed, labelled),
        outcome="y",
        group="g",
        controls=["x"],
        features=["x", "w"],
        calibrator="none",
        basis="linear",
        thresholds=(0.5,),
        confident=(),
        threads=1,
    )


def test_the_noise_is_about_what_the_note_says() -> None:
    draws = [_diagnosed(seed, 200) for seed in range(40)]
    soft = [d.estimate("soft") for d in draws]
    spread = float(np.std([row.estimate or 0 for row in soft], ddof=1))
    counted = float(np.mean([row.std_error or 0 for row in soft]))
    slopes = [d.scoring.slope_error for d in draws if d.scoring is not None and d.scoring.slope_error is not None]
    total = math.hypot(counted, float(np.mean([abs(row.estimate or 0) for row in soft]) * np.mean(slopes)))
    # A standard deviation of 40 draws has a relative standard error of 1/sqrt(78) = 0.113; three of them.
    assert spread == pytest.approx(total, rel=3 * 0.113)
    # What the standard error counts is not near it: the note is needed.
    assert spread > (1 + 3 * 0.113) * counted
    assert all("soft.calibrator_noise" in {note.code for note in d.notes} for d in draws)


def test_a_score_from_elsewhere_says_nothing_and_the_summary_shows_the_note() -> None:
    d = _diagnosed(0, 200)
    assert "The score was made of 200 labels" in " ".join(d.summary().split())
    given = {**_drawn(0, 200), "p": 0.5 + 0.4 * np.tanh(_drawn(0, 200)["w"])}
    other = sl.diagnose(given, outcome="y", group="g", controls=["x"], score="p", basis="linear")
    assert "soft.calibrator_noise" not in {note.code for note in other.notes}
