"""Learners through diagnose: a linear one is the linear basis, and everything else reaches them."""

from dataclasses import replace
from typing import Any, ClassVar

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression

from softlabel import Basis, DataError, Diagnosis, InputError, SourceChanged, diagnose
from softlabel.influence import Analysis
from softlabel.nuisances import LinearNuisances
from tests.diagnosed import (
    WARDS,
    beside,
    cluster_folds,
    differing,
    drawn,
    id_folds,
    numbers,
    rows_of,
    unlabelled,
    without_checks,
)

Floats = NDArray[Any]

ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "controls": ["age", "frailty"],
    "thresholds": (0.4, 0.7),
    "confident": (0.6,),
    "threads": 1,
}
TABLE = drawn()
HIDDEN = unlabelled(TABLE)
X = np.column_stack([TABLE["age"], TABLE["frailty"]])
DUMMIES = (np.asarray(TABLE["ward"])[:, None] == np.array(WARDS[1:])).astype(float)

# Least squares twice: by normal equations about a shift, and by scikit-learn's singular values.
SAME = 1e-8


def _diagnose(table: Any = None, **options: Any) -> Diagnosis:
    return diagnose(TABLE if table is None else table, **{**ROLES, **options})


OPTIONS: dict[str, dict[str, Any]] = {
    "by values": {},
    "by id": {"id": "visit", "folds": 3, "seed": 2},
    "weights": {"weights": "w", "id": "visit"},
    "frequencies": {"weights": "times", "weight_type": "frequency", "id": "visit"},
    "clusters": {"cluster": "clinic", "folds": 4},
    "weights and clusters": {"cluster": "clinic", "weights": "w"},
    "categories": {"controls": ["age", "ward"]},
    "formula": {"controls": "age * C(ward) + bs(frailty, 4)"},
    "basis": {"basis": Basis("bspline", knots=4, ridge=0)},
    "no controls": {"controls": []},
    "no labels": {"group": None},
    "no thresholds": {"thresholds": (), "confident": ()},
}


def _mean_of_the_folds(analysis: Analysis) -> LinearNuisances:
    """The nuisances that labelled rows have with a learner: of a basis they are refitted on all unlabelled rows."""
    found = analysis.nuisances
    return replace(found, maps=found.maps.mean(axis=0, keepdims=True))


