"""The line on the terminal: there when asked for, nowhere else."""

import numpy as np
import pytest

from softlabel.simulate import run


def toy(rng: np.random.Generator) -> dict[str, float]:
    return {"x": rng.random()}


def test_run_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    run(toy, 3)  # captured, so not a terminal
    assert capsys.readouterr().err == ""
    run(toy, 3, progress=True)
    assert "3 of 3 replications" in capsys.readouterr().err
    run(toy, 3, progress=False)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
