"""The line that says how far a command is: on stderr, on a terminal or when asked for, and gone at the end."""

import io
import sys
from collections.abc import Callable

import pytest

ROLES = ["--outcome", "days", "--group", "g", "--score", "p", "--controls", "age", "frailty"]
Run = Callable[..., tuple[int, str, str]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have ten seconds go by whenever the clock is looked at."""
    now = [0.0]

    def clock() -> float:
        now[0] += 10
        return now[0]

    monkeypatch.setattr("softlabel.progress.monotonic", clock)


@pytest.mark.parametrize("command", ["diagnose", "check"])
@pytest.mark.usefixtures("slow")
def test_nothing_is_said_in_a_pipe(run: Run, visits: str, command: str) -> None:
    assert run(command, visits, *ROLES)[2] == ""


@pytest.mark.parametrize(
    ("command", "part"), [("diagnose", "pass 3 of 3 (score): 900 of 900"), ("check", "900 of 900")]
)
@pytest.mark.usefixtures("slow")
def test_a_terminal_is_told(run: Run, visits: str, monkeypatch: pytest.MonkeyPatch, command: str, part: str) -> None:
    page = run(command, visits, *ROLES)[1]
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    code, out, _ = run(command, visits, *ROLES)
    assert (code, out) == (0, page)
    assert part in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


@pytest.mark.usefixtures("slow")
def test_options_force(run: Run, visits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pass 2 of 3 (fit)" in run("diagnose", visits, *ROLES, "--progress")[2]
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    run("diagnose", visits, *ROLES, "--no-progress")
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("slow")
def test_a_learner_counts_its_fits(run: Run, visits: str) -> None:
    options = ["--learner", "ridge", "boosting", "--thresholds", "0.5", "--confident", "--progress"]
    code, _, err = run("diagnose", visits, *ROLES, *options)
    assert code == 0
    assert "reading: 900 of 900 rows" in err
    assert "comparing boosting: fit 5 of 5" in err
    assert "fit 15 of 15" in err


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("gone")])
def test_the_line_is_erased_before_an_error_is_said(
    run: Run, visits: str, monkeypatch: pytest.MonkeyPatch, error: BaseException | type[BaseException]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("softlabel.influence.analysis.score_batch", fail)
    code, out, err = run("diagnose", visits, *ROLES, "--progress", "--threads", "1")
    assert (code, out) == (130 if error is KeyboardInterrupt else 1, "")
    *_, blank, said = err.split("\r")
    assert blank.strip() == ""
    assert said == ("softlabel: interrupted\n" if code == 130 else "softlabel: gone\n")
