"""A line on the terminal that says how far a long run is."""

import sys
from time import monotonic
from typing import TextIO

__all__ = ["Progress", "duration"]

_PAUSE = 0.1  # seconds between two updates of the line: quicker ones cannot be read


class Progress:
    """Count finished replications on stderr, with their rate and the time left.

    Parameters
    ----------
    total, done
        Replications asked for, and those already finished when the run starts.
    shown
        True or False forces; None shows the line on a terminal only.
    stream
        Where to write; stderr unless told.
    """

    def __init__(self, total: int, done: int, *, shown: bool | None, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty() if shown is None else shown
        self._total, self._before, self._done = total, done, done
        self._start = self._last = monotonic()
        self._width = 0
        self._drawn = -1

    def advance(self, count: int) -> None:
        """Count more finished replications, and redraw the line when it is time."""
        self._done += count
        now = monotonic()
        if now - self._last >= _PAUSE or self._done == self._total:
            self._last = now
            self._draw(now)

    def close(self) -> None:
        """Leave the last state of the line standing, and end it."""
        if self._drawn != self._done:
            self._draw(monotonic())
        if self._shown:
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self, now: float) -> None:
        self._drawn = self._done
        if not self._shown:
            return
        rate = (self._done - self._before) / max(now - self._start, 1e-9)
        line = f"{self._done} of {self._total} replications"
        if rate > 0.0:
            pace = f"{rate:.3g}/s" if rate >= 1.0 else f"{duration(1.0 / rate)} each"
            line += f", {pace}, {duration((self._total - self._done) / rate)} left"
        self._stream.write("\r" + line.ljust(self._width))
        self._stream.flush()
        self._width = len(line)


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
