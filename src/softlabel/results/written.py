"""Written: results as JSON and back, of one schema version and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from softlabel.errors import StateError

__all__ = ["read_json", "write_json"]

Record = TypeVar("Record")


def write_json(record: object, indent: int | None) -> str:
    """Return a record as JSON, on one line or indented."""
    text = msgspec.json.encode(record)
    return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def read_json(kind: type[Record], text: str | bytes, version: int, again: str) -> Record:
    """Return the record of this kind that `write_json` wrote; ``again`` says how to come by another.

    One of another schema version is refused, and so is one with keys that the kind does not have.
    """
    name = kind.__name__
    try:
        found = msgspec.json.decode(text, type=_Versioned).schema_version
        if found == version:
            record = msgspec.json.decode(text, type=kind)
            if _holds(msgspec.json.decode(msgspec.json.encode(record)), msgspec.json.decode(text)):
                return record
            raise msgspec.ValidationError(f"keys that a {name} does not have")
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
        raise StateError(
            expected=f"JSON written by {name}.to_json",
            found=str(error),
            fix="Check that the file is whole and was not edited",
        ) from error
    raise StateError(
        expected=f"a {name} of schema version {version}",
        found=f"version {found}",
        fix=f"Read it with the softlabel version that wrote it, or {again}",
    )


def _holds(known: Any, given: Any) -> bool:
    """Return whether every key that was given, at any depth, is one that was understood."""
    if isinstance(given, dict):
        return all(key in known and _holds(known[key], value) for key, value in given.items())
    if isinstance(given, list):
        return all(map(_holds, known, given))
    return True


@dataclass(frozen=True, slots=True)
class _Versioned:
    schema_version: int
