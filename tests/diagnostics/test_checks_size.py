"""How often the testing checks object: 3 to 7% of the time where nothing is wrong, and more the more is wrong."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tests.labelled import diagnosed, study

REPLICATIONS = 1_000

TESTS = [
    "calibration.given_controls",
    "calibration.controls_only",
    "calibration.marginal",
    "calibration.control",
    "exclusion",
    "effect.varies",
    "overidentification",
    "samples.score",
    "samples.controls",
    "samples.outcome",
    "samples.soft",
    "step.exclusion",
    "step.calibration",
]


def _rejected(replications: int, seed: int, **options: Any) -> dict[str, float]:
    """Share of samples in which each test has p < 0.05; of the tests by control, any of them."""
    rng = np.random.default_rng(seed)
    count: dict[str, int] = defaultdict(int)
    for _ in range(replications):
        d = diagnosed(study(rng, **options), threads=1)
        found = {row.code for row in d.checks if row.p_value is not None and row.p_value < 0.05}
        found |= {f"step.{row.name}" for row in d.ladder.steps if row.p_value < 0.05}
        for code in found:
            count[code] += 1
    return {code: count[code] / replications for code in TESTS}


def test_sizes() -> None:
    found = _rejected(REPLICATIONS, 5)
    # Of 1,000 samples a share of 5% is known to 0.7%. Holm's correction for two tests that are nearly independent
    # leaves 4.9%.
    assert all(0.03 <= share <= 0.07 for share in found.values()), found


@pytest.mark.parametrize(
    ("codes", "small", "large"),
    [
        (
            ["calibration.given_controls", "calibration.marginal", "step.calibration"],
            {"sharp": 0.75},
            {"sharp": 0.45},
        ),
        (["calibration.controls_only", "calibration.control"], {"tilt": 0.25}, {"tilt": 0.65}),
        (["exclusion", "step.exclusion", "overidentification"], {"leak": 0.1}, {"leak": 0.3}),
        (["effect.varies"], {"varies": 0.25}, {"varies": 0.6}),
        (["samples.score"], {"shift": "score", "by": 0.2}, {"shift": "score", "by": 0.6}),
        (["samples.controls"], {"shift": "controls", "by": 0.1}, {"shift": "controls", "by": 0.3}),
        (["samples.outcome"], {"shift": "outcome", "by": 0.2}, {"shift": "outcome", "by": 0.5}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_power_grows(codes: list[str], small: dict[str, Any], large: dict[str, Any]) -> None:
    some, much = (_rejected(40, 9, **broken) for broken in (small, large))
    for code in codes:
        # 40 samples know a share to 8% at worst; above a size of 5% even the small violation stands out.
        assert 0.1 < some[code] < much[code], code
        assert much[code] >= 0.8, code
