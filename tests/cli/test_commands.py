"""What each command does when all is well, and what its help says."""

import argparse
import inspect
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import softlabel
from softlabel import Diagnosis, check, diagnose, plan
from softlabel.cli.parser import build, parse

ROLES = ["--outcome", "days", "--group", "g", "--score", "p", "--controls", "age", "frailty"]
Run = Callable[..., tuple[int, str, str]]


def test_diagnose_prints_the_summary(run: Run, visits: str) -> None:
    d = diagnose(visits, outcome="days", group="g", score="p", controls=["age", "frailty"])
    assert run("diagnose", visits, *ROLES) == (0, d.summary(), "")


def test_diagnose_writes_a_page_and_prints_as_ever(run: Run, visits: str, tmp_path: Path) -> None:
    d = diagnose(visits, outcome="days", group="g", score="p", controls=["age", "frailty"])
    target = tmp_path / "page.html"
    assert run("diagnose", visits, *ROLES, "--html", str(target)) == (0, d.summary(), "")
    d.to_html(tmp_path / "same.html")
    assert target.read_bytes() == (tmp_path / "same.html").read_bytes()
    code, out, _ = run("diagnose", visits, *ROLES, "--html", str(target), "--json", "-")
    assert (code, Diagnosis.from_json(out)) == (0, d)


def test_every_option_arrives(run: Run, table: Callable[..., pa.Table], tmp_path: Path) -> None:
    visits = str(tmp_path / "seen.parquet")
    pq.write_table(table(seen=np.arange(900) % 2), visits)
    asked: dict[str, Any] = {
        "thresholds": [0.4, 0.7],
        "confident": [0.6],
        "basis": "linear",
        "folds": 3,
        "seed": 8,
        "id": "age",
        "audit": "seen",
        "features": ["age", "ward"],
        "covariance": "HC1",
        "rule": "guarded",
        "trust": "exclusion",
        "kappa_tolerance": 0.2,
        "level": 0.9,
        "missing": "drop",
        "threads": 1,
    }
    options = []
    for name, value in asked.items():
        options += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    code, out, err = run("diagnose", visits, *ROLES, *options, "--json", "-")
    assert (code, err) == (0, "")
    d = diagnose(visits, outcome="days", group="g", score="p", controls=["age", "frailty"], **asked)
    assert Diagnosis.from_json(out) == d
    assert d.verdict.choice == "instrumented"
    paper = run("diagnose", visits, *ROLES, "--rule", "paper", "--json", "-")[1]
    assert Diagnosis.from_json(paper).verdict.rule == "paper"


def test_the_defaults_are_those_of_diagnose(run: Run, visits: str) -> None:
    _, out, _ = run("diagnose", visits, "--outcome", "days", "--score", "p", "--json", "-")
    assert Diagnosis.from_json(out) == diagnose([visits], outcome="days", score="p")


def test_folds_none_and_lists_that_are_empty(run: Run, visits: str) -> None:
    options = ["--folds", "none", "--thresholds", "--confident", "--controls"]
    _, out, _ = run("diagnose", visits, "--outcome", "days", "--score", "p", *options, "--json", "-")
    d = Diagnosis.from_json(out)
    assert (d.settings.folds, d.settings.thresholds, d.settings.confident, d.settings.controls) == (None, (), (), ())


def test_many_files_and_labels_apart(run: Run, tmp_path: Path, visits: str) -> None:
    whole = pq.read_table(visits)
    pq.write_table(whole.slice(0, 120), tmp_path / "labelled.parquet")
    for i, start in enumerate(range(120, 900, 300)):
        pq.write_table(whole.slice(start, 300), tmp_path / f"part-{i}.parquet")
    parts = [str(tmp_path / f"part-{i}.parquet") for i in range(3)]
    labelled = ["--labelled", str(tmp_path / "labelled.parquet")]
    _, expected, _ = run("diagnose", visits, *ROLES, "--json", "-")
    for files in (parts, [str(tmp_path / "part-*.parquet")]):
        code, out, err = run("diagnose", *files, *ROLES, *labelled, "--json", "-")
        assert (code, err) == (0, "")
        assert json.loads(out)["verdict"] == json.loads(expected)["verdict"]
        assert json.loads(out)["sample"]["labelled"] == 120


