"""The reference that every number is compared with: dense, slow, and written from the theory alone.

Nothing here knows of folds as sums, of codes, of shifts or of passes. A regression on the controls is
`numpy.linalg.lstsq` on the rows outside the fold; an estimator is its formula; a standard error is the sandwich
of its influence function, summed within clusters and multiplied by weights. A score has q contrasts (n, q), so
the binary score is the case of one column.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Of float64; numpy types what linear algebra returns as any kind of float.
Floats = NDArray[Any]
Folds = NDArray[np.intp]


class Rows(NamedTuple):
    """Unlabelled rows: y (n,), p (n, q), X (n, k), and where there are any fold, weight, cluster (n,)."""

    y: Floats
    p: Floats
    X: Floats
    fold: Folds | None = None
    weight: Floats | None = None
    cluster: NDArray[np.int64] | None = None

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> "Rows":
        """The chosen rows."""
        return Rows(*(None if part is None else part[chosen] for part in self))  # type: ignore[arg-type]


class Answer(NamedTuple):
    """Estimates (m,) and their covariance (m, m)."""

    estimate: Floats
    covariance: Floats

    @property
    def value(self) -> float:
        """The estimate, where there is one."""
        assert self.estimate.shape == (1,)
        return float(self.estimate[0])

    @property
    def std_error(self) -> float:
        """Its standard error."""
        assert self.covariance.shape == (1, 1)
        return float(np.sqrt(self.covariance[0, 0]))


def residual(values: Floats, rows: Rows) -> Floats:
    """What (1, X) leaves of each column of values (n, m), fitted outside each row's fold."""
    n = len(values)
    design = np.column_stack([np.ones(n), rows.X])
    root = np.ones(n) if rows.weight is None else np.sqrt(rows.weight)
    left = np.empty_like(values)
    for k in [None] if rows.fold is None else np.unique(rows.fold):
        inside = np.ones(n, dtype=bool) if k is None else rows.fold == k
        train = inside if k is None else ~inside
        coefficients = np.linalg.lstsq(
            root[train, None] * design[train], root[train, None] * values[train], rcond=1e-13
        )[0]
        left[inside] = values[inside] - design[inside] @ coefficients
    return left


def sandwich(bread: Floats, scores: Floats, rows: Rows) -> Floats:
    """bread⁻¹ Σ_g (Σ_{i∈g} w_i s_i)(Σ_{i∈g} w_i s_i)ᵀ bread⁻ᵀ for scores (n, m), times G/(G − 1) for G clusters."""
    weighted = scores if rows.weight is None else rows.weight[:, None] * scores
    if rows.cluster is not None:
        weighted = np.array([weighted[rows.cluster == g].sum(axis=0) for g in np.unique(rows.cluster)])
        weighted *= np.sqrt(len(weighted) / (len(weighted) - 1))
    meat = weighted.T @ weighted
    inverse = np.linalg.inv(bread)
    covariance: Floats = inverse @ meat @ inverse.T
    return covariance


def total(left: Floats, right: Floats, rows: Rows) -> Floats:
    """Σ w left rightᵀ for left (n, a) and right (n, b)."""
    weight = np.ones(len(left)) if rows.weight is None else rows.weight
    product: Floats = (left * weight[:, None]).T @ right
    return product


def soft(rows: Rows) -> dict[str, Answer]:
    """The soft estimator in both forms, and V* = E[aaᵀ] written out by rows."""
    n, q = rows.p.shape
    a = residual(rows.p, rows)
    r = residual(rows.y[:, None], rows)
    aa = total(a, a, rows)
    signed = 2 * rows.p - 1
    orthogonal = np.linalg.solve(aa, total(a, r, rows))[:, 0]
    moment = np.linalg.solve(2 * aa, total(signed, r, rows))[:, 0]
    weight = float(n) if rows.weight is None else float(rows.weight.sum())
    v_star = (aa / weight).ravel()
    products = (a[:, :, None] * a[:, None, :]).reshape(n, q * q)
    return {
        "orthogonal": Answer(orthogonal, sandwich(aa, a * (r - (a @ orthogonal)[:, None]), rows)),
        "moment": Answer(moment, sandwich(2 * aa, signed * r - 2 * a * (a @ moment)[:, None], rows)),
        "v_star": Answer(v_star, sandwich(weight * np.eye(q * q), products - v_star, rows)),
    }


def label(rows: Rows, h: Floats) -> dict[str, Answer]:
    """Every estimator that uses a hard label h (n, q); κ is written out by rows."""
    n, q = h.shape
    a = residual(rows.p, rows)
    b = residual(h, rows)
    r = residual(rows.y[:, None], rows)
    bb, ba = total(b, b, rows), total(b, a, rows)
    signed = 2 * h - 1
    hard = np.linalg.solve(bb, total(b, r, rows))[:, 0]
    moment = np.linalg.solve(2 * bb, total(signed, r, rows))[:, 0]
    deattenuated = np.linalg.solve(ba, total(b, r, rows))[:, 0]
    kappa = np.linalg.solve(bb, ba)
    # vec by rows of bbᵀκ is (bbᵀ ⊗ I) vec κ.
    kappa_scores = (b[:, :, None] * (a - b @ kappa)[:, None, :]).reshape(n, q * q)
    return {
        "orthogonal": Answer(hard, sandwich(bb, b * (r - (b @ hard)[:, None]), rows)),
        "moment": Answer(moment, sandwich(2 * bb, signed * r - 2 * b * (b @ moment)[:, None], rows)),
        "deattenuated": Answer(deattenuated, sandwich(ba, b * (r - (a @ deattenuated)[:, None]), rows)),
        "kappa": Answer(kappa.ravel(), sandwich(np.kron(bb, np.eye(q)), kappa_scores, rows)),
    }


def hard(rows: Rows, threshold: float) -> dict[str, Answer]:
    """The binary hard label at a threshold."""
    return label(rows, (rows.p > threshold).astype(float))


def confident(rows: Rows, threshold: float) -> dict[str, Answer]:
    """The same within max(p, 1 − p) > threshold, every residual taken there."""
    p = rows.p[:, 0]
    return hard(rows.only(np.maximum(p, 1 - p) > threshold), threshold)


def draw(n: int, k: int, seed: int, *, edges: tuple[float, ...] = ()) -> Rows:
    """Rows of a binary score and k controls; a third of the scores sit on the edges given and beside them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k)) * 3.0 ** np.arange(k) + np.arange(k)
    # p depends on the first control and spreads to both ends, so that confident sets have rows on both sides.
    slope = X[:, 0] if k else np.zeros(n)
    p = 1 / (1 + np.exp(-(0.5 * slope + 2.2 * rng.normal(size=n))))
    if edges:
        near = [v for e in edges for v in (e, 1 - e, np.nextafter(e, 0), np.nextafter(e, 1), 1 - (1 - e))]
        exact = np.array([0.0, 1.0, *near])
        chosen = rng.permutation(n)[: n // 3]
        p[chosen] = rng.choice(exact, size=len(chosen))
    group = rng.random(n) < p
    y = 0.7 + X.sum(axis=1) + 1.5 * group + rng.normal(size=n) * (1 + 0.5 * np.abs(slope))
    return Rows(y, p[:, None], X)
