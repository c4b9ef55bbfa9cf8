r"""Calibrators: from a classifier's raw probability to one that may be believed.

With l = logit(p), kept finite by cutting p at 1/(4n) and 1 − 1/(4n) for n calibration rows:

==============  ====================================================  ======================================
none            p as it is
temperature     σ(l / T), T positive                                  Guo et al. (2017)
platt           σ(a + b l)                                            Platt (1999), on the logit
beta            σ(c + a log p − b log(1 − p)), a and b not negative   Kull, Silva Filho & Flach (2017)
isotonic        increasing steps, interpolated                        Zadrozny & Elkan (2002)
conditional     σ(a + b l + Σⱼ fⱼ(xⱼ)), fⱼ natural splines              aims at E[G|p,X] = p
multicalibrated  boosted on the controls (MCGrad)                     Tax et al. (2026)
==============  ====================================================  ======================================

The first five aim at E[G|p] = p, which is less than the estimators here need: E[G|p,X] = p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softlabel.errors import InputError, did_you_mean
from softlabel.scoring.logistic import LEAST_PENALTY, LogisticFit, fit_logistic
from softlabel.scoring.models import dense_columns
from softlabel.scoring.names import CALIBRATORS

__all__ = ["Calibrated", "check_calibrator", "fit_calibrator"]

Floats = NDArray[np.float64]
Calibrated = Callable[[Floats, Floats], Floats]  # of raw scores (n,) and controls (n, k)


# A normal prior of standard deviation 0.3 on what each control adds to the logit, per deviation of its own: for a
# classifier that saw the controls little is left to add. With 200 labels it shrinks by a third, with 2,000 by 4%.
_CONTROL_PENALTY = 10.0


def check_calibrator(name: str) -> str:
    """Return the name, or say which there are."""
    if not isinstance(name, str) or name not in CALIBRATORS:
        raise InputError(
            expected="calibrator to be the name of one", found=repr(name), fix=did_you_mean(str(name), CALIBRATORS)
        )
    return name


def fit_calibrator(
    name: str,
    p: Floats,
    controls: Floats,
    categorical: Sequence[bool],
    group: Floats,
    weight: Floats | None = None,
    seed: int = 0,
) -> Calibrated:
    """Return the calibrator fitted on raw scores p (n,), controls (n, k) and the group (n,), with weights (n,).

    Controls are codes and numbers, with gaps, as a `Layout` gives them; only the last two calibrators look at them.

    Examples
    --------
    >>> p, none = np.array([0.1, 0.2, 0.8, 0.9] * 50), np.empty((200, 0))
    >>> group = np.array([0, 1, 0, 1.0] * 50)
    >>> fit_calibrator("platt", p, none, (), group)(np.array([0.1, 0.9]), none[:2]).round(2).tolist()
    [0.3, 0.7]
    """
    if name == "none":
        return _as_it_is
    if name == "isotonic":
        return _isotonic(p, group, weight)
    if name == "multicalibrated":
        from softlabel.scoring.multicalibration import fit_multicalibrated

        fitted: Calibrated = fit_multicalibrated(p, controls, tuple(categorical), group, weight=weight, seed=seed)
        return fitted
    least = 1 / (4 * max(len(p), 1))
    if name == "conditional":
        return _conditional(p, controls, categorical, group, weight, least)
    columns = partial(_COLUMNS[name], least=least)
    fit = fit_logistic(columns(p), group, weight=weight, penalty=LEAST_PENALTY, intercept=name != "temperature")
    if name == "temperature":
        # T > 0: where a score points the wrong way no temperature helps but an infinite one.
        fit = LogisticFit(fit.intercept, np.maximum(fit.slopes, 0.0))
    if name == "beta" and (fit.slopes < 0).any():
        fit = _without_negative(columns(p), group, weight, fit)
    return _Sigmoid(columns, fit)


def _as_it_is(p: Floats, _: Floats) -> Floats:
    return p


def _logit(p: Floats, *, least: float) -> Floats:
    from scipy.special import logit

    return np.asarray(logit(np.clip(p, least, 1 - least)))[:, None]


def _two_logs(p: Floats, *, least: float) -> Floats:
    cut = np.clip(p, least, 1 - least)
    return np.column_stack([np.log(cut), -np.log1p(-cut)])


_COLUMNS = {"temperature": _logit, "platt": _logit, "beta": _two_logs}


def _without_negative(columns: Floats, group: Floats, weight: Floats | None, fit: LogisticFit) -> LogisticFit:
    """Return the fit on the column that does not fall, so that the map rises; flat if both fall."""
    kept = np.flatnonzero(fit.slopes >= 0)
    slopes = np.zeros(2)
    alone = fit_logistic(columns[:, kept], group, weight=weight)
    slopes[kept] = np.maximum(alone.slopes, 0.0)
    if (alone.slopes < 0).any():
        alone = fit_logistic(columns[:, :0], group, weight=weight)
    return LogisticFit(alone.intercept, slopes)


@dataclass(frozen=True, slots=True)
class _Sigmoid:
    """σ of a line in functions of the raw score."""

    columns: Callable[[Floats], Floats]
    fit: LogisticFit

    def __call__(self, p: Floats, _: Floats) -> Floats:
        return self.fit(self.columns(p))


@dataclass(frozen=True, slots=True)
class _Conditional:
    """σ(a + b logit p + Σⱼ fⱼ(xⱼ))."""

    least: float
    fit: LogisticFit
    dense: Any = field(repr=False)

    def __call__(self, p: Floats, controls: Floats) -> Floats:
        return self.fit(_beside(_logit(p, least=self.least), controls, self.dense))


def _beside(index: Floats, controls: Floats, dense: Any) -> Floats:
    return index if dense is None or not len(index) else np.column_stack([index, dense.transform(controls)])


def _conditional(
    p: Floats, controls: Floats, categorical: Sequence[bool], group: Floats, weight: Floats | None, least: float
) -> Calibrated:
    dense = dense_columns(categorical, curves=True).fit(controls) if controls.shape[1] else None
    columns = _beside(_logit(p, least=least), controls, dense)
    penalty = np.full(columns.shape[1], _CONTROL_PENALTY)
    penalty[0] = LEAST_PENALTY
    return _Conditional(least, fit_logistic(columns, group, weight=weight, penalty=penalty), dense)


@dataclass(frozen=True, slots=True)
class _Interpolated:
    """Increasing values (m,) at raw scores (m,), flat beyond the ends."""

    at: Floats
    values: Floats

    def __call__(self, p: Floats, _: Floats) -> Floats:
        return np.asarray(np.interp(p, self.at, self.values))


def _isotonic(p: Floats, group: Floats, weight: Floats | None) -> Calibrated:
    from scipy.optimize import isotonic_regression

    # Rows of one score are one point: interpolation needs points that rise.
    at, which = np.unique(p, return_inverse=True)
    mass = np.bincount(which, weight)
    mean = np.bincount(which, group if weight is None else weight * group) / mass
    return _Interpolated(at, isotonic_regression(mean, weights=mass).x)
