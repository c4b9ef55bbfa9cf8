"""score: features and a few labels in, a probability for every row out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import InputError
from softlabel.results.scoring import ScoreReport
from softlabel.scoring.apart import read_to_train
from softlabel.scoring.asked import Asked, check_asked
from softlabel.scoring.scorer import Scored, Scorer
from softlabel.scoring.training import Trained, train
from softlabel.sources import open_source
from softlabel.sources.threads import check_threads
from softlabel.study.columns import numbers

__all__ = ["Calibrator", "Draw", "Scores", "Split", "score"]

Floats = NDArray[np.float64]
Calibrator = Literal["none", "temperature", "platt", "beta", "isotonic", "conditional", "multicalibrated"]
Split = Literal["folds", "mean", "halves"]
Draw = Literal["mean", "member", "beta"]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of unlabelled rows, and of labelled ones by models that have not seen them.

    Attributes
    ----------
    unlabelled : (n_U,)
        p of each unlabelled row, in their order.
    labelled : (n_L,)
        p of each labelled row, in their order: out of fold, or of the one model there is.
    audit : (n_L,)
        Which labelled rows may audit the score: neither classifier nor calibrator of their p saw their label.
    fold : (n_L,)
        The fold of each labelled row; for halves 0 trained the classifier and 1 the calibrator.
    p : (n,) or None
        p of every row in the order of the table, where labelled and unlabelled rows came in one.
    scorer
        The fitted pieces: ``scorer.predict(data)`` scores other rows.
    report
        How the score was made and how good it is: ``report.metrics``, ``report.notes``.
    """

    unlabelled: Floats
    labelled: Floats
    audit: NDArray[np.bool_]
    fold: NDArray[np.intp]
    p: Floats | None
    scorer: Scorer
    report: ScoreReport


def score(
    labelled: Any,
    unlabelled: Any = None,
    *,
    features: Sequence[str],
    group: str,
    controls: Sequence[str] | str = (),
    model: Any = "logistic",
    calibrator: Calibrator = "conditional",
    split: Split | ArrayLike = "folds",
    folds: int = 5,
    draw: Draw = "mean",
    sigma: float = 0.3,
    categories: Collection[str] = (),
    weights: str | None = None,
    weight_type: Literal["sampling", "frequency"] = "sampling",
    cluster: str | None = None,
    id: str | None = None,
    seed: int = 0,
    force: bool = False,
    threads: int | None = None,
) -> Scores:
    r"""Train a classifier on labelled rows, calibrate it, and score every row by models that have not seen its label.

    Labelled rows are dealt to folds. For each fold a classifier is fitted on the others, and a calibrator on the
    scores that classifiers give these rows out of folds of their own. Both score the labelled rows of the fold, and
    the unlabelled rows that a hash deals to it: so p has one law on labelled and unlabelled rows, every labelled row
    may audit it, and nothing is ever fitted on all labels at once.

    Parameters
    ----------
    labelled, unlabelled
        Tables or files, as for `softlabel.diagnose`. Without ``unlabelled`` both are in one: rows with a null group
        are scored. Unlabelled rows are read once, in batches.
    features
        Columns W that the classifier sees: numbers, or text as categories. Missing values are filled and marked.
    group
        Column G of the labelled rows, 0 or 1.
    controls
        Columns X of the regression to come, or its formula. Features must hold more than these.
    model
        "logistic", "forest", "boosting"; the ensembles "bootstrap", "deep" and "dropout" (``softlabel[torch]``); a
        scikit-learn classifier or pipeline, which is given a DataFrame if it begins with a ``ColumnTransformer``, else
        numbers, with gaps filled; or "given": the one feature is the score of a classifier trained on other rows, and
        is only calibrated.
    calibrator
        "conditional" (σ(a + b logit p + Σⱼ fⱼ(xⱼ)), which aims at E[G|p,X] = p), "none", "temperature", "platt",
        "beta", "isotonic" or "multicalibrated" (``softlabel[multicalibration]``).
    split
        "folds": as above. "mean": unlabelled rows get the mean of all folds' models, which is steadier, but no longer
        of the law that labelled rows show. "halves": the classifier on one half, the calibrator on the other (Kurbucz
        2026), which leaves no labelled row to audit. Or each labelled row's own fold, (n_L,).
    folds
        How many; calibrators use as many within.
    draw
        "mean": the probability. "member": that of one member of an ensemble, drawn for each row. "beta": a draw
        of Beta with mean p and variance sigma² p(1 − p). Draws add to V* and know nothing of the group.
    sigma
        Of the beta draw, in (0, 1).
    categories
        Numeric columns that are codes of categories.
    weights, cluster, id
        Columns: weights of the labelled rows; clusters, or ids, whose rows share a fold. Without either rows are told
        apart by their values.
    weight_type
        "sampling": how many cases of the population a row stands for, or "frequency": how many equal rows.
    seed
        Of the dealing, the named models and the draws.
    force
        Train even where features are nothing but controls.
    threads
        Over batches; ``None`` for one per core.

    References
    ----------
    Chernozhukov, V. et al. (2018). Double/debiased machine learning. *The Econometrics Journal* 21, C1-C68.
    Kurbucz, M. T. (2026). When to trust confidence thresholding.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> rng = np.random.default_rng(0)
    >>> x, w = rng.normal(size=(2, 5_000))
    >>> g = (rng.random(5_000) < 1 / (1 + np.exp(-x - 2 * w))).astype(float)
    >>> rows = {"x": x, "w": w, "g": np.where(np.arange(5_000) < 500, g, np.nan)}
    >>> scores = sl.score(rows, features=["x", "w"], controls=["x"], group="g")
    >>> len(scores.unlabelled), len(scores.labelled), bool(scores.audit.all())
    (4500, 500, True)
    >>> round(scores.report.metrics.rows[1].auc, 2)
    0.87
    """
    asked = check_asked(
        features=features,
        group=group,
        controls=controls,
        model=model,
        calibrator=calibrator,
        split=split,
        folds=folds,
        draw=draw,
        sigma=sigma,
        categories=categories,
        weights=weights,
        weight_type=weight_type,
        cluster=cluster,
        id=id,
        seed=seed,
        force=force,
    )
    workers = check_threads(threads)
    return (
        _separate(labelled, unlabelled, asked, workers) if unlabelled is not None else _mixed(labelled, asked, workers)
    )


