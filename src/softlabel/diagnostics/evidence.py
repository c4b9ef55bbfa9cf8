r"""Evidence: the labelled rows beside the unlabelled ones, as influence values of one joint covariance.

On audit rows the group is seen, the score is clean, and the residuals are those of nuisances fitted on the unlabelled
rows: r̂ and m̂ were fitted on other rows, so nothing is overfitted. With a = p − r̂(X), R = Y − m̂(X) and
e = G − ĝ(X), where ĝ is r̂ with an intercept and a slope of its own,

.. math::
    \hat\theta_L = \frac{\sum w a R}{\sum w a^2}, \qquad \hat c_L = \frac{\sum w a e}{\sum w a^2}.

As a is orthogonal to functions of X, ĉ does not depend on ĝ to first order; ĝ takes noise away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.joint import Slope, cross, joint_covariance, slope_on
from softlabel.estimators.supervised import SupervisedFit
from softlabel.influence.labelled import labelled_residuals
from softlabel.moments.solve import RANK_TOLERANCE, least_squares
from softlabel.results import Estimate
from softlabel.running import Run
from softlabel.study import Columns

__all__ = ["LEAST_AUDIT_ROWS", "Evidence", "audit_rows", "gather", "no_evidence", "no_residuals"]

Floats = NDArray[np.float64]

# With fewer rows, or a class of fewer than two, the slope of the group on the score is a number without meaning.
LEAST_AUDIT_ROWS = 10
_LEAST_OF_A_CLASS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Labelled rows that audit the score, n of them, and what they say.

    Attributes
    ----------
    rows
        The audit rows with design columns (d − 1, n) in place of the controls.
    clean : (n_L,)
        Which of the labelled rows they are.
    a, r, e : (n,)
        Residuals of the score, the outcome and the group.
    b : (T, n)
        Of the hard label at each threshold.
    g, omega
        (supervised, soft_L, soft_U, c_L) and their covariance (4, 4).
    """

    rows: Columns
    clean: NDArray[np.bool_]
    a: Floats
    r: Floats
    e: Floats
    b: Floats
    covariance: str
    supervised: SupervisedFit
    soft: Estimate
    g: Floats
    omega: Floats

    @property
    def n(self) -> int:
        """Cases that audit."""
        return len(self.rows) if self.copies is None else int(self.copies.sum())

    @property
    def copies(self) -> Floats | None:
        """How many cases a row stands for, where weights are frequencies."""
        return self.rows.weight if self.rows.frequency else None

    @property
    def weight(self) -> Floats:
        """Weights of the audit rows, (n,)."""
        return np.ones(len(self.rows)) if self.rows.weight is None else self.rows.weight

    @property
    def group_variance(self) -> float | None:
        """E[Var(G|X)], what the controls leave of the group; ``None`` where they have as many columns as cases."""
        weight, group = self.weight, self.rows.group
        controls = self.rows.controls - np.average(self.rows.controls, axis=1, weights=weight)[:, None]
        design = np.vstack([np.ones(len(group)), controls])
        fit = least_squares((design * weight) @ design.T, (design * weight) @ group[:, None])
        left = self.n - int(fit.kept.sum())
        if left <= 0:
            return None
        square = np.square(group - fit.coefficients[:, 0] @ design)
        return float(np.average(square, weights=weight)) * self.n / left

    def slope(self, x: Floats, target: Floats) -> Slope | None:
        """Return the slope of a target (n,) on x (n,), ``None`` where a single row decides it."""
        return slope_on(x, target, self.rows, self.covariance)

    def with_supervised(self, *influences: Floats) -> Floats:
        """Return the covariance of supervised and of others, whose influence (n,) is on the audit rows."""
        return cross(self.beside_supervised(*influences), self._labelled_copies, self._labelled_cluster)

    def beside_supervised(self, *influences: Floats) -> Floats:
        """Return the influence (m + 1, n_L) of supervised and of others: zero on labelled rows that do not audit."""
        assert self.supervised.influence is not None  # noqa: S101  (gather made sure)
        found = np.zeros((len(influences) + 1, len(self.clean)))
        found[0], found[1:, self.clean] = self.supervised.influence, influences
        return found

    _labelled_copies: Floats | None = None
    _labelled_cluster: NDArray[np.intp] | None = None


