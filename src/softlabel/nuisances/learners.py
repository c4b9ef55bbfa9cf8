"""scikit-learn regressors as nuisances: chosen by name, or handed in."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from softlabel.errors import InputError, did_you_mean
from softlabel.nuisances.least_squares import SHAPES, LeastSquares
from softlabel.nuisances.ridge import LeaveOneOutRidge

__all__ = ["LEARNERS", "Learner", "first_line", "last_step", "make_learner", "require_sklearn", "weight_argument"]

LEARNERS = (*SHAPES, "ridge", "forest", "boosting")


@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """A regressor that has not been fitted, and what to call it."""

    name: str
    estimator: Any


def make_learner(learner: Any, seed: int) -> Learner:
    """Return the learner of that name, or a copy of the regressor handed in.

    Parameters
    ----------
    learner
        "linear", "quadratic" or "spline" (least squares), "ridge", "forest", "boosting", or an instance of a
        scikit-learn regressor or of a pipeline that ends in one.
    seed
        Of the named learners; an instance keeps its own ``random_state``.

    Notes
    -----
    The forest and boosting were set by the error of r̂ over nine designs: dense, sparse and with an interaction, of
    2,000 to 20,000 rows and 5 and 20 controls. A forest tries half of the controls at a split: a third, Breiman's
    rule, is one of five and misses sparse designs; all of them take twice the time and gain nothing on five controls.
    Boosting takes many small trees, as many as early stopping allows: larger ones were worse on most designs.

    Of several the smallest V̂* is nearest to V*. That makes no learner the right one for the effect: least squares on
    columns that E[Y|X] is a line in is right with a larger V̂* too, as soft needs only one of E[p|X] and E[Y|X].

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> make_learner("forest", seed=0).name, make_learner(Lasso(alpha=0.1), seed=0).name
    ('forest', 'Lasso')
    """
    require_sklearn("for a learner")
    if isinstance(learner, str):
        return _named(learner, seed)
    if isinstance(learner, type):
        raise _no_learner(f"the class {learner.__name__}", f"Pass an instance of it: learner={learner.__name__}()")
    kind = type(learner).__name__
    if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise _no_learner(f"{kind} without fit and predict", did_you_mean("", LEARNERS))
    from sklearn.base import clone, is_classifier

    try:
        copy, classifier = clone(learner), is_classifier(learner)
    except (AttributeError, RuntimeError, TypeError) as error:
        raise _no_learner(
            f"{kind}, which cannot be copied ({first_line(error)})",
            "Derive it from sklearn.base.RegressorMixin and BaseEstimator, and let __init__ only store its arguments",
        ) from error
    name = type(last_step(learner)).__name__
    if classifier:
        raise _no_learner(
            f"the classifier {name}", "Use its regressor: a score's or a label's expectation is a regression"
        )
    # Both clusterers and detectors of outliers have it; what they predict is no expectation.
    if hasattr(learner, "fit_predict"):
        raise _no_learner(f"{name}, which predicts no target", did_you_mean("", LEARNERS))
    return Learner(name, copy)


def require_sklearn(what_for: str) -> None:
    """Raise where scikit-learn cannot be imported, saying what it is needed for and what to install."""
    try:
        import sklearn  # noqa: F401  (asked for here, so that one place says what to install)
    except ImportError as error:
        raise InputError(
            expected=f"scikit-learn {what_for}",
            found=f"that it cannot be imported ({first_line(error)})",
            fix="Install it with: pip install softlabel[learners]",
        ) from error


def _no_learner(found: str, fix: str) -> InputError:
    return InputError(expected="learner to be a name or an instance of a scikit-learn regressor", found=found, fix=fix)


def _named(name: str, seed: int) -> Learner:
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

    if name in SHAPES:
        return Learner(name, LeastSquares(shape=name))
    if name == "ridge":
        return Learner(name, LeaveOneOutRidge())
    if name == "forest":
        forest = RandomForestRegressor(
            n_estimators=200, min_samples_leaf=10, max_features=0.5, random_state=seed, n_jobs=-1
        )
        return Learner(name, forest)
    if name == "boosting":
        boosting = HistGradientBoostingRegressor(
            learning_rate=0.05, max_iter=1000, max_leaf_nodes=8, early_stopping=True, random_state=seed
        )
        return Learner(name, boosting)
    raise _no_learner(f"learner={name!r}", did_you_mean(name, LEARNERS))


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, of pipelines in it too; anything else is its own last step."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def first_line(error: Exception) -> str:
    """Return what an error of another library says, in one line."""
    return next(iter(str(error).splitlines()), "no message").rstrip(".")


def weight_argument(estimator: Any, name: str, kind: str, instead: str) -> str:
    """Return the argument of ``fit`` that takes weights: in a pipeline the one of the last step.

    What has none is refused as a ``kind`` that takes none, with what to use ``instead``.
    """
    path = ""
    while hasattr(estimator, "steps"):
        step, estimator = estimator.steps[-1]
        path += f"{step}__"
    arguments = inspect.signature(estimator.fit).parameters.values()
    # A wrapper, such as a search over settings, hands on whatever it is given.
    if not any(a.name == "sample_weight" or a.kind is a.VAR_KEYWORD for a in arguments):
        raise InputError(
            expected=f"a {kind} that takes weights",
            found=f"{name}, whose fit has no sample_weight",
            fix=f"Leave the weights out, or use another {kind}, such as {instead}",
        )
    return f"{path}sample_weight"
