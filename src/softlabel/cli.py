"""The command line: parses, calls, prints."""

from __future__ import annotations

import argparse
import glob
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from softlabel.decision import RULES
from softlabel.diagnose import CONFIDENT, THRESHOLDS, diagnose
from softlabel.errors import InputError, SoftlabelError
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
        options = _parser().parse_args(arguments)
        options.run(options)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="softlabel",
        description="The effect of a group that is seen only through a classifier's score: "
        "what thresholding the score costs, and which estimate to use.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_diagnose(commands)
    return parser


class _Version(argparse.Action):
    """Print the version; looked up only when asked for, for it is slow."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: object) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="print the version and stop")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        _say(f"softlabel {version('softlabel')}")
        parser.exit()


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    demo = commands.add_parser(
        "demo",
        help="a hospital study from table to verdict, on simulated patients",
        description="Diagnose a simulated hospital study and compare with the truth it was made with.",
        allow_abbrev=False,
    )
    demo.add_argument("--seed", type=int, default=0, help="which patients (default: 0)")
    demo.add_argument("--output", metavar="FILE", help="also write the patients to a .csv or .parquet file")
    demo.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> None:
    table = demo_table(options.seed)
    if options.output is not None:
        write_demo(table, options.output)
    diagnosis = diagnose_demo(table)
    _say(STORY)
    _say(outcome(diagnosis))
    _say(diagnosis.summary().removesuffix("\n"))
    if options.output is not None:
        _say(same_from(options.output))


def _add_diagnose(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    sub = commands.add_parser(
        "diagnose",
        help="files in, verdict out",
        description="Estimate the effect of a group that is known on some rows and scored on all. "
        "Files come first: softlabel diagnose visits.parquet --outcome days --group g --score p",
        allow_abbrev=False,
    )
    add = sub.add_argument
    add("files", nargs="+", metavar="FILE", help="Parquet or CSV files (globs too), read as one table")
    add("--outcome", required=True, metavar="COLUMN", help="what the group is thought to change")
    add("--score", required=True, metavar="COLUMN", help="predicted probability of the group, 0 to 1")
    add("--group", metavar="COLUMN", help="0, 1, or empty where unknown; leave out if never known")
    controls = sub.add_mutually_exclusive_group()
    controls.add_argument("--controls", nargs="*", default=(), metavar="COLUMN", help="what to control for")
    controls.add_argument(
        "--formula",
        metavar="TERMS",
        help='the same as a formula that says how each enters: "age + C(region) + bs(income) + age:female"',
    )
    add("--labelled", nargs="+", metavar="FILE", help="files with the labelled rows, if they are apart")
    add("--thresholds", nargs="*", type=float, default=THRESHOLDS, metavar="T", help="where to threshold")
    add("--confident", nargs="*", type=float, default=CONFIDENT, metavar="T", help="confident sets")
    add("--basis", metavar="NAME", help="how numeric controls enter: spline, bspline, linear (default: spline)")
    add("--learner", nargs="+", metavar="NAME", help="regress on the controls by ridge, forest or boosting instead")
    add("--folds", type=_folds, default=5, metavar="N|none", help="for cross-fitting (default: 5)")
    add("--seed", type=int, default=0, help="of the dealing to folds (default: 0)")
    add("--weights", metavar="COLUMN", help="weights of the rows")
    add(
        "--weight-type",
        default="sampling",
        help="sampling: cases a row stands for; frequency: copies of it (default: sampling)",
    )
    add("--cluster", metavar="COLUMN", help="rows with the same value may depend on each other")
    add("--id", metavar="COLUMN", help="deal rows to folds by this column")
    add("--covariance", default="HC3", help="of the supervised estimate, HC0 to HC3 (default: HC3)")
    add("--rule", default="paper", help=f"which rule gives the verdict: {', '.join(RULES)} (default: paper)")
    add(
        "--kappa-tolerance",
        type=float,
        default=0.05,
        metavar="D",
        help="kappa is far from one if its interval lies outside 1 +- D (default: 0.05)",
    )
    add("--level", type=float, default=0.95, help="of confidence intervals (default: 0.95)")
    add("--missing", default="raise", help="raise, or drop incomplete rows and count them (default: raise)")
    add("--threads", type=int, metavar="N", help="default: one per core")
    add("--json", metavar="OUT", help="write everything as JSON; - prints it in place of the summary")
    sub.set_defaults(run=_diagnose)


def _folds(text: str) -> int | None:
    if text == "none":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor none") from None


def _diagnose(options: argparse.Namespace) -> None:
    if options.json not in (None, "-"):
        target = check_target(options.json)
        inputs = {
            os.path.realpath(name)
            for pattern in (*options.files, *(options.labelled or ()))
            for name in (pattern, *glob.glob(pattern))  # noqa: PTH207  (a pattern may be absolute)
        }
        if str(target) in inputs:
            raise InputError(
                expected="--json to name another file than the data",
                found=repr(options.json),
                fix="Name for instance diagnosis.json",
            )
    apart = ("run", "files", "json", "formula")
    asked = {name: value for name, value in vars(options).items() if name not in apart}
    if options.formula is not None:
        asked["controls"] = options.formula
    diagnosis = diagnose(options.files, **asked)
    if options.json == "-":
        _say(diagnosis.to_json(indent=2))
        return
    if options.json is not None:
        text = diagnosis.to_json(indent=2) + "\n"
        write_whole(options.json, lambda path: _write_text(path, text))
    _say(diagnosis.summary().removesuffix("\n"))


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