def _separate(labelled: Any, unlabelled: Any, asked: Asked, threads: int) -> Scores:
    scored = open_source(unlabelled)
    scored.select(asked.roles.to_score)  # what it lacks is said before anything is trained
    labels, asked = read_to_train(open_source(labelled), scored, asked, mixed=False)
    trained = train(labels, asked)
    gathered = _Gathered.of(trained.scorer.stream(scored.select(asked.roles.to_score), threads))
    return _scores(trained, gathered.p, None, gathered.missing)


def _mixed(table: Any, asked: Asked, threads: int) -> Scores:
    source = open_source(table)
    labels, asked = read_to_train(source, source, asked, mixed=True)
    trained = train(labels, asked)
    stream = trained.scorer.stream(source.select(asked.roles.to_train), threads)
    gathered = _Gathered.of(stream, group=asked.roles.group)
    everywhere, known = gathered.p.copy(), gathered.known
    if int(known.sum()) != len(trained.p):
        raise InputError(
            expected="a table that gives the same rows in the same order each time it is read",
            found=f"{len(trained.p):,} labelled rows, then {int(known.sum()):,}",
            fix="Bring it into memory or write it to a file first",
        )
    everywhere[known] = trained.p
    return _scores(trained, gathered.p[~known], everywhere, gathered.missing)


@dataclass(frozen=True, slots=True)
class _Gathered:
    p: Floats
    known: NDArray[np.bool_]
    missing: Counter[str]

    @classmethod
    def of(cls, stream: Iterable[Scored], group: str | None = None) -> _Gathered:
        parts: list[Floats] = []
        known: list[NDArray[np.bool_]] = []
        missing: Counter[str] = Counter()
        for batch, p, _, gaps in stream:
            parts.append(p)
            missing.update(gaps)
            known.append(np.zeros(len(p), np.bool_) if group is None else ~np.isnan(numbers(batch.column(group))))
        if not parts:
            return cls(np.empty(0), np.empty(0, np.bool_), missing)
        return cls(np.concatenate(parts), np.concatenate(known), missing)


def _scores(trained: Trained, unlabelled: Floats, everywhere: Floats | None, missing: Counter[str]) -> Scores:
    # Where both kinds are in one table, what labelled rows lack was counted with the others.
    if everywhere is None:
        missing = missing + Counter(trained.missing)
    return Scores(
        unlabelled=unlabelled,
        labelled=trained.p,
        audit=trained.audit,
        fold=trained.fold,
        p=everywhere,
        scorer=trained.scorer,
        report=trained.report(len(unlabelled), missing),
    )
