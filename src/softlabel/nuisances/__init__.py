"""Regressions on the controls: of the score, the outcome and the hard labels."""

from softlabel.nuisances.linear import LinearNuisances, fit_nuisances

__all__ = ["LinearNuisances", "fit_nuisances"]
