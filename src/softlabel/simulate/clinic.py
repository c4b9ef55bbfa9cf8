"""A hospital, made up: what delirium adds to a stay, when only a few charts were reviewed.

Reviewing a chart tells whether a patient was delirious. A classifier read every patient's nursing
notes and gave a probability. The story has what the methods assume: the score is calibrated given
the controls, what the notes say beyond the controls does not touch the stay once delirium is known,
reviewed charts are a random sample, and the mean stay is linear in the controls.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.special import expit

from softlabel.simulate.arguments import Seed, generator, whole

__all__ = ["CLINIC_TRUTH", "ClinicTruth", "clinic"]


@dataclass(frozen=True, slots=True)
class ClinicTruth:
    """What `clinic` draws from.

    Attributes
    ----------
    effect
        Days that delirium adds to a stay: the number to be estimated.
    days_at_65, days_per_year, days_frailty, days_emergency
        The mean stay without delirium:
        ``days_at_65 + days_per_year (age - 65) + days_frailty frailty + days_emergency emergency``.
    spread
        The standard deviation of a stay, as a share of its mean.
    sigma_u
        How much the notes know beyond the controls: ``Var(p | controls) = sigma_u² r (1-r)``.
    """

    effect: float = 2.0
    days_at_65: float = 3.0
    days_per_year: float = 0.05
    days_frailty: float = 3.0
    days_emergency: float = 1.5
    spread: float = 0.5
    sigma_u: float = 0.65


CLINIC_TRUTH = ClinicTruth()


def clinic(n_unlabelled: int = 40_000, n_labelled: int = 600, seed: Seed = 0) -> pa.Table:
    """Draw the patients of a made-up hospital; `CLINIC_TRUTH` says from what.

    Parameters
    ----------
    n_unlabelled, n_labelled
        Patients whose charts were not reviewed, and patients whose charts were.
    seed
        A number, a SeedSequence, or a Generator (which then moves on).

    Returns
    -------
    pyarrow.Table
        ``days_in_hospital`` (float64, positive), ``delirium`` (int8: 0 or 1, null where the chart was
        not reviewed), ``p_delirium`` (float64, a probability), ``age`` (int64, years), ``frailty``
        (float64, between 0 and 1) and ``emergency`` (int8: 0 or 1). Unreviewed patients come first;
        they do not depend on ``n_labelled``. About 22% are delirious.

    Examples
    --------
    >>> from softlabel.simulate import clinic
    >>> table = clinic(n_unlabelled=3, n_labelled=2, seed=1)
    >>> table.column_names
    ['days_in_hospital', 'delirium', 'p_delirium', 'age', 'frailty', 'emergency']
    >>> table["delirium"].to_pylist()
    [None, None, None, 0, 0]
    """
    rng = generator(seed)
    hidden = _patients(whole("n_unlabelled", n_unlabelled), rng, reviewed=False)
    shown = _patients(whole("n_labelled", n_labelled), rng, reviewed=True)
    return pa.concat_tables([hidden, shown]).combine_chunks()


def _patients(n: int, rng: np.random.Generator, *, reviewed: bool) -> pa.Table:
    truth = CLINIC_TRUTH
    age = np.round(65.0 + 30.0 * rng.beta(2.0, 2.2, n))
    frailty = rng.beta(2.0, 3.0, n)
    emergency = (rng.random(n) < 0.4 + 0.3 * frailty).astype(np.float64)
    s = -1.5 + 0.05 * (age - 78.0) + 2.0 * (frailty - 0.4) + 0.8 * (emergency - 0.5)
    concentration = (1.0 - truth.sigma_u**2) / truth.sigma_u**2
    p = rng.beta(expit(s) * concentration, expit(-s) * concentration)
    delirium = (rng.random(n) < p).astype(np.int8)
    mean = (
        truth.days_at_65
        + truth.days_per_year * (age - 65.0)
        + truth.days_frailty * frailty
        + truth.days_emergency * emergency
        + truth.effect * delirium
    )
    # A gamma factor of mean one keeps stays positive and skewed, and their mean where it was put.
    shape = truth.spread**-2
    days = mean * rng.gamma(shape, 1.0 / shape, n)
    return pa.table(
        {
            "days_in_hospital": days,
            "delirium": pa.array(delirium, mask=np.full(n, not reviewed)),
            "p_delirium": p,
            "age": age.astype(np.int64),
            "frailty": frailty,
            "emergency": emergency.astype(np.int8),
        }
    )
