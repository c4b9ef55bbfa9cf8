"""The tables that ship with the package, their checksum verified each time they are loaded."""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

import pyarrow as pa

from softlabel.datasets.derived import prepared
from softlabel.datasets.known import about
from softlabel.datasets.records import Dataset
from softlabel.errors import InputError, SourceError

__all__ = ["load", "load_adult", "load_credit_default", "load_nycflights", "read_shipped"]


def load(name: str, *, complete: bool = False) -> pa.Table:
    """Load a dataset that ships with the package, by its name.

    Parameters
    ----------
    name
        "adult", "credit_default" or "nycflights"; `about` says what is known of each.
    complete
        Leave out rows that miss a value in a column that has a role. By default all rows come, missing
        values as null.

    Returns
    -------
    pyarrow.Table
        The columns of the original under their names, numbers as int64 or float64, then what was computed of
        them. The group is known in every row: to study a score, hide it.

    Raises
    ------
    InputError
        An unknown name, or a dataset that does not ship.
    SourceError
        The file is missing or is not the one that was shipped.

    Examples
    --------
    >>> from softlabel.datasets import about, load
    >>> for name in ("adult", "credit_default", "nycflights"):
    ...     print(name, load(name).num_rows, about(name).roles.group)
    adult 32561 high_income
    credit_default 30000 default
    nycflights 100000 jetblue
    """
    dataset = about(name)
    if not dataset.ships:
        raise InputError(
            expected="a dataset that ships with the package",
            found=f"{name!r}, which does not",
            fix=f"Use read_study({name!r}, folder) with a folder that holds {dataset.file}",
        )
    content = read_shipped(dataset, files("softlabel.datasets") / "files")
    return prepared(dataset, content, complete=complete)


def load_adult(*, complete: bool = False) -> pa.Table:
    """Load Adult: 32,561 people of a census sample, of whom 30,162 miss nothing.

    The group is ``high_income``, the outcome ``education_num``. Becker and Kohavi (1996), doi 10.24432/C5XW20,
    CC BY 4.0; the file is the original adult.data, whose missing values ("?") are null here.

    Parameters
    ----------
    complete
        Leave out rows that miss ``workclass``, ``occupation`` or ``native_country``, as is common.

    Returns
    -------
    pyarrow.Table
        Fifteen columns of the original and ``high_income`` (int8: 1 where income is over 50,000 dollars).

    Examples
    --------
    >>> from softlabel.datasets import load_adult
    >>> load_adult(complete=True).num_rows
    30162
    >>> load_adult().select(["education_num", "high_income", "age", "sex"]).slice(0, 2).to_pylist()[0]
    {'education_num': 13, 'high_income': 0, 'age': 39, 'sex': 'Male'}
    """
    return load("adult", complete=complete)


def load_credit_default(*, complete: bool = False) -> pa.Table:
    """Load 30,000 clients of credit cards, Taiwan 2005; nothing is missing.

    The group is ``default`` (on the next payment), the outcome ``log_limit``, the natural logarithm of
    ``LIMIT_BAL``. Yeh (2009), doi 10.24432/C55S3H, CC BY 4.0.

    Parameters
    ----------
    complete
        Leaves out nothing here: no value is missing.

    Returns
    -------
    pyarrow.Table
        Twenty-five columns of the original and ``log_limit``. ``SEX`` is 0 for men and 1 for women.

    Examples
    --------
    >>> from softlabel.datasets import load_credit_default
    >>> load_credit_default().select(["log_limit", "default", "AGE"]).slice(0, 1).to_pylist()
    [{'log_limit': 9.9035, 'default': 1, 'AGE': 24}]
    """
    return load("credit_default", complete=complete)


def load_nycflights(*, complete: bool = False) -> pa.Table:
    """Load 100,000 flights from New York in 2013, of which 1,821 miss the year their plane was built.

    The group is ``jetblue`` (carrier B6), the outcome ``arr_delay`` in minutes, negative when early. From
    nycflights13 (Wickham), CC0.

    Parameters
    ----------
    complete
        Leave out the flights that miss ``plane_year``.

    Returns
    -------
    pyarrow.Table
        Fifteen columns of the original and ``jetblue`` (int8).

    Examples
    --------
    >>> from softlabel.datasets import load_nycflights
    >>> flights = load_nycflights()
    >>> flights.num_rows, flights["plane_year"].null_count, load_nycflights(complete=True).num_rows
    (100000, 1821, 98179)
    """
    return load("nycflights", complete=complete)


def read_shipped(dataset: Dataset, folder: Traversable) -> pa.Table:
    """Return the table of a Parquet file as it is stored, once its bytes are known to be those that were shipped."""
    from pyarrow import parquet

    try:
        content = (folder / dataset.file).read_bytes()
    except OSError as error:
        raise SourceError(
            expected=f"to read {dataset.file}, which ships with softlabel",
            found=type(error).__name__,
            fix="Install softlabel anew",
        ) from error
    sha256 = hashlib.sha256(content).hexdigest()
    if sha256 != dataset.sha256:
        raise SourceError(
            expected=f"{dataset.file} with SHA-256 {dataset.sha256[:12]}...",
            found=f"{len(content):,} bytes with {sha256[:12]}...: the file is damaged or another one",
            fix="Install softlabel anew",
        )
    return parquet.read_table(pa.BufferReader(content))
