"""The outcome: whether the score matters for it beyond the group, and whether the effect varies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.checks.registry import Context, Finding, check, judged
from softlabel.estimators.wald import Wald, block_test
from softlabel.results.text import interval_text, number
from softlabel.study import joined

__all__: list[str] = []

Floats = NDArray[np.float64]


@check("exclusion", "The score matters for the outcome only through the group")
def exclusion(context: Context) -> Finding:
    """Test the coefficient of p in the regression of Y on (1, G, X, p)."""
    evidence = context.audited
    rows, audit = evidence.rows, context.audit
    found = block_test(rows.outcome, rows.score, np.vstack([rows.group, rows.controls]), rows, context.covariance)
    told = f"what it does to soft cannot be told: {audit.reason}"
    if audit.leak is not None and audit.leak_error is not None:
        reach = context.reach * audit.leak_error
        low, high = audit.leak - reach, audit.leak + reach
        told = f"soft is off by {number(audit.leak)} for it ({interval_text((low, high))})"
    return judged(
        found if isinstance(found, str) else found.test,
        f"With the group known, the score tells nothing more of the outcome; {told}",
        "With the group known, the score still tells something of the outcome: what the classifier saw matters by "
        f"itself, the effect varies with the controls, or the controls act otherwise than the basis says; {told}",
        "Trust rectified, or add what the classifier saw to the controls",
        effect=audit.leak,
    )


@check("effect.varies", "One effect whatever the controls")
def effect_varies(context: Context) -> Finding:
    """Test the products of G with the controls, as they are, in the regression of Y on (1, G, X, G·X)."""
    evidence = context.audited
    rows = evidence.rows
    if not len(rows.controls):
        return Finding("not_applicable", "There are no controls to vary with")
    weight = evidence.weight
    # Curves in the effect would be asked of few rows: with their columns the test rejects too often.
    along = _straight(context)
    middle = along @ weight / weight.sum()
    products = rows.group * (along - middle[:, None])
    found = block_test(rows.outcome, products, np.vstack([rows.group, rows.controls]), rows, context.covariance)
    if isinstance(found, str):
        return judged(found, "", "", "")
    # What supervised and soft make of it: each weighs the effects by the variance of its own regressor.
    by_group, by_score = (weight * np.square(x) for x in (evidence.e, evidence.a))
    apart = along @ by_score / by_score.sum() - along @ by_group / by_group.sum()
    effect = float(found.coefficients @ apart)
    told = f"soft and supervised then weigh the effects differently, by {number(effect)}"
    return judged(
        found.test,
        "The labels do not show an effect that changes with the controls",
        f"The effect changes with the controls: {told}; each is an average, and the higher rungs mix them",
        "Report rectified, which keeps the average that supervised has; or add products of the group and controls",
        effect=effect,
    )


def _straight(context: Context) -> Floats:
    """Return the controls of the audit rows, (m, n): numbers as they are, categories as dummies."""
    basis, clean = context.run.basis, context.audited.clean
    columns = context.audited.rows.controls
    # As they came, with a learner too, whose predictions stand in their place everywhere else.
    read = joined(context.run.analysis.fit.labelled, len(basis.controls)).controls[:, clean]
    found = []
    for i, control in enumerate(basis.controls):
        if control in basis.categories:
            found += [columns[j] for j, owners in enumerate(basis.owners) if owners == (control,)]
        else:
            found.append(read[i])
    return np.stack(found)


@check("overidentification", "Soft and supervised agree (J)")
def overidentification(context: Context) -> Finding:
    """Test soft_U = supervised with their joint covariance."""
    evidence = context.audited
    apart = np.array([-1.0, 0.0, 1.0, 0.0])
    difference, variance = float(apart @ evidence.g), float(apart @ evidence.omega @ apart)
    if variance <= 0:
        return Finding("not_applicable", "Soft and supervised have no error to compare by")
    return judged(
        _chi_square(difference**2 / variance),
        f"Soft and supervised differ by {number(difference)}, which chance explains",
        f"Soft and supervised differ by {number(difference)}, more than chance explains: the score is not calibrated "
        "given the controls, what the classifier saw matters for the outcome, the labelled rows are of another kind, "
        "or the effect varies with the controls",
        "See which of the other checks fails, and trust rectified meanwhile",
        effect=difference,
    )


def _chi_square(statistic: float) -> Wald:
    from scipy.special import chdtrc

    return Wald(statistic, 1, float(chdtrc(1, statistic)))
