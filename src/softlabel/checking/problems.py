"""Problems: everything that `softlabel.diagnose` would raise for, one after the other, in its own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa

from softlabel.basis import DesignBasis, Levels, Plan, fit_basis
from softlabel.checking.rows import FOLDS, SEED, Counted, Found
from softlabel.errors import DataError, InputError, SoftlabelError
from softlabel.look import Dealing, check_levels
from softlabel.reading import Parts, first_value
from softlabel.results import Note
from softlabel.study import Study, Tally
from softlabel.study.verify import group_copies

__all__ = ["basis_of", "caught", "clusters_dealt", "type_problems", "value_problems", "without"]


def caught(code: str, work: Callable[[], object]) -> list[Note]:
    """Return what some work raised, as a problem; nothing if all was well."""
    try:
        work()
    except (DataError, InputError) as error:
        return [problem(code, error)]
    return []


def problem(code: str, error: SoftlabelError) -> Note:
    """Return an error as a note."""
    return Note(code, str(error).removesuffix("."))


def type_problems(study: Study, parts: Parts) -> dict[str, Note]:
    """Return, for each column whose type does not suit its role, what is wrong."""
    found: dict[str, Note] = {}
    for _, selection in parts:
        for field in selection.schema():
            # The schema of one column has the type of that one checked.
            check = partial(study.check_types, pa.schema([field]), partial(first_value, selection))
            for note in caught("column.type", check):
                found.setdefault(field.name, note)
    return found


def without(plan: Plan, controls: Sequence[str]) -> Plan:
    """Return the plan without any term that has one of these controls."""
    terms = tuple(term for term in plan.terms if not any(factor.control in controls for factor in term))
    return replace(plan, controls=tuple(name for name in plan.controls if name not in controls), terms=terms)


def value_problems(study: Study, tally: Tally) -> list[Note]:
    """Return every problem that the counts of a whole pass call for, not only the gravest."""
    if not tally.rows:
        return caught("rows.none", lambda: study.verify(tally))
    # One unlabelled row, so that what is verified is this alone.
    alone = Tally(rows=tally.rows, unlabelled=1)
    parts = list(_parts(study, tally, alone))
    found = [note for code, part in parts for note in caught(code, partial(study.verify, part))]
    unlabelled = 1 if found and not set(_codes(found)) <= {"values.missing"} else tally.unlabelled
    hidden = tally.weightless_unlabelled
    none = replace(alone, unlabelled=unlabelled, dropped=tally.dropped, weightless_unlabelled=hidden)
    # Where values that cannot be took the rows away, that was said.
    return [*found, *caught("rows.unlabelled", lambda: study.verify(none))]


def _codes(notes: Sequence[Note]) -> list[str]:
    return [note.code for note in notes]


def _parts(study: Study, tally: Tally, alone: Tally) -> Iterator[tuple[str, Tally]]:
    """Yield tallies that each hold one kind of what may be wrong."""
    yield "values.infinite", replace(alone, infinite=tally.infinite)
    copies = group_copies(tally, study.group)
    for name in copies:
        missing = {name: tally.missing[name]}
        yield "control.copy", replace(alone, missing=missing, pairs=frozenset([(name, study.group or "")]))
    # What is said of all columns together is said of these by themselves.
    known = (study.group, study.id, study.cluster)
    apart = [name for name, count in tally.missing.items() if count == tally.rows or name in known]
    for name in apart:
        yield "values.missing", replace(alone, missing={name: tally.missing[name]})
    rest = {name: count for name, count in tally.missing.items() if name not in (*apart, *copies)}
    yield "values.missing", replace(alone, missing=rest)
    yield "group.values", replace(alone, not_binary=tally.not_binary, example=tally.example)
    yield "audit.values", replace(alone, not_audit=tally.not_audit, audit_example=tally.audit_example)
    yield (
        "score.values",
        replace(alone, outside=tally.outside, extremes=_only(tally, study.score) if tally.outside else {}),
    )
    if study.weights is not None:
        yield "weights.negative", replace(alone, extremes=_only(tally, study.weights))
        yield "weights.fractions", replace(alone, fractional=tally.fractional)
        yield "weights.none", replace(alone, weightless=tally.weightless)
    for name in tally.extremes:
        if name != study.weights and not (name == study.score and tally.outside):
            yield "values.size", replace(alone, extremes=_only(tally, name))
    others = frozenset(pair for pair in tally.pairs if pair[0] not in copies)
    yield (
        "control.copy",
        replace(alone, pairs=others, differ=tally.differ, positive=tally.positive, labelled=tally.labelled),
    )


def _only(tally: Tally, name: str) -> dict[str, tuple[float, float]]:
    return {name: tally.extremes[name]} if name in tally.extremes else {}


def basis_of(plan: Plan, found: Found) -> tuple[DesignBasis | None, list[Note]]:
    """Return the basis that diagnose would use, as far as there is one, and what stands in its way."""
    problems, many = [], []
    for control, levels in found.levels.items():
        names = {key: name for key, (name, *_) in levels.items()}
        notes = caught("control.levels", partial(check_levels, control, names))
        problems += notes
        many += [control] * len(notes)
    kept = without(plan, many)
    levels_of = {name: _ordered(found.levels[name]) for name in kept.categories}
    rows = {name: found.sample.values[plan.controls.index(name)] for name in kept.splines}
    sample = {name: (values, found.sample.counts) for name, values in rows.items()}
    try:
        return fit_basis(kept, levels_of, sample), problems
    except (DataError, InputError) as error:
        return None, [*problems, problem("control.columns", error)]


def _ordered(levels: Counted) -> Levels:
    """Return the levels by name: another order than by number gives the same columns but for which one is left out."""
    pairs = sorted((name, key) for key, (name, *_) in levels.items())
    return Levels(tuple(key for _, key in pairs), tuple(name for name, _ in pairs))


def clusters_dealt(study: Study, found: Found) -> list[Note]:
    """Return why rows cannot be dealt to folds by their cluster or id."""
    if study.cluster is not None:
        return caught("cluster.few", lambda: Dealing.of(found.clusters, FOLDS, SEED))
    used = int((found.counts.sum(axis=1) > 0).sum())
    if study.id is None or used != 1:
        return []
    error = DataError(
        expected="the id to deal rows to at least 2 folds",
        found="every row in one",
        fix="Use an id with more distinct values, or folds=None to fit the nuisances in sample",
    )
    return [problem("id.few", error)]
