"""From labelled rows as they were read to rows that pieces are fitted on, and the recipe."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlabel.scoring.asked import Asked
from softlabel.scoring.labelled import Labelled
from softlabel.scoring.layout import Layout, lay_out
from softlabel.scoring.pieces import Recipe, Rows
from softlabel.scoring.scorer import rows_of

__all__ = ["Prepared", "prepare"]


class Prepared(NamedTuple):
    """Labelled rows laid out, each one's place (n,) in the table, and how a score is to be made of them."""

    layout: Layout
    rows: Rows
    order: NDArray[np.intp]
    recipe: Recipe


def prepare(labelled: Labelled, asked: Asked) -> Prepared:
    """Return labelled rows as pieces are fitted on them.

    They are in the order of their hashes: what draws rows by their place then draws the same ones in any order of the
    table.
    """
    layout = lay_out(labelled.table, asked.roles.seen, asked.categories)
    bare = rows_of(labelled.table, asked.roles, layout, frame=asked.model.takes == "frame")
    weight = labelled.weight
    if weight is not None and not asked.frequency and (weight > 0).any():
        # Of mean one, so that beside a model's own penalties n rows count as n; copies count as they are.
        weight = weight / weight[weight > 0].mean()
    given = Rows(bare.features, bare.controls, bare.hashes, bare.frame, labelled.group, weight, bare.cluster)
    order = np.argsort(bare.hashes, kind="stable")
    flags = dict(zip(layout.names, layout.categorical, strict=True))
    recipe = Recipe(
        model=asked.model,
        calibrator=asked.calibrator,
        draw=asked.draw,
        sigma=asked.sigma,
        feature_categories=tuple(flags[name] for name in asked.roles.features),
        control_categories=tuple(flags[name] for name in asked.roles.controls),
        inner=asked.folds,
        seed=asked.seed,
    )
    return Prepared(layout, given.take(order), order, recipe)
