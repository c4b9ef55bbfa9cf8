"""The note that soft rests on a calibrator fitted on few labels, and what that adds to its error."""

from __future__ import annotations

import math

from softlabel.results import Estimate, Note, ScoreReport
from softlabel.results.text import number

__all__ = ["calibrator_notes"]

# With noise of half its standard error an interval meant to cover 95% covers 92%, and less above.
_NOTABLE = 0.5


def calibrator_notes(soft: Estimate, scoring: ScoreReport | None) -> list[Note]:
    r"""Return a note where labels that made the score add to soft what its standard error does not count.

    A calibrator makes the slope c of the group on the score one on the labels that it was fitted on, and so misses one
    elsewhere by about the standard error that c has on as many labels. Soft aims at τc, hence

    .. math:: \mathrm{SD}(\hat\theta)^2 \approx \mathrm{SE}(\hat\theta)^2 + (|\hat\theta| \, \mathrm{SE}(\hat c))^2.

    In simulations of six features and 20,000 unlabelled rows that is 0.138 at 200 labels and 0.079 at 500, where the
    standard deviation of soft is 0.14 and 0.07 and its standard error 0.03. Of a score that came from elsewhere it is
    not known on how many labels it was fitted.

    Examples
    --------
    >>> from softlabel.results.records import estimated
    >>> calibrator_notes(estimated("soft", 1.0, 0.01, 1000), None)
    []
    """
    if scoring is None or soft.estimate is None or soft.std_error is None:
        return []
    begins = f"The score was made of {scoring.labelled:,} labels, and the standard error of soft"
    read = "read rectified, whose interval needs no calibrated score"
    if scoring.slope_error is None:
        return [Note("soft.calibrator_noise", f"{begins} does not count what they leave uncertain: {read}")]
    added = abs(soft.estimate) * scoring.slope_error
    if added <= _NOTABLE * soft.std_error:
        return []
    total = math.hypot(soft.std_error, added)
    return [
        Note(
            "soft.calibrator_noise",
            f"{begins}, {number(soft.std_error, 2)}, does not count what they leave uncertain: with it the error is "
            f"about {number(total, 2)}, so the intervals of soft, combined and de-attenuated are too short; {read}",
        )
    ]
