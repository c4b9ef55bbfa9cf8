"""Which estimate to use: rules, each a pure function of estimates and checks."""

from softlabel.decision.guarded import guarded_rule
from softlabel.decision.options import RULES, TRUST, check_rule
from softlabel.decision.paper import paper_rule

__all__ = ["RULES", "TRUST", "check_rule", "guarded_rule", "paper_rule"]
