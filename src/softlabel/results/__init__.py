"""Frozen results: records, small tables, and the Diagnosis with its JSON."""

from softlabel.results.comparison import Compared, ComparedStudy, Comparison
from softlabel.results.diagnosis import Diagnosis
from softlabel.results.distribution import ControlReliability, ScoreDistribution
from softlabel.results.drift import Breakdown, Drift, DriftBound, DriftCurve, SupportedDrift
from softlabel.results.forecast import Forecast
from softlabel.results.records import (
    Attenuation,
    ConfidentAttenuation,
    Estimate,
    LabelEquivalent,
    LearnerScore,
    Note,
    Reason,
    Sample,
    Settings,
    Verdict,
)
from softlabel.results.scoring import ScoreMetrics, ScoreReport
from softlabel.results.table import Table
from softlabel.results.tidy import Glance, Tidy
from softlabel.results.trust import Audit, Calibration, Check, Ladder, ReliabilityBin, Rung, StepTest

__all__ = [
    "Attenuation",
    "Audit",
    "Breakdown",
    "Calibration",
    "Check",
    "Compared",
    "ComparedStudy",
    "Comparison",
    "ConfidentAttenuation",
    "ControlReliability",
    "Diagnosis",
    "Drift",
    "DriftBound",
    "DriftCurve",
    "Estimate",
    "Forecast",
    "Glance",
    "LabelEquivalent",
    "Ladder",
    "LearnerScore",
    "Note",
    "Reason",
    "ReliabilityBin",
    "Rung",
    "Sample",
    "ScoreDistribution",
    "ScoreMetrics",
    "ScoreReport",
    "Settings",
    "StepTest",
    "SupportedDrift",
    "Table",
    "Tidy",
    "Verdict",
]
