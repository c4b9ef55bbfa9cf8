"""Tables that do not ship with the package, read from a folder of the caller's. Nothing is downloaded."""

import gzip
import hashlib
import os
import zlib
from pathlib import Path

import pyarrow as pa

from softlabel.datasets.derived import prepared
from softlabel.datasets.known import about
from softlabel.datasets.records import Dataset
from softlabel.errors import InputError, SourceError

__all__ = ["read_given", "read_study"]


def read_study(name: str, folder: str | os.PathLike[str], *, complete: bool = False) -> pa.Table:
    """Read a dataset that does not ship with the package from a folder that holds its file.

    Parameters
    ----------
    name
        "boston_marathon" or "alphafold"; ``about(name).file`` is the file that is looked for, a gzipped CSV.
    folder
        Where it lies.
    complete
        Leave out rows that miss a value in a column that has a role. By default all rows come, missing
        values as null.

    Returns
    -------
    pyarrow.Table
        The columns of the file, then what was computed of them; the group is 0 or 1 in every row.

    Raises
    ------
    InputError
        An unknown name, a dataset that ships, or no such file in the folder.
    SourceError
        The file is cut off, or does not hold the rows that `about` describes: its checksum differs.

    Examples
    --------
    >>> from softlabel.datasets import read_study
    >>> read_study("alphafold", "no/such/folder")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    softlabel.errors.InputError: Expected alphafold_idr.csv.gz in no/such/folder; found no such file...
    """
    dataset = about(name)
    if dataset.ships:
        raise InputError(
            expected="a dataset that does not ship with the package",
            found=repr(name),
            fix=f"Use load_{name}(), which needs no folder",
        )
    return prepared(dataset, read_given(dataset, Path(folder)), complete=complete)


def read_given(dataset: Dataset, folder: Path) -> pa.Table:
    """Return the table of a gzipped CSV file as it is written; only an empty field is a missing value."""
    from pyarrow import csv

    text = _unpacked(dataset, folder / dataset.file)
    sha256 = hashlib.sha256(text).hexdigest()
    if sha256 != dataset.sha256:
        raise SourceError(
            expected=f"the text of {dataset.file} with SHA-256 {dataset.sha256[:12]}...",
            found=f"{len(text):,} bytes with {sha256[:12]}...: the file is damaged or holds other rows",
            fix="Get the file anew, or read it yourself and pass the table with its columns named",
        )
    # "NA" may be a country or a name.
    options = csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    return csv.read_csv(pa.BufferReader(text), convert_options=options)


def _unpacked(dataset: Dataset, path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(
            expected=f"{dataset.file} in {path.parent}",
            found="no such file",
            fix="It does not ship with softlabel and nothing is downloaded. Name the folder that holds it. "
            f"Its source: {dataset.source}",
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(
            expected=f"to read {path} to its end",
            found=f"{type(error).__name__}: {error}",
            fix="Get the file anew, and check that you may read it",
        ) from error
