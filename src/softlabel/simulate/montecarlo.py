"""Run an experiment many times: in parallel, resumably, and with the same answer every time.

Replication i draws from ``SeedSequence(seed, spawn_key=(i,))`` and from nothing else, and numerical
libraries run on one thread, so its values do not depend on how many workers share the work, on which
replications ran before, or on how often the run was interrupted.
"""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from softlabel.errors import DataError, InputError
from softlabel.progress import Line, Progress
from softlabel.simulate.arguments import whole
from softlabel.simulate.ledger import Ledger, Values
from softlabel.simulate.replication import Chunk, Experiment, Failure, experiment_name, has_a_name, replicate_chunk
from softlabel.simulate.summary import MonteCarlo
from softlabel.simulate.workers import parallel, serial

__all__ = ["run"]


def run(
    experiment: Experiment,
    replications: int,
    *,
    seed: int = 0,
    workers: int = 1,
    progress: bool | None = None,
    resume: str | Path | None = None,
) -> MonteCarlo:
    """Run an experiment many times and collect what it returns.

    Parameters
    ----------
    experiment
        Takes a ``numpy.random.Generator``, its only source of randomness, and returns a mapping from
        names to numbers, the same names every time; None stands for a value that cannot be computed.
        With several workers it must be importable: a function or class at the top level of a module
        or script, or a ``functools.partial`` of one.
    replications
        How many times, from replication 0 on.
    seed
        Replication i draws from ``SeedSequence(seed, spawn_key=(i,))``.
    workers
        Processes that share the work. The result is the same, to the last bit, for any number.
    progress
        True or False forces or forbids a line on stderr with the rate and the time left; None shows it
        on a terminal and nowhere else.
    resume
        A file that finished replications are appended to, as JSON lines. A rerun continues where it
        stopped, also with more replications or another number of workers; a file of another seed,
        experiment or version is refused with a `StateError`, and so is, with an `InputError`, a lambda or
        a function within another, whose name does not say what it does.

    Returns
    -------
    MonteCarlo
        The values of every replication, in order.

    Raises
    ------
    DataError
        When a replication raises. The message names it, the traceback is in the notes, and
        `replicate_one` repeats it; what finished before stays in the ``resume`` file.

    Examples
    --------
    >>> def experiment(rng):
    ...     sample = rng.normal(5.0, 2.0, size=50)
    ...     return {"mean": sample.mean(), "se": sample.std(ddof=1) / 50**0.5}
    >>> found = run(experiment, 400, seed=1)
    >>> print(f"{found.mean('mean'):.3f} +- {found.mcse('mean'):.3f}")
    5.004 +- 0.013
    >>> ratio = found.se_ratio("se", "mean")
    >>> print(f"{ratio.estimate:.3f} +- {ratio.std_error:.3f}")
    1.079 +- 0.038
    """
    replications = whole("replications", replications, least=1)
    seed, workers = whole("seed", seed), whole("workers", workers, least=1)
    name = experiment_name(experiment)
    if resume is not None and not has_a_name(experiment):
        raise InputError(
            expected="an experiment that its name tells from others, with resume=",
            found=name,
            fix="Define it at the top level of a module, and bind what varies with functools.partial",
        )
    ledger = None if resume is None else Ledger(resume, seed=seed, experiment=name)
    done = {} if ledger is None else ledger.open()
    todo = [index for index in range(replications) if index not in done]
    work = partial(replicate_chunk, experiment, seed)
    workers = min(workers, len(todo))
    chunks = parallel(work, todo, workers) if workers > 1 else serial(work, todo)
    failures: list[Failure] = []
    interrupted = False
    bar = Progress(replications, replications - len(todo), line=Line(progress), what=_so_many)
    # Closing the chunks ends the workers, whatever goes wrong on this side.
    with closing(bar), closing(chunks):
        for chunk in chunks:
            _check_names(done, chunk)
            if ledger is not None:
                ledger.append(chunk.finished)
            done.update(chunk.finished)
            bar.advance(len(chunk.finished))
            failures += [] if chunk.failure is None else [chunk.failure]
            interrupted |= chunk.interrupted
    if failures:
        raise _failed(min(failures, key=lambda failure: failure.index), seed)
    if interrupted:
        raise KeyboardInterrupt
    names = tuple(done[0])
    rows = tuple(tuple(done[index][column] for column in names) for index in range(replications))
    return MonteCarlo(experiment=name, seed=seed, names=names, rows=rows)


def _so_many(done: int, total: int | None) -> str:
    return f"{done} of {total} replications"


def _check_names(done: Mapping[int, Values], chunk: Chunk) -> None:
    known = next(iter(done.values()), None)
    for index, values in chunk.finished:
        known = values if known is None else known
        if set(values) != set(known):
            raise DataError(
                expected=f"every replication to return the names {', '.join(known)}",
                found=f"replication {index} with {', '.join(values)}",
                fix="Return None for a value that cannot be computed",
            )


def _failed(failure: Failure, seed: int) -> DataError:
    error = DataError(
        expected=f"replication {failure.index} of seed {seed} to finish",
        found=failure.what.rstrip("."),
        fix=f"Run it alone with replicate_one(experiment, seed={seed}, index={failure.index})",
    )
    error.add_note(failure.trace)
    return error
