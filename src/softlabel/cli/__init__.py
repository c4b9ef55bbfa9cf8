"""The command line: parses, calls, prints."""

from __future__ import annotations

import argparse
import glob
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from softlabel.checking import check
from softlabel.cli.parser import parse
from softlabel.cli.pilot import PLANNED, pilot_of
from softlabel.cli.replicating import Found, replicate, write_found
from softlabel.cli.scoring import score_files
from softlabel.diagnose import diagnose
from softlabel.errors import InputError, SoftlabelError
from softlabel.planning import plan
from softlabel.report import adult
from softlabel.report.demo import STORY, demo_table, diagnose_demo, outcome, same_from, write_demo
from softlabel.report.files import check_target, write_whole

__all__ = ["main"]

DONE, CANNOT_ANSWER, WRONG_CALL, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 done; 1 the data cannot answer; 2 wrong call; 130 interrupted. Errors are one paragraph on stderr.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character of some column's name shows its code instead.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parse(arguments, say=_say)
        return _COMMANDS[options.command](options)
    except BrokenPipeError:
        # The reader of a pipe, such as head, has gone: there is nobody to tell.
        _forget_output()
    except KeyboardInterrupt:
        print("softlabel: interrupted", file=sys.stderr)
        return INTERRUPTED
    except SoftlabelError as error:
        print(f"softlabel: {error}", file=sys.stderr)
        return WRONG_CALL if isinstance(error, InputError) else CANNOT_ANSWER
    except _Unprintable as error:
        _forget_output()
        print(f"softlabel: the output could not be written: {error}", file=sys.stderr)
        return CANNOT_ANSWER
    except OSError as error:
        print(f"softlabel: {error}", file=sys.stderr)
        return CANNOT_ANSWER
    return DONE


class _Unprintable(Exception):
    """Standard output took no more: a full disk behind a redirection, say."""


def _say(text: str) -> None:
    """Print to standard output at once; where it is closed there is nobody to tell."""
    if sys.stdout is None:
        return
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _Unprintable(error.strerror or str(error)) from error


def _forget_output() -> None:
    """Send what is still in the buffer nowhere, or it would fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _demo(options: argparse.Namespace) -> int:
    if options.adult:
        return _demo_adult(options)
    table = demo_table(options.seed)
    if options.output is not None:
        write_demo(table, options.output)
    diagnosis = diagnose_demo(table)
    _say(STORY)
    _say(outcome(diagnosis))
    _say(diagnosis.summary().removesuffix("\n"))
    if options.output is not None:
        _say(same_from(options.output))
    return DONE


def _demo_adult(options: argparse.Namespace) -> int:
    table = adult.demo_table(options.seed)
    if options.output is not None:
        write_demo(table, options.output)
    diagnosis = adult.diagnose_demo(table, options.seed)
    _say(adult.STORY)
    _say(adult.outcome(diagnosis, adult.every_label(table)))
    _say(diagnosis.summary().removesuffix("\n"))
    if options.output is not None:
        _say(adult.same_from(options.output, options.seed))
    return DONE


def _diagnose(options: argparse.Namespace) -> int:
    _check_json(options)
    _check_html(options)
    diagnosis = diagnose(options.files, **_asked(options))
    if options.html is not None:
        diagnosis.to_html(options.html)
    _print(diagnosis, options.json)
    return DONE


def _check(options: argparse.Namespace) -> int:
    _check_json(options)
    checkup = check(options.files, **_asked(options))
    _print(checkup, options.json)
    return DONE if checkup.ready else CANNOT_ANSWER


def _plan(options: argparse.Namespace) -> int:
    _check_json(options)
    asked = _asked(options)
    wanted = {name: asked.pop(name) for name in PLANNED}
    del asked["pilot"]
    _print(plan(pilot_of(options, asked), **wanted), options.json)
    return DONE


def _score(options: argparse.Namespace) -> int:
    _check_json(options)
    _refuse_inputs(options, options.output, "--output", "scored.parquet")
    _print(score_files(options), options.json)
    return DONE


def _replicate(options: argparse.Namespace) -> int:
    if options.json not in {None, "-"}:
        check_target(options.json)
    found = replicate(options)
    write_found(found, options.out)
    _print(found, options.json)
    return DONE


_COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "check": _check,
    "diagnose": _diagnose,
    "plan": _plan,
    "score": _score,
    "replicate": _replicate,
}


def _asked(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options as arguments of the function of the same name."""
    apart = ("command", "files", "json", "html", "formula")
    asked = {name: value for name, value in vars(options).items() if name not in apart}
    return asked if options.formula is None else {**asked, "controls": options.formula}


def _check_json(options: argparse.Namespace) -> None:
    """Refuse a target that cannot be written, or that is the data, before the work."""
    if options.json not in {None, "-"}:
        name = "diagnosis" if options.command == "diagnose" else options.command
        _refuse_inputs(options, options.json, "--json", f"{name}.json")


def _check_html(options: argparse.Namespace) -> None:
    """Refuse a page that cannot be written, or is to go where something else is, before the work."""
    if options.html is None:
        return
    if options.html == "-":
        raise InputError(expected="--html to name a file", found="'-'", fix="Name for instance diagnosis.html")
    _refuse_inputs(options, options.html, "--html", "diagnosis.html")
    if options.json not in {None, "-"} and check_target(options.json) == check_target(options.html):
        raise InputError(
            expected="--json and --html to name two files", found=repr(options.html), fix="Name another for one of them"
        )


def _refuse_inputs(options: argparse.Namespace, path: str, option: str, better: str) -> None:
    """Raise if a file that is to be written cannot be, or is one of those that are read."""
    target = check_target(path)
    inputs = {
        os.path.realpath(name)
        for pattern in (*options.files, *(options.labelled or ()), *filter(None, [getattr(options, "pilot", None)]))
        for name in (pattern, *glob.glob(pattern))  # noqa: PTH207  (a pattern may be absolute)
    }
    if str(target) in inputs:
        raise InputError(
            expected=f"{option} to name another file than the data", found=repr(path), fix=f"Name for instance {better}"
        )


def _print(result: Found, target: str | None) -> None:
    """Print the page, or the JSON in its place; write the JSON where it is to go."""
    if target == "-":
        _say(result.to_json(indent=2))
        return
    if target is not None:
        text = result.to_json(indent=2) + "\n"
        write_whole(target, lambda path: _write_text(path, text))
    _say(result.summary().removesuffix("\n"))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
