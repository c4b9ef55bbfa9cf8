"""Every parameter of diagnose matters, and a value it cannot use is refused with a reason."""

import dataclasses
import inspect
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.special import expit

from softlabel import DataError, Diagnosis, InputError, SoftlabelError, diagnose
from softlabel.folds import hash_ids
from softlabel.results import Check

ROLES: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "controls": ["x1", "x2"], "basis": "linear"}
N, LABELLED = 2_000, 150


def _data(seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    rows = N + LABELLED
    x1, x2 = rng.normal(size=(2, rows))
    r = expit(0.8 * x1)
    p = rng.beta(4 * r, 4 * (1 - r))
    g = (rng.random(rows) < p).astype(np.float64)
    y = x1 - 0.5 * x2 + g + rng.normal(size=rows) * (1 + 0.5 * g)
    g[:N] = np.nan
    return {"y": y, "p": p, "g": g, "x1": x1, "x2": x2, "id": np.arange(rows), "y2": y + p, "p2": p * p}


DATA = _data()


def _diagnose(**options: Any) -> Diagnosis:
    return diagnose(options.pop("data", DATA), **{**ROLES, **options})


PLAIN = _diagnose()


def _soft(d: Diagnosis) -> float:
    value = d.estimate("soft").estimate
    assert value is not None
    return value


# ----------------------------------------------------------------------------------------- each matters


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("outcome", "y2"),
        ("score", "p2"),
        ("group", None),
        ("controls", ["x1"]),
        ("folds", 3),
        ("folds", None),
        ("seed", 1),
        ("id", "id"),
    ],
)
def test_the_soft_estimate_depends_on(option: str, value: Any) -> None:
    d = _diagnose(**{option: value})
    assert _soft(d) != pytest.approx(_soft(PLAIN), rel=1e-9)
    stored = getattr(d.settings, option)
    assert (list(stored) if option == "controls" else stored) == value


def test_folds_and_seed_move_the_estimate_by_less_than_its_error() -> None:
    error = PLAIN.estimate("soft").std_error or math.nan
    for options in ({"folds": 2}, {"folds": 20}, {"folds": None}, {"seed": 99}, {"id": "id"}):
        assert abs(_soft(_diagnose(**options)) - _soft(PLAIN)) < 0.2 * error


def test_settings_remember_everything_that_was_asked() -> None:
    asked = {
        **ROLES,
        "thresholds": (0.4, 0.7),
        "confident": (0.6,),
        "basis": "linear",
        "learner": None,
        "folds": 4,
        "seed": 11,
        "weights": "x1_square",
        "weight_type": "sampling",
        "cluster": None,
        "id": "id",
        "audit": "seen",
        "features": ("x1", "age"),
        "covariance": "HC1",
        "rule": "guarded",
        "trust": "exclusion",
        "kappa_tolerance": 0.1,
        "level": 0.9,
        "missing": "drop",
    }
    stored = diagnose({**DATA, "x1_square": DATA["x1"] ** 2, "seen": DATA["id"] % 2}, **asked).settings
    assert {name: getattr(stored, name) for name in stored.__slots__} == {**asked, "controls": ("x1", "x2")}


def test_thresholds() -> None:
    d = _diagnose(thresholds=[0.7, 0.35])
    assert d.kappa["threshold"] == [0.35, 0.7]
    for name in ("hard", "deattenuated"):
        assert {row.threshold for row in d.estimates if row.name == name} == {0.35, 0.7}
    assert d.kappa["n_above"] == [int((DATA["p"][:N] > t).sum()) for t in (0.35, 0.7)]
    assert _diagnose(thresholds=()).kappa.rows == ()


def test_confident() -> None:
    d = _diagnose(confident=[0.85, 0.7])
    assert d.kappa_confident["threshold"] == [0.7, 0.85]
    inside = [int((np.maximum(DATA["p"], 1 - DATA["p"])[:N] > t).sum()) for t in (0.7, 0.85)]
    assert d.kappa_confident["n_confident"] == inside
    assert [row.n for row in d.estimates if row.name == "confident"] == inside
    assert _diagnose(confident=()).kappa_confident.rows == ()


