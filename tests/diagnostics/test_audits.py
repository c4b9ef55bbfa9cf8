"""Audits: slope, leak and bias from the rows, what they are on the paper's design, and if their errors are right."""

import numpy as np
import pyarrow as pa
import pytest

import softlabel as sl
from softlabel.results import Audit
from softlabel.simulate import PaperDesign
from tests.labelled import Floats, diagnosed, study

SAME = 1e-8  # sums of thousands of terms in another order
THRESHOLDS = (0.3, 0.5, 0.7)


def _fit(x: Floats, y: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(x, y, rcond=None)[0])


@pytest.mark.parametrize("clustered", [False, True])
def test_slope_leak_bias_and_their_errors(clustered: bool) -> None:
    rng = np.random.default_rng(7)
    data = study(rng, n=900, labelled=140, leak=0.3, tilt=0.4)
    names = rng.integers(0, 30, 1_040)
    data["cl"] = pa.array([f"c{i}" for i in names])
    d = diagnosed(
        data, thresholds=THRESHOLDS, folds=None, covariance="HC0", cluster="cl" if clustered else None, level=0.9
    )
    hidden = np.asarray(data["g"].is_null())
    x = np.column_stack([np.ones(len(hidden)), data["x1"], data["x2"]])
    own, y, p = x[~hidden], data["y"][~hidden], data["p"][~hidden]
    group = np.asarray(data["g"].to_numpy(zero_copy_only=False), dtype=float)[~hidden]
    full = np.column_stack([own, group])
    sup = _fit(full, y)
    psi_sup = (full @ np.linalg.inv(full.T @ full)[-1]) * (y - full @ sup)
    r = y - own @ _fit(x[hidden], data["y"][hidden])
    expected_p = own @ _fit(x[hidden], data["p"][hidden])
    line = np.column_stack([np.ones(140), expected_p])
    e = group - line @ _fit(line, group)
    labels = [p - expected_p]
    for t in THRESHOLDS:
        h = (data["p"] > t).astype(float)
        labels.append(h[~hidden] - own @ _fit(x[hidden], h[hidden]))
    for row, b in zip(d.audits, labels, strict=True):
        theta, c = b @ r / (b @ b), b @ e / (b @ b)
        psi_theta, psi_c = b * (r - theta * b) / (b @ b), b * (e - c * b) / (b @ b)

        def error(psi: Floats) -> float:
            sums = np.bincount(names[:140], psi) if clustered else psi
            return float(np.sqrt(sums @ sums))

        assert row.slope == pytest.approx(c, rel=SAME)
        assert row.slope_error == pytest.approx(error(psi_c), rel=SAME)
        assert row.leak == pytest.approx(theta - sup[-1] * c, rel=SAME)
        assert row.leak_error == pytest.approx(error(psi_theta - sup[-1] * psi_c - c * psi_sup), rel=SAME)
        assert row.leak is not None
        assert row.bias is not None
        assert row.bias_error is not None
        assert row.bias == pytest.approx(theta - sup[-1], rel=SAME)
        assert row.bias == pytest.approx(sup[-1] * (c - 1) + row.leak, rel=SAME)
        assert row.bias_error == pytest.approx(error(psi_theta - psi_sup), rel=SAME)
        assert row.bias_low is not None
        assert row.bias_high is not None
        # Of 140 rows and 4 coefficients, or 30 clusters less one.
        reach = (1.699127 if clustered else 1.656135) * row.bias_error
        assert (row.bias_low, row.bias_high) == pytest.approx((row.bias - reach, row.bias + reach), rel=1e-5)
        assert (row.n, row.reason) == (140, None)


def test_a_threshold_with_too_few_rows_on_a_side_says_so() -> None:
    d = diagnosed(study(np.random.default_rng(1), n=600, labelled=60), thresholds=(0.5, 0.98))
    row = d.audits.rows[2]
    assert (row.slope, row.leak, row.bias, row.bias_low) == (None, None, None, None)
    assert row.reason is not None
    assert "above 0.98" in row.reason
    assert d.audits.rows[1].reason is None


def test_on_the_papers_design_soft_aims_at_the_effect_and_hard_at_kappa() -> None:
    data = PaperDesign(sigma_u=0.4).sample(20_000, 4_000, 5)
    d = sl.diagnose(
        data,
        outcome="y",
        group="g",
        score="p",
        controls=["x1", "x2", "x3"],
        basis="linear",
        thresholds=THRESHOLDS,
        confident=(),
    )
    soft, *hard = d.audits
    for row, aim in ((soft, 1.0), *zip(hard, [row.kappa for row in d.kappa], strict=True)):
        assert aim is not None
        assert row.slope is not None
        assert row.slope_error is not None
        assert row.leak is not None
        assert row.leak_error is not None
        assert abs(row.slope - aim) < 4 * row.slope_error
        assert abs(row.leak) < 4 * row.leak_error
    assert soft.slope_error is not None
    assert soft.slope_error < 0.05  # so that the above says something


def test_errors_are_the_deviations_of_a_simulation() -> None:
    rng = np.random.default_rng(15)
    found: list[Audit] = []
    for _ in range(500):
        d = diagnosed(study(rng, n=1_500, labelled=250, leak=0.3, sharp=0.7), threads=1, covariance="HC1")
        found.append(d.audits.rows[0])
    for name in ("slope", "leak", "bias"):
        values = np.array([getattr(row, name) for row in found])
        errors = np.array([getattr(row, f"{name}_error") for row in found])
        # A standard deviation of 500 is known to 3.2%.
        assert 0.9 < errors.mean() / values.std() < 1.1, name
