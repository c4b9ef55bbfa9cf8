"""The summary: verdict first, a page wide, plain ASCII, and a reason wherever there is no number."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softlabel import Diagnosis, diagnose
from softlabel.report.layout import WIDTH, wrapped
from softlabel.report.summary import summary
from softlabel.results import Calibration, Ladder, Note, Table, Verdict
from softlabel.results.records import not_estimated
from softlabel.results.text import interval_text, number

HERE = Path(__file__).parent
STORED = Diagnosis.from_json((HERE.parent / "results" / "schema_1.json").read_bytes())
WHY_NONE = "there are no labelled rows"


def _without_labels() -> Diagnosis:
    """Return the stored diagnosis as it would be of the unlabelled rows alone."""
    labelled = ("supervised", "rectified", "instrumented", "combined", "adaptive")
    estimates = [not_estimated(row.name, WHY_NONE, 0) if row.name in labelled else row for row in STORED.estimates]
    numbers = ("slope", "slope_error", "leak", "leak_error", "bias", "bias_error", "bias_low", "bias_high")
    nothing: dict[str, Any] = dict.fromkeys(numbers)
    audits = [dataclasses.replace(row, **nothing, n=0, reason=WHY_NONE) for row in STORED.audits]
    none: dict[str, Any] = dict.fromkeys(field.name for field in dataclasses.fields(Calibration))
    skipped: dict[str, Any] = {"outcome": "skipped", "statistic": None, "df": None, "p_value": None, "effect": None}
    checks = [dataclasses.replace(one, **skipped, message=f"Not looked at: {WHY_NONE}") for one in STORED.checks]
    worth = [dataclasses.replace(row, labels=None, reason=WHY_NONE) for row in STORED.label_equivalents]
    return dataclasses.replace(
        STORED,
        estimates=Table(tuple(estimates)),
        checks=Table(tuple(checks)),
        audits=Table(tuple(audits)),
        calibration=Calibration(**{**none, "bins": Table(()), "reason": WHY_NONE}),
        ladder=Ladder(Table(()), Table(()), n_unlabelled=STORED.ladder.n_unlabelled, reason=WHY_NONE),
        label_equivalents=Table(tuple(worth)),
        settings=dataclasses.replace(STORED.settings, group=None),
        sample=dataclasses.replace(STORED.sample, labelled=0, labelled_by_class=(0, 0)),
        notes=(Note("labels.none", "Without labelled rows nothing here can be tested"),),
    )


def _section(text: str, title: str) -> list[str]:
    """Return the lines of the part of the page that a title opens."""
    (part,) = [part for part in text.split("\n\n") if part.startswith(title)]
    return part.splitlines()


def test_the_whole_page() -> None:
    assert STORED.summary() == summary(STORED) == (HERE / "summary.txt").read_text(encoding="ascii")


def test_the_verdict_comes_first_and_names_its_rule_and_its_blindness() -> None:
    lines = STORED.summary().splitlines()
    assert lines[0] == "Verdict (Algorithm 1 of Kurbucz, 2026)"
    assert lines[1].startswith("  Use soft: 1.13 (95% interval 1.01 to 1.25).")
    assert "cannot see bias" in " ".join(_section(STORED.summary(), "Verdict"))


def test_sections_come_in_the_order_of_a_readers_questions() -> None:
    titles = [part.split("\n")[0].split("  ")[0].rstrip() for part in STORED.summary().split("\n\n")]
    assert [title.split(" (")[0] for title in titles] == [
        "Verdict",
        "Data",
        "Effect",
        "Assumptions",
        "Threshold",
        "Confident rows only",
        "Notes",
    ]


def test_without_labels_it_says_so_before_the_verdict_and_gives_the_reason() -> None:
    text = _without_labels().summary()
    assert text.splitlines()[1] == "  No labelled rows: calibration and exclusion are taken on trust."
    missing = "  supervised, rectified, instrumented, combined, adaptive: not computed, there are no labelled"
    assert [missing, "  rows."] == _section(text, "Effect")[2:4]
    assumptions = " ".join(" ".join(_section(text, "Assumptions")).split())
    assert "not tested: calibration given the controls, " in assumptions
    assert not [word for word in ("hold up", "FAILS", "doubtful", "Audit on") if word in assumptions]
    assert "group" not in _section(text, "Data")[1]
    assert "0 labelled" in text
    assert "- Without labelled rows nothing here can be tested." in text


def test_without_labels_soft_is_not_said_to_be_worth_none() -> None:
    (soft,) = [line for line in _section(_without_labels().summary(), "Effect") if line.startswith("  soft  ")]
    assert soft.split()[-1] == "-"


def test_a_level_is_shown_with_its_decimals() -> None:
    d = dataclasses.replace(STORED, settings=dataclasses.replace(STORED.settings, level=0.999))
    assert "99.9% interval" in _section(d.summary(), "Effect")[0]


def test_no_choice_at_all_is_told_in_place_of_one() -> None:
    sentence = "No estimate can be recommended: there are no labelled rows."
    d = dataclasses.replace(_without_labels(), verdict=Verdict(None, sentence, None, None, "paper", None, (), ()))
    assert sentence in d.summary()


def test_the_data_are_counted_and_in_sample_nuisances_are_said() -> None:
    sample = dataclasses.replace(STORED.sample, folds=None, folds_by="in sample")
    text = " ".join(_section(dataclasses.replace(STORED, sample=sample).summary(), "Data"))
    assert "nuisances fitted in sample" in text
    everything = " ".join(" ".join(_section(STORED.summary(), "Data")).split())
    for part in ("19,990 unlabelled", "480 labelled (180 in the group, 300 not)", "30 of 20,500 left out", "5 folds"):
        assert part in everything


def test_without_thresholds_confident_sets_or_notes_their_parts_are_short_or_gone() -> None:
    bare = dataclasses.replace(STORED, kappa=Table(()), kappa_confident=Table(()), notes=())
    assert [part.split()[0] for part in bare.summary().split("\n\n")] == [
        "Verdict",
        "Data",
        "Effect",
        "Assumptions",
        "Score",
    ]


def test_a_table_of_thresholds_without_rows_has_no_header() -> None:
    assert "rows above" not in dataclasses.replace(STORED, kappa=Table(())).summary()


# ------------------------------------------------------------------------- any page, of real numbers


def _data(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(6)
    n = 1_200
    x = rng.normal(size=n)
    p = rng.beta(2, 2, size=n)
    g = np.where(np.arange(n) < 100, (rng.random(n) < p) * 1.0, np.nan)
    data = {"y": x + rng.normal(size=n), "g": g, "p": p, "x": x}
    if kind == "narrow":
        data["p"] = 0.5 + 0.02 * np.tanh(x + rng.normal(size=n))
    elif kind == "constant":
        data["p"] = np.full(n, 0.3)
    elif kind == "collapsed":
        data["p"] = 0.5 + x / 20
    elif kind == "huge":
        data["y"] = data["y"] * 1e12
    elif kind == "tiny":
        data["y"] = data["y"] * 1e-12
    elif kind == "exact":
        data["y"] = 2 * x
    elif kind == "repeating":
        data = {name: np.repeat(values[:40], 30) for name, values in data.items()}
    elif kind == "one label":
        data["g"] = np.where(np.arange(n) < 1, 1.0, np.nan)
    return data


KINDS = ["plain", "narrow", "constant", "collapsed", "huge", "tiny", "exact", "one label"]


@pytest.fixture(params=KINDS, scope="module")
def real(request: pytest.FixtureRequest) -> Diagnosis:
    return diagnose(_data(request.param), outcome="y", group="g", score="p", controls=["x"])


def test_a_page_is_no_wider_than_its_width_and_plain_ascii(real: Diagnosis) -> None:
    text = real.summary()
    assert WIDTH == 96
    assert [line for line in text.splitlines() if len(line) > WIDTH or line != line.rstrip()] == []
    assert text.isascii()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "None" not in text
    assert re.search(r"\b(nan|inf)\b", text, re.IGNORECASE) is None


def test_every_estimate_without_a_number_shows_its_reason(real: Diagnosis) -> None:
    text = " ".join(real.summary().split())
    for row in real.estimates:
        if row.reason is not None and row.form != "moment" and row.name != "deattenuated":
            if row.estimate is not None:  # what adapts: its number, a dash for its error, and what that means
                ends = interval_text(row.interval)
                assert re.search(rf" adaptive {re.escape(number(row.estimate))} - {re.escape(ends)} ", text)
                assert "adaptive: takes what the labels let it of exclusion, and a little of calibration;" in text
                continue
            if row.threshold is None:
                assert re.search(rf"\b{row.name}[a-z, ]*: not computed, {re.escape(row.reason)}\.", text)
                continue
            reason = row.reason.replace(f" {row.threshold:g}", " t")
            (at,) = re.findall(rf"{row.name} at ([^:]*): not computed, {re.escape(reason)}\.", text)
            assert f"{row.threshold:g}" in at.split(", ")
        if row.reason is None and row.form != "moment":
            assert row.estimate is not None


def test_deattenuated_without_a_number_shows_its_reason() -> None:
    d = diagnose(_data("collapsed"), outcome="y", group="g", score="p", controls=["x"], thresholds=[0.5])
    assert d.estimate("hard", threshold=0.5).reason is None
    assert d.estimate("deattenuated", threshold=0.5).reason is not None
    assert "deattenuated at 0.5: not computed" in d.summary().replace("de-attenuated", "deattenuated")


def test_every_note_is_on_the_page(real: Diagnosis) -> None:
    text = " ".join(real.summary().split())
    # Of these a check says the same.
    checked = {"estimates.differ": "overidentification", "score.hard": "score.hard"}
    for note in real.notes:
        if note.code in checked:
            (check,) = [one for one in real.checks if one.code == checked[note.code]]
            assert f"{check.message}. {check.advice}." in text
            continue
        mark = "!" if note.code == "score.reversed" else "-"
        assert f"{mark} {note.message}." in text


def test_every_check_that_fails_is_on_the_page_with_what_to_do(real: Diagnosis) -> None:
    text = " ".join(real.summary().split())
    for one in real.checks:
        if one.outcome in ("fail", "warn"):
            sign = "FAILS" if one.outcome == "fail" else "doubtful"
            assert f"{sign}: {one.title}" in text
            assert f"{one.message}. {one.advice}." in text
    bad = {one.code for one in real.checks if one.outcome in ("fail", "warn")}
    for outcome, said in (("pass", "hold up"), ("skipped", "not tested")):
        codes = {one.code for one in real.checks if one.outcome == outcome} - bad
        assert (f" {said}: " in text) == bool(codes)


def test_what_would_change_the_verdict_is_on_the_page(real: Diagnosis) -> None:
    text = " ".join(real.summary().split())
    assert real.verdict.would_change
    for reason in real.verdict.would_change:
        assert f"? {reason.message}." in text


@pytest.mark.parametrize("rule", ["guarded", "paper"])
def test_the_rule_is_named(rule: Any) -> None:
    d = diagnose(_data("plain"), outcome="y", group="g", score="p", controls=["x"], rule=rule)
    first = {"guarded": "Verdict (adapts to what the labels show)", "paper": "Verdict (Algorithm 1 of Kurbucz, 2026)"}
    assert d.summary().splitlines()[0] == first[rule]
    assert ("cannot see bias" in " ".join(d.summary().split())) == (rule == "paper")


def test_a_number_of_labels_too_long_to_read_is_cut() -> None:
    worth = tuple(dataclasses.replace(row, labels=3e52) for row in STORED.label_equivalents)
    d = dataclasses.replace(STORED, label_equivalents=Table(worth))
    (soft,) = [line for line in _section(d.summary(), "Effect") if line.startswith("  soft  ")]
    assert soft.split()[-1] == "3.00e+52"


def test_rows_that_repeat_are_noted() -> None:
    d = diagnose(_data("repeating"), outcome="y", group=None, score="p", controls=["x"])
    assert "Rows repeat: 1,200 unlabelled rows hold about 40.0 distinct ones." in " ".join(d.summary().split())


# ------------------------------------------------------------------------------------------ wrapping


def test_wrapped() -> None:
    lines = wrapped("word " * 60, hang="  ").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].startswith("  word")
    assert all(line.startswith("    word") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == ("word " * 60).strip()


def test_a_name_wider_than_the_page_is_broken_and_not_lost() -> None:
    name = "x" * 250
    settings = dataclasses.replace(STORED.settings, outcome=name)
    text = dataclasses.replace(STORED, settings=settings).summary()
    assert max(map(len, text.splitlines())) <= WIDTH
    assert name in "".join(text.split())
