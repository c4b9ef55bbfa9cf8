"""The census: what is told, beside the truth that every row together gives."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from softlabel.report import adult

Run = Callable[..., tuple[int, str, str]]


def _numbers(pattern: str, text: str) -> list[float]:
    found = re.search(pattern, text)
    assert found is not None, pattern
    return [float(each) for each in found.groups()]


def test_the_census_from_features_to_verdict(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("demo", "--adult", "--seed", "2", "--output", "census.parquet")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 96
    told = " ".join(out.split())
    assert "Suppose that only 1,500 had told their income" in told
    assert "The score was made here: logistic" in told
    # Every income known, in the same regression: the interval of the verdict holds it, that of soft does not.
    (truth,) = _numbers(r"the difference is ([\d.]+) years", told)
    low, high = _numbers(r"has not seen the other incomes, says [\d.]+ \(([\d.]+) to ([\d.]+)\)", told)
    (soft_low,) = _numbers(r"place of the income gives [\d.]+ \(([\d.]+) to", told)
    assert low < truth < high
    assert soft_low > truth + 0.5
    # The command that is shown finds the same.
    command = out[out.index("  softlabel diagnose") :].replace("\\\n", " ").split()
    code, page, err = run(*command[1:])
    assert (code, err) == (0, "")
    assert page.splitlines()[:4] == out[out.index("\nVerdict") + 1 :].splitlines()[:4]


def test_the_labels_depend_on_the_seed() -> None:
    tables = [adult.demo_table(seed) for seed in (1, 2)]
    seen = [table["income_seen"].is_valid().to_numpy() for table in tables]
    assert [int(mask.sum()) for mask in seen] == [adult.LABELLED] * 2
    assert (seen[0] != seen[1]).any()
    incomes = tables[0]["high_income"].to_numpy()[seen[0]].tolist()
    assert tables[0]["income_seen"].drop_null().to_pylist() == incomes


def test_every_label_is_least_squares_on_curves() -> None:
    """Against cubic polynomials by NumPy: both bend, and straight lines, which do not, give 2.015."""
    table = adult.demo_table(1)
    age, hours, group, y = (
        table[name].to_numpy().astype(float) for name in ("age", "hours_per_week", "high_income", "education_num")
    )
    male = np.array(table["sex"].to_pylist()) == "Male"
    powers = [((x - x.mean()) / x.std()) ** power for x in (age, hours) for power in (1, 2, 3)]
    by_hand = np.linalg.lstsq(np.column_stack([group, np.ones(len(y)), male, *powers]), y)[0][0]
    # Polynomials and splines of four pieces are not the same curves.
    assert adult.every_label(table) == pytest.approx(by_hand, abs=0.02)
