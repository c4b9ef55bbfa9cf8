"""The score: whether it is a probability and strong enough, and whether the rows that audit it are clean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.checks.neighbours import neighbours
from softlabel.diagnostics.checks.registry import FAIL, Context, Finding, check
from softlabel.results.text import number

__all__: list[str] = []

Floats = NDArray[np.float64]

# Below this first-stage F a ratio with the slope in its denominator is biased by over a tenth (Staiger & Stock 1997).
_WEAK = 10.0

# Rung 1 covered 92% of the time with 60 labels and 90% with 40, in `softlabel replicate rules`.
_FEW_LABELS = 100

# A calibrator leaves sums over the rows it was fitted on at zero: to this share of their error, once in a thousand by
# chance. Out of fold it comes near as well: in 4% of samples of 500 rows, in 11% of 2,000; so near as the last never.
_TOO_EXACT = 1.25e-3
_EXACT = 1e-6

# Rounding leaves so much of a multiple of a step.
_MULTIPLE = 1e-9

# Scores rounded to four digits are coarse, those with more are not.
_MOST_STEPS = 10_000

# V̂* is called misfit where neighbours with like controls have scores that differ by less than this share of it.
_MISFIT = 0.5


@check("score.hard", "The score is a probability", audits=False)
def hard(context: Context) -> Finding:
    """Look whether every score is 0 or 1: a label that somebody thresholded."""
    if context.run.analysis.fit.tally.unsure:
        return Finding("pass", "Scores take values between 0 and 1")
    return Finding(
        "fail",
        "Every score is 0 or 1, so it is a label and not a probability: kappa is one by construction and says nothing",
        "Pass the probability that the label was made from",
    )


@check("score.weak", "The score says enough of the group, given the controls")
def weak(context: Context) -> Finding:
    """Take the first stage's F, (ĉ/se)², of the group on the score given the controls."""
    slope, error = context.audit.slope, context.audit.slope_error
    if slope is None or error is None:
        return Finding("skipped", f"Not looked at: {context.audit.reason}", "Label more rows")
    if error == 0:
        return Finding("pass", "The score is the group on every audit row")
    statistic = (slope / error) ** 2
    told = f"the slope of the group on the score given the controls is {number(slope)}, F = {number(statistic)}"
    if statistic >= _WEAK:
        return Finding("pass", told[0].upper() + told[1:], statistic=statistic, df=1)
    return Finding(
        "warn",
        f"Given the controls the score hardly tells the group: {told}, below {_WEAK:g}",
        "Read instrumented's compatible interval, which a weak score does not mislead, or train a richer classifier",
        statistic=statistic,
        df=1,
    )


@check("score.collapse", "V* is not what the regressions could not fit", audits=False)
def collapse(context: Context) -> Finding:
    r"""Compare V̂* with what neighbours with like controls differ by in their scores.

    Half the mean squared difference between a row's score and that of its nearest neighbour in X estimates
    :math:`\mathrm E[\mathrm{Var}(p|X)]` without any regression (Devroye et al. 2013), from above: the difference of
    their r(X) adds to it. Where it lies far below V̂*, most of V̂* is misfit.
    """
    v_star = context.v_star.estimate
    if context.run.learner is not None or context.soft.reason is not None or v_star is None:
        return Finding("not_applicable", "Of a learner V* is out of fold already" if context.run.learner else "No V*")
    near = neighbours(context.run.analysis)
    if near is None:
        return Finding("skipped", "Not looked at: too few distinct rows", "Nothing to do")
    low = max(near.half_square - 2 * near.std_error, 0.0)
    told = (
        f"V* is {number(v_star)}; rows with like controls have scores that differ by {number(near.half_square)} in "
        "the same units"
    )
    if near.equal_controls and near.same_scores == near.equal_controls:
        return Finding(
            "fail",
            f"All {near.equal_controls:,} sampled pairs of rows with equal controls have equal scores: the score is a "
            "function of the controls, and V* is what the regressions could not fit of it",
            "Train a classifier on more than the controls",
            statistic=near.half_square / v_star,
        )
    if near.half_square + 2 * near.std_error < _MISFIT * v_star:
        return Finding(
            "warn",
            f"{told}: most of V* is what the regressions could not fit, not what the controls leave of the score",
            "Give the controls curves or products (basis=, a formula), or use learner=",
            statistic=near.half_square / v_star,
        )
    return Finding("pass", f"{told} (at least {number(low)})", statistic=near.half_square / v_star)


@check("score.learners", "V* does not depend on the learner", audits=False)
def learners(context: Context) -> Finding:
    """Compare V̂* of several learners: each errs upward, so a smaller one shows what the others missed."""
    compared = context.run.compared
    if not compared:
        return Finding("not_applicable", "No learners were compared", "Name several with learner= to see")
    least = min(compared, key=lambda row: row.v_star)
    most = max(compared, key=lambda row: row.v_star)
    told = f"V* is {number(least.v_star)} with {least.name} and {number(most.v_star)} with {most.name}"
    if least.v_star >= _MISFIT * most.v_star:
        return Finding("pass", told, statistic=least.v_star / most.v_star)
    return Finding(
        "warn",
        f"{told}: most of the larger is what that learner could not fit, not what the controls leave",
        f"Use {least.name}, as this diagnosis does, and do not take a large V* for a good score",
        statistic=least.v_star / most.v_star,
    )


