"""What `softlabel replicate` can repeat: the registry, what is taken, what is refused."""

import importlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from softlabel.cli.replicating import REPLICATIONS

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("name", REPLICATIONS)
def test_every_runner_exists_and_takes_what_it_is_given(name: str) -> None:
    asked = REPLICATIONS[name]
    module, function = asked.runner.split(":")
    parameters = inspect.signature(getattr(importlib.import_module(module), function)).parameters
    assert {"workers", "seed", "resume", "progress", *asked.takes} <= set(parameters)


def test_reps_and_replications_are_one_option(run: Run) -> None:
    pages = [run("replicate", "rules", option, "3", "--scenarios", "weak") for option in ("--reps", "--replications")]
    assert pages[0] == pages[1]
    assert pages[0][0] == 0
    assert "3 replications of seed 0" in pages[0][1]


def test_what_would_be_ignored_is_refused(run: Run, tmp_path: Path) -> None:
    code, out, err = run("replicate", "rules", "--reps", "2", "--out", str(tmp_path / "new"))
    assert (code, out) == (2, "")
    assert "no --out for rules" in err
    assert not (tmp_path / "new").exists()


def test_json_comes_alone(run: Run) -> None:
    code, out, err = run("replicate", "rules", "--reps", "2", "--scenarios", "weak", "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)["replications"] == 2
