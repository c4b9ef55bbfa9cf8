"""What can be asked for by name when a score is made."""

from __future__ import annotations

__all__ = ["CALIBRATORS", "DRAWS", "MODELS", "SPLITS"]

MODELS = ("logistic", "forest", "boosting", "bootstrap", "deep", "dropout", "given")
CALIBRATORS = ("none", "temperature", "platt", "beta", "isotonic", "conditional", "multicalibrated")
SPLITS = ("folds", "mean", "halves")
DRAWS = ("mean", "member", "beta")
