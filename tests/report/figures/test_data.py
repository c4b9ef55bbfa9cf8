"""What the figures show is what the Diagnosis says, number by number."""

import sys

import pytest

from softlabel import Diagnosis
from softlabel.report.figures import DRAWINGS, FigureData
from softlabel.results.inference import quantile
from tests.report.cases import CASES, case


@pytest.fixture
def d() -> Diagnosis:
    return case("clinic")


def test_kappa_is_that_of_both_tables(d: Diagnosis) -> None:
    rows = list(d.plot.data.kappa())
    assert [(r.threshold, r.kappa, r.ci_low, r.ci_high, r.n) for r in rows if r.name == "hard"] == [
        (r.threshold, r.kappa, r.ci_low, r.ci_high, r.n_above) for r in d.kappa
    ]
    assert [(r.threshold, r.kappa, r.ci_low, r.n, r.floor) for r in rows if r.name == "confident"] == [
        (r.threshold, r.kappa, r.ci_low, r.n_confident, r.floor) for r in d.kappa_confident
    ]


def test_the_forest_has_every_estimate_but_moment_forms_and_marks_the_verdict(d: Diagnosis) -> None:
    rows = list(d.plot.data.estimates())
    assert {(r.name, r.threshold) for r in rows} == {(r.name, r.threshold) for r in d.estimates}
    assert len(rows) == len([r for r in d.estimates if r.form != "moment"])
    for row in rows:
        found = d.estimate(row.name, threshold=row.threshold)
        assert (row.estimate, row.ci_low, row.ci_high, row.n) == (found.estimate, found.ci_low, found.ci_high, found.n)
    assert [r.name for r in rows if r.chosen] == [d.verdict.choice]


def test_reliability_has_the_bins_with_normal_intervals_within_zero_and_one(d: Diagnosis) -> None:
    rows = list(d.plot.data.reliability())
    overall = [r for r in rows if r.control is None]
    reach = quantile(d.settings.level, None)
    for row, one in zip(overall, d.calibration.bins, strict=True):
        assert (row.n, row.mean_score, row.share) == (one.n, one.mean_score, one.share)
        ends = (max(one.share - reach * one.std_error, 0), min(one.share + reach * one.std_error, 1))
        assert (row.ci_low, row.ci_high) == ends
    assert [(r.control, r.part, r.share) for r in rows[len(overall) :]] == [
        (r.control, r.part, r.share) for r in d.reliability
    ]
    assert {r.control for r in rows} == {None, *d.settings.controls}


def test_the_score_is_v_star_and_the_rest(d: Diagnosis) -> None:
    explained, left = d.plot.data.score()
    assert (left.variance, left.ci_low, left.ci_high) == (d.v_star.estimate, d.v_star.ci_low, d.v_star.ci_high)
    assert explained.variance + left.variance == pytest.approx(d.score_variance, rel=1e-14)
    assert explained.share + left.share == pytest.approx(1.0, rel=1e-14)


def test_the_forecast_is_that_of_the_diagnosis(d: Diagnosis) -> None:
    assert d.plot.data.forecast() == d.forecast


def test_the_fan_is_drift_up_to_a_tenth_beyond_the_breakdown(d: Diagnosis) -> None:
    soft = [r for r in d.plot.data.drift() if r.name == "soft"]
    assert soft[30] == d.drift(soft[30].delta).rows[0]
    broken = d.breakdown.rows[0].breakdown
    assert broken is not None
    assert soft[-1].delta == pytest.approx(1.1 * broken, rel=1e-12)
    assert soft[0].delta == 0
    assert soft[-1].low is None


def test_the_ladder_steps_from_rung_to_rung(d: Diagnosis) -> None:
    rows = list(d.plot.data.ladder())
    assert [r.name for r in rows] == [
        "supervised", "rectified", "exclusion", "instrumented", "calibration", "combined", "soft", "adaptive",
    ]  # fmt: skip
    for row in rows:
        if row.kind == "estimate":
            found = d.estimate(row.name)
            assert (row.estimate, row.ci_low, row.ci_high) == (found.estimate, found.ci_low, found.ci_high)
    for at, step in zip((2, 4), d.ladder.steps, strict=True):
        # A step leads from the rung above it in the list to the one below.
        assert (rows[at].start, rows[at].p_value, rows[at].kept) == (rows[at - 1].estimate, step.p_value, step.kept)
        assert rows[at].estimate == pytest.approx(rows[at + 1].estimate, rel=1e-9)


def test_the_audit_is_slope_and_leak(d: Diagnosis) -> None:
    for row, one in zip(d.plot.data.audit(), d.audits, strict=True):
        assert (row.name, row.threshold, row.bias, row.leak, row.n) == (
            one.name,
            one.threshold,
            one.bias,
            one.leak,
            one.n,
        )
        assert row.slope_part is not None
        assert one.slope is not None
        # bias = τ(c − 1) + ℓ, with τ that of the labels alone.
        tau = d.estimate("supervised").estimate
        assert tau is not None
        assert row.slope_part == pytest.approx(tau * (one.slope - 1), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("figure", DRAWINGS)
def test_every_figure_can_be_laid_out_or_says_why_not(name: str, figure: str) -> None:
    d = case(name)
    drawing = DRAWINGS[figure](d)
    assert drawing.name == figure
    if drawing.rows:
        assert len(drawing.rows) == len(drawing.heights)
        assert "n = " in drawing.caption
        for panel in (panel for row in drawing.rows for panel in row):
            assert panel.x_label
            assert panel.x_limits[0] < panel.x_limits[1]
            assert panel.y_limits[0] < panel.y_limits[1]
            assert panel.names or panel.y_label
    else:
        assert drawing.reason.endswith(".")
        assert "None" not in drawing.reason
    assert "None" not in drawing.caption


def test_what_lacks_labels_lacks_what_needs_them() -> None:
    unlabelled = case("unlabelled")
    without = {name for name, draw in DRAWINGS.items() if not draw(unlabelled).rows}
    assert without == {"ladder", "audit"}
    assert not len(FigureData(unlabelled).ladder())
    # Of reliability there remains where the scores lie.
    assert len(DRAWINGS["reliability"](unlabelled).rows) == 1
    assert {name for name, draw in DRAWINGS.items() if not draw(case("no threshold")).rows} == {"kappa", "forecast"}


def test_a_diagnosis_of_before_these_figures_still_has_them(d: Diagnosis) -> None:
    from dataclasses import replace

    from softlabel.results import Table

    old = replace(d, distribution=None, reliability=Table(()))
    assert len(DRAWINGS["score"](old).rows) == 1
    assert len(DRAWINGS["reliability"](old).rows) == 1


def test_the_data_need_no_matplotlib() -> None:
    import subprocess

    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tests.report.cases import case\n"
        "d = case('one threshold'); d.plot.data.kappa(); d.plot.caption('drift')\n"
        "try: d.plot.kappa()\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("InputError")
    assert "pip install softlabel[figures]" in run.stdout
