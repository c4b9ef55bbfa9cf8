"""Designs with known answers, their exact population values, and a Monte Carlo runner."""

from softlabel.simulate.clinic import CLINIC_TRUTH, ClinicTruth, clinic
from softlabel.simulate.diagnosing import Diagnosing
from softlabel.simulate.montecarlo import run
from softlabel.simulate.paper import PaperDesign
from softlabel.simulate.replication import Experiment, replicate_one
from softlabel.simulate.summary import Measured, MonteCarlo, Proportion
from softlabel.simulate.truth import Attenuation, ConfidentTruth, HardTruth, Truth

__all__ = [
    "CLINIC_TRUTH",
    "Attenuation",
    "ClinicTruth",
    "ConfidentTruth",
    "Diagnosing",
    "Experiment",
    "HardTruth",
    "Measured",
    "MonteCarlo",
    "PaperDesign",
    "Proportion",
    "Truth",
    "clinic",
    "replicate_one",
    "run",
]
