"""Thresholds per cell and class: the average of the cells' κ is κ, each against a dense computation, and limits."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import softlabel as sl
from softlabel.diagnostics.adaptive import AdaptiveReport
from softlabel.results import Table
from softlabel.results.adaptive import CellAttenuation
from tests import oracle

SAME = 1e-10  # see tests/estimators/test_brute_force.py
THRESHOLDS = {"a": 0.7, "b": (0.65, 0.4), "c": (0.8, 0.6)}

Regression = Literal["pooled", "by_cell"]


def _rows(n: int = 731, *, folded: bool = True, weighted: bool = True) -> tuple[oracle.Rows, Any]:
    """Rows whose cells lean on the first control, which is not to say that they are linear in it."""
    rng = np.random.default_rng(11)
    rows = oracle.draw(n, 3, 11)
    cells = np.array(["a", "b", "c"])[np.digitize(rows.X[:, 0] + rng.normal(size=n), [-1.0, 2.0])]
    fold = rng.integers(0, 3, size=n) if folded else None
    return rows._replace(fold=fold, weight=rng.uniform(0.2, 3, size=n) if weighted else None), cells


def _label(p: oracle.Floats, cells: Any, *, kept: bool) -> tuple[Any, Any]:
    """Which rows have a label and what it is, row by row."""
    known, label = np.zeros(len(p), dtype=bool), np.zeros(len(p))
    for i, (score, cell) in enumerate(zip(p.tolist(), cells, strict=True)):
        t: Any = THRESHOLDS[cell]
        t0, t1 = t if isinstance(t, tuple) else (t, t)
        if not kept:
            known[i], label[i] = True, score > t1
        elif score > 0.5:
            known[i], label[i] = score > t1, 1
        else:
            known[i], label[i] = 1 - score > t0, 0
    return known, label


def _average(table: Table[CellAttenuation]) -> float:
    return sum(row.weight * row.kappa for row in table if row.kappa is not None)


def _report(rows: oracle.Rows, cells: Any, **options: Any) -> AdaptiveReport:
    options = {"rule": "given", "thresholds": THRESHOLDS, "weights": rows.weight, "folds": rows.fold} | options
    return sl.adaptive_attenuation(rows.p[:, 0], rows.X, cells=cells, **options)


# --------------------------------------------------------------------------------------- the identity, and oracles


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("folded", [False, True])
def test_kappa_is_the_average_of_the_cells_and_both_are_those_of_a_dense_computation(
    *, kept: bool, weighted: bool, folded: bool
) -> None:
    rows, cells = _rows(folded=folded, weighted=weighted)
    report = _report(rows, cells)
    kappa, table = (report.kappa_confident, report.cells_confident) if kept else (report.kappa, report.cells)
    known, label = _label(rows.p[:, 0], cells, kept=kept)
    inside, h = rows.only(known), label[known][:, None]
    assert 100 < known.sum() < 731 or not kept
    expected = oracle.label(inside, h)["kappa"]
    assert kappa.estimate == pytest.approx(expected.value, rel=SAME)
    assert kappa.std_error == pytest.approx(expected.std_error, rel=SAME)
    # Cell by cell, from residuals of one regression.
    a, b = oracle.residual(inside.p, inside)[:, 0], oracle.residual(h, inside)[:, 0]
    w = np.ones(len(a)) if inside.weight is None else inside.weight
    assert table["cell"] == ["a", "b", "c"]
    for row in table:
        c = cells[known] == row.cell
        assert row.kappa == pytest.approx((w * b * a)[c].sum() / (w * b * b)[c].sum(), rel=SAME)
        assert row.weight == pytest.approx((w * b * b)[c].sum() / (w * b * b).sum(), rel=SAME)
        assert (row.n, row.n_above, row.reason) == (c.sum(), h[c].sum(), None)
        assert row.kappa is not None
        assert row.std_error is not None
        reach = 1.959963984540054 * row.std_error
        assert (row.ci_low, row.ci_high) == pytest.approx((row.kappa - reach, row.kappa + reach), rel=1e-12)
    assert sum(table["weight"]) == pytest.approx(1, rel=1e-14)
    # Rounding of two ways to add the same products.
    assert _average(table) == pytest.approx(kappa.estimate, rel=1e-12)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("folded", [False, True])
def test_by_cell_is_what_each_cell_alone_gives(*, kept: bool, folded: bool) -> None:
    rows, cells = _rows(folded=folded)
    thresholds = {"a": 0.55, "b": 0.6, "c": 0.65}
    report = _report(rows, cells, thresholds=thresholds, regression="by_cell")
    table = report.cells_confident if kept else report.cells
    products = np.zeros(2)
    for row in table:
        part = rows.only(cells == row.cell)
        t = thresholds[row.cell]
        alone = sl.attenuation(
            part.p[:, 0],
            part.X,
            [] if kept else [t],
            confident=[t] if kept else [],
            weights=part.weight,
            folds=part.fold,
        )
        (expected,) = alone.kappa_confident if kept else alone.kappa
        assert row.kappa == pytest.approx(expected.kappa, rel=SAME)
        assert row.std_error == pytest.approx(expected.std_error, rel=SAME)
        if kept:
            part = part.only(np.maximum(part.p[:, 0], 1 - part.p[:, 0]) > t)
        b = oracle.residual((part.p > t).astype(float), part)
        products += oracle.total(b, np.column_stack([oracle.residual(part.p, part), b]), part)[0]
    kappa = report.kappa_confident if kept else report.kappa
    assert kappa.estimate == pytest.approx(products[0] / products[1], rel=SAME)
    assert _average(table) == pytest.approx(kappa.estimate, rel=1e-12)
    assert kappa.estimate != pytest.approx((_report(rows, cells, thresholds=thresholds)).kappa.estimate, rel=1e-4)


def test_folds_by_value_are_those_of_the_cell_alone() -> None:
    rows, cells = _rows()
    report = _report(rows, cells, thresholds=0.6, regression="by_cell", folds=4, seed=3)
    for row in report.cells:
        part = rows.only(cells == row.cell)
        (alone,) = sl.attenuation(part.p[:, 0], part.X, [0.6], weights=part.weight, folds=4, seed=3).kappa
        assert (row.kappa, row.std_error) == pytest.approx((alone.kappa, alone.std_error), rel=SAME)


def test_one_regression_with_every_control_by_cell_is_a_regression_by_cell() -> None:
    rows, cells = _rows(folded=False)
    inside = [(cells == cell)[:, None] for cell in "abc"]
    saturated = rows._replace(X=np.column_stack([*inside[1:], *(cell * rows.X for cell in inside)]).astype(float))
    pooled, by_cell = _report(saturated, cells), _report(rows, cells, regression="by_cell")
    assert pooled.kappa.estimate == pytest.approx(by_cell.kappa.estimate, rel=SAME)
    assert pooled.kappa.std_error == pytest.approx(by_cell.kappa.std_error, rel=SAME)
    for name in ("weight", "kappa", "std_error"):
        assert pooled.cells[name] == pytest.approx(by_cell.cells[name], rel=SAME)
        assert pooled.cells_confident[name] == pytest.approx(by_cell.cells_confident[name], rel=SAME)


@pytest.mark.parametrize("options", [{}, {"weights": 1}, {"weights": 1, "cluster": 1}, {"cluster": 1}], ids=str)
def test_one_threshold_for_all_cells_is_attenuation(options: dict[str, Any]) -> None:
    # The same folds by value too, and the same errors, whatever cells there are.
    rows, cells = _rows()
    given = {"weights": rows.weight, "cluster": np.arange(731) % 40}
    options = {name: given[name] for name in options} | {"seed": 2, "folds": 4, "level": 0.9}
    report = sl.adaptive_attenuation(rows.p[:, 0], rows.X, cells=cells, rule="given", thresholds=0.7, **options)
    plain = sl.attenuation(rows.p[:, 0], rows.X, [0.7], confident=[0.7], **options)
    for found, (expected,) in ((report.kappa, plain.kappa), (report.kappa_confident, plain.kappa_confident)):
        assert found.estimate == pytest.approx(expected.kappa, rel=SAME)
        assert found.std_error == pytest.approx(expected.std_error, rel=SAME)
        assert found.interval == pytest.approx((expected.ci_low, expected.ci_high), rel=SAME)
    assert report.kappa.df == (39 if "cluster" in options else None)
    (plain_confident,) = plain.kappa_confident
    assert report.kappa_confident.n == plain_confident.n_confident
    one = sl.adaptive_attenuation(rows.p[:, 0], rows.X, rule="given", thresholds=0.7, **options)
    assert one.kappa == report.kappa
    (row,) = one.cells
    assert (row.cell, row.threshold, row.weight, row.n) == ("all", 0.7, 1.0, 731)
    assert row.kappa == pytest.approx(one.kappa.estimate, rel=1e-14)
    assert row.std_error == pytest.approx(one.kappa.std_error, rel=1e-9)


def test_frequencies_are_copies_of_rows() -> None:
    rows, cells = _rows(weighted=False)
    assert rows.fold is not None
    copies = np.random.default_rng(1).integers(1, 4, size=731)
    which = np.repeat(np.arange(731), copies)
    for rule in ({"rule": "flexmatch", "thresholds": None}, {"rule": "freematch", "thresholds": None}, {}):
        counted = _report(rows, cells, weights=copies, weight_type="frequency", **rule)
        repeated = _report(rows.only(which), cells[which], **rule)
        for one, other in ((counted.kappa, repeated.kappa), (counted.kappa_confident, repeated.kappa_confident)):
            assert (one.estimate, one.std_error) == pytest.approx((other.estimate, other.std_error), rel=SAME)
            assert one.n == other.n
        for name in ("n", "n_above"):
            assert counted.cells[name] == repeated.cells[name]
        for name in ("weight", "kappa", "std_error"):
            assert counted.cells[name] == pytest.approx(repeated.cells[name], rel=SAME)
        for name in ("n", "n_kept"):
            assert counted.classes[name] == repeated.classes[name]
        assert counted.classes["threshold"] == pytest.approx(repeated.classes["threshold"], rel=1e-13)


# ------------------------------------------------------------------------------------------------ errors of κ_c


def _slopes(f: Callable[[oracle.Floats], oracle.Floats], weight: oracle.Floats) -> oracle.Floats:
    """w ∂f/∂w, (n, m), by central differences."""
    steps = []
    for i in range(len(weight)):
        step = 1e-4 * np.eye(len(weight))[i]
        steps.append((f(weight * (1 + step)) - f(weight * (1 - step))) / 2e-4)
    return np.array(steps)


@pytest.mark.parametrize("clustered", [False, True])
def test_errors_of_a_cell_allow_for_the_regression_that_all_share(*, clustered: bool) -> None:
    # The sandwich of any smooth function of weighted sums is Σ (w ∂f/∂w)²: nothing of the formula is used here.
    rows, cells = _rows(260, folded=False)
    assert rows.weight is not None
    cluster = np.arange(260) % 25 if clustered else None
    report = _report(rows, cells, cluster=cluster)
    _, label = _label(rows.p[:, 0], cells, kept=False)
    inside = np.array([cells == cell for cell in "abc"]).astype(float)

    def kappas(weight: oracle.Floats) -> oracle.Floats:
        used = rows._replace(weight=weight)
        a, b = oracle.residual(np.column_stack([rows.p, label]), used).T
        found: oracle.Floats = (inside @ (weight * a * b)) / (inside @ (weight * b * b))
        return found

    assert report.cells["kappa"] == pytest.approx(kappas(rows.weight).tolist(), rel=SAME)
    slopes = _slopes(kappas, rows.weight)
    if clustered:
        slopes = np.array([slopes[np.arange(260) % 25 == g].sum(axis=0) for g in range(25)]) * np.sqrt(25 / 24)
    expected = np.sqrt(np.square(slopes).sum(axis=0))
    # Central differences err by the square of their step, 1e-8.
    assert report.cells["std_error"] == pytest.approx(expected.tolist(), rel=1e-6)
    # With b(a − κb) alone some would be off by more than a tenth.
    a, b = oracle.residual(np.column_stack([rows.p, label]), rows).T
    for cell, row in zip(inside, report.cells, strict=True):
        g = rows.weight * cell * b * (a - row.kappa * b)
        if clustered:
            g = np.bincount(np.arange(260) % 25, g) * np.sqrt(25 / 24)
        plain = np.sqrt(np.square(g).sum()) / (rows.weight * cell * b * b).sum()
        if row.cell == "a":
            assert abs(plain / (row.std_error or np.nan) - 1) > 0.05


def test_intervals_cover_the_kappa_of_the_labels_in_use() -> None:
    """Thresholds chosen from the same scores add nothing to the error about the κ of the labels they make.

    1,000 rows, 300 times; the κ of each set of labels is taken on 200,000 rows. 95% ± 3.3 standard errors of 300 draws
    of that probability: 91 to 99%.
    """
    design = sl.simulate.PaperDesign(sigma_u=0.5)
    everyone = design.sample(200_000, seed=99)
    X, p = np.column_stack([everyone[f"x{j}"] for j in (1, 2, 3)]), everyone["p"].to_numpy()
    Q = np.linalg.qr(np.column_stack([np.ones(len(p)), X]))[0]
    a = p - Q @ (Q.T @ p)
    covered = []
    for seed in range(300):
        table = design.sample(1_000, seed=seed)
        x, score = np.column_stack([table[f"x{j}"] for j in (1, 2, 3)]), table["p"].to_numpy()
        report = sl.adaptive_attenuation(score, x, cells=x[:, 0] > 0, rule="freematch")
        h = (p > report.threshold_of(X[:, 0] > 0)).astype(float)
        b = h - Q @ (Q.T @ h)
        low, high = report.kappa.interval or (np.nan, np.nan)
        covered.append(low <= (b @ a) / (b @ b) <= high)
    assert 0.91 <= np.mean(covered) <= 0.99


# --------------------------------------------------------------------------- what it is good for: hard estimates κτ


def test_hard_on_the_score_itself_is_kappa() -> None:
    rows, cells = _rows()
    assert rows.fold is not None
    p = rows.p[:, 0]
    for options in ({}, {"rule": "flexmatch", "thresholds": None, "threshold": 0.7}):
        report = _report(rows, cells, **options)
        whole = sl.hard(p, p, rows.X, report.threshold_of(cells), weights=rows.weight, folds=rows.fold)
        assert (whole.estimate, whole.std_error) == pytest.approx(
            (report.kappa.estimate, report.kappa.std_error), rel=SAME
        )
        kept = report.keeps(p, cells)
        part = rows.only(kept)
        inside = sl.hard(p[kept], p[kept], part.X, 0.5, weights=part.weight, folds=part.fold)
        assert (inside.estimate, inside.std_error) == pytest.approx(
            (report.kappa_confident.estimate, report.kappa_confident.std_error), rel=SAME
        )


@pytest.mark.parametrize("regression", ["pooled", "by_cell"])
def test_adaptive_hard_labels_estimate_kappa_times_tau(regression: Regression) -> None:
    """The paper's design, cells by the sign of x1 with thresholds .6 and .8, τ = 2: in all and within the kept rows.

    200 replications of 2,000 rows, and 3.5 standard errors of the mean of hard − κ̂τ: four such means are looked at.
    """
    design = sl.simulate.PaperDesign(sigma_u=0.5, tau=2.0)
    off = []
    wrong = []
    for seed in range(200):
        table = design.sample(2_000, seed=1_000 + seed)
        X = np.column_stack([table[f"x{j}"] for j in (1, 2, 3)])
        y, p = table["y"].to_numpy(), table["p"].to_numpy()
        cells = np.where(X[:, 0] > 0, "right", "left")
        report = sl.adaptive_attenuation(
            p,
            X,
            cells=cells,
            rule="given",
            thresholds={"left": (0.7, 0.6), "right": (0.6, 0.8)},
            regression=regression,
        )
        kept = report.keeps(p, cells)
        if regression == "pooled":
            B = X
        else:
            right = (cells == "right")[:, None]
            B = np.hstack([X, right, right * X])
        whole = sl.hard(y, p, B, report.threshold_of(cells))
        inside = sl.hard(y[kept], p[kept], B[kept], 0.5)
        kappas = np.array([report.kappa.estimate, report.kappa_confident.estimate], dtype=float)
        estimates = np.array([whole.estimate, inside.estimate], dtype=float)
        off.append(estimates - 2 * kappas)
        one = sl.attenuation(p, B, [0.6], confident=[0.6])
        wrong.append(estimates - 2 * np.array([one.kappa["kappa"][0], one.kappa_confident["kappa"][0]]))
    error = np.std(off, axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(np.mean(off, axis=0)) < 3.5 * error).all()
    # One threshold for all would have another κ: the test could tell.
    assert (np.abs(np.mean(wrong, axis=0)) > 5 * error).all()


# --------------------------------------------------------------------------------------------------- the two rules


def _flexmatch(p: oracle.Floats, w: oracle.Floats, t: float) -> list[float]:
    sigma = [sum(w[(p <= 0.5) & (1 - p > t)]), sum(w[(p > 0.5) & (p > t)])]
    beta = [s / max(*sigma, w.sum() - sum(sigma)) for s in sigma]
    return [b / (2 - b) * t for b in beta]


def _freematch(p: oracle.Floats, w: oracle.Floats) -> list[float]:
    mean = np.average(p, weights=w)
    certain = np.average(np.maximum(p, 1 - p), weights=w)
    return [certain * (1 - mean) / max(mean, 1 - mean), certain * mean / max(mean, 1 - mean)]


@pytest.mark.parametrize("weighted", [False, True])
def test_rules_are_those_of_each_cell(*, weighted: bool) -> None:
    rows, cells = _rows(weighted=weighted)
    p, w = rows.p[:, 0], np.ones(731) if rows.weight is None else rows.weight
    flex = _report(rows, cells, rule="flexmatch", thresholds=None, threshold=0.8)
    free = _report(rows, cells, rule="freematch", thresholds=None)
    for cell in "abc":
        c = cells == cell
        for report, expected in ((flex, _flexmatch(p[c], w[c], 0.8)), (free, _freematch(p[c], w[c]))):
            found = [row for row in report.classes if row.cell == cell]
            assert [row.threshold for row in found] == pytest.approx(expected, rel=1e-12)
            assert [row.group for row in found] == [0, 1]
            assert [row.n for row in found] == [(p[c] <= 0.5).sum(), (p[c] > 0.5).sum()]
            kept = [((p[c] <= 0.5) & (1 - p[c] > expected[0])).sum(), ((p[c] > 0.5) & (p[c] > expected[1])).sum()]
            assert [row.n_kept for row in found] == kept
            (row,) = (row for row in report.cells if row.cell == cell)
            assert row.threshold == pytest.approx(max(expected[1], 0.5), rel=1e-12)
            assert row.n_above == (p[c] > row.threshold).sum()
            (row,) = (row for row in report.cells_confident if row.cell == cell)
            assert (row.n, row.n_above) == (sum(kept), kept[1])
    assert max(flex.classes["threshold"]) <= 0.8
    default = _report(rows, cells, rule="flexmatch", thresholds=None).classes["threshold"]
    assert default == _report(rows, cells, rule="flexmatch", thresholds=None, threshold=0.95).classes["threshold"]
    assert default != flex.classes["threshold"]


def test_flexmatch_by_hand() -> None:
    # Above .9: 4 of class 0, 2 of class 1; 2 rows unsure. β = (1, 1/2), M(1/2) = (1/2)/(3/2) = 1/3.
    p = np.array([0.01, 0.02, 0.03, 0.04, 0.97, 0.98, 0.6, 0.5])
    report = sl.adaptive_attenuation(p, threshold=0.9, folds=None)
    assert report.classes["learnt"] == [1.0, 0.5]
    assert report.classes["threshold"] == pytest.approx([0.9, 0.3], rel=1e-15)
    # A half is of class 0, as p > 1/2 has it; class 1 keeps all of its rows, that of .6 too.
    assert (report.classes["n"], report.classes["n_kept"]) == ([5, 3], [4, 3])
    assert report.keeps(p).tolist() == [True] * 4 + [True, True, True, False]
    # Warm-up: with 20 unsure rows β is a share of these, 4/20 and 2/20.
    report = sl.adaptive_attenuation(np.append(p, [0.4] * 18), threshold=0.9, folds=None)
    assert report.classes["learnt"] == [0.2, 0.1]
    assert report.classes["threshold"] == pytest.approx([0.9 * 0.2 / 1.8, 0.9 * 0.1 / 1.9], rel=1e-14)


def test_freematch_by_hand() -> None:
    p = np.array([0.1, 0.2, 0.3, 0.8])  # mean .35, mean certainty .8
    report = sl.adaptive_attenuation(p, rule="freematch", folds=None)
    assert report.classes["threshold"] == pytest.approx([0.8, 0.8 * 0.35 / 0.65], rel=1e-14)
    assert report.classes["learnt"] == pytest.approx([1.0, 0.35 / 0.65], rel=1e-14)
    assert report.classes["n_kept"] == [1, 1]  # 1 − .2 is not above .8
    # Certain to the last: more certain than the mean is nobody.
    report = sl.adaptive_attenuation(np.tile([0.0, 1.0], 50), rule="freematch", folds=None)
    assert report.kappa_confident.reason == "no row has a score that is confident at its threshold"
    assert report.cells_confident["reason"] == ["no row kept in this cell"]


def test_thresholds_below_a_half() -> None:
    rows, cells = _rows()
    p = rows.p[:, 0]
    # Given ones are used as they are where every row is labelled, and bind nobody where rows are kept.
    low, half = (_report(rows, cells, thresholds=t) for t in (0.3, 0.5))
    assert low.cells["n_above"] == [int((p[cells == c] > 0.3).sum()) for c in "abc"]
    assert low.kappa.estimate != half.kappa.estimate
    assert low.kappa_confident == half.kappa_confident
    assert low.keeps(p, cells).tolist() == (p != 0.5).tolist() or low.keeps(p, cells).all()
    assert sum(low.classes["n_kept"]) == 731


# ------------------------------------------------------------------------------------------------------ odd cells


def test_a_cell_with_labels_of_one_kind() -> None:
    rows, cells = _rows()
    thresholds = {"a": 0.9999, "b": 0.6, "c": 0.7}
    by_cell = _report(rows, cells, thresholds=thresholds, regression="by_cell")
    row = by_cell.cells.rows[0]
    assert (row.kappa, row.weight, row.n_above) == (None, 0.0, 0)
    assert row.reason == "no score of this cell is above 0.9999"
    assert sum(by_cell.cells["weight"]) == pytest.approx(1, rel=1e-14)
    assert _average(by_cell.cells) == pytest.approx(by_cell.kappa.estimate, rel=1e-12)
    # One regression for all leaves something of its constant label, which enters the coefficient and so the average.
    pooled = _report(rows, cells, thresholds=thresholds)
    row = pooled.cells.rows[0]
    assert row.kappa is not None
    assert row.weight > 0
    assert (row.std_error, row.ci_low, row.reason) == (None, None, "no score of this cell is above 0.9999")
    assert _average(pooled.cells) == pytest.approx(pooled.kappa.estimate, rel=1e-12)
    assert pooled.kappa.std_error is not None


def test_a_cell_too_small_for_its_own_regression_is_left_out_and_said() -> None:
    rows, cells = _rows(folded=False)
    cells = cells.astype(object)
    cells[:4] = "tiny"
    thresholds = THRESHOLDS | {"tiny": 0.5}
    report = _report(rows, cells, thresholds=thresholds, regression="by_cell")
    row = report.cells.rows[-1]
    assert (row.cell, row.kappa, row.weight, row.n) == ("tiny", None, 0.0, 4)
    assert row.reason == "4 rows of this cell are too few for 4 coefficients"
    without = _report(rows.only(np.arange(4, 731)), cells[4:], regression="by_cell")
    assert report.kappa.estimate == pytest.approx(without.kappa.estimate, rel=SAME)
    assert report.kappa.std_error == pytest.approx(without.kappa.std_error, rel=SAME)
    assert report.kappa.n == 727
    assert report.note is not None
    assert report.note.startswith("kappa leaves out cells too small for a regression of their own, 1 in all: 'tiny'")
    # One regression for all has no such trouble: only an error is too much to ask of four rows.
    pooled = _report(rows, cells, thresholds=thresholds)
    row = pooled.cells.rows[-1]
    assert row.kappa is not None
    assert row.std_error is None
    assert row.reason is not None
    assert (pooled.kappa.n, pooled.note) == (731, None)
    assert _average(pooled.cells) == pytest.approx(pooled.kappa.estimate, rel=1e-12)


def test_cells_without_rows() -> None:
    rows, cells = _rows()
    kinds = pd.Categorical(cells, categories=["a", "b", "c", "d"])
    thresholds = THRESHOLDS | {"d": 0.9}
    rules: list[dict[str, Any]] = [{"rule": rule, "thresholds": None} for rule in ("flexmatch", "freematch")]
    for options, others in (*((rule, rule) for rule in rules), ({"thresholds": thresholds}, {})):
        report, without = _report(rows, kinds, **options), _report(rows, cells, **others)
        assert report.kappa == without.kappa
        assert report.cells.rows[:3] == without.cells.rows
        row = report.cells.rows[3]
        assert (row.cell, row.kappa, row.weight, row.n, row.reason) == ("d", None, 0.0, 0, "no row of this cell")
        assert report.cells_confident.rows[3].reason == "no row kept in this cell"
    report = _report(rows, kinds, **rules[0])
    with pytest.raises(sl.InputError, match="a row of 'd', which had no rows"):
        report.threshold_of(["a", "d"])
    given = _report(rows, kinds, thresholds=thresholds)  # a threshold that was handed in is known without rows
    assert given.threshold_of(["a", "d"]).tolist() == [0.7, 0.9]
    # Rows of weight zero are left out; a cell of only such rows is one of them.
    weight = np.where(cells == "b", 0.0, 1.0)
    report = _report(rows, cells, weights=weight)
    assert report.cells["n"][1] == 0
    assert report.note is not None


def test_a_score_that_tells_nothing() -> None:
    rows, cells = _rows()
    X = np.column_stack([rows.X, rows.p])
    report = sl.adaptive_attenuation(rows.p[:, 0], X, cells=cells, rule="given", thresholds=0.6)
    assert report.kappa.reason == "the controls explain the score completely (V* = 0)"
    assert set(report.cells["reason"]) == {report.kappa.reason}
    assert report.cells["kappa"] == [None] * 3
    # In one cell alone: its κ is zero, and there is no error to tell.
    p = np.where(cells == "b", 1 / (1 + np.exp(-rows.X[:, 1])), rows.p[:, 0])
    X = np.column_stack([rows.X, 1 / (1 + np.exp(-rows.X[:, 1]))])
    report = sl.adaptive_attenuation(p, X, cells=cells, rule="given", thresholds=0.6, regression="by_cell", folds=None)
    row = report.cells.rows[1]
    assert row.kappa == pytest.approx(0, abs=1e-10)
    assert row.std_error is None
    assert row.reason == "the controls explain every score of this cell completely (V* = 0)"


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        ([10, 9, 10, 9], ["9", "10"]),
        ([1.0, 0.5, 1.0, 0.5], ["0.5", "1"]),
        ([True, False, True, False], ["False", "True"]),
        (["south", "north", "south", "north"], ["north", "south"]),
        (np.array(["s", "n", "s", "n"]), ["n", "s"]),
        (np.array([3, 1, 3, 1], dtype=np.int8), ["1", "3"]),
        (pd.Series(["s", "n", "s", "n"], dtype="category"), ["n", "s"]),
    ],
    ids=lambda value: type(value).__name__ + str(value)[:12],
)
def test_cells_are_numbers_or_text_in_order(cells: Any, names: list[str]) -> None:
    p = np.linspace(0.05, 0.95, 200)
    many = pd.concat([cells] * 50) if isinstance(cells, pd.Series) else np.tile(np.array(cells), 50)
    first, second = sorted(dict.fromkeys(np.array(cells).tolist()))
    report = sl.adaptive_attenuation(
        p, cells=many, rule="given", thresholds={second: 0.7, first: (0.2, 0.4)}, folds=None
    )
    assert report.cells["cell"] == names
    assert report.cells["threshold"] == [0.4, 0.7]
    assert report.threshold_of(cells).tolist() == [0.7, 0.4, 0.7, 0.4]
    assert report.classes["threshold"] == [0.2, 0.4, 0.7, 0.7]


def test_the_tables_print_and_travel() -> None:
    rows, cells = _rows()
    report = _report(rows, cells)
    assert str(report.cells).splitlines()[0].split() == report.cells.columns
    assert report.classes.to_pandas().shape == (6, 6)
    assert report.cells.to_arrow().num_rows == 3
    with pytest.raises(AttributeError):
        report.rule = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": "fixmatch"}, "rule to be a known one; found rule='fixmatch'. Did you mean 'flexmatch'"),
        ({"regression": "cell"}, "regression to be a known one"),
        ({"rule": "given"}, "thresholds if, and only if, rule='given'"),
        ({"thresholds": 0.9}, "thresholds if, and only if, rule='given'"),
        ({"rule": "freematch", "threshold": 0.9}, "threshold with rule='flexmatch' only"),
        ({"threshold": 0.4}, "threshold to be a number from 0.5 to below 1"),
        ({"threshold": float("nan")}, "threshold to be a number from 0.5 to below 1"),
        ({"rule": "given", "thresholds": 1.0}, "from 0 to below 1, or a pair"),
        ({"rule": "given", "thresholds": -0.1}, "from 0 to below 1, or a pair"),
        ({"rule": "given", "thresholds": True}, "from 0 to below 1, or a pair"),
        ({"rule": "given", "thresholds": {"a": float("nan"), "b": 0.5}}, "from 0 to below 1, or a pair"),
        ({"rule": "given", "thresholds": {"a": (0.5, 0.6, 0.7), "b": 0.5}}, "from 0 to below 1, or a pair"),
        ({"rule": "given", "thresholds": {"a": "high", "b": 0.5}}, "from 0 to below 1, or a pair"),
        ({"rule": "given", "thresholds": {"a": 0.5}}, "a threshold for every cell; found none for 'b'"),
        ({"rule": "given", "thresholds": {"a": 0.5, "b": 0.5, "c": 0.5}}, "cells that there are; found 'c'"),
        ({"cells": ["a"] * 9}, "cells to be a vector of 10 labels; found 9"),
        ({"cells": ["a"] * 9 + [None]}, "a cell for every row; found 1 missing labels of 10"),
        ({"cells": [1.0] * 9 + [float("nan")]}, "a cell for every row; found 1 missing labels of 10"),
        ({"cells": [["a"]] * 10}, "cells to hold one label per row"),
        ({"cells": ["a"] * 9 + [1]}, "cells to hold one label per row"),
        ({"cells": np.array(["2020-01-01"] * 10, dtype="datetime64[D]")}, "cells to be numbers or text"),
        ({"level": 2}, "level to be a confidence level"),
        ({"weights": np.ones(9)}, "weights to be a vector of 10 values"),
    ],
)
def test_wrong_calls_are_refused(options: dict[str, Any], said: str) -> None:
    options = {"cells": list("ababababab")} | options
    with pytest.raises(ValueError) as caught:  # noqa: PT011  (the message is looked at below)
        sl.adaptive_attenuation(np.linspace(0, 1, 10), **options)
    assert said in str(caught.value)


def test_too_many_cells_and_wrong_scores_are_refused() -> None:
    p = np.linspace(0, 1, 1_001)
    with pytest.raises(sl.InputError, match="at most 1,000 cells"):
        sl.adaptive_attenuation(p, cells=np.arange(1_001))
    with pytest.raises(sl.DataError, match="p to be finite"):
        sl.adaptive_attenuation([0.5, float("nan")])
    report = sl.adaptive_attenuation(p, cells=np.arange(1_001) % 2, rule="freematch")
    with pytest.raises(sl.InputError, match="a cell of this report; found '7'"):
        report.threshold_of([0, 7])
    with pytest.raises(sl.InputError, match="cells to hold one label per row"):
        report.threshold_of(0)
    with pytest.raises(sl.InputError, match="a cell of this report; found 'all'"):
        report.keeps(p)