def test_the_defaults_are_those_of_the_paper() -> None:
    assert PLAIN.kappa["threshold"] == [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    assert PLAIN.kappa_confident["threshold"] == [0.55, 0.65, 0.75, 0.85, 0.9, 0.95]


def test_a_row_at_the_threshold_is_not_above_it() -> None:
    data = {**DATA, "p": np.round(DATA["p"], 1)}
    d = _diagnose(data=data, thresholds=[0.3, 0.5], confident=[0.7])
    p = data["p"][:N]
    assert d.kappa["n_above"] == [int((p > 0.3).sum()), int((p > 0.5).sum())]
    assert d.kappa_confident["n_confident"] == [int(((p > 0.7) | (1 - p > 0.7)).sum())]


@pytest.mark.parametrize("covariance", ["HC0", "HC1", "HC2", "HC3"])
def test_covariance(covariance: str) -> None:
    shown = {name: DATA[name][N:] for name in ("y", "g", "x1", "x2")}
    design = np.column_stack([shown["g"], shown["x1"], shown["x2"], np.ones(LABELLED)])
    expected = sm.OLS(shown["y"], design).fit(cov_type=covariance, use_t=True)
    d = _diagnose(covariance=covariance)
    estimate = d.estimate("supervised")
    assert estimate.std_error == pytest.approx(expected.bse[0], rel=1e-9)
    assert estimate.p_value == pytest.approx(expected.pvalues[0], rel=1e-7)
    # It is about the labelled rows alone: of the ladder's covariance the last is soft_U's.
    assert d.estimate("soft") == PLAIN.estimate("soft")
    assert d.ladder.covariance[2][2] == PLAIN.ladder.covariance[2][2]
    assert d.ladder.covariance[0][0] == pytest.approx((estimate.std_error or 0) ** 2, rel=1e-12)
    if covariance != "HC3":
        for i in (0, 1, 3):
            assert d.ladder.covariance[i][i] < PLAIN.ladder.covariance[i][i]
        assert d.audits["bias_error"] != PLAIN.audits["bias_error"]
        assert d.calibration.slope_error != PLAIN.calibration.slope_error


def test_level() -> None:
    narrow = _diagnose(level=0.8)
    for row, plain in zip(narrow.estimates, PLAIN.estimates, strict=True):
        assert (row.estimate, row.std_error, row.p_value) == (plain.estimate, plain.std_error, plain.p_value)
        assert row.level == 0.8
    # Normal quantiles from a table: 1.28155 and 1.95996.
    for d, z in ((narrow, 1.281552), (PLAIN, 1.959964)):
        soft = d.estimate("soft")
        low, high = soft.interval or (math.nan, math.nan)
        assert (high - low) / 2 == pytest.approx(z * (soft.std_error or 0), rel=1e-6)
        kappa = d.kappa.rows[0]
        reach = (kappa.ci_high or 0) - (kappa.kappa or 0)
        assert reach == pytest.approx(z * (kappa.std_error or 0), rel=1e-6)
    assert narrow.v_star.level == narrow.drift_curves.supported.level == 0.8
    assert "80% interval" in narrow.verdict.sentence
    # t with the degrees of freedom of supervised for what builds on it.
    t: float = stats.t.ppf(0.9, PLAIN.estimate("supervised").df or 0)
    for rung, wide in zip(narrow.ladder.rungs, PLAIN.ladder.rungs, strict=True):
        assert (rung.ci_high - rung.ci_low) / 2 == pytest.approx(t * wide.std_error, rel=1e-9)
    for audit in narrow.audits:
        if audit.reason is None:
            reach = float(t) * (audit.bias_error or 0.0)
            assert (audit.bias_high or 0) - (audit.bias or 0) == pytest.approx(reach, rel=1e-9)
    ((low, high),), ((wide_low, wide_high),) = narrow.ladder.compatible, PLAIN.ladder.compatible
    assert wide_low < low < high < wide_high
    assert (narrow.calibration.ece_high or 0) < (PLAIN.calibration.ece_high or 0)
    assert (narrow.drift_curves.supported.delta_upper or 0) < (PLAIN.drift_curves.supported.delta_upper or 0)


def test_kappa_tolerance() -> None:
    def codes(tolerance: float, rule: str) -> list[str]:
        return [reason.code for reason in _diagnose(group=None, kappa_tolerance=tolerance, rule=rule).verdict.because]

    assert 0.35 < max(PLAIN.kappa["kappa"]) < 0.45
    assert codes(0.05, "paper")[-1] == codes(0.05, "guarded")[-1] == "kappa.far_from_one"
    assert codes(0.7, "paper")[-1] == "kappa.near_one"
    # The guarded rule says besides at which thresholds soft is not lost.
    assert codes(0.7, "guarded")[-1] == "threshold.free"


def test_rule() -> None:
    guarded, paper = PLAIN.verdict, _diagnose(rule="paper").verdict
    assert (guarded.rule, guarded.choice) == ("guarded", "adaptive")
    assert guarded.estimate == PLAIN.estimate("adaptive").estimate
    assert guarded.interval == PLAIN.estimate("rectified").interval
    assert (paper.rule, paper.trust, paper.would_change) == ("paper", None, ())
    assert paper.choice in ("soft", "supervised")
    chosen = PLAIN.estimate(paper.choice)
    assert (paper.estimate, paper.interval) == (chosen.estimate, chosen.interval)
    # The rule decides about the verdict, and about nothing else.
    settings = dataclasses.replace(PLAIN.settings, rule="paper")
    assert _diagnose(rule="paper") == dataclasses.replace(PLAIN, verdict=paper, settings=settings)


@pytest.mark.parametrize(
    ("trust", "choice"), [("nothing", "rectified"), ("exclusion", "instrumented"), ("calibration", "combined")]
)
def test_trust(trust: str, choice: str) -> None:
    d = _diagnose(trust=trust)
    row = PLAIN.estimate(choice)
    assert (d.verdict.choice, d.verdict.trust) == (choice, trust)
    assert (d.verdict.estimate, d.verdict.interval) == (row.estimate, row.interval)
    assert f"as you trust {trust}" in d.verdict.sentence
    # What is trusted is still told beside what the labels say of it.
    steps = {"nothing": [], "exclusion": ["step.exclusion"], "calibration": ["step.exclusion", "step.calibration"]}
    assert [reason.code for reason in d.verdict.because if reason.code.startswith("step.")] == steps[trust]
    settings = dataclasses.replace(PLAIN.settings, trust=trust)
    assert d == dataclasses.replace(PLAIN, verdict=d.verdict, settings=settings)


def _check(d: Diagnosis, code: str) -> Check:
    (one,) = [one for one in d.checks if one.code == code]
    return one


@pytest.mark.parametrize(
    ("features", "outcome", "part"),
    [
        (None, "not_applicable", "was not said"),
        (["x1", "x2"], "fail", "nothing but controls"),
        (["x1", "x9"], "warn", "did not see x2"),
        (["x9", "x2", "x1"], "pass", "saw every control, and more"),
    ],
)
def test_features(features: list[str] | None, outcome: str, part: str) -> None:
    d = _diagnose(features=features)
    one = _check(d, "score.structure")
    assert one.outcome == outcome
    assert part in one.message
    assert d.settings.features == (None if features is None else tuple(features))
    # They are names, compared with names: no column of theirs is read, and no number is of them.
    assert (d.estimates, d.audits, d.ladder) == (PLAIN.estimates, PLAIN.audits, PLAIN.ladder)


def _labels_of(d: Diagnosis) -> list[Any]:
    """What labelled rows say of the score."""
    checks = [one for one in d.checks if one.code != "audit.clean"]
    return [d.audits, d.calibration, d.ladder, d.drift_curves.supported, *checks]


def test_audit() -> None:
    chosen = np.arange(N + LABELLED) % 3 != 0
    d = _diagnose(data={**DATA, "seen": chosen * 1.0}, audit="seen")
    count = int(chosen[N:].sum())
    assert (d.ladder.n_labelled, d.ladder.n_audit) == (LABELLED, count)
    assert {row.n for row in d.audits} == {d.drift_curves.supported.n} == {count}
    assert sum(row.n for row in d.calibration.bins) == count
    # All labelled rows are still those of supervised; what audits is another part of them.
    for name in ("supervised", "soft"):
        assert d.estimate(name) == PLAIN.estimate(name)
    for name in ("rectified", "instrumented", "combined", "adaptive"):
        assert d.estimate(name).estimate != PLAIN.estimate(name).estimate
    assert d.kappa == PLAIN.kappa
    one = _check(d, "audit.clean")
    assert one.outcome == "pass"
    assert "The caller says so" in one.message
    # What is said of the score is what those rows alone say, but for the rungs, which have all labels for supervised.
    alone = {name: values[chosen | (np.arange(N + LABELLED) < N)] for name, values in DATA.items()}
    expected = _diagnose(data=alone)
    assert d.calibration == expected.calibration
    assert d.audits["reason"] == expected.audits["reason"]
    for row, other in zip(d.audits, expected.audits, strict=True):
        assert row.slope == (None if other.slope is None else pytest.approx(other.slope, rel=1e-12))
    assert d.ladder.moments[1:] == pytest.approx(expected.ladder.moments[1:], rel=1e-12)
    assert (_check(d, "calibration.given_controls").p_value, _check(d, "exclusion").p_value) == pytest.approx(
        (_check(expected, "calibration.given_controls").p_value, _check(expected, "exclusion").p_value), rel=1e-9
    )


def test_audit_by_null_zero_or_without_a_label_is_no() -> None:
    chosen = np.arange(N + LABELLED) % 3 != 0
    ones = _diagnose(data={**DATA, "seen": chosen * 1.0}, audit="seen")
    null = pa.array(chosen * 1, mask=~chosen)
    nan = np.where(chosen, 1.0, np.nan)
    # Beside no label anything may stand.
    elsewhere = np.where(np.arange(N + LABELLED) < N, 7.0, chosen * 1.0)
    for column in (null, nan, chosen, elsewhere):
        assert _labels_of(_diagnose(data={**DATA, "seen": column}, audit="seen")) == _labels_of(ones)
    # All of them audit: what it is without a column, but that the caller says so.
    assert _labels_of(_diagnose(data={**DATA, "seen": np.ones(N + LABELLED)}, audit="seen")) == _labels_of(PLAIN)
    # None of them do.
    d = _diagnose(data={**DATA, "seen": np.zeros(N + LABELLED)}, audit="seen")
    assert d.ladder.reason == "no labelled row is marked 1 in the audit column"
    assert (d.verdict.choice, d.verdict.because[0].code) == ("supervised", "assumptions.untested")


def test_audit_in_a_table_of_labelled_rows() -> None:
    seen = (np.arange(N + LABELLED) % 3 != 0) * 1.0
    hidden = {name: values[:N] for name, values in DATA.items()}
    shown = {name: values[N:] for name, values in {**DATA, "seen": seen}.items()}
    d = _diagnose(data=hidden, labelled=shown, audit="seen")
    whole = _diagnose(data={**DATA, "seen": seen}, audit="seen")
    assert dataclasses.replace(d, sample=whole.sample) == whole
    assert d.sample.fingerprint == whole.sample.fingerprint != PLAIN.sample.fingerprint
    with pytest.raises(InputError, match="'seen'"):
        _diagnose(data={**hidden, "seen": np.ones(N)}, labelled={**DATA, "g": np.ones(N + LABELLED)}, audit="seen")


@pytest.mark.parametrize(("value", "shown"), [(2.0, "2"), (-1.0, "-1"), (0.5, "0.5"), (np.inf, "inf")])
def test_an_audit_column_of_other_values_is_refused(value: float, shown: str) -> None:
    seen = np.ones(N + LABELLED)
    seen[[N + 2, N + 5]] = value
    with pytest.raises(DataError) as caught:
        _diagnose(data={**DATA, "seen": seen}, audit="seen")
    parts = ["'seen' to be 0, 1 or empty in every labelled row", f"2 of 2,150 rows, such as {shown}.", "Write 1 where"]
    assert [part for part in parts if part not in str(caught.value)] == []


def test_an_audit_column_of_text_is_refused() -> None:
    with pytest.raises(InputError, match="the audit 'seen' to be numeric"):
        _diagnose(data={**DATA, "seen": ["yes"] * (N + LABELLED)}, audit="seen")


def test_missing() -> None:
    y, x2 = DATA["y"].copy(), DATA["x2"].copy()
    y[[0, 1, N]] = np.nan
    x2[[1, 2]] = np.nan
    data = {**DATA, "y": y, "x2": x2}
    with pytest.raises(DataError, match=r"null or NaN in 'y' \(3\), 'x2' \(2\) of 2,150 rows"):
        _diagnose(data=data)
    d = _diagnose(data=data, missing="drop")
    s = d.sample
    assert (s.rows, s.used, s.dropped, s.unlabelled, s.labelled) == (2_150, 2_146, 4, N - 3, LABELLED - 1)
    assert {column.name: column.value for column in s.missing} == {"y": 3, "x2": 2}
    (note,) = [note for note in d.notes if note.code == "rows.dropped"]
    assert "4 of 2,150" in note.message
    assert "y 3" in note.message
    assert "x2 2" in note.message
    # What is left is what would have been there without those rows.
    complete = np.isfinite(y) & np.isfinite(x2)
    without = _diagnose(data={name: values[complete] for name, values in DATA.items()})
    assert without.estimates == d.estimates
    assert without.kappa == d.kappa


def test_labelled() -> None:
    hidden = {name: values[:N] for name, values in DATA.items()}
    shown = {name: values[N:] for name, values in DATA.items()}
    assert _diagnose(data=hidden, labelled=shown).estimates == PLAIN.estimates
    with pytest.raises(InputError, match="group with labelled="):
        _diagnose(data=hidden, labelled=shown, group=None)


def test_controls_may_be_none_at_all() -> None:
    d = _diagnose(controls=())
    p, y = DATA["p"][:N], DATA["y"][:N]
    slope = np.cov(p, y)[0, 1] / p.var(ddof=1)
    # Five folds of 400 move the means, so only the size of the number can be compared; in sample it is exact.
    assert _soft(d) == pytest.approx(slope, rel=0.01)
    assert _soft(_diagnose(controls=(), folds=None)) == pytest.approx(slope, rel=1e-10)


def test_the_order_of_controls_does_not_matter_beyond_rounding() -> None:
    d = _diagnose(controls=["x2", "x1"], id="id")
    assert _soft(d) == pytest.approx(_soft(_diagnose(id="id")), rel=1e-10)


def test_a_control_that_says_nothing_new_is_left_out_and_named() -> None:
    data = {**DATA, "copy": 3 * DATA["x1"] - DATA["x2"] + 2, "constant": np.full(N + LABELLED, 5.0)}
    d = _diagnose(data=data, controls=["x1", "x2", "copy", "constant"], id="id")
    assert d.sample.redundant_controls == ("copy", "constant")
    assert any(note.code == "controls.redundant" and "copy, constant" in note.message for note in d.notes)
    assert _soft(d) == pytest.approx(_soft(_diagnose(id="id")), rel=1e-8)
    expected = PLAIN.estimate("supervised")
    assert d.estimate("supervised").estimate == pytest.approx(expected.estimate, rel=1e-8)


def test_every_parameter_is_covered_here() -> None:
    tested = {"data", "labelled", "thresholds", "confident", "basis", "covariance", "rule", "kappa_tolerance"}
    tested |= {"outcome", "group", "score", "controls", "folds", "seed", "id", "level", "missing", "threads"}
    # In tests of their own: test_diagnose_weights.py, test_diagnose_learners.py, cli/test_progress.py.
    tested |= {"audit", "features", "trust"}
    # In scoring/test_diagnose_features.py.
    tested |= {"model", "calibrator", "split"}
    tested |= {"weights", "weight_type", "cluster", "learner", "progress"}
    assert set(inspect.signature(diagnose).parameters) - {"unknown"} == tested


# ---------------------------------------------------------------------------------------- each is checked


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"folds": 1}, ["folds", "2 to 100", "folds=1", "folds=None"]),
        ({"folds": 101}, ["folds", "2 to 100"]),
        ({"folds": 2.0}, ["whole number", "folds=2.0"]),
        ({"folds": True}, ["whole number", "folds=True"]),
        ({"seed": -1}, ["seed", "whole number", "seed=-1"]),
        ({"seed": 1.5}, ["seed", "whole number"]),
        ({"threads": 0}, ["threads", "whole number from 1", "threads=0"]),
        ({"threads": 2.0}, ["threads", "threads=2.0"]),
        ({"threads": True}, ["threads", "threads=True"]),
        ({"level": 95}, ["level", "between 0.5 and 1", "level=95", "level=0.95"]),
        ({"level": 1.0}, ["level", "level=1.0"]),
        ({"level": "0.9"}, ["level", "level='0.9'"]),
        ({"level": math.nan}, ["level", "level=nan"]),
        ({"kappa_tolerance": 0}, ["kappa_tolerance", "between 0 and 1", "kappa_tolerance=0"]),
        ({"kappa_tolerance": 1.0}, ["kappa_tolerance"]),
        ({"kappa_tolerance": math.nan}, ["kappa_tolerance", "nan"]),
        ({"covariance": "hc3"}, ["covariance='hc3'", "'HC0', 'HC1', 'HC2', 'HC3'"]),
        ({"covariance": "HC33"}, ["Did you mean 'HC3'?"]),
        ({"basis": "linaer"}, ["basis='linaer'", "Did you mean 'linear'?"]),
        ({"trust": "exclusions"}, ["trust='exclusions'", "Did you mean 'exclusion'?"]),
        ({"trust": "exclusion", "rule": "paper"}, ["no trust= with rule='paper'", "trust='exclusion'"]),
        ({"audit": "id", "group": None}, ["a group with audit=", "only labelled rows can audit"]),
        ({"audit": "p"}, ["one role", "'p' as score and audit"]),
        ({"audit": 3}, ["the audit to be the name of a column", "3"]),
        ({"audit": "idd"}, ["'idd'", "Did you mean 'id'?"]),
        ({"features": "x1"}, ["features to be a list of columns", "features=['x1']"]),
        ({"features": ["x1", 3]}, ["features to be names of columns", "found 3", "as text"]),
        ({"features": [["x1"]]}, ["features to be names of columns", "['x1']"]),
        ({"features": 3}, ["features to be a list of columns", "Name what the classifier saw"]),
        ({"features": []}, ["features to name at least one column", "an empty list", "leave it out if unknown"]),
        ({"rule": "papr"}, ["rule='papr'", "Did you mean 'paper'?"]),
        ({"missing": "ignore"}, ["missing", "'raise' or 'drop'", "'ignore'"]),
        ({"thresholds": [0.5, 1.0]}, ["thresholds", "from 0 to below 1", "1.0"]),
        ({"thresholds": [-0.1]}, ["thresholds", "-0.1"]),
        ({"thresholds": [0.5, 0.5]}, ["thresholds to differ", "each one once"]),
        ({"thresholds": [math.nan]}, ["thresholds", "nan"]),
        ({"thresholds": 0.5}, ["thresholds to be a sequence", "0.5"]),
        ({"thresholds": "half"}, ["thresholds to be a sequence", "'half'"]),
        ({"confident": [0.4]}, ["confident", "from 0.5 to below 1", "0.4"]),
        ({"confident": [0.9, 0.9]}, ["confident to differ"]),
        ({"controls": "x1"}, ["no basis with a formula", "basis='linear'", "as a list of names"]),
        ({"controls": ["x1", "x1"]}, ["controls to name each column once", "'x1' more than once"]),
        ({"weight_type": "importance"}, ["weight_type", "'sampling' or 'frequency'", "'importance'"]),
        ({"weight_type": "frequency"}, ["weights with weight_type='frequency'", "weights=None"]),
        ({"id": "id", "cluster": "id"}, ["one column to decide folds", "Leave id out"]),
        ({"absorb": "x1"}, ["no absorbed fixed effects", "absorb=", "up to 200 levels", "cluster="]),
        ({"fixed_effects": ["x1"]}, ["no absorbed fixed effects"]),
        ({"family": "logit"}, ["no model of the outcome but the linear one", "differences in probability"]),
        ({"family": "poisson"}, ["no model of the outcome but the linear one", "logarithm"]),
        ({"model": "forest"}, ["no score with model=", "score='p'", "Leave model out"]),
        ({"score": None}, ["a score, or features to make one of", "neither"]),
        ({"treshold": [0.5]}, ["an option of diagnose", "treshold=", "Did you mean 'thresholds'?"]),
    ],
)
def test_refused(options: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        _diagnose(**options)
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.parametrize("controls", [None, 5])
def test_controls_that_are_no_list_are_refused(controls: Any) -> None:
    with pytest.raises(InputError, match="controls"):
        _diagnose(controls=controls)


def test_an_id_that_is_no_name_is_refused() -> None:
    with pytest.raises(InputError, match="id"):
        _diagnose(id=3)


@pytest.mark.parametrize(
    "options",
    [
        {"kappa_tolerance": np.float64(0.05)},
        {"controls": np.array(["x1", "x2"])},
        {"outcome": np.str_("y")},
    ],
    ids=["tolerance", "controls", "outcome"],
)
def test_numpy_scalars_are_as_good_as_their_own_kind(options: dict[str, Any]) -> None:
    d = _diagnose(**options)
    assert Diagnosis.from_json(d.to_json()) == PLAIN


# ------------------------------------------------------------------------------- folds that cannot serve


def test_ids_decide_folds_by_their_value_whatever_their_type() -> None:
    expected = _soft(_diagnose(id="id"))
    table = pa.table(DATA)
    at = table.schema.get_field_index("id")
    for kind in (pa.int32(), pa.float64(), pa.uint64()):
        d = _diagnose(data=table.set_column(at, "id", table["id"].cast(kind)), id="id")
        assert _soft(d) == expected
    text = table["id"].cast(pa.string())
    plain, encoded = (
        _soft(_diagnose(data=table.set_column(at, "id", column), id="id"))
        for column in (text, text.dictionary_encode())
    )
    assert plain == encoded != expected


def test_an_id_must_be_there_in_every_row() -> None:
    table = pa.table({**DATA, "id": pa.array([None, *range(1, N + LABELLED)])})
    with pytest.raises(SoftlabelError, match="id in every row"):
        _diagnose(data=table, id="id")


def test_an_id_that_is_nan_is_not_there_either() -> None:
    ids = np.where(np.arange(N + LABELLED) < 500, np.nan, np.arange(N + LABELLED))
    with pytest.raises(SoftlabelError, match="id in every row"):
        _diagnose(data=pa.table({**DATA, "id": pa.array(ids, from_pandas=False)}), id="id")


def test_large_ids_that_differ_are_told_apart() -> None:
    ids = 2**62 + np.arange(500)
    assert len(np.unique(hash_ids(pa.array(ids)))) == 500


@pytest.mark.parametrize("kinds", [1, 2])
def test_ids_that_leave_a_fold_nothing_to_train_on_are_refused(kinds: int) -> None:
    # With seed 0 the ids 1 and 2 fall into one fold.
    ids = np.arange(N + LABELLED) % kinds + 1
    with pytest.raises(SoftlabelError, match="id"):
        _diagnose(data={**DATA, "id": ids}, id="id")


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_too_few_rows_for_the_controls_give_a_reason_and_no_number(rows: int) -> None:
    few = {name: np.concatenate([values[:rows], values[N:]]) for name, values in DATA.items()}
    for folds in (None, 5):
        soft = _diagnose(data=few, folds=folds).estimate("soft")
        assert soft.estimate is None
        assert "few" in (soft.reason or "")
