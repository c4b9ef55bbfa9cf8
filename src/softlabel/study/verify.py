"""Verify: the error that the counts of a whole pass call for, the gravest first."""

from __future__ import annotations

from collections.abc import Mapping

from softlabel.errors import DataError
from softlabel.study.tally import LARGEST, MOST_COPIES, Tally

__all__ = ["check_score_size", "check_size", "check_unlabelled", "group_copies", "verify"]

# A probability this far outside [0, 1] is a probability computed in float32.
_ROUNDING = 1e-3

# Estimates divide by the variance of the score twice over: below this size their own squares could overflow.
_LEAST_SCORE = 1e-30

# The logit of a probability that is not one to nine digits: what is larger is no logit.
_LARGEST_LOGIT = 20
_FROM_LOGIT = "1/(1+exp(-score))"


def verify(
    tally: Tally,
    *,
    score: str,
    group: str | None,
    missing: str,
    weights: str | None = None,
    frequency: bool = False,
    id: str | None = None,
    cluster: str | None = None,
    audit: str | None = None,
) -> None:
    """Raise the clearest DataError that these counts call for, if any."""
    if not tally.rows:
        raise DataError(expected="rows", found="an empty table", fix="Check the file or the filter before")
    _check_present(tally, group, missing, id, cluster)
    _check_group(tally, group)
    _check_audit(tally, audit)
    _check_score(tally, score)
    if weights is not None:
        _check_weights(tally, weights, frequency=frequency)
    for name, (low, high) in tally.extremes.items():
        if name != score:
            check_size(name, low, high)
    check_score_size(score, *tally.extremes.get(score, (0.0, 0.0)))
    _check_copies(tally, group)


def group_copies(tally: Tally, group: str | None) -> list[str]:
    """Return the controls that are missing exactly where the group is, and equal to it elsewhere."""
    equal = {control for control, other in tally.pairs - tally.differ if other == group}
    return sorted(name for name in equal - tally.unlike_group if name in tally.missing)


def _check_present(tally: Tally, group: str | None, missing: str, id: str | None, cluster: str | None) -> None:
    if tally.infinite:
        raise DataError(
            expected="finite numbers",
            found=f"infinite values in {_listed(tally.infinite)} of {tally.rows:,} rows",
            fix="Replace them, or make them null and use missing='drop'",
        )
    for control in group_copies(tally, group):
        raise DataError(
            expected=f"the control {control!r} to hold something else than {group!r}",
            found="the same value in every row, and null in the same rows",
            fix=f"Leave {control!r} out of the controls: given a copy of {group!r}, nothing can be learnt from it",
        )
    if group is not None and group in tally.missing and missing == "raise":
        raise DataError(
            expected=f"a {group!r} in every row of the labelled table",
            found=f"null or NaN in {_listed({group: tally.missing[group]})} of {tally.rows:,} rows",
            fix="Leave those rows out of it, or use missing='drop' to have them left out and counted",
        )
    empty = [name for name, count in tally.missing.items() if count == tally.rows]
    if empty:
        raise DataError(
            expected=f"values in {empty[0]!r}",
            found=f"null or NaN in {_listed({empty[0]: tally.rows})} of {tally.rows:,} rows",
            fix="Check that it is the right column: missing='drop' would leave no row",
        )
    if id is not None and id in tally.missing and missing == "raise":
        raise DataError(
            expected="an id in every row",
            found=f"null or NaN in {_listed({id: tally.missing[id]})} of {tally.rows:,} rows",
            fix="Fill it in, use missing='drop' to leave those rows out and have them counted, or leave id= out",
        )
    if cluster is not None and cluster in tally.missing and missing == "raise":
        raise DataError(
            expected="a cluster in every row",
            found=f"null or NaN in {_listed({cluster: tally.missing[cluster]})} of {tally.rows:,} rows",
            fix="Fill it in, or use missing='drop' to leave those rows out and have them counted",
        )
    if tally.missing and missing == "raise":
        raise DataError(
            expected="no missing values but in the group",
            found=f"null or NaN in {_listed(tally.missing)} of {tally.rows:,} rows",
            fix="Impute them, or use missing='drop' to leave those rows out and have them counted",
        )


def _check_group(tally: Tally, group: str | None) -> None:
    if tally.not_binary:
        raise DataError(
            expected=f"the group {group!r} to be 0, 1 or null",
            found=f"other values in {tally.not_binary:,} of {tally.rows:,} rows, such as {tally.example:g}",
            fix="Code the group 0 or 1 and leave it null where it is unknown",
        )


def _check_audit(tally: Tally, audit: str | None) -> None:
    if tally.not_audit:
        raise DataError(
            expected=f"{audit!r} to be 0, 1 or empty in every labelled row",
            found=f"other values in {tally.not_audit:,} of {tally.rows:,} rows, such as {tally.audit_example:g}",
            fix="Write 1 where neither the classifier nor its calibrator has seen the label, else 0",
        )


