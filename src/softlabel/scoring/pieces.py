"""A piece: a classifier and the calibrator that was fitted after it, on labelled rows that neither scores later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.errors import DataError
from softlabel.hashing import Hashes, finish, splitmix
from softlabel.scoring.calibrators import Calibrated, fit_calibrator
from softlabel.scoring.folds import deal_labelled
from softlabel.scoring.models import Model, fit_model, positive

__all__ = ["Piece", "Recipe", "Rows", "fit_halves", "fit_halves_each", "fit_piece", "fit_pieces"]

Floats = NDArray[np.float64]
Folds = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows to fit on or to score.

    Attributes
    ----------
    features : (n, k), controls : (n, m)
        Codes and numbers, missing as NaN.
    hashes : (n,)
        Of their values: they decide folds and draws.
    frame
        The features as a table, for a model that takes one.
    group, weight, cluster : (n,) or None
        Of labelled rows; weights and clusters where there are any.
    """

    features: Floats
    controls: Floats
    hashes: Hashes
    frame: pa.Table | None = None
    group: Floats | None = None
    weight: Floats | None = None
    cluster: Hashes | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def labels(self) -> Floats:
        """The group of labelled rows."""
        assert self.group is not None  # noqa: S101  (only labelled rows are fitted on)
        return self.group

    def take(self, at: NDArray[Any]) -> Rows:
        """Return the chosen rows, by a mask or by their places."""
        places = np.flatnonzero(at) if at.dtype == np.bool_ else at
        return Rows(
            features=self.features[places],
            controls=self.controls[places],
            hashes=self.hashes[places],
            frame=None if self.frame is None else self.frame.take(pa.array(places.tolist())),
            group=None if self.group is None else self.group[places],
            weight=None if self.weight is None else self.weight[places],
            cluster=None if self.cluster is None else self.cluster[places],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """How a score is made: a model, a calibrator, what is drawn; which columns are categories; folds within folds."""

    model: Model
    calibrator: str
    draw: str
    sigma: float
    feature_categories: tuple[bool, ...]
    control_categories: tuple[bool, ...]
    inner: int
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A fitted classifier and its calibrator: a function of rows."""

    recipe: Recipe
    model: Any
    calibrate: Calibrated

    def __call__(self, rows: Rows) -> Floats:
        """Return the calibrated score of each row (n,)."""
        return self.both(rows)[1]

    def both(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return the classifier's raw score and the calibrated one, (n,) each."""
        raw = self.raw(rows)
        return raw, self.calibrated(raw, rows)

    def raw(self, rows: Rows) -> Floats:
        """Return the classifier's own score (n,)."""
        return _raw(self.recipe, self.model, rows) if len(rows) else np.empty(0)

    def calibrated(self, raw: Floats, rows: Rows) -> Floats:
        """Return the score (n,) that the classifier's own (n,) comes to, drawn anew where it is to be."""
        if not len(rows):
            return np.empty(0)
        p = np.clip(self.calibrate(raw, rows.controls), 0.0, 1.0)
        return _beta_draw(p, self.recipe, rows.hashes) if self.recipe.draw == "beta" else p


def fit_piece(recipe: Recipe, rows: Rows) -> Piece:
    """Return the classifier fitted on labelled rows, and a calibrator fitted on its scores out of folds of these rows.

    A score of a row that the classifier was fitted on is too good; a calibrator that saw such scores would believe
    them. So each row here is scored by a classifier of the other folds, as in stacking (Wolpert 1992).
    """
    return fit_pieces(recipe, rows, (recipe.calibrator,))[0]


def fit_pieces(recipe: Recipe, rows: Rows, calibrators: Sequence[str]) -> tuple[Piece, ...]:
    """Return `fit_piece` for each of some calibrators, with one classifier and one set of scores to calibrate."""
    rows = _counted(rows)
    _check_groups(rows, "of a fold's training rows")
    raw = _scores_to_calibrate(recipe, rows) if set(calibrators) - {"none"} else np.empty(len(rows))
    return _calibrated_pieces(recipe, calibrators, _fitted(recipe, rows), rows, raw)


def fit_halves(recipe: Recipe, rows: Rows, first: NDArray[np.bool_]) -> Piece:
    """Return the classifier fitted on the first half of labelled rows, and a calibrator fitted on the second."""
    return fit_halves_each(recipe, rows, first, (recipe.calibrator,))[0]


def fit_halves_each(
    recipe: Recipe, rows: Rows, first: NDArray[np.bool_], calibrators: Sequence[str]
) -> tuple[Piece, ...]:
    """Return `fit_halves` for each of some calibrators, with one classifier."""
    train, held = _counted(rows.take(first)), _counted(rows.take(~first))
    _check_groups(train, "of the half that trains")
    _check_groups(held, "of the half that calibrates")
    model = _fitted(recipe, train)
    return _calibrated_pieces(recipe, calibrators, model, held, _raw(recipe, model, held))


def _counted(rows: Rows) -> Rows:
    """Return the rows that stand for any: those of weight zero train nothing."""
    return rows if rows.weight is None or (rows.weight > 0).all() else rows.take(rows.weight > 0)


def _scores_to_calibrate(recipe: Recipe, rows: Rows) -> Floats:
    """Return the score (n,) of each row by a classifier that has not seen it."""
    if recipe.model.given:
        return _raw(recipe, None, rows)
    least = int(min(rows.labels.sum(), (1 - rows.labels).sum()))
    count = min(recipe.inner, least)
    if rows.cluster is not None:
        # A fold less of them is left than the rows were dealt from.
        count = max(2, min(count, len(np.unique(rows.cluster))))
    # Another seed than the outer folds': the same one would deal the same rows together again.
    fold = deal_labelled(rows.hashes, rows.labels, rows.cluster, count, splitmix(recipe.seed) >> 1).fold
    raw = np.empty(len(rows))
    for k in range(count):
        model = _fitted(recipe, rows.take(fold != k))
        raw[fold == k] = _raw(recipe, model, rows.take(fold == k))
    return raw


def _calibrated_pieces(
    recipe: Recipe, calibrators: Sequence[str], model: Any, rows: Rows, raw: Floats
) -> tuple[Piece, ...]:
    kinds, seed = recipe.control_categories, recipe.seed
    return tuple(
        Piece(
            replace(recipe, calibrator=name),
            model,
            fit_calibrator(name, raw, rows.controls, kinds, rows.labels, rows.weight, seed),
        )
        for name in calibrators
    )


def _fitted(recipe: Recipe, rows: Rows) -> Any:
    return fit_model(recipe.model, rows.features, rows.frame, recipe.feature_categories, rows.labels, rows.weight)


def _raw(recipe: Recipe, model: Any, rows: Rows) -> Floats:
    given = rows.features if recipe.model.takes != "frame" or rows.frame is None else rows.frame.to_pandas()
    member = None
    if recipe.draw == "member":
        member = (_uniform(rows.hashes, recipe.seed, 1) * (1 << 31)).astype(np.intp)
    return positive(recipe.model.name, model, given, member)


def _beta_draw(p: Floats, recipe: Recipe, hashes: Hashes) -> Floats:
    """Return a draw of Beta(pk, (1 − p)k), k = 1/σ² − 1: of mean p and variance σ²p(1 − p); 0 and 1 stay."""
    from scipy.special import betaincinv

    k = 1 / recipe.sigma**2 - 1
    inside = (p > 0) & (p < 1)
    found = p.copy()
    found[inside] = betaincinv(p[inside] * k, (1 - p[inside]) * k, _uniform(hashes, recipe.seed, 2)[inside])
    return found


def _uniform(hashes: Hashes, seed: int, stream: int) -> Floats:
    """Return a number in (0, 1) for each row (n,), a function of its hash."""
    mixed = finish(hashes ^ np.uint64(splitmix(splitmix(seed) + stream)))
    return ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def _check_groups(rows: Rows, where: str) -> None:
    ones = int(rows.labels.sum())
    zeros = len(rows) - ones
    if min(ones, zeros) < 2:
        raise DataError(
            expected=f"at least 2 rows of each group {where}",
            found=f"{ones} in the group and {zeros} not",
            fix="Label more rows of the rarer group, or use fewer folds",
        )
