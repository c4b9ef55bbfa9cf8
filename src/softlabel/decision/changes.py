"""What would change a verdict: labels, the caller's word, the check that is nearest to failing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from softlabel.results import Attenuation, Check, Estimate, Ladder, Reason
from softlabel.results.records import Choice
from softlabel.results.text import interval_text, number, percent, whole

__all__ = ["REJECTED", "Said", "labels_for", "would_change"]

# An offer to trust what the labels object to, at this level, is not made.
REJECTED = 0.05


class Said(NamedTuple):
    """What the guarded rule is given, kept together."""

    supervised: Estimate
    soft: Estimate
    adaptive: Estimate
    ladder: Ladder
    checks: Sequence[Check]
    kappa: list[Attenuation]
    tolerance: float
    trust: str | None

    def shown(self, estimate: float, low: float, high: float) -> str:
        """Return a number with its interval."""
        return f"{number(estimate)} ({percent(self.supervised.level)} interval {interval_text((low, high))})"

    @staticmethod
    def estimate(row: Estimate) -> str:
        """Return an estimate with its interval."""
        return f"{number(row.estimate)} ({percent(row.level)} interval {interval_text(row.interval)})"


def would_change(said: Said, choice: Choice, *, alike: bool) -> Iterator[Reason]:
    """Yield what would change the verdict; ``alike``: nothing says that the labelled rows are no part of the others."""
    if said.ladder.reason is not None:
        yield Reason(
            "labels.audit",
            "Labelled rows of both groups with a score, drawn at random and seen by neither classifier nor calibrator, "
            "would test calibration and exclusion; now "
            f"{said.ladder.reason}",
        )
        return
    rungs = list(said.ladder.rungs)
    if choice in ("adaptive", "rectified"):
        wanted = labels_for(said.ladder, rungs[1].std_error)
        if wanted is not None:
            yield Reason(
                "labels.more",
                f"With about {whole(wanted - said.ladder.n_labelled)} more labelled rows rectified would be as precise "
                "as instrumented is now",
                wanted - said.ladder.n_labelled,
            )
    objected = any(one.code == "exclusion" and one.outcome in ("warn", "fail") for one in said.checks)
    objected = objected or any(step.name == "exclusion" and step.p_value < REJECTED for step in said.ladder.steps)
    if said.trust is None and alike and not objected:
        higher = rungs[1]
        yield Reason(
            "trust.exclusion",
            "If you know that the score matters for the outcome only through the group, trust exclusion: instrumented "
            f"is {said.shown(higher.estimate, higher.ci_low, higher.ci_high)}",
            higher.estimate,
        )
    if any(one.outcome == "fail" for one in said.checks):
        return
    near = [one for one in said.checks if one.outcome == "pass" and one.p_value is not None]
    if near:
        closest = min(near, key=lambda one: one.p_value or 0.0)
        yield Reason(
            f"check.{closest.code}",
            f"Of the checks that pass the nearest to failing is {closest.title!r} (p = {number(closest.p_value, 2)})",
            closest.p_value,
        )


def labels_for(ladder: Ladder, std_error: float) -> float | None:
    r"""Return how many labels would give rectified this standard error, ``None`` where there are enough.

    With the covariance of labelled rows in proportion to 1/n, a = Ω₀₀n, q = Ω₀₁n and f = Ω₁₁n, and u = Var(soft_U),

    .. math:: V_0(n) = \frac{a}{n} - \frac{q^2}{n (f + u n)} = V

    is a quadratic in n.
    """
    n, omega = ladder.n_labelled, ladder.covariance
    if not omega:
        return None
    a, q, f, u = omega[0][0] * n, omega[0][1] * n, omega[1][1] * n, omega[2][2]
    target = std_error**2
    # The product too: of an outcome in tiny units it may be zero where its factors are not.
    if target * u <= 0:
        return None
    half, constant = (target * f - a * u) / 2, q * q - a * f
    square = half * half - target * u * constant
    if square < 0:
        return None
    wanted = (-half + math.sqrt(square)) / (target * u)
    return wanted if math.isfinite(wanted) and wanted > n else None
