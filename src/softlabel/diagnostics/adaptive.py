"""Thresholds per cell of a control and per class, and the average of the cells' attenuation factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softlabel.diagnostics.cell_kappa import Asked, LabelledCells, cell_attenuation
from softlabel.diagnostics.cells import Cells, ClassRule, cells_array, flexmatch, freematch, given, places
from softlabel.errors import InputError, did_you_mean
from softlabel.estimators.arrays import score_array
from softlabel.estimators.by_row import Counting
from softlabel.estimators.confident import WITHIN
from softlabel.estimators.in_memory import array_rows
from softlabel.estimators.soft import collapse
from softlabel.estimators.weights import WeightType
from softlabel.moments import Partition
from softlabel.results import Estimate, Table
from softlabel.results.adaptive import CellAttenuation, ClassThreshold
from softlabel.results.inference import check_level

__all__ = ["AdaptiveReport", "adaptive_attenuation"]

Floats = NDArray[np.float64]
Rule = Literal["flexmatch", "freematch", "given"]
RULES = ("flexmatch", "freematch", "given")
Regression = Literal["pooled", "by_cell"]
REGRESSIONS = ("pooled", "by_cell")
Pair = float | tuple[float, float]

# What FlexMatch starts from, as Zhang et al. (2021) do.
_FLEXMATCH = 0.95


@dataclass(frozen=True, slots=True)
class AdaptiveReport:
    """What labels by adaptive thresholds keep of the effect, in all and cell by cell.

    Attributes
    ----------
    rule, regression
        As asked.
    kappa, cells
        κ where every row is labelled, h = 1{p > threshold of its cell}, and a row per cell.
    kappa_confident, cells_confident
        κ_FM where only rows more certain than the threshold of their class are kept, and a row per cell.
    classes
        The thresholds by cell and class, and the rows they keep.
    note
        What a reader should know, if anything.
    """

    rule: str
    regression: str
    kappa: Estimate
    cells: Table[CellAttenuation]
    kappa_confident: Estimate
    cells_confident: Table[CellAttenuation]
    classes: Table[ClassThreshold]
    note: str | None = None

    def threshold_of(self, cells: ArrayLike) -> Floats:
        """Return each row's threshold, (n,), for rows in these cells: what `hard` takes."""
        found = cells_array(cells, np.size(cells))
        at = [np.nan if t is None else t for t in self.cells["threshold"]]
        return _looked_up(np.array(at), places(found, self.cells["cell"]), self.cells["cell"])

    def keeps(self, p: ArrayLike, cells: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return which rows, (n,), are kept: those more certain than the threshold of their class."""
        score = score_array(p)
        names = self.cells["cell"]
        at = np.array([np.nan if t is None else t for t in self.classes["threshold"]]).reshape(-1, 2)
        rows = places(cells_array(cells, len(score)), names)
        return _kept(score, _looked_up(at, rows, names))


def adaptive_attenuation(
    p: ArrayLike,
    X: ArrayLike | None = None,
    *,
    cells: ArrayLike | None = None,
    rule: Rule = "flexmatch",
    threshold: float | None = None,
    thresholds: Pair | Mapping[object, Pair] | None = None,
    regression: Regression = "pooled",
    weights: ArrayLike | None = None,
    weight_type: WeightType = "sampling",
    cluster: ArrayLike | None = None,
    folds: int | ArrayLike | None = 5,
    seed: int = 0,
    level: float = 0.95,
) -> AdaptiveReport:
    r"""Return what thresholds per cell of a control and per class do to a coefficient: no outcome, no label needed.

    With a = p − r̂(X) and b = h − ê[h|X], and cells c,

    .. math::
        \kappa = \frac{\mathrm E[ba]}{\mathrm E[b^2]} = \sum_c w_c \kappa_c, \qquad
        \kappa_c = \frac{\mathrm E[ba \mid c]}{\mathrm E[b^2 \mid c]}, \qquad
        w_c \propto \mathrm P(c)\, \mathrm E[b^2 \mid c],

    first where every row is labelled, h = 1{p > t₁(c)}, then (κ_FM) with every residual taken within the kept rows:
    those with p > 1/2 and p > t₁(c), labelled 1, and those with p ≤ 1/2 and 1 − p > t₀(c), labelled 0.

    Parameters
    ----------
    p : (n,)
        Score in [0, 1].
    X : (n, k), optional
        Controls of the regression, entering linearly. Cells enter it only if they are among them.
    cells : (n,), optional
        Each row's cell of a control, a number or text; without, all rows are one cell.
    rule
        "flexmatch" (Zhang et al. 2021) lowers the threshold of a class with few certain rows, "freematch" (Wang et al.
        2023) takes the mean certainty, times p̄(class)/max p̄; "given" those handed in. Both rules are applied within
        each cell, once, to the scores as they are: there is no training loop here, and no moving average. A threshold
        below 1/2 keeps every row of its class; where every row is labelled a rule's t₁ is 1/2 at least.
    threshold
        Of "flexmatch", what a class that lags behind in nothing has; 0.95 unless given.
    thresholds
        Of "given": a number for both classes or a pair (t₀, t₁), or a mapping from every cell to one of these.
    regression
        κ belongs to the regression that is run. "pooled": one of Y on h and X for all cells, and κ_c is what a cell
        contributes to its coefficient: b need not average zero within a cell. "by_cell": all coefficients but that of h
        differ between cells, and κ_c is what an analysis of the cell alone gives.
    weights, weight_type, cluster, folds, seed, level
        As for `soft`.

    Notes
    -----
    Thresholds count as given. Errors and intervals then concern the labels in use, and hold for thresholds chosen
    from the same scores, whose own error moves κ̂ and the κ of the labels alike; they do not concern the thresholds
    that infinitely many rows would lead to. `hard` with ``threshold=report.threshold_of(cells)`` estimates κτ;
    `hard` at 1/2 on the rows that ``report.keeps(p, cells)`` names estimates κ_FM τ.

    References
    ----------
    Zhang, B. et al. (2021). FlexMatch. *Advances in Neural Information Processing Systems* 34.

    Wang, Y. et al. (2023). FreeMatch. *International Conference on Learning Representations*.

    Examples
    --------
    >>> import numpy as np, softlabel as sl
    >>> rng = np.random.default_rng(0)
    >>> north = rng.random(20_000) < .5
    >>> p = rng.beta(np.where(north, .5, 2), 2)
    >>> report = sl.adaptive_attenuation(p, north, cells=np.where(north, "north", "south"), rule="freematch")
    >>> print(report.classes)
     cell  group  threshold  learnt     n  n_kept
    north      0      0.836       1  8746    5649
    north      1     0.2114  0.2529  1187    1187
    south      0     0.6843  0.9945  5028    2360
    south      1     0.6881       1  5039    2365
    >>> [round(k, 3) for k in report.cells["kappa"]], round(report.kappa.estimate, 3)
    ([0.518, 0.388], 0.436)
    >>> round(sum(row.weight * row.kappa for row in report.cells) - report.kappa.estimate, 12)
    0.0
    """
    level = check_level(level)
    _check_choices(rule, regression, threshold, thresholds)
    rows = array_rows(
        None,
        p,
        X,
        partition=Partition.of((), ()),
        folds=folds,
        seed=seed,
        weights=weights,
        weight_type=weight_type,
        cluster=cluster,
    )
    found = cells_array(cells, len(rows.used))
    found = found._replace(codes=found.codes[rows.used])
    analysis, note = rows.analyse()
    columns = rows.batch.unlabelled
    score = columns.score[0]
    chosen = _rule(score, found, columns.weight, rule, threshold, thresholds)
    fold = rows.fold(analysis)
    labelled = LabelledCells(score, score > 0.5, found.codes, columns.controls, Counting.of(columns, fold))
    no_score = collapse(analysis)
    half = np.maximum(chosen.thresholds[:, 1], 0.5)
    everyone = chosen.thresholds[:, 1] if rule == "given" else half
    asked = Asked("kappa", found.names, everyone, regression == "by_cell", " of this cell", "", level, no_score)
    whole = cell_attenuation(labelled._replace(h=score > everyone[found.codes]), asked)
    kept = _kept(score, chosen.thresholds[found.codes])
    asked = replace(asked, name="kappa_confident", thresholds=half, within=" kept in this cell", among=WITHIN)
    confident = cell_attenuation(_only(labelled, kept), asked)
    return AdaptiveReport(
        rule=rule,
        regression=regression,
        kappa=whole.kappa,
        cells=whole.cells,
        kappa_confident=confident.kappa,
        cells_confident=confident.cells,
        classes=_classes(labelled, kept, found, chosen),
        note=_note(note, whole.left_out, confident.left_out),
    )


def _check_choices(rule: str, regression: str, threshold: object, thresholds: object) -> None:
    """Raise unless the names are known and each threshold belongs to the rule."""
    for name, value, known in (("rule", rule, RULES), ("regression", regression, REGRESSIONS)):
        if value not in known:
            raise InputError(
                expected=f"{name} to be a known one", found=f"{name}={value!r}", fix=did_you_mean(str(value), known)
            )
    if (thresholds is not None) != (rule == "given"):
        raise InputError(
            expected="thresholds if, and only if, rule='given'",
            found=f"rule={rule!r} and thresholds={thresholds!r}",
            fix="Pass rule='given' with thresholds=, or leave both out",
        )
    if threshold is not None and rule != "flexmatch":
        raise InputError(
            expected="threshold with rule='flexmatch' only",
            found=f"rule={rule!r} and threshold={threshold!r}",
            fix="Leave threshold out; those of rule='given' are called thresholds",
        )


def _rule(
    score: Floats, cells: Cells, weight: Floats | None, rule: str, threshold: float | None, thresholds: object
) -> ClassRule:
    if rule == "given":
        return given(thresholds, cells)
    if rule == "freematch":
        return freematch(score, cells, weight)
    start = _FLEXMATCH if threshold is None else threshold
    if isinstance(start, bool) or not isinstance(start, int | float) or not 0.5 <= start < 1:
        raise InputError(
            expected="threshold to be a number from 0.5 to below 1",
            found=f"threshold={threshold!r}",
            fix="Use for instance threshold=0.95",
        )
    return flexmatch(score, cells, weight, start)


def _kept(score: Floats, thresholds: Floats) -> NDArray[np.bool_]:
    """Return which rows are more certain than the threshold of their class, of thresholds (n, 2)."""
    kept: NDArray[np.bool_] = np.where(score > 0.5, score > thresholds[:, 1], 1 - score > thresholds[:, 0])
    return kept


def _only(rows: LabelledCells, kept: NDArray[np.bool_]) -> LabelledCells:
    return LabelledCells(rows.p[kept], rows.h[kept], rows.cell[kept], rows.controls[:, kept], rows.counting.take(kept))


def _looked_up(values: Floats, at: NDArray[np.intp], names: list[str]) -> Floats:
    """Return the values of rows at these places; raise where a row's cell has none."""
    found: Floats = values[at]
    absent = np.flatnonzero(np.isnan(found.reshape(len(at), -1)).any(axis=1))
    if len(absent):
        raise InputError(
            expected="rows of cells for which the rule found a threshold",
            found=f"a row of {names[at[absent[0]]]!r}, which had no rows",
            fix="Leave those rows out",
        )
    return found


def _classes(rows: LabelledCells, kept: NDArray[np.bool_], cells: Cells, chosen: ClassRule) -> Table[ClassThreshold]:
    size = len(cells.names)
    place = 2 * rows.cell + rows.h
    copies = rows.counting.weight if rows.counting.frequency else None
    n, n_kept = (
        np.rint(np.bincount(place[some], None if copies is None else copies[some], minlength=2 * size)).astype(int)
        for some in (np.ones_like(kept), kept)
    )
    found = []
    for i in range(2 * size):
        t, learnt = (None if v is None or np.isnan(v.flat[i]) else float(v.flat[i]) for v in chosen)
        found.append(ClassThreshold(cells.names[i // 2], i % 2, t, learnt, int(n[i]), int(n_kept[i])))
    return Table(tuple(found))


def _note(note: str | None, whole: tuple[str, ...], confident: tuple[str, ...]) -> str | None:
    said = [note] if note else []
    for left_out, what in ((whole, "kappa"), (confident, "kappa_confident")):
        if left_out:
            names = ", ".join(map(repr, left_out[:10])) + (", ..." if len(left_out) > 10 else "")
            said.append(
                f"{what} leaves out cells too small for a regression of their own, {len(left_out)} in all: {names}"
            )
    return ". ".join(said) or None
