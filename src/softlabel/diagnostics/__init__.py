"""What the score can tell and what a threshold costs."""

from softlabel.diagnostics.adaptive import AdaptiveReport, adaptive_attenuation
from softlabel.diagnostics.attenuation import AttenuationReport, attenuation

__all__ = ["AdaptiveReport", "AttenuationReport", "adaptive_attenuation", "attenuation"]
