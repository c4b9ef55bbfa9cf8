"""Where rows come from: one small adapter per engine behind one Protocol.

``open_source`` looks at what the caller passed and picks the adapter; nothing above this room knows which.
"""

import os
from collections.abc import Iterator
from typing import Any

from softlabel.errors import InputError
from softlabel.sources.arrow import Frame, is_a, open_frame
from softlabel.sources.files import ENDINGS, open_files
from softlabel.sources.protocol import BATCH_ROWS, Selection, Source
from softlabel.sources.queries import open_query

__all__ = ["BATCH_ROWS", "Selection", "Source", "open_source"]

_REMEDIES = {
    ("pyarrow", "Scanner"): "A scanner may be readable only once: pass the dataset it scans, or call .to_table() on it",
    ("pyspark", "DataFrame"): "Call .toArrow() on it, or write it to Parquet and pass the files",
    ("pyarrow", "RecordBatchReader"): "A stream can be read only once: call .read_all() on it",
    ("builtins", "PyCapsule"): "A stream can be read only once: pass the table it comes from",
}


def open_source(data: Any) -> Source:
    """Open whatever holds the rows.

    Parameters
    ----------
    data
        A pandas or Polars DataFrame; a PyArrow Table or RecordBatch; a mapping of names to one-dimensional
        arrays, matched by position whatever their index; any other object with an Arrow C stream, which is
        read into memory once; a Polars LazyFrame, a PyArrow Dataset or a DuckDB relation, which is run anew
        for every reading; or a path, a glob or a list of them, to Parquet, CSV or TSV files (the last two may
        be gzipped).

    Returns
    -------
    Source
        Knows the column names. Choose some with ``select`` to learn their types and read their rows.

    Raises
    ------
    InputError
        Data of another kind, a stream that can be read only once, or files that do not make one table.
    SourceError
        A file that cannot be read, or a query that fails.

    Examples
    --------
    >>> source = open_source({"y": [1.0, 2.0], "note": ["a", "b"], "p": [0.3, None]})
    >>> source.name, source.columns()
    ('dict of arrays', ['y', 'note', 'p'])
    >>> rows = source.select(["p", "y"])
    >>> rows.schema()
    p: double
    y: double
    >>> [batch.to_pylist() for batch in rows.batches()]
    [[{'p': 0.3, 'y': 1.0}, {'p': None, 'y': 2.0}]]
    """
    if isinstance(data, Frame):
        return data
    if isinstance(data, str | os.PathLike):
        return open_files([os.fsdecode(data)])
    if isinstance(data, list | tuple) and all(isinstance(path, str | os.PathLike) for path in data):
        return open_files([os.fsdecode(path) for path in data])
    fix = next((remedy for (package, kind), remedy in _REMEDIES.items() if is_a(data, package, kind)), None)
    if fix is None and isinstance(data, Iterator):
        fix = "An iterator or open file can be read only once: pass the table, or the file's path"
    source = open_query(data) or open_frame(data) if fix is None else None
    if source is None:
        package = type(data).__module__.split(".")[0]
        raise InputError(
            expected="a pandas or Polars DataFrame, a Polars LazyFrame, a pyarrow Table, RecordBatch or Dataset, "
            "a DuckDB relation, a dict of arrays, an object with an Arrow C stream, "
            f"or paths or globs of files that end in {', '.join(ENDINGS)}",
            found=" ".join(["a", *([] if package == "builtins" else [package]), type(data).__name__]),
            fix=fix or "Convert it to one of these",
        )
    return source
