"""A line on the terminal that says how far a long run is: replications, passes over rows, fits of a learner."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from time import monotonic
from typing import Self, TextIO, TypeVar

from softlabel.errors import InputError

__all__ = ["Line", "Passes", "Progress", "check_progress", "duration", "many"]

_PAUSE = 0.1  # seconds between two updates of the line: quicker ones cannot be read
_PATIENCE = 1.0  # seconds of reading that nobody needs to be told of
_SETTLED = 0.5  # seconds after which a rate means something: at first the threads are only being given work
_WIDTH = 79  # a longer line would wrap on a narrow terminal, and a wrapped line cannot be rewritten

Item = TypeVar("Item")


def check_progress(progress: bool | None) -> bool | None:
    """Return whether to show progress, or say what may be asked for."""
    if progress is not None and not isinstance(progress, bool):
        raise InputError(
            expected="progress to be True, False or None",
            found=f"progress={progress!r}",
            fix="Leave it out to see a line on a terminal only, when the work is long",
        )
    return progress


class Line:
    """One line of a stream, rewritten in place.

    Parameters
    ----------
    shown
        True or False forces; None shows the line on a terminal only.
    patience
        Seconds to wait before the first line.
    stream
        Where to write; stderr unless told.
    """

    def __init__(self, shown: bool | None, *, patience: float = 0.0, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        # Services start programs without a stderr.
        self.shown = self._stream is not None and (self._stream.isatty() if shown is None else shown)
        self._next = monotonic() + max(patience, _PAUSE)
        self._width = 0

    def due(self, now: float) -> bool:
        """Tell whether it is time to rewrite the line."""
        return self.shown and now >= self._next

    def write(self, text: str, now: float) -> None:
        """Put the text where the line was."""
        if self.shown:
            text = text[:_WIDTH]
            self._put("\r" + text.ljust(self._width))
            self._width, self._next = len(text), now + _PAUSE

    def erase(self) -> None:
        """Leave nothing of the line."""
        if self._width:
            self._put("\r" + " " * self._width + "\r")
            self._width = 0

    def end(self) -> None:
        """Leave the line standing, and go to the next."""
        if self.shown:
            self._put("\n")
            self._width = 0

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Whoever read it has gone; the work goes on.
            self.shown = False


class Progress:
    """Count finished pieces of work, and say on a line how many, their rate and the time left.

    Parameters
    ----------
    total, done
        Pieces asked for, and those already finished when the run starts; ``None``: nobody knows how many.
    line
        Where to say so.
    what
        Called with (done, total), returns the beginning of the line.
    """

    def __init__(self, total: int | None, done: int, *, line: Line, what: Callable[[int, int | None], str]) -> None:
        self._line, self._what = line, what
        self.total, self.done = total, done
        self._before = done
        self._start = monotonic()
        self._drawn = -1

    def advance(self, count: int) -> None:
        """Count more finished pieces, and rewrite the line when it is time."""
        self.done += count
        now = monotonic()
        if self._line.due(now):
            self._draw(now)

    def close(self) -> None:
        """Leave the last state of the line standing, and end it."""
        if self._drawn != self.done:
            self._draw(monotonic())
        self._line.end()

    def _draw(self, now: float) -> None:
        self._drawn = self.done
        text = self._what(self.done, self.total)
        since = now - self._start
        rate = (self.done - self._before) / max(since, 1e-9)
        if rate > 0.0 and since >= _SETTLED:
            text += f", {many(rate) if rate >= 1e4 else f'{rate:.3g}'}/s" if rate >= 1.0 else ""
            text += f", {duration(1.0 / rate)} each" if rate < 1.0 else ""
            text += "" if self.total is None else f", {duration(max(self.total - self.done, 0) / rate)} left"
        self._line.write(text, now)


class Passes:
    """Say how far a run over rows is: which pass, how many rows, how fast, how long still.

    Nothing is said before a second has gone unless it is asked for, and nothing is left when it is closed.

    Parameters
    ----------
    shown
        True or False forces; None shows the line on a terminal only, and only if the run is long.
    stream
        Where to write; stderr unless told.

    Examples
    --------
    >>> with Passes(shown=False) as passes:
    ...     passes.expect(["look", "fit"])
    ...     sum(passes.over([1, 2, 3], size=lambda item: item))
    6
    """

    def __init__(self, shown: bool | None = False, *, stream: TextIO | None = None) -> None:
        self._line = Line(shown, patience=_PATIENCE if shown is None else 0.0, stream=stream)
        self._names: tuple[str, ...] = ()
        self._at = 0
        self._rows: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.erase()

    @property
    def shown(self) -> bool:
        """Whether anybody may see it."""
        return self._line.shown

    def expect(self, names: Sequence[str], rows: int | None = None) -> None:
        """Announce the passes to come, and how many rows each reads, if that is known."""
        self._names, self._at, self._rows = tuple(names), 0, rows

    def over(self, items: Iterable[Item], size: Callable[[Item], int]) -> Generator[Item, None, None]:
        """Yield the items of the next pass.

        Once another is asked for, the one before counts as read; with threads a few of them are still being worked on.
        """
        try:
            if self.shown:
                yield from self._counted(items, size)
            else:
                yield from items
        finally:
            if isinstance(items, Generator):
                items.close()

    def _counted(self, items: Iterable[Item], size: Callable[[Item], int]) -> Generator[Item, None, None]:
        self._at += 1
        progress = Progress(self._rows, 0, line=self._line, what=self._said(self._at))
        rows = 0
        for item in items:
            yield item
            rows += size(item)
            progress.advance(size(item))
        # Every pass reads the same rows, so from the second on the time left is known.
        self._rows = rows

    def _said(self, at: int) -> Callable[[int, int | None], str]:
        name = f" ({self._names[at - 1]})" if at <= len(self._names) else ""
        which = f"pass {at} of {max(len(self._names), at)}{name}: " if len(self._names) > 1 else "reading: "

        def what(done: int, total: int | None) -> str:
            if total is None:
                return f"{which}{many(done)} rows"
            # "1.2 of 4.0 million" is short enough for all that follows to fit.
            now, end = many(done), many(total)
            unit = end.partition(" ")[2]
            return f"{which}{now.removesuffix(f' {unit}') if unit else now} of {end} rows"

        return what

    def fits(self, name: str) -> Callable[[int, int], None] | None:
        """Return what is to be called with (done, total) after every fit; ``None`` if nobody looks."""
        if not self.shown:
            return None
        progress = Progress(None, 0, line=self._line, what=lambda done, total: f"{name}: fit {done} of {total}")

        def called(done: int, total: int) -> None:
            progress.total = total
            progress.advance(done - progress.done)

        return called


def many(count: float) -> str:
    """Return a large number in the few digits that matter.

    Examples
    --------
    >>> many(9_999), many(12_345), many(1_234_567), many(2.5e9)
    ('9,999', '12.3 thousand', '1.23 million', '2.50 billion')
    """
    # What three digits would round up to the next name has that name.
    for least, size, name in ((999.5e6, 1e9, "billion"), (999.5e3, 1e6, "million"), (1e4, 1e3, "thousand")):
        if count >= least:
            value = count / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {name}"
    return f"{count:,.0f}"


def duration(seconds: float) -> str:
    """Return a span of time in the two units that matter.

    Examples
    --------
    >>> duration(0.25), duration(59.6), duration(3599), duration(90000)
    ('0.2 s', '1 min 00 s', '59 min 59 s', '25 h 00 min')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
