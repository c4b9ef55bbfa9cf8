"""Records: frozen and slotted; a number with its uncertainty, or the reason why there is none."""

import copy
import dataclasses
import importlib
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from softlabel import Diagnosis, InputError
from softlabel.results.inference import check_level, p_value, quantile
from softlabel.results.records import estimated, not_estimated

STORED = Diagnosis.from_json((Path(__file__).parent / "schema_1.json").read_bytes())
RECORDS = [
    STORED,
    STORED.verdict,
    STORED.verdict.because[0],
    STORED.estimates,
    STORED.estimates.rows[0],
    STORED.kappa.rows[0],
    STORED.kappa_confident.rows[0],
    STORED.label_equivalents.rows[0],
    STORED.learners.rows[0],
    STORED.sample,
    STORED.sample.missing[0],
    STORED.settings,
    STORED.notes[0],
]
OF_TRUST = [
    STORED.checks.rows[0],
    STORED.audits.rows[0],
    STORED.calibration,
    STORED.calibration.bins.rows[0],
    STORED.ladder,
    STORED.ladder.rungs.rows[0],
    STORED.ladder.steps.rows[0],
]
OF_DRIFT = [
    STORED.drift_curves,
    STORED.drift_curves.curves[0],
    STORED.drift_curves.supported,
    STORED.drift(0.05).rows[0],
    STORED.breakdown.rows[0],
]
OF_FORECASTS = [STORED.forecast.rows[0]]


def _name(record: object) -> str:
    return type(record).__name__


@pytest.mark.parametrize(
    ("module", "records"),
    [("records", RECORDS), ("trust", OF_TRUST), ("drift", OF_DRIFT), ("forecast", OF_FORECASTS)],
)
def test_every_kind_of_record_is_looked_at_here(module: str, records: list[object]) -> None:
    room = importlib.import_module(f"softlabel.results.{module}")
    kinds = {name for name in room.__all__ if dataclasses.is_dataclass(getattr(room, name))}
    assert kinds == set(map(_name, records)) - {"Diagnosis", "Table"}


@pytest.mark.parametrize("record", [*RECORDS, *OF_TRUST, *OF_DRIFT, *OF_FORECASTS], ids=_name)
def test_records_are_frozen_slotted_hashable_and_copied_equal(record: Any) -> None:
    assert not hasattr(record, "__dict__")
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(record, field.name)
    # CPython 3.11 reports a name without a slot as a TypeError.
    with pytest.raises((AttributeError, TypeError)):
        record.unheard_of = 1
    for twin in (copy.deepcopy(record), pickle.loads(pickle.dumps(record))):  # noqa: S301
        assert twin == record
        assert hash(twin) == hash(record)


# -------------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("df", [None, 1, 7, 300])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_interval_and_p_value_are_those_of_scipy(level: float, df: int | None) -> None:
    law = stats.norm(1.5, 0.5) if df is None else stats.t(df, 1.5, 0.5)
    row = estimated("soft", 1.5, 0.25, 40, level=level, df=df)
    low, high = row.interval or (math.nan, math.nan)
    assert row.std_error == 0.5
    assert (low, high) == pytest.approx(law.interval(level))
    assert row.p_value == pytest.approx(2 * law.cdf(0.0), rel=1e-12)
    assert (row.n, row.level, row.df, row.reason) == (40, level, df, None)
    assert quantile(level, df) == pytest.approx((law.ppf(0.5 + level / 2) - 1.5) / 0.5)


def test_small_p_values_keep_their_digits() -> None:
    # 2 * Phi(-30), from log Phi of scipy; 1 - cdf would give zero.
    assert p_value(30.0, 1.0, None) == pytest.approx(2 * math.exp(stats.norm.logsf(30)), rel=1e-10)
    assert p_value(-30.0, 1.0, None) == p_value(30.0, 1.0, None)


def test_an_error_of_zero() -> None:
    assert p_value(0.0, 0.0, None) == 1.0
    assert p_value(2.0, 0.0, None) == 0.0
    assert estimated("soft", 2.0, 0.0, 9).interval == (2.0, 2.0)


@pytest.mark.parametrize(
    ("point", "variance"),
    [(math.nan, 1.0), (math.inf, 1.0), (1.0, math.nan), (1.0, math.inf), (1.0, -1.0), (-math.inf, -1.0)],
)
def test_what_is_not_finite_becomes_a_reason(point: float, variance: float) -> None:
    row = estimated("hard", point, variance, 12, threshold=0.9, form="moment", level=0.9, df=3)
    assert row == not_estimated(
        "hard",
        "the numbers overflow: rescale the outcome or the controls",
        12,
        threshold=0.9,
        form="moment",
        level=0.9,
    )
    assert (row.estimate, row.std_error, row.interval, row.p_value) == (None,) * 4


def test_the_highest_level_below_one_has_a_finite_interval() -> None:
    # 8.29 normal standard deviations leave 1.1e-16 outside.
    assert quantile(math.nextafter(1, 0), None) == pytest.approx(-stats.norm.ppf(2**-54))


@pytest.mark.parametrize("level", [0.49, 1, 1.5, 95, "0.9", None, math.nan, math.inf])
def test_a_level_is_between_a_half_and_one(level: Any) -> None:
    with pytest.raises(InputError, match=r"level=0\.95"):
        check_level(level)


# -------------------------------------------------------------------------------------- picking one


def test_picking_an_estimate() -> None:
    assert STORED.estimate("soft").form == "orthogonal"
    assert STORED.estimate("soft", form="moment").estimate == 1.15
    assert STORED.estimate("hard", threshold=0.5).estimate == 0.5
    assert STORED.estimate("hard", threshold=0.5, form="moment").estimate == 0.52
    assert STORED.estimate("hard", threshold=0.9).reason == "no score is above 0.9"
    assert STORED.estimate("deattenuated", threshold=0.5).form is None
    assert STORED.estimate("confident", threshold=0.75).n == 8_000
    assert STORED.estimate("supervised").df == 475


@pytest.mark.parametrize(
    ("name", "options", "parts"),
    [
        ("sofft", {}, ["the name of an estimator", "'sofft'", "Did you mean 'soft'?", "'supervised', 'soft', 'hard'"]),
        ("hard", {}, ["threshold for 'hard' to be one of [0.5, 0.9]", "threshold=None"]),
        ("hard", {"threshold": 0.6}, ["one of [0.5, 0.9]", "threshold=0.6", "diagnose again"]),
        ("soft", {"threshold": 0.5}, ["no threshold for 'soft'", "threshold=0.5"]),
        ("soft", {"form": "momment"}, ["['orthogonal', 'moment']", "form='momment'", "Leave form out"]),
        ("deattenuated", {"threshold": 0.5, "form": "moment"}, ["form for 'deattenuated'", "form='moment'"]),
        ("supervised", {"form": "moment"}, ["form for 'supervised'"]),
        ("adaptive", {"threshold": 0.5}, ["no threshold for 'adaptive'"]),
        ("rectifed", {}, ["Did you mean 'rectified'?"]),
    ],
)
def test_picking_what_is_not_there(name: str, options: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        STORED.estimate(name, **options)
    assert [part for part in parts if part not in str(caught.value)] == []