def audit_rows(labelled: Columns) -> NDArray[np.bool_]:
    """Return which labelled rows (n,) audit the score: those that have one, and that the caller names, if any."""
    clean: NDArray[np.bool_] = ~np.isnan(labelled.score[0])
    return clean if labelled.audit is None else clean & labelled.audit


def no_evidence(labelled: Columns, supervised: Estimate, soft: str | None) -> str | None:
    """Return why there is no evidence, as far as no residual is asked; ``soft`` is why that cannot be computed."""
    if not len(labelled):
        return "there are no labelled rows"
    if supervised.reason is not None:
        return f"supervised cannot be computed: {supervised.reason}"
    if soft is not None:
        return f"soft cannot be computed: {soft}"
    if labelled.audit is not None and not labelled.audit.any():
        return "no labelled row is marked 1 in the audit column"
    return _too_few(labelled.take(audit_rows(labelled)), named=labelled.audit is not None)


def no_residuals(a: Floats, rows: Columns, score_variance: float, covariance: str) -> str | None:
    """Return why residuals a = p − r̂(X) (n,) of the audit rows, with columns that do not matter, say nothing."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    if float(np.average(np.square(a), weights=weight)) <= RANK_TOLERANCE * score_variance:
        return "the controls explain the score completely on the audit rows"
    if slope_on(a, np.zeros(len(a)), rows, covariance) is None:
        return "a single audit row, or cluster of them, decides what the score says"
    return None


def gather(run: Run, supervised: SupervisedFit, soft: Estimate, covariance: str) -> Evidence | str:
    """Return the evidence, or why there is none."""
    labelled = run.labelled
    reason = no_evidence(labelled, supervised.estimate, soft.reason)
    if reason is not None:
        return reason
    clean = audit_rows(labelled)
    rows = labelled.take(clean)
    found = labelled_residuals(run.labelled_read.take(clean), run.analysis)
    a, r, b = found.a[0], found.r, found.b[:, 0]
    reason = no_residuals(a, rows, float(run.analysis.points.score_variance[0, 0]), covariance)
    if reason is not None:
        return reason
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    e = rows.group - _line(rows.score[0] - a, rows.group, weight)
    soft_slope, group_slope = slope_on(a, r, rows, covariance), slope_on(a, e, rows, covariance)
    assert soft_slope is not None  # noqa: S101  (as no_residuals found, whatever the target)
    assert group_slope is not None  # noqa: S101
    evidence = Evidence(
        rows=rows,
        clean=clean,
        a=a,
        r=r,
        e=e,
        b=b,
        covariance=covariance,
        supervised=supervised,
        soft=soft,
        g=np.array(
            [supervised.estimate.estimate, soft_slope.value, soft.estimate, group_slope.value], dtype=np.float64
        ),
        omega=np.empty((4, 4)),
        _labelled_copies=labelled.weight if labelled.frequency else None,
        _labelled_cluster=None if labelled.cluster is None else np.unique(labelled.cluster, return_inverse=True)[1],
    )
    influence = evidence.beside_supervised(soft_slope.influence, group_slope.influence)
    omega = joint_covariance(run, influence)
    # As they come: supervised, soft_L, c_L, soft_U.
    return replace(evidence, omega=omega[np.ix_([0, 1, 3, 2], [0, 1, 3, 2])])


def _line(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Return the fitted values of y on (1, x)."""
    mean_x, mean_y = np.average(x, weights=weight), np.average(y, weights=weight)
    centred = x - mean_x
    spread = float(weight @ np.square(centred))
    # Without controls x is constant, and what rounding leaves of it explains nothing.
    tiny = 1e-20 * float(weight.sum()) * max(float(np.square(x).max(initial=0.0)), 1e-300)
    slope = float(weight @ (centred * y)) / spread if spread > tiny else 0.0
    fitted: Floats = mean_y + slope * centred
    return fitted


def _too_few(rows: Columns, *, named: bool) -> str | None:
    which = "audit rows" if named else "labelled rows with a score"
    each = rows.weight if rows.frequency and rows.weight is not None else np.ones(len(rows))
    n, ones = int(each.sum()), int(each @ (rows.group == 1))
    if n < LEAST_AUDIT_ROWS:
        return f"{n} {which} are too few to audit the score: at least {LEAST_AUDIT_ROWS} are needed"
    fewest = min(ones, n - ones)
    if fewest < _LEAST_OF_A_CLASS:
        return f"{fewest} of {n} {which} are of group {int(ones == fewest)}, and {_LEAST_OF_A_CLASS} are needed"
    return None
