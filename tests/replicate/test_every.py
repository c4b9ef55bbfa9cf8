"""`softlabel replicate all`: every part is run once, with what it is to be given, and leaves its files."""

import json
from pathlib import Path
from typing import Any

import pytest

from softlabel.cli.replicating import REPLICATIONS
from softlabel.replicate import studies
from softlabel.replicate.every import EveryFound, Part, replicate_all
from softlabel.replicate.paper import replicate_tables

PARTS: dict[str, Part] = {
    "tables": ("softlabel.replicate.paper:replicate_tables", None, {"tables": ("table3",)}),
    "rules": ("softlabel.replicate:replicate_rules", 2, {"scenarios": ["weak"]}),
}


@pytest.fixture(scope="module")
def found() -> EveryFound:
    return replicate_all(4, parts=PARTS, seed=1, progress=False)


def test_each_part_is_what_it_is_alone(found: EveryFound) -> None:
    assert list(found.parts) == ["tables", "rules"]
    assert found.parts["tables"] == replicate_tables(4, tables=["table3"], seed=1)
    assert found.parts["rules"].replications == 4
    assert set(found.seconds) == set(found.parts)


def test_each_part_leaves_its_files(found: EveryFound, tmp_path: Path) -> None:
    found.write(tmp_path)
    tables = {f"table3.{ending}" for ending in ("md", "csv", "tex", "json")}
    assert {path.name for path in tmp_path.iterdir()} == {*tables, "rules.txt", "rules.json"}
    assert json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))["seed"] == 1
    assert json.loads(found.to_json())["tables"]["tables"][0]["name"] == "table3"


def test_the_page_says_what_was_run(found: EveryFound) -> None:
    page = found.summary()
    assert page.startswith("Everything\n")
    assert " s in all: tables " in page
    assert "Table 3" in page
    assert "4 replications of seed 1" in " ".join(page.split())


def test_finished_replications_are_kept_where_asked(tmp_path: Path) -> None:
    replicate_all(parts={"rules": PARTS["rules"]}, resume=tmp_path, progress=False)
    assert len((tmp_path / "weak.jsonl").read_text(encoding="utf-8").splitlines()) == 1 + 2


def test_the_folder_of_data_goes_to_those_that_read_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(studies, "replicate_studies", lambda *given, **options: asked.append((given, options)))
    _, _, given = REPLICATIONS["all"].given["parts"]["studies"]
    part: Part = ("softlabel.replicate.studies:replicate_studies", 10, given)
    replicate_all(parts={"studies": part}, data="somewhere", resume=tmp_path, workers=2, seed=7)
    options = {"workers": 2, "seed": 7, "resume": tmp_path, "progress": None, "data": "somewhere"}
    assert asked == [((10,), options)]


def test_all_is_everything_but_parts_of_others() -> None:
    parts = REPLICATIONS["all"].given["parts"]
    numbered = {f"table{number}" for number in range(1, 6)}
    assert set(parts) == set(REPLICATIONS) - numbered - {"all"}
    assert all(name in REPLICATIONS["all"].help for name in parts)
    # Figures come after the tables whose replications they are made of.
    assert list(parts).index("figures") > max(list(parts).index(name) for name in ("tables", "adult"))
