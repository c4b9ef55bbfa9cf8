"""diagnose: a table in, a Diagnosis out. Orchestration only; every number is computed elsewhere."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.basis import make_basis
from softlabel.decision import check_rule, paper_rule
from softlabel.diagnostics.attenuation import confident_table, kappa_table, label_equivalents
from softlabel.diagnostics.notes import notes, redundant_controls
from softlabel.errors import InputError
from softlabel.estimators.confident import confident_estimates
from softlabel.estimators.hard import hard_estimates
from softlabel.estimators.soft import soft_estimates, v_star_estimate
from softlabel.estimators.supervised import Covariance, check_covariance, supervised_fit
from softlabel.folds import check_folds, check_seed
from softlabel.influence import Analysis, FoldRule, analyse
from softlabel.moments import Design, Partition
from softlabel.results import Diagnosis, Sample, Settings, Table
from softlabel.results.inference import check_level
from softlabel.results.records import Column
from softlabel.sources import Selection, open_source
from softlabel.sources.coalesce import coalesced
from softlabel.sources.threads import check_threads
from softlabel.study import Batch, Part, Study

Floats = NDArray[np.float64]

__all__ = ["CONFIDENT", "THRESHOLDS", "diagnose"]

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CONFIDENT = (0.55, 0.65, 0.75, 0.85, 0.9, 0.95)


def diagnose(
    data: Any,
    *,
    outcome: str,
    score: str,
    group: str | None = None,
    controls: Sequence[str] = (),
    labelled: Any = None,
    thresholds: Sequence[float] = THRESHOLDS,
    confident: Sequence[float] = CONFIDENT,
    basis: str = "linear",
    folds: int | None = 5,
    seed: int = 0,
    id: str | None = None,
    covariance: Covariance = "HC3",
    rule: str = "paper",
    kappa_tolerance: float = 0.05,
    level: float = 0.95,
    missing: Literal["raise", "drop"] = "raise",
    threads: int | None = None,
) -> Diagnosis:
    r"""Estimate the effect of a latent group every way there is, and what thresholding its score costs.

    The target is τ in E[Y | G, X] = μ(X) + τG. The group G is known on the labelled rows; every row has a score
    p, a classifier's probability that G is one. The data are read twice and never held in memory.

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
        Columns X. They enter as the basis says; ``()`` is an intercept alone.
    labelled
        A second table with the labelled rows, instead of nulls in the group.
    thresholds, confident
        Where to threshold the score, and where to cut confident sets max(p, 1 − p) > t.
    basis
        "linear": an intercept and the controls as given.
    folds
        Folds for cross-fitting the regressions on the controls; ``None`` fits them in sample.
    seed
        Of the dealing to folds.
    id
        Column whose value decides a row's fold, in place of all its values.
    covariance
        Of the supervised estimate: "HC0" to "HC3", with t(df). The unlabelled rows use HC0 and the normal.
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
    study = Study(_name(outcome), _name(group), _name(score), _names(controls), _name(id), missing)
    count = check_folds(folds)
    design = Design(
        make_basis(basis, study.controls),
        Partition.of(thresholds, confident),
        count,
        check_seed(seed),
        (study.outcome, study.score),
    )
    fold_rule = FoldRule(None if folds is None else count, "values" if id is None else "id")
    kappa_tolerance = check_rule(rule, kappa_tolerance)
    check_covariance(covariance)
    level, threads = check_level(level), check_threads(threads)
    parts = _open(study, data, labelled)

    def chunks() -> Iterator[tuple[Part, pa.RecordBatch]]:
        for part, selection in parts:
            for batch in coalesced(selection.batches()):
                yield part, batch

    def read(chunk: tuple[Part, pa.RecordBatch]) -> Batch:
        return study.read(chunk[1], chunk[0])

    analysis = analyse(chunks, read, design, fold_rule, verify=study.verify, threads=threads)
    labelled_rows = _labelled(analysis)
    supervised = supervised_fit(*labelled_rows, covariance=covariance, level=level)
    soft, soft_moment = soft_estimates(analysis, level)
    hard = hard_estimates(analysis, level)
    estimates = Table((supervised, soft, soft_moment, *hard, *confident_estimates(analysis, level)))
    kappa = kappa_table(analysis, level)
    return Diagnosis(
        verdict=paper_rule(soft, soft_moment, supervised, kappa, kappa_tolerance=kappa_tolerance),
        estimates=estimates,
        v_star=v_star_estimate(analysis, level),
        score_variance=float(analysis.points.score_variance[0, 0]),
        kappa=kappa,
        kappa_confident=confident_table(analysis, level),
        label_equivalents=label_equivalents(estimates, supervised),
        sample=_sample(analysis, fold_rule, " and ".join(selection.name for _, selection in parts)),
        settings=Settings(
            outcome=study.outcome,
            group=study.group,
            score=study.score,
            controls=study.controls,
            thresholds=design.partition.thresholds,
            confident=design.partition.confident,
            basis=basis,
            folds=fold_rule.count,
            seed=design.seed,
            id=study.id,
            covariance=covariance,
            rule=rule,
            kappa_tolerance=kappa_tolerance,
            level=level,
            missing=missing,
        ),
        notes=notes(analysis, fold_rule, level, soft=soft, supervised=supervised, labelled=labelled_rows[2]),
    )


