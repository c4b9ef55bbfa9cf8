"""Telling rows apart: what decides their folds where many have the same features."""

from __future__ import annotations

from dataclasses import replace

from softlabel.errors import SoftlabelError
from softlabel.scoring.asked import Asked
from softlabel.scoring.copies import repeat
from softlabel.scoring.labelled import Labelled, read_labelled
from softlabel.scoring.layout import lay_out
from softlabel.scoring.scorer import rows_of
from softlabel.sources import Source
from softlabel.study.columns import is_category, is_number

__all__ = ["read_to_train"]


def read_to_train(shown: Source, scored: Source, asked: Asked, *, mixed: bool) -> tuple[Labelled, Asked]:
    """Return the labelled rows, and what was asked with further columns to tell rows apart where features do not.

    All unlabelled rows of the same features would be scored by the models of one fold, but labelled ones by those of
    theirs: the scores of both would not be of one law. So what else the tables hold decides with them.
    """
    labels = read_labelled(shown.select(asked.roles.to_train), asked.roles, mixed=mixed)
    named = asked.roles.id is not None or asked.roles.cluster is not None
    if named or asked.split != "folds" or asked.given is not None or not _repeat(labels, asked):
        return labels, asked
    spare = _spare(shown, scored, asked)
    if not spare:
        return labels, asked
    asked = replace(asked, roles=replace(asked.roles, further=spare))
    return read_labelled(shown.select(asked.roles.to_train), asked.roles, mixed=mixed), asked


def _repeat(labels: Labelled, asked: Asked) -> bool:
    layout = lay_out(labels.table, asked.roles.seen, asked.categories)
    return repeat(rows_of(labels.table, asked.roles, layout, frame=False).hashes)


def _spare(shown: Source, scored: Source, asked: Asked) -> tuple[str, ...]:
    """Return columns without a role that both tables have, of numbers or text in both."""
    theirs, ours = scored.columns(), shown.columns()
    names = [n for n in ours if n not in asked.roles.to_train and ours.count(n) == 1 and theirs.count(n) == 1]
    kept = []
    for name in names:
        try:
            kinds = [source.select([name]).schema().field(name).type for source in (shown, scored)]
        except SoftlabelError:  # of no type that can be read
            continue
        if all(map(is_category, kinds)) or all(map(is_number, kinds)):
            kept.append(name)
    return tuple(kept)
