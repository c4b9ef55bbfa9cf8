"""Weights and clusters at the door of the array functions: checked once, with an error that says what to do."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from softlabel.errors import DataError, InputError, did_you_mean
from softlabel.estimators.arrays import vector
from softlabel.folds import hash_ids

__all__ = [
    "WEIGHT_TYPES",
    "WeightType",
    "check_weight_type",
    "cluster_array",
    "labels_array",
    "weight_array",
    "zero_weight_note",
]

Floats = NDArray[np.float64]
WeightType = Literal["sampling", "frequency"]
WEIGHT_TYPES = ("sampling", "frequency")


def check_weight_type(weight_type: str, *, weighted: bool) -> bool:
    """Return whether weights count copies of their rows; ``weighted`` says whether there are weights.

    Examples
    --------
    >>> check_weight_type("sampling", weighted=True), check_weight_type("frequency", weighted=True)
    (False, True)
    """
    if weight_type not in WEIGHT_TYPES:
        raise InputError(
            expected="the name of a type of weights",
            found=f"weight_type={weight_type!r}",
            fix=did_you_mean(str(weight_type), WEIGHT_TYPES),
        )
    frequency = weight_type == "frequency"
    if frequency and not weighted:
        raise InputError(
            expected="weights, since their type is given",
            found=f"weight_type={weight_type!r} and no weights",
            fix="Pass the weights, or leave weight_type out",
        )
    return frequency


def weight_array(values: ArrayLike, n: int, *, frequency: bool) -> Floats:
    """Return a vector of weights from zero up, not all of them zero; whole numbers where they count copies."""
    weight = vector(values, "weights", n)
    if n and weight.min() < 0:
        raise DataError(
            expected="weights of zero or more",
            found=f"{int((weight < 0).sum()):,} negative of {n:,}, such as {weight.min():g}",
            fix="Leave those rows out, or give them weight zero",
        )
    if n and not weight.any():
        raise DataError(
            expected="a weight above zero", found=f"{n:,} weights, all zero", fix="Check how the weights were made"
        )
    broken = weight != np.floor(weight)
    if frequency and broken.any():
        raise DataError(
            expected="frequency weights to be whole numbers, for they count copies of a row",
            found=f"{weight[broken][0]:g}",
            fix="Use weight_type='sampling' if a weight says how many cases of the population a row stands for",
        )
    return weight


def zero_weight_note(zero: int, n: int) -> str | None:
    """Return the sentence on rows of weight zero, ``None`` where there are none.

    Examples
    --------
    >>> zero_weight_note(2, 50)
    '2 of 50 rows have weight zero and were left out; n and the numbers of rows are without them'
    """
    if not zero:
        return None
    return f"{zero:,} of {n:,} rows have weight zero and were left out; n and the numbers of rows are without them"


def cluster_array(values: ArrayLike, n: int) -> NDArray[np.uint64]:
    """Return one hash per row, (n,), of a vector of cluster labels: numbers or text, none missing.

    Examples
    --------
    >>> a, b, c = cluster_array(["north", "south", "north"], 3)
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    fix = "Leave those rows out, or give each its own label if it is a cluster of its own"
    labels = labels_array(values, n, "cluster", missing=fix)
    return hash_ids(labels) if n else np.empty(0, dtype=np.uint64)


def labels_array(values: ArrayLike, n: int, name: str, *, missing: str) -> pa.Array:
    """Return a vector of n labels, numbers or text and none missing; ``missing`` says what to do where one is."""
    try:
        # from_pandas takes NaN and NaT for missing values, as None is.
        labels = pa.array(values if np.ma.isMaskedArray(values) else _one_array(values), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            expected=f"{name} to hold one label per row, all numbers or all text",
            found=str(error).rstrip("."),
            fix="Pass a vector of numbers or text",
        ) from error
    labels = labels.combine_chunks() if isinstance(labels, pa.ChunkedArray) else labels
    if len(labels) != n:
        raise InputError(
            expected=f"{name} to be a vector of {n} labels", found=f"{len(labels)}", fix="Pass one label per row"
        )
    if labels.null_count:
        raise DataError(
            expected=f"a {name.removesuffix('s')} for every row",
            found=f"{labels.null_count:,} missing labels of {n:,}",
            fix=missing,
        )
    kind = labels.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if n and not any(test(kind) for test in _LABELS):
        raise InputError(
            expected=f"{name} to be numbers or text", found=f"values of type {kind}", fix="Cast the labels to text"
        )
    return labels


_LABELS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
)


def _one_array(values: ArrayLike) -> ArrayLike:
    """Return values with their own array type, or a list as it is: NumPy would turn [1, "a"] into text."""
    shape = np.shape(values)
    if len(shape) != 1:
        raise ValueError(f"shape {shape}")
    return values
