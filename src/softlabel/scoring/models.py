"""Classifiers: chosen by name, or handed in; what each is given of the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import DataError, InputError, did_you_mean
from softlabel.nuisances.learners import first_line, last_step, require_sklearn, weight_argument
from softlabel.scoring.names import MODELS

__all__ = ["Model", "dense_columns", "fit_model", "make_model", "positive"]

Floats = NDArray[np.float64]
Takes = Literal["columns", "codes", "frame"]


# Levels that fewer training rows have share a column.
_RARE = 5


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A classifier that has not been fitted, what to call it, and what it takes.

    ``takes`` is "columns": numbers alone, missing values filled and marked, categories as one column a level;
    "codes": categories as codes, missing values as they are; "frame": the features as a DataFrame.
    """

    name: str
    estimator: Any
    takes: Takes

    @property
    def given(self) -> bool:
        """Whether the one feature is the score of a classifier that was trained elsewhere: nothing is to be fitted."""
        return self.name == "given"

    @property
    def draws(self) -> bool:
        """Whether it has members to draw a score from."""
        return hasattr(self.estimator, "member_proba")


def make_model(model: Any, seed: int) -> Model:
    """Return the classifier of that name, or a copy of the one handed in.

    Parameters
    ----------
    model
        "logistic", "forest" or "boosting"; the ensembles "bootstrap" (logistic regressions on resampled rows), "deep"
        (neural networks) and "dropout" (one in PyTorch, thinned at random); "given", where the one feature is a score
        that a classifier trained on other rows gave, to be calibrated here; or an instance of a scikit-learn
        classifier or pipeline. One that begins with a ``ColumnTransformer`` is given a DataFrame of the features
        as they are; any other is given numbers.
    seed
        Of the named ones; an instance keeps its own ``random_state``.

    Notes
    -----
    Labels are few, so the named ones are tame: logistic has a standard normal prior on standardised columns, leaves
    of the forest hold five rows, boosting takes a hundred small steps.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> make_model("forest", seed=0).name, make_model(GaussianNB(), seed=0).name
    ('forest', 'GaussianNB')
    """
    require_sklearn("to make scores")
    if isinstance(model, str):
        return _named(model, seed)
    if isinstance(model, type):
        raise _no_model(f"the class {model.__name__}", f"Pass an instance of it: model={model.__name__}()")
    kind = type(model).__name__
    if not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
        fix = "Wrap it in sklearn.calibration.CalibratedClassifierCV" if hasattr(model, "decision_function") else None
        raise _no_model(f"{kind} without fit and predict_proba", fix or did_you_mean("", MODELS))
    from sklearn.base import clone

    try:
        copy = clone(model)
    except (AttributeError, RuntimeError, TypeError) as error:
        raise _no_model(
            f"{kind}, which cannot be copied ({first_line(error)})",
            "Derive it from sklearn.base.ClassifierMixin and BaseEstimator, and let __init__ only store its arguments",
        ) from error
    return Model(type(last_step(model)).__name__, copy, "frame" if _wants_frame(copy) else "columns")


def _no_model(found: str, fix: str) -> InputError:
    return InputError(expected="model to be a name or an instance of a scikit-learn classifier", found=found, fix=fix)


def _wants_frame(estimator: Any) -> bool:
    """Tell whether a pipeline begins by choosing columns by their names."""
    from sklearn.compose import ColumnTransformer

    first = estimator
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    return isinstance(first, ColumnTransformer)


def _named(name: str, seed: int) -> Model:
    if name == "given":
        return Model(name, None, "codes")
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        # Newton's method to the last digits: what is fitted does not depend on the order of rows.
        return Model(name, LogisticRegression(solver="newton-cholesky", tol=1e-10), "columns")
    if name == "forest":
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(n_estimators=300, min_samples_leaf=5, random_state=seed)
        return Model(name, forest, "columns")
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        boosting = HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=100, max_leaf_nodes=8, early_stopping=False, random_state=seed
        )
        return Model(name, boosting, "codes")
    if name in {"bootstrap", "deep"}:
        from softlabel.scoring import ensembles

        kind = ensembles.BootstrapEnsemble if name == "bootstrap" else ensembles.DeepEnsemble
        return Model(name, kind(random_state=seed), "columns")
    if name == "dropout":
        from softlabel.scoring.dropout import DropoutClassifier

        return Model(name, DropoutClassifier(random_state=seed), "columns")
    raise _no_model(f"model={name!r}", did_you_mean(name, MODELS))


