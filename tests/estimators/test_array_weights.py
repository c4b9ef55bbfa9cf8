"""Weights and clusters of the array functions: the numbers of `diagnose` on the same rows, and what is refused."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import softlabel as sl

N, T = 2_000, 0.6


def _rows() -> dict[str, Any]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N, 2))
    r = 1 / (1 + np.exp(-x[:, 0]))
    cluster = rng.integers(0, 60, size=N)
    p = rng.beta(3 * r, 3 * (1 - r))
    y = x[:, 0] + (rng.random(N) < p) + rng.normal(size=60)[cluster] * p + rng.normal(size=N)
    return {"y": y, "p": p, "X": x, "w": rng.integers(0, 4, size=N), "cluster": cluster}


ROWS = _rows()


def _all(rows: dict[str, Any], **options: Any) -> list[sl.Estimate]:
    y, p, x = rows["y"], rows["p"], rows["X"]
    return [
        sl.soft(y, p, x, **options),
        sl.soft(y, p, x, form="moment", **options),
        sl.hard(y, p, x, T, **options),
        sl.hard(y, p, x, T, form="deattenuated", **options),
        sl.confident(y, p, x, T, **options),
        sl.attenuation(p, x, [T], confident=[T], **options).v_star,
    ]


def _kappas(rows: dict[str, Any], **options: Any) -> list[float]:
    report = sl.attenuation(rows["p"], rows["X"], [T], confident=[T], **options)
    return [report.kappa.rows[0].std_error, report.kappa_confident.rows[0].std_error]  # type: ignore[list-item]


@pytest.mark.parametrize(
    "options",
    [
        {"weights": "w"},
        {"weights": "w", "weight_type": "frequency"},
        {"cluster": "cluster"},
        {"weights": "w", "cluster": "cluster"},
    ],
    ids=" ".join,
)
def test_the_numbers_are_those_of_a_table(options: dict[str, Any]) -> None:
    table = {name: ROWS[name] for name in ("y", "p", "w", "cluster")} | {"x1": ROWS["X"][:, 0], "x2": ROWS["X"][:, 1]}
    # Folds by cluster are the same for both; without clusters they are handed out in sample, as a weight is no value.
    folds = 5 if "cluster" in options else None
    d = sl.diagnose(
        table,
        outcome="y",
        score="p",
        controls=["x1", "x2"],
        basis="linear",
        thresholds=[T],
        confident=[T],
        folds=folds,
        **options,
    )
    arrays = {name: ROWS[value] if name != "weight_type" else value for name, value in options.items()}
    expected = [
        d.estimate("soft"),
        d.estimate("soft", form="moment"),
        d.estimate("hard", threshold=T),
        d.estimate("deattenuated", threshold=T),
        d.estimate("confident", threshold=T),
        d.v_star,
    ]
    for row, same in zip(_all(ROWS, folds=folds, **arrays), expected, strict=True):
        assert (row.n, row.df, row.threshold, row.form) == (same.n, same.df, same.threshold, same.form)
        # A matrix product may add in another order where the rows lie otherwise in memory.
        for name in ("estimate", "std_error", "ci_low", "ci_high"):
            assert getattr(row, name) == pytest.approx(getattr(same, name), rel=1e-12)
    expected_kappas = [d.kappa.rows[0].std_error, d.kappa_confident.rows[0].std_error]
    assert _kappas(ROWS, folds=folds, **arrays) == pytest.approx(expected_kappas, rel=1e-12)


@pytest.mark.parametrize("folds", [None, 5])
@pytest.mark.parametrize("clustered", [False, True])
def test_a_frequency_is_a_row_so_many_times(folds: int | None, *, clustered: bool) -> None:
    again = np.repeat(np.arange(N), ROWS["w"])
    repeated = {name: values[again] for name, values in ROWS.items()}
    a = _all(
        ROWS,
        weights=ROWS["w"],
        weight_type="frequency",
        folds=folds,
        cluster=ROWS["cluster"] if clustered else None,
    )
    b = _all(repeated, folds=folds, cluster=repeated["cluster"] if clustered else None)
    for row, same in zip(a, b, strict=True):
        # Sums in another order: 1e-11 is a hundred times what 5,000 roundings leave.
        assert row.estimate == pytest.approx(same.estimate, rel=1e-11)
        assert row.std_error == pytest.approx(same.std_error, rel=1e-11)
        assert (row.n, row.df) == (same.n, same.df)


def test_rows_of_weight_zero_are_left_out_and_counted() -> None:
    some = ROWS["w"] > 0
    zero = int((~some).sum())
    kept = {name: values[some] for name, values in ROWS.items()}
    found = sl.soft(ROWS["y"], ROWS["p"], ROWS["X"], weights=ROWS["w"])
    assert found.note is not None
    assert found.note.startswith(f"{zero} of 2,000 rows have weight zero")
    assert dataclasses.replace(found, note=None) == sl.soft(kept["y"], kept["p"], kept["X"], weights=kept["w"])
    assert sl.attenuation(ROWS["p"], weights=ROWS["w"]).note == found.note


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": -np.ones(N)}, "weights of zero or more"),
        ({"weights": np.zeros(N)}, "a weight above zero"),
        ({"weights": np.ones(N - 1)}, "weights to be a vector of 2000 values"),
        ({"weights": np.full(N, 0.5), "weight_type": "frequency"}, "whole numbers"),
        ({"weight_type": "frequency"}, "leave weight_type out"),
        ({"weights": np.ones(N), "weight_type": "freq"}, "Did you mean 'frequency'?"),
        ({"cluster": np.arange(N) % 3}, "at least as many clusters with unlabelled rows as folds (5); found 3"),
        ({"cluster": ["a", None] * (N // 2)}, "1,000 missing labels of 2,000"),
    ],
)
def test_refused(options: dict[str, Any], told: str) -> None:
    for call in (
        lambda: sl.soft(ROWS["y"], ROWS["p"], **options),
        lambda: sl.hard(ROWS["y"], ROWS["p"], **options),
        lambda: sl.confident(ROWS["y"], ROWS["p"], threshold=T, **options),
        lambda: sl.attenuation(ROWS["p"], **options),
    ):
        with pytest.raises(sl.SoftlabelError) as caught:
            call()
        assert told in str(caught.value)


def test_folds_that_are_handed_in_stand_above_clusters() -> None:
    folds = np.arange(N) % 3
    found = sl.soft(ROWS["y"], ROWS["p"], ROWS["X"], folds=folds, cluster=ROWS["cluster"])
    plain = sl.soft(ROWS["y"], ROWS["p"], ROWS["X"], folds=folds)
    assert found.estimate == pytest.approx(plain.estimate, rel=1e-13)
    assert found.df == 59
    assert found.std_error != plain.std_error
