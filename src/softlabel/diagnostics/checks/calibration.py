"""Calibration: whether E[G | p, X] = p on the audit rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.checks.registry import Context, Finding, check, judged
from softlabel.diagnostics.evidence import Evidence
from softlabel.estimators.wald import Wald, block_test, score_test
from softlabel.results.text import interval_text, number

__all__: list[str] = []

Floats = NDArray[np.float64]

_EXPLANATIONS = (
    "the score is not calibrated given the controls, it was calibrated on other rows than these, or the labelled rows "
    "differ from the population"
)
# With fewer scores between 0 and 1 a test of calibration is a test of nothing.
_LEAST_UNSURE = 5

_ADVICE = "Trust instrumented or rectified in place of soft, or calibrate anew on labelled rows kept for it"


@check("calibration.given_controls", "Calibrated given the controls")
def given_controls(context: Context) -> Finding:
    r"""Test intercept 0, slope 1 and no control in E[G | p, X] = α + βp + γ'X, with the known variance p(1 − p)."""
    evidence = context.audited
    test = _score(evidence, np.vstack([evidence.rows.score, evidence.rows.controls]))
    audit = context.audit
    moved = None
    if audit.slope is not None:
        tau = float(evidence.g[0])
        moved = tau * (audit.slope - 1)
        # Of τ(c − 1), where both are estimated.
        gradient = np.array([audit.slope - 1, 0.0, 0.0, tau])
        reach = context.reach * float(gradient @ evidence.omega @ gradient) ** 0.5
        range_ = interval_text((moved - reach, moved + reach))
        told = f"soft is off by {number(moved)} for it ({range_})"
    else:
        told = f"what it does to soft cannot be told: {audit.reason}"
    return judged(
        test,
        f"The labels do not contradict it; {told}",
        f"The group is not as frequent as the score says, given the controls: {_EXPLANATIONS}; {told}",
        _ADVICE,
        effect=moved,
    )


@check("calibration.controls_only", "Controls tell no more of the group than the score")
def controls_only(context: Context) -> Finding:
    """Test γ = 0 in the regression of G − p on (1, p, X), robust: the test of Kurbucz (2026)."""
    evidence = context.audited
    rows = evidence.rows
    if not len(rows.controls):
        return Finding("not_applicable", "There are no controls")
    found = block_test(rows.group - rows.score[0], rows.controls, rows.score, rows, context.covariance)
    return judged(
        found if isinstance(found, str) else found.test,
        "At a given score the controls say nothing of the group",
        f"At a given score the controls still say something of the group: {_EXPLANATIONS}",
        "Let the calibrator see the controls, or trust instrumented or rectified in place of soft",
    )


@check("calibration.marginal", "Calibrated on average")
def marginal(context: Context) -> Finding:
    """Test intercept 0 and slope 1 in E[G | p] = α + βp."""
    evidence = context.audited
    wrong = ~_unsure(evidence) & (evidence.rows.score[0] != evidence.rows.group)
    if wrong.any():
        count = int(wrong.sum() if evidence.copies is None else wrong @ evidence.copies)
        return Finding(
            "fail",
            f"{count:,} audit rows have a score of exactly 0 or 1 and are of the other group, which the score calls "
            "impossible; they are left out of the other tests of calibration",
            "Clip the scores, to 0.001 and 0.999 for instance, or find out why the classifier is so sure",
        )
    test = _score(evidence, evidence.rows.score)
    return judged(
        test,
        "The group is about as frequent as the score says",
        f"The group is not as frequent as the score says, whatever the controls: {_EXPLANATIONS}",
        _ADVICE,
    )


@check("calibration.control", "Calibrated along ")
def by_control(context: Context) -> list[Finding] | Finding:
    """Test Cov(G − p, B_j(X)) = 0 for each control, with Holm's (1979) correction for their number."""
    evidence = context.audited
    owners = _owners(context)
    tests = {name: _score(evidence, evidence.rows.controls[rows], level=False) for name, rows in owners.items()}
    if not tests:
        return Finding("not_applicable", "There are no controls", about="the controls")
    found = []
    for name, test in _holm(tests).items():
        found.append(
            judged(
                test,
                f"How frequent the group is beside the score does not change with {name}",
                f"How frequent the group is beside the score changes with {name}: {_EXPLANATIONS}",
                f"Let the calibrator see {name}",
            )._replace(about=name)
        )
    return found


def _score(evidence: Evidence, columns: Floats, *, level: bool = True) -> Wald | str:
    # A score of exactly 0 or 1 leaves no chance to test by; `marginal` counts those that the group contradicts.
    unsure = np.flatnonzero(_unsure(evidence))
    if len(unsure) < _LEAST_UNSURE:
        return "nearly every score of the audit rows is exactly 0 or 1"
    rows = evidence.rows.take(_unsure(evidence))
    p = rows.score[0]
    return score_test(rows.group - p, p * (1 - p), columns[:, unsure], rows, level=level)


def _unsure(evidence: Evidence) -> NDArray[np.bool_]:
    p = evidence.rows.score[0]
    unsure: NDArray[np.bool_] = (p > 0) & (p < 1)
    return unsure


def _owners(context: Context) -> dict[str, NDArray[np.intp]]:
    """Return which design columns are of each control alone."""
    basis = context.run.basis
    return {
        control: np.array(rows)
        for control in basis.controls
        if (rows := [i for i, names in enumerate(basis.owners) if names == (control,)])
    }


def _holm(tests: dict[str, Wald | str]) -> dict[str, Wald | str]:
    """Return the tests with p-values for the smallest of so many."""
    known = sorted((test.p_value, name) for name, test in tests.items() if not isinstance(test, str))
    least, adjusted = 0.0, {}
    for rank, (p, name) in enumerate(known):
        least = max(least, min(1.0, p * (len(known) - rank)))
        adjusted[name] = least
    return {
        name: test if isinstance(test, str) else test._replace(p_value=adjusted[name]) for name, test in tests.items()
    }
