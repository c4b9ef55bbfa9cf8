"""The experiments' numbers are those of score and diagnose, put together by hand."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import softlabel as sl
from softlabel.nuisances import make_learner, v_star_of
from softlabel.replicate.population import Law, Rows
from softlabel.replicate.scoring.auditing import Auditing, CrossFitting
from softlabel.replicate.scoring.calibrating import ESTIMATORS, Calibrating
from softlabel.replicate.scoring.drawing import MADE, SIGMA, Drawing
from softlabel.replicate.scoring.learning import Learning
from softlabel.results import Diagnosis
from softlabel.simulate import PaperDesign, run

CONTROLS = ["x1", "x2", "x3", "r"]
ROLES: dict[str, Any] = {"outcome": "y", "group": "g", "controls": CONTROLS, "basis": "linear", "id": "row"}


def _columns(rows: Rows) -> dict[str, Any]:
    x, s = rows.x, rows.s
    r = expit(x @ np.array([0.6, -0.4, 0.3]))
    named = {"x1": x[:, 0], "x2": x[:, 1], "x3": x[:, 2], "r": r, "s1": s[:, 0], "s2": s[:, 1]}
    return {**named, "y": rows.outcome, "g": rows.group}


def _joined(unlabelled: dict[str, Any], labelled: dict[str, Any]) -> dict[str, Any]:
    table = {name: np.concatenate([unlabelled[name], labelled[name]]) for name in unlabelled}
    table["g"] = np.concatenate([np.full(len(unlabelled["g"]), np.nan), labelled["g"]])
    table["row"] = np.arange(len(table["g"]))
    return table


def _p(d: Diagnosis, code: str) -> float | None:
    return next(check.p_value for check in d.checks if check.code == code)


@pytest.mark.parametrize(("calibrator", "split"), [("platt", "folds"), ("isotonic", "mean"), ("conditional", "halves")])
def test_a_calibrator_and_a_split(calibrator: Any, split: Any) -> None:
    experiment = Calibrating(150, ("none", "platt", "isotonic", "conditional"), rows=1_500)
    values = experiment(np.random.default_rng(8))
    rng = np.random.default_rng(8)
    unlabelled, labelled = (_columns(rows) for rows in (Law().draw(1_500, rng), Law().draw(150, rng)))
    scores = sl.score(
        labelled,
        unlabelled,
        features=[*CONTROLS, "s1", "s2"],
        controls=CONTROLS,
        group="g",
        calibrator=calibrator,
        split=split,
    )
    table = _joined({**unlabelled, "p": scores.unlabelled}, {**labelled, "p": scores.labelled})
    clean: dict[str, Any] = {"audit": "a"} if split == "halves" else {}
    table["a"] = np.concatenate([np.zeros(1_500), scores.audit])
    d = sl.diagnose(table, score="p", **ROLES, **clean)
    found = {name: value for name, value in values.items() if name.startswith(f"{calibrator} {split} ")}
    expected: dict[str, float | None] = {}
    for name in ("supervised", *ESTIMATORS):
        there = [row for row in d.estimates if row.name == name and row.form != "moment"]
        row = there[0] if there else None
        expected[name] = None if row is None else row.estimate
        expected[f"{name} low"] = None if row is None else row.ci_low
        expected[f"{name} high"] = None if row is None else row.ci_high
    low, high = d.verdict.interval or (None, None)
    expected |= {"guarded": d.verdict.estimate, "guarded low": low, "guarded high": high}
    checks = [check for check in d.checks if check.code.startswith("samples.") and check.p_value is not None]
    expected["suspect"] = float("fail" in [check.outcome for check in checks]) if checks else None
    expected |= {"calibration p": _p(d, "calibration.given_controls"), "slope": d.ladder.slope}
    same = {name: values[name] for name in ("supervised", "supervised low", "supervised high")}
    same |= {name.removeprefix(f"{calibrator} {split} "): value for name, value in found.items()}
    assert same.keys() == expected.keys()
    for name, value in same.items():
        # Scores may differ in their last bit: rows are scored in other batches.
        assert value == (None if expected[name] is None else pytest.approx(expected[name], abs=1e-8)), name
    if split == "halves":
        assert (d.verdict.choice, same["rectified"], same["slope"]) == ("supervised", None, None)


def test_the_default_is_what_diagnose_does_with_features() -> None:
    values = Calibrating(300, ("conditional",), ("folds",), rows=4_000)(np.random.default_rng(2))
    rng = np.random.default_rng(2)
    unlabelled, labelled = (_columns(rows) for rows in (Law().draw(4_000, rng), Law().draw(300, rng)))
    # Without the numbers of rows: with them the classifier's folds would be dealt by these too.
    roles = {name: role for name, role in ROLES.items() if name != "id"}
    d = sl.diagnose(_joined(unlabelled, labelled), features=[*CONTROLS, "s1", "s2"], **roles)
    low, high = d.verdict.interval or (None, None)
    assert low is not None
    assert high is not None
    # The dealing to folds is another, for the classifiers and for r̂ and m̂: a fraction of a standard error.
    near = 0.15 * (high - low) / 4
    assert values["conditional folds guarded"] == pytest.approx(d.verdict.estimate, abs=near)
    assert values["conditional folds guarded low"] == pytest.approx(low, abs=near)
    assert values["conditional folds guarded high"] == pytest.approx(high, abs=near)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_a_check_on_fresh_rows(shift: float) -> None:
    values = Auditing(shift, 400, ("platt", "conditional"), audited=120)(np.random.default_rng(4))
    rng = np.random.default_rng(4)
    drawn = [Law().draw(2_000, rng), Law().draw(120, rng), Law().draw(400, rng)]
    raw = [expit(2 * (rows.logit + shift * rows.x[:, 0])) for rows in drawn]
    hidden, fresh, training = ({**_columns(rows), "q": q} for rows, q in zip(drawn, raw, strict=True))
    for name in ("platt", "conditional"):
        scores = sl.score(
            training,
            hidden,
            features=["q"],
            controls=CONTROLS,
            group="g",
            model="given",
            calibrator=name,
        )
        table = _joined({**hidden, "p": scores.unlabelled}, {**fresh, "p": scores.scorer.predict(fresh)})
        d = sl.diagnose(table, score="p", **ROLES)
        for check in ("given_controls", "controls_only"):
            assert values[f"{name} {check}"] == pytest.approx(_p(d, f"calibration.{check}"), abs=1e-8)
        assert values[f"{name} slope"] == pytest.approx(d.ladder.slope, abs=1e-8)


def test_a_check_on_cross_fitted_rows() -> None:
    values = CrossFitting(1.0, ("isotonic",), labelled=200)(np.random.default_rng(6))
    rng = np.random.default_rng(6)
    drawn = [Law().draw(2_000, rng), Law().draw(200, rng)]
    hidden, shown = ({**_columns(rows), "q": expit(2 * (rows.logit + rows.x[:, 0]))} for rows in drawn)
    roles: dict[str, Any] = {"features": ["q"], "controls": CONTROLS, "group": "g", "model": "given"}
    scores = sl.score(shown, hidden, calibrator="isotonic", **roles)
    d = sl.diagnose(_joined({**hidden, "p": scores.unlabelled}, {**shown, "p": scores.labelled}), score="p", **ROLES)
    assert values["isotonic given_controls"] == pytest.approx(_p(d, "calibration.given_controls"), abs=1e-8)


def test_residuals_of_equal_folds_cancel() -> None:
    """Why a cross-fitted calibrator is rejected too seldom: what it leaves on all its rows is next to nothing."""
    left, chance = [], []
    for seed in range(20):
        rows = Law().draw(500, np.random.default_rng(seed))
        columns = {**_columns(rows), "q": expit(2 * rows.logit)}
        roles: dict[str, Any] = {"features": ["q"], "controls": CONTROLS, "group": "g", "model": "given"}
        p = sl.score(columns, columns, calibrator="platt", **roles).labelled
        left.append((rows.group - p).sum())
        chance.append(np.sqrt((p * (1 - p)).sum()))
    # A fifth of a standard deviation would be much; chance alone would make it one.
    assert np.sqrt(np.mean(np.square(left))) < 0.2 * np.mean(chance)


@pytest.mark.parametrize("made", [MADE[0], MADE[1], MADE[5]], ids=lambda made: made.name)
def test_a_score_with_noise_in_it(made: Any) -> None:
    values = Drawing(made, labelled=200, rows=3_000)(np.random.default_rng(5))
    rng = np.random.default_rng(5)
    unlabelled, labelled = (_columns(rows) for rows in (Law().draw(3_000, rng), Law().draw(200, rng)))
    roles: dict[str, Any] = {
        "features": [*CONTROLS, *(["s1", "s2"] if made.beyond else [])],
        "controls": CONTROLS,
        "group": "g",
        "calibrator": "none",
        "force": True,
    }
    before = sl.score(labelled, unlabelled, **roles).unlabelled
    scores = sl.score(labelled, unlabelled, draw=made.draw, **roles)
    d = sl.diagnose(
        _joined({**unlabelled, "p": scores.unlabelled}, {**labelled, "p": scores.labelled}), score="p", **ROLES
    )
    assert values["v_star"] == pytest.approx(d.v_star.estimate, rel=1e-8)
    assert values["soft"] == pytest.approx(d.estimate("soft").estimate, abs=1e-8)
    assert values["rectified low"] == pytest.approx(d.estimate("rectified").ci_low, abs=1e-8)
    expected = SIGMA**2 * float((before * (1 - before)).mean()) if made.draw == "beta" else 0.0
    # Of 3,000 draws: E[q(1 − q)] from the draws themselves, against what they were drawn around.
    assert values["injected"] == pytest.approx(expected, rel=0.02)
    # V* by hand, in sample: r̂ of five columns from 3,000 rows takes 0.2% of it.
    design = np.column_stack([np.ones(3_000), *(unlabelled[name] for name in CONTROLS)])
    p = scores.unlabelled
    a = p - design @ np.linalg.lstsq(design, p, rcond=None)[0]
    assert values["v_star"] == pytest.approx(float(np.mean(a**2)), rel=0.01)


def test_v_star_by_learner() -> None:
    values = Learning(400, ("linear", "quadratic"))(np.random.default_rng(3))
    table = PaperDesign().sample(3_000, 400, seed=np.random.default_rng(3))
    x = np.array([table.column(name).to_numpy() for name in ("x1", "x2", "x3")])
    products = {f"x{i + 1} x{j + 1}": x[i] * x[j] for i in range(3) for j in range(i, 3)}
    columns = {"x1": x[0], "x2": x[1], "x3": x[2], **products}
    hidden = {name: values[:3_000] for name, values in columns.items()}
    shown = {**{name: values[3_000:] for name, values in columns.items()}, "g": table.column("g").to_numpy()[3_000:]}
    roles: dict[str, Any] = {"features": list(columns), "controls": ["x1", "x2", "x3"], "group": "g"}
    roles |= {"calibrator": "isotonic", "split": "halves", "sigma": 0.3}
    p = sl.score(shown, hidden, **roles).unlabelled
    drawn = sl.score(shown, hidden, draw="beta", **roles).unlabelled
    assert values["posterior truth"] == pytest.approx(0.09 * np.mean(p * (1 - p)), rel=1e-9)
    assert values["deterministic truth"] == 0.0
    fold = np.arange(3_000) % 5
    learners = {
        "linear": LinearRegression(),
        "quadratic": make_pipeline(StandardScaler(), PolynomialFeatures(2), LinearRegression()),
    }
    for name, estimator in learners.items():
        for draw, score in (("deterministic", p), ("posterior", drawn)):
            expected = v_star_of(make_learner(estimator, 0), x[:, :3_000], score[None], fold, 5).v_star
            assert values[f"{draw} {name}"] == pytest.approx(expected, rel=1e-6)  # its own decomposition


def test_any_number_of_workers_gives_the_same() -> None:
    experiment = Calibrating(100, ("none", "conditional"), ("folds",), rows=500)
    assert run(experiment, 4, seed=2, workers=2).rows == run(experiment, 4, seed=2).rows
