"""What a diagnosis reports, number by number, and beside the dense reference."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel import Diagnosis
from softlabel.folds import deal
from softlabel.hashing import finish, hash_ids, splitmix
from softlabel.results import Table
from tests import oracle
from tests.oracle import Answer, Floats, Rows

__all__ = ["Pair", "beside", "cluster_folds", "differing", "drawn", "id_folds", "numbers", "rows_of", "without_checks"]

WARDS = ("east", "north", "south", "west")


def drawn(n: int = 900, labelled: int = 150, *, seed: int = 5, clinics: int = 40) -> dict[str, Any]:
    """A table with curved controls, a text category, weights of both kinds, and clinics with a shock of their own.

    Clinics hold labelled and unlabelled rows. Every row is distinct.
    """
    rng = np.random.default_rng(seed)
    rows = n + labelled
    clinic = rng.integers(0, clinics, rows)
    age, frailty = rng.normal(60, 10, rows).round(3), rng.exponential(size=rows).round(3)
    ward = rng.integers(0, len(WARDS), rows)
    slope = 0.05 * (age - 60) + 0.6 * np.sin(2 * frailty) + 0.3 * ward - 0.4
    p = 1 / (1 + np.exp(-(slope + 0.7 * rng.normal(size=clinics)[clinic] + 1.8 * rng.normal(size=rows))))
    g = rng.random(rows) < p
    shock = rng.normal(size=clinics)[clinic]
    y = 3 + 0.1 * age + frailty**2 + 0.5 * ward + g + shock * (1 + 2 * (p - 0.5)) + rng.normal(size=rows) * (1 + g)
    hidden = rng.permutation(rows) >= labelled
    return {
        "y": y,
        "p": p,
        "g": pa.array(g.astype(np.int8), mask=hidden),
        "age": age,
        "frailty": frailty,
        "ward": pa.array([WARDS[i] for i in ward]),
        "w": np.round(rng.gamma(1.5, 20.0, rows) + 0.5, 3),
        "times": rng.integers(1, 4, rows),
        "clinic": pa.array([f"clinic {i}" for i in clinic]),
        "visit": pa.array([f"visit {i}" for i in range(rows)]),
    }


def rows_of(
    table: Mapping[str, Any], X: Floats, *, weights: str | None = None, cluster: str | None = None, **parts: Any
) -> Rows:
    """The unlabelled rows for the reference, with design columns X (all rows, d − 1) in place of the controls."""
    hidden = unlabelled(table)
    groups = None if cluster is None else np.unique(np.asarray(table[cluster]), return_inverse=True)[1][hidden]
    return Rows(
        np.asarray(table["y"])[hidden],
        np.asarray(table["p"])[hidden, None],
        X[hidden],
        weight=None if weights is None else np.asarray(table[weights], dtype=float)[hidden],
        cluster=groups,
        **parts,
    )


def unlabelled(table: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which rows have no group."""
    return np.asarray(pa.array(table["g"]).is_null())


def id_folds(table: Mapping[str, Any], name: str, folds: int, seed: int = 0) -> NDArray[np.intp]:
    """The fold of each unlabelled row by its id."""
    return deal(hash_ids(pa.array(table[name])), folds, seed)[unlabelled(table)].astype(np.intp)


def cluster_folds(table: Mapping[str, Any], name: str, folds: int, seed: int = 0) -> NDArray[np.intp]:
    """The fold of each unlabelled row by its cluster: clusters in the order of mixed hashes, dealt in turn."""
    hashes = hash_ids(pa.array(table[name]))[unlabelled(table)]
    ids, which = np.unique(hashes, return_inverse=True)
    place = np.empty(len(ids), dtype=np.intp)
    place[np.argsort(finish(ids ^ np.uint64(splitmix(seed))))] = np.arange(len(ids))
    fold: NDArray[np.intp] = place[which] % folds
    return fold


class Pair(NamedTuple):
    """One number with its standard error, and what the reference says."""

    name: str
    found: tuple[float | None, float | None]
    expected: Answer


def beside(d: Diagnosis, rows: Rows) -> list[Pair]:
    """Every number of the unlabelled rows beside the reference's."""
    soft = oracle.soft(rows)
    found = [
        Pair("soft", _of(d, "soft"), soft["orthogonal"]),
        Pair("soft moment", _of(d, "soft", form="moment"), soft["moment"]),
        Pair("V*", (d.v_star.estimate, d.v_star.std_error), soft["v_star"]),
    ]
    for row in d.kappa:
        t, expected = row.threshold, oracle.hard(rows, row.threshold)
        found += [
            Pair(f"hard {t}", _of(d, "hard", threshold=t), expected["orthogonal"]),
            Pair(f"hard moment {t}", _of(d, "hard", threshold=t, form="moment"), expected["moment"]),
            Pair(f"deattenuated {t}", _of(d, "deattenuated", threshold=t), expected["deattenuated"]),
            Pair(f"kappa {t}", (row.kappa, row.std_error), expected["kappa"]),
        ]
    for inside in d.kappa_confident:
        t, expected = inside.threshold, oracle.confident(rows, inside.threshold)
        found += [
            Pair(f"confident {t}", _of(d, "confident", threshold=t), expected["orthogonal"]),
            Pair(f"kappa_FM {t}", (inside.kappa, inside.std_error), expected["kappa"]),
        ]
    return found


def _of(d: Diagnosis, name: str, **chosen: Any) -> tuple[float | None, float | None]:
    row = d.estimate(name, **chosen)
    return row.estimate, row.std_error


# What tells how the rows were written down, or was asked, is not a number about them.
_NOT_NUMBERS = (".sample.rows", ".sample.weightless", ".sample.source", ".sample.fingerprint", ".settings", ".notes")


def numbers(d: Diagnosis) -> dict[str, Any]:
    """Every number, word and null that a diagnosis reports of its rows, by where it stands."""
    leaves = dict(_leaves(msgspec.json.decode(d.to_json())))
    return {path: value for path, value in leaves.items() if not path.startswith(_NOT_NUMBERS)}


def differing(one: Diagnosis, other: Diagnosis, rel: float) -> set[str]:
    """Where two diagnoses differ by more than a relative tolerance."""
    ours, theirs = numbers(one), numbers(other)

    def same(path: str) -> bool:
        a, b = ours.get(path, "nothing"), theirs.get(path, "nothing")
        both = isinstance(a, float) and isinstance(b, float)
        return bool(abs(a - b) <= rel * max(abs(a), abs(b)) if both else a == b)

    return {path for path in ours.keys() | theirs.keys() if not same(path)}


def without_checks(d: Diagnosis, *codes: str) -> Diagnosis:
    """The same without some checks."""
    return replace(d, checks=Table(tuple(one for one in d.checks if one.code not in codes)))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, f"{path}.{key}")
    else:
        yield path, value
