"""Finished replications on disk: one JSON line each, under a header that says whose they are."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from softlabel.errors import SourceError, StateError

__all__ = ["Ledger", "Values"]

Values = Mapping[str, float | None]

_FORMAT = 1


class Ledger:
    """A file of finished replications that can be continued.

    The first line names the seed, the experiment and the version of softlabel; a file of another run
    is refused. Lines are only ever appended. What follows the last line break is a line that was
    being written when the run stopped: it is cut off, and its replication is done again.
    """

    def __init__(self, path: str | Path, *, seed: int, experiment: str) -> None:
        self._path = Path(path)
        self._header = {
            "softlabel": "montecarlo",
            "format": _FORMAT,
            "version": _version(),
            "seed": seed,
            "experiment": experiment,
        }

    def open(self) -> dict[int, Values]:
        """Return the finished replications by index, and make the file ready for more."""
        head = _line(self._header)
        try:
            content = self._path.read_bytes() if self._path.exists() else b""
            whole, broken = content[: content.rfind(b"\n") + 1], content[content.rfind(b"\n") + 1 :]
            if not whole:
                # Nothing, or the beginning of our own header: anything else is not ours to overwrite.
                if not head.startswith(broken):
                    raise self._refused("a file that is not a Monte Carlo record")
                self._path.write_bytes(head)
                return {}
            done = self._read(whole.decode())
            if broken:
                with self._path.open("r+b") as file:
                    file.truncate(len(whole))
        except UnicodeDecodeError:
            raise self._refused("a file that is not a Monte Carlo record") from None
        except OSError as error:
            raise self._failed(error) from error
        return done

    def append(self, finished: Iterable[tuple[int, Values]]) -> None:
        """Write finished replications; what is written survives an interrupt."""
        lines = b"".join(_line({"i": index, "v": dict(values)}) for index, values in finished)
        if not lines:
            return
        try:
            with self._path.open("ab") as file:
                file.write(lines)
        except OSError as error:
            raise self._failed(error) from error

    def _read(self, text: str) -> dict[int, Values]:
        head, *lines = text.splitlines()
        self._check_header(head)
        done: dict[int, Values] = {}
        for number, line in enumerate(lines, start=2):
            try:
                entry = json.loads(line)
                index, values = int(entry["i"]), dict(entry["v"])
            except (ValueError, TypeError, KeyError):
                raise self._refused(f"line {number} that is no finished replication") from None
            if done.setdefault(index, values) != values:
                raise self._refused(f"line {number} that contradicts an earlier one")
        return done

    def _check_header(self, line: str) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("softlabel") != "montecarlo":
            raise self._refused("a file that is not a Monte Carlo record")
        wrong = [key for key, value in self._header.items() if found.get(key) != value]
        if wrong:
            raise StateError(
                expected=f"{self._path} to hold {_shown(self._header, wrong)}",
                found=_shown(found, wrong),
                fix="Resume with another file, or repeat the run that this file belongs to",
            )

    def _refused(self, found: str) -> StateError:
        return StateError(
            expected=f"{self._path} to hold the replications of an earlier run",
            found=found,
            fix="Give resume= another file, or delete this one",
        )

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(
            expected=f"to read and write {self._path}",
            found=error.strerror or str(error),
            fix="Give resume= a file in a directory that exists and may be written",
        )


def _line(entry: Mapping[str, object]) -> bytes:
    # repr of a float, which json uses, reads back to the same float.
    return json.dumps(entry, allow_nan=False).encode() + b"\n"


def _shown(header: Mapping[str, object], keys: Iterable[str]) -> str:
    return ", ".join(f"{key} {header.get(key)!r}" for key in keys)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("softlabel")
    except PackageNotFoundError:
        return "unknown"
