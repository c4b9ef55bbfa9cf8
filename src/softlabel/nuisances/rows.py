"""Linear nuisances row by row: residuals of variables that are no function of a code of the score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlabel.moments.solve import least_squares

__all__ = ["row_residuals"]

Floats = NDArray[np.float64]


def row_residuals(
    targets: Floats, controls: Floats, fold: NDArray[np.intp] | None = None, weight: Floats | None = None
) -> Floats:
    r"""Return what least squares on an intercept and the controls leaves of each target.

    .. math:: v_i - \hat v_{-k(i)}(X_i),

    with the regression of fold k fitted on the rows outside it, or on all rows where there are no folds: the residuals
    of `fit_nuisances`, for any target.

    Parameters
    ----------
    targets : (m, n)
        At least one row.
    controls : (k, n)
    fold : (n,), optional
    weight : (n,), optional

    Returns
    -------
    (m, n)

    Examples
    --------
    >>> row_residuals(np.array([[1.0, 2, 4]]), np.empty((0, 3)), fold=np.array([0, 1, 1])).tolist()
    [[-2.0, 1.0, 3.0]]
    """
    d = 1 + len(controls)
    z = np.concatenate([np.ones((1, targets.shape[1])), controls, targets])
    # Sums of products about the mean: raw ones lose as many digits as the square of the mean exceeds the variance.
    z[1:] -= np.average(z[1:], axis=1, weights=weight)[:, None]
    weighted = z if weight is None else z * weight
    members = [np.arange(z.shape[1])] if fold is None else [np.flatnonzero(fold == k) for k in np.unique(fold)]
    grams = np.stack([weighted[:, rows] @ z[:, rows].T for rows in members])
    train = grams if fold is None else np.tensordot(1 - np.eye(len(members)), grams, axes=1)
    coefficients = least_squares(train[:, :d, :d], train[:, :d, d:]).coefficients
    left = z[d:]
    for rows, fitted in zip(members, coefficients, strict=True):
        left[:, rows] -= fitted.T @ z[:d, rows]
    return left
