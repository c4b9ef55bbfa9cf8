"""Planned standard errors against those of the real estimators, by simulation."""

from typing import Any

import numpy as np
import pytest

from softlabel import Diagnosis, diagnose, plan
from softlabel.simulate import PaperDesign

NAMES = ("supervised", "rectified", "instrumented", "combined")
REPLICATIONS = 800


def _diagnosed(design: PaperDesign, n_unlabelled: int, n_labelled: int, seed: int) -> Diagnosis:
    table = design.sample(n_unlabelled, n_labelled, seed=seed)
    options: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "controls": ["x1", "x2", "x3"]}
    return diagnose(table, **options, basis="linear", thresholds=(), confident=(), threads=1)


def _errors(d: Diagnosis) -> list[float]:
    found = [d.estimate(name).std_error for name in NAMES]
    return [error for error in found if error is not None]


@pytest.mark.parametrize(("sigma_u", "tau", "n_labelled"), [(0.3, 1.0, 500), (0.6, 2.0, 400)])
def test_numbers_predict_what_the_estimators_do(sigma_u: float, tau: float, n_labelled: int) -> None:
    design = PaperDesign(sigma_u=sigma_u, tau=tau)
    v_star = design.truth().v_star
    planned = plan(
        target_se=0.05,
        tau=tau,
        noise_sd=1.0,
        group_variance=v_star / sigma_u**2,
        v_star=v_star,
        n_labelled=n_labelled,
        n_unlabelled=3000,
    ).needs["std_error"]
    runs = [_diagnosed(design, 3000, n_labelled, 10_000 + seed) for seed in range(REPLICATIONS)]
    points = np.array([[d.estimate(name).estimate for name in NAMES] for d in runs])
    # The deviation of 800 draws is known to 1/√1600 = 2.5%: three of those, and less than 1% for HC3 and n − k.
    np.testing.assert_allclose(points.std(axis=0), planned, rtol=0.08)
    # The errors that are reported vary far less from draw to draw: 0.2% after 800. What is left is of order k/n.
    np.testing.assert_allclose(np.mean([_errors(d) for d in runs], axis=0), planned, rtol=0.02)


def test_a_pilot_predicts_a_study_of_four_times_the_labels() -> None:
    design = PaperDesign(sigma_u=0.5, tau=1.5)
    pilots = [_diagnosed(design, 4000, 400, seed) for seed in range(40)]
    planned = np.array(
        [[getattr(plan(d, target_se=0.05, labels=[1600]).errors.rows[0], n) for n in NAMES] for d in pilots]
    )
    real = np.array([_errors(_diagnosed(design, 4000, 1600, 500 + seed)) for seed in range(40)])
    # A pilot knows its own errors to about 5% (HC3 of 400 rows), so forty to 0.8%; HC3 of 400 is 1% above that of
    # 1,600.
    np.testing.assert_allclose(planned.mean(axis=0), real.mean(axis=0), rtol=0.03)
    # And no single pilot is off by more than four of its 5%.
    np.testing.assert_allclose(planned, np.broadcast_to(real.mean(axis=0), planned.shape), rtol=0.2)


def test_labels_needed_give_the_error_that_was_asked_for() -> None:
    design = PaperDesign(sigma_u=0.5, tau=1.5)
    v_star = design.truth().v_star
    target = 0.07
    p = plan(target_se=target, tau=1.5, noise_sd=1.0, group_variance=v_star / 0.25, v_star=v_star, n_unlabelled=3000)
    for name in ("supervised", "rectified", "instrumented"):
        labels = p.need(name).labels
        assert labels is not None
        runs = [_diagnosed(design, 3000, labels, 900 + seed).estimate(name).std_error for seed in range(60)]
        # 60 draws know the mean error to 0.5%; n − k of some hundred labels is another 1%.
        assert np.mean([error for error in runs if error is not None]) == pytest.approx(target, rel=0.03)


def test_the_present_score_in_the_table_of_scores_agrees_with_the_pilot() -> None:
    d = _diagnosed(PaperDesign(sigma_u=0.5, tau=1.5), 20_000, 4000, 7)
    p = plan(d, target_se=0.02)
    now = next(row for row in p.richer if row.score == "as it is")
    # The one is in closed form for a calibrated score, the other the covariance as it was found with 4,000 labels,
    # whose entries are known to √(2/4000) = 2% and more: correlations are not those of the closed form to the digit.
    found = (now.rectified_se, now.instrumented_se, now.combined_se)
    assert found == pytest.approx(p.needs["std_error"][1:], rel=0.06)
    assert now.share == pytest.approx(0.25, rel=0.15)
