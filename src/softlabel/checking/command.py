"""Command: what to run next, as words that a shell or Python understands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any

__all__ = ["are_files", "as_call", "as_command"]


def are_files(*data: Any) -> bool:
    """Tell whether these are paths, so that a shell can name them; ``None`` is no data."""
    given = [path for each in data if each is not None for path in (each if isinstance(each, list | tuple) else [each])]
    return bool(given) and all(isinstance(path, str | os.PathLike) for path in given)


def as_command(command: str, files: Any, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words of a command line.

    Examples
    --------
    >>> " ".join(as_command("diagnose", "my visits.csv", {"outcome": "days", "weight_type": None}))
    "softlabel diagnose 'my visits.csv' --outcome days"
    """
    words = ["softlabel", command, *_quoted(files)]
    for name, value in options.items():
        if value is not None and value != ():
            words += [f"--{name.replace('_', '-')}", *_quoted(value)]
    return tuple(words)


def _quoted(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [shlex.quote(os.fsdecode(each) if isinstance(each, os.PathLike) else str(each)) for each in values]


def as_call(function: str, options: Mapping[str, Any], *, labelled: bool = False) -> tuple[str, ...]:
    """Return the words of a call in Python, of tables in variables named as the arguments are.

    Examples
    --------
    >>> " ".join(as_call("diagnose", {"outcome": "days", "controls": ("age", "sex"), "id": None}))
    "softlabel.diagnose(data, outcome='days', controls=['age', 'sex'])"
    """
    arguments = [["data"]]
    for name, value in options.items():
        if value is None or value == ():
            continue
        if isinstance(value, tuple):
            # A word for each name, which may have spaces of its own.
            *some, last = map(repr, value)
            first, *rest = [*(f"{one}," for one in some), f"{last}]"]
            arguments.append([f"{name}=[{first}", *rest])
        else:
            arguments.append([f"{name}={value!r}"])
    if labelled:
        arguments.append(["labelled=labelled"])
    words = [word for *some, last in arguments for word in (*some, f"{last},")]
    words[-1] = words[-1].removesuffix(",") + ")"
    return (f"softlabel.{function}({words[0]}", *words[1:])
