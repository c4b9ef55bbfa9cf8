"""The page of `softlabel replicate rules`: the tables as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from softlabel.diagnostics.rungs import KEPT_BEYOND
from softlabel.replicate.aims import Aim
from softlabel.replicate.rules import ESTIMATORS
from softlabel.replicate.scenarios import SCENARIOS
from softlabel.replicate.tables import GROUPS, Cell, Line, Tuning, group_of
from softlabel.report.layout import wrapped

if TYPE_CHECKING:
    from softlabel.replicate.command import RulesFound

__all__ = ["page"]

# All but "adaptive", which guarded is but where samples are suspected: the JSON has it.
_SHOWN_ESTIMATORS = tuple(name for name in ESTIMATORS if name != "adaptive")
_HEADERS = ("superv.", "soft", "hard", "rung 0", "rung 1", "rung 2", "paper", "pretest", "guarded")
_TITLES = {
    "chosen on": "Scenarios that guarded was chosen on",
    "held out": "Scenarios that it had not seen",
    "incomparable": "Scenarios whose labels are of another population, which no rung bears",
}
_ENTRY_WIDTH = 7  # of nine columns on a page of 96
_SHOWN = 4  # best thresholds of either kind


def page(found: RulesFound) -> str:
    """Return what the rules are worth as a page of text."""
    parts = [
        _opening(found),
        *(_group(found, group) for group in GROUPS),
        _samples(found),
        *(_tuning(found, group) for group in GROUPS[:2]),
        _aims(found),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(found: RulesFound) -> str:
    return "\n".join(
        [
            "Rules",
            wrapped(
                f"{found.replications:,} replications of seed {found.seed}. Entries are the mean squared error over "
                "that of the better of supervised and soft, in hindsight, and after the slash the coverage of the "
                "printed 95% interval, in percent. Guarded prints that of rung 0 around an estimate that adapts."
            ),
        ]
    )


def _group(found: RulesFound, group: str) -> str:
    names = list(dict.fromkeys(found.cells["scenario"]))
    names = [name for name in names if group_of(SCENARIOS[name]) == group]
    if not names:
        return ""
    at = {(cell.scenario, cell.estimator): cell for cell in found.cells}
    rows = [[name, *(_entry(at.get((name, e))) for e in _SHOWN_ESTIMATORS)] for name in names]
    lines = {line.estimator: line for line in found.lines if line.group == group}
    about = [lines.get(name) for name in _SHOWN_ESTIMATORS]
    rows += [[label, *cells] for label, cells in _summed(about)]
    return "\n".join(_aligned(["", *_HEADERS], rows, title=_TITLES[group]))


def _summed(about: Sequence[Line | None]) -> Iterator[tuple[str, list[str]]]:
    def told(value: Callable[[Line], str]) -> list[str]:
        return ["-" if line is None else value(line) for line in about]

    yield "geometric mean", told(lambda line: _ratio(line.geometric_mean))
    yield "maximum", told(lambda line: _ratio(line.maximum))
    yield "over rung 0, most", told(lambda line: _ratio(line.against_rectified))
    yield "coverage, least", told(lambda line: f"{100 * line.coverage:.0f}")


def _samples(found: RulesFound) -> str:
    shares = {(row.scenario, row.what): row for row in found.shares}
    rows = []
    for name in dict.fromkeys(found.cells["scenario"]):
        cell = next(cell for cell in found.cells if cell.scenario == name)
        row = [shares.get((name, what)) for what in ("suspect", "ar covers", "paper soft")]
        rows.append(
            [
                name,
                SCENARIOS[name].shows,
                f"{cell.target:.4f}",
                *("-" if one is None else f"{100 * one.share:.0f}" for one in row),
                str(cell.missing),
            ]
        )
    header = ["", "what it is", "target", "suspect", "AR", "paper soft", "missing"]
    title = "How often, in percent: samples suspected, rung 1's set covers, Algorithm 1 takes soft"
    return "\n".join(_aligned(header, rows, title=title))


def _tuning(found: RulesFound, group: str) -> str:
    mine = [row for row in found.tuning if row.group == group]
    if not mine:
        return ""
    shipped = [row for row in mine if row.how == "steps" and (row.exclusion, row.calibration) == KEPT_BEYOND]
    best = [row for how in ("steps", "joint") for row in [one for one in mine if one.how == how][:_SHOWN]]
    rows = [_tuned("shipped", row) for row in shipped] + [_tuned(row.how, row) for row in best]
    header = ["", "exclusion", "calibration", "geo. mean", "maximum", "over rung 0", "coverage"]
    title = f"Thresholds of guarded, {group}; coverage is of the estimate with rung 0's width"
    return "\n".join(_aligned(header, rows, title=title))


def _tuned(label: str, row: Tuning) -> list[str]:
    return [
        label,
        f"{row.exclusion:g}",
        f"{row.calibration:g}",
        f"{row.geometric_mean:.3f}",
        _ratio(row.maximum),
        _ratio(row.against_rectified),
        f"{100 * row.coverage:.0f}",
    ]


def _aims(found: RulesFound) -> str:
    codes = list(dict.fromkeys(found.aims["code"]))
    lines = ["Aims"]
    for code in codes:
        mine = [aim for aim in found.aims if aim.code == code]
        passed = sum(aim.outcome == "pass" for aim in mine)
        lines.append(f"  {code}: {passed} of {len(mine)} reached")
        lines += [f"    ! {_missed(aim)}" for aim in mine if aim.outcome == "fail"]
    return "\n".join(lines) if codes else ""


def _missed(aim: Aim) -> str:
    bounds = " and ".join(
        f"{word} {value:g}" for word, value in (("at least", aim.least), ("at most", aim.most)) if value is not None
    )
    return f"{aim.where}: {aim.value:.3f} ({aim.low:.3f} to {aim.high:.3f}), should be {bounds}"


def _entry(cell: Cell | None) -> str:
    if cell is None:
        return "-"
    coverage = f"{100 * cell.coverage:.0f}"
    text = f"{_ratio(cell.regret)}/{coverage}"
    # Beside a coverage of 100 there is room for two digits.
    return text if len(text) <= _ENTRY_WIDTH else f"{cell.regret:.{1 if cell.regret < 10 else 0}f}/{coverage}"


def _ratio(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:.0f}k"
    return f"{value:.2f}" if value < 10 else f"{value:.3g}"


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, title: str) -> Iterator[str]:
    """Yield a title, then rows in columns below it; words are to the left, numbers to the right."""
    yield title
    lines = [[*header], *([*row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = {0, *(place for place, name in enumerate(header) if name.startswith("what"))}
    for line in lines:
        parts = [
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield ("  " + " ".join(parts)).rstrip()
