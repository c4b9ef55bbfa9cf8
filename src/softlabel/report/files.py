"""Output files: whole or not there at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from softlabel.errors import InputError, SourceError

__all__ = ["check_target", "write_whole"]


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that a name leads to, links followed; raise if it can be no file."""
    # An empty name would otherwise stand for the folder we are in.
    target = Path(os.path.realpath(path)) if os.fspath(path) else Path()
    if os.fspath(path).startswith(("/dev/", "/proc/")):
        raise InputError(
            expected="a file to write",
            found=repr(os.fspath(path)),
            fix="Use - where it stands for standard output",
        )
    if (target.exists() and not target.is_file()) or not target.parent.is_dir():
        raise InputError(
            expected="a file to write in a folder that exists",
            found=repr(os.fspath(path)),
            fix="Make the folder first, or name another file",
        )
    return target


def write_whole(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Call ``write`` with a temporary name beside ``path`` and rename it there once it is done.

    Whatever goes wrong, no half-written file is left and an existing one stays as it was.
    """
    target = check_target(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
        os.close(handle)
    except OSError as error:
        raise _unwritable(path, error) from error
    temporary = Path(name)
    try:
        write(temporary)
        # mkstemp keeps the file private; the result gets the permissions a new file would have.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(target)
    except SourceError:
        # The data could not be read while they were written: that is said as it is.
        raise
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def _unwritable(path: str | os.PathLike[str], error: OSError) -> InputError:
    return InputError(
        expected=f"to write {os.fspath(path)}",
        found=error.strerror or str(error),
        fix="Name a file in a folder you may write to",
    )
