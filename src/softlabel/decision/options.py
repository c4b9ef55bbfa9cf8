"""What a caller may say about the verdict."""

from __future__ import annotations

from softlabel.errors import InputError, did_you_mean

__all__ = ["RULES", "TRUST", "check_rule"]

RULES = ("guarded", "paper")
TRUST = ("nothing", "exclusion", "calibration")


def check_rule(rule: str, trust: str | None, kappa_tolerance: float) -> float:
    """Return the tolerance as a plain number; raise unless the rule exists and can use what is said."""
    if rule not in RULES:
        raise InputError(expected="the name of a rule", found=f"rule={rule!r}", fix=did_you_mean(str(rule), RULES))
    if trust is not None and trust not in TRUST:
        raise InputError(
            expected="trust to be what may be trusted, or None to let the data decide",
            found=f"trust={trust!r}",
            fix=did_you_mean(str(trust), TRUST),
        )
    if trust is not None and rule == "paper":
        raise InputError(
            expected="no trust= with rule='paper', which compares precision only",
            found=f"trust={trust!r}",
            fix="Leave one of them out",
        )
    if not (isinstance(kappa_tolerance, int | float) and 0 < kappa_tolerance < 1):
        raise InputError(
            expected="kappa_tolerance to lie between 0 and 1",
            found=f"kappa_tolerance={kappa_tolerance!r}",
            fix="Use 0.05 to call kappa close to one from 0.95 to 1.05",
        )
    return float(kappa_tolerance)
