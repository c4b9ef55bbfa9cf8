"""Two million rows of the paper's design against exact population values from quadrature."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

import softlabel as sl
from softlabel.results import Diagnosis
from softlabel.simulate import PaperDesign, Truth
from softlabel.simulate.truth import Attenuation

N = 2_000_000
N_LABELLED = 20_000


class Compared(NamedTuple):
    name: str
    estimate: float | None
    std_error: float | None
    limit: float
    avar: float | None  # times 1/N


def _compared(d: Diagnosis, truth: Truth) -> Iterator[Compared]:
    v, sup, soft = d.v_star, d.estimate("supervised"), d.estimate("soft")
    avar_supervised = truth.avar_supervised * N / N_LABELLED
    yield Compared("v_star", v.estimate, v.std_error, truth.v_star_linear, truth.avar_v_star_linear)
    yield Compared("supervised", sup.estimate, sup.std_error, 1.0, avar_supervised)
    yield Compared("soft", soft.estimate, soft.std_error, 1.0, truth.avar_orthogonal_linear)
    for kappa in d.kappa:
        t = kappa.threshold
        at = _linear(truth.hard_at(t).linear)
        yield Compared(f"kappa {t}", kappa.kappa, kappa.std_error, at.kappa, at.avar_kappa)
        hard, deattenuated = d.estimate("hard", threshold=t), d.estimate("deattenuated", threshold=t)
        yield Compared(f"hard {t}", hard.estimate, hard.std_error, at.kappa, at.avar_hard)
        yield Compared(f"deattenuated {t}", deattenuated.estimate, deattenuated.std_error, 1.0, at.avar_deattenuated)
    for within in d.kappa_confident:
        t = within.threshold
        at = _linear(truth.confident_at(t).linear)
        yield Compared(f"kappa_confident {t}", within.kappa, within.std_error, at.kappa, at.avar_kappa)
        confident = d.estimate("confident", threshold=t)
        yield Compared(f"confident {t}", confident.estimate, confident.std_error, at.kappa, at.avar_hard)
    for row in d.estimates:
        if row.form == "moment":
            limit = 1.0 if row.threshold is None else _linear(truth.hard_at(row.threshold).linear).kappa
            yield Compared(f"{row.name} moment {row.threshold}", row.estimate, row.std_error, limit, None)


def _linear(attenuation: Attenuation | None) -> Attenuation:
    assert attenuation is not None
    return attenuation


@pytest.fixture(scope="module", params=[0.2, 0.3, 0.5])
def compared(request: pytest.FixtureRequest) -> list[Compared]:
    design = PaperDesign(sigma_u=request.param)
    table = design.sample(N, N_LABELLED, seed=20_260_512)
    d = sl.diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"], basis="linear")
    return list(_compared(d, design.truth()))


def test_every_number_converges_to_its_linear_population_value(compared: list[Compared]) -> None:
    assert len(compared) == 3 + 6 * 3 + 6 * 2 + 7
    # 40 numbers are compared in each design: that one is beyond 4 standard errors by chance has probability 0.3%.
    far = {}
    for name, estimate, std_error, limit, _ in compared:
        assert estimate is not None
        assert std_error is not None
        if abs(estimate - limit) > 4 * std_error:
            far[name] = (estimate - limit) / std_error
    assert far == {}


def test_every_standard_error_converges_to_its_asymptotic_value(compared: list[Compared]) -> None:
    # A variance estimated from m rows with heavy-tailed squares is off by a few m^-1/2: the smallest confident
    # set has 10,000 rows, half of them above. The variance of a de-attenuated estimate has kappa squared below,
    # and the smallest kappa, 0.019, is known to 4%.
    off = {
        name: std_error**2 * N / avar - 1
        for name, _, std_error, _, avar in compared
        if avar is not None and std_error is not None
    }
    assert len(off) == 3 + 6 * 3 + 6 * 2
    assert {name: value for name, value in off.items() if abs(value) > 0.1} == {}
