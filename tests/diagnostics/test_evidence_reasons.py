"""Why there is no evidence: no labels, one class, too few rows, no score, or one that the controls know."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from softlabel import Diagnosis
from tests.labelled import diagnosed, study


def _silent(d: Diagnosis, said: str) -> None:
    """Compare the reason that every part gives."""
    assert d.ladder.reason is not None
    assert said in d.ladder.reason
    assert not d.ladder.rungs
    assert d.calibration.reason == d.ladder.reason
    assert [row.reason for row in d.audits] == [d.ladder.reason] * len(d.audits)
    for name in ("rectified", "instrumented", "combined", "adaptive"):
        row = d.estimate(name)
        assert (row.estimate, row.interval, row.reason) == (None, None, d.ladder.reason)
    audits = [row for row in d.checks if row.code in ("exclusion", "calibration.given_controls", "samples.score")]
    assert [row.outcome for row in audits] == ["skipped"] * 3
    assert all(said in row.message for row in audits)


def _labels(data: dict[str, Any], keep: Any) -> dict[str, Any]:
    """The same with the group of these rows only."""
    group = np.nan_to_num(np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float))
    return data | {"g": pa.array(group.astype(np.int8), mask=~(keep & ~np.asarray(data["g"].is_null())))}


def _drawn(**options: Any) -> dict[str, Any]:
    return study(np.random.default_rng(2), n=500, labelled=60, **options)


def test_no_labels() -> None:
    _silent(diagnosed(_labels(_drawn(), np.zeros(560, dtype=bool))), "there are no labelled rows")


def test_one_class() -> None:
    data = _drawn()
    ones = np.nan_to_num(np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float)) == 1
    _silent(diagnosed(_labels(data, ones)), "are of group 1")


def test_five_rows() -> None:
    data = _drawn()
    group = np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float)
    keep = np.zeros(560, dtype=bool)
    keep[[*np.flatnonzero(group == 1)[:3], *np.flatnonzero(group == 0)[:2]]] = True
    _silent(diagnosed(_labels(data, keep)), "5 ")


def test_few_of_a_class() -> None:
    data = _drawn()
    group = np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float)
    keep = group == 0
    keep[np.flatnonzero(group == 1)[0]] = True
    data = _labels(data, keep) | {"x1": np.round(data["x1"]), "x2": np.round(data["x2"])}
    # With HC3 the only row of a group decides its coefficient, so that there is no supervised either.
    _silent(diagnosed(data, covariance="HC0"), "are of group 1, and 2 are needed")


def test_few_audit_rows() -> None:
    audit = np.arange(560) < 7
    _silent(diagnosed(_drawn() | {"clean": audit}, audit="clean"), "7 audit rows are too few")


def test_no_row_that_audits() -> None:
    _silent(diagnosed(_drawn() | {"clean": np.zeros(560)}, audit="clean"), "no labelled row is marked 1 in the audit")
    # A mark beside no label does not count; one beside a label without a score does, and is one too few.
    labelled = ~np.asarray(_drawn()["g"].is_null())
    _silent(diagnosed(_drawn() | {"clean": ~labelled}, audit="clean"), "no labelled row is marked 1 in the audit")
    unscored = _drawn() | {"p": pa.array(_drawn()["p"], mask=labelled), "clean": labelled}
    _silent(diagnosed(unscored, audit="clean"), "0 audit rows are too few")


def test_labelled_rows_without_a_score() -> None:
    data = _drawn()
    hidden = np.asarray(data["g"].is_null())
    _silent(diagnosed(data | {"p": pa.array(data["p"], mask=~hidden)}), "0 labelled rows with a score are too few")


def test_a_score_that_the_controls_know() -> None:
    data = _drawn()
    d = diagnosed(data | {"p": 0.5 + 0.1 * np.tanh(data["x1"]), "x2": np.tanh(data["x1"])}, controls=["x2"])
    _silent(d, "soft cannot be computed")


def test_a_score_that_the_controls_know_on_the_audit_rows() -> None:
    # The score is that of the controls on labelled rows, and more than that elsewhere.
    data = _drawn()
    hidden = np.asarray(data["g"].is_null())
    x = np.tanh(data["x1"])
    fitted = np.polynomial.Polynomial.fit(x[hidden], data["p"][hidden], 1)
    d = diagnosed(data | {"p": np.where(hidden, data["p"], fitted(x)), "x2": x}, controls=["x2"], folds=None)
    _silent(d, "the controls explain the score completely on the audit rows")


@pytest.mark.parametrize("labelled", [12, 20])
def test_as_few_as_ten_audit(labelled: int) -> None:
    d = diagnosed(study(np.random.default_rng(4), n=500, labelled=labelled))
    assert d.ladder.reason is None
    assert d.ladder.n_audit == labelled
