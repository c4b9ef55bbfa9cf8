"""Checks: every assumption looked at, each under a stable code. Importing a module registers its checks."""

from softlabel.diagnostics.checks import calibration, outcome, samples, score
from softlabel.diagnostics.checks.registry import CHECKS, Context, run_checks

__all__ = ["CHECKS", "Context", "calibration", "outcome", "run_checks", "samples", "score"]
