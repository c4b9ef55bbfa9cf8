"""What can be asked on the command line, and the pages of help that teach it."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from softlabel.cli.options import (
    add_audit,
    add_controls,
    add_errors,
    add_estimates,
    add_features,
    add_files,
    add_making,
    add_output,
    add_roles,
    add_rows,
)
from softlabel.cli.pages import (
    CHECK,
    CHECK_EPILOG,
    DEMO,
    DEMO_EPILOG,
    DIAGNOSE,
    DIAGNOSE_EPILOG,
    MAIN,
    MAIN_EPILOG,
    PLAN,
    PLAN_EPILOG,
    REPLICATE,
    REPLICATE_EPILOG,
    SCORE,
    SCORE_EPILOG,
)
from softlabel.cli.pilot import fill_target
from softlabel.cli.replicating import fill_replicate
from softlabel.cli.scoring import fill_score

__all__ = ["build", "parse"]

# As wide as the pages that are printed.
_WIDTH = 96
_OPTION_WIDTH = 28


def parse(arguments: Sequence[str] | None, say: Callable[[str], None]) -> argparse.Namespace:
    """Return what was asked; stop with a page of help, the version or the usage where that is all there is to say."""
    parser, commands = build(say)
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        commands[options.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def build(say: Callable[[str], None]) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser, and those of its commands by name; ``say`` prints."""
    parser = _Parser(
        prog="softlabel",
        usage="softlabel COMMAND [options]",
        description=MAIN,
        epilog=MAIN_EPILOG,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, say=say)
    added = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, line, usage, description, epilog, fill in (
        ("demo", "a hospital study from table to verdict, or a census", "", DEMO, DEMO_EPILOG, _fill_demo),
        ("check", "what the data can and cannot answer", " FILE ...", CHECK, CHECK_EPILOG, _fill_check),
        (
            "diagnose",
            "files in, verdict out",
            " FILE ... --outcome COLUMN --score COLUMN",
            DIAGNOSE,
            DIAGNOSE_EPILOG,
            _fill_diagnose,
        ),
        (
            "score",
            "features to scores one may regress on",
            " FILE ... --features COLUMN ... --group COLUMN --output FILE",
            SCORE,
            SCORE_EPILOG,
            fill_score,
        ),
        (
            "plan",
            "labels needed for a standard error",
            " [FILE ... | --pilot JSON] --target-se S",
            PLAN,
            PLAN_EPILOG,
            _fill_plan,
        ),
        (
            "replicate",
            "the simulations behind the claims",
            " WHAT",
            REPLICATE,
            REPLICATE_EPILOG,
            fill_replicate,
        ),
    ):
        commands[name] = added.add_parser(
            name,
            help=line,
            prog=f"softlabel {name}",
            usage=f"softlabel {name}{usage} [options]",
            description=description,
            epilog=epilog,
            formatter_class=_Formatter,
            allow_abbrev=False,
        )
        fill(commands[name])
    return parser, commands


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Lines as written, and options in two columns, no wider than the pages that are printed."""

    def __init__(self, prog: str, **options: Any) -> None:
        width = min(shutil.get_terminal_size().columns, _WIDTH) - 2
        super().__init__(prog, **{"max_help_position": _OPTION_WIDTH, "width": width, **options})


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say what may have been meant."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Remember what was given, for the hints."""
        self._given = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the usage, what is wrong, and what may have been meant; stop."""
        hints = "".join(f"\nDid you mean {meant} instead of {given}?" for given, meant in self._meant(message))
        self.exit(2, f"{self.format_usage()}{self.prog}: error: {message}{hints}\nSee {self.prog} --help\n")

    def _meant(self, message: str) -> list[tuple[str, str]]:
        """Return what was given and is unknown, beside the known name that it resembles."""
        known = list(self._option_string_actions)
        unknown = [word.split("=")[0] for word in self._given if word.startswith("--")]
        unknown = [word for word in dict.fromkeys(unknown) if word not in known]
        if "invalid choice" in message:
            # The command is misspelt: options are not this parser's.
            known = [name for action in self._actions for name in (action.choices or ())]
            unknown = [word for word in self._given if not word.startswith("-")][:1]
        close = ((word, get_close_matches(word, known, n=1)) for word in unknown)
        return [(word, found[0]) for word, found in close if found]


class _Version(argparse.Action):
    """Print the version; looked up only when asked for, for it is slow."""

    def __init__(self, option_strings: Sequence[str], dest: str, say: Callable[[str], None], **_: object) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="print the version and stop")
        self._say = say

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        self._say(f"softlabel {version('softlabel')}")
        parser.exit()


def _fill_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--adult", action="store_true", help="a census in place of the hospital: real data, no score")
    parser.add_argument("--seed", type=int, default=3, metavar="N", help="which patients, or labels (default: 3)")
    parser.add_argument("--output", metavar="FILE", help="also write the rows to a .csv or .parquet file")


def _fill_check(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    add_roles(parser, required=False)
    add_controls(parser.add_argument_group("how controls enter"))
    add_audit(parser.add_argument_group("what may audit the score"))
    add_rows(parser.add_argument_group("weights and missing values"))
    add_output(parser, "page")


def _fill_diagnose(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    add_roles(parser, required=True)
    controls = parser.add_argument_group("how controls enter")
    add_controls(controls)
    controls.add_argument(
        "--basis", metavar="NAME", help="numeric controls as spline, bspline or linear (default: spline)"
    )
    controls.add_argument(
        "--learner",
        nargs="+",
        metavar="NAME",
        help="regress on them by linear, quadratic, spline, ridge, forest or boosting instead",
    )
    add_features(add_audit(parser.add_argument_group("what may audit the score")))
    add_making(parser.add_argument_group("how a score is made of --features, where there is none"))
    add_estimates(parser.add_argument_group("estimates"))
    errors = parser.add_argument_group("errors, weights and folds")
    add_errors(errors)
    add_rows(errors)
    add_output(parser, "summary").add_argument(
        "--html", metavar="OUT", help="also write one page with figures, to read offline and hand on"
    )


def _fill_plan(parser: argparse.ArgumentParser) -> None:
    fill_target(parser)
    add_files(parser, "*").add_argument("--pilot", metavar="JSON", help="what diagnose --json wrote, in place of FILE")
    add_roles(parser, required=False)
    add_controls(parser.add_argument_group("how controls enter"))
    add_features(add_audit(parser.add_argument_group("what may audit the score")))
    add_rows(parser.add_argument_group("weights and missing values"))
    add_output(parser, "page")
