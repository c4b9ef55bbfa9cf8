"""The page in a headless Chromium: quiet, off the network, moved by its sliders, usable by keyboard and reader."""

import base64
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from softlabel.results.text import interval_text, number
from tests.report.cases import CASES, EVIL, case
from tests.report.html.browser import CHROMIUM, Browser, Tab, open_browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: install the package chromium of the system")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in CASES}
    for name, path in found.items():
        case(name).to_html(path)
    return found


def _press(tab: Tab, key: str, code: int) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        tab.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def _cells(tab: Tab, slider: str) -> list[list[str]]:
    script = (
        f"JSON.stringify([...document.getElementById('{slider}-table').tBodies[0].rows]"
        ".map(row => [...row.cells].slice(1).map(cell => cell.textContent)))"
    )
    found: list[list[str]] = json.loads(tab.run(script))
    return found


def _said(tab: Tab, slider: str) -> str:
    return str(tab.run(f"document.getElementById('{slider}-said').textContent"))


# ------------------------------------------------------------------------------------ quiet and alone


@pytest.mark.parametrize("name", CASES)
def test_no_complaint_no_request_no_dialogue_no_overflow(browser: Browser, pages: dict[str, Path], name: str) -> None:
    tab = Tab(browser, width=390).open(pages[name])
    assert tab.complaints() == []
    assert [address for address in tab.requests() if not address.startswith("data:")] == [pages[name].as_uri()]
    assert not [event for event in browser.events if event.get("method") == "Page.javascriptDialogOpening"]
    # A narrow screen scrolls tables, not the page.
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")
    assert tab.run("document.querySelectorAll('script').length") == 3


def test_names_arrive_as_text(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser).open(pages["evil"])
    assert EVIL["outcome"] in tab.run("document.querySelector('h1').textContent")
    assert EVIL["group"] in tab.run("document.title")
    assert tab.run("document.querySelectorAll('main img, main script').length") == 0


def test_the_policy_lets_no_other_script_run_and_nothing_be_fetched(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser).open(pages["clinic"])
    tab.run(
        "{ const one = document.createElement('script'); one.textContent = 'window.ran = true';"
        " document.body.append(one); const two = document.createElement('div');"
        " two.innerHTML = '<img src=x onerror=\"window.ran = true\">'; document.body.append(two); }"
    )
    # A reserved name, so that nobody is asked even if the policy failed.
    assert tab.run("fetch('http://softlabel.invalid/').then(() => 'fetched', () => 'refused')") == "refused"
    assert tab.run("window.ran === undefined")
    assert sum("Content Security Policy" in each for each in tab.complaints()) >= 3


# ---------------------------------------------------------------------------------------- the sliders


def test_the_threshold_slider_is_moved_by_keys_to_the_numbers_of_the_diagnosis(
    browser: Browser, pages: dict[str, Path]
) -> None:
    d = case("clinic")
    tab = Tab(browser).open(pages["clinic"])
    tab.run("document.getElementById('threshold-slider').focus()")
    _press(tab, "Home", 36)
    every = sorted({*d.settings.thresholds, *d.settings.confident})
    seen = []
    for t in every:
        assert tab.run("document.getElementById('threshold-value').textContent") == f"{t:g}"
        assert tab.run("document.getElementById('threshold-slider').getAttribute('aria-valuetext')") == f"{t:g}"
        hard, deattenuated, confident = _cells(tab, "threshold")
        if t in d.settings.thresholds:
            row, kappa = d.estimate("hard", threshold=t), d.kappa["kappa"][d.kappa["threshold"].index(t)]
            assert hard[:3] == [number(row.estimate), interval_text(row.interval), number(kappa)]
            assert deattenuated[0] == number(d.estimate("deattenuated", threshold=t).estimate)
            assert number(row.estimate) in _said(tab, "threshold")
        else:
            assert hard[0] == "not asked for"
        if t in d.settings.confident:
            row = d.estimate("confident", threshold=t)
            assert confident[:2] == [number(row.estimate), interval_text(row.interval)]
        seen.append(tab.run("document.querySelector('.pointer[data-slider=threshold]').getAttribute('transform')"))
        _press(tab, "ArrowRight", 39)
    # The line in the figure follows.
    assert len(set(seen)) == len(every)


