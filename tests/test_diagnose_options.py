"""Every parameter of diagnose matters, and a value it cannot use is refused with a reason."""

import inspect
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from scipy.special import expit

from softlabel import DataError, Diagnosis, InputError, SoftlabelError, diagnose
from softlabel.folds import hash_ids

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
        "covariance": "HC1",
        "rule": "paper",
        "kappa_tolerance": 0.1,
        "level": 0.9,
        "missing": "drop",
    }
    stored = diagnose({**DATA, "x1_square": DATA["x1"] ** 2}, **asked).settings
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
    # It is about the labelled rows alone.
    assert d.estimate("soft") == PLAIN.estimate("soft")


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
    assert narrow.v_star.level == 0.8
    assert "80% interval" in narrow.verdict.sentence


def test_kappa_tolerance() -> None:
    def codes(tolerance: float) -> list[str]:
        return [reason.code for reason in _diagnose(group=None, kappa_tolerance=tolerance).verdict.because]

    assert 0.35 < max(PLAIN.kappa["kappa"]) < 0.45
    assert codes(0.05)[-1] == "kappa.far_from_one"
    assert codes(0.7)[-1] == "kappa.near_one"


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
        ({"model": "poisson"}, ["no model of the outcome but the linear one", "logarithm"]),
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
