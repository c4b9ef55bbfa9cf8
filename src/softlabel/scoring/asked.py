"""What is asked of a score: checked before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softlabel.asking import control_plan, feature_names, folds_by, plain_name
from softlabel.errors import InputError, did_you_mean
from softlabel.folds import check_seed
from softlabel.nuisances.learners import first_line
from softlabel.scoring.calibrators import check_calibrator
from softlabel.scoring.models import Model, make_model
from softlabel.scoring.names import DRAWS, SPLITS
from softlabel.scoring.scorer import Roles
from softlabel.scoring.structure import check_structure
from softlabel.study import WEIGHT_TYPES

__all__ = ["Asked", "check_asked"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What the caller asked for, checked; ``given`` are folds of the labelled rows that were handed in.

    ``frequency`` says that weights count copies.
    """

    roles: Roles
    model: Model
    calibrator: str
    split: str
    given: NDArray[np.intp] | None
    folds: int
    draw: str
    sigma: float
    categories: tuple[str, ...]
    seed: int
    force: bool
    frequency: bool = False


def check_asked(
    *,
    features: Sequence[str],
    group: Any,
    controls: Sequence[str] | str = (),
    model: Any = "logistic",
    calibrator: Any = "conditional",
    split: Any = "folds",
    folds: Any = 5,
    draw: Any = "mean",
    sigma: Any = 0.3,
    categories: Collection[str] = (),
    weights: Any = None,
    weight_type: Any = "sampling",
    cluster: Any = None,
    id: Any = None,
    seed: Any = 0,
    force: bool = False,
    outcome: str | None = None,
    further: tuple[str, ...] = (),
) -> Asked:
    """Return what was asked for, or say what is wrong with it; an ``outcome`` must not be a feature."""
    seen, plan = feature_names(features), control_plan(controls)
    folds_by(id, cluster)
    roles = Roles(
        features=seen,
        controls=plan.controls,
        group=plain_name(group),
        weights=plain_name(weights),
        cluster=plain_name(cluster),
        id=plain_name(id),
        further=further,
    )
    check_structure(roles, outcome, force=bool(force))
    if isinstance(categories, str) or not isinstance(categories, Collection):
        raise InputError(
            expected="categories to be a list of columns",
            found=repr(categories),
            fix=f"Use categories=[{categories!r}]" if isinstance(categories, str) else "Leave it out if there are none",
        )
    unknown = [name for name in categories if name not in roles.seen]
    if unknown:
        raise InputError(
            expected="categories to be features or controls",
            found=repr(unknown[0]),
            fix=did_you_mean(str(unknown[0]), roles.seen),
        )
    seed = check_seed(seed)
    given = None if isinstance(split, str) else _given(split)
    made = make_model(model, seed)
    _check_choice("split", split if given is None else "folds", SPLITS)
    _check_choice("draw", draw, DRAWS)
    _check_choice("weight_type", weight_type, WEIGHT_TYPES)
    if draw == "member" and not made.draws:
        raise InputError(
            expected="an ensemble to draw members from",
            found=f"model={made.name!r}",
            fix="Use model='bootstrap', 'deep' or 'dropout', or draw='mean'",
        )
    if made.given and len(seen) != 1:
        raise InputError(
            expected="one feature, the score, with model='given'",
            found=f"{len(seen)}",
            fix="Name the column of the score alone, or choose a model to train",
        )
    if isinstance(sigma, bool) or not isinstance(sigma, int | float | np.floating) or not 0 < sigma < 1:
        raise InputError(expected="sigma between 0 and 1", found=repr(sigma), fix="Use for instance sigma=0.3")
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or not 2 <= folds <= 100:
        # Unlike those of a regression these cannot be left out.
        raise InputError(
            expected="folds to be a whole number from 2 to 100", found=f"folds={folds!r}", fix="Use folds=5"
        )
    return Asked(
        roles=roles,
        model=made,
        calibrator=check_calibrator(calibrator),
        split="folds" if given is not None else split,
        given=given,
        folds=int(folds) if given is None else int(given.max()) + 1,
        draw=draw,
        sigma=float(sigma),
        categories=tuple(dict.fromkeys((*categories, *plan.categories))),
        seed=seed,
        force=bool(force),
        frequency=weight_type == "frequency",
    )


def _check_choice(what: str, value: Any, known: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise InputError(
            expected=f"{what} to be one of {', '.join(map(repr, known))}",
            found=repr(value),
            fix=did_you_mean(str(value), known),
        )


def _given(split: Any) -> NDArray[np.intp]:
    array = np.asarray(split)
    try:
        labels, which = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise InputError(
            expected="split to hold numbers or texts alone, the fold of each labelled row",
            found=f"values that cannot be put in order ({first_line(error)})",
            fix="Pass one whole number per labelled row, or split='folds'",
        ) from error
    if array.ndim != 1 or len(labels) < 2 or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        raise InputError(
            expected="split to be a name, or the fold of each labelled row, of at least 2 folds",
            found=f"shape {array.shape} with {len(labels)} values",
            fix="Pass one whole number per labelled row, or split='folds'",
        )
    return which.astype(np.intp)
