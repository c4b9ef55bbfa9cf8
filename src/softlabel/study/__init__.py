"""Roles of columns, validation at the door, and the count of what was left out and why."""

from softlabel.study.columns import Batch, Columns, is_category, joined, level_names
from softlabel.study.roles import WEIGHT_TYPES, Part, Study
from softlabel.study.tally import Tally

__all__ = ["WEIGHT_TYPES", "Batch", "Columns", "Part", "Study", "Tally", "is_category", "joined", "level_names"]
