"""Degenerate studies: what the guarded rule can and cannot say of each, on the page and in JSON."""

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import softlabel as sl
from softlabel import Diagnosis
from tests.labelled import diagnosed, labels, study


def _drawn(**options: Any) -> dict[str, Any]:
    return study(np.random.default_rng(17), **({"n": 1_500, "labelled": 150} | options))


def _kept(data: dict[str, Any], keep: Any) -> dict[str, Any]:
    """The same with the group of these labelled rows only."""
    labelled, group = labels(data)
    full = np.zeros(len(data["y"]), dtype=np.int8)
    full[labelled] = group
    return data | {"g": pa.array(full, mask=~(labelled & keep))}


def _class(data: dict[str, Any], value: int) -> Any:
    return np.nan_to_num(np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float), nan=-1) == value


def _five(data: dict[str, Any]) -> Any:
    keep = np.zeros(len(data["y"]), dtype=bool)
    keep[np.flatnonzero(_class(data, 1))[:3]] = True
    keep[np.flatnonzero(_class(data, 0))[:2]] = True
    return keep


def _cases() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    data = _drawn()
    p = data["p"]
    noise = np.random.default_rng(1).uniform(0.3, 0.7, len(p))
    return {
        "no labels": (_kept(data, np.zeros(len(p), dtype=bool)), {}),
        "one class": (_kept(data, _class(data, 1)), {}),
        "five rows": (_kept(data, _five(data)), {}),
        "five rows, no controls": (_kept(data, _five(data)), {"controls": []}),
        "a slope near zero": (data | {"p": noise}, {}),
        "a drift that could take all": (_drawn(spread=0.1), {}),
        "every row confident": (data | {"p": np.where(p > 0.5, 0.96 + p / 30, p / 30)}, {"confident": (0.9,)}),
        "none confident": (data | {"p": 0.5 + (p - 0.5) / 10}, {"confident": (0.9,)}),
        "a score that is the same": (data | {"p": np.full(len(p), 0.4)}, {}),
    }


CASES = _cases()


def _shown(name: str) -> Diagnosis:
    """Diagnose, and look at what every case must do: finite or a reason, ASCII, and JSON that comes back."""
    data, options = CASES[name]
    d = diagnosed(data, **options)
    text = d.summary()
    assert text.isascii()
    assert "nan" not in text.lower().split()
    assert msgspec.json.decode(d.to_json())["verdict"]["sentence"] == d.verdict.sentence
    assert sl.Diagnosis.from_json(d.to_json()) == d
    for row in d.estimates:
        assert row.estimate is not None or row.reason
        assert row.estimate is None or np.isfinite(row.estimate)
    assert d.verdict.sentence.isascii()
    assert d.verdict.estimate is None or d.verdict.interval is not None
    return d


def test_no_labels() -> None:
    d = _shown("no labels")
    assert d.verdict.sentence.startswith("Neither calibration nor exclusion can be tested: there are no labelled rows")
    assert d.verdict.choice == "soft"
    assert d.verdict.estimate == d.estimate("soft").estimate
    assert "rectified" not in d.verdict.sentence


def test_one_class() -> None:
    d = _shown("one class")
    assert d.verdict.choice == "soft"
    assert "labelled rows are of group 1" in d.verdict.sentence
    assert d.estimate("supervised").reason


def test_five_rows() -> None:
    d = _shown("five rows")
    # Five rows have no residual left to learn a standard error from, or one: never an audit.
    assert d.ladder.reason is not None
    assert d.verdict.choice == ("soft" if d.estimate("supervised").reason else "supervised")
    assert d.ladder.reason in d.verdict.sentence


def test_five_rows_without_controls_give_supervised() -> None:
    d = _shown("five rows, no controls")
    assert d.verdict.choice == "supervised"
    assert "5 labelled rows with a score are too few" in d.verdict.sentence
    assert d.verdict.interval == d.estimate("supervised").interval


def test_a_slope_near_zero() -> None:
    # The score knows nothing of the group: what holds is supervised in all but name, and nothing blows up.
    d = _shown("a slope near zero")
    assert d.verdict.choice == "adaptive"
    assert "score.weak" in {row.code for row in d.checks if row.outcome == "warn"}
    supervised, rectified = d.estimate("supervised"), d.estimate("rectified")
    assert rectified.std_error == pytest.approx(supervised.std_error, rel=0.02)
    assert d.ladder.slope == pytest.approx(0, abs=0.5)
    for low, high in d.ladder.compatible:
        assert np.isfinite([low, high]).all()


def test_a_drift_that_could_take_all() -> None:
    d = _shown("a drift that could take all")
    soft = d.drift(0.4).rows[0]
    assert soft.down is not None
    assert soft.down >= 1
    # There is no effect that could not be: an end of the interval is missing, and the reason says so.
    assert soft.reason is not None or soft.high is None


def test_every_row_confident() -> None:
    d = _shown("every row confident")
    (row,) = d.kappa_confident.rows
    assert row.share == 1
    assert d.verdict.choice == "adaptive"


def test_none_confident() -> None:
    d = _shown("none confident")
    (row,) = d.kappa_confident.rows
    assert (row.n_confident, row.kappa) == (0, None)
    assert row.reason
    assert d.verdict.choice == "adaptive"


def test_a_score_that_is_the_same() -> None:
    d = _shown("a score that is the same")
    assert d.verdict.choice == "supervised"
    assert "soft cannot be computed" in d.verdict.sentence


@pytest.mark.parametrize("name", CASES)
def test_the_rule_of_the_paper_is_untouched(name: str) -> None:
    data, options = CASES[name]
    d = diagnosed(data, rule="paper", **options)
    assert d.verdict.rule == "paper"
    assert d.verdict.choice in ("soft", "supervised", None)
    assert d.verdict.trust is None
    assert not d.verdict.would_change
    assert d.summary().isascii()


@pytest.mark.parametrize("trust", ["nothing", "exclusion", "calibration"])
def test_trust_reaches_the_verdict(trust: Any) -> None:
    d = diagnosed(_drawn(), trust=trust)
    rung = d.ladder.rungs.rows[["nothing", "exclusion", "calibration"].index(trust)]
    assert (d.verdict.choice, d.verdict.estimate) == (rung.name, rung.estimate)
    assert d.verdict.interval == (rung.ci_low, rung.ci_high)
    assert d.settings.trust == trust


def test_labelled_rows_of_another_population_give_supervised() -> None:
    d = diagnosed(_drawn(shift="controls", by=1.0, labelled=400))
    assert d.verdict.choice == "supervised"
    assert "another population" in d.verdict.sentence
    assert d.verdict.interval == d.estimate("supervised").interval