@check("score.structure", "The classifier saw the controls, and more", audits=False)
def structure(context: Context) -> Finding:
    """Compare the names of the controls with those of the classifier's features."""
    if context.features is None:
        return Finding("not_applicable", "What the classifier saw was not said", "Name its columns with features=")
    controls = context.run.basis.controls
    unseen = [name for name in controls if name not in context.features]
    leaked = [name for name in context.features if name in context.explained]
    if leaked:
        return Finding(
            "fail",
            f"The classifier saw {' and '.join(leaked)}: its score carries what it is to stand in for, or to explain",
            "Train it without the outcome and the group",
        )
    if not set(context.features) - set(controls):
        return Finding(
            "fail",
            "The classifier saw nothing but controls: given them its score is known, V* is what the regressions "
            "misfit, and soft is made of that misfit",
            "Train a classifier on more than the controls",
        )
    if unseen:
        return Finding(
            "warn",
            f"The classifier did not see {', '.join(unseen)}: its score can hardly be calibrated given them",
            "Train or calibrate it with every control among its features",
        )
    return Finding("pass", "The classifier saw every control, and more")


@check("audit.clean", "Audit rows did not train the classifier or its calibrator")
def clean(context: Context) -> Finding:
    """Look for what training leaves behind: residuals G − p that are too small, or that sum to zero."""
    evidence = context.audited
    if context.cross_fitted:
        return Finding("pass", f"The scores of these {evidence.n:,} rows were made here, by models of other folds")
    p, group, weight = evidence.rows.score[0], evidence.rows.group, evidence.weight
    variance = p * (1 - p)
    copies = evidence.copies
    squares = np.square(weight) if copies is None else weight
    # Of Σ(G − p), and of Σ[(G − p)² − p(1 − p)], whose terms have variance p(1 − p)(1 − 2p)².
    total = float(weight @ (group - p))
    error = float(squares @ variance) ** 0.5
    excess = float(weight @ (np.square(group - p) - variance))
    spread = float(squares @ (variance * np.square(1 - 2 * p))) ** 0.5
    # Who names the rows that may audit knows where the scores come from: out of fold they come near by themselves.
    near_enough = _TOO_EXACT if evidence.rows.audit is None else _EXACT
    if error > 0 and abs(total) <= near_enough * error and not _by_chance(p, weight * (group - p), error):
        exact = abs(total) <= _EXACT * error
        how, near = ("exactly", "") if exact else ("almost exactly", ", or out of fold nearly so")
        return Finding(
            "fail" if exact else "warn",
            f"Over the labelled rows the scores add up to the group {how}, as where a calibrator was fitted{near}: "
            "rows that it was fitted on cannot audit it, and pass every check of calibration whatever is true",
            "Name rows that neither classifier nor calibrator has seen with audit=, or cross-fit the scores",
            statistic=total / error,
        )
    if error == 0 and total == 0 and context.run.analysis.fit.tally.unsure:
        return Finding(
            "fail",
            "On the labelled rows the score is the group itself, elsewhere it is not: the label was copied into it, or "
            "the classifier knows these rows by heart",
            "Name rows that neither classifier nor calibrator has seen with audit=, or cross-fit the scores",
        )
    if evidence.rows.audit is not None:
        return Finding("pass", f"The caller says so of these {evidence.n:,} rows")
    z = excess / spread if spread > 0 else 0.0
    told = "as small as its probabilities say" if z > -2 else "smaller than its probabilities say"
    if z > -2:
        return Finding("pass", f"Nothing shows that they did: the score's errors on them are {told}", statistic=z)
    from scipy.special import ndtr

    tail = float(ndtr(z))
    return Finding(
        "fail" if tail < FAIL else "warn",
        f"The score's errors on the labelled rows are {told}: these rows may have trained the classifier, or the score "
        "is less sure than it could be",
        "Name rows that neither classifier nor calibrator has seen with audit=, or cross-fit the scores",
        statistic=z,
        p_value=tail,
    )


def _by_chance(p: Floats, left: Floats, error: float) -> bool:
    """Tell whether residuals (n,) of a few coarse scores add up to zero, but not those of each score by itself.

    Of scores that are multiples of a step the sum is one too, and zero with a chance of about 0.4 step/error.
    """
    # An error of next to nothing would ask for no end of them.
    steps = np.arange(1, int(np.clip(0.5 / (_TOO_EXACT * error), 1, _MOST_STEPS)) + 1)
    values, which = np.unique(p, return_inverse=True)
    for value in values.tolist():
        steps = steps[np.abs(value * steps - np.round(value * steps)) < _MULTIPLE]
        if not len(steps):
            return False
    sums = np.bincount(which, left)
    return bool(np.abs(sums).max() > _MULTIPLE * np.abs(left).sum())


@check("labels.few", "Labels enough for the rungs above rectified")
def few(context: Context) -> Finding:
    """Count the audit rows."""
    n = context.audited.n
    if n >= _FEW_LABELS:
        return Finding("pass", f"{n:,} rows audit the score", statistic=float(n))
    return Finding(
        "warn",
        f"{n} rows audit the score: with fewer than {_FEW_LABELS} the intervals of instrumented and combined are a "
        "little short (those of instrumented covered 92% with 60, and 90% with 40)",
        "Trust rectified or supervised, or label more rows",
        statistic=float(n),
    )
