"""Labelled rows under the nuisances of the unlabelled ones: residuals in the order of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.influence.analysis import Analysis
from softlabel.influence.scores import residuals
from softlabel.moments.kernel import sorted_block
from softlabel.nuisances import LinearNuisances, PredictionBasis, fit_nuisances
from softlabel.study import Columns

__all__ = ["LabelledResiduals", "labelled_residuals"]

Floats = NDArray[np.float64]


class LabelledResiduals(NamedTuple):
    """a = p − r̂(X) (q, n), R = Y − m̂(X) (n,) and b = h − ê[h|X] (T, q, n), r̂, m̂ and ê fitted on unlabelled rows."""

    a: Floats
    r: Floats
    b: Floats


def labelled_residuals(rows: Columns, analysis: Analysis) -> LabelledResiduals:
    """Return the residuals of rows that no nuisance was fitted on, all with a score.

    ``rows`` holds what the design of the analysis reads: controls, or a learner's predictions in their place. The
    nuisances are those of all unlabelled rows: no row here was among them, so there is nothing to cross-fit.
    """
    design = replace(analysis.design, folds=1)
    nuisances = _whole(analysis)
    block = sorted_block(
        replace(rows, fold=None, cluster=None), np.zeros(len(rows), np.uint64), design, nuisances.shift
    )
    # As the block has them sorted; every code is below the number of cells.
    order = np.argsort(design.partition.codes(rows.score), kind="stable")
    sorted_rows = residuals(block, nuisances, design)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return LabelledResiduals(sorted_rows.a[:, places], sorted_rows.r[places], sorted_rows.b[..., places])


def _whole(analysis: Analysis) -> LinearNuisances:
    """Return the nuisances of all unlabelled rows at once, as maps of one fold."""
    found = analysis.nuisances
    # A learner's maps subtract predictions, and are the same in every fold.
    if not (found.in_sample or isinstance(analysis.design.basis, PredictionBasis)):
        found = fit_nuisances(analysis.fit.moments, analysis.design, in_sample=True, ridge=found.ridge)
    return replace(found, maps=found.maps[:1])
