"""What every answer keeps, whatever the question was."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from softlabel import Diagnosis, SoftlabelError
from softlabel.diagnostics.checks import CHECKS
from softlabel.diagnostics.checks.registry import FAIL, WARN
from softlabel.report.layout import WIDTH
from softlabel.results import Audit, Calibration, Check, Drift, Estimate, Forecast, Ladder, Table

__all__ = ["check_diagnosis", "check_error", "check_record", "odd_numbers"]


def check_error(error: SoftlabelError) -> str:
    """Return the message, once it is three parts in one paragraph."""
    text = str(error)
    assert text == f"Expected {error.expected}; found {error.found}. {error.fix}."
    parts = (error.expected, error.found, error.fix)
    assert [
        part for part in parts if not part.strip() or "\n" in part or part.removesuffix("...").endswith(".")
    ] == [], text
    assert len(text) < 1_500, text
    assert "nan" not in error.expected, text
    return text


def odd_numbers(value: Any, path: str = "") -> Iterator[str]:
    """Yield where a record holds a number that is not finite."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield f"{path}={value}"
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from odd_numbers(item, f"{path}[{i}]")
    elif isinstance(value, Table):
        yield from odd_numbers(value.rows, path)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from odd_numbers(getattr(value, field.name), f"{path}.{field.name}")


def check_record(record: Any, point: str = "estimate") -> None:
    """Check a number with its error and interval, or that a reason stands in their place."""
    low, high, error, value = record.ci_low, record.ci_high, record.std_error, getattr(record, point)
    assert list(odd_numbers(record)) == []
    if record.reason is not None:
        _check_reason(record.reason)
        assert (value, error, low, high) == (None, None, None, None)
        return
    assert None not in (value, error, low, high), record
    assert error >= 0
    assert low <= value <= high
    assert 0 <= getattr(record, "p_value", 0.0) <= 1


def _check_reason(reason: str | None) -> None:
    assert reason is not None
    assert reason.strip()
    assert not reason.endswith(".")


def _check_adaptive(d: Diagnosis) -> None:
    """Check that what adapts has a number, and in place of an error of its own the interval of rectified."""
    adaptive, rectified = d.estimate("adaptive"), d.estimate("rectified")
    _check_reason(adaptive.reason)
    if d.ladder.reason is not None:
        assert (adaptive.estimate, adaptive.interval, adaptive.reason) == (None, None, d.ladder.reason)
        return
    assert adaptive.estimate is not None
    assert (adaptive.std_error, adaptive.p_value) == (None, None)
    assert adaptive.interval == rectified.interval is not None
    assert adaptive.df == rectified.df


def _all_or_reason(record: Any, *apart: str) -> bool:
    """Return whether a record has its numbers: all of them, or none and a reason."""
    fields = [field.name for field in dataclasses.fields(record) if field.name not in ("name", "threshold", "reason")]
    given = [getattr(record, name) is not None for name in fields if name not in apart]
    if record.reason is not None:
        _check_reason(record.reason)
        assert not any(given), record
        return False
    assert all(given), record
    return True


def _check_check(one: Check) -> None:
    _check_reason(one.message)
    _check_reason(one.advice)
    assert one.code in CHECKS
    assert one.title.startswith(CHECKS[one.code].title)
    if one.outcome in ("skipped", "not_applicable"):
        assert (one.statistic, one.df, one.p_value, one.effect) == (None, None, None, None), one
    if one.p_value is None:
        return
    assert 0 <= one.p_value <= 1, one
    assert one.statistic is not None, one
    assert (one.p_value < WARN) == (one.outcome in ("warn", "fail")), one
    assert (one.p_value < FAIL) == (one.outcome == "fail"), one


def _check_audit(audit: Audit, supervised: Estimate) -> None:
    if not _all_or_reason(audit, "n"):
        return
    tau = supervised.estimate
    if tau is None:
        # Where one row decides a coefficient HC3 has no error for it; the evidence then uses HC1.
        assert "alone decides a coefficient" in (supervised.reason or "")
        return
    slope, leak, bias = audit.slope or 0.0, audit.leak or 0.0, audit.bias or 0.0
    assert min(audit.slope_error or 0.0, audit.leak_error or 0.0, audit.bias_error or 0.0) >= 0
    assert (audit.bias_low or 0.0) <= bias <= (audit.bias_high or 0.0)
    size = max(abs(tau), abs(tau * slope), abs(leak), abs(bias))
    assert abs(tau * (slope - 1) + leak - bias) <= 1e-9 * size


def _check_calibration(c: Calibration) -> None:
    if not _all_or_reason(c, "bins"):
        assert c.bins.rows == ()
        return
    assert min(c.intercept_error or 0.0, c.slope_error or 0.0) >= 0
    for share in (c.brier, c.brier_expected, c.ece, c.ece_low):
        assert 0 <= (share or 0.0) <= 1 + 1e-12
    assert (c.ece_low or 0.0) <= (c.ece_high or 0.0)
    assert c.bins.rows
    for one in c.bins:
        assert 0 <= one.low <= one.mean_score * (1 + 1e-12)
        assert one.mean_score <= one.high * (1 + 1e-12) <= 1 + 1e-11
        assert 0 <= one.share <= 1 + 1e-12
        assert one.std_error >= 0
        assert one.n > 0
    assert all(one.high < other.low for one, other in pairwise(c.bins))