def _name(column: Any) -> Any:
    """Return a column's name as plain text, for NumPy has strings of its own; Study refuses what is no text."""
    return str(column) if isinstance(column, str) else column


def _names(controls: Sequence[str]) -> tuple[str, ...]:
    if isinstance(controls, str) or not isinstance(controls, Iterable):
        raise InputError(
            expected="controls to be a list of columns",
            found=repr(controls),
            fix=f"Use controls=[{controls!r}]" if isinstance(controls, str) else "Use controls=[] for none",
        )
    return tuple(_name(control) for control in controls)


def _open(study: Study, data: Any, labelled: Any) -> list[tuple[Part, Selection]]:
    """Return every table to read with the kind of its rows, its types checked."""
    if labelled is not None and study.group is None:
        raise InputError(
            expected="a group with labelled=",
            found="group=None",
            fix="Name the column of the labelled table that holds the group",
        )
    alone: Part = "unlabelled" if labelled is not None or study.group is None else "mixed"
    tables: list[tuple[Part, Any]] = [(alone, data)]
    if labelled is not None:
        tables.append(("labelled", labelled))
    parts = []
    for part, table in tables:
        source = open_source(table)
        selection = source.select(study.needed(part, source.columns()))
        study.check_types(selection.schema(), partial(_first_value, selection))
        parts.append((part, selection))
    return parts


def _first_value(selection: Selection, column: str) -> str | None:
    """Return the first value of a column as text, to show in a message; ``None`` if there is none to be had."""
    for batch in selection.batches(rows=1_000):
        values = batch.column(column).drop_null()
        return str(values[0]) if len(values) else None
    return None


def _labelled(analysis: Analysis) -> tuple[Floats, Floats, Floats]:
    """Return outcome (n,), group (n,) and design columns (d − 1, n) of the labelled rows."""
    pieces = analysis.fit.labelled
    d = analysis.design.d
    rows = sum(map(len, pieces))
    controls = np.empty((d - 1, rows))
    start = 0
    for piece in pieces:
        analysis.design.basis.fill(piece.controls, controls[:, start : start + len(piece)])
        start += len(piece)
    outcome, labels = (
        np.concatenate([getattr(piece, name) for piece in pieces] or [np.empty(0)]) for name in ("outcome", "group")
    )
    return outcome, labels, controls


def _sample(analysis: Analysis, rule: FoldRule, source: str) -> Sample:
    tally = analysis.fit.tally
    in_sample = analysis.nuisances.in_sample
    return Sample(
        source=source,
        rows=tally.rows,
        used=tally.unlabelled + tally.labelled,
        unlabelled=tally.unlabelled,
        labelled=tally.labelled,
        labelled_by_class=(tally.labelled - tally.positive, tally.positive),
        dropped=tally.dropped,
        missing=tuple(Column(name, count) for name, count in tally.missing.items()),
        n_effective=analysis.n_effective,
        folds=None if in_sample else rule.count,
        folds_by="in sample" if in_sample else rule.by,
        redundant_controls=redundant_controls(analysis),
        fingerprint=str(analysis.fit.check),
        seed=analysis.design.seed,
        versions=_versions(),
    )


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    """Return what is needed to compute the same numbers again; looked up once, for it takes milliseconds."""
    from importlib.metadata import version

    names = ("softlabel", "numpy", "scipy", "pyarrow")
    return (("python", platform.python_version()), *((name, version(name)) for name in names))
