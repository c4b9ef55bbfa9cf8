"""`softlabel replicate all`: everything that can be repeated, one after the other."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from softlabel.report.files import write_whole
from softlabel.report.layout import wrapped
from softlabel.report.style import require_matplotlib

__all__ = ["EveryFound", "Part", "replicate_all"]

# "module:function", its replications where none are asked for, and further arguments.
Part = tuple[str, int | None, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class EveryFound:
    """What each found, by name, and how long it took: that is no part of what was found."""

    parts: Mapping[str, Any]
    seconds: dict[str, float] = field(default_factory=dict, compare=False)

    def summary(self) -> str:
        """Return what was run, and the page of each."""
        each = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.seconds.items())
        listed = "\n".join(["Everything", wrapped(f"{sum(self.seconds.values()):.1f} s in all: {each}.")]) + "\n"
        return "\n".join([listed, *(found.summary() for found in self.parts.values())])

    def to_json(self, *, indent: int | None = None) -> str:
        """Return what each found as one JSON object, by name."""
        return json.dumps({name: json.loads(found.to_json()) for name, found in self.parts.items()}, indent=indent)

    def write(self, folder: Path) -> None:
        """Write the files of each; of one that has none, its page and its JSON."""
        for name, found in self.parts.items():
            if hasattr(found, "write"):
                found.write(folder)
            else:
                write_whole(folder / f"{name}.txt", _writer(found.summary()))
                write_whole(folder / f"{name}.json", _writer(found.to_json(indent=2) + "\n"))


def replicate_all(
    replications: int | None = None,
    *,
    parts: Mapping[str, Part],
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    progress: bool | None = None,
    data: str | None = None,
) -> EveryFound:
    """Run the parts in their order; ``data`` goes to those that read a folder of yours, the other arguments to all.

    Without a folder to resume from there is one for the time being: figures are made of the tables' replications.
    """
    if "figures" in parts:
        require_matplotlib()
    found: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    with TemporaryDirectory(prefix="softlabel-") as temporary:
        for name, (runner, default, given) in parts.items():
            start = perf_counter()
            module, function = runner.split(":")
            found[name] = getattr(importlib.import_module(module), function)(
                default if replications is None else replications,
                workers=workers,
                seed=seed,
                resume=temporary if resume is None else resume,
                progress=progress,
                **{option: data if option == "data" else value for option, value in given.items()},
            )
            seconds[name] = perf_counter() - start
    return EveryFound(found, seconds)


def _writer(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return write