@pytest.mark.parametrize("case", OPTIONS)
def test_a_linear_learner_is_the_linear_basis(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softlabel.influence.labelled._whole", _mean_of_the_folds)
    options = OPTIONS[case]
    table = {**TABLE, "g": TABLE["g"]}
    if case == "formula":
        options = {**options, "id": "visit"}
    linear = {"basis": "linear", **options}
    if isinstance(linear.get("controls"), str):
        # A formula with a spline has a ridge of its own: none, as the learner has none.
        linear = {**options, "controls": options["controls"]}
        expected = _with_no_ridge(table, linear)
    else:
        expected = _diagnose(table, **linear)
    found = _diagnose(table, learner=LinearRegression(), **options)
    assert found.settings.learner == "LinearRegression"
    # Of a learner V* is out of fold, and its neighbours are not looked at; and it is its predictions that are compared
    # between the samples, not the columns.
    apart = ("score.collapse", "samples.controls")
    differ = differing(without_checks(found, *apart), without_checks(expected, *apart), SAME)
    # κ names its regression, and the learner is shown; a list has its products after all else, a formula has not.
    differ = {path for path in differ if not path.endswith(".basis") and not path.startswith(".learners")}
    # The check that is nearest to failing may be one of those.
    assert [one.code for one in found.verdict.would_change[:2]] == [
        one.code for one in expected.verdict.would_change[:2]
    ]
    differ = {path for path in differ if not path.startswith(".verdict.would_change.2.")}
    assert {path for path in differ if case != "formula" or not path.startswith(".sample.columns")} == set()
    assert [row.v_star for row in found.learners] == [pytest.approx(expected.v_star.estimate, rel=SAME)]


def _with_no_ridge(table: dict[str, Any], options: dict[str, Any]) -> Diagnosis:
    """The formula of `OPTIONS` as a list with products, for which a ridge of zero can be asked."""
    basis = Basis("bspline", knots=4, linear=("age",), interactions=(("age", "ward"),), ridge=0)
    return _diagnose(table, **{**options, "controls": ["age", "ward", "frailty"], "basis": basis})


class Recorder(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares that writes down what it was given."""

    seen: ClassVar[list[tuple[Floats, Floats, Floats | None]]] = []

    def fit(self, X: Floats, y: Floats, sample_weight: Floats | None = None) -> "Recorder":
        Recorder.seen.append((X, y, sample_weight))
        self.model_ = LinearRegression().fit(X, y, sample_weight)
        return self

    def predict(self, X: Floats) -> Floats:
        predicted: Floats = self.model_.predict(X)
        return predicted


@pytest.fixture(autouse=True)
def _forget() -> None:
    Recorder.seen = []


def test_a_learner_is_given_dummies_and_the_weights_of_the_other_folds() -> None:
    _diagnose(controls=["age", "ward"], learner=Recorder(), weights="w", id="visit", folds=3)
    fold = id_folds(TABLE, "visit", 3)
    rows = rows_of(TABLE, np.column_stack([TABLE["age"], DUMMIES]), weights="w")
    assert rows.weight is not None
    # The score, the outcome and two labels on all rows, three more within the one confident set, in three folds.
    assert len(Recorder.seen) == 3 * (4 + 3)
    x, y, weight = Recorder.seen[0]
    assert weight is not None
    order, expected = np.lexsort(x.T), np.lexsort(rows.X[fold != 0].T)
    np.testing.assert_array_equal(x[order], rows.X[fold != 0][expected])
    np.testing.assert_array_equal(y[order], rows.p[fold != 0, 0][expected])
    np.testing.assert_array_equal(weight[order], rows.weight[fold != 0][expected])


def test_a_learner_never_sees_a_cluster_it_predicts() -> None:
    table = {**TABLE, "number": np.unique(np.asarray(TABLE["clinic"]), return_inverse=True)[1].astype(float)}
    _diagnose(table, controls=["age", "number"], learner=Recorder(), cluster="clinic", folds=4)
    # Fold after fold: the score, the outcome and two labels on all rows.
    by_fold = [set(np.unique(x[:, 1]).tolist()) for x, _, _ in Recorder.seen[:16:4]]
    fold = cluster_folds(TABLE, "clinic", 4)
    expected = [set(table["number"][HIDDEN][fold != k].tolist()) for k in range(4)]
    assert by_fold == expected


def test_every_number_of_a_linear_learner_is_the_references() -> None:
    d = _diagnose(learner=LinearRegression(), weights="w", cluster="clinic", folds=4)
    rows = rows_of(TABLE, X, weights="w", cluster="clinic", fold=cluster_folds(TABLE, "clinic", 4))
    for name, (estimate, std_error), expected in beside(d, rows):
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


# ---------------------------------------------------------------------------------------- of several


def _bent(n: int = 4_000) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    x1, x2 = rng.uniform(-2, 2, size=(2, n))
    r = 0.5 + 0.35 * np.sin(2.5 * x1) * np.sign(x2)
    p = np.clip(r + rng.uniform(-0.1, 0.1, n), 0, 1)
    g = rng.random(n) < p
    y = x1**2 + g + rng.normal(size=n)
    return {"y": y, "p": p, "x1": x1, "x2": x2, "g": np.where(np.arange(n) < 300, g, np.nan)}


def test_of_several_learners_the_smallest_v_star_is_used_and_each_is_shown() -> None:
    table = _bent()
    forest = RandomForestRegressor(n_estimators=15, min_samples_leaf=10, random_state=0)
    boosting = HistGradientBoostingRegressor(max_iter=40, max_leaf_nodes=8, random_state=0)
    learners = [LinearRegression(), forest, boosting]
    options: dict[str, Any] = {"controls": ["x1", "x2"], "thresholds": (0.5,), "confident": ()}
    d = _diagnose(table, learner=learners, **options)
    shown = {row.name: row for row in d.learners}
    assert list(shown) == ["LinearRegression", "RandomForestRegressor", "HistGradientBoostingRegressor"]
    alone = [_diagnose(table, learner=learner, **options) for learner in learners]
    for one, row in zip(alone, d.learners, strict=True):
        # Computed by rows here and by sums there.
        assert (row.v_star, row.std_error) == pytest.approx((one.v_star.estimate, one.v_star.std_error), rel=1e-9)
    v_star = {name: row.v_star or 0.0 for name, row in shown.items()}
    best = min(v_star, key=v_star.__getitem__)
    assert [row.name for row in d.learners if row.used] == [best] == [d.settings.learner]
    assert best != "LinearRegression"
    (chosen,) = [one for one in alone if one.settings.learner == best]
    several, single = (without_checks(one, "score.learners") for one in (d, chosen))
    assert {path for path in differing(several, single, 0) if not path.startswith(".learners")} == set()
    (told,) = [one for one in d.checks if one.code == "score.learners"]
    assert (told.outcome, told.statistic) == ("warn", min(v_star.values()) / max(v_star.values()))
    assert best in told.message
    # V* is 0.2²/12 = 0.00333 by design. A line leaves half of 0.35² too; trees leave little.
    truth, error = 0.2**2 / 12, max(row.std_error or 0.0 for row in d.learners)
    assert v_star["LinearRegression"] > 10 * truth
    for name in ("RandomForestRegressor", "HistGradientBoostingRegressor"):
        assert truth - 4 * error < v_star[name] < 0.2 * v_star["LinearRegression"], name


@pytest.mark.parametrize("options", [{"weights": "w"}, {"cluster": "clinic"}, {"weights": "w", "cluster": "clinic"}])
def test_the_v_star_of_several_knows_weights_and_clusters(options: dict[str, Any]) -> None:
    options = {**options, "id": None if "cluster" in options else "visit"}
    several = _diagnose(learner=[LinearRegression(), "ridge"], **options)
    for row in several.learners:
        one = _diagnose(learner={"ridge": "ridge"}.get(row.name, LinearRegression()), **options)
        expected = (one.v_star.estimate, one.v_star.std_error)
        assert (row.v_star, row.std_error) == pytest.approx(expected, rel=1e-9), row


def test_frequencies_are_so_many_rows_to_several_learners() -> None:
    times = np.asarray(TABLE["times"])
    repeated = pa.table(TABLE).take(np.repeat(np.arange(len(times)), times))
    learners = [LinearRegression(), Recorder()]
    counted = _diagnose(learner=learners, weights="times", weight_type="frequency", id="visit")
    assert differing(counted, _diagnose(repeated, learner=learners, id="visit"), 1e-8) == set()


# ----------------------------------------------------------------------------------------- refused


def test_a_learner_reaches_every_number_that_asks_for_a_regression_on_the_controls() -> None:
    forest = RandomForestRegressor(n_estimators=10, min_samples_leaf=10, random_state=0)
    plain, learnt = _diagnose(basis="linear", id="visit"), _diagnose(learner=forest, id="visit")
    stayed = numbers(plain).keys() - differing(plain, learnt, 0)
    stayed = {path for path in stayed if isinstance(numbers(plain)[path], float)}
    asked = (".threshold", ".level", ".floor", ".share", ".because.3.limit", ".ridge")
    stayed = {path for path in stayed if not path.endswith(asked) and not path.startswith(".drift_curves.knots")}
    # What is of the labelled rows and their controls as they are, of scores alone, or by definition.
    # Where no residual lies there is none, whichever way.
    known = (
        *(f".distribution.{name}" for name in ("edges", "knots", "unlabelled", "labelled", "mean")),
        *(path for path in stayed if path.startswith(".distribution.left") and numbers(plain)[path] == 0),
        ".reliability.",
        ".calibration.",
        ".drift_curves.supported.",
        ".estimates.rows.0.",
        ".sample.n_effective",
        ".score_variance",
    )
    stayed = {path for path in stayed if not path.startswith(known)}
    checks = {code for i, code in enumerate(plain.checks["code"]) if f".checks.rows.{i}.statistic" in stayed}
    assert checks == {
        "calibration.given_controls",
        "calibration.controls_only",
        "calibration.marginal",
        "calibration.control",
        "exclusion",
        "effect.varies",
        "samples.score",
        "samples.outcome",
        "audit.clean",
        "labels.few",
    }
    stayed = {path for path in stayed if not path.startswith((".checks.", ".verdict.would_change.2."))}
    soft = {f".forecast.rows.0.{name}" for name in ("kappa", "bias", "squared_bias", "relative_to_soft")}
    best = {path for path in stayed if path.endswith(".relative_to_best")}
    moments = {".ladder.moments.0", ".ladder.covariance.0.0", ".ladder.group_variance"}
    apart = {f".ladder.covariance.{i}.{j}" for k in (0, 1, 3) for i, j in ((k, 2), (2, k))}
    assert stayed == {".drift_curves.curves.0.kappa"} | soft | best | moments | apart


def test_in_sample_is_refused() -> None:
    with pytest.raises(InputError, match=r"folds with a learner.*folds=None.*folds=5"):
        _diagnose(learner="ridge", folds=None)


def test_repeated_rows_ask_for_an_id() -> None:
    times = np.repeat(np.arange(len(X)), 3)
    repeated = {**{name: pa.array(TABLE[name]).take(times) for name in TABLE}, "row": np.arange(len(times))}
    with pytest.raises(DataError, match=r"2,700 rows that hold about (8|9)\d\d distinct ones"):
        _diagnose(repeated, learner=LinearRegression())
    assert _diagnose(repeated, learner=LinearRegression(), id="row").sample.folds_by == "id"
    # Clusters decide folds, so copies are no matter there.
    assert _diagnose(repeated, learner=LinearRegression(), cluster="clinic").sample.folds_by == "cluster"
    with pytest.raises(DataError, match="whose value is another for every case"):
        _diagnose(repeated, learner=LinearRegression())
    # A row that stands for several cases has no id for each of them, and needs none.
    with pytest.raises(DataError, match="id= that names each row of the table, or one of clusters with cluster="):
        _diagnose(learner=LinearRegression(), weights="times", weight_type="frequency")
    counted = {"weights": "times", "weight_type": "frequency"}
    assert _diagnose(learner=LinearRegression(), id="visit", **counted).sample.folds_by == "id"
    assert _diagnose(learner=LinearRegression(), cluster="clinic", **counted).sample.folds_by == "cluster"


def test_one_kind_twice_or_none_is_refused() -> None:
    with pytest.raises(InputError, match="LinearRegression more than once"):
        _diagnose(learner=[LinearRegression(), LinearRegression(positive=True)])
    with pytest.raises(InputError, match="an empty list"):
        _diagnose(learner=[])


# ------------------------------------------------------------------------------------ same every time


def test_a_forest_is_the_same_however_rows_are_cut_and_read() -> None:
    forest = RandomForestRegressor(n_estimators=5, min_samples_leaf=20, random_state=1)
    options: dict[str, Any] = {"learner": forest, "id": "visit", "controls": ["age", "ward"], "confident": ()}
    whole = _diagnose(pa.table(TABLE), **options)
    cut = pa.Table.from_batches(pa.table(TABLE).to_batches(max_chunksize=111))
    for threads in (1, 4):
        assert differing(_diagnose(cut, **{**options, "threads": threads}), whole, 1e-12) == set()


def test_labelled_rows_are_none_of_the_learners_business() -> None:
    d = _diagnose(learner=LinearRegression())
    plain = _diagnose(basis="linear")
    assert d.estimate("supervised") == plain.estimate("supervised")
    assert d.sample.fingerprint == plain.sample.fingerprint
    assert numbers(d)[".sample.columns.0"] == "age"


def test_rows_that_change_after_the_look_are_seen() -> None:
    # With a category the rows are looked at before they are read: a query that draws anew is no table.
    connection = duckdb.connect()
    connection.register("source", pa.table(TABLE))
    connection.execute("create table kept as from source")
    drawn_anew = connection.sql("select * replace (frailty + random() as frailty) from kept")
    with pytest.raises(SourceChanged, match="every reading"):
        _diagnose(drawn_anew, learner=LinearRegression(), controls=["ward", "frailty"])


def test_notes_count_the_controls_columns_not_the_predictions() -> None:
    # A learner of two controls predicts seven things; forty rows a prediction are not called few.
    hidden = pa.table(TABLE).filter(pa.array(HIDDEN)).slice(0, 120)
    found = {note.code for note in _diagnose(hidden, learner=LinearRegression(), group=None).notes}
    assert "rows.few" not in found
    few = _diagnose(hidden, learner=LinearRegression(), group=None, controls=["age", "frailty", "ward", "w"]).notes
    (said,) = (note.message for note in few if note.code == "rows.few")
    assert "for 7 columns" in said
