"""The second pass: influence functions, their sums, and both passes as one call."""

from softlabel.influence.analysis import Analysis, FoldRule, analyse, check_unchanged
from softlabel.influence.sums import InfluenceSums

__all__ = ["Analysis", "FoldRule", "InfluenceSums", "analyse", "check_unchanged"]
