"""check: a table in, a Checkup out. One pass; nothing is estimated and nothing refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from softlabel.asking import CONFIDENT, THRESHOLDS, control_plan, folds_by
from softlabel.checking.command import are_files, as_call, as_command
from softlabel.checking.counting import above, confident, counts, levels
from softlabel.checking.feasible import estimators, setting_of
from softlabel.checking.notes import notes, sentence
from softlabel.checking.problems import basis_of, caught, clusters_dealt, type_problems, value_problems, without
from softlabel.checking.records import Checkup
from softlabel.checking.rows import Found, find
from softlabel.checking.survey import Survey, read_columns, role_facts, survey
from softlabel.errors import InputError
from softlabel.moments import Partition
from softlabel.progress import Passes, check_progress
from softlabel.reading import Tables, open_parts, typed_tables
from softlabel.results import Note, Table
from softlabel.sources import open_source
from softlabel.sources.threads import check_threads, map_merge
from softlabel.study import Study

__all__ = ["check"]


def check(
    data: Any,
    *,
    outcome: str | None = None,
    score: str | None = None,
    group: str | None = None,
    controls: Sequence[str] | str = (),
    labelled: Any = None,
    weights: str | None = None,
    weight_type: Literal["sampling", "frequency"] = "sampling",
    cluster: str | None = None,
    id: str | None = None,
    audit: str | None = None,
    missing: Literal["raise", "drop"] = "raise",
    threads: int | None = None,
    progress: bool | None = None,
) -> Checkup:
    """Say what the data can and cannot answer before anything is estimated.

    The rows are read once. Values that `softlabel.diagnose` would raise for are listed instead, all of them, in the
    words of its errors. Without an outcome and a score every column is described, with the roles it could play.

    Parameters
    ----------
    data, outcome, score, group, controls, labelled, weights, weight_type, cluster, id, audit, missing
        As for `softlabel.diagnose`.
    threads, progress
        As for `softlabel.diagnose`.

    Returns
    -------
    Checkup
        Frozen; ``print(c.summary())`` is the page to read.

    Raises
    ------
    InputError
        A file or a column that is not there, an unknown option.
    SourceError
        A source that could not be read.

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.simulate.clinic(n_unlabelled=2_000, n_labelled=100, seed=1)
    >>> c = sl.check(table, outcome="days_in_hospital", score="p_delirium", group="delirium", controls=["age"])
    >>> c.ready, c.counts.unlabelled, c.counts.labelled
    (True, 2000, 100)
    >>> [row.name for row in sl.check(table).columns if "score" in row.role]
    ['p_delirium', 'frailty']
    """
    threads = check_threads(threads)
    with Passes(check_progress(progress)) as passes:
        if outcome is None and score is None:
            roles = {"group": group, "controls": controls, "labelled": labelled, "weights": weights}
            _refuse_roles({**roles, "cluster": cluster, "id": id, "audit": audit})
            return _without_roles(data, passes, threads)
        if outcome is None or score is None:
            raise InputError(
                expected="an outcome and a score, or neither to see what the columns could be",
                found="score=None" if score is None else "outcome=None",
                fix="Name both",
            )
        names = {"outcome": outcome, "score": score, "group": group, "id": id, "weights": weights, "cluster": cluster}
        names["audit"] = audit
        plain = {role: _name(column) for role, column in names.items()}
        study = Study(**plain, missing=missing, weight_type=weight_type)
        return _with_roles(study, data, controls, labelled, passes, threads)


def _refuse_roles(roles: dict[str, Any]) -> None:
    """Raise where some roles are named but not those that all others are for."""
    for role, given in roles.items():
        if given is not None and given != ():
            raise InputError(
                expected="an outcome and a score beside other roles",
                found=f"{role}= alone",
                fix="Name outcome= and score= as well, or no role at all to see what the columns could be",
            )


def _without_roles(data: Any, passes: Passes, threads: int) -> Checkup:
    found = survey(open_source(data), passes, threads)
    guess = found.guess
    ready = bool(guess["outcome"] and guess["score"])
    options = {
        "outcome": (guess["outcome"] or ["OUTCOME"])[0],
        "score": (guess["score"] or ["SCORE"])[0],
        "group": guess["group"][0] if guess["group"] else None,
        "controls": tuple(guess["controls"]),
    }
    files = are_files(data)
    return Checkup(
        ready=ready,
        sentence=_could_be(found, guess),
        problems=found.problems,
        notes=(),
        source=found.source,
        rows=found.rows,
        counts=None,
        columns=found.facts,
        levels=Table(()),
        above=Table(()),
        confident=Table(()),
        estimators=Table(()),
        command=as_command("check", data, options) if files else as_call("check", options),
        shell=files,
    )


def _could_be(found: Survey, guess: dict[str, list[str]]) -> str:
    if not found.rows:
        return "There are no rows."
    lacking = [role for role in ("score", "outcome") if not guess[role]]
    if lacking:
        what = {"score": "a score, numbers from 0 to 1", "outcome": "an outcome, numbers known in every row"}
        return f"No column could be {' or '.join(what[role] for role in lacking)}."
    group = "a group" if guess["group"] else "no group, which would be 0, 1, or empty where unknown"
    return f"Some columns could be a score and an outcome, and there is {group}. Name the roles to see more."


def _with_roles(
    study: Study, data: Any, controls: Sequence[str] | str, labelled: Any, passes: Passes, threads: int
) -> Checkup:
    plan = control_plan(controls)
    whole = replace(study, controls=plan.controls)
    by = folds_by(study.id, study.cluster)
    parts = open_parts(whole, data, labelled)
    wrong = type_problems(whole, parts)
    plan = without(plan, list(wrong))
    study = replace(study, controls=plan.controls)
    problems = list(wrong.values())
    needed = {study.outcome, study.score, study.group, study.weights, study.id, study.cluster, study.audit}
    if not needed & set(wrong):
        mixed = caught("column.kinds", lambda: typed_tables(study, parts))
        problems += mixed
    command = _Command(whole, controls, data, labelled)
    if needed & set(wrong) or len(problems) > len(wrong):
        return _unreadable(Tables(study, parts, frozenset(), passes), whole, problems, command, threads)
    tables = typed_tables(study, parts, passes)
    plan = plan.resolve(tables.categories)
    partition = Partition.of(THRESHOLDS, CONFIDENT)
    tables.expect("check")
    nothing = Found.empty(plan, partition, clustered=study.cluster is not None)
    found = map_merge(tables.chunks(), lambda chunk: find(chunk, study, plan, partition), threads, nothing)
    basis, too_many = basis_of(plan, found)
    problems += value_problems(study, found.tally)
    problems += [Note("labels.apart", text.removesuffix(".")) for text in sorted(found.refused)]
    problems += too_many
    if found.tally.unlabelled:
        problems += clusters_dealt(study, found)
    setting = None if basis is None else setting_of(found, partition, basis, plan.controls, by)
    # Where values cannot be, the rows left over would tell of other data than those that are meant.
    only_missing = {note.code for note in problems} <= {"values.missing"}
    possible = tuple(estimators(setting, plan.controls)) if setting is not None and only_missing else ()
    return Checkup(
        ready=not problems and any(row.reason is None for row in possible),
        sentence=sentence(problems, possible),
        problems=tuple(problems),
        notes=notes(study, plan, found, setting if possible else None),
        source=tables.name,
        rows=found.tally.rows,
        counts=counts(study, found, setting, by),
        columns=role_facts(whole, parts, found.columns, wrong),
        levels=levels(found),
        above=Table(tuple(above(found, partition))),
        confident=Table(tuple(confident(found, partition))),
        estimators=Table(possible),
        command=command.words(drop=bool(found.tally.missing)),
        shell=command.shell,
    )


def _name(column: Any) -> Any:
    """Return a column's name as plain text, for NumPy has strings of its own; Study refuses what is no text."""
    return str(column) if isinstance(column, str) else column


def _unreadable(tables: Tables, study: Study, problems: list[Note], command: _Command, threads: int) -> Checkup:
    """Return what can be said where columns are not what their roles need."""
    rows, seen = read_columns(tables, threads)
    return Checkup(
        ready=False,
        sentence=sentence(problems, ()),
        problems=tuple(problems),
        notes=(),
        source=tables.name,
        rows=rows,
        counts=None,
        columns=role_facts(study, tables.parts, seen, ()),
        levels=Table(()),
        above=Table(()),
        confident=Table(()),
        estimators=Table(()),
        command=command.words(drop=False),
        shell=command.shell,
    )


@dataclass(frozen=True, slots=True)
class _Command:
    """What would diagnose these data with these roles."""

    study: Study
    controls: Sequence[str] | str
    data: Any
    labelled: Any

    @property
    def shell(self) -> bool:
        """Whether it is a command of a shell."""
        return are_files(self.data, self.labelled)

    def words(self, *, drop: bool) -> tuple[str, ...]:
        """Return it, with incomplete rows left out or not."""
        study = self.study
        formula = isinstance(self.controls, str) and self.shell
        options = {
            "outcome": study.outcome,
            "score": study.score,
            "group": study.group,
            "formula" if formula else "controls": self.controls if isinstance(self.controls, str) else study.controls,
            "weights": study.weights,
            "weight_type": None if study.weight_type == "sampling" else study.weight_type,
            "cluster": study.cluster,
            "id": study.id,
            "audit": study.audit,
            "missing": "drop" if drop or study.missing == "drop" else None,
        }
        if self.shell:
            return as_command("diagnose", self.data, {**options, "labelled": self.labelled})
        return as_call("diagnose", options, labelled=self.labelled is not None)
