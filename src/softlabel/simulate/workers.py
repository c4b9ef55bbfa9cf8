"""Chunks of replications, worked off one after the other or by several processes."""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context

from softlabel.errors import DataError, InputError
from softlabel.simulate.replication import Chunk

__all__ = ["Work", "parallel", "serial"]

Work = Callable[[Sequence[int]], Chunk]

# A chunk should last about a second: often enough to save and to show, seldom enough to cost nothing.
_CHUNK_SECONDS = 1.0
_CHUNK_MOST = 4096


class _Queue:
    """Indices still to do, handed out in chunks that follow the pace seen so far."""

    def __init__(self, todo: Sequence[int], share: int) -> None:
        self._todo, self._at, self._size, self._share = todo, 0, 1, share
        self.stopped = False

    def next(self) -> Sequence[int]:
        """Return the next chunk's indices: none when all are handed out, or after a stop."""
        if self.stopped:
            return ()
        left = len(self._todo) - self._at
        # Near the end chunks shrink, so that no worker is left with the last long one.
        size = max(1, min(self._size, left // self._share))
        chunk = self._todo[self._at : self._at + size]
        self._at += len(chunk)
        return chunk

    def learn(self, chunk: Chunk) -> None:
        """Adapt to what a chunk took, and stop after one that failed or was interrupted."""
        if chunk.failure is not None or chunk.interrupted:
            self.stopped = True
        elif chunk.finished:
            fitting = int(len(chunk.finished) * _CHUNK_SECONDS / max(chunk.seconds, 1e-6))
            self._size = max(1, min(fitting, 4 * self._size, _CHUNK_MOST))


def serial(work: Work, todo: Sequence[int]) -> Generator[Chunk, None, None]:
    """Work off the indices in this process, up to the first failure or interrupt."""
    queue = _Queue(todo, share=1)
    while indices := queue.next():
        chunk = work(indices)
        queue.learn(chunk)
        yield chunk


def parallel(work: Work, todo: Sequence[int], workers: int) -> Generator[Chunk, None, None]:
    """Work off the indices in several processes; after a failure or interrupt, only what has begun.

    Chunks start in the order of their indices, so the lowest index that fails is always among them.
    """
    _check_importable(work)
    queue = _Queue(todo, share=2 * workers)
    running: set[Future[Chunk]] = set()
    with _pool(workers) as pool:
        while True:
            try:
                while len(running) < 2 * workers and (indices := queue.next()):
                    running.add(pool.submit(_work, work, indices))
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                if queue.stopped:
                    raise
                finished = set()
                queue.learn(stopped := Chunk((), 0.0, interrupted=True))
                yield stopped
            if queue.stopped:
                running = {future for future in running if not future.cancel()}
            for future in finished:
                chunk = future.result()
                queue.learn(chunk)
                yield chunk


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    # Never fork: this process may hold threads (BLAS, Arrow, Polars), and a fork copies their locks.
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    pool = ProcessPoolExecutor(workers, mp_context=get_context(method), initializer=_settle_in)
    try:
        yield pool
    except BrokenProcessPool:
        raise DataError(
            expected="every worker process to live",
            found="one that died: killed, out of memory, or unable to import the experiment",
            fix='Try workers=1; a script that runs workers needs if __name__ == "__main__": around it',
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _settle_in() -> None:
    # Libraries loaded later read these; those already loaded are limited around every chunk.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    # An idle worker leaves interrupts to the parent, which knows what to save.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(work: Work, indices: Sequence[int]) -> Chunk:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return work(indices)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check_importable(work: Work) -> None:
    fix = "Define the experiment at the top level of a module, or use workers=1"
    try:
        pickled = pickle.dumps(work)
    except Exception as error:  # pickle raises what it likes
        raise InputError(expected="an experiment that other processes can import", found=str(error), fix=fix) from error
    # In an interactive session __main__ has no file that another process could read.
    if b"__main__" in pickled and not hasattr(sys.modules["__main__"], "__file__"):
        raise InputError(
            expected="an experiment that other processes can import",
            found="one defined in an interactive session",
            fix=fix,
        )
