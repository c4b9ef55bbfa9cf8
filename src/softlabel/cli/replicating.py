"""`softlabel replicate`: what can be repeated, its options, and its call.

One line of `REPLICATIONS` adds a command. Its runner is named, not imported: simulations are heavy to import.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from softlabel.errors import InputError

__all__ = ["REPLICATIONS", "Found", "Replication", "fill_replicate", "replicate", "write_found"]


class Found(Protocol):
    """What a runner returns; where `Replication.out` says so, also ``write(folder)``."""

    def summary(self) -> str:
        """Return everything as a page of text."""

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""


@dataclass(frozen=True, slots=True)
class Replication:
    """One thing that can be repeated.

    Attributes
    ----------
    help
        What it is, for the page of help.
    runner
        "module:function". The function is called with the replications, or ``None`` where they are not asked for and
        have no default here, and with ``workers``, ``seed``, ``resume`` and ``progress`` by name.
    replications
        How many where ``--reps`` is not given; ``None`` leaves it to the runner.
    given
        Further arguments of the runner, by name.
    takes
        Names of options that it takes besides; any other is refused, never ignored.
    out
        Whether ``--out`` is "refused", "taken" or "needed".
    """

    help: str
    runner: str
    replications: int | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    out: Literal["refused", "taken", "needed"] = "refused"


def _table(number: int) -> dict[str, Any]:
    return {"tables": (f"table{number}",)}


_TABLES = "softlabel.replicate.paper:replicate_tables"

REPLICATIONS: dict[str, Replication] = {
    "rules": Replication(
        "which estimator or rule to use, where the target is known",
        "softlabel.replicate:replicate_rules",
        1000,
        takes=("scenarios",),
    ),
    "scores": Replication(
        "scores of features: calibrators, splits, their checks, noise",
        "softlabel.replicate.scoring:replicate_scores",
        200,
    ),
    "table1": Replication("the paper's table 1: a threshold's attenuation", _TABLES, None, _table(1), out="taken"),
    "table2": Replication("table 2: the sandwich variance of soft", _TABLES, None, _table(2), out="taken"),
    "table3": Replication("table 3: confident sets", _TABLES, None, _table(3), out="taken"),
    "table4": Replication("table 4: calibration that drifts", _TABLES, None, _table(4), out="taken"),
    "table5": Replication("table 5: V* without features of its own", _TABLES, None, _table(5), out="taken"),
    "tables": Replication("all five, with the paper's replications", _TABLES, out="taken"),
    "adult": Replication(
        "the paper's real data, and where exclusion holds in it",
        _TABLES,
        None,
        {"tables": ("adult",)},
        out="taken",
    ),
    "studies": Replication(
        "more real data: where soft is right, where a threshold is free",
        "softlabel.replicate.studies:replicate_studies",
        10,
        takes=("data",),
        out="taken",
    ),
    "figures": Replication(
        "the paper's figures, from its tables", "softlabel.replicate.paper:replicate_figures", out="needed"
    ),
}

# Parts of others, which "all" has no need to name.
_PARTS = {name for name in REPLICATIONS if name.startswith("table") and name != "tables"}


def _part(one: Replication) -> tuple[str, int | None, dict[str, Any]]:
    """Return what "all" is told of a runner; its own options are left to it, but for the folder of data."""
    return one.runner, one.replications, {**one.given, **({"data": None} if "data" in one.takes else {})}


REPLICATIONS["all"] = Replication(
    f"{', '.join(name for name in REPLICATIONS if name not in _PARTS)}, in this order",
    "softlabel.replicate.every:replicate_all",
    None,
    {"parts": {name: _part(one) for name, one in REPLICATIONS.items() if name not in _PARTS}},
    takes=("data",),
    out="needed",
)

# Options that some runners take and others do not.
_OWN = ("scenarios", "data")


def fill_replicate(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command, and what can be repeated to its description."""
    listed = "\n".join(f"  {name:<10}{one.help}{_default(one)}" for name, one in REPLICATIONS.items())
    parser.description = f"{parser.description}\n\nWHAT is one of, with --reps where none are given:\n{listed}"
    parser.add_argument("what", choices=tuple(REPLICATIONS), metavar="WHAT", help="what to repeat, see above")
    add = parser.add_argument_group("simulation").add_argument
    add(
        "--reps",
        "--replications",
        dest="replications",
        type=int,
        metavar="N",
        help="replications (default: above)",
    )
    add("--workers", type=int, default=1, metavar="N", help="processes that share the work (default: 1)")
    add("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    add("--resume", metavar="DIR", help="keep finished replications there, and go on from those that are there")
    add("--scenarios", nargs="+", metavar="NAME", help="some scenarios only, of rules (default: all)")
    add("--data", metavar="DIR", help="a folder with data that do not ship, for studies and all")
    output = parser.add_argument_group("output").add_argument
    output("--out", metavar="DIR", help="write tables and figures there")
    output("--json", metavar="OUT", help="write everything as JSON; - prints it in place of the page")
    output(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="say on stderr how far each simulation is (default: on a terminal)",
    )


def _default(one: Replication) -> str:
    return "" if one.replications is None else f" ({one.replications})"


def replicate(options: argparse.Namespace) -> Found:
    """Run what was asked for."""
    asked = REPLICATIONS[options.what]
    _check(options, asked)
    module, name = asked.runner.split(":")
    runner = getattr(importlib.import_module(module), name)
    own: dict[str, Any] = {**asked.given, **{option: getattr(options, option) for option in asked.takes}}
    found: Found = runner(
        asked.replications if options.replications is None else options.replications,
        workers=options.workers,
        seed=options.seed,
        resume=options.resume,
        progress=options.progress,
        **own,
    )
    return found


def write_found(found: Any, folder: str | None) -> None:
    """Write what was found to the folder that was asked for."""
    if folder is not None:
        found.write(Path(folder))


def _check(options: argparse.Namespace, asked: Replication) -> None:
    """Refuse what would be ignored, and a folder that cannot be written, before the work."""
    for option in _OWN:
        if getattr(options, option) is not None and option not in asked.takes:
            raise _wrong(f"no --{option} for {options.what}, which has none", f"--{option}", f"Leave out --{option}")
    if options.out is None:
        if asked.out == "needed":
            raise _wrong(f"--out for {options.what}", "none", "Name the folder to write to: --out DIR")
        return
    if asked.out == "refused":
        raise _wrong(f"no --out for {options.what}, which writes no files", "--out", "Leave it out, or use --json")
    try:
        Path(options.out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = f"{options.out!r}: {error.strerror}"
        raise _wrong("--out to name a folder", found, "Name another one") from error


def _wrong(expected: str, found: str, fix: str) -> InputError:
    return InputError(expected=expected, found=found, fix=fix)
