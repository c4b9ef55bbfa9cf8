"""Running: from opened tables to every sum an estimate needs, by a basis or by a learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softlabel.basis import DesignBasis, Levels, Plan, fit_basis
from softlabel.errors import DataError, InputError
from softlabel.folds import RowCheck, RowSketch, hash_rows
from softlabel.influence import Analysis, FoldRule, analyse, check_unchanged
from softlabel.look import Dealing, LookState, Wanted
from softlabel.moments import Design, Partition
from softlabel.moments.kernel import fold_of
from softlabel.nuisances import (
    Learner,
    LearnerScore,
    make_learner,
    predicted_nuisances,
    prediction_names,
    v_star_of,
    with_predictions,
)
from softlabel.progress import Passes
from softlabel.reading import Chunk, Tables
from softlabel.sources.threads import map_merge
from softlabel.study import Batch, Columns, Tally, joined

__all__ = ["Run", "check_learners", "run_tables"]


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Sums and fits of opened tables, and what was met on the way to them.

    ``labelled`` has design columns (d − 1, n) in place of the controls, ``labelled_read`` what the design of the
    analysis reads: the controls, or a learner's predictions; ``controls`` (k, n) are these rows' own in any case, and
    ``levels`` those of the categories among them. ``check`` is of the rows as they were read.
    ``learner`` names the one in use; ``compared`` holds V̂* with each, where there are several.
    """

    source: str
    analysis: Analysis
    basis: DesignBasis
    labelled: Columns
    labelled_read: Columns
    rule: FoldRule
    check: RowCheck
    dealing: Dealing | None
    learner: str | None = None
    compared: tuple[LearnerScore, ...] = ()
    controls: Floats = field(default_factory=lambda: np.empty((0, 0)))
    levels: Mapping[str, Levels] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Every row that was read, in pieces: what a learner needs in memory."""

    unlabelled: tuple[Columns, ...] = ()
    labelled: tuple[Columns, ...] = ()
    tally: Tally = field(default_factory=Tally)

    def merge(self, other: _Rows) -> _Rows:
        """Return both sets of rows."""
        return _Rows(self.unlabelled + other.unlabelled, self.labelled + other.labelled, self.tally.merge(other.tally))


def check_learners(learner: Any, seed: int) -> list[Learner]:
    """Return the learners asked for: none, one, or several."""
    if learner is None:
        return []
    asked = list(learner) if isinstance(learner, list | tuple) else [learner]
    made = [make_learner(one, seed) for one in asked]
    names = [one.name for one in made]
    twice = [name for name in names if names.count(name) > 1]
    if twice or not made:
        raise InputError(
            expected="at least one learner, each of another name",
            found=f"{twice[0]} more than once" if twice else "an empty list",
            fix="Name each once; to compare settings of one kind, diagnose once for each",
        )
    return made


def run_tables(
    tables: Tables,
    plan: Plan,
    partition: Partition,
    rule: FoldRule,
    *,
    folds: int,
    seed: int,
    learners: Sequence[Learner] = (),
    threads: int = 1,
) -> Run:
    """Look where that is needed, then take both passes."""
    study = tables.study
    plan = plan.resolve(tables.categories)
    wanted = Wanted(plan.controls, plan.categories, plan.splines)
    look = LookState.empty(wanted)
    looked = ["look"] if plan.needs_look or study.cluster is not None else []
    tables.expect(*looked, *(["read"] if learners else ["fit", "score"]))
    if looked:
        look = tables.look(wanted, threads)
    levels = look.ordered_levels()
    basis = fit_basis(plan, levels, look.samples(wanted))
    dealing = None if study.cluster is None else Dealing.of(look.clusters, folds, seed)
    design = Design(basis, partition, folds, seed, (study.outcome, study.score))

    def read(chunk: Chunk) -> Batch:
        batch = tables.read(chunk)
        return batch if dealing is None else dealing.apply(batch)

    if learners:
        run = _learnt(tables, read, plan, rule, design, dealing, learners, threads)
        _check_looked(look, run.check)
        return replace(run, levels=levels)
    analysis = analyse(tables.chunks, read, design, rule, verify=study.verify, threads=threads)
    _check_looked(look, analysis.fit.check)
    labelled = joined(analysis.fit.labelled, len(plan.controls))
    laid_out = _laid_out(labelled, basis)
    return Run(
        tables.name,
        analysis,
        basis,
        laid_out,
        labelled,
        rule,
        analysis.fit.check,
        dealing,
        controls=labelled.controls,
        levels=levels,
    )


def _check_looked(look: LookState, later: RowCheck) -> None:
    """Raise unless the rows that were looked at, if any, are those that were read after."""
    if look.check.rows and not look.clusters.joined:  # joined clusters are other clusters than those looked at
        check_unchanged(look.check, later)


def _learnt(
    tables: Tables,
    read: Callable[[Chunk], Batch],
    plan: Plan,
    rule: FoldRule,
    design: Design,
    dealing: Dealing | None,
    learners: Sequence[Learner],
    threads: int,
) -> Run:
    """Read every row into memory, and take both passes over out-of-fold predictions."""

    def keep(chunk: Chunk) -> _Rows:
        batch = read(chunk)
        return _Rows((batch.unlabelled,), (batch.labelled,), batch.tally)

    rows = map_merge(tables.chunks(), keep, threads, _Rows())
    tables.study.verify(rows.tally)
    unlabelled = joined(rows.unlabelled, len(plan.controls))
    labelled = joined(rows.labelled, len(plan.controls))
    hashes = hash_rows(unlabelled)
    sketch = RowSketch.of(hashes, unlabelled.weight if unlabelled.frequency else None)
    n_effective = sketch.effective_rows(rows.tally.unlabelled)
    _check_can_learn(rule, n_effective, rows.tally.unlabelled, design.d, frequency=unlabelled.frequency)
    compared = _compare(learners, unlabelled, design, tables.passes) if len(learners) > 1 else ()
    best = min(range(len(compared)), key=lambda i: compared[i].v_star, default=0)
    told = tables.passes.fits(learners[best].name)
    laid_out = _laid_out(labelled, design.basis)
    elsewhere = np.zeros((len(prediction_names(design.partition)), len(labelled)))
    predicted, learnt = with_predictions(
        learners[best], unlabelled, design, others=(laid_out.controls, elsewhere), progress=told
    )
    batch = Batch(predicted, labelled.take(slice(0, 0)), rows.tally)
    given = FoldRule(design.folds, "given")
    analysis = analyse(
        lambda: [batch], _itself, learnt, given, verify=tables.study.verify, nuisances_of=predicted_nuisances
    )
    # Predictions stand where the controls were: what tells rows apart is what was read.
    fit = replace(analysis.fit, labelled=(labelled,) if len(labelled) else ())
    analysis = replace(analysis, n_effective=n_effective, fit=fit)
    return Run(
        source=tables.name,
        analysis=analysis,
        basis=design.basis,
        labelled=laid_out,
        labelled_read=replace(labelled, controls=elsewhere),
        rule=rule,
        check=RowCheck.of(unlabelled, hashes).merge(RowCheck.of(labelled, hash_rows(labelled))),
        dealing=dealing,
        learner=learners[best].name,
        compared=tuple(compared),
        controls=labelled.controls,
    )


def _itself(batch: Batch) -> Batch:
    return batch


def _laid_out(labelled: Columns, basis: DesignBasis) -> Columns:
    controls = np.empty((len(basis.columns), len(labelled)))
    basis.fill(labelled.controls, controls)
    return replace(labelled, controls=controls)


def _check_can_learn(rule: FoldRule, n_effective: float, n: int, d: int, *, frequency: bool) -> None:
    if rule.count is None:
        raise InputError(
            expected="folds with a learner",
            found="folds=None",
            fix="Use folds=5: a learner fits the rows it has seen better than others",
        )
    if rule.in_sample(n_effective, n, d):
        raise DataError(
            expected="rows that differ, or an id that tells them apart, to deal to a learner's folds",
            found=f"{n:,} rows that hold about {n_effective:,.0f} distinct ones",
            # What stands for many cases has no id for each of them: its copies share a fold in any case.
            fix="Name a column with id= that names each row of the table, or one of clusters with cluster="
            if frequency
            else "Name a column with id= whose value is another for every case",
        )


def _compare(learners: Sequence[Learner], rows: Columns, design: Design, passes: Passes) -> list[LearnerScore]:
    """Return V̂* with each learner."""
    x = np.empty((design.d - 1, len(rows)))
    design.basis.fill(rows.controls, x)
    fold = fold_of(rows, hash_rows(rows), design)
    return [
        v_star_of(
            one,
            x,
            rows.score,
            fold,
            design.folds,
            weight=rows.weight,
            frequency=rows.frequency,
            cluster=rows.cluster,
            progress=passes.fits(f"comparing {one.name}"),
        )
        for one in learners
    ]
