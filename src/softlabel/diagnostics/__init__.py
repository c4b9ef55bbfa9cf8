"""What the score can tell and what a threshold costs."""

from softlabel.diagnostics.attenuation import AttenuationReport, attenuation

__all__ = ["AttenuationReport", "attenuation"]
