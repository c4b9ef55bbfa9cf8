"""The unit and the zero of the outcome say nothing: every number moves with them as its own unit does."""

from typing import Any

import pytest

from softlabel import Basis, Diagnosis, diagnose
from tests.diagnosed import drawn, numbers

TABLE = drawn()
ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "controls": ["age", "frailty", "ward"],
    "basis": Basis(knots=4),
    "thresholds": (0.4, 0.7),
    "confident": (0.6, 0.8),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "by id": {"id": "visit"},
    "clusters": {"cluster": "clinic", "weights": "w"},
    "frequencies": {"weights": "times", "weight_type": "frequency", "id": "visit"},
}

# What is multiplied by c, or by its square, where the outcome is.
LINEAR = (
    ".estimate",
    ".std_error",
    ".ci_low",
    ".ci_high",
    ".leak",
    ".leak_error",
    ".bias",
    ".bias_error",
    ".bias_low",
    ".bias_high",
    ".distance",
    ".effect",
    ".verdict.interval.0",
    ".verdict.interval.1",
    *(f".ladder.compatible.0.{i}" for i in range(2)),
    *(f".ladder.moments.{i}" for i in range(3)),
    *(f".ladder.covariance.{i}.{j}" for i, j in ((0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2))),
)
SQUARE = (".squared_bias", ".variance", ".mse", *(f".ladder.covariance.{i}.{j}" for i in range(3) for j in range(3)))


def _power(path: str, d: Diagnosis) -> int:
    """The power of its factor by which a number moves with the outcome."""
    if path.startswith((".v_star.", ".kappa.", ".kappa_confident.", ".calibration.", ".reliability.")):
        return 0  # of the score alone
    if path.startswith(".verdict.would_change."):
        return int(d.verdict.would_change[int(path.split(".")[3])].code == "trust.exclusion")
    return 2 if path.endswith(SQUARE) else 1 if path.endswith(LINEAR) else 0


@pytest.mark.parametrize("case", OPTIONS)
@pytest.mark.parametrize(("factor", "shift"), [(1e9, 0.0), (1e-9, 0.0), (1.0, 1e4), (7.0, -300.0)])
def test_every_number_moves_with_the_unit_of_the_outcome(case: str, factor: float, shift: float) -> None:
    plain = diagnose(TABLE, **ROLES, **OPTIONS[case])
    found = diagnose({**TABLE, "y": TABLE["y"] * factor + shift}, **ROLES, **OPTIONS[case])
    before, after = numbers(plain), numbers(found)
    # Rows are drawn by hashes of all they hold, and the sketch of distinct ones is of hashes too.
    hashed = (f".checks.rows.{plain.checks['code'].index('score.collapse')}.statistic", ".sample.n_effective")
    assert before.keys() == after.keys()
    wrong = []
    for path, value in before.items():
        other = after[path]
        if isinstance(value, float) and isinstance(other, float):
            expected = value * factor ** _power(path, plain)
            # A step or a leak near zero is a difference of larger numbers; a large shift takes five digits.
            scale = abs(expected) + 1e-3 * factor ** _power(path, plain)
            if abs(other - expected) > 1e-8 * scale and path not in hashed:
                wrong.append((path, value, other))
        elif not isinstance(value, str) and value != other:
            wrong.append((path, value, other))
    assert wrong == []
    assert [one.code for one in found.verdict.because] == [one.code for one in plain.verdict.because]
    assert found.checks["outcome"] == plain.checks["outcome"]