def _check_ladder(ladder: Ladder) -> None:
    if ladder.reason is not None:
        _check_reason(ladder.reason)
        nothing = Ladder(Table(()), Table(()), n_unlabelled=ladder.n_unlabelled)
        assert dataclasses.replace(ladder, reason=None) == nothing
        return
    assert [(row.rung, row.name) for row in ladder.rungs] == [
        (0, "rectified"),
        (1, "instrumented"),
        (2, "combined"),
    ]
    assert [step.name for step in ladder.steps] == ["exclusion", "calibration"]
    assert all(row.ci_low <= row.estimate <= row.ci_high and row.std_error >= 0 for row in ladder.rungs)
    assert all(0 <= step.kept <= 1 and 0 <= step.p_value <= 1 and step.std_error >= 0 for step in ladder.steps)
    assert len(ladder.moments) == len(ladder.covariance) == 4
    assert all(ladder.covariance[i][i] >= 0 for i in range(4))
    assert ladder.comparable is not None
    assert ladder.comparable[0] >= 0
    assert 0 <= ladder.comparable[1] <= 1
    assert all(low <= high for low, high in ladder.compatible)
    assert None not in (ladder.slope, ladder.leak)
    assert (ladder.guarantee or 0.0) >= 1
    assert min(ladder.n_labelled, ladder.n_audit, ladder.n_unlabelled) > 0
    assert (ladder.group_variance or 0.0) >= 0


def _check_drift(drift: Drift) -> None:
    for curve in drift.curves:
        assert (curve.unclipped is None) == (curve.up == ()) == (curve.down == ())
        if curve.reason is not None:
            _check_reason(curve.reason)
        else:
            assert None not in (curve.estimate, curve.ci_low, curve.ci_high, curve.kappa, curve.unclipped)
        for side in (curve.up, curve.down):
            assert len(side) in (0, len(drift.knots))
            # They are concave in exact numbers, and here to rounding.
            assert all(a <= b * (1 + 1e-9) for a, b in pairwise((0.0, *side)))
    if _all_or_reason(drift.supported, "level", "n", "df"):
        assert 0 <= (drift.supported.delta_hat or 0.0) <= 1
        assert 0 <= (drift.supported.delta_upper or 0.0) <= 1


def _check_forecast(row: Forecast) -> None:
    if row.reason is not None:
        _check_reason(row.reason)
        assert (row.bias, row.squared_bias, row.variance, row.mse, row.best) == (None, None, None, None, False)
        return
    assert None not in (row.kappa, row.bias)
    assert min(row.squared_bias or 0.0, row.variance or 0.0) >= 0
    # Of a soft without error nothing is a multiple.
    assert row.mse is not None
    assert row.relative_to_best is None or row.relative_to_best >= 1


def _check_trust(d: Diagnosis) -> None:
    """Check what is said of what may be trusted."""
    _check_adaptive(d)
    for one in d.checks:
        _check_check(one)
    assert {one.code for one in d.checks} == set(CHECKS)
    for audit in d.audits:
        _check_audit(audit, d.estimate("supervised"))
    _check_calibration(d.calibration)
    _check_ladder(d.ladder)
    _check_drift(d.drift_curves)
    for forecast in d.forecast:
        _check_forecast(forecast)
    for table in (d.drift_contour((0.0, 0.013, 0.05, 1.0)), d.breakdown):
        assert list(odd_numbers(table)) == []
    for reason in (*d.verdict.because, *d.verdict.would_change):
        _check_reason(reason.message)
    codes = [reason.code for reason in d.verdict.because]
    assert len(codes) == len(set(codes))
    if d.verdict.choice is not None and d.verdict.choice != "adaptive":
        chosen = d.estimate(d.verdict.choice)
        assert (d.verdict.estimate, d.verdict.interval) == (chosen.estimate, chosen.interval)


def check_diagnosis(d: Diagnosis) -> None:
    """Check that every number is finite or has a reason, that JSON keeps it, and that a page can be made of it."""
    assert list(odd_numbers(d)) == []
    for estimate in (*d.estimates, d.v_star):
        if estimate.name != "adaptive":
            check_record(estimate)
    _check_trust(d)
    for row in (*d.kappa, *d.kappa_confident):
        check_record(row, "kappa")
    for worth in d.label_equivalents:
        assert (worth.labels is None) == bool(worth.reason)
        assert worth.labels is None or worth.labels >= 0
    assert (d.verdict.choice is None) == (d.verdict.estimate is None)
    assert 0 <= d.score_variance <= 0.25 + 1e-12
    assert d.v_star.estimate is None or d.v_star.estimate >= 0
    assert Diagnosis.from_json(d.to_json()) == d
    page = d.summary()
    assert page.isascii()
    assert [line for line in page.splitlines() if len(line) > WIDTH] == []
    assert "nan" not in page
    assert " inf" not in page
