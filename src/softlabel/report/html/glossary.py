"""The glossary: every word of the page that needs one, and what it means."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["GLOSSARY"]

# By key, the word as it is written and a sentence.
GLOSSARY: Mapping[str, tuple[str, str]] = {
    "supervised": ("supervised", "The regression on the labelled rows alone. It trusts nothing of the score."),
    "rectified": (
        "rectified",
        "Supervised, made sharper by the score. Right if the labelled rows are a random part of all.",
    ),
    "instrumented": (
        "instrumented",
        "The score as an instrument for the group. Trusts exclusion, and calibration not at all.",
    ),
    "combined": ("combined", "Supervised and soft pooled. Trusts exclusion and calibration."),
    "adaptive": (
        "adaptive",
        "Takes of each further trust what the labels do not contradict; its interval is that of rectified.",
    ),
    "soft": (
        "soft",
        "The score itself in place of the group; looks at no label. Right under calibration and exclusion.",
    ),
    "hard": (
        "hard(t)",
        "The label 'score above t' in place of the group: the usual habit. Estimates kappa times the effect.",
    ),
    "deattenuated": ("de-attenuated", "Hard divided by kappa, with an honest error. Aims where soft does."),
    "confident": ("confident(t)", "Hard, on the rows alone whose score is above t or below 1 − t."),
    "kappa": (
        "kappa",
        "The share of the effect that survives thresholding at t. It belongs to the regression used here.",
    ),
    "kappa_FM": ("kappa_FM", "The share of the effect that survives among confident rows; at least 2t − 1."),
    "v_star": ("V*", "The variance of the score that the controls leave: what soft has to work with."),
    "calibration": (
        "calibration",
        "Among rows with the same score and the same controls, the group is as frequent as the score says.",
    ),
    "exclusion": ("exclusion", "The score matters for the outcome only through the group, at given controls."),
    "slope": ("slope", "Of the group on the score given the controls: one if calibrated; kappa for a hard label."),
    "leak": ("leak", "What the score says of the outcome besides the group: zero under exclusion."),
    "bias": ("bias", "By how much an estimate is off, in units of the outcome: effect × (slope − 1) + leak."),
    "drift": ("drift δ", "By how much the group's probability may be off the score, in any row."),
    "breakdown": ("breakdown", "The drift from which on an estimate says nothing of the effect, not even its sign."),
    "worth": (
        "worth labelled rows",
        "How many labelled rows a regression on labels alone would need for the same standard error.",
    ),
    "audit": ("audit rows", "Labelled rows whose labels trained neither the classifier nor its calibrator."),
    "std_error": ("standard error", "How far an estimate would typically move if the rows were drawn again."),
    "interval": (
        "interval",
        "Over repeated samples it holds the effect as often as its level says, if what the estimate trusts is true.",
    ),
    "p_value": ("p", "How often chance alone would look at least as bad. Small: the data object."),
    "folds": (
        "folds",
        "Parts of the rows: what is fitted on the others is used on each, so that nothing is overfitted.",
    ),
    "fingerprint": ("fingerprint", "A number that is the same exactly if the same rows were read, in any order."),
}
