"""The page of a check: verdict first, a page wide, plain ASCII, and a reason wherever something is not possible."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlabel import Checkup, check
from softlabel.report.check import page
from softlabel.report.layout import WIDTH
from softlabel.results import Table

HERE = Path(__file__).parent
N = 1_200


def _data(**changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    p, age = rng.random(N), rng.normal(60, 9, N).round(1)
    g = (rng.random(N) < p).astype(float)
    y = (2 * g + age / 10 + rng.normal(size=N)).round(2)
    g[80:] = np.nan
    region = rng.choice(["north", "south", "island"], N, p=[0.6, 0.39, 0.01])
    return {
        "days": y,
        "sick": g,
        "p_sick": p.round(3) * 0.97,
        "age": age,
        "region": region,
        "ward": np.arange(N) % 25,
        **changes,
    }


def _check(**changes: Any) -> Checkup:
    return check(
        _data(**changes), outcome="days", score="p_sick", group="sick", controls=["age", "region"], cluster="ward"
    )


PAGES = {
    "ready": _check(),
    "missing": _check(age=np.where(np.arange(N) % 50, np.arange(N) % 43, np.nan)),
    "impossible": _check(p_sick=np.full(N, 0.4), sick=np.full(N, np.nan)),
    "problems": _check(p_sick=np.linspace(-3, 3, N), sick=np.full(N, 2.0)),
    "type": _check(days=["many"] * N),
    "levels": _check(region=[f"region {i % 30}" for i in range(N)]),
    "columns": check(_data()),
    "long names": check({f"{name} {'x' * 60}": values for name, values in _data().items()}),
    "no rows": check({"days": np.empty(0), "p": np.empty(0)}),
    "nothing": check({}),
    "json": Checkup.from_json(_check().to_json()),
}


def test_the_whole_page() -> None:
    assert PAGES["ready"].summary() == page(PAGES["ready"]) == (HERE / "check.txt").read_text(encoding="ascii")


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_ascii_and_no_wider_than_a_page(name: str) -> None:
    text = PAGES[name].summary()
    assert text.isascii()
    assert text.startswith("Verdict\n  ")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    wide = [line for line in text.splitlines() if len(line) > WIDTH]
    # A single word, such as a name, may be longer than a page.
    assert wide == [] or name == "long names"
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("ready", "Next"),
        ("columns", "Next"),
        ("missing", "Next, to leave incomplete rows out"),
        ("problems", "Once that is mended"),
        ("type", "Once that is mended"),
        ("impossible", "Once that is mended"),
    ],
)
def test_what_comes_next(name: str, title: str) -> None:
    last = PAGES[name].summary().split("\n\n")[-1].splitlines()
    assert last[0] == title
    assert last[1].startswith("  softlabel.")


def test_every_problem_stands_below_the_verdict() -> None:
    verdict = PAGES["problems"].summary().split("\n\n")[0]
    assert verdict.count("  ! Expected ") == len(PAGES["problems"].problems) == 2
    assert "logit" in verdict


def test_reasons_are_said_once() -> None:
    text = " ".join(PAGES["impossible"].summary().split())
    assert "supervised 0 labelled no: there are no labelled rows" in text
    assert text.count("no score is above t") == 1
    assert "the score is the same in every row" in text


def test_many_levels_are_cut_short() -> None:
    text = PAGES["levels"].summary()
    assert "and 19 smaller ones" in text


def test_a_command_is_broken_before_an_option() -> None:
    files = [f"visits-{year}.parquet" for year in range(2001, 2012)]
    words = ("softlabel", "diagnose", *files, "--outcome", "days", "--controls", *(f"control_{i}" for i in range(20)))
    c = dataclasses.replace(PAGES["ready"], command=words, shell=True, estimators=Table(()))  # noqa: S604  (a field of ours)
    last = c.summary().split("\n\n")[-1]
    assert max(map(len, last.splitlines())) <= WIDTH
    assert last.replace("\\\n", " ").split()[1:] == list(words)
