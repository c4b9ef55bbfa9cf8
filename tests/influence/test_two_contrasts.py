"""Three groups: a score of two contrasts through the same kernel, against the matrix formulas.

V* = E[aaᵀ], τ = E[aaᵀ]⁻¹E[aR], κ = E[bbᵀ]⁻¹E[baᵀ]: the binary score is the 1×1 case of one code.
"""

from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

from softlabel.estimators.labels import solved
from softlabel.folds import hash_rows
from softlabel.influence import Analysis
from softlabel.influence.points import divide
from softlabel.influence.scores import residuals
from softlabel.moments import Partition
from softlabel.moments.kernel import sorted_blocks
from tests import oracle
from tests.oracle import Answer, Floats, Rows
from tests.passes import columns, design_of, run

THRESHOLDS = (0.2, 0.35, 0.5)
CONFIDENT = (0.5, 0.7)
SAME = 1e-9


class Simplex(Partition):
    """Codes of two scores (p₁, p₂), p₃ being the rest: h_j = 1{p_j > t}, C = {max(p₁, p₂, p₃) > t}.

    A code is the cell of p₁ and p₂ among all thresholds, and for each confident set whether p₃ is above it.
    """

    @property
    def contrasts(self) -> int:
        return 2

    @cached_property
    def edges(self) -> Floats:
        return np.unique([*self.thresholds, *self.confident])

    @property
    def shape(self) -> tuple[int, ...]:
        cells = len(self.edges) + 1
        return (cells, cells, *[2] * len(self.confident))

    @property
    def n_codes(self) -> int:
        return int(np.prod(self.shape))

    def codes(self, score: Floats) -> NDArray[np.intp]:
        rest = 1 - score[0] - score[1]
        parts = [*np.searchsorted(self.edges, score), *(np.where(rest > t, 1, 0) for t in self.confident)]
        codes: NDArray[np.intp] = np.ravel_multi_index(parts, self.shape)
        return codes

    @cached_property
    def _cells(self) -> NDArray[np.intp]:
        return np.stack(np.unravel_index(np.arange(self.n_codes), self.shape))

    @cached_property
    def labels(self) -> Floats:
        return self._by_contrast(self.thresholds)

    @cached_property
    def confident_labels(self) -> Floats:
        return self._by_contrast(self.confident)

    def _by_contrast(self, thresholds: tuple[float, ...]) -> Floats:
        edge = np.searchsorted(self.edges, thresholds)
        return (self._cells[None, :2] > edge[:, None, None]).astype(float)

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        return (self.confident_labels > 0).any(axis=1) | (self._cells[2:] > 0)


PARTITION = Simplex(THRESHOLDS, CONFIDENT)


