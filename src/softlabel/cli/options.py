"""Options that several commands share, by what they are about."""

from __future__ import annotations

import argparse

from softlabel.asking import CONFIDENT, THRESHOLDS
from softlabel.decision import RULES, TRUST
from softlabel.scoring.names import CALIBRATORS, MODELS, SPLITS

__all__ = [
    "add_audit",
    "add_controls",
    "add_errors",
    "add_estimates",
    "add_features",
    "add_files",
    "add_making",
    "add_output",
    "add_roles",
    "add_rows",
    "add_running",
]


def add_files(parser: argparse.ArgumentParser, number: str = "+") -> argparse._ArgumentGroup:
    """Add the files to read."""
    group = parser.add_argument_group("data")
    group.add_argument(
        "files", nargs=number, metavar="FILE", help="Parquet or CSV files (globs too), read as one table"
    )
    return group


def add_roles(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the roles of columns; the outcome may be required, the score never is: it can be made."""
    add = parser.add_argument_group("roles of columns").add_argument
    add("--outcome", required=required, metavar="COLUMN", help="what the group is thought to change")
    add("--score", metavar="COLUMN", help="predicted probability of the group, 0 to 1; or see --features")
    add("--group", metavar="COLUMN", help="0, 1, or empty where unknown; leave out if never known")
    add("--labelled", nargs="+", metavar="FILE", help="files with the labelled rows, if they are apart")
    add("--weights", metavar="COLUMN", help="weights of the rows")
    add("--cluster", metavar="COLUMN", help="rows with the same value may depend on each other")
    add("--id", metavar="COLUMN", help="deal rows to folds by this column, not by all values")


def add_controls(group: argparse._ArgumentGroup) -> None:
    """Add the controls, as a list or as a formula."""
    either = group.add_mutually_exclusive_group()
    either.add_argument("--controls", nargs="*", default=(), metavar="COLUMN", help="what to control for")
    either.add_argument(
        "--formula",
        metavar="TERMS",
        help='the same, saying how each enters: "age + C(region) + bs(income) + age:female"',
    )


def add_audit(group: argparse._ArgumentGroup) -> argparse._ArgumentGroup:
    """Add who may audit the score."""
    group.add_argument(
        "--audit",
        metavar="COLUMN",
        help="1 where neither classifier nor calibrator has seen the label (default: every labelled row)",
    )
    return group


def add_features(group: argparse._ArgumentGroup) -> None:
    """Add what the classifier saw, or what one is to be trained on."""
    group.add_argument(
        "--features",
        nargs="+",
        metavar="COLUMN",
        help="what the classifier saw; without --score, what one is trained on",
    )


def add_estimates(group: argparse._ArgumentGroup) -> None:
    """Add thresholds and the rule."""
    add = group.add_argument
    at = f"default: {' '.join(f'{t:g}' for t in THRESHOLDS)}"
    within = f"default: {' '.join(f'{t:g}' for t in CONFIDENT)}"
    add("--thresholds", nargs="*", type=float, default=THRESHOLDS, metavar="T", help=f"where to threshold ({at})")
    add("--confident", nargs="*", type=float, default=CONFIDENT, metavar="T", help=f"confident sets ({within})")
    add("--rule", default="guarded", metavar="NAME", help=f"of the verdict: {', '.join(RULES)} (default: guarded)")
    add("--trust", metavar="WHAT", help=f"take on your word {', '.join(TRUST)} (default: the data decide)")
    add(
        "--kappa-tolerance",
        type=float,
        default=0.05,
        metavar="D",
        help="kappa is far from one if its interval lies outside 1 +- D (default: 0.05)",
    )


def add_errors(group: argparse._ArgumentGroup) -> None:
    """Add what decides standard errors."""
    add = group.add_argument
    add("--level", type=float, default=0.95, metavar="L", help="of confidence intervals (default: 0.95)")
    add("--covariance", default="HC3", metavar="NAME", help="of the supervised estimate, HC0 to HC3 (default: HC3)")
    add("--folds", type=_folds, default=5, metavar="N|none", help="for cross-fitting (default: 5)")
    add("--seed", type=int, default=0, metavar="N", help="of the dealing to folds (default: 0)")


def add_rows(group: argparse._ArgumentGroup) -> None:
    """Add what to do with weights and with incomplete rows."""
    add = group.add_argument
    weighs = "sampling: cases a row stands for; frequency: copies of it (default: sampling)"
    add("--weight-type", default="sampling", metavar="TYPE", help=weighs)
    drops = "raise, or drop incomplete rows and count them (default: raise)"
    add("--missing", default="raise", metavar="HOW", help=drops)


def add_output(parser: argparse.ArgumentParser, page: str) -> argparse._ArgumentGroup:
    """Add where results go."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="OUT", help=f"write everything as JSON; - prints it in place of the {page}")
    add_running(group)
    return group


def add_running(group: argparse._ArgumentGroup) -> None:
    """Add how to run."""
    group.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="say on stderr how far it is (default: on a terminal, if it takes long)",
    )
    group.add_argument("--threads", type=int, metavar="N", help="threads over batches (default: one per core)")


def _folds(text: str) -> int | None:
    if text == "none":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor none") from None


def add_making(group: argparse._ArgumentGroup) -> None:
    """Add how a score is made of features."""
    add = group.add_argument
    add("--model", metavar="NAME", help=f"{', '.join(MODELS)} (default: logistic)")
    add("--calibrator", metavar="NAME", help=f"{', '.join(CALIBRATORS)} (default: conditional)")
    add("--split", metavar="HOW", help=f"who trains what: {', '.join(SPLITS)} (default: folds)")
