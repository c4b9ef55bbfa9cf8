"""Aims: what scores made here are to reach, each passed or failed by a Monte Carlo interval."""

from __future__ import annotations

from collections.abc import Iterator

from softlabel.replicate.aims import LEAST_COVERAGE, MOST_COVERAGE, Aim
from softlabel.replicate.scoring.tables import CheckRow, LearnerRow, NoiseRow, ScoreRow
from softlabel.results import Table
from softlabel.results.inference import quantile

__all__ = ["DEFAULT", "ENOUGH", "FITTED", "verdicts"]

# What `diagnose` and `score` do unless told.
DEFAULT = ("conditional", "folds")

# From so many labels on the default's interval is to cover.
ENOUGH = 500

# A calibrator's own error adds audited/fitted to the variance that the check reckons with: of 500 rows and 20,000
# labels a 40th, of 5,000 a tenth, with which a chi-square of six degrees of freedom rejects 7.5% in place of 5.
FITTED = 20_000

# Of up to 500 labels soft's interval covers at most 69%, as theory's table has it. The classifier's error, of which it
# knows nothing, falls with more labels and its own does not: of 2,000 it is only to be seen that it covers too little.
_SOFT_AT_MOST, _SOFT_OF_MANY = 0.69, 0.93
_SIZE = (0.03, 0.07)
_POWER = 0.95
# A slope of 0 and of 1, as near as a linear basis and 500 labels come.
_NEAR = 0.1
_RAISED = 5.0
_NOISY = ("X, Beta", "X, bootstrap", "X, deep")


def verdicts(
    scores: Table[ScoreRow], checks: Table[CheckRow], noise: Table[NoiseRow], learners: Table[LearnerRow]
) -> Table[Aim]:
    """Return every aim that these tables can decide."""
    return Table((*_coverage(scores), *_check(checks), *_noise(noise), *_learners(learners)))


def _coverage(scores: Table[ScoreRow]) -> Iterator[Aim]:
    """Yield that the default's interval covers, and that soft's own does not."""
    for row in scores:
        measured = (row.coverage, row.coverage_low, row.coverage_high)
        if (row.calibrator, row.split) == DEFAULT and row.estimator == "guarded" and row.labelled >= ENOUGH:
            where = f"{row.labelled} labels"
            yield Aim.of("default.coverage", where, measured, least=LEAST_COVERAGE, most=MOST_COVERAGE)
        if row.split == "folds" and row.estimator == "soft":
            where = f"{row.labelled} labels, {row.calibrator}"
            yield Aim.of(
                "soft.undercoverage", where, measured, most=_SOFT_AT_MOST if row.labelled <= ENOUGH else _SOFT_OF_MANY
            )


def _check(checks: Table[CheckRow]) -> Iterator[Aim]:
    """Yield that the conditional calibrator passes the check as often as it should, and that others fail it."""
    for row in checks:
        if row.rows != "fresh" or row.check != "given_controls" or row.fitted < FITTED:
            continue
        measured, where = (row.share, row.low, row.high), f"shift {row.shift:g}, {row.calibrator}"
        if row.calibrator == "conditional":
            yield Aim.of("check.size", where, measured, least=_SIZE[0], most=_SIZE[1])
        elif row.shift:
            yield Aim.of("check.power", where, measured, least=_POWER)


def _noise(noise: Table[NoiseRow]) -> Iterator[Aim]:
    """Yield that noise raises V* and restores nothing, that S restores it, and that two rungs bear both."""
    at = {(row.score, row.what): row for row in noise}
    if not at:
        return
    plain, drawn = at["X", "v_star"], at["X, Beta", "v_star"]
    times = drawn.mean / plain.mean
    # The two runs share their streams, so their errors add up at most.
    error = times * (drawn.error / drawn.mean + plain.error / plain.mean)
    yield _mean("noise.raises_v_star", "X, Beta over X", (times, error), least=_RAISED)
    for (score, what), row in at.items():
        if what == "slope" and score in _NOISY:
            yield _mean("noise.slope", score, (row.mean, row.error), least=-_NEAR, most=_NEAR)
        if what in {"slope", "soft"} and score == "X and S":
            yield _mean(f"informative.{what}", score, (row.mean, row.error), least=1 - _NEAR, most=1 + _NEAR)
        if what in {"instrumented", "rectified"}:
            assert row.coverage is not None  # noqa: S101  (an estimator has an interval)
            assert row.coverage_low is not None  # noqa: S101
            assert row.coverage_high is not None  # noqa: S101
            measured = (row.coverage, row.coverage_low, row.coverage_high)
            yield Aim.of(f"noise.{what}", score, measured, least=LEAST_COVERAGE)


def _learners(learners: Table[LearnerRow]) -> Iterator[Aim]:
    """Yield that no learner's V̂* is too small."""
    for row in learners:
        where = f"{row.labelled} labels, {row.draw}, {row.learner}"
        yield _mean("v_star.errs_upward", where, (row.v_star - row.truth, row.error), least=0.0)


def _mean(
    code: str, where: str, found: tuple[float, float], *, least: float | None = None, most: float | None = None
) -> Aim:
    value, reach = found[0], quantile(0.95, None) * found[1]
    return Aim.of(code, where, (value, value - reach, value + reach), least=least, most=most)