def test_json_to_a_file_comes_with_the_summary(run: Run, visits: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    code, out, err = run("diagnose", visits, *ROLES, "--json", str(target))
    assert (code, err) == (0, "")
    text = target.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert Diagnosis.from_json(text).summary() == out


def test_json_to_stdout_comes_alone(run: Run, visits: str) -> None:
    code, out, err = run("diagnose", visits, *ROLES, "--json", "-")
    assert (code, err) == (0, "")
    assert json.loads(out)["schema_version"] == 1


def test_demo_tells_a_story_whose_command_works(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("demo", "--seed", "3", "--output", "clinic.csv")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 96
    assert out.isascii()
    assert "Verdict" in out
    assert "effect of 2 days" in out
    command = out[out.index("  softlabel diagnose") :].replace("\\\n", " ").split()
    code, again, err = run(*command[1:])
    assert (code, err) == (0, "")
    # The same patients, so the same page, which the demo shows between its story and its epilogue.
    assert again in out


def test_demo_writes_parquet_and_depends_on_its_seed(run: Run, tmp_path: Path) -> None:
    pages = [run("demo", "--seed", seed, "--output", str(tmp_path / f"{seed}.parquet"))[1] for seed in ("1", "2")]
    assert pages[0] != pages[1]
    tables = [pq.read_table(tmp_path / f"{seed}.parquet") for seed in ("1", "2")]
    assert tables[0].num_rows == tables[1].num_rows == 40_600
    assert not tables[0].equals(tables[1])


# -------------------------------------------------------------------------------------------- help


def test_help_teaches_what_there_is(run: Run) -> None:
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert "classifier's score" in out
    said = {"demo": "hospital", "check": "can and cannot", "diagnose": "files in, verdict out", "plan": "labels"}
    for command in COMMANDS:
        assert any(line.split()[:1] == [command] and said.get(command, "") in line for line in out.splitlines())


def test_help_of_diagnose_explains_every_option(run: Run) -> None:
    code, out, err = run("diagnose", "--help")
    assert (code, err) == (0, "")
    flat = " ".join(out.split())
    assert "softlabel diagnose visits.parquet --outcome days --group sick --score p" in flat
    for option, says in {
        "--outcome COLUMN": "what the group is thought to change",
        "--group COLUMN": "0, 1, or empty where unknown",
        "--score COLUMN": "probability of the group, 0 to 1",
        "--controls": "what to control for",
        "--labelled FILE": "files with the labelled rows",
        "--folds N|none": "default: 5",
        "--missing": "drop incomplete rows and count them",
        "--covariance": "HC0 to HC3",
        "--json OUT": "- prints it in place of the summary",
        "--kappa-tolerance": "1 +- D",
        "--level": "default: 0.95",
        "--audit COLUMN": "neither classifier nor calibrator has seen the label",
        "--features COLUMN": "what the classifier saw",
        "--trust WHAT": "nothing, exclusion, calibration (default: the data decide)",
        "--rule NAME": "guarded, paper (default: guarded)",
    }.items():
        assert option in flat
        assert says in flat
    assert "==SUPPRESS==" not in out


COMMANDS = ("demo", "check", "diagnose", "plan", "replicate")


@pytest.mark.parametrize("command", [None, *COMMANDS])
@pytest.mark.parametrize("columns", [80, 200])
def test_help_fits_the_terminal_and_the_page(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str | None, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = run(*([] if command is None else [command]), "--help")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= min(columns, 96)
    assert "For example:\n  softlabel" in out


def _options(command: str) -> dict[str, argparse.Action]:
    return {option: action for action in build(print)[1][command]._actions for option in action.option_strings}


@pytest.mark.parametrize(("command", "function"), [("diagnose", diagnose), ("check", check), ("plan", plan)])
def test_every_argument_is_an_option(command: str, function: Callable[..., object]) -> None:
    arguments = set(inspect.signature(function).parameters) - {"data", "unknown"}
    assert {f"--{name.replace('_', '-')}" for name in arguments} - set(_options(command)) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_help(command: str) -> None:
    assert [option for option, action in _options(command).items() if not action.help] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_help_can_be_parsed(command: str) -> None:
    text = build(print)[1][command].epilog or ""
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.startswith("  softlabel ")]
    assert lines
    for given in [shlex.split(line)[1:] for line in lines]:
        assert parse(given, say=print).command == command


def test_version(run: Run) -> None:
    code, out, err = run("--version")
    assert code == 0
    assert (out + err).strip() == f"softlabel {softlabel.__version__}"


def test_version_goes_to_stdout(run: Run) -> None:
    assert run("--version")[1] == f"softlabel {softlabel.__version__}\n"
