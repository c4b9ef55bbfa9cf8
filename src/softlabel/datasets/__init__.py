"""Real data: three tables that ship with the package, and two that are read from a folder of yours."""

from softlabel.datasets.given import read_study
from softlabel.datasets.known import NAMES, about
from softlabel.datasets.records import Dataset, Effects, Roles
from softlabel.datasets.shipped import load, load_adult, load_credit_default, load_nycflights

__all__ = [
    "NAMES",
    "Dataset",
    "Effects",
    "Roles",
    "about",
    "load",
    "load_adult",
    "load_credit_default",
    "load_nycflights",
    "read_study",
]
