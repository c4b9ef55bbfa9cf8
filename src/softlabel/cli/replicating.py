"""`softlabel replicate`: its options, and its call. Scenarios are imported when they are asked for: they are heavy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softlabel.replicate import RulesFound

__all__ = ["fill_replicate", "replicate"]


def fill_replicate(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("what", choices=("rules",), metavar="WHAT", help="rules: which estimator or rule to use")
    add = parser.add_argument_group("simulation").add_argument
    add("--replications", type=int, default=1000, metavar="N", help="of every scenario (default: 1000)")
    add("--workers", type=int, default=1, metavar="N", help="processes that share the work (default: 1)")
    add("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    add("--resume", metavar="DIR", help="keep finished replications there, and go on from those that are there")
    add("--scenarios", nargs="+", metavar="NAME", help="some scenarios only (default: all)")
    output = parser.add_argument_group("output").add_argument
    output("--json", metavar="OUT", help="write everything as JSON; - prints it in place of the page")
    output(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="say on stderr how far each scenario is (default: on a terminal)",
    )


def replicate(options: argparse.Namespace) -> RulesFound:
    """Run what was asked for."""
    from softlabel.replicate import replicate_rules

    return replicate_rules(
        options.replications,
        workers=options.workers,
        seed=options.seed,
        resume=options.resume,
        scenarios=options.scenarios,
        progress=options.progress,
    )
