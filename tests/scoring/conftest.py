"""The study of tests.featured, drawn once."""

import pyarrow as pa
import pytest

from tests.featured import made


@pytest.fixture(scope="session")
def table() -> pa.Table:
    return made()
