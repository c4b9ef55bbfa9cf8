"""Regressions on the controls, of the score, the outcome and the hard labels: linear, or by any learner."""

from softlabel.nuisances.learners import LEARNERS, Learner, make_learner
from softlabel.nuisances.linear import LinearNuisances, fit_nuisances
from softlabel.nuisances.out_of_fold import LearnerScore, out_of_fold, v_star_of
from softlabel.nuisances.predicted import (
    PredictionBasis,
    predicted_nuisances,
    prediction_names,
    predictions,
    with_predictions,
)

__all__ = [
    "LEARNERS",
    "Learner",
    "LearnerScore",
    "LinearNuisances",
    "PredictionBasis",
    "fit_nuisances",
    "make_learner",
    "out_of_fold",
    "predicted_nuisances",
    "prediction_names",
    "predictions",
    "v_star_of",
    "with_predictions",
]
