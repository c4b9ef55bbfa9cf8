"""The page: one file that needs no network, for people who must show others why."""

from __future__ import annotations

import base64
import hashlib
import os
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from softlabel.report.files import write_whole
from softlabel.report.html import provenance, sections
from softlabel.report.html.elements import Markup, data_block, text
from softlabel.report.html.live import Slider, drift_slider, threshold_slider
from softlabel.results import Diagnosis

__all__ = ["page", "write_html"]

_CONTENTS = (
    ("verdict", "Verdict"),
    ("estimates", "Estimates"),
    ("thresholds", "Thresholds"),
    ("assumptions", "Assumptions"),
    ("score", "Score"),
    ("drift", "Drift"),
    ("rows", "Rows"),
    ("reproduce", "Settings"),
    ("words", "Words"),
)


def write_html(diagnosis: Diagnosis, path: str | os.PathLike[str]) -> None:
    """Write a Diagnosis as one page, whole or not at all."""
    # What is no character, half a pair in a column's name say, is shown as a question mark.
    content = page(diagnosis).encode("utf-8", "replace")

    def write(target: Path) -> None:
        target.write_bytes(content)

    write_whole(path, write)


def page(d: Diagnosis) -> str:
    """Return a Diagnosis as HTML.

    Nothing is fetched, and the page's own policy forbids it: only its own style and its own script run, known by their
    hashes. Names and texts from the data are escaped wherever they stand.
    """
    style, script = _asset("page.css"), _asset("page.js")
    at_threshold, at_drift = threshold_slider(d), drift_slider(d)
    title = f"The effect of {d.settings.group or 'the group'} on {d.settings.outcome}"
    body = [
        sections.verdict(d),
        sections.estimates(d),
        sections.thresholds(d, at_threshold),
        sections.checks(d),
        sections.score(d),
        sections.drift(d, at_drift),
        provenance.scoring(d),
        provenance.sample(d),
        provenance.notes(d),
        provenance.reproduction(d),
        provenance.glossary(),
    ]
    inside = "\n".join(part for part in body if part)
    links = "".join(f'<li><a href="#{name}">{label}</a></li>' for name, label in _CONTENTS)
    made_by = dict(d.sample.versions).get("softlabel", "")
    live = {"threshold": _live(at_threshold), "drift": _live(at_drift)}
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            f"<title>{text(title)} · softlabel</title>\n",
            '<link rel="icon" href="data:,">\n',
            f"<style>{style}</style>\n</head>\n<body>\n",
            '<a class="skip" href="#main">Skip to the verdict</a>\n',
            '<header><p class="brand">softlabel · diagnosis</p>',
            f"<h1>{text(title)}</h1>",
            '<button type="button" id="theme" hidden>Dark</button>',
            f'<nav aria-label="On this page"><ul>{links}</ul></nav></header>\n',
            f'<main id="main" tabindex="-1">{inside}</main>\n',
            f"<footer><p>Made by softlabel {text(made_by)}. ",
            "This page is one file: it needs no network and sends nothing.</p></footer>\n",
            data_block("live", live),
            data_block("diagnosis", d.to_json()),
            f"\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _live(slider: Slider) -> list[dict[str, object]]:
    return [asdict(place) for place in slider.places]


def _asset(name: str) -> Markup:
    return Markup(files("softlabel.report.html").joinpath(name).read_text(encoding="utf-8"))


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
