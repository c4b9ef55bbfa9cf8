"""The estimators: each a public function on arrays, and the same formulas on the sums of a table."""

from softlabel.estimators.confident import confident
from softlabel.estimators.hard import hard
from softlabel.estimators.soft import soft
from softlabel.estimators.supervised import supervised

__all__ = ["confident", "hard", "soft", "supervised"]