def made(*, folded: bool = True, weighted: bool = False, clusters: int | None = None) -> Rows:
    rng = np.random.default_rng(23)
    n, k = 607, 3
    X = rng.normal(size=(n, k))
    logits = np.column_stack([X[:, 0], -0.5 * X[:, 1], np.zeros(n)]) + 1.8 * rng.normal(size=(n, 3))
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    group = (shares.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    y = X.sum(axis=1) + np.array([1.5, -0.5, 0.0])[group] + rng.normal(size=n)
    return Rows(
        y,
        shares[:, :2],
        X,
        rng.integers(0, 4, size=n) if folded else None,
        rng.gamma(2.0, size=n) if weighted else None,
        rng.integers(0, clusters, size=n) if clusters else None,
    )


KINDS = pytest.mark.parametrize(
    ("folded", "weighted", "clusters"), [(True, False, None), (False, True, None), (True, True, 35)]
)


def labels(rows: Rows, t: float) -> Floats:
    return (rows.p > t).astype(float)


def inside(rows: Rows, t: float) -> NDArray[np.bool_]:
    everyone = np.column_stack([rows.p, 1 - rows.p[:, 0] - rows.p[:, 1]])
    members: NDArray[np.bool_] = everyone.max(axis=1) > t
    return members


def close(found: Floats, expected: Floats) -> None:
    """Equal up to rounding, relative to the largest entry: single entries of a matrix may be near zero."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=SAME, atol=SAME * np.abs(expected).max())


def test_the_double_codes_are_the_labels() -> None:
    rows = made()
    codes = PARTITION.codes(rows.p.T)
    for t, by_code in zip(THRESHOLDS, PARTITION.labels, strict=True):
        assert np.array_equal(by_code[:, codes].T, labels(rows, t))
    for t, by_code, member in zip(CONFIDENT, PARTITION.confident_labels, PARTITION.members, strict=True):
        assert np.array_equal(by_code[:, codes].T, labels(rows, t))
        assert np.array_equal(member[codes], inside(rows, t))
        assert 200 < member[codes].sum() < 600


@KINDS
def test_points(folded: bool, weighted: bool, clusters: int | None) -> None:
    rows = made(folded=folded, weighted=weighted, clusters=clusters)
    at = run(rows, PARTITION).points
    soft = oracle.soft(rows)
    close(at.v_star, soft["v_star"].estimate.reshape(2, 2))
    close(at.soft, soft["orthogonal"].estimate)
    close(at.soft_moment, soft["moment"].estimate)
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    close(at.score_variance, np.cov(rows.p.T, aweights=weight, bias=True))
    close(at.score_square, np.average(rows.p**2, axis=0, weights=weight))
    for i, t in enumerate(THRESHOLDS):
        expected = oracle.label(rows, labels(rows, t))
        close(at.hard.hard[i], expected["orthogonal"].estimate)
        close(at.hard.moment[i], expected["moment"].estimate)
        close(at.hard.deattenuated[i], expected["deattenuated"].estimate)
        close(at.hard.kappa[i].ravel(), expected["kappa"].estimate)
    for i, t in enumerate(CONFIDENT):
        chosen = rows.only(inside(rows, t))
        expected = oracle.label(chosen, labels(chosen, t))
        close(at.confident.hard[i], expected["orthogonal"].estimate)
        close(at.confident.deattenuated[i], expected["deattenuated"].estimate)
        close(at.confident.kappa[i].ravel(), expected["kappa"].estimate)


@KINDS
def test_covariances(folded: bool, weighted: bool, clusters: int | None) -> None:
    rows = made(folded=folded, weighted=weighted, clusters=clusters)
    analysis = run(rows, PARTITION)
    core = analysis.sums["core"]
    covariance = core.covariance_of_sums()[0]
    soft = oracle.soft(rows)
    for part, bread, name in (
        (slice(0, 2), core.bread[0], "orthogonal"),
        (slice(2, 4), 2 * core.bread[0], "moment"),
        (slice(4, 8), core.weight * np.eye(4), "v_star"),
    ):
        half = divide(bread, covariance[part, part])
        close(divide(bread, half.T), soft[name].covariance)
    check_labels(analysis, "hard", THRESHOLDS, [oracle.label(rows, labels(rows, t)) for t in THRESHOLDS])
    chosen = [(rows.only(inside(rows, t)), t) for t in CONFIDENT]
    check_labels(analysis, "confident", CONFIDENT, [oracle.label(c, labels(c, t)) for c, t in chosen])


def check_labels(
    analysis: Analysis, name: str, thresholds: tuple[float, ...], expected: list[dict[str, Answer]]
) -> None:
    fits = solved(analysis.sums[name], getattr(analysis.points, name), 2)
    assert len(fits) == (4 if name == "hard" else 3)
    for key, fit in fits.items():
        for i in range(len(thresholds)):
            reference = expected[i]["orthogonal" if key == "hard" else key]
            close(fit.points[i], reference.estimate)
            close(fit.covariances[i], reference.covariance)


@pytest.mark.parametrize("folded", [True, False])
def test_residuals(folded: bool) -> None:
    rows = made(folded=folded)
    analysis = run(rows, PARTITION)
    held = columns(rows)
    (block,) = sorted_blocks(held, hash_rows(held), analysis.design, analysis.nuisances.shift)
    res = residuals(block, analysis.nuisances, analysis.design)
    fold = np.zeros(len(rows.y), dtype=np.intp) if rows.fold is None else rows.fold
    order = np.lexsort((PARTITION.codes(rows.p.T), fold))
    close(res.a, oracle.residual(rows.p, rows)[order].T)
    close(res.r, oracle.residual(rows.y[:, None], rows)[order, 0])
    close(res.sign, 2 * rows.p[order].T - 1)
    for i, t in enumerate(THRESHOLDS):
        assert np.array_equal(res.h[i], labels(rows, t)[order].T)
        close(res.b[i], oracle.residual(labels(rows, t), rows)[order].T)
    for i, t in enumerate(CONFIDENT):
        member = inside(rows, t)
        chosen = rows.only(member)
        here = member[order]
        # Row numbers of the chosen rows in the order of the block.
        rank = (np.cumsum(member) - 1)[order][here]
        close(res.b_c[i][:, here], oracle.residual(labels(chosen, t), chosen)[rank].T)
        close(res.a_c[i][:, here], oracle.residual(chosen.p, chosen)[rank].T)
        close(res.r_c[i][here], oracle.residual(chosen.y[:, None], chosen)[rank, 0])
        assert not res.b_c[i][:, ~here].any()


def test_a_second_contrast_that_is_not_there_leaves_the_binary_case() -> None:
    # p₂ = 0 in every row: V* is singular, and its pseudo-inverse is the 1×1 case.
    rows = made()
    alone = rows._replace(p=np.column_stack([rows.p[:, 0], np.zeros(len(rows.y))]))
    two = run(alone, Simplex(THRESHOLDS, ())).points
    one = run(rows._replace(p=rows.p[:, :1]), Partition.of(THRESHOLDS, ())).points
    close(two.soft, np.array([one.soft[0], 0.0]))
    close(two.hard.hard[:, 0], one.hard.hard[:, 0])
    close(two.hard.kappa[:, 0, 0], one.hard.kappa[:, 0, 0])


def test_the_order_of_contrasts_only_reorders() -> None:
    rows = made(weighted=True)
    at = run(rows, PARTITION).points
    turned = run(rows._replace(p=rows.p[:, ::-1]), PARTITION).points
    close(turned.soft, at.soft[::-1])
    close(turned.v_star, at.v_star[::-1, ::-1])
    close(turned.hard.kappa, at.hard.kappa[:, ::-1, ::-1])


def test_design_counts_the_contrasts() -> None:
    design = design_of(made(), PARTITION)
    assert (design.d, design.q, design.width) == (4, 2, 7)


def test_a_perfect_score_is_least_squares_on_two_groups() -> None:
    rng = np.random.default_rng(1)
    rows = made(folded=False)
    group = rng.integers(0, 3, size=len(rows.y))
    perfect = rows._replace(p=np.column_stack([group == 0, group == 1]).astype(float))
    design = np.column_stack([perfect.p, np.ones(len(rows.y)), rows.X])
    expected = np.linalg.lstsq(design, rows.y, rcond=None)[0][:2]
    at = run(perfect, PARTITION).points
    close(at.soft, expected)
    for i in range(len(THRESHOLDS)):
        close(at.hard.hard[i], expected)
        close(at.hard.kappa[i], np.eye(2))
    close(at.confident.hard[1], expected)
