"""Structure: the classifier must see more than the controls, or there is nothing to regress on."""

from __future__ import annotations

from collections.abc import Sequence

from softlabel.errors import InputError
from softlabel.results import Note
from softlabel.results.records import Column
from softlabel.results.text import number
from softlabel.scoring.metrics import Beyond
from softlabel.scoring.scorer import Roles

__all__ = ["check_structure", "said"]

# Below this share of the score's variance its remainder is hardly more than what a line misfits.
_LITTLE = 0.01
# Of the normal law, at 5%.
_UNSURE = 1.96


def check_structure(roles: Roles, outcome: str | None, *, force: bool) -> None:
    """Raise where names alone show that no score can come of it; ``force`` lets features be controls alone."""
    named = [roles.group, roles.weights, roles.cluster, roles.id]
    for column in (*roles.features, *roles.controls, *(name for name in named if name is not None)):
        if not isinstance(column, str):
            raise InputError(expected="roles to be names of columns", found=repr(column), fix="Pass each name as text")
    twice = [name for name in roles.features if roles.features.count(name) > 1]
    if twice:
        raise InputError(
            expected="each feature once", found=f"{twice[0]!r} more than once", fix="Name each column once"
        )
    told = {roles.group: "the group", outcome: "the outcome", roles.weights: "the weights"}
    leaked = [name for name in roles.features if name in told]
    if leaked:
        why = "what it is to stand in for" if leaked[0] == roles.group else "what is not to be known from it"
        raise InputError(
            expected="features without the group, the outcome and the weights",
            found=f"{leaked[0]!r}, {told[leaked[0]]}: the score would carry {why}",
            fix="Leave it out of features",
        )
    if roles.group in roles.controls:
        raise InputError(expected="controls without the group", found=repr(roles.group), fix="Leave it out of controls")
    for role, taken in (("weights", roles.weights), ("cluster", roles.cluster), ("id", roles.id)):
        if taken == roles.group:
            raise InputError(
                expected=f"the {role} to be known in every row",
                found=f"the group {taken!r}, which is null where it is unknown",
                fix=f"Name a column of its own for the {role}, or leave {role}= out",
            )
    if not set(roles.features) - set(roles.controls) and not force:
        raise InputError(
            expected="features beyond the controls",
            found="none: a score of the controls alone leaves V* = 0 once they are controlled for, and nothing to "
            "regress on",
            fix="Add what tells the group and is not controlled for, or train all the same with force=True (--force)",
        )


def said(roles: Roles, split: str, draw: str, beyond: Beyond | None, gaps: Sequence[Column]) -> tuple[Note, ...]:
    """Return what to know before the score is used."""
    return tuple(
        Note(f"score.{code}", message)
        for code, message in (
            ("only_controls", _only_controls(roles)),
            ("unseen_controls", _unseen_controls(roles)),
            ("no_audit", _NO_AUDIT if split == "halves" else None),
            ("mean", _MEAN if split == "mean" else None),
            ("drawn", _DRAWN if draw == "beta" else None),
            ("missing", _gaps(gaps)),
            ("uninformative", _uninformative(beyond)),
        )
        if message is not None
    )


_NO_AUDIT = (
    "Every labelled row trained the classifier or its calibrator: none may audit the score, and what may be trusted "
    "cannot be told"
)
_MEAN = (
    "Unlabelled rows have the mean of all models, labelled ones a single model each: their scores differ a little in "
    "law, which comparisons of both samples may see"
)
_DRAWN = (
    "Scores are draws: what a draw adds to V* knows nothing of the group, and restores no coefficient; instrumented "
    "and rectified bear it, soft does not"
)


def _only_controls(roles: Roles) -> str | None:
    if set(roles.features) - set(roles.controls):
        return None
    return "The classifier saw nothing but controls: V* is what the regressions misfit, and soft is made of that misfit"


def _unseen_controls(roles: Roles) -> str | None:
    unseen = [name for name in roles.controls if name not in roles.features]
    if not unseen:
        return None
    return (
        f"The classifier does not see {', '.join(unseen)}: only the conditional and multicalibrated calibrators look "
        "at controls that are no features"
    )


def _gaps(gaps: Sequence[Column]) -> str | None:
    if not gaps:
        return None
    shown = ", ".join(f"{gap.name} ({gap.value:,})" for gap in gaps)
    return (
        "Missing values were filled, and marked where training rows lack them too; levels that no labelled row has "
        f"count as missing (new levels): {shown}"
    )


def _uninformative(beyond: Beyond | None) -> str | None:
    if beyond is None:
        return None
    if beyond.share < _LITTLE or beyond.slope is None or beyond.std_error is None:
        return (
            f"The controls explain {1 - beyond.share:.1%} of the score's variance on the labelled rows: features "
            "beyond them hardly move it"
        )
    # A slope below zero tells nothing either: cross-fitted noise leans that way.
    if beyond.slope >= _UNSURE * beyond.std_error:
        return None
    return (
        "What the features add to the controls tells nothing of the group that could be told from chance: the slope "
        f"of the group on it is {number(beyond.slope)} (std. error {number(beyond.std_error, 2)}), where a calibrated "
        "score has 1"
    )
