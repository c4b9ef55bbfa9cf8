"""What a plan knows: read off a pilot, or from plain numbers."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from softlabel.errors import DataError, InputError
from softlabel.moments.solve import RANK_TOLERANCE
from softlabel.planning.arguments import between, count, size
from softlabel.planning.precision import Precision, beta_uncertainty, calibrated
from softlabel.planning.records import Assumed
from softlabel.results import Diagnosis
from softlabel.results.text import number

__all__ = ["NUMBERS", "Known", "from_numbers", "from_pilot"]

NUMBERS = ("tau", "noise_sd", "group_variance", "v_star", "uncertainty", "n_labelled")


class Known(NamedTuple):
    """What a row is worth, and how many there are.

    Attributes
    ----------
    alone
        n_L Var of supervised.
    each
        What a row is worth to every rung; else the reason ``why`` that is not known.
    shape
        The score's uncertainty over that of a Beta score of equal V*; a richer score is taken to keep it.
    audited
        Share of the labelled rows that audit.
    """

    alone: float
    each: Precision | None
    why: str | None
    n_labelled: int | None
    n_unlabelled: int | None
    assumed: Assumed
    shape: float = 1.0
    audited: float = 1.0

    @property
    def share(self) -> float | None:
        """V*/E[Var(G|X)]."""
        a = self.assumed
        return None if a.v_star is None or a.group_variance is None else a.v_star / a.group_variance

    def richer(self, share: float) -> Precision | None:
        """Return what a row would be worth with a calibrated score of another V*; ``None`` where it is not known."""
        a = self.assumed
        if a.tau is None or a.noise_sd is None or a.group_variance is None:
            return None
        v_star = share * a.group_variance
        open_ = self.shape * beta_uncertainty(a.group_variance, v_star)
        return calibrated(a.tau, a.noise_sd, a.group_variance, v_star, open_, self.audited)


def from_pilot(pilot: Diagnosis, n_unlabelled: int | None) -> Known:
    """Return what a diagnosis knows: its covariance, row by row."""
    supervised, ladder = pilot.estimate("supervised"), pilot.ladder
    if supervised.std_error is None:
        raise DataError(
            expected="a pilot with labelled rows that give supervised a standard error",
            found=supervised.reason or "none",
            fix=f"Give numbers in its place: tau=, noise_sd=, group_variance=, v_star="
            f"{number(pilot.v_star.estimate)} and n_unlabelled={pilot.sample.unlabelled}",
        )
    n = supervised.n
    alone = supervised.std_error**2 * n
    if not 1e-50 < alone < 1e50:
        raise DataError(
            expected="a pilot with a standard error of a size that can be used",
            found=f"{supervised.std_error:g}",
            fix="Diagnose again with the outcome in other units, or without the control that gives it away",
        )
    unlabelled = n_unlabelled or ladder.n_unlabelled or pilot.sample.unlabelled
    if ladder.reason is not None:
        nothing = Assumed(None, None, None, None, None, None)
        return Known(alone, None, ladder.reason, n, unlabelled, nothing)
    omega = np.array(ladder.covariance)
    mine = np.ix_([0, 1, 3], [0, 1, 3])
    sides = np.sqrt(np.diagonal(omega))
    # Only clusters that hold rows of both kinds correlate the two.
    across = omega[2, [0, 1, 3]] / np.maximum(sides[2] * sides[[0, 1, 3]], np.finfo(np.float64).tiny)
    tau, slope = ladder.rungs["estimate"][1], ladder.slope or 0.0
    each = Precision(omega[mine] * n, float(omega[2, 2]) * ladder.n_unlabelled, across, tau, slope)
    left, v_star = ladder.group_variance, pilot.v_star.estimate
    if not left or not v_star:
        return Known(alone, each, None, n, unlabelled, Assumed(tau, None, left, None, None, slope))
    uncertainty = float(omega[3, 3]) * ladder.n_audit * v_star
    # Of the units of Var(G|X) a score that is not calibrated explains c²V*, which is V* once it is.
    known = min(slope**2 * v_star, left)
    typical = beta_uncertainty(left, known) if known else 0.0
    return Known(
        alone,
        each,
        None,
        n,
        unlabelled,
        Assumed(tau, sqrt(alone * left), left, known or None, uncertainty, slope),
        shape=uncertainty / typical if typical else 1.0,
        audited=ladder.n_audit / n,
    )


def from_numbers(given: dict[str, Any], n_unlabelled: int | None) -> Known:
    """Return what plain numbers say, where calibration and exclusion hold and the noise has one size."""
    missing = [name for name in ("noise_sd", "group_variance") if given[name] is None]
    if given["tau"] is None and given["v_star"] is not None:
        missing.append("tau")
    if missing:
        raise InputError(
            expected="a pilot, or the numbers tau=, noise_sd=, group_variance=, v_star= and n_unlabelled=",
            found=f"no pilot and no {' and no '.join(missing)}",
            fix="Pass the Diagnosis of a pilot study, or guess: noise_sd is the standard deviation of the outcome "
            "given group and controls, group_variance the mean of Var(G|X), at most q(1 - q) for a group of share q",
        )
    noise = size("noise_sd", given["noise_sd"], fix="Give the standard deviation of the outcome given G and X")
    left = between(
        "group_variance",
        given["group_variance"],
        1e-12,
        0.25,
        least=True,
        fix="Give the mean of Var(G|X); it is at most q(1 - q) for a share q of the group",
    )
    tau = given["tau"]
    if tau is not None:
        tau = between("tau", tau, -1e20, 1e20, least=True, fix="Give the effect you expect")
    n = None if given["n_labelled"] is None else count("n_labelled", given["n_labelled"])
    v_star = _v_star(given["v_star"], left)
    uncertainty = _uncertainty(given["uncertainty"], v_star, left)
    alone = noise**2 / left
    if v_star is None or tau is None:
        why = "v_star, what the score tells beyond the controls, was not given"
        return Known(alone, None, why, n, n_unlabelled, Assumed(tau, noise, left, None, None, None))
    if v_star <= RANK_TOLERANCE * left:
        why = "the score tells nothing beyond the controls (V* = 0)"
        return Known(alone, None, why, n, n_unlabelled, Assumed(tau, noise, left, 0.0, None, None))
    typical = beta_uncertainty(left, v_star)
    known = typical if uncertainty is None else uncertainty
    return Known(
        alone,
        calibrated(tau, noise, left, v_star, known),
        None,
        n,
        n_unlabelled,
        Assumed(tau, noise, left, v_star, known, 1.0),
        shape=known / typical if typical else 1.0,
    )


def _v_star(value: Any, left: float) -> float | None:
    if value is None:
        return None
    v_star = between("v_star", value, 0, least=True, fix="Give V* = E[Var(p|X)]; `attenuation` estimates it")
    if v_star > left:
        raise InputError(
            expected="v_star to be at most group_variance: a calibrated score knows no more of the group than there is",
            found=f"v_star={v_star:g} and group_variance={left:g}",
            fix="Check both; a score that is not calibrated may vary more, and then counts as c²V*, with c the slope "
            "of the group on it",
        )
    return v_star


def _uncertainty(value: Any, v_star: float | None, left: float) -> float | None:
    if value is None:
        return None
    number_ = between("uncertainty", value, 0, 0.25, least=True, fix="Give E[a² p(1 - p)] / V*, or leave it out")
    if not v_star or (v_star == left and number_):
        raise InputError(
            expected="uncertainty beside a v_star between 0 and group_variance, for it is what that score leaves open",
            found=f"uncertainty={value!r} and v_star={v_star}",
            fix="Give v_star too, or leave uncertainty out",
        )
    return number_
