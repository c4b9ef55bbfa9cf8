"""Two million rows of the paper's design against exact population values from quadrature."""

import pytest

import softlabel as sl
from softlabel.results import Diagnosis
from softlabel.simulate import PaperDesign, Truth

N = 2_000_000
# About 60 numbers are compared in each design; that one of them is beyond 4 standard errors by chance has
# probability 0.4%.
FAR = 4.0


@pytest.fixture(scope="module", params=[0.2, 0.3, 0.5])
def case(request: pytest.FixtureRequest) -> tuple[Diagnosis, Truth]:
    design = PaperDesign(sigma_u=request.param)
    table = design.sample(N, 20_000, seed=20_260_512)
    d = sl.diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"])
    return d, design.truth()


def test_every_number_converges_to_its_linear_population_value(case: tuple[Diagnosis, Truth]) -> None:
    d, truth = case
    limits = {"supervised": 1.0, "soft": 1.0, "deattenuated": 1.0}
    z = {"v_star": (d.v_star.estimate - truth.v_star_linear) / d.v_star.std_error}
    for row in d.estimates:
        if row.name == "hard":
            limit = truth.hard_at(row.threshold).linear.kappa
        elif row.name == "confident":
            limit = truth.confident_at(row.threshold).linear.kappa
        else:
            limit = limits[row.name]
        z[f"{row.name} {row.form} {row.threshold}"] = (row.estimate - limit) / row.std_error
    for row in d.kappa:
        z[f"kappa {row.threshold}"] = (row.kappa - truth.hard_at(row.threshold).linear.kappa) / row.std_error
    for row in d.kappa_confident:
        limit = truth.confident_at(row.threshold).linear.kappa
        z[f"kappa_confident {row.threshold}"] = (row.kappa - limit) / row.std_error
    assert len(z) == 1 + len(d.estimates) + 12
    assert {name: value for name, value in z.items() if abs(value) > FAR} == {}


def test_every_standard_error_converges_to_its_asymptotic_value(case: tuple[Diagnosis, Truth]) -> None:
    d, truth = case
    expected = {
        "v_star": truth.avar_v_star_linear,
        "supervised": truth.avar_supervised * N / d.sample.labelled,
        "soft orthogonal": truth.avar_orthogonal_linear,
    }
    found = {
        "v_star": d.v_star.std_error,
        "supervised": d.estimate("supervised").std_error,
        "soft orthogonal": d.estimate("soft").std_error,
    }
    for row in d.kappa:
        at = truth.hard_at(row.threshold).linear
        expected |= {
            f"kappa {row.threshold}": at.avar_kappa,
            f"hard {row.threshold}": at.avar_hard,
            f"deattenuated {row.threshold}": at.avar_deattenuated,
        }
        found |= {
            f"kappa {row.threshold}": row.std_error,
            f"hard {row.threshold}": d.estimate("hard", threshold=row.threshold).std_error,
            f"deattenuated {row.threshold}": d.estimate("deattenuated", threshold=row.threshold).std_error,
        }
    for row in d.kappa_confident:
        at = truth.confident_at(row.threshold).linear
        expected |= {
            f"kappa_confident {row.threshold}": at.avar_kappa,
            f"confident {row.threshold}": at.avar_hard,
        }
        found |= {
            f"kappa_confident {row.threshold}": row.std_error,
            f"confident {row.threshold}": d.estimate("confident", threshold=row.threshold).std_error,
        }
    # A variance estimated from m rows with heavy-tailed squares is off by a few m^-1/2: the smallest confident
    # set has 10,000 rows, half of them above. The variance of a de-attenuated estimate has kappa squared below,
    # and the smallest kappa, 0.019, is known to 4%.
    off = {name: found[name] ** 2 * N / expected[name] - 1 for name in expected}
    assert {name: round(value, 3) for name, value in off.items() if abs(value) > 0.1} == {}
