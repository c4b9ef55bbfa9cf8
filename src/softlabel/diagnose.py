"""diagnose: a table in, a Diagnosis out. Orchestration only; every number is computed elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from functools import cache
from inspect import signature
from typing import Any, Literal, Never

from softlabel.basis import Basis, Plan, plan_basis
from softlabel.decision import check_rule, paper_rule
from softlabel.diagnostics.attenuation import confident_table, kappa_table, label_equivalents
from softlabel.diagnostics.notes import notes, redundant_controls
from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.confident import confident_estimates
from softlabel.estimators.hard import hard_estimates
from softlabel.estimators.soft import soft_estimates, v_star_estimate
from softlabel.estimators.supervised import Covariance, check_covariance, fit_supervised
from softlabel.folds import check_folds, check_seed
from softlabel.influence import FoldRule
from softlabel.moments import Partition
from softlabel.progress import Passes, check_progress
from softlabel.reading import open_tables
from softlabel.results import Diagnosis, Estimate, LearnerScore, Sample, Settings, Table
from softlabel.results.inference import check_level
from softlabel.results.records import Column
from softlabel.running import Run, check_learners, run_tables
from softlabel.sources.threads import check_threads
from softlabel.study import Study

__all__ = ["CONFIDENT", "THRESHOLDS", "control_plan", "diagnose", "folds_by"]

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CONFIDENT = (0.55, 0.65, 0.75, 0.85, 0.9, 0.95)


def diagnose(
    data: Any,
    *,
    outcome: str,
    score: str,
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
    covariance: Covariance = "HC3",
    rule: str = "paper",
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
        Columns Y and p.
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
        A scikit-learn regressor to fit E[p|X], E[Y|X] and E[h|X] with in place of least squares, or "ridge",
        "forest" or "boosting". Of several, the one of the smallest V* is used, and each one's is shown. Frequencies
        are so many rows to "ridge"; others are handed them as weights, and may split rows otherwise than copies.
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
    covariance
        Of the supervised estimate: "HC0" to "HC3", with t(df); CR0 to CR3 with clusters. The unlabelled rows use
        HC0 and the normal; with G clusters the factor G/(G − 1) and t(G − 1).
    rule
        "paper": Algorithm 1 of Kurbucz (2026).
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
    'soft'
    >>> d.estimate("soft").n, d.estimate("supervised").n
    (20000, 400)
    """
    if unknown:
        raise _unknown_option(next(iter(unknown)))
    # A learner finds curves by itself: it is given the controls as they are, and dummies for categories.
    straight = "linear" if learner is not None and basis is None and not isinstance(controls, str) else basis
    plan = control_plan(controls, straight)
    study = Study(
        _name(outcome),
        _name(group),
        _name(score),
        plan.controls,
        _name(id),
        missing,
        _name(weights),
        weight_type,
        _name(cluster),
    )
    count, seed = check_folds(folds), check_seed(seed)
    fold_rule = FoldRule(None if folds is None else count, folds_by(id, cluster))
    kappa_tolerance = check_rule(rule, kappa_tolerance)
    check_covariance(covariance)
    level, threads = check_level(level), check_threads(threads)
    partition = Partition.of(thresholds, confident)
    learners = check_learners(learner, seed)
    with Passes(check_progress(progress)) as passes:
        run = run_tables(
            open_tables(study, data, labelled, passes),
            plan,
            partition,
            fold_rule,
            folds=count,
            seed=seed,
            learners=learners,
            threads=threads,
        )
    analysis, rows = run.analysis, run.labelled
    fit = fit_supervised(
        rows.outcome,
        rows.group,
        rows.controls,
        weight=rows.weight,
        frequency=rows.frequency,
        cluster=rows.cluster,
        covariance=covariance,
        level=level,
    )
    supervised, v_star = fit.estimate, v_star_estimate(analysis, level)
    soft, soft_moment = soft_estimates(analysis, level)
    hard = hard_estimates(analysis, level)
    estimates = Table((supervised, soft, soft_moment, *hard, *confident_estimates(analysis, level)))
    kappa = kappa_table(analysis, level)
    return Diagnosis(
        verdict=paper_rule(soft, soft_moment, supervised, kappa, kappa_tolerance=kappa_tolerance),
        estimates=estimates,
        v_star=v_star,
        score_variance=float(analysis.points.score_variance[0, 0]),
        kappa=kappa,
        kappa_confident=confident_table(analysis, level),
        label_equivalents=label_equivalents(estimates, supervised),
        learners=_learners(run, v_star),
        sample=_sample(run),
        settings=Settings(
            outcome=study.outcome,
            group=study.group,
            score=study.score,
            controls=study.controls,
            thresholds=partition.thresholds,
            confident=partition.confident,
            basis=plan.name,
            learner=run.learner,
            folds=fold_rule.count,
            seed=seed,
            weights=study.weights,
            weight_type=None if study.weights is None else study.weight_type,
            cluster=study.cluster,
            id=study.id,
            covariance=covariance,
            rule=rule,
            kappa_tolerance=kappa_tolerance,
            level=level,
            missing=missing,
        ),
        notes=notes(run, level, soft=soft, supervised=fit),
    )


