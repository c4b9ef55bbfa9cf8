"""A folder for finished replications."""

from __future__ import annotations

from pathlib import Path

from softlabel.errors import InputError

__all__ = ["folder_of"]


def folder_of(path: str | Path) -> Path:
    """Return the folder of that name, made if need be."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            expected="resume to name a folder", found=f"{str(path)!r}: {error.strerror}", fix="Name another one"
        ) from error
    return folder
