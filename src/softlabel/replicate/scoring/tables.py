"""Tables of what runs of scores found, every number with the error that simulation leaves in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from softlabel.replicate.losses import ratio
from softlabel.replicate.scoring import auditing, calibrating, drawing, learning
from softlabel.replicate.scoring.design import LAW
from softlabel.results import Table
from softlabel.simulate import MonteCarlo, Proportion

__all__ = [
    "LEVEL",
    "CheckRow",
    "LearnerRow",
    "NoiseRow",
    "ScoreRow",
    "SettingRow",
    "check_rows",
    "learner_rows",
    "noise_rows",
    "score_rows",
    "setting_rows",
]

# A check rejects below this p-value.
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One estimator with one calibrator and split, on so many labels; supervised has neither.

    Attributes
    ----------
    mse, ratio, ratio_error
        Mean squared error, and over supervised's, with its Monte Carlo error.
    bias, bias_error
        Mean less target.
    coverage, coverage_low, coverage_high
        Of the nominal 95% interval, with its Clopper-Pearson interval.
    n, missing
        Replications with a value and without.
    """

    labelled: int
    calibrator: str | None
    split: str | None
    estimator: str
    mse: float
    ratio: float
    ratio_error: float
    bias: float
    bias_error: float
    coverage: float
    coverage_low: float
    coverage_high: float
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class SettingRow:
    """What the checks say of one calibrator and split, and the slope ĉ of the group on its score.

    ``suspect``: a check says that labelled and unlabelled rows differ; ``rejected``: the check of calibration given the
    controls has p ≤ 0.05. Shares with Clopper-Pearson intervals; ``None`` where no labelled row may audit.
    """

    labelled: int
    calibrator: str
    split: str
    suspect: float | None
    suspect_low: float | None
    suspect_high: float | None
    rejected: float | None
    rejected_low: float | None
    rejected_high: float | None
    slope: float | None
    slope_error: float | None
    n: int


@dataclass(frozen=True, slots=True)
class CheckRow:
    """How often a check of calibration rejects at 5%, and the slope ĉ on the rows that it looks at.

    ``rows`` is "fresh", a calibrator fitted on ``fitted`` labels and audited on others, or "crossed", cross-fitted on
    the labels that audit it. ``shift`` is what x₁ adds to the classifier's logit, in units of the true one.
    """

    rows: str
    shift: float
    fitted: int
    calibrator: str
    check: str
    share: float
    low: float
    high: float
    slope: float
    slope_error: float
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class NoiseRow:
    """One number about a score made one way: its mean, the Monte Carlo error, and of an estimator the coverage."""

    score: str
    what: str
    mean: float
    error: float
    coverage: float | None
    coverage_low: float | None
    coverage_high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class LearnerRow:
    """V̂* of a score that is a function of the controls, or of a draw of it, by the learner of r̂; and V* in truth."""

    labelled: int
    draw: str
    learner: str
    v_star: float
    error: float
    truth: float
    n: int


def score_rows(runs: Mapping[int, MonteCarlo]) -> Table[ScoreRow]:
    """Return every estimator of runs of `Calibrating` by their number of labels."""
    rows = []
    for labelled, run in runs.items():
        rows.append(_score_row(run, labelled, None, None, "supervised"))
        for calibrator, split in _settings(run):
            rows += [
                _score_row(run, labelled, calibrator, split, name)
                for name in calibrating.ESTIMATORS
                if run.missing(f"{calibrator} {split} {name}") <= run.replications - 2
            ]
    return Table(tuple(rows))


def setting_rows(runs: Mapping[int, MonteCarlo]) -> Table[SettingRow]:
    """Return what the checks say in runs of `Calibrating` by their number of labels."""
    return Table(
        tuple(
            _setting_row(run, labelled, calibrator, split)
            for labelled, run in runs.items()
            for calibrator, split in _settings(run)
        )
    )


