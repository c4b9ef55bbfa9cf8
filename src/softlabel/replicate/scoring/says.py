"""What the page of `softlabel replicate scores` says beside its numbers."""

from __future__ import annotations

__all__ = ["AIMS", "CHECKS", "LEARNERS", "NOISE", "NOT_HERE", "OPENING", "SETTINGS"]

OPENING = (
    "{n} replications of seed {seed}. The classifier, a logistic regression, sees X and S; controls are X; 20,000 "
    "unlabelled rows; the target is {target}. Entries: the mean squared error over supervised's, then the coverage of "
    "the printed 95% interval in percent, then the bias. Soft's interval takes the calibrator for known; the rungs "
    "and guarded do not. With halves no labelled row may audit, and guarded is supervised. What the package does "
    "unless told is conditional, folds, guarded."
)

NOT_HERE = "{name} is left out: the package that it needs is not installed (softlabel[multicalibration])."

SETTINGS = (
    "Slope of the group on the score given the controls, which is 1 for a calibrated one; then how often the "
    "calibration check rejects at 5%, and how often samples are suspected, in percent. Scores are cross-fitted, so "
    "the check rejects too seldom, see below. With the mean of the folds' models labelled and unlabelled rows have "
    "scores of different laws, which the check of samples sees where the models differ most"
)

CHECKS = {
    "given_controls": (
        "The check of calibration given the controls, on 500 labels at 5%: how often it rejects, in percent, and the "
        "95% interval of that. The score is of a classifier from elsewhere, whose logit is twice the sum of the true "
        "one and shift times x1. Columns: fresh, rows that the calibrator has not seen, or crossed, rows that it was "
        "fitted on out of fold; the shift; the labels it was fitted on. Without a shift every calibrator of the right "
        "shape passes; with one only what sees the controls can"
    ),
    "controls_only": "The check of the controls alone, as in Kurbucz (2026); columns as before",
    "why": (
        "Why fresh rows are the honest test. A calibrator leaves residuals on the rows it was fitted on that sum to "
        "zero, beside every column of its fit. Folds are equal and stratified, so what the fits on other folds leave "
        "on each nearly cancels over all: in the directions that the calibrator fitted the check finds less than "
        "chance would leave, and rejects less often than its level, down to never. It still sees what the calibrator "
        "has no column for. On fresh rows 5% is not exact either: the calibrator's own error adds audited/fitted to "
        "the variance, a tenth at 5,000 labels, a 40th at 20,000, and with six degrees of freedom that shows. "
        "Multicalibration is left out on fresh rows for its time alone"
    ),
}

NOISE = (
    "Noise: 500 labels, {n} replications, scores without a calibrator; bootstrap and deep give each row the score of "
    "one member of an ensemble. Means with their Monte Carlo error after them, and the coverage in percent. A score of "
    "X alone has a V* of 0 but for what a linear regression misfits. A draw adds its variance to V*, and soft takes "
    "the noise for the group: it falls to about nothing, with a slope of about 0. That V* is no merit. What tells of "
    "the group, S, brings the slope to 1 and soft to the target; noise on top of it takes some away again. Rungs 1 and "
    "0 estimate the slope, and bear both"
)

LEARNERS = (
    "V* by the learner of E[p|X], {n} replications, Monte Carlo errors beside it. The score of Kurbucz (2026), Table "
    "5, is a function of X, so its V* is 0 in truth, and that of a Beta draw is the draw's variance. Each V* is too "
    "large, by the squared error of r̂, so of several the smallest is the one to trust and a large one is nothing to "
    "celebrate. For the coefficient that is no rule: where E[Y|X] is a line in the basis, soft is right with the "
    "larger V* too"
)

AIMS = {
    "default.coverage": "conditional, folds, guarded covers 93 to 97%",
    "soft.undercoverage": "soft's own covers at most 69%, 93% at 2,000 labels",
    "check.size": "conditional is rejected 3 to 7% of the time",
    "check.power": "others are rejected 95% of the time under a shift along x1",
    "noise.raises_v_star": "a Beta draw raises V* fivefold",
    "noise.slope": "noise has a slope within 0.1 of 0",
    "informative.slope": "with S the slope is within 0.1 of 1",
    "informative.soft": "with S soft is within 0.1 of the target",
    "noise.instrumented": "rung 1 covers at least 93% whatever the noise",
    "noise.rectified": "rung 0 covers at least 93% whatever the noise",
    "v_star.errs_upward": "V* is nowhere too small",
}