def test_the_drift_slider_bounds_what_the_diagnosis_bounds(browser: Browser, pages: dict[str, Path]) -> None:
    d = case("clinic")
    tab = Tab(browser).open(pages["clinic"])
    for place in (0, 1, 10, 37, 60):
        tab.run(
            "{ const slider = document.getElementById('drift-slider');"
            f" slider.value = {place}; slider.dispatchEvent(new Event('input')); }}"
        )
        rows = d.drift(place / 200)
        for cells, row in zip(_cells(tab, "drift"), rows, strict=True):
            for shown, ends in ((cells[0], (row.ci_low, row.ci_high)), (cells[1], (row.low, row.high))):
                assert shown == ("any" if None in ends else interval_text(ends))  # type: ignore[arg-type]
        soft = rows.rows[0]
        if soft.ci_low is not None:
            assert number(soft.ci_low) in _said(tab, "drift")
    # The pointer stands at 0.3 on the axis of the figure: checked by the figure's own ticks.
    at = tab.run(
        "(() => { const p = document.querySelector('.pointer[data-slider=drift]');"
        " const { low, high, left, width } = p.dataset;"
        " const found = Number(p.getAttribute('transform').match(/[\\d.]+/)[0]);"
        " return [found, +left + (0.3 - low) / (high - low) * width]; })()"
    )
    assert at[0] == pytest.approx(at[1], rel=1e-12)


def test_one_threshold_is_a_slider_that_stands_still_and_none_is_none(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser).open(pages["one threshold"])
    assert tab.run("document.getElementById('threshold-slider').disabled")
    assert "(0.9)" in _said(tab, "threshold")
    tab = Tab(browser).open(pages["no threshold"])
    assert tab.run("document.getElementById('threshold-slider')") is None
    assert tab.complaints() == []


def test_without_script_the_page_shows_where_the_sliders_start(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser)
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.open(pages["clinic"])
    tab.call("Emulation.setScriptExecutionDisabled", value=False)
    assert tab.run("document.getElementById('theme').hidden")
    assert number(case("clinic").estimate("hard", threshold=0.9).estimate) in _said(tab, "threshold")


# -------------------------------------------------------------------------------- keyboard and reader


def test_the_first_key_skips_to_the_verdict(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser).open(pages["clinic"])
    _press(tab, "Tab", 9)
    assert tab.run("document.activeElement.className") == "skip"
    tab.call(
        "Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r"
    )  # fmt: skip
    assert tab.run("document.activeElement.id") == "main"
    assert tab.run("getComputedStyle(document.querySelector('#theme')).outlineStyle") == "none"
    tab.run("document.activeElement.blur()")
    _press(tab, "Tab", 9)
    assert tab.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_word_tells_its_meaning_on_focus_until_escape(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser).open(pages["clinic"])
    after = "getComputedStyle(document.querySelector('#estimates tbody .term'), '::after').content"
    assert tab.run(after) == "none"
    tab.run("document.querySelector('#estimates tbody .term').focus()")
    assert "labelled rows alone" in tab.run(after)
    _press(tab, "Escape", 27)
    assert tab.run(after) == "none"
    tab.run("document.querySelector('#estimates tbody .term').blur()")
    tab.run("document.querySelector('#estimates tbody .term').focus()")
    assert "labelled rows alone" in tab.run(after)


def test_light_and_dark_by_preference_and_by_choice(browser: Browser, pages: dict[str, Path]) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 26)"
    for prefers, first, then in ((False, light, dark), (True, dark, light)):
        tab = Tab(browser, dark=prefers).open(pages["clinic"])
        assert tab.run(ground) == first
        tab.run("document.getElementById('theme').click()")
        assert tab.run(ground) == then
        tab.run("document.getElementById('theme').click()")
        assert tab.run(ground) == first


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [("clinic", 1280, False), ("nulls", 1280, True), ("evil", 390, True), ("unlabelled", 390, False)],
)
def test_axe_finds_nothing(browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool) -> None:
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core is not installed: make extras")
    tab = Tab(browser, width=width, dark=dark).open(pages[name])
    tab.run((Path(package.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    # Folded tables too, but one is as good as all: axe looks at every cell.
    tab.run("document.querySelector('figure details').open = true")
    found = json.loads(tab.run("axe.run().then(found => JSON.stringify([found.violations, found.passes.length]))"))
    assert found[0] == []
    assert found[1] > 30


# ---------------------------------------------------------------------------------------------- paper


def test_the_page_prints_on_a4_with_everything_unfolded(browser: Browser, pages: dict[str, Path]) -> None:
    tab = Tab(browser, dark=True).open(pages["clinic"])
    printed = tab.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
    pdf = base64.b64decode(printed["data"])
    # 210 by 297 mm are 595.3 by 841.9 points.
    boxes = {tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([^\]]+)\]", pdf)}
    ((_, _, wide, high),) = boxes
    assert [wide, high] == pytest.approx([595.3, 841.9], abs=1)
    assert 4 <= len(re.findall(rb"/Type /Page\b", pdf)) <= 14
    # What was unfolded for paper is folded again.
    assert tab.run("document.querySelectorAll('details[open]').length") == 0
    tab.call("Emulation.setEmulatedMedia", media="print")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    hidden = "['nav', '#theme', '.live input', '#save'].map(s => getComputedStyle(document.querySelector(s)).display)"
    assert tab.run(hidden) == ["none"] * 4
