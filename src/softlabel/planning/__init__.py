"""How many labels a study needs, and what a better score would buy."""

from softlabel.planning.plan import plan
from softlabel.planning.records import Plan

__all__ = ["Plan", "plan"]
