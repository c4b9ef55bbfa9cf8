"""Effects of a latent group that is seen only through a classifier's score."""

from softlabel.diagnostics import AttenuationReport, attenuation
from softlabel.estimators import confident, hard, soft, supervised

__all__ = ["AttenuationReport", "attenuation", "confident", "hard", "soft", "supervised"]
