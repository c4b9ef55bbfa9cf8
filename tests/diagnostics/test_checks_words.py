"""What checks say: one sentence, every explanation, an advice, and effects in the units of the outcome."""

import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from softlabel import Diagnosis
from tests.labelled import diagnosed, one, picked, study

EFFECTS = {
    "calibration.given_controls",
    "exclusion",
    "effect.varies",
    "overidentification",
    "samples.soft",
}

SAID = {
    "calibration.given_controls": ["not calibrated given the controls", "calibrated on other rows", "labelled rows"],
    "calibration.controls_only": ["not calibrated given the controls", "calibrated on other rows", "labelled rows"],
    "calibration.marginal": ["not calibrated given the controls", "calibrated on other rows", "labelled rows"],
    "calibration.control": ["not calibrated given the controls", "calibrated on other rows", "labelled rows"],
    "exclusion": ["what the classifier saw matters", "the effect varies", "the controls act otherwise"],
    "overidentification": ["not calibrated", "what the classifier saw matters", "labelled rows", "the effect varies"],
    "samples.soft": ["another population", "the effect varies"],
    "samples.score": ["not a random part"],
    "samples.controls": ["not a random part"],
    "samples.outcome": ["not a random part"],
    "effect.varies": ["changes with the controls"],
}


def _diagnoses() -> list[Diagnosis]:
    rng = np.random.default_rng(31)
    wild: dict[str, Any] = {"sharp": 0.3, "tilt": 1.0, "leak": 1.5, "varies": 2.0, "level": 0.5}
    return [
        diagnosed(study(rng)),
        diagnosed(study(rng, **wild, shift="controls", by=1.0, labelled=600)),
        diagnosed(study(rng, **wild, shift="outcome", by=1.0, labelled=600)),
        diagnosed(study(rng, **wild, shift="score", by=1.0, labelled=600)),
        diagnosed(picked(rng)),
        diagnosed(study(rng, labelled=5)),
        diagnosed(study(rng, hard=True, labelled=60), controls=[]),
        diagnosed(study(rng, spread=0.1), features=["x1"]),
    ]


def test_messages_are_one_sentence_and_every_finding_has_advice() -> None:
    for d in _diagnoses():
        for row in d.checks:
            assert row.message, row.code
            assert row.message[0].isupper() or row.message[0].isdigit(), row.message
            assert row.message[-1] not in ".!? ", row.message
            # A full stop within is a decimal point, or part of a name.
            assert not re.search(r"[.!?] [A-Z]", row.message), row.message
            assert row.message.isascii(), row.message
            assert row.advice, row.code
            assert not row.advice.endswith("."), row.advice
            if row.outcome in ("warn", "fail"):
                assert row.advice != "Nothing to do", row.code


def test_outcomes_are_those_of_the_p_value() -> None:
    for d in _diagnoses():
        for row in d.checks:
            if row.p_value is None or row.code == "audit.clean":
                continue
            expected = "fail" if row.p_value < 0.01 else "warn" if row.p_value < 0.05 else "pass"
            assert row.outcome == expected, row.code
            assert row.statistic is not None
            assert row.df is not None


def test_what_a_failure_admits_is_all_named() -> None:
    failed = [row for d in _diagnoses() for row in d.checks if row.outcome == "fail" and row.p_value is not None]
    assert set(SAID) <= {row.code for row in failed}
    for row in failed:
        for said in SAID.get(row.code, []):
            assert said in row.message, (row.code, said)


@pytest.mark.parametrize("unit", [1e-3, 40.0])
def test_effects_are_in_the_units_of_the_outcome(unit: float) -> None:
    broken: dict[str, Any] = {"leak": 0.5, "tilt": 0.5, "varies": 0.5}
    plain = diagnosed(study(np.random.default_rng(2), **broken))
    scaled = diagnosed(study(np.random.default_rng(2), **broken, unit=unit))
    seen = set()
    for row, beside in zip(plain.checks, scaled.checks, strict=True):
        assert (row.code, row.outcome, row.df) == (beside.code, beside.outcome, beside.df)
        if row.effect is not None:
            seen.add(row.code)
            # Rows are dealt to folds by their values, so another unit has other folds.
            assert beside.effect == pytest.approx(row.effect * unit, rel=0.05, abs=0.01 * unit), row.code
    assert seen == EFFECTS


def test_effects_are_those_of_the_audit() -> None:
    d = diagnosed(study(np.random.default_rng(2), leak=0.5, tilt=0.5))
    soft = d.audits.rows[0]
    assert soft.slope is not None
    assert one(d, "exclusion").effect == soft.leak
    assert one(d, "calibration.given_controls").effect == pytest.approx(d.ladder.moments[0] * (soft.slope - 1))
    assert one(d, "samples.soft").effect == pytest.approx(d.ladder.moments[2] - d.ladder.moments[1])
    assert one(d, "overidentification").effect == pytest.approx(d.ladder.moments[2] - d.ladder.moments[0])


def test_without_controls_what_is_about_them_does_not_apply() -> None:
    d = diagnosed(study(np.random.default_rng(2)), controls=[])
    about = {"calibration.controls_only", "calibration.control", "effect.varies", "samples.controls"}
    assert {row.code for row in d.checks if row.outcome == "not_applicable"} >= about


def test_each_control_is_looked_at_with_holms_correction() -> None:
    d = diagnosed(study(np.random.default_rng(2), tilt=0.4))
    rows = [row for row in d.checks if row.code == "calibration.control"]
    assert [row.title for row in rows] == ["Calibrated along x1", "Calibrated along x2"]
    assert [row.df for row in rows] == [1, 1]
    plain = [float(chi2.sf(row.statistic or 0, 1)) for row in rows]
    small, large = sorted(range(2), key=lambda i: plain[i])
    assert rows[small].p_value == pytest.approx(min(1, 2 * plain[small]), rel=1e-9)
    assert rows[large].p_value == pytest.approx(max(2 * plain[small], plain[large]), rel=1e-9)
