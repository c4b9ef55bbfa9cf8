"""Diagnoses side by side: every number is that of its diagnosis, and unlike questions are told."""

import dataclasses
from pathlib import Path

import pytest

import softlabel as sl
from softlabel.report.comparison import sheet
from softlabel.report.layout import WIDTH
from softlabel.report.sheets import shown
from softlabel.results import Check, Table
from softlabel.results.text import number

HERE = Path(__file__).parent
STORED = sl.Diagnosis.from_json((HERE.parent / "results" / "schema_1.json").read_bytes())


def _failing(d: sl.Diagnosis, code: str) -> sl.Diagnosis:
    checks = [dataclasses.replace(one, outcome="fail") if one.code == code else one for one in d.checks]
    return dataclasses.replace(d, checks=Table(tuple(checks)))


def _with(d: sl.Diagnosis, **settings: object) -> sl.Diagnosis:
    return dataclasses.replace(d, settings=dataclasses.replace(d.settings, **settings))  # type: ignore[arg-type]


BESIDE = _failing(STORED, "exclusion")
FOUND = sl.compare({"as it is": STORED, "leaking": BESIDE})


def test_the_whole_page_and_tables() -> None:
    assert FOUND.summary() == (HERE / "comparison.txt").read_text(encoding="ascii")
    assert FOUND.to_markdown() == (HERE / "comparison.md").read_text(encoding="ascii")
    assert FOUND.to_latex() == (HERE / "comparison.tex").read_text(encoding="ascii")
    assert FOUND.to_html() == FOUND._repr_html_() == (HERE / "comparison.html").read_text(encoding="ascii")


def test_every_estimate_is_that_of_its_diagnosis() -> None:
    kept = ("name", "threshold", "form", "estimate", "std_error", "ci_low", "ci_high", "p_value", "n", "reason")
    for study, d in (("as it is", STORED), ("leaking", BESIDE)):
        rows = [row for row in FOUND.estimates if row.study == study]
        for row, source in zip(rows, d.estimates, strict=True):
            assert [getattr(row, name) for name in kept] == [getattr(source, name) for name in kept]


def test_studies_say_verdict_score_and_what_fails() -> None:
    first, second = FOUND.studies
    assert (first.choice, first.estimate) == (STORED.verdict.choice, STORED.verdict.estimate)
    assert (first.v_star, first.v_star_error) == (STORED.v_star.estimate, STORED.v_star.std_error)
    assert first.failed == ()
    assert second.failed == ("exclusion",)
    assert isinstance(BESIDE.checks.rows[0], Check)


def test_studies_go_to_every_kind_of_frame() -> None:
    arrow = FOUND.studies.to_arrow()
    assert arrow["failed"].to_pylist() == [[], ["exclusion"]]
    assert arrow["controls"].to_pylist()[0] == list(STORED.settings.controls)
    assert FOUND.studies.to_pandas()["study"].tolist() == FOUND.studies.to_polars()["study"].to_list()
    assert "exclusion" in str(FOUND.studies)
    assert "<td>exclusion</td>" in FOUND.studies._repr_html_()


def test_cells_are_in_the_column_of_their_study() -> None:
    moved = dataclasses.replace(
        STORED,
        estimates=Table(
            tuple(dataclasses.replace(row, estimate=9.0) if row.name == "soft" else row for row in STORED.estimates)
        ),
    )
    table = sheet(sl.compare({"a": STORED, "b": moved, "c": STORED}))
    (soft,) = (row for row in table.rows if row[0] == "soft")
    error = number(STORED.estimate("soft").std_error)
    assert list(map(shown, soft))[1:] == [f"1.13 ({error})", f"9.00 ({error})", f"1.13 ({error})"]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"outcome": "cost"}, "compare.outcome"),
        ({"controls": ("age",)}, "compare.controls"),
        ({"level": 0.9}, "compare.level"),
        ({"weights": "w"}, "compare.weights"),
        ({"score": "other"}, None),
        ({"basis": "linear"}, None),
    ],
)
def test_unlike_questions_are_told(changed: dict[str, object], code: str | None) -> None:
    found = sl.compare({"a": STORED, "b": _with(STORED, **changed)})
    assert [note.code for note in found.notes] == ([] if code is None else [code])
    assert (code == "compare.outcome") == (sheet(found).title == "Effects")


def test_json_and_back() -> None:
    assert sl.Comparison.from_json(FOUND.to_json()) == FOUND
    assert sl.Comparison.from_json(FOUND.to_json(indent=2).encode()) == FOUND
    with pytest.raises(sl.StateError, match="compare the diagnoses again"):
        sl.Comparison.from_json(FOUND.to_json().replace('"schema_version":1', '"schema_version":9'))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "diagnoses by name, found none"),
        ([STORED], "found list"),
        ({"a": STORED.to_json()}, "a Diagnosis as 'a', found str"),
        ({1: STORED}, "names to call the diagnoses by, found 1"),
    ],
)
def test_what_is_no_diagnosis_is_refused(given: object, complaint: str) -> None:
    with pytest.raises(sl.InputError) as refused:
        sl.compare(given)  # type: ignore[arg-type]
    assert complaint.split(", ", maxsplit=1)[0] in str(refused.value)
    assert complaint.rsplit("found ", maxsplit=1)[-1] in str(refused.value)


def test_names_do_no_harm_and_lines_stay_on_the_page() -> None:
    found = sl.compare({"<script>": STORED, "b|c_d": STORED})
    assert "<script>" not in found.to_html()
    assert "<script>" not in found.to_markdown().replace("\\<script>", "")
    assert r"b\|c_d" in found.to_markdown()
    assert r"b|c\_d" in found.to_latex()
    many = sl.compare({f"model {i}": STORED for i in range(7)})
    assert max(map(len, many.summary().splitlines())) <= WIDTH
    assert all(f"model {i}" in many.summary() for i in range(7))
