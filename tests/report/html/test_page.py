"""The page: well formed, complete, harmless whatever the data are called, and its numbers those of the Diagnosis."""

import base64
import hashlib
import json
import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest

from softlabel import Diagnosis, InputError
from softlabel.report.figures import DRAWINGS
from softlabel.report.html import page
from softlabel.report.html.glossary import GLOSSARY
from softlabel.results.text import interval_text, number
from tests.report.cases import CASES, EVIL, case
from tests.report.html.parsed import Node, parsed


@cache
def written(name: str) -> str:
    return page(case(name))


@cache
def tree(name: str) -> Node:
    return parsed(written(name))


# ------------------------------------------------------------------------------------------ the form


@pytest.mark.parametrize("name", CASES)
def test_every_page_is_well_formed_and_its_links_lead_somewhere(name: str) -> None:
    root = tree(name)
    ids = [node["id"] for node in root if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for node in root:
        for attribute in ("href", "for", "aria-labelledby", "aria-describedby"):
            target = node.attributes.get(attribute)
            if target is not None and target != "data:,":
                assert target.removeprefix("#") in ids, (node.tag, attribute, target)
        clip = node.attributes.get("clip-path")
        if clip is not None:
            assert clip.removeprefix("url(#").removesuffix(")") in ids


@pytest.mark.parametrize("name", CASES)
def test_headings_are_in_order_and_landmarks_are_there(name: str) -> None:
    root = tree(name)
    assert [node.tag for node in root.all("h1", "h2", "h3")][:2] == ["h1", "h2"]
    assert len(root.all("h1")) == 1
    assert [len(root.all(tag)) for tag in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    assert root.all("html")[0]["lang"] == "en"
    assert root.all("title")[0].text.endswith("softlabel")
    # Every section is named by its own heading.
    for section in root.all("section"):
        (heading,) = section.all("h2")
        assert section["aria-labelledby"] == heading["id"]


@pytest.mark.parametrize("name", CASES)
def test_every_table_has_a_caption_and_cells_under_headers(name: str) -> None:
    tables = tree(name).all("table")
    assert len(tables) >= 6
    for table in tables:
        assert len(table.all("caption")) == 1
        assert table.all("caption")[0].text
        assert {cell["scope"] for cell in table.all("th")} == {"col", "row"}
        assert len({len(row) for row in table.cells}) == 1


@pytest.mark.parametrize("name", CASES)
def test_pages_are_small_whole_and_free_of_null_words(name: str) -> None:
    text = written(name)
    assert len(text.encode()) < 500_000  # the demand is 1.5 MB
    visible = "".join(node.text for node in tree(name).all("main"))
    assert not re.search(r"\b(None|nan|inf|True|False)\b", visible)
    assert '"style=' not in text  # no style but the page's own, which its policy lets through
    assert not [node for node in tree(name) if "style" in node.attributes]
    assert not [key for node in tree(name) for key in node.attributes if key.startswith("on")]


@pytest.mark.parametrize("name", ["clinic", "evil"])
def test_nothing_is_fetched_and_the_policy_forbids_it(name: str) -> None:
    root = tree(name)
    assert not root.all("img", "iframe", "object", "embed", "base", "form", "audio", "video")
    assert [node["href"] for node in root.all("link")] == ["data:,"]
    assert not [node for node in root if "src" in node.attributes]
    assert "://" not in root.all("style")[0].text
    (policy,) = [node["content"] for node in root.all("meta") if "http-equiv" in node.attributes]
    assert policy.startswith("default-src 'none';")
    style, script = root.all("style")[0].text, root.all("script")[-1].text
    for kind, source in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}';" in policy


def test_paper_has_a_size_and_a_style_of_its_own() -> None:
    style = tree("clinic").all("style")[0].text
    assert "@page { size: A4;" in style
    assert "@media print {" in style
    assert "@media (prefers-color-scheme: dark)" in style


# --------------------------------------------------------------------------------------- the numbers


def _text(name: str, section: str) -> str:
    return " ".join(tree(name).of_id(section).text.split())


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_comes_first(name: str) -> None:
    d = case(name)
    first = tree(name).all("main")[0].all("p")[0]
    assert first.text == d.verdict.sentence
    if d.verdict.estimate is not None:
        assert number(d.verdict.estimate) in _text(name, "verdict")
        assert interval_text(d.verdict.interval) in _text(name, "verdict")
    for reason in d.verdict.would_change:
        assert f"{reason.message}." in _text(name, "verdict")


def test_the_estimates_are_there_with_their_errors() -> None:
    d = case("clinic")
    rows = {row[0].split()[0]: row[1:] for row in tree("clinic").of_id("estimates").all("table")[0].cells[1:]}
    assert set(rows) == {"supervised", "rectified", "instrumented", "combined", "adaptive", "soft"}
    for name, cells in rows.items():
        row = d.estimate(name)
        assert cells[:3] == [number(row.estimate), number(row.std_error), interval_text(row.interval)]
    assert "verdict" in tree("clinic").of_id("estimates").all("table")[0].text


def test_what_could_not_be_computed_says_why() -> None:
    d = case("unlabelled")
    reason = d.estimate("supervised").reason
    assert reason is not None
    assert f"not computed: {reason}" in _text("unlabelled", "estimates")


@pytest.mark.parametrize("name", ["clinic", "nulls", "scored"])
def test_every_check_has_its_row_and_failures_come_first(name: str) -> None:
    d = case(name)
    rows = tree(name).of_id("assumptions").all("table")[0].cells[1:]
    assert sorted(row[0] for row in rows) == sorted(unescape(one.title) for one in d.checks)
    ranks = [["fails", "doubtful", "holds up", "does not arise", "not tested"].index(row[1]) for row in rows]
    assert ranks == sorted(ranks)
    for one in d.checks:
        assert [f"{one.message}."] == [row[3] for row in rows if row[0] == one.title and row[3] == f"{one.message}."][
            :1
        ]


def test_rows_settings_versions_and_fingerprint_are_there() -> None:
    d = case("clinic")
    counts = {row[0]: row[1] for row in tree("clinic").of_id("rows").all("table")[0].cells}
    assert counts["rows in"] == f"{d.sample.rows:,}"
    assert counts["unlabelled"] == "3,000"
    assert counts["labelled"] == "300"
    told = _text("clinic", "reproduce")
    assert d.sample.fingerprint in told
    assert all(version in told for _, version in d.sample.versions)
    settings = {row[0]: row[1] for row in tree("clinic").of_id("reproduce").all("table")[0].cells}
    assert settings["controls"] == "age, frailty, emergency"
    assert settings["covariance"] == "HC3"


def test_rows_left_out_are_counted_by_column() -> None:
    from dataclasses import replace

    from softlabel.results.records import Column

    d = case("clinic")
    lacking = replace(d, sample=replace(d.sample, dropped=7, missing=(Column("age", 7), Column("frailty", 0))))
    cells = {row[0]: row[1:] for row in parsed(page(lacking)).of_id("rows").all("table")[0].cells}
    assert cells["left out: values missing"] == ["7", "values missing: 7 in age"]


def test_how_the_score_was_made_is_told_with_its_notes() -> None:
    report = case("scored").scoring
    assert report is not None
    told = _text("scored", "scoring")
    assert "conditional calibration, 5 folds" in told
    assert number(report.metrics.rows[0].auc) in told
    assert all(f"{note.message}." in told for note in report.notes)
    assert "was given, in p_delirium" in _text("clinic", "scoring")


def test_every_figure_is_there_or_says_why_not() -> None:
    for name in ("clinic", "unlabelled"):
        root = tree(name)
        drawn = {node["aria-labelledby"].removeprefix("figure-") for node in root.all("svg")}
        assert drawn == {figure for figure, draw in DRAWINGS.items() if draw(case(name)).rows}
        for figure, draw in DRAWINGS.items():
            assert root.of_id(f"figure-{figure}").text == f"{draw(case(name)).title}."
            assert (draw(case(name)).caption or draw(case(name)).reason) in root.all("main")[0].text


def test_the_numbers_of_a_figure_are_where_they_are_drawn() -> None:
    d = case("clinic")
    (svg,) = [node for node in tree("clinic").all("svg") if node["aria-labelledby"] == "figure-kappa"]
    points = [
        [float(v) for v in node["transform"].removeprefix("translate(").removesuffix(")").split()]
        for group in svg.all("g")
        if group.attributes.get("class") == "dot blue"
        for node in group.all("path")
    ][: len(d.kappa)]
    kappas = [row.kappa for row in d.kappa if row.kappa is not None]
    (x0, y0), *_, (x1, y1) = points
    assert len(kappas) == len(points)
    # In proportion along both axes, to the tenth of a unit that is written.
    for (x, y), row, kappa in zip(points, d.kappa, kappas, strict=True):
        share = (row.threshold - d.kappa["threshold"][0]) / (d.kappa["threshold"][-1] - d.kappa["threshold"][0])
        assert x == pytest.approx(x0 + share * (x1 - x0), abs=0.11)
        scale = (y1 - y0) / (kappas[-1] - kappas[0])
        assert y == pytest.approx(
            y0 + (kappa - kappas[0]) * scale, abs=0.11 + 0.2 * abs(kappa - kappas[0]) * abs(scale)
        )


@pytest.mark.parametrize("name", CASES)
def test_the_glossary_explains_every_word_that_is_marked(name: str) -> None:
    root = tree(name)
    for node in root.all("a"):
        if node.attributes.get("class") == "term":
            key = node["href"].removeprefix("#word-")
            assert node["data-meaning"] == GLOSSARY[key][1]
    assert len(root.of_id("words").all("dt")) == len(GLOSSARY)


@pytest.mark.parametrize("name", CASES)
def test_the_page_carries_the_diagnosis(name: str) -> None:
    assert Diagnosis.from_json(tree(name).of_id("diagnosis").text) == case(name)


@pytest.mark.parametrize("name", CASES)
def test_sliders_have_a_place_for_every_threshold_and_start_where_the_page_does(name: str) -> None:
    d, root = case(name), tree(name)
    live = json.loads(root.of_id("live").text)
    every = sorted({*d.settings.thresholds, *d.settings.confident})
    assert [place["value"] for place in live["threshold"]] == every
    for slider, places in live.items():
        if not places:
            continue
        control = root.of_id(f"{slider}-slider")
        assert control["max"] == str(len(places) - 1)
        assert ("disabled" in control.attributes) == (len(places) == 1)
        place = places[int(control["value"])]
        assert root.of_id(f"{slider}-said").text == place["said"]
        shown = [row[1:] for row in root.of_id(f"{slider}-table").cells[1:]]
        assert shown == place["cells"]


def test_the_slider_says_what_the_diagnosis_says() -> None:
    d = case("clinic")
    live = json.loads(tree("clinic").of_id("live").text)
    (at,) = [place for place in live["threshold"] if place["value"] == 0.9]
    hard, inside = d.estimate("hard", threshold=0.9), d.estimate("confident", threshold=0.9)
    assert at["cells"][0][:2] == [number(hard.estimate), interval_text(hard.interval)]
    assert at["cells"][2][:2] == [number(inside.estimate), interval_text(inside.interval)]
    for delta in (0.0, 0.05, 0.3):
        (place,) = [each for each in live["drift"] if each["value"] == delta]
        for cells, row in zip(place["cells"], d.drift(delta), strict=True):
            possible = "any" if row.low is None or row.high is None else interval_text((row.low, row.high))
            assert cells[1] == possible


# --------------------------------------------------------------------------------------- no harm done


def test_names_are_shown_and_do_nothing() -> None:
    root, text = tree("evil"), written("evil")
    shown = root.all("main")[0].text
    assert EVIL["outcome"] in shown
    assert EVIL["group"] in shown
    assert EVIL["control"].replace("\x01", "\ufffd") in shown
    # No element but the page's own; the parser would have met these.
    assert [node.attributes.get("id", "script") for node in root.all("script")] == ["live", "diagnosis", "script"]
    assert "<script>alert" not in text
    assert "<img" not in text
    assert text.count("</script") == 3
    assert text.count("</style") == 1
    assert "\u2028" not in "".join(node.text for node in root.all("script"))
    assert "\x01" not in text


def test_a_source_is_escaped_too() -> None:
    from dataclasses import replace

    d = case("clinic")
    text = page(replace(d, sample=replace(d.sample, source="<b>x</b>.csv")))
    assert "&lt;b&gt;x&lt;/b&gt;.csv" in text
    assert "<b>x" not in text


# ------------------------------------------------------------------------------------------- the file


def test_the_file_is_the_page_and_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "page.html"
    d = case("clinic")
    d.to_html(target)
    assert target.read_text(encoding="utf-8") == page(d)
    # Where writing fails an older page stays, and nothing else is left.
    monkeypatch.setattr(Path, "write_bytes", _full)
    with pytest.raises(InputError, match="No space"):
        d.to_html(target)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert target.read_text(encoding="utf-8") == page(d)


def _full(path: Path, content: bytes) -> int:
    import errno

    path.touch()
    del content
    raise OSError(errno.ENOSPC, "No space left on device")


def test_the_same_diagnosis_gives_the_same_page() -> None:
    assert page(Diagnosis.from_json(case("clinic").to_json())) == written("clinic")


def test_contrasts_of_the_palettes_are_enough() -> None:
    """4.5 for text on its ground, 3 for what is drawn (WCAG 2.2, AA), in both palettes."""
    style = tree("clinic").all("style")[0].text
    palettes = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", block)) for block in re.findall(r"{[^{}]*}", style)]
    palettes = [palette for palette in palettes if "paper" in palette]
    assert len(palettes) == 4  # light, dark by preference, dark by choice, print
    assert palettes[1] == palettes[2]
    for colours in palettes:
        for ink, ground in (
            ("ink", "paper"), ("ink", "card"), ("soft", "paper"), ("soft", "card"), ("link", "paper"),
            ("bad", "bad-back"), ("doubt", "doubt-back"), ("good", "good-back"), ("ink", "bad-back"),
        ):  # fmt: skip
            assert _contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for colour in ("black", "blue", "green", "red", "purple", "sky", "grey", "focus"):
            assert _contrast(colours[colour], colours["paper"]) >= 3, colour


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours, WCAG 2.2."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
