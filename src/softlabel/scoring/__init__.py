"""From features to scores one may regress on: classifiers, calibrators, cross-fitting, ensembles."""

from softlabel.scoring.score import Scores, score

__all__ = ["Scores", "score"]
