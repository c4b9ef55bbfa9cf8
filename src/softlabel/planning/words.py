"""What a plan says: the answer in one sentence, and what to know before spending money on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

from softlabel.planning.known import Known
from softlabel.planning.records import Need, Richer
from softlabel.results import Diagnosis, Note, Table
from softlabel.results.text import number

__all__ = ["FEW", "notes", "sentence"]

# With fewer labels the errors of large samples are too small: rungs 1 and 2 cover 83 to 86% at 60.
FEW = 100

# The pilot's own test of a step, below which the plan says that it may not be taken.
_REJECTED = 0.05

_IF = {"instrumented": " (if exclusion holds)", "combined": " (if the score is calibrated as well)"}


def sentence(needs: Sequence[Need], target_se: float, n_labelled: int | None) -> str:
    """Return the labels needed in words."""
    aim = f"a standard error of {number(target_se)}"
    alone = needs[0]
    if n_labelled is not None and alone.labels is not None and alone.labels <= n_labelled:
        # Whatever the other rungs would save is not needed, nor what they trust.
        there = f"the {n_labelled:,} labelled rows there are"
        return f"{aim.capitalize()} is reached already: {alone.name} has it with {there}."
    rows = [row for row in needs if row.labels is not None]
    if not rows:
        return f"No number of labelled rows that a study could have gives {aim}."
    said = [f"{row.name} {row.labels:,}{_IF.get(row.name, '')}" for row in rows]
    said[0] = f"{rows[0].name} needs {rows[0].labels:,} labelled rows{_IF.get(rows[0].name, '')}"
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    there = "" if n_labelled is None else f"; there are {n_labelled:,}"
    return f"For {aim} {listed}{there}."


def notes(known: Known, pilot: Diagnosis | None, needs: Sequence[Need], scores: Table[Richer]) -> tuple[Note, ...]:
    """Return what to know before the numbers are used."""
    first = _of_numbers(known) if pilot is None else _of_pilot(known, pilot, scores)
    return (*first, *_of_size(needs))


def _of_numbers(known: Known) -> Iterator[Note]:
    if known.each is None and not known.assumed.tau:
        return
    yield Note(
        "plan.assumes",
        "From numbers alone: as if the score were calibrated given the controls, what the classifier saw mattered for "
        "the outcome only through the group, and the noise were the same everywhere",
    )
    if known.assumed.tau == 0:
        yield Note("plan.no_effect", _NO_EFFECT.format(effect="An effect of 0"))


def _of_pilot(known: Known, pilot: Diagnosis, scores: Table[Richer]) -> Iterator[Note]:
    ladder = pilot.ladder
    n = ladder.n_audit or pilot.estimate("supervised").n
    yield Note(
        "plan.pilot",
        f"The pilot's {n:,} labelled rows know their own variances to about {sqrt(2 / n):.0%} at best, and so the "
        "labels needed",
    )
    if known.each is None:
        return
    yield from _of_steps(pilot)
    interval = pilot.estimate("instrumented").interval
    if interval is not None and interval[0] <= 0 <= interval[1]:
        yield Note("plan.no_effect", _NO_EFFECT.format(effect="The pilot's effect may be zero, and one of zero"))
    if pilot.settings.cluster is not None:
        yield Note(
            "plan.clusters",
            "Rows to come are taken to lie in clusters as those of the pilot do: more rows of the same clusters are "
            "worth less",
        )
    if known.audited < 1:
        yield Note(
            "plan.audit",
            f"{ladder.n_audit:,} of {ladder.n_labelled:,} labelled rows audit the score; of those to come the same "
            "share is taken to",
        )
    if scores.rows:
        yield Note(
            "plan.richer",
            "A richer score is taken to be calibrated and to have no say in the outcome but through the group, "
            "whatever the pilot's is; 'as it is' is the pilot's score after calibration",
        )
    if known.share == 1:
        yield Note(
            "plan.share",
            "On the pilot's labelled rows the score seems to know more of the group than there is to know: it is taken "
            "to know all",
        )


def _of_steps(pilot: Diagnosis) -> Iterator[Note]:
    rejected = {step.name: step.p_value for step in pilot.ladder.steps if step.p_value < _REJECTED}
    if "exclusion" in rejected:
        yield Note(
            "plan.exclusion_rejected",
            f"The pilot's labels reject exclusion (p = {number(rejected['exclusion'], 2)}): what is said of "
            "instrumented and combined does not hold",
        )
    if "calibration" in rejected:
        yield Note(
            "plan.calibration_rejected",
            f"The pilot's labels reject calibration (p = {number(rejected['calibration'], 2)}), so combined, which "
            "trusts it, may even ask for more labels than instrumented",
        )


_NO_EFFECT = (
    "{effect} makes instrumented look cheap: the larger the effect, the more labels the slope of the score takes"
)


def _of_size(needs: Sequence[Need]) -> Iterator[Note]:
    few = [row.name for row in needs if row.labels is not None and 0 < row.labels < FEW]
    if few:
        yield Note(
            "plan.few",
            f"Fewer than {FEW} labels ({', '.join(few)}): standard errors of so few are larger than those of large "
            "samples, which these are, and intervals cover less than they say",
        )
    if needs[-1].labels == 0:
        yield Note(
            "plan.no_labels",
            "Combined reaches the target with soft alone, but without labels nobody can say whether the score is "
            "calibrated",
        )