def check_rows(fresh: Mapping[tuple[float, int], MonteCarlo], crossed: Mapping[float, MonteCarlo]) -> Table[CheckRow]:
    """Return how often checks reject, by shift and labels that the calibrator was fitted on, and by shift."""
    every = [("fresh", shift, fitted, run) for (shift, fitted), run in fresh.items()]
    every += [("crossed", shift, auditing.AUDITED, run) for shift, run in crossed.items()]
    rows = []
    for kind, shift, fitted, run in every:
        for calibrator in _calibrators(run):
            slope = run.bias(f"{calibrator} slope", 0.0)
            for check in auditing.CHECKS:
                share = run.share(f"{calibrator} {check}", below=LEVEL)
                rows.append(
                    CheckRow(
                        kind,
                        shift,
                        fitted,
                        calibrator,
                        check,
                        share.estimate,
                        share.low,
                        share.high,
                        slope.estimate,
                        slope.std_error,
                        share.n,
                        share.missing,
                    )
                )
    return Table(tuple(rows))


def noise_rows(runs: Mapping[str, MonteCarlo]) -> Table[NoiseRow]:
    """Return the numbers of runs of `Drawing` by the name of the score."""
    return Table(tuple(_noise_row(name, what, run) for name, run in runs.items() for what in _NOISE))


def learner_rows(runs: Mapping[int, MonteCarlo]) -> Table[LearnerRow]:
    """Return V̂* of runs of `Learning` by their number of labels."""
    rows = []
    for labelled, run in runs.items():
        for draw in learning.DRAWS:
            learners = [name.removeprefix(f"{draw} ") for name in run.names if name.startswith(f"{draw} ")]
            for learner in learners:
                if learner != "truth":
                    found = run.bias(f"{draw} {learner}", 0.0)
                    truth = run.mean(f"{draw} truth")
                    rows.append(LearnerRow(labelled, draw, learner, found.estimate, found.std_error, truth, found.n))
    return Table(tuple(rows))


_NOISE = ("v_star", "injected", "slope", *drawing.ESTIMATORS)


def _settings(run: MonteCarlo) -> Iterator[tuple[str, str]]:
    """Yield calibrators and splits, in order."""
    for name in run.names:
        if name.endswith(" slope"):
            calibrator, split, _ = name.split(" ")
            yield calibrator, split


def _calibrators(run: MonteCarlo) -> list[str]:
    return [name.removesuffix(" slope") for name in run.names if name.endswith(" slope")]


def _score_row(run: MonteCarlo, labelled: int, calibrator: str | None, split: str | None, estimator: str) -> ScoreRow:
    target = LAW.target
    before = estimator if calibrator is None else f"{calibrator} {split} {estimator}"
    both = [
        (value, other)
        for value, other in zip(run.column(before), run.column("supervised"), strict=True)
        if value is not None and other is not None
    ]
    squares = np.square(np.array(both) - target).T
    over = ratio(squares[0], squares[1])
    bias, coverage = run.bias(before, target), run.coverage(f"{before} low", f"{before} high", target)
    return ScoreRow(
        labelled=labelled,
        calibrator=calibrator,
        split=split,
        estimator=estimator,
        mse=run.mse(before, target).estimate,
        ratio=over.value,
        ratio_error=over.std_error,
        bias=bias.estimate,
        bias_error=bias.std_error,
        coverage=coverage.estimate,
        coverage_low=coverage.low,
        coverage_high=coverage.high,
        n=bias.n,
        missing=bias.missing,
    )


def _setting_row(run: MonteCarlo, labelled: int, calibrator: str, split: str) -> SettingRow:
    before = f"{calibrator} {split} "
    suspects, p_values, slopes = (run.values(before + what) for what in ("suspect", "calibration p", "slope"))
    suspect, rejected = (
        _share(int(suspects.sum()), suspects.size),
        _share(int((p_values <= LEVEL).sum()), p_values.size),
    )
    slope = run.bias(before + "slope", 0.0) if slopes.size > 1 else None
    return SettingRow(
        labelled,
        calibrator,
        split,
        *suspect,
        *rejected,
        None if slope is None else slope.estimate,
        None if slope is None else slope.std_error,
        int(p_values.size),
    )


def _share(hits: int, n: int) -> tuple[float | None, float | None, float | None]:
    if not n:
        return None, None, None
    share = Proportion.of(hits, n)
    return share.estimate, share.low, share.high


def _noise_row(score: str, what: str, run: MonteCarlo) -> NoiseRow:
    found = run.bias(what, 0.0)
    coverage = run.coverage(f"{what} low", f"{what} high", LAW.target) if what in drawing.ESTIMATORS else None
    return NoiseRow(
        score,
        what,
        found.estimate,
        found.std_error,
        None if coverage is None else coverage.estimate,
        None if coverage is None else coverage.low,
        None if coverage is None else coverage.high,
        found.n,
    )
