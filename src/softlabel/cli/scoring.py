"""`softlabel score`: its options, and its call."""

from __future__ import annotations

import argparse

from softlabel.cli.options import add_controls, add_files, add_making, add_running
from softlabel.progress import Passes, check_progress
from softlabel.results import ScoreReport
from softlabel.scoring.asked import check_asked
from softlabel.scoring.names import DRAWS
from softlabel.scoring.whole import whole_table
from softlabel.sources.threads import check_threads

__all__ = ["fill_score", "score_files"]

_MAKING = ("model", "calibrator", "split", "folds", "draw", "sigma", "seed", "force")
_ROLES = ("features", "group", "weights", "weight_type", "cluster", "id")


def fill_score(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_files(parser)
    add = parser.add_argument_group("roles of columns").add_argument
    add("--features", nargs="+", required=True, metavar="COLUMN", help="what the classifier sees")
    add("--categories", nargs="+", default=(), metavar="COLUMN", help="numbers that are codes of categories")
    add("--group", required=True, metavar="COLUMN", help="0, 1, or empty where unknown")
    add("--labelled", nargs="+", metavar="FILE", help="files with the labelled rows, if they are apart")
    add("--weights", metavar="COLUMN", help="weights of the labelled rows")
    add("--weight-type", default="sampling", metavar="TYPE", help="sampling or frequency (default: sampling)")
    add("--cluster", metavar="COLUMN", help="rows with the same value share a fold")
    add("--id", metavar="COLUMN", help="what tells rows with the same features apart")
    add_controls(parser.add_argument_group("controls of the regression to come"))
    making = parser.add_argument_group("how the score is made")
    add_making(making)
    making.add_argument("--folds", type=int, default=5, metavar="N", help="of cross-fitting (default: 5)")
    making.add_argument("--draw", default="mean", metavar="WHAT", help=f"{', '.join(DRAWS)} (default: mean)")
    making.add_argument("--sigma", type=float, default=0.3, metavar="S", help="of the beta draw (default: 0.3)")
    making.add_argument("--seed", type=int, default=0, metavar="N", help="of folds, models and draws (default: 0)")
    making.add_argument("--force", action="store_true", help="train even on nothing but controls")
    output = parser.add_argument_group("output")
    output.add_argument("--output", required=True, metavar="FILE", help="table to write, .parquet or .csv")
    output.add_argument("--name", default="p", metavar="NAME", help="of the score's column (default: p)")
    output.add_argument("--json", metavar="OUT", help="write how it was made as JSON; - prints it in place of the page")
    add_running(output)


def score_files(options: argparse.Namespace) -> ScoreReport:
    """Make the scores, write the table, and return how they were made."""
    from softlabel.report.scored import check_table_target, write_scored

    check_table_target(options.output)
    given = {name: getattr(options, name) for name in (*_MAKING, *_ROLES)}
    asked = check_asked(
        **{name: value for name, value in given.items() if value is not None},
        controls=options.controls if options.formula is None else options.formula,
        categories=options.categories,
    )
    with Passes(check_progress(options.progress)) as passes:
        table = whole_table(
            options.files,
            options.labelled,
            asked,
            name=options.name,
            threads=check_threads(options.threads),
            passes=passes,
        )
        write_scored(options.output, table)
    return table.report()
