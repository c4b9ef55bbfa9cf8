"""The line on the terminal: there when asked for, nowhere else, and gone when the work is done."""

import io
from collections.abc import Callable, Iterator

import pytest

from softlabel import InputError
from softlabel.progress import Line, Passes, Progress, check_progress, duration, many


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, _: str) -> int:
        raise BrokenPipeError


Tick = Callable[[float], None]


@pytest.fixture
def tick(monkeypatch: pytest.MonkeyPatch) -> Tick:
    """Set the clock, which stands still otherwise."""
    now = [0.0]
    monkeypatch.setattr("softlabel.progress.monotonic", lambda: now[0])

    def to(seconds: float) -> None:
        now[0] = seconds

    return to


def _said(done: int, total: int | None) -> str:
    return f"{done} of {total}"


def _bar(total: int | None, done: int, stream: io.StringIO, shown: bool | None = None) -> Progress:
    return Progress(total, done, line=Line(shown, stream=stream), what=_said)


# ------------------------------------------------------------------------------------- counting


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
    bar = _bar(3, 1, stream, shown)
    bar.advance(2)
    bar.close()
    assert (stream.getvalue() != "") is visible
    if visible:
        assert "3 of 3" in stream.getvalue()
        assert stream.getvalue().endswith("\n")


def test_rate_and_time_left(tick: Tick) -> None:
    stream = Terminal()
    bar = _bar(1000, 400, stream)
    tick(10)
    bar.advance(100)  # 100 in 10 s: 10 a second, 500 to go
    assert stream.getvalue() == "\r500 of 1000, 10/s, 50 s left"
    tick(12)
    bar.advance(20)  # 120 in 12 s
    assert stream.getvalue().endswith("\r520 of 1000, 10/s, 48 s left")
    tick(60)
    bar.advance(-90)  # 30 in 60 s: slower than one a second is said the other way round
    assert stream.getvalue().endswith("\r430 of 1000, 2.0 s each, 19 min 00 s left")


def test_updates_come_a_tenth_of_a_second_apart(tick: Tick) -> None:
    stream = Terminal()
    bar = _bar(100, 0, stream)
    for hundredths in range(36):
        tick(hundredths / 100)
        bar.advance(1)
    assert stream.getvalue().count("\r") == 3


def test_a_shorter_line_covers_a_longer_one(tick: Tick) -> None:
    stream = Terminal()
    bar = _bar(3000, 0, stream)
    tick(1000)
    bar.advance(900)
    tick(1000.2)
    bar.advance(2100)
    first, second = stream.getvalue().split("\r")[1:]
    assert len(second) >= len(first)
    assert second.startswith("3000 of 3000")


def test_a_reader_that_has_gone_does_not_stop_the_work(tick: Tick) -> None:
    bar = _bar(3, 0, Gone())
    tick(5)
    bar.advance(1)
    bar.close()


def test_a_process_without_a_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert not Line(None).shown
    assert not Line(shown=True).shown


# --------------------------------------------------------------------------------------- passes


def _read(passes: Passes, tick: Tick, times: list[float]) -> None:
    """Read a million rows until each of these times."""
    items = passes.over([1_000_000] * len(times), size=int)
    for time in times:
        next(items)
        tick(time)
    assert list(items) == []


def test_passes_say_which_and_how_far_and_the_second_how_long(tick: Tick) -> None:
    stream = Terminal()
    with Passes(shown=True, stream=stream) as passes:
        passes.expect(["fit", "score"])
        _read(passes, tick, [1, 2])
        assert "left" not in stream.getvalue()
        _read(passes, tick, [3, 4])
        said = stream.getvalue().split("\r")[1:]
    assert said == [
        "pass 1 of 2 (fit): 1.00 million rows, 1.00 million/s",
        "pass 1 of 2 (fit): 2.00 million rows, 1.00 million/s",
        "pass 2 of 2 (score): 1.00 of 2.00 million rows, 1.00 million/s, 1.0 s left",
        "pass 2 of 2 (score): 2.00 of 2.00 million rows, 1.00 million/s, 0.0 s left",
    ]


def test_rows_known_beforehand_give_the_time_left_at_once(tick: Tick) -> None:
    stream = Terminal()
    passes = Passes(shown=True, stream=stream)
    passes.expect(["read"], rows=4_000_000)
    _read(passes, tick, [1])
    assert stream.getvalue() == "\rreading: 1.00 of 4.00 million rows, 1.00 million/s, 3.0 s left"


def test_short_work_says_nothing(tick: Tick) -> None:
    stream = Terminal()
    with Passes(shown=None, stream=stream) as passes:
        passes.expect(["fit", "score"])
        _read(passes, tick, [0.3, 0.6, 0.9])
        assert stream.getvalue() == ""
        _read(passes, tick, [1.2])
        assert stream.getvalue().startswith("\rpass 2 of 2")


@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_the_line_is_gone_at_the_end_however_that_comes(tick: Tick, error: type[BaseException] | None) -> None:
    stream = Terminal()

    def work() -> None:
        with Passes(shown=True, stream=stream) as passes:
            _read(passes, tick, [5])
            if error is not None:
                raise error

    if error is None:
        work()
    else:
        with pytest.raises(error):
            work()
    _, line, blank, rest = stream.getvalue().split("\r")
    assert len(blank) == len(line)
    assert blank.strip() == rest == ""


def test_an_unfinished_pass_closes_what_it_reads() -> None:
    closed = []

    def items() -> Iterator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    for shown in (True, False):
        reading = Passes(shown=shown, stream=io.StringIO()).over(items(), size=int)
        next(reading)
        reading.close()
    assert closed == [True, True]


def test_fits_of_a_learner(tick: Tick) -> None:
    stream = Terminal()
    told = Passes(shown=True, stream=stream).fits("forest")
    assert told is not None
    tick(2)
    told(1, 4)
    assert stream.getvalue() == "\rforest: fit 1 of 4, 2.0 s each, 6.0 s left"
    assert Passes(shown=False).fits("forest") is None


def test_no_line_is_wider_than_a_terminal(tick: Tick) -> None:
    stream = Terminal()
    passes = Passes(shown=True, stream=stream)
    told = passes.fits("x" * 200)
    assert told is not None
    tick(1)
    told(1, 2)
    assert len(stream.getvalue()) == 80  # with the return to its beginning


def test_what_progress_may_be() -> None:
    assert [check_progress(asked) for asked in (None, True, False)] == [None, True, False]
    with pytest.raises(InputError, match="progress='yes'"):
        check_progress("yes")  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (60, "1 min 00 s"),
        (3599.4, "59 min 59 s"), (3600, "1 h 00 min"), (100 * 3600, "100 h 00 min"),
    ],
)  # fmt: skip
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10.0 thousand"), (999_999, "1.00 million"), (123e6, "123 million")],
)
def test_many(count: float, shown: str) -> None:
    assert many(count) == shown
