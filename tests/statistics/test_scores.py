"""Scores made of features, by simulation: the default's interval covers, and the calibration check tells calibrators.

Replications are few, for time: tolerances are binomial, and `softlabel replicate scores` has the longer runs, whose
figures stand beside the tests.
"""

import pytest

from softlabel.replicate.scoring.auditing import Auditing, CrossFitting
from softlabel.replicate.scoring.calibrating import Calibrating
from softlabel.simulate import MonteCarlo, run

REPLICATIONS = 60
# Of each share: one in a thousand seeds lies outside its interval by chance.
LEVEL = 0.999


@pytest.fixture(scope="module")
def default() -> MonteCarlo:
    # Of fewer than 20,000 unlabelled rows soft's own error is larger beside the classifier's, which it leaves out.
    return run(Calibrating(500, ("conditional",), ("folds",)), REPLICATIONS, seed=11)


def test_the_default_covers_where_softs_own_interval_does_not(default: MonteCarlo) -> None:
    guarded, soft = (
        default.coverage(f"conditional folds {name} low", f"conditional folds {name} high", 1.0, level=LEVEL)
        for name in ("guarded", "soft")
    )
    # Of 250 other replications guarded covers 95.6% and soft 58%.
    assert guarded.high >= 0.93, guarded
    assert guarded.low <= 0.97, guarded
    assert soft.high < 0.93, soft
    # It pays as well: of 250 the squared error is 0.48 of supervised's, with an error of 0.08 in 60.
    losses = [default.mse(name, 1.0).estimate for name in ("conditional folds guarded", "supervised")]
    assert losses[0] < 0.75 * losses[1]


def test_on_fresh_rows_the_conditional_calibrator_passes_at_the_nominal_rate_where_others_fail() -> None:
    names = ("platt", "isotonic", "conditional")
    found = run(Auditing(1.0, 20_000, names), REPLICATIONS, seed=12)
    share = {name: found.share(f"{name} given_controls", below=0.05, level=LEVEL) for name in names}
    assert share["conditional"].low <= 0.07, share
    assert share["conditional"].high >= 0.03, share
    # Of 250 others it rejects the conditional calibrator in 4.4%, and these two in every one.
    assert min(share["platt"].estimate, share["isotonic"].estimate) > 0.95, share


def test_on_its_own_rows_a_calibrator_is_rejected_too_seldom_but_for_what_it_cannot_see() -> None:
    found = run(CrossFitting(1.0, ("platt", "conditional")), REPLICATIONS, seed=13)
    assert found.share("conditional given_controls", below=0.05).estimate <= 0.02
    assert found.share("platt given_controls", below=0.05).estimate > 0.9
