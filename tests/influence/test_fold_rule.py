"""When nuisances are fitted in sample: the rule, and the harm it prevents on a large discrete table."""

from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel.influence import FoldRule


@pytest.mark.parametrize(
    ("count", "by", "n_effective", "n", "d", "in_sample"),
    [
        (None, "values", 1e6, 10**6, 4, True),  # asked for
        (5, "id", 10.0, 10**6, 4, False),  # an id tells copies apart
        (5, "given", 10.0, 10**6, 4, False),
        (5, "values", 3_000.0, 3_000, 4, False),  # small, but distinct
        (5, "values", 2_600.0, 3_000, 4, True),
        (5, "values", 4_999.0, 20_000, 4, True),
        (5, "values", 7_000.0, 20_000, 4, False),  # 10·4·141 is 5,657
        (5, "values", 7_000.0, 40_000, 4, True),  # 10·4·200 is 8,000
        (5, "values", 39_000.0, 10**6, 4, True),
        (5, "values", 41_000.0, 10**6, 4, False),
    ],
)
def test_the_rule(count: int | None, by: str, n_effective: float, n: int, d: int, *, in_sample: bool) -> None:
    assert FoldRule(count, by).in_sample(n_effective, n, d) == in_sample


def test_a_large_discrete_table_is_not_cross_fitted_by_its_values() -> None:
    # Eight binary controls, 20 score levels and a binary outcome: some thousand distinct rows among 10⁶. Dealt by
    # value their copies share a fold, and V* is too large by about a standard error; in sample it is right.
    rng = np.random.default_rng(1)
    n = 1_000_000
    x = rng.integers(0, 2, size=(8, n))
    levels = np.clip((rng.normal(8, 4, size=n) + x[0] + x[1]).astype(int), 0, 19)
    p = (levels + 0.5) / 20
    y = (rng.random(n) < 0.2 + 0.05 * x[2] + 0.3 * (rng.random(n) < p)).astype(float)
    data = {"y": y, "p": p, "row": np.arange(n)} | {f"x{j}": x[j] for j in range(8)}
    options: dict[str, Any] = {"outcome": "y", "score": "p", "controls": [f"x{j}" for j in range(8)], "confident": ()}
    default, by_row = sl.diagnose(data, **options), sl.diagnose(data, **options, id="row")
    assert 5_000 < default.sample.n_effective < 90_000
    assert default.sample.folds is None
    for found, expected in (
        (default.v_star, by_row.v_star),
        *zip(default.estimates, by_row.estimates, strict=True),
    ):
        if found.estimate is not None and found.form != "moment":
            assert expected.estimate is not None
            assert expected.std_error is not None
            # Both are right to d/n, a few thousandths of a standard error; the fifth is for small sets above .95.
            assert abs(found.estimate - expected.estimate) < 0.2 * expected.std_error
