"""Notes: what to know of the rows before the numbers, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from softlabel.basis import Plan
from softlabel.checking.feasible import Setting
from softlabel.checking.records import Possible
from softlabel.checking.rows import Found
from softlabel.influence.analysis import REPEATS
from softlabel.results import Note
from softlabel.results.text import number
from softlabel.study import Study, Tally

__all__ = ["notes", "sentence"]

# A level of fewer rows than this has an effect of its own that is mostly noise.
RARE = 20

# As in the notes of a diagnosis.
_FEW_CLUSTERS = 30
_ROWS_PER_COLUMN = 20
_LISTED = 5


def sentence(problems: Sequence[Note], possible: Sequence[Possible]) -> str:
    """Say whether diagnose can run, and which estimators it could give."""
    if problems:
        count = len(problems)
        said = "one problem stops" if count == 1 else f"{count} problems stop"
        if {note.code for note in problems} <= {"values.missing"}:
            return "Not as it is: diagnose does not leave out rows with missing values unless it is told to."
        return f"Not yet: {said} diagnose."
    why_not = [row for row in possible if row.reason is not None]
    if not why_not:
        return "Ready: diagnose can run, and every estimator is possible."
    if len(why_not) == len(possible):
        return "Not with these rows: diagnose would run, but no estimator is possible."
    single = [row.name for row in why_not if row.threshold is None]
    others = dict.fromkeys(_shown(row.name) for row in why_not if row.threshold is not None)
    some = [*single, *(f"{name} at some thresholds" for name in others)]
    return f"Ready: diagnose can run. Not possible: {', '.join(some)}."


def _shown(name: str) -> str:
    return name.replace("deatt", "de-att")


def notes(study: Study, plan: Plan, found: Found, setting: Setting | None) -> tuple[Note, ...]:
    """Return everything to know that does not stop a diagnosis; nothing without a setting, where other things do."""
    if setting is None:
        return ()
    return (
        *_row_notes(study, found.tally),
        *_value_notes(found),
        *_control_notes(plan, found),
        *_cluster_notes(study, found),
        *_size_notes(setting),
    )


def _row_notes(study: Study, tally: Tally) -> list[Note]:
    found = []
    if tally.missing and study.missing == "drop":
        listed = ", ".join(f"{name} {count:,}" for name, count in tally.missing.items())
        found.append(
            Note(
                "rows.dropped",
                f"{tally.dropped:,} of {tally.rows:,} rows will be left out for missing values ({listed})",
            )
        )
    if not tally.labelled:
        found.append(
            Note(
                "labels.none",
                "Without labelled rows nothing can be tested: that the score is calibrated given the controls, and "
                "that what the classifier saw matters for the outcome only through the group, is taken on trust",
            )
        )
    if tally.weightless:
        found.append(
            Note(
                "rows.weightless", f"{tally.weightless:,} of {tally.rows:,} rows have weight zero and will be left out"
            )
        )
    return found


def _value_notes(found: Found) -> list[Note]:
    some = found.tally.unlabelled > 0
    notes = []
    if some and not found.tally.graded:
        notes.append(Note("outcome.binary", "The outcome is 0 or 1: effects will be differences in its probability"))
    drawn = found.sample.values[-1]
    if some and len(drawn) and bool(np.isin(drawn, (0, 1)).all()) and found.low[-1] < found.high[-1]:
        notes.append(
            Note(
                "score.hard",
                "Every score is 0 or 1, as far as was sampled: a label, not a probability. Pass the probability, if "
                "the classifier gives one",
            )
        )
    return notes


def _control_notes(plan: Plan, found: Found) -> list[Note]:
    numeric = [name for name in plan.controls if name not in plan.categories]
    at = {name: plan.controls.index(name) for name in numeric}
    constant = [name for name in numeric if found.low[at[name]] == found.high[at[name]]]
    constant += [name for name, levels in found.levels.items() if sum(n > 0 for _, n, _ in levels.values()) == 1]
    notes = []
    if constant and found.tally.unlabelled:
        notes.append(Note("controls.constant", f"The same in every unlabelled row, so left out: {', '.join(constant)}"))
    for name, levels in found.levels.items():
        rare = sorted((count, level) for level, count, _ in levels.values() if count < RARE)
        if rare:
            listed = ", ".join(f"{level} ({count})" for count, level in rare[:_LISTED])
            more = f" and {len(rare) - _LISTED} more" if len(rare) > _LISTED else ""
            notes.append(
                Note(
                    "levels.rare",
                    f"Levels of {name} with fewer than {RARE} unlabelled rows: {listed}{more}. Think of joining them "
                    "to others",
                )
            )
        unseen = sorted(level for level, count, labelled in levels.values() if labelled and not count)
        if unseen:
            listed = ", ".join(unseen[:_LISTED])
            notes.append(Note("levels.unseen", f"Levels of {name} on labelled rows only: {listed}"))
    return notes


def _cluster_notes(study: Study, found: Found) -> list[Note]:
    count = len(found.clusters.ids)
    if study.cluster is None or not 1 < count < _FEW_CLUSTERS:
        return []
    return [
        Note(
            "clusters.few",
            f"Only {count} clusters of unlabelled rows: standard errors will be learnt from as many numbers and may "
            "well be a fifth off",
        )
    ]


def _size_notes(setting: Setting) -> list[Note]:
    n, found = setting.n, []
    if setting.n_effective < REPEATS * n:
        by_values = "" if not setting.in_sample else ", and folds cannot be dealt by values"
        found.append(
            Note(
                "rows.repeat",
                f"Rows repeat: {n:,} unlabelled rows hold about {number(setting.n_effective)} distinct ones{by_values}"
                ". If one case was entered several times, drop the copies; else name an id",
            )
        )
    if 0 < n < _ROWS_PER_COLUMN * setting.d:
        found.append(
            Note(
                "rows.few",
                f"Only {n:,} unlabelled rows for {setting.d} columns of the regressions: standard errors will be too "
                "small to trust",
            )
        )
    return found
