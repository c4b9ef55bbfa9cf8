"""plan: a pilot or a few numbers in, labels needed out."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any

from softlabel.diagnostics.evidence import LEAST_AUDIT_ROWS
from softlabel.errors import InputError
from softlabel.planning.arguments import count, counts, shares, size
from softlabel.planning.known import NUMBERS, Known, from_numbers, from_pilot
from softlabel.planning.precision import ESTIMATORS, MOST_LABELS, labels_needed, least_labels, std_errors
from softlabel.planning.records import ErrorsAt, Need, Plan, Richer
from softlabel.planning.words import notes, sentence
from softlabel.results import Diagnosis, Table
from softlabel.results.inference import check_level, quantile

__all__ = ["SHARES", "plan"]

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)

_TRUSTS = (
    "nothing",
    "labelled and unlabelled rows are of one population",
    "besides, exclusion",
    "besides, calibration",
)


def plan(
    pilot: Diagnosis | None = None,
    *,
    target_se: float,
    n_unlabelled: int | None = None,
    tau: float | None = None,
    noise_sd: float | None = None,
    group_variance: float | None = None,
    v_star: float | None = None,
    uncertainty: float | None = None,
    n_labelled: int | None = None,
    labels: Sequence[int] | None = None,
    richer: Sequence[float] | None = None,
    level: float = 0.95,
) -> Plan:
    r"""Return how many labelled rows each estimator needs for a standard error, and what a richer score would buy.

    With ω_sup, ω_L the variances per row of supervised and of soft on labelled rows, ω_sL their covariance, and δ the
    variance per row of soft on unlabelled ones,

    .. math::
        \mathrm{Var}(\hat\tau_{sup}) = \frac{\omega_{sup}}{n_L}, \qquad
        \mathrm{Var}(\hat\tau_{rect}) = \frac{\omega_{sup}}{n_L} -
        \frac{(\omega_{sL}/n_L)^2}{\omega_L/n_L + \delta/n_U},

    and instrumented and combined are solved for in the same way (`softlabel.planning.precision`). A pilot gives the
    variances as they are. Numbers give them where calibration and exclusion hold and the noise has one size: then
    ω_sup = ω_sL = σ²/E[Var(G|X)] and ω_L = δ = (σ² + τ²u)/V*, with u = E[a²p(1 − p)]/V*.

    Parameters
    ----------
    pilot
        The Diagnosis of a study to be made larger. Then the numbers below are its own, but for ``n_unlabelled``.
    target_se
        The standard error to reach; an interval of 95% is about four of them wide.
    n_unlabelled
        Unlabelled rows with a score; ``None``: as many as the pilot has.
    tau, noise_sd
        The effect expected, and the standard deviation of the outcome given group and controls.
    group_variance, v_star
        E[Var(G|X)] and V* = E[Var(p|X)], no larger.
    uncertainty
        u; ``None``: that of Beta scores with this V*.
    n_labelled
        Labelled rows there are already, if any.
    labels
        Numbers of labelled rows to show standard errors at.
    richer
        Scores to compare with, as shares V*/E[Var(G|X)]: 0 knows nothing beyond the controls, 1 knows the group.
    level
        Of the interval whose half-width is shown.

    Returns
    -------
    Plan
        Frozen; ``print(p.summary())`` is the page to read.

    Raises
    ------
    InputError
        Numbers that are missing or cannot be; a pilot and numbers.
    DataError
        A pilot without a supervised estimate.

    References
    ----------
    Neyman, J. (1938). Contribution to the theory of sampling human populations. *JASA* 33, 101-116, for
    planning a large cheap sample beside a small dear one.

    Examples
    --------
    >>> import softlabel as sl
    >>> p = sl.plan(target_se=.1, tau=1, noise_sd=1, group_variance=.2, v_star=.05, n_unlabelled=20_000)
    >>> dict(zip(p.needs["name"], p.needs["labels"]))
    {'supervised': 500, 'rectified': 393, 'instrumented': 189, 'combined': 0}
    """
    level = check_level(level)
    target = size("target_se", target_se, fix="Give the standard error you want, in units of the outcome")
    unlabelled = None if n_unlabelled is None else count("n_unlabelled", n_unlabelled)
    values = (tau, noise_sd, group_variance, v_star, uncertainty, n_labelled)
    given = dict(zip(NUMBERS, values, strict=True))
    known = _known(pilot, given, unlabelled)
    chosen = None if richer is None else shares("richer", richer)
    if chosen is not None and (known.richer(1.0) is None or known.n_unlabelled is None):
        raise InputError(
            expected="tau, noise_sd, group_variance and n_unlabelled, to compare scores",
            found="not all of them" if pilot is None else "a pilot whose ladder has no such numbers",
            fix="Leave richer out" if pilot is not None else "Give tau and n_unlabelled too, or leave richer out",
        )
    grid = None if labels is None else counts("labels", labels)
    needs = _needs(known, target)
    scores = _richer(known, chosen, target)
    return Plan(
        sentence=sentence(needs, target, known.n_labelled),
        target_se=target,
        half_width=quantile(level, None) * target,
        level=level,
        source="numbers" if pilot is None else "pilot",
        n_labelled=known.n_labelled,
        n_unlabelled=known.n_unlabelled,
        assumed=known.assumed,
        needs=Table(needs),
        errors=_errors(known, _grid(known, needs[0]) if grid is None else grid),
        richer=scores,
        notes=notes(known, pilot, needs, scores),
    )


def _known(pilot: Any, given: dict[str, Any], unlabelled: int | None) -> Known:
    if pilot is None:
        return from_numbers(given, unlabelled)
    if not isinstance(pilot, Diagnosis):
        raise InputError(
            expected="pilot to be a Diagnosis",
            found=f"a value of type {type(pilot).__name__}",
            fix="Pass what diagnose returned, or Diagnosis.from_json of the file it was written to",
        )
    both = [name for name, value in given.items() if value is not None]
    if both:
        raise InputError(
            expected="a pilot or numbers, not both",
            found=f"a pilot and {', '.join(f'{name}=' for name in both)}",
            fix="Leave the numbers out, for the pilot has its own; only n_unlabelled= may differ from it",
        )
    return from_pilot(pilot, unlabelled)


def _needs(known: Known, target: float) -> tuple[Need, ...]:
    there = inf if known.n_unlabelled is None else known.n_unlabelled
    found: tuple[int | None, ...] = (least_labels(known.alone / target / target), None, None, None)
    unlimited, now = found, _now(known)
    if known.each is not None:
        found, unlimited = (labels_needed(known.each, n, target) for n in (there, inf))
    unsaid = "how many unlabelled rows there are was not given" if known.n_unlabelled is None else None
    rows = []
    for place, name in enumerate(ESTIMATORS):
        why = (known.why or unsaid) if place else None
        if why is None and found[place] is None:
            why = f"more than {MOST_LABELS:,} labelled rows would be needed"
        labels = found[place] if why is None else None
        rows.append(Need(name, _TRUSTS[place], labels, unlimited[place], now[place], why))
    return tuple(rows)


def _now(known: Known) -> tuple[float | None, ...]:
    """Return the standard errors with the rows there are."""
    return (None,) * 4 if known.n_labelled is None else _at(known, known.n_labelled)


def _at(known: Known, labels: int) -> tuple[float | None, ...]:
    if known.each is None or known.n_unlabelled is None:
        return sqrt(known.alone / labels), None, None, None
    return std_errors(known.each, labels, known.n_unlabelled)


def _errors(known: Known, labels: tuple[int, ...]) -> Table[ErrorsAt]:
    rows = []
    for n in labels:
        supervised, *rungs = _at(known, n)
        assert supervised is not None  # noqa: S101  (it always has one)
        rows.append(ErrorsAt(n, supervised, *rungs))
    return Table(tuple(rows))


def _grid(known: Known, supervised: Need) -> tuple[int, ...]:
    """Return about half to sixteen times the labels there are; else what supervised needs, and parts of it."""
    most = supervised.labels or MOST_LABELS
    wanted = [most * 2.0**-j for j in range(5)] if known.n_labelled is None else []
    there = [] if known.n_labelled is None else [known.n_labelled * 2.0**j for j in range(-1, 5)]
    whole = {max(int(n), LEAST_AUDIT_ROWS) for n in (*there, *wanted)}
    return tuple(sorted(whole if known.n_labelled is None else whole | {known.n_labelled}))


def _richer(known: Known, chosen: tuple[float, ...] | None, target: float) -> Table[Richer]:
    if known.richer(1.0) is None or known.n_unlabelled is None:
        return Table(())
    now = known.share
    # A share beside the one there is would say the same twice.
    listed = SHARES if chosen is None else chosen
    others = [share for share in listed if not now or abs(share / now - 1) > (0.1 if chosen is None else 1e-9)]
    rows = []
    for share in sorted([*others, *([now] if now else [])]):
        each = known.richer(share)
        assert each is not None and known.assumed.group_variance is not None  # noqa: S101, PT018  (as for a share of 1)
        _, *errors = _at(known._replace(each=each), known.n_labelled) if known.n_labelled else (None,) * 4
        said = "" if not now else "as it is" if share == now else "richer" if share > now else "poorer"
        _, *needed = labels_needed(each, known.n_unlabelled, target)
        v_star = share * known.assumed.group_variance
        rows.append(Richer(share, v_star, said, needed[0], needed[1], needed[2], errors[0], errors[1], errors[2]))
    return Table(tuple(rows))
