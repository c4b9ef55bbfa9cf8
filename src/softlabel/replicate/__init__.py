"""Experiments that judge the rules: scenarios with exact targets, regret, coverage, aims."""

from softlabel.replicate.command import RulesFound, replicate_rules
from softlabel.replicate.scenarios import SCENARIOS, Scenario

__all__ = ["SCENARIOS", "RulesFound", "Scenario", "replicate_rules"]
