"""A file to diagnose, and the command line run in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softlabel.cli import main

ROWS, LABELLED = 900, 120


def _table(**changes: Any) -> pa.Table:
    """Return 900 visits, the first 120 labelled, with some columns in place of others."""
    rng = np.random.default_rng(2)
    p = rng.beta(2, 2, ROWS)
    age, frailty = rng.normal(70, 8, ROWS), rng.random(ROWS)
    g = (rng.random(ROWS) < p).astype(np.float64)
    days = 3 + age / 20 + frailty + 2 * g + rng.normal(size=ROWS)
    g[LABELLED:] = np.nan
    columns = {"days": days, "g": pa.array(g, from_pandas=True), "p": p, "age": age, "frailty": frailty}
    return pa.table({**columns, **changes})


@pytest.fixture
def table() -> Callable[..., pa.Table]:
    return _table


@pytest.fixture
def visits(tmp_path: Path) -> str:
    pq.write_table(_table(), tmp_path / "visits.parquet")
    return str(tmp_path / "visits.parquet")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line here; return its exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as stop:  # how argparse stops
            code = stop.code if isinstance(stop.code, int) else 99
        return code, *capsys.readouterr()

    return call
