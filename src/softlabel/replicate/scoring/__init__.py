"""Scores made of features, judged: calibrators and splits, the calibration check, noise, V* by learner."""

from softlabel.replicate.scoring.command import ScoresFound, replicate_scores

__all__ = ["ScoresFound", "replicate_scores"]
