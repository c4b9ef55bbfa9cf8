"""The line on the terminal: there when asked for, nowhere else."""

import io

import numpy as np
import pytest

from softlabel.simulate import run
from softlabel.simulate.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def toy(rng: np.random.Generator) -> dict[str, float]:
    return {"x": rng.random()}


@pytest.mark.parametrize(
    ("stream", "shown", "visible"),
    [
        (Terminal(), None, True),
        (io.StringIO(), None, False),
        (Terminal(), False, False),
        (io.StringIO(), True, True),
    ],
)
def test_shown_on_a_terminal_or_when_forced(stream: io.StringIO, shown: bool | None, visible: bool) -> None:
    bar = Progress(3, 1, shown=shown, stream=stream)
    bar.advance(2)
    bar.close()
    assert (stream.getvalue() != "") is visible
    if visible:
        assert "3 of 3 replications" in stream.getvalue()
        assert stream.getvalue().endswith("\n")


def test_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 12.0, 60.0])
    monkeypatch.setattr("softlabel.simulate.progress.monotonic", lambda: next(clock))
    stream = Terminal()
    bar = Progress(1000, 400, shown=None, stream=stream)
    bar.advance(100)  # 100 in 10 s: 10 a second, 500 to go
    assert stream.getvalue() == "\r500 of 1000 replications, 10/s, 50 s left"
    bar.advance(20)  # 120 in 12 s
    assert stream.getvalue().endswith("\r520 of 1000 replications, 10/s, 48 s left")
    bar.advance(-90)  # 30 in 60 s: slower than one a second is said the other way round
    assert stream.getvalue().endswith("\r430 of 1000 replications, 2.0 s each, 19 min 00 s left")


def test_a_shorter_line_covers_a_longer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1000.0, 1000.2])
    monkeypatch.setattr("softlabel.simulate.progress.monotonic", lambda: next(clock))
    stream = Terminal()
    bar = Progress(3000, 0, shown=None, stream=stream)
    bar.advance(900)
    bar.advance(2100)
    first, second = stream.getvalue().split("\r")[1:]
    assert len(second) >= len(first)
    assert second.startswith("3000 of 3000 replications")


def test_run_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    run(toy, 3)  # captured, so not a terminal
    assert capsys.readouterr().err == ""
    run(toy, 3, progress=True)
    assert "3 of 3 replications" in capsys.readouterr().err
    run(toy, 3, progress=False)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (60, "1 min 00 s"),
        (3599.4, "59 min 59 s"), (3600, "1 h 00 min"), (100 * 3600, "100 h 00 min"),
    ],
)  # fmt: skip
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
