"""What a plan is made of: a target, and numbers or a pilot, which is a saved diagnosis or files to diagnose."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softlabel.diagnose import diagnose
from softlabel.errors import InputError, StateError
from softlabel.results import Diagnosis

__all__ = ["PLANNED", "fill_target", "pilot_of"]

# What is the plan's own among the options; the rest are of the diagnosis.
PLANNED = (
    "target_se",
    "n_unlabelled",
    "labels",
    "richer",
    "level",
    "tau",
    "noise_sd",
    "group_variance",
    "v_star",
    "uncertainty",
    "n_labelled",
)

_DEFAULTS = {"weight_type": "sampling", "missing": "raise"}
_RUNNING = ("threads", "progress")


def fill_target(parser: argparse.ArgumentParser) -> None:
    """Add the options that are the plan's own."""
    add = parser.add_argument_group("target").add_argument
    add("--target-se", type=float, required=True, metavar="S", help="standard error to reach")
    add("--n-unlabelled", type=int, metavar="N", help="unlabelled rows with a score (default: the pilot's)")
    add("--labels", nargs="+", type=int, metavar="N", help="labelled rows to show standard errors at")
    add("--richer", nargs="+", type=float, metavar="SHARE", help="scores to compare: share of the group known, 0 to 1")
    add("--level", type=float, default=0.95, metavar="L", help="of confidence intervals (default: 0.95)")
    add = parser.add_argument_group("numbers in place of a pilot").add_argument
    add("--tau", type=float, metavar="T", help="effect of the group that is expected")
    add("--noise-sd", type=float, metavar="S", help="standard deviation of the outcome given group and controls")
    add("--group-variance", type=float, metavar="V", help="variance of the group given the controls, at most 0.25")
    add("--v-star", type=float, metavar="V", help="V*: variance of the score given the controls")
    add("--uncertainty", type=float, metavar="U", help="what the score leaves open (default: as of Beta scores)")
    add("--n-labelled", type=int, metavar="N", help="labelled rows there are already")


def pilot_of(options: argparse.Namespace, asked: Mapping[str, Any]) -> Diagnosis | None:
    """Return the pilot; ``asked`` is what was asked of its diagnosis."""
    given = [
        name for name, value in asked.items() if name not in _RUNNING and value not in (None, (), _DEFAULTS.get(name))
    ]
    if not options.files and given:
        raise InputError(
            expected="the files of a pilot, since its columns are named",
            found=", ".join(f"--{name.replace('_', '-')}" for name in given),
            fix="Name the files first; with --pilot, or with numbers alone, leave these options out",
        )
    if options.pilot is not None:
        if options.files:
            raise InputError(
                expected="one pilot",
                found=f"--pilot {options.pilot} and the files {', '.join(options.files)}",
                fix="Leave one of the two out",
            )
        return _saved(options.pilot)
    if not options.files:
        return None
    missing = [f"--{name}" for name in ("outcome", "score", "group") if asked[name] is None]
    if missing:
        raise InputError(
            expected="--outcome, --score and --group, to diagnose the files",
            found=f"no {' and no '.join(missing)}",
            fix=f"softlabel check {options.files[0]} says what the columns could be",
        )
    # Thresholds have no part in a plan.
    return diagnose(options.files, **asked, thresholds=(), confident=())


def _saved(path: str) -> Diagnosis:
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            expected="--pilot to name a file that diagnose --json wrote",
            found=f"{path!r}: {error.strerror or error}",
            fix="Check the spelling of the path",
        ) from error
    try:
        return Diagnosis.from_json(text)
    except StateError as error:
        raise InputError(
            expected=f"what diagnose --json wrote in {path!r}",
            found=error.found,
            fix=f"{error.fix}. A table is no pilot yet: name it without --pilot, with --outcome, --score and --group",
        ) from error
