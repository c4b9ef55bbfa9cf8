"""The small-sample sandwich of one coefficient: HC0 to HC3 over rows, CR0 to CR3 over clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FULL_LEVERAGE", "Adjusted", "adjust", "small_sample", "variance"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

# A row or cluster that alone decides one coefficient has leverage one and no residual to learn a variance from.
FULL_LEVERAGE = 1 - 1e-8

# HC2 is unbiased and HC3 a jackknife: residuals are divided by these powers of (1 − leverage).
_POWER = {"HC0": 0.0, "HC1": 0.0, "HC2": 0.5, "HC3": 1.0}


class Adjusted(NamedTuple):
    """Residuals (n,) after the adjustment, and the leverage (n,) of each row or, with clusters, of its cluster."""

    errors: Floats
    leverage: Floats


def adjust(
    q: Floats, errors: Floats, covariance: str, *, copies: Floats | None = None, cluster: Codes | None = None
) -> Adjusted:
    r"""Return the residuals that an HC or CR sandwich squares.

    .. math:: \tilde e_g = (I - Q_g Q_g')^{-a} e_g, \qquad a = 0, 0, \tfrac12, 1,

    for HC0 to HC3, with g a cluster or a single row: HC2 and HC3 of MacKinnon & White (1985), and the symmetric
    CR2 and CR3 of Bell & McCaffrey (2002).

    Parameters
    ----------
    q : (n, k)
        Orthonormal basis of the whole design, each row times the root of its weight.
    errors : (n,)
        Residuals, each times the root of its weight.
    copies : (n,), optional
        How many equal cases a row stands for. They matter where every case is its own cluster.
    cluster : (n,), optional
        Number of each row's cluster, from 0 up.

    Notes
    -----
    With Q_g = U S V' the matrix is I + U((1 − S²)^{−a} − 1)U': no more than min(n_g, k) singular values, whatever
    the size of the cluster. Clusters of one size are decomposed in one call. Where the leverage reaches
    `FULL_LEVERAGE` the residuals mean nothing.

    Examples
    --------
    >>> import numpy as np
    >>> adjust(np.full((4, 1), 0.5), np.array([3.0, -1, -1, -1]), "HC3").errors.tolist()
    [4.0, -1.3333333, -1.3333333, -1.3333333]
    """
    power = _POWER[covariance]
    if power == 0:
        return Adjusted(errors, np.zeros(len(errors)))
    if cluster is None:
        own = np.square(q).sum(axis=1)
        leverage = own if copies is None else own / copies
        return Adjusted(errors * _left(leverage) ** -power, leverage)
    adjusted, leverage = errors.copy(), np.zeros(len(errors))
    order, sizes = np.argsort(cluster, kind="stable"), np.bincount(cluster)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        rows = order[starts[sizes == size, None] + np.arange(size)]
        u, singular, _ = np.linalg.svd(q[rows], full_matrices=False)
        along = (u.swapaxes(1, 2) @ errors[rows][:, :, None])[:, :, 0]
        values = np.square(singular)
        adjusted[rows] += (u @ ((_left(values) ** -power - 1) * along)[:, :, None])[:, :, 0]
        leverage[rows] = values.max(axis=1, keepdims=True)
    return Adjusted(adjusted, leverage)


def _left(leverage: Floats) -> Floats:
    """Return 1 − leverage, kept from zero: beyond `FULL_LEVERAGE` nobody uses it."""
    return np.maximum(1 - leverage, 1 - FULL_LEVERAGE)


def small_sample(covariance: str, n: int, k: int, clusters: int | None) -> float:
    """Return the factor of the sandwich for n cases, k coefficients and G clusters: 1 but for HC1.

    n/(n−k), or with clusters G/(G−1)·(n−1)/(n−k), which is the same where every case is a cluster.

    Examples
    --------
    >>> small_sample("HC1", 10, 2, None), small_sample("HC1", 10, 2, 10), small_sample("HC1", 10, 2, 5)
    (1.25, 1.25, 1.40625)
    """
    if covariance != "HC1":
        return 1.0
    return n / (n - k) if clusters is None else clusters / (clusters - 1) * (n - 1) / (n - k)


def variance(influence: Floats, copies: Floats | None, cluster: Codes | None) -> float:
    """Return Σ of squares of the influence (n,) of cases: of each case, or of the sum over each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> part, twice = np.array([1.0, 2.0, -1.0]), np.array([1.0, 2.0, 1.0])
    >>> variance(part, None, None), variance(part, twice, None), variance(part, twice, np.array([0, 0, 1]))
    (6.0, 10.0, 26.0)
    """
    total = influence if copies is None else influence * copies
    if cluster is None:
        return float(total @ influence)
    return float(np.square(np.bincount(cluster, total)).sum())