def _check_score(tally: Tally, score: str) -> None:
    if tally.outside:
        low, high = tally.extremes[score]
        raise DataError(
            expected=f"the score {score!r} to lie in [0, 1]",
            found=f"values from {_shown(low)} to {_shown(high)}, {tally.outside:,} of {tally.rows:,} rows outside",
            fix=_score_advice(low, high),
        )


def _check_weights(tally: Tally, weights: str, *, frequency: bool) -> None:
    low, high = tally.extremes.get(weights, (0.0, 0.0))
    if low < 0:
        raise DataError(
            expected=f"the weights {weights!r} to be zero or more",
            found=f"values down to {low:g}",
            fix="A weight says how many cases a row stands for: pass the inverse of its chance to be sampled",
        )
    if tally.fractional:
        raise DataError(
            expected=f"the frequencies {weights!r} to be whole numbers",
            found=f"fractions in {tally.fractional:,} of {tally.rows:,} rows",
            fix="Use weight_type='sampling' for weights that are not counts of copies",
        )
    if frequency and high > MOST_COPIES:
        raise DataError(
            expected=f"the frequencies {weights!r} to be at most {MOST_COPIES:g}",
            found=f"values up to {high:g}",
            fix="A frequency counts equal rows: use weight_type='sampling' for weights that are not counts of copies",
        )
    if tally.weightless == tally.rows:
        raise DataError(
            expected=f"rows with a weight above zero in {weights!r}",
            found=f"zero in all {tally.rows:,} rows",
            fix="Check the column, or leave weights out",
        )


def _check_copies(tally: Tally, group: str | None) -> None:
    for control, other in sorted(tally.pairs - tally.differ):
        if other == group and tally.positive in (0, tally.labelled):
            continue  # a constant that equals the only class there is: that there is one class says more
        low, high = tally.extremes.get(control, (0.0, 1.0))
        if low == high:
            continue  # one row, or a constant beside an equal one: that it is constant says more
        raise DataError(
            expected=f"the control {control!r} to hold something else than {other!r}",
            found="the same value in every row",
            fix=f"Leave {control!r} out of the controls: given a copy of {other!r}, nothing can be learnt from it",
        )


def check_unlabelled(tally: Tally, weights: str | None) -> None:
    """Raise if no unlabelled row is left."""
    if tally.unlabelled:
        return
    left_out = f", {tally.dropped:,} of them left out for missing values" if tally.dropped else ""
    if tally.weightless_unlabelled:
        raise DataError(
            expected=f"rows without a label that have a weight above zero in {weights!r}",
            found=f"zero in {tally.weightless_unlabelled:,} without a label, of {tally.rows:,} rows{left_out}",
            fix="Check the weights: a row of weight zero is left out",
        )
    raise DataError(
        expected="rows without a label, for the score to work on",
        found=f"none among {tally.rows:,} rows{left_out}",
        fix="Fill in what is missing"
        if tally.dropped
        else "Leave the group null where it is unknown; with every label known, use sl.supervised",
    )


def check_score_size(score: str, low: float, high: float) -> None:
    """Raise if scores differ, and yet all are too small to divide by their variance."""
    if low < high < _LEAST_SCORE:
        raise DataError(
            expected=f"the score {score!r} to reach {_LEAST_SCORE:g} in some row",
            found=f"no value above {high:g}",
            fix="Pass the predicted probability of group 1: this may be its product with another number",
        )


def check_size(name: str, low: float, high: float) -> None:
    """Raise if a column's largest value has powers that overflow or vanish."""
    size = max(abs(low), abs(high))
    if size > LARGEST or 0 < size < 1 / LARGEST:
        raise DataError(
            expected=f"{name!r} to have a size between {1 / LARGEST:g} and {LARGEST:g}, so that its powers "
            "stay within floating point",
            found=f"values from {low:g} to {high:g}",
            fix="Rescale the column, in another unit for instance",
        )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} ({count:,})" for name, count in counts.items())


def _shown(value: float) -> str:
    """Return a score's extreme, with more digits where six would hide that it is not zero or one."""
    return f"{value:g}" if f"{value:g}" not in ("0", "-0", "1") else f"{value:.17g}"


def _score_advice(low: float, high: float) -> str:
    if low >= -_ROUNDING and high <= 1 + _ROUNDING:
        return "It is outside by rounding: clip it to [0, 1]"
    if low < 0 < high:
        return f"It looks like a logit: pass {_FROM_LOGIT}"
    if high <= 0:
        return (
            f"It may be a logit (then pass {_FROM_LOGIT}) or the logarithm of a probability (then pass exp(score)): "
            "find out which"
        )
    if high <= _LARGEST_LOGIT:
        return (
            "Pass the predicted probability of group 1, and find out first what these are: odds (then pass "
            f"score/(1+score)), a logit (then pass {_FROM_LOGIT}), percent (then divide by 100) or a class"
        )
    if high <= 100:
        return "It looks like a percentage: divide it by 100"
    return "Pass the predicted probability of group 1"
