"""Classifiers: by name, handed in, refused; what each is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from softlabel import DataError, InputError, score
from softlabel.scoring.models import dense_columns, make_model
from tests.featured import ROLES


@pytest.mark.parametrize(
    "model",
    [
        "logistic",
        "forest",
        "boosting",
        GaussianNB(),
        ExtraTreesClassifier(50, min_samples_leaf=5, random_state=0),
        make_pipeline(LogisticRegression()),
    ],
    ids=str,
)
def test_a_model_learns_what_tells_the_group(model: Any, table: pa.Table) -> None:
    scores = score(table, **ROLES, model=model)
    truth = np.asarray(table["truth"])[: len(scores.unlabelled)]
    # The truth's own probability has an AUC of 0.89 here; 300 labels and the weakest model here come to 0.8.
    assert scores.report.metrics.rows[1].auc > 0.75
    assert np.mean((scores.unlabelled > 0.5) == truth) > 0.7
    assert ((scores.unlabelled >= 0) & (scores.unlabelled <= 1)).all()


def test_a_pipeline_that_chooses_columns_is_given_them_by_name(table: pa.Table) -> None:
    named = np.asarray(table["truth"])
    words = np.where(named == 1, "alpha beta", "gamma delta").tolist()
    words = [text if i % 4 else "alpha delta" for i, text in enumerate(words)]
    rows = table.append_column("words", [words])
    columns = ColumnTransformer([("words", TfidfVectorizer(), "words"), ("x", "passthrough", ["x"])])
    scores = score(
        rows, features=["words", "x"], controls=["x"], group="g", model=make_pipeline(columns, LogisticRegression())
    )
    # Three rows in four carry a text that tells the group for sure.
    assert np.mean((scores.unlabelled > 0.5) == named[: len(scores.unlabelled)]) > 0.85


def test_columns_are_filled_marked_scaled_and_coded() -> None:
    codes = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 0.0], [5.0, np.nan]] * 5)
    found = dense_columns([False, True]).fit_transform(codes)
    filled = np.array([1.0, 3.0, 3.0, 5.0] * 5)
    assert found[:, 0] == pytest.approx((filled - filled.mean()) / filled.std())
    marked = np.array([0.0, 1.0, 0.0, 0.0] * 5)
    assert found[:, 1] == pytest.approx((marked - 0.25) / marked.std())
    # Level 0, level 1 and none at all: the last two have five rows each, which are just enough.
    assert found[:, 2:].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]] * 5


class _Silent(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gives whatever it is told to."""

    def __init__(self, gives: Any = None) -> None:
        self.gives = gives

    def fit(self, _: Any, y: Any) -> _Silent:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        if isinstance(self.gives, Exception):
            raise self.gives
        return np.full((len(X), 2), self.gives)


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("forrest", ["model to be a name or an instance", "'forrest'", "Did you mean 'forest'?"]),
        (LogisticRegression, ["the class LogisticRegression", "model=LogisticRegression()"]),
        (LinearRegression(), ["LinearRegression without fit and predict_proba"]),
        (LinearSVC(), ["without fit and predict_proba", "CalibratedClassifierCV"]),
        (3, ["int without fit and predict_proba"]),
    ],
    ids=str,
)
def test_what_is_no_classifier_is_refused(model: Any, parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        make_model(model, 0)
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("gives", "found"),
    [(ValueError("no\nluck"), "ValueError: no"), (float("nan"), "no probabilities"), (1.5, "no probabilities")],
)
def test_what_a_classifier_does_wrong_is_said(gives: Any, found: str, table: pa.Table) -> None:
    with pytest.raises(DataError, match=rf"the classifier _Silent to predict; found .*{found}"):
        score(table, **ROLES, model=_Silent(gives))


def test_weights_need_a_model_that_takes_them(table: pa.Table) -> None:
    with pytest.raises(InputError, match=r"a model that takes weights; found KNeighborsClassifier"):
        score(table, **ROLES, model=KNeighborsClassifier(), weights="v")


def test_a_given_score_is_only_calibrated(table: pa.Table) -> None:
    p = 1 / (1 + np.exp(-2 * np.nan_to_num(np.asarray(table["w"].to_pandas()))))
    rows = table.append_column("p0", [p])
    alone: dict[str, Any] = {"features": ["p0"], "controls": ["x"], "group": "g", "model": "given"}
    assert score(rows, **alone, calibrator="none").p == pytest.approx(p, abs=0)
    platt = score(rows, **alone, calibrator="platt").p
    assert platt is not None
    # Five sigmoids of one number: the rows of each lie on a curve that rises.
    scores = score(rows, **alone, calibrator="platt")
    for piece in scores.scorer.pieces:
        grid = np.linspace(0.01, 0.99, 50)
        assert (np.diff(piece.calibrate(grid, np.zeros((50, 1)))) > 0).all()
    with pytest.raises(InputError, match="one feature, the score, with model='given'; found 2"):
        score(rows, **{**alone, "features": ["p0", "w"]})
    with pytest.raises(DataError, match=r"a probability on every row, with model='given'"):
        score(table, **{**alone, "features": ["w"]})


def test_lightgbm_works_because_it_follows_the_interface(table: pa.Table) -> None:
    from lightgbm import LGBMClassifier

    scores = score(table, **ROLES, model=LGBMClassifier(n_estimators=30, verbose=-1, n_jobs=1, random_state=0))
    assert scores.report.model == "LGBMClassifier"
    assert scores.report.metrics.rows[1].auc > 0.75


@pytest.mark.parametrize("model", ["bootstrap", "deep"])
def test_a_member_drawn_for_each_row_is_one_of_those_that_the_mean_is_of(model: str, table: pa.Table) -> None:
    options: dict[str, Any] = {**ROLES, "model": model, "calibrator": "none", "split": "halves"}
    mean, drawn = score(table, **options), score(table, **options, draw="member")
    (piece,) = drawn.scorer.pieces
    rows = drawn.scorer.rows(table.slice(0, 200))
    every = piece.model[-1].member_proba(piece.model[:-1].transform(rows.features))
    assert every.mean(axis=0) == pytest.approx(mean.unlabelled[:200], abs=1e-12)
    which = np.abs(every - drawn.unlabelled[:200]).argmin(axis=0)
    assert every[which, np.arange(200)] == pytest.approx(drawn.unlabelled[:200], abs=1e-12)
    # Each of M members is drawn as often as the others, within four binomial errors.
    share = np.bincount(which, minlength=len(every)) / 200
    assert np.abs(share - 1 / len(every)).max() < 4 * (1 / len(every) / 200) ** 0.5
    # A draw varies by what the members disagree about, on top of the mean.
    assert drawn.unlabelled.var() > mean.unlabelled.var()
    again = score(table.take(pa.array(range(table.num_rows)[::-1])), **options, draw="member")
    assert again.unlabelled[::-1] == pytest.approx(drawn.unlabelled, abs=1e-6)


def test_dropout_and_multicalibration_are_there_by_name(table: pa.Table) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: make extras")
    pytest.importorskip("mcgrad", reason="MCGrad is not installed: make extras")
    scores = score(table, **ROLES, model="dropout", draw="member", calibrator="multicalibrated", folds=2)
    assert scores.report.metrics.rows[1].auc > 0.7
