"""The first pass: rows to mergeable sums, and least squares from those sums."""

from softlabel.moments.cells import CellMoments
from softlabel.moments.design import Design
from softlabel.moments.fit_pass import FitState, fit_batch
from softlabel.moments.partition import Partition

__all__ = ["CellMoments", "Design", "FitState", "Partition", "fit_batch"]
