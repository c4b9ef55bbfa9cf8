"""Frozen results: records, small tables, and the Diagnosis with its JSON."""

from softlabel.results.diagnosis import Diagnosis
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
from softlabel.results.table import Table

__all__ = [
    "Attenuation",
    "ConfidentAttenuation",
    "Diagnosis",
    "Estimate",
    "LabelEquivalent",
    "LearnerScore",
    "Note",
    "Reason",
    "Sample",
    "Settings",
    "Table",
    "Verdict",
]
