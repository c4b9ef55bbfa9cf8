"""The command line, run in this process."""

from collections.abc import Callable

import pytest

from softlabel.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line here; return its exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        return main(arguments), *capsys.readouterr()

    return call
