"""diagnose: a table in, a Diagnosis out. Orchestration only; every number is computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Literal, Never

from softlabel.asking import CONFIDENT, THRESHOLDS, control_plan, feature_names, folds_by, plain_name
from softlabel.basis import Basis
from softlabel.concluding import Asked, conclude
from softlabel.decision import check_rule
from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.supervised import Covariance, check_covariance
from softlabel.folds import check_folds, check_seed
from softlabel.influence import FoldRule
from softlabel.moments import Partition
from softlabel.progress import Passes, check_progress
from softlabel.reading import open_tables
from softlabel.results import Diagnosis
from softlabel.results.inference import check_level
from softlabel.running import check_learners, run_tables
from softlabel.scoring.chain import free_name, made_here, rows_to_read
from softlabel.sources.threads import check_threads
from softlabel.study import Study

__all__ = ["diagnose"]


def diagnose(
    data: Any,
    *,
    outcome: str,
    score: str | None = None,
    group: str | None = None,
    controls: Sequence[str] | str = (),
    labelled: Any = None,
    thresholds: Sequence[float] = THRESHOLDS,
    confident: Sequence[float] = CONFIDENT,
    basis: str | Basis | None = None,
    learner: Any = None,
    folds: int | None = 5,
    seed: int = 0,
    weights: str | None = None,
    weight_type: Literal["sampling", "frequency"] = "sampling",
    cluster: str | None = None,
    id: str | None = None,
    audit: str | None = None,
    features: Sequence[str] | None = None,
    model: Any = None,
    calibrator: str | None = None,
    split: str | None = None,
    covariance: Covariance = "HC3",
    rule: Literal["guarded", "paper"] = "guarded",
    trust: Literal["nothing", "exclusion", "calibration"] | None = None,
    kappa_tolerance: float = 0.05,
    level: float = 0.95,
    missing: Literal["raise", "drop"] = "raise",
    threads: int | None = None,
    progress: bool | None = None,
    **unknown: Never,
) -> Diagnosis:
    r"""Estimate the effect of a latent group every way there is, and what thresholding its score costs.

    The target is τ in E[Y | G, X] = μ(X) + τG. The group G is known on the labelled rows; every row has a score
    p, a classifier's probability that G is one. The data are read two or three times and not held in memory, unless
    a learner needs them there.

    Parameters
    ----------
    data
        A pandas or Polars DataFrame, a Polars LazyFrame, a PyArrow table or dataset, a DuckDB relation, a dict of
        arrays, or paths or globs of Parquet and CSV files.
    outcome, score
        Columns Y and p. Without a score one is made of ``features``, as `softlabel.score` does.
    group
        Column G: 0, 1, or null where it is unknown. ``None``: no labels at all.
    controls
        Columns X. A list of names: they enter as the basis says, text as categories; ``()`` is an intercept alone. A
        text: a formula such as ``"age + C(region) + bs(income) + age:female"``, which says itself how each enters.
        A category has at most 200 levels, those of all rows, labelled or not; a level that a fold's fit has not seen
        counts as the reference, the first in order; a null is a missing value.
    labelled
        A second table with the labelled rows, instead of nulls in the group.
    thresholds, confident
        Where to threshold the score, and where to cut confident sets max(p, 1 − p) > t.
    basis
        "spline" (the default for a list of controls), natural cubic splines with knots at quantiles; "bspline";
        "linear"; or a `Basis` with knots, categories, interactions and a ridge of your own.
    learner
        A scikit-learn regressor to fit E[p|X], E[Y|X] and E[h|X] with in place of the basis, or one by name: "linear",
        "quadratic" and "spline" (least squares), "ridge", "forest", "boosting". Of several, the one of the smallest
        V* is used, and each one's is shown. Frequencies are so many rows to "ridge"; others are handed them as
        weights, and may split rows otherwise than copies.
    folds
        Folds for cross-fitting the regressions on the controls; ``None`` fits them in sample.
    seed
        Of the dealing to folds.
    weights, weight_type
        Column of weights; "sampling": how many cases of the population a row stands for, "frequency": how many equal
        rows it stands for.
    cluster
        Column that names the cluster of each row: rows of a cluster share a fold and may depend on each other.
    id
        Column whose value decides a row's fold, in place of all its values.
    audit
        Column that is 1 for the labelled rows that may audit the score, because neither the classifier nor its
        calibrator has seen their labels, and 0 or empty for the others. ``None``: all that have a score may.
    features
        Names of the columns that the classifier saw, if known: they are compared with the controls, and not read.
        Without a score, the columns that a classifier is to be trained on.
    model, calibrator, split
        How a score is made of features: see `softlabel.score` ("logistic", "conditional", "folds").
    covariance
        Of the supervised estimate: "HC0" to "HC3", with t(df); CR0 to CR3 with clusters. The unlabelled rows use
        HC0 and the normal; with G clusters the factor G/(G − 1) and t(G − 1).
    rule
        "guarded": adapt to what the labels show of calibration and exclusion, with an interval that needs neither.
        "paper": Algorithm 1 of Kurbucz (2026), which compares precision only.
    trust
        For the guarded rule: ``None`` lets the data decide; "nothing", "exclusion" or "calibration" is your word for
        how much to trust the score: rectified, instrumented or combined is then reported, with its own interval.
    kappa_tolerance
        κ(t) is far from one when its interval lies outside 1 ± this.
    level
        Of every confidence interval.
    missing
        "raise" on a missing value, or "drop" its row and count it.
    threads
        Threads over batches; ``None`` for one per core.
    progress
        A line on stderr that says how far it is: ``None`` shows it on a terminal when the work takes longer than a
        second, True and False force.

    Returns
    -------
    Diagnosis
        Frozen; ``print(d.summary())`` is the page to read first.

    Raises
    ------
    InputError
        An unknown column or option, a file that is not there.
    DataError
        Values that cannot be: a score outside [0, 1], a group other than 0 and 1, missing values.
    SourceError
        A source that could not be read, or whose rows changed while it was read twice.

    References
    ----------
    Kurbucz, M. T. (2026). When to trust confidence thresholding: calibration diagnostics for pseudo-labelled
    regression.

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.simulate.clinic(n_unlabelled=20_000, n_labelled=400, seed=1)
    >>> d = sl.diagnose(
    ...     table, outcome="days_in_hospital", group="delirium", score="p_delirium",
    ...     controls=["age", "frailty", "emergency"],
    ... )
    >>> d.verdict.choice
    'adaptive'
    >>> d.estimate("soft").n, d.estimate("supervised").n
    (20000, 400)
    """
    if unknown:
        raise _unknown_option(next(iter(unknown)))
    # A learner finds curves by itself: it is given the controls as they are, and dummies for categories.
    straight = "linear" if learner is not None and basis is None and not isinstance(controls, str) else basis
    plan = control_plan(controls, straight)
    # Read once: an iterator is empty the second time.
    seen = None if features is None else feature_names(features)
    making = made_here(
        score=score,
        features=seen,
        audit=audit,
        labelling={
            "group": group,
            "controls": controls if isinstance(controls, str) else plan.controls,
            "weights": weights,
            "weight_type": weight_type,
            "cluster": cluster,
            "id": id,
            "folds": 5 if folds is None else folds,
            "seed": seed,
            "outcome": outcome,
            "further": (outcome,),
        },
        making={"model": model, "calibrator": calibrator, "split": split},
    )
    apart = None
    if making is not None:
        taken = (*making.roles.to_train, outcome)
        score = free_name(("p", "score"), taken)
        audit = free_name(("audit",), taken) if making.split == "halves" else None
        apart = free_name(("row",), taken) if id is None and cluster is None else None
    study = Study(
        plain_name(outcome),
        plain_name(group),
        plain_name(score),
        plan.controls,
        plain_name(id),
        missing,
        plain_name(weights),
        weight_type,
        plain_name(cluster),
        plain_name(audit),
    )
    count, seed = check_folds(folds), check_seed(seed)
    fold_rule = FoldRule(None if folds is None else count, folds_by(id, cluster))
    kappa_tolerance = check_rule(rule, trust, kappa_tolerance)
    check_covariance(covariance)
    level, threads = check_level(level), check_threads(threads)
    partition = Partition.of(thresholds, confident)
    learners = check_learners(learner, seed)
    with (
        Passes(check_progress(progress)) as passes,
        rows_to_read(
            data, labelled, making, replace(study, id=apart or id), told_apart=apart, threads=threads, passes=passes
        ) as (rows, labels, scoring),
    ):
        run = run_tables(
            open_tables(replace(study, id=apart or id), rows, labels, passes),
            plan,
            partition,
            fold_rule,
            folds=count,
            seed=seed,
            learners=learners,
            threads=threads,
        )
    return conclude(
        run,
        Asked(
            study=study,
            basis=plan.name,
            partition=partition,
            folds=fold_rule.count,
            seed=seed,
            covariance=covariance,
            rule=rule,
            trust=trust,
            kappa_tolerance=kappa_tolerance,
            level=level,
            features=seen,
            scoring=scoring,
        ),
    )


_ELSEWHERE = {
    ("absorb", "fe", "fixed_effects", "fixef", "entity_effects", "effects"): (
        "no absorbed fixed effects: an effect for each of many groups is not fitted",
        (
            "Put a column of up to 200 levels among the controls; with more, use a coarser one, and name the fine one "
            "as cluster= for the standard errors"
        ),
    ),
    ("family", "link", "distribution", "glm"): (
        "no model of the outcome but the linear one",
        (
            "Leave it out: for an outcome of 0 and 1 effects are differences in probability; take the logarithm of a "
            "positive outcome first, if effects are thought to be proportional"
        ),
    ),
}


def _unknown_option(name: str) -> InputError:
    for names, (expected, fix) in _ELSEWHERE.items():
        if name in names:
            return InputError(expected=expected, found=f"{name}=", fix=fix)
    known = [parameter for parameter in signature(diagnose).parameters if parameter != "unknown"]
    return InputError(expected="an option of diagnose", found=f"{name}=", fix=did_you_mean(name, known))
