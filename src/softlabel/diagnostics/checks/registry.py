"""The registry: a check is a function of what is known, under a stable code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from softlabel.diagnostics.evidence import Evidence
from softlabel.estimators.supervised import SupervisedFit
from softlabel.estimators.wald import Wald
from softlabel.results import Audit, Check, Estimate, Ladder
from softlabel.results.inference import quantile
from softlabel.results.trust import Outcome
from softlabel.running import Run

__all__ = ["CHECKS", "FAIL", "WARN", "Context", "Finding", "check", "judged", "run_checks"]

# p-values below which a check warns and fails. A dozen checks are made, so one in a hundred is no small odds.
WARN, FAIL = 0.05, 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What a check may look at.

    ``explained`` names the outcome and the group, which no classifier should have seen; ``cross_fitted`` says that the
    score was made here, out of fold on the audit rows.
    """

    run: Run
    evidence: Evidence | str
    supervised: SupervisedFit
    soft: Estimate
    v_star: Estimate
    ladder: Ladder
    audit: Audit
    covariance: str
    level: float
    features: tuple[str, ...] | None = None
    explained: tuple[str | None, ...] = ()
    cross_fitted: bool = False

    @property
    def audited(self) -> Evidence:
        """The evidence, for checks that are only made where there is some."""
        assert not isinstance(self.evidence, str)  # noqa: S101  (`check` made sure)
        return self.evidence

    @property
    def reach(self) -> float:
        """How many standard errors an interval reaches that the labelled rows give."""
        return quantile(self.level, self.supervised.estimate.df)


class Finding(NamedTuple):
    """What a check found; ``about`` is added to its title."""

    outcome: Outcome
    message: str
    advice: str = "Nothing to do"
    statistic: float | None = None
    df: int | None = None
    p_value: float | None = None
    effect: float | None = None
    about: str = ""


Find = Callable[[Context], "Finding | list[Finding]"]


@dataclass(frozen=True, slots=True)
class Registered:
    """A check: its code, its title, whether it needs audit rows, and the function."""

    code: str
    title: str
    audits: bool
    find: Find


CHECKS: dict[str, Registered] = {}


def check(code: str, title: str, *, audits: bool = True) -> Callable[[Find], Find]:
    """Register a check under its code; one that ``audits`` is skipped where there are no audit rows."""

    def register(find: Find) -> Find:
        CHECKS[code] = Registered(code, title, audits, find)
        return find

    return register


def run_checks(context: Context) -> tuple[Check, ...]:
    """Return what every registered check found, in the order of their registration."""
    return tuple(
        Check(
            code=one.code,
            title=one.title + finding.about,
            outcome=finding.outcome,
            statistic=finding.statistic,
            df=finding.df,
            p_value=finding.p_value,
            effect=finding.effect,
            message=finding.message,
            advice=finding.advice,
        )
        for one in CHECKS.values()
        for finding in _find(one, context)
    )


def _find(one: Registered, context: Context) -> list[Finding]:
    if one.audits and isinstance(context.evidence, str):
        return [Finding("skipped", f"Not looked at: {context.evidence}", "Label rows at random, and score them")]
    found = one.find(context)
    return found if isinstance(found, list) else [found]


def judged(test: Wald | str, good: str, bad: str, advice: str, *, effect: float | None = None) -> Finding:
    """Return a finding from a test: "pass", "warn" or "fail" by its p-value; ``advice`` is for the last two."""
    if isinstance(test, str):
        return Finding("skipped", f"Not tested: {test}", "Label more rows")
    numbers = {"statistic": test.statistic, "df": test.df, "p_value": test.p_value, "effect": effect}
    if test.p_value >= WARN:
        return Finding("pass", good, **numbers)  # type: ignore[arg-type]
    return Finding("fail" if test.p_value < FAIL else "warn", bad, advice, **numbers)  # type: ignore[arg-type]
