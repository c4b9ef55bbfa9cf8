"""`softlabel replicate scores`: every run, and what came of them as one record."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from softlabel.nuisances.learners import require_sklearn
from softlabel.replicate.aims import Aim
from softlabel.replicate.folder import folder_of
from softlabel.replicate.scoring import calibrating, learning
from softlabel.replicate.scoring.aims import FITTED, verdicts
from softlabel.replicate.scoring.auditing import Auditing, CrossFitting
from softlabel.replicate.scoring.calibrating import Calibrating
from softlabel.replicate.scoring.design import LAW, usable
from softlabel.replicate.scoring.drawing import MADE, Drawing
from softlabel.replicate.scoring.learning import Learning
from softlabel.replicate.scoring.tables import (
    CheckRow,
    LearnerRow,
    NoiseRow,
    ScoreRow,
    SettingRow,
    check_rows,
    learner_rows,
    noise_rows,
    score_rows,
    setting_rows,
)
from softlabel.results import Table
from softlabel.simulate import Experiment, MonteCarlo, run
from softlabel.simulate.arguments import whole

__all__ = ["Runs", "ScoresFound", "replicate_scores", "runs_of", "scores_found"]

SHIFTS = (0.0, 1.0)
FRESH = (5_000, FITTED)

# Noise shows in few replications; a forest takes a thousand times what least squares takes.
_NOISE_SHARE, _LEARNER_SHARE = 5, 25
_LEAST = 2


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs behind every number: by labels, by shift and labels, by shift, by the score's name, by labels."""

    labels: Mapping[int, MonteCarlo]
    fresh: Mapping[tuple[float, int], MonteCarlo]
    crossed: Mapping[float, MonteCarlo]
    noise: Mapping[str, MonteCarlo]
    learners: Mapping[int, MonteCarlo]


@dataclass(frozen=True, slots=True)
class ScoresFound:
    """What scores made of features are worth.

    Attributes
    ----------
    replications, seed, target
        Of calibrators, splits and checks; and the population coefficient of G.
    calibrators
        Those that there are here.
    scores, settings
        Every estimator by labels, calibrator and split; and what the checks say there.
    checks
        How often calibrators pass the calibration check, on fresh rows and on their own.
    noise
        V*, the slope and the estimates of scores with noise in them.
    learners
        V̂* of a score of the controls alone, by learner.
    aims
        What was to be reached, and whether it was.
    """

    replications: int
    seed: int
    target: float
    calibrators: tuple[str, ...]
    scores: Table[ScoreRow]
    settings: Table[SettingRow]
    checks: Table[CheckRow]
    noise: Table[NoiseRow]
    learners: Table[LearnerRow]
    aims: Table[Aim]

    def summary(self) -> str:
        """Return the tables as a page of text."""
        return str(importlib.import_module("softlabel.replicate.scoring.page").page(self))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=indent) if indent else text).decode()


def replicate_scores(
    replications: int = 200,
    *,
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    progress: bool | None = None,
) -> ScoresFound:
    """Make scores of features every way there is, and return what comes of each.

    Parameters
    ----------
    replications
        Of every calibrator and split, and of the checks. Noise takes a fifth of them, V* by learner a 25th.
    workers, seed, progress
        As in `softlabel.simulate.run`.
    resume
        A folder for the finished replications, made if need be: a rerun continues there.
    """
    return scores_found(runs_of(replications, workers=workers, seed=seed, resume=resume, progress=progress), seed=seed)


def runs_of(
    replications: int,
    *,
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    progress: bool | None = None,
) -> Runs:
    """Run everything."""
    every = whole("replications", replications, least=_LEAST)
    require_sklearn("to make scores")
    folder = None if resume is None else folder_of(resume)

    def of(name: str, experiment: Experiment, share: int = 1) -> MonteCarlo:
        file = None if folder is None else folder / f"{name}.jsonl"
        few = max(_LEAST, -(-every // share))
        return run(experiment, few, seed=seed, workers=workers, progress=progress, resume=file)

    names = usable()
    # Boosting on 20,000 labels takes minutes where the others take a tenth of a second.
    quick = tuple(name for name in names if name != "multicalibrated")
    fresh = [(shift, fitted) for shift in SHIFTS for fitted in FRESH]
    noise, learnt = partial(of, share=_NOISE_SHARE), partial(of, share=_LEARNER_SHARE)
    return Runs(
        labels={n: of(f"labels-{n}", Calibrating(n, names)) for n in calibrating.SIZES},
        fresh={(shift, n): of(f"fresh-{shift:g}-{n}", Auditing(shift, n, quick)) for shift, n in fresh},
        crossed={shift: of(f"crossed-{shift:g}", CrossFitting(shift, names)) for shift in SHIFTS},
        noise={made.name: noise(f"noise-{j}", Drawing(made)) for j, made in enumerate(MADE)},
        learners={n: learnt(f"learners-{n}", Learning(n)) for n in learning.SIZES},
    )


def scores_found(runs: Runs, *, seed: int) -> ScoresFound:
    """Return the tables of runs."""
    scores, checks = score_rows(runs.labels), check_rows(runs.fresh, runs.crossed)
    noise, learners = noise_rows(runs.noise), learner_rows(runs.learners)
    first = next(iter(runs.labels.values()))
    return ScoresFound(
        replications=first.replications,
        seed=seed,
        target=LAW.target,
        calibrators=tuple(dict.fromkeys(row.calibrator for row in scores if row.calibrator is not None)),
        scores=scores,
        settings=setting_rows(runs.labels),
        checks=checks,
        noise=noise,
        learners=learners,
        aims=verdicts(scores, checks, noise, learners),
    )
