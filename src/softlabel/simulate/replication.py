"""One replication, a chunk of them, and the name of the experiment they belong to."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import isfinite
from time import monotonic

import numpy as np

from softlabel.errors import DataError
from softlabel.simulate.arguments import whole
from softlabel.simulate.ledger import Values

__all__ = ["Chunk", "Experiment", "Failure", "experiment_name", "has_a_name", "replicate_chunk", "replicate_one"]

Experiment = Callable[[np.random.Generator], Mapping[str, float | None]]


@dataclass(frozen=True, slots=True)
class Failure:
    """A replication that raised: plain text, because an exception may not survive the way back."""

    index: int
    what: str
    trace: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """What came of some replications; a chunk ends early when one fails or the user interrupts."""

    finished: tuple[tuple[int, Values], ...]
    seconds: float
    failure: Failure | None = None
    interrupted: bool = False


def replicate_one(experiment: Experiment, seed: int, index: int) -> dict[str, float | None]:
    """Run one replication alone, exactly as `run` does; what it raises comes through as it is.

    Parameters
    ----------
    experiment, seed
        As in `run`.
    index
        Which replication, from 0.

    Examples
    --------
    >>> def experiment(rng):
    ...     return {"mean": rng.standard_normal(100).mean()}
    >>> from softlabel.simulate import run
    >>> replicate_one(experiment, seed=7, index=2)["mean"] == run(experiment, 3, seed=7).rows[2][0]
    True
    """
    with _one_thread():
        return _replicate(experiment, whole("seed", seed), whole("index", index))


def replicate_chunk(experiment: Experiment, seed: int, indices: Sequence[int]) -> Chunk:
    """Run some replications, and return what finished even if one fails."""
    start = monotonic()
    finished: list[tuple[int, Values]] = []
    failure, interrupted = None, False
    try:
        with _one_thread():
            for index in indices:
                try:
                    finished.append((index, _replicate(experiment, seed, index)))
                except Exception as error:  # noqa: BLE001  (whatever the user's experiment raises)
                    failure = Failure(index, f"{type(error).__name__}: {error}", traceback.format_exc())
                    break
    except KeyboardInterrupt:
        interrupted = True
    return Chunk(tuple(finished), monotonic() - start, failure, interrupted)


def experiment_name(experiment: object) -> str:
    """Return a name that tells experiments apart, arguments bound into them included.

    Examples
    --------
    >>> from functools import partial
    >>> experiment_name(partial(replicate_one, index=3))
    'partial(softlabel.simulate.replication.replicate_one, index=3)'
    """
    if isinstance(experiment, partial):
        bound = [repr(value) for value in experiment.args]
        bound += [f"{key}={value!r}" for key, value in sorted(experiment.keywords.items())]
        return f"partial({', '.join([experiment_name(experiment.func), *bound])})"
    owner = getattr(experiment, "__self__", None)
    if owner is not None and not isinstance(owner, type):
        return f"{experiment_name(owner)}.{getattr(experiment, '__name__', '?')}"
    if hasattr(experiment, "__qualname__"):
        return f"{getattr(experiment, '__module__', '?')}.{experiment.__qualname__}"
    kind = type(experiment)
    # The default repr holds an address, which differs in the next session.
    told = repr(experiment) if kind.__repr__ is not object.__repr__ else kind.__qualname__
    return f"{kind.__module__}.{told}"


def has_a_name(experiment: object) -> bool:
    """Return whether `experiment_name` tells it from all others: not so for a lambda, or a function within another.

    Examples
    --------
    >>> has_a_name(replicate_one), has_a_name(lambda rng: {"value": rng.random()})
    (True, False)
    """
    while isinstance(experiment, partial):
        experiment = experiment.func
    return "<" not in getattr(experiment, "__qualname__", "")


def _replicate(experiment: Experiment, seed: int, index: int) -> dict[str, float | None]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
    values = experiment(rng)
    if not isinstance(values, Mapping) or not values or not all(isinstance(name, str) for name in values):
        raise DataError(
            expected="an experiment to return a mapping from names to numbers, at least one",
            found=repr(values)[:200],
            fix='Return something like {"estimate": 1.0}',
        )
    return {name: _checked(name, value) for name, value in values.items()}


def _checked(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise DataError(
            expected=f"{name} to be a finite number or None",
            found=repr(value)[:200],
            fix="Return None for a value that cannot be computed: it is counted and never averaged",
        )
    return number


@contextmanager
def _one_thread() -> Iterator[None]:
    # Threads would compete with the workers, and sums split differently have different last bits.
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield
