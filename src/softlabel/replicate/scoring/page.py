"""The page of `softlabel replicate scores`: what is asked, the tables as text, and how to read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from softlabel.replicate.scoring.calibrating import ESTIMATORS
from softlabel.replicate.scoring.says import AIMS, CHECKS, LEARNERS, NOISE, NOT_HERE, OPENING, SETTINGS
from softlabel.replicate.scoring.tables import CheckRow, LearnerRow, NoiseRow, ScoreRow, SettingRow
from softlabel.report.layout import aligned, wrapped
from softlabel.scoring.names import CALIBRATORS

if TYPE_CHECKING:
    from softlabel.replicate.aims import Aim
    from softlabel.replicate.scoring.command import ScoresFound

__all__ = ["page"]

_HEADERS = ("soft", "rung 0", "rung 1", "rung 2", "guarded")
_NONE = "-"


def page(found: ScoresFound) -> str:
    """Return what was found as a page of text."""
    parts = [_opening(found), *_scores(found), _settings(found), *_checks(found), _noise(found)]
    return "\n\n".join([*parts, _learners(found), _aims(found)]) + "\n"


def _opening(found: ScoresFound) -> str:
    said = wrapped(OPENING.format(n=f"{found.replications:,}", seed=found.seed, target=f"{found.target:.4f}"))
    absent = [name for name in CALIBRATORS if name not in found.calibrators]
    return "\n".join(["Scores", said, *(wrapped(NOT_HERE.format(name=name)) for name in absent)])


def _scores(found: ScoresFound) -> Iterator[str]:
    for labelled in dict.fromkeys(found.scores["labelled"]):
        mine = [row for row in found.scores if row.labelled == labelled]
        alone = next(row for row in mine if row.estimator == "supervised")
        yield wrapped(
            f"{labelled:,} labels: supervised has a mean squared error of {alone.mse:.4f}, a bias of {alone.bias:+.3f} "
            f"and covers {100 * alone.coverage:.0f}%.",
            indent="",
        )
        for split in dict.fromkeys(row.split for row in mine if row.split is not None):
            yield "\n".join(_split(labelled, split, [row for row in mine if row.split == split]))


def _split(labelled: int, split: str, mine: Sequence[ScoreRow]) -> Iterator[str]:
    at = {(row.calibrator, row.estimator): row for row in mine}
    names = [name for name in dict.fromkeys(row.calibrator for row in mine) if name is not None]
    rows = [[name, *(_entry(at.get((name, estimator))) for estimator in ESTIMATORS)] for name in names]
    yield from aligned([f"{labelled:,} labels, {split}", *_HEADERS], rows)
    ratio, bias = max(row.ratio_error for row in mine), max(row.bias_error for row in mine)
    reach = max(max(row.coverage_high - row.coverage, row.coverage - row.coverage_low) for row in mine)
    yield wrapped(
        f"Monte Carlo errors: at most {ratio:.2f} of a ratio, {bias:.3f} of a bias; intervals of coverage reach "
        f"{100 * reach:.0f} points"
    )


def _entry(row: ScoreRow | None) -> str:
    if row is None:
        return _NONE
    return f"{_short(row.ratio)}/{100 * row.coverage:.0f}/{_signed(row.bias)}"


def _settings(found: ScoresFound) -> str:
    at = {(row.labelled, row.split, row.calibrator): row for row in found.settings if row.rejected is not None}
    columns = list(dict.fromkeys((labelled, split) for labelled, split, _ in at))
    header = ["", *(f"{labelled} {split}" for labelled, split in columns)]
    rows = [[name, *(_setting(at.get((*column, name))) for column in columns)] for name in found.calibrators]
    return "\n".join([wrapped(SETTINGS, indent=""), *aligned(header, rows)])


def _setting(row: SettingRow | None) -> str:
    if row is None or row.slope is None or row.rejected is None:
        return _NONE
    return f"{row.slope:.3f}/{100 * row.rejected:.0f}/{_percent(row.suspect)}"


def _checks(found: ScoresFound) -> Iterator[str]:
    at = {(row.check, row.rows, row.shift, row.fitted, row.calibrator): row for row in found.checks}
    columns = list(dict.fromkeys((row.rows, row.shift, row.fitted) for row in found.checks))
    for check in dict.fromkeys(found.checks["check"]):
        header = ["", *(f"{rows} {shift:g} {_thousands(fitted)}" for rows, shift, fitted in columns)]
        rows = [[name, *(_check(at.get((check, *column, name))) for column in columns)] for name in found.calibrators]
        yield "\n".join([wrapped(CHECKS[check], indent=""), *aligned(header, rows)])
    yield wrapped(CHECKS["why"], indent="")


def _check(row: CheckRow | None) -> str:
    if row is None:
        return _NONE
    share = f"{100 * row.share:.1f}".removesuffix(".0") if row.share == 1 else f"{100 * row.share:.1f}"
    return f"{share} {100 * row.low:.0f}-{100 * row.high:.0f}"


def _noise(found: ScoresFound) -> str:
    at = {(row.score, row.what): row for row in found.noise}
    n = found.noise.rows[0].n
    rows = []
    for score in dict.fromkeys(found.noise["score"]):
        v_star, injected, slope = (at[score, what] for what in ("v_star", "injected", "slope"))
        estimates = (at[score, what] for what in ("soft", "instrumented", "rectified"))
        numbers = [f"{v_star.mean:.4f} {v_star.error:.4f}", f"{injected.mean:.4f}", _with_error(slope)]
        rows.append([score, *numbers, *map(_covering, estimates)])
    header = ["", "V*", "injected", "slope", "soft", "rung 1", "rung 0"]
    return "\n".join([wrapped(NOISE.format(n=n), indent=""), *aligned(header, rows)])


def _with_error(row: NoiseRow) -> str:
    return f"{row.mean:.2f} {_short(row.error)}"


def _covering(row: NoiseRow) -> str:
    return f"{row.mean:.2f} {_short(row.error)}/{_percent(row.coverage)}"


def _learners(found: ScoresFound) -> str:
    learners = list(dict.fromkeys(found.learners["learner"]))
    at = {(row.labelled, row.draw, row.learner): row for row in found.learners}
    rows = []
    for labelled, draw in dict.fromkeys((row.labelled, row.draw) for row in found.learners):
        mine = [at[labelled, draw, name] for name in learners]
        rows.append([f"{labelled} {draw}", f"{mine[0].truth:.4f}", *map(_learner, mine)])
    header = ["", "truth", *learners]
    n = found.learners.rows[0].n
    return "\n".join([wrapped(LEARNERS.format(n=n), indent=""), *aligned(header, rows)])


def _learner(row: LearnerRow) -> str:
    return f"{row.v_star:.4f} {row.error:.4f}"


def _aims(found: ScoresFound) -> str:
    lines = ["Aims"]
    for code in dict.fromkeys(found.aims["code"]):
        mine = [aim for aim in found.aims if aim.code == code]
        passed = sum(aim.outcome == "pass" for aim in mine)
        lines.append(wrapped(f"{code}: {passed} of {len(mine)} reached ({AIMS[code]})", hang="  "))
        lines += [wrapped(f"! {_missed(aim)}", "    ", "  ") for aim in mine if aim.outcome == "fail"]
    return "\n".join(lines)


def _missed(aim: Aim) -> str:
    bounds = " and ".join(
        f"{word} {value:g}" for word, value in (("at least", aim.least), ("at most", aim.most)) if value is not None
    )
    return f"{aim.where}: {aim.value:.3f} ({aim.low:.3f} to {aim.high:.3f}), should be {bounds}"


def _percent(share: float | None) -> str:
    return _NONE if share is None else f"{100 * share:.0f}"


def _thousands(n: int) -> str:
    return f"{n // 1000}k" if n >= 1000 else str(n)


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _signed(value: float) -> str:
    """Return a bias with its sign, without the zero before the point."""
    text = f"{value:+.3f}"
    return text.replace("0.", ".", 1) if text[1:3] == "0." else text
