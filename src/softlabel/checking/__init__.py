"""Checking: what the data can and cannot answer, said before anything is estimated.

One pass, in which nothing is refused: what `softlabel.diagnose` would raise for is collected instead.
"""

from softlabel.checking.check import check
from softlabel.checking.records import Checkup

__all__ = ["Checkup", "check"]