def folds_by(id: str | None, cluster: str | None) -> str:
    """Return what a row's fold depends on."""
    if id is not None and cluster is not None:
        raise InputError(
            expected="one column to decide folds",
            found=f"id={id!r} and cluster={cluster!r}",
            fix="Leave id out: rows of a cluster share a fold",
        )
    return "cluster" if cluster is not None else "id" if id is not None else "values"


_ELSEWHERE = {
    ("absorb", "fe", "fixed_effects", "fixef", "entity_effects", "effects"): (
        "no absorbed fixed effects: an effect for each of many groups is not fitted",
        (
            "Put a column of up to 200 levels among the controls; with more, use a coarser one, and name the fine one "
            "as cluster= for the standard errors"
        ),
    ),
    ("family", "link", "model", "distribution", "glm"): (
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


def _name(column: Any) -> Any:
    """Return a column's name as plain text, for NumPy has strings of its own; Study refuses what is no text."""
    return str(column) if isinstance(column, str) else column


def control_plan(controls: Sequence[str] | str, basis: str | Basis | None = None) -> Plan:
    """Return the plan for controls as the caller names them."""
    return plan_basis(controls if isinstance(controls, str) else _names(controls), basis)


def _names(controls: Sequence[str]) -> tuple[str, ...]:
    if isinstance(controls, str) or not isinstance(controls, Iterable):
        raise InputError(
            expected="controls to be a list of columns",
            found=repr(controls),
            fix=f"Use controls=[{controls!r}]" if isinstance(controls, str) else "Use controls=[] for none",
        )
    return tuple(_name(control) for control in controls)


def _learners(run: Run, v_star: Estimate) -> Table[LearnerScore]:
    """Return V̂* with each learner; of the only one it is V̂* itself."""
    if run.learner is None:
        return Table(())
    if not run.compared:
        return Table((LearnerScore(run.learner, v_star.estimate, v_star.std_error, used=True),))
    rows = (LearnerScore(row.name, row.v_star, row.std_error, row.name == run.learner) for row in run.compared)
    return Table(tuple(rows))


def _sample(run: Run) -> Sample:
    analysis, tally = run.analysis, run.analysis.fit.tally
    in_sample = analysis.nuisances.in_sample
    clusters = run.labelled.cluster
    return Sample(
        source=run.source,
        rows=tally.rows,
        used=tally.unlabelled + tally.labelled,
        unlabelled=tally.unlabelled,
        labelled=tally.labelled,
        labelled_by_class=(tally.labelled - tally.positive, tally.positive),
        dropped=tally.dropped,
        missing=tuple(Column(name, count) for name, count in tally.missing.items()),
        weightless=tally.weightless,
        n_effective=analysis.n_effective,
        folds=None if in_sample else run.rule.count,
        folds_by="in sample" if in_sample else run.rule.by,
        clusters=analysis.clusters,
        clusters_labelled=None if clusters is None else len(set(clusters.tolist())),
        columns=run.basis.columns,
        redundant_controls=redundant_controls(run),
        ridge=analysis.nuisances.ridge,
        fingerprint=str(run.check),
        seed=analysis.design.seed,
        versions=_versions(),
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """Return what is needed to compute the same numbers again; looked up once, for it takes milliseconds."""
    from importlib.metadata import version

    names = ("softlabel", "numpy", "scipy", "pyarrow")
    return (("python", platform.python_version()), *((name, version(name)) for name in names))
