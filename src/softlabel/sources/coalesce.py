"""Small batches joined: a pass has a fixed cost per batch that a thousand rows do not repay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

__all__ = ["ENOUGH_ROWS", "coalesced"]

ENOUGH_ROWS = 65_536


def coalesced(batches: Iterable[pa.RecordBatch], rows: int = ENOUGH_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in batches of at least ``rows`` rows but for the last; large ones pass uncopied.

    Examples
    --------
    >>> import pyarrow as pa
    >>> small = pa.record_batch({"y": [1.0, 2.0]})
    >>> [batch.num_rows for batch in coalesced([small] * 5, rows=4)]
    [4, 4, 2]
    """
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        held += batch.num_rows
        if held >= rows:
            yield _joined(waiting)
            waiting, held = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    # Batches may each bring a dictionary of their own, which only a table knows how to unify.
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    (joined,) = table.to_batches()
    return joined