def dense_columns(categorical: Sequence[bool], *, curves: bool = False) -> Any:
    """Return a transformer of codes and numbers (n, k) to columns without gaps, numeric ones of unit variance.

    With ``curves`` a number becomes the columns of a natural spline of four knots.

    A missing number becomes the median, and a column says where, if training rows had gaps too. A category has a column
    for each level; rare levels share one, with those that training rows did not have.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numeric = [j for j, is_category in enumerate(categorical) if not is_category]
    coded = [j for j, is_category in enumerate(categorical) if is_category]
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    steps: list[Any] = [imputer, StandardScaler()]
    if curves:
        from softlabel.scoring.curves import Curves

        steps.insert(1, Curves())
    filled = make_pipeline(*steps)
    levels: Any = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=_RARE, sparse_output=False)
    if curves:
        # For a penalty per deviation: a level is penalised like a number that says the same.
        levels = make_pipeline(levels, StandardScaler())
    return ColumnTransformer([("numbers", filled, numeric), ("levels", levels, coded)], sparse_threshold=0)


def fit_model(
    model: Model, codes: Floats, frame: pa.Table | None, categorical: Sequence[bool], group: Floats, weight: Any
) -> Any:
    """Return the model fitted on features, codes (n, k) or a frame, and a group (n,) with weights (n,) or ``None``."""
    if model.given:
        return None
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    estimator = clone(model.estimator)
    if model.takes == "columns":
        estimator = make_pipeline(dense_columns(categorical), estimator)
    elif model.takes == "codes":
        estimator.set_params(categorical_features=list(categorical))
    given: Any = codes if model.takes != "frame" or frame is None else frame.to_pandas()
    arguments = {} if weight is None else {weight_argument(estimator, model.name, "model", "model='logistic'"): weight}
    try:
        estimator.fit(given, group.astype(np.int64), **arguments)
    except Exception as error:  # whatever somebody else's classifier raises
        raise _cannot(model.name, f"fit {len(group):,} rows", f"{type(error).__name__}: {first_line(error)}") from error
    last = last_step(estimator)
    if getattr(last, "n_jobs", None) not in (None, 1):
        # Forests of several jobs add their trees up in the order in which threads finish.
        last.set_params(n_jobs=1)
    return estimator


def positive(name: str, fitted: Any, given: Any, member: NDArray[np.intp] | None = None) -> Floats:
    """Return P(group = 1), (n,), of a fitted model; of one member for each row where ``member`` (n,) says which."""
    if fitted is None:
        return _given(given[:, 0])
    try:
        if member is None:
            found = np.asarray(fitted.predict_proba(given), dtype=np.float64)
            found = found[:, list(fitted.classes_).index(1)]
        else:
            columns = fitted[:-1].transform(given)
            every = fitted[-1].member_proba(columns)
            found = every[member % len(every), np.arange(every.shape[1])]
    except Exception as error:  # as above
        raise _cannot(name, "predict", f"{type(error).__name__}: {first_line(error)}") from error
    possible = np.isfinite(found) & (found >= 0) & (found <= 1)
    if found.shape != (len(given),) or not possible.all():
        raise _cannot(name, "predict", "values that are no probabilities")
    return found


def _given(p: Floats) -> Floats:
    """Return a score as it is, once it is found to be one."""
    possible = (p >= 0) & (p <= 1)
    if not possible.all():
        absent = int(np.isnan(p).sum())
        raise DataError(
            expected="the feature to be a probability on every row, with model='given'",
            found=f"{absent:,} missing values in one batch" if absent else f"{p[~possible][0]:g}",
            fix="Leave out rows without a score, and pass the probability of the group, from 0 to 1",
        )
    return p


def _cannot(name: str, what: str, found: str) -> DataError:
    return DataError(
        expected=f"the classifier {name} to {what}",
        found=found,
        fix="Change its settings, use another model, or leave out the feature that it cannot take",
    )
