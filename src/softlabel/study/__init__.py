"""Roles of columns, validation at the door, and the count of what was left out and why."""

from softlabel.study.columns import Batch, Columns
from softlabel.study.roles import Part, Study
from softlabel.study.tally import Tally

__all__ = ["Batch", "Columns", "Part", "Study", "Tally"]
