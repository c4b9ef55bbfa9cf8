"""The chain: tables with features become tables with a score, on disk, for whoever reads them twice."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import InputError, SourceChanged, SourceError
from softlabel.hashing import Hashes
from softlabel.progress import Passes
from softlabel.results.scoring import ScoreReport
from softlabel.scoring.asked import Asked, check_asked
from softlabel.scoring.labelled import read_labelled
from softlabel.scoring.scorer import Scored
from softlabel.scoring.training import Trained, train
from softlabel.sources import Selection, open_source
from softlabel.sources.arrow import Frame
from softlabel.sources.counting import known_rows
from softlabel.study import Study
from softlabel.study.columns import mask, numbers

__all__ = ["ScoredTables", "free_name", "made_here", "rows_to_read", "scored_tables"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredTables:
    """Unlabelled and labelled rows with their score, as sources, and how it was made."""

    unlabelled: Frame
    labelled: Frame
    report: ScoreReport


def free_name(wanted: Sequence[str], taken: Sequence[str]) -> str:
    """Return the first of the names that no column has.

    Examples
    --------
    >>> free_name(("p", "score"), ["p", "y"])
    'score'
    """
    return next(name for name in (*wanted, *(f"{wanted[0]}_{k}" for k in range(len(taken) + 1))) if name not in taken)


def made_here(
    *,
    score: str | None,
    features: Sequence[str] | None,
    audit: str | None,
    labelling: Mapping[str, Any],
    making: Mapping[str, Any],
) -> Asked | None:
    """Return how a score is to be made, ``None`` where there is one.

    ``labelling`` and ``making`` are arguments of `check_asked`: what rows are, and how scores are made of them, with
    ``None`` for what was left to its default.
    """
    chosen = {name: value for name, value in making.items() if value is not None}
    if score is not None:
        if chosen:
            name = next(iter(chosen))
            raise InputError(
                expected=f"no score with {name}=, which says how one is made",
                found=f"score={score!r}",
                fix=f"Leave {name} out, or leave score out and name the features to make one of",
            )
        return None
    if features is None:
        raise InputError(
            expected="a score, or features to make one of",
            found="neither",
            fix="Name the column of predicted probabilities with score=, or what a classifier may see with features=",
        )
    if labelling["group"] is None:
        raise InputError(
            expected="a group to train a classifier of it",
            found="group=None",
            fix="Name the column that holds it where it is known, or pass a score",
        )
    if audit is not None:
        raise InputError(
            expected="no audit= where the score is made here: it is known who trained what",
            found=f"audit={audit!r}",
            fix="Leave audit out",
        )
    return check_asked(**labelling, **chosen, features=features)


@contextmanager
def rows_to_read(
    data: Any,
    labelled: Any,
    asked: Asked | None,
    study: Study,
    *,
    told_apart: str | None,
    threads: int,
    passes: Passes,
) -> Iterator[tuple[Any, Any, ScoreReport | None]]:
    """Give the tables to diagnose and how their score was made: as they are where none is ``asked`` for."""
    if asked is None:
        yield data, labelled, None
        return
    with scored_tables(data, labelled, asked, study, told_apart=told_apart, threads=threads, passes=passes) as made:
        yield made.unlabelled, made.labelled, made.report


@contextmanager
def scored_tables(
    data: Any,
    labelled: Any,
    asked: Asked,
    study: Study,
    *,
    told_apart: str | None,
    threads: int,
    passes: Passes,
) -> Iterator[ScoredTables]:
    """Train on the labelled rows, score all, and keep what the study needs of them in a temporary file.

    Unlabelled rows are read and scored once, in batches; both passes of a diagnosis then read the file. ``told_apart``
    names a column of row hashes to add: the folds of the regressions then do not hang on the last digit of a score.
    """
    mixed = labelled is None
    source = open_source(data)
    shown = source if mixed else open_source(labelled)
    made = (study.score, told_apart) if told_apart is not None else (study.score,)
    kept = tuple(name for name in study.needed("unlabelled", []) if name not in made)
    training = tuple(dict.fromkeys((*asked.roles.to_train, *kept)))
    # Of no labelled row can a score be made, so what is not to be read is asked for by name at once.
    of_labelled = shown.select(training)
    scoring = (*asked.roles.to_score, *kept, *((asked.roles.group,) if mixed else ()))
    of_unlabelled = source.select(tuple(dict.fromkeys(scoring)))
    labels = read_labelled(of_labelled, asked.roles, mixed=mixed, lenient=True)
    trained = train(labels, asked)
    if passes.shown:
        passes.expect(("score",), known_rows([of_unlabelled]))
    with tempfile.TemporaryDirectory(prefix="softlabel-") as folder:
        path = Path(folder) / "scored.arrow"
        stream = passes.over(trained.scorer.stream(of_unlabelled, threads), size=lambda scored: len(scored.p))
        hidden = _without_labels(stream, asked.roles.group, len(trained.p)) if mixed else stream
        missing = _write(path, hidden, of_unlabelled, kept, made)
        with pa.memory_map(str(path)) as mapped:
            table = pa.ipc.open_file(mapped).read_all()
            yield ScoredTables(
                Frame(source.name, table.column_names, table.column),
                _labelled_frame("its labelled rows" if mixed else shown.name, labels.table, trained, study, kept, made),
                trained.report(table.num_rows, missing if mixed else missing + Counter(trained.missing)),
            )
            del table


def _labelled_frame(
    name: str, table: pa.Table, trained: Trained, study: Study, kept: Sequence[str], made: Sequence[str]
) -> Frame:
    assert study.group is not None  # noqa: S101  (without labels nothing is trained)
    table = table.select([*kept, study.group])
    for column, values in zip(made, _made(trained.p, trained.hashes), strict=False):
        table = table.append_column(column, values)
    if study.audit is not None:
        table = table.append_column(study.audit, pa.array(trained.audit.tolist()))
    return Frame(name, table.column_names, table.column)


def _made(p: NDArray[np.float64], hashes: Hashes) -> tuple[pa.Array, pa.Array]:
    """Return the score, and what tells rows apart, as Arrow arrays: pa.array would import pandas if it is there."""
    return (
        pa.DoubleArray.from_buffers(pa.float64(), len(p), [None, pa.py_buffer(np.ascontiguousarray(p))]),
        pa.UInt64Array.from_buffers(pa.uint64(), len(p), [None, pa.py_buffer(np.ascontiguousarray(hashes))]),
    )


def _without_labels(stream: Iterator[Scored], group: str, labelled: int) -> Iterator[Scored]:
    """Yield only rows whose group is null; raise unless the others are as many as trained the score."""
    met = 0
    for scored in stream:
        known = ~np.isnan(numbers(scored.batch.column(group)))
        met += int(known.sum())
        yield _filtered(scored, ~known) if known.any() else scored
    if met != labelled:
        raise SourceChanged(
            expected=f"the {labelled:,} labelled rows that trained the score when the table is read again",
            found=f"{met:,}",
            fix="Keep the table as it is while it is read, or copy it first",
        )


def _filtered(scored: Scored, rows: NDArray[np.bool_]) -> Scored:
    """Return some rows; what is missing stays counted on all, for the labelled ones are of the same table."""
    return Scored(scored.batch.filter(mask(rows)), scored.p[rows], scored.hashes[rows], scored.missing)


def _write(
    path: Path, stream: Iterator[Scored], selection: Selection, kept: Sequence[str], made: Sequence[str]
) -> Counter[str]:
    """Write the kept columns and those that were made, and return what was missing of the features."""
    fields = [selection.schema().field(name) for name in kept]
    # Every batch of a stream may bring a dictionary of its own, which a file cannot hold.
    plain = [pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in fields]
    schema = pa.schema([*plain, *(pa.field(n, t) for n, t in zip(made, (pa.float64(), pa.uint64()), strict=False))])
    missing: Counter[str] = Counter()
    try:
        with pa.ipc.new_file(str(path), schema) as writer:
            for batch, p, hashes, gaps in stream:
                missing.update(gaps)
                columns = [batch.column(f.name).cast(f.type) for f in plain]
                columns += _made(p, hashes)[: len(made)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    except OSError as error:
        if isinstance(error, SourceError):
            raise
        raise InputError(
            expected="room for the scored rows in the folder for temporary files",
            found=error.strerror or str(error),
            fix="Make room, or point TMPDIR to a larger folder",
        ) from error
    return missing
