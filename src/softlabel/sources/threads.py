"""Map a function over batches with a few threads and merge what it returns, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Protocol, Self, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from softlabel.errors import InputError

__all__ = ["Mergeable", "check_threads", "map_in_order", "map_merge"]


class Mergeable(Protocol):
    """A state that merges with its like."""

    def merge(self, other: Self) -> Self:
        """Return the state of both."""


Item = TypeVar("Item")
Made = TypeVar("Made")
State = TypeVar("State", bound=Mergeable)


def check_threads(threads: int | None) -> int:
    """Return how many threads to use; ``None`` asks for one per core this process may use, at most 8."""
    if threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, 8)
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or threads < 1:
        raise InputError(
            expected="threads to be a whole number from 1, or None",
            found=f"threads={threads!r}",
            fix="Leave threads out to use every core",
        )
    return int(threads)


def map_merge(items: Iterable[Item], work: Callable[[Item], State], threads: int, empty: State) -> State:
    """Return the merged states of all items, ``empty`` if there are none.

    States merge in the order of the items, so the result is the same to the bit for any number of threads.
    BLAS is held to one thread meanwhile: its own threads gain nothing on blocks this small.
    """
    merged = empty
    try:
        with _controller().limit(limits=1, user_api="blas"):
            for state in map_in_order(items, work, threads):
                merged = merged.merge(state)
    finally:
        if isinstance(items, Generator):
            items.close()  # an error's traceback would hold it, and with it the open file or query
    return merged


@cache
def _controller() -> ThreadpoolController:
    """Return the BLAS libraries in use; finding them takes milliseconds, so once."""
    return ThreadpoolController()


def map_in_order(items: Iterable[Item], work: Callable[[Item], Made], threads: int) -> Iterator[Made]:
    """Yield what becomes of each item, in the order of the items."""
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        # At most two items more than threads are in flight, so memory does not grow with the table.
        waiting: deque[Future[Made]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > threads + 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
