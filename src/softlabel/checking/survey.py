"""Survey: every column of a table whose roles nobody has named yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from softlabel.checking.columns import Seen, facts, guess, merged, roles_of, see
from softlabel.checking.problems import caught, problem
from softlabel.checking.records import ColumnFacts
from softlabel.errors import InputError, SoftlabelError
from softlabel.progress import Passes
from softlabel.reading import Parts, Tables
from softlabel.results import Note, Table
from softlabel.sources import Selection, Source
from softlabel.sources.coalesce import coalesced
from softlabel.sources.counting import known_rows
from softlabel.sources.threads import map_merge
from softlabel.study import Study

__all__ = ["Survey", "read_columns", "role_facts", "survey"]


@dataclass(frozen=True, slots=True)
class Survey:
    """What every column holds and could be, and a guess at the roles: names by role."""

    source: str
    rows: int
    facts: Table[ColumnFacts]
    guess: dict[str, list[str]]
    problems: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class _Columns:
    """What some rows of several columns hold."""

    rows: int
    seen: Mapping[str, Seen]

    def merge(self, other: _Columns) -> _Columns:
        """Return what both sets of rows hold."""
        return _Columns(self.rows + other.rows, merged(self.seen, other.seen))


def survey(source: Source, passes: Passes, threads: int) -> Survey:
    """Read every column that can be read, once."""
    selection, problems = _selected(source)
    if selection is None:
        return Survey(source.name, 0, Table(()), guess({}), tuple(problems))
    passes.expect(["check"], known_rows([selection]) if passes.shown else None)
    chunks = passes.over(coalesced(selection.batches()), size=lambda batch: batch.num_rows)
    found = map_merge(chunks, _see_all, threads, _Columns(0, {}))
    columns = {field.name: (field.type, found.seen.get(field.name, Seen())) for field in selection.schema()}
    could = {name: ", ".join(roles_of(*column)) or _nothing(column[1]) for name, column in columns.items()}
    if not found.rows:
        problems += caught("rows.none", lambda: _no_rows(source.name))
    described = Table(tuple(facts(name, kind, seen, could[name]) for name, (kind, seen) in columns.items()))
    return Survey(source.name, found.rows, described, guess(columns), tuple(problems))


def _see_all(batch: pa.RecordBatch) -> _Columns:
    return _Columns(batch.num_rows, {name: see(batch.column(name)) for name in batch.schema.names})


def _no_rows(name: str) -> None:
    raise InputError(expected=f"rows in {name}", found="an empty table", fix="Check the file or the filter before")


def _nothing(seen: Seen) -> str:
    """Say why a column has no role to play."""
    if seen.missing == seen.rows:
        return "nothing: it is empty"
    if seen.infinite:
        return "nothing: infinite values"
    if seen.distinct is not None and len(seen.distinct) == 1:
        return "nothing: it is constant"
    return "nothing: not numbers or text"


def _selected(source: Source) -> tuple[Selection | None, list[Note]]:
    """Choose every column that can be read; what is wrong with the others is a problem each."""
    names = source.columns()
    problems = []
    single = []
    for name in dict.fromkeys(names):
        if names.count(name) == 1:
            single.append(name)
        else:
            problems += caught("column.twice", lambda name=name: source.select([name]))  # type: ignore[misc]
    try:
        return (source.select(single) if single else None), problems
    except SoftlabelError:
        readable, said = [], set()
        for name in single:
            try:
                source.select([name])
                readable.append(name)
            except SoftlabelError as error:
                if str(error) not in said:  # of a file that cannot be read every column says the same
                    problems.append(problem("column.unreadable", error))
                said.add(str(error))
        return (source.select(readable) if readable else None), problems


def read_columns(tables: Tables, threads: int) -> tuple[int, Mapping[str, Seen]]:
    """Return the rows of tables whose columns do not suit their roles, and what each column holds."""
    tables.expect("check")
    found = map_merge(tables.chunks(), lambda chunk: _see_all(chunk[1]), threads, _Columns(0, {}))
    return found.rows, found.seen


def role_facts(study: Study, parts: Parts, seen: Mapping[str, Seen], dropped: Iterable[str] = ()) -> Table[ColumnFacts]:
    """Return the record of each column with a role, in the order of the roles."""
    kinds = {field.name: field.type for _, selection in reversed(parts) for field in selection.schema()}
    roles: dict[str, list[str]] = {}
    for role, column in [*study.roles, *study.free_roles]:
        roles.setdefault(column, []).append(role)
    bad = set(dropped)
    rows = (
        facts(name, kinds[name], seen.get(name, Seen()), ", ".join(played) + (" (!)" if name in bad else ""))
        for name, played in _ordered(roles, study)
        if name in kinds
    )
    return Table(tuple(rows))


def _ordered(roles: Mapping[str, list[str]], study: Study) -> Sequence[tuple[str, list[str]]]:
    """Return columns with outcome, score and group first, as a reader looks for them."""
    first = [name for name in (study.outcome, study.score, study.group) if name is not None]
    return [(name, roles[name]) for name in dict.fromkeys([*first, *roles])]
