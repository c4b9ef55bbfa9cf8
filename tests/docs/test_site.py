"""The documentation: every public name explained, every page in the menu, every link leading somewhere."""

import doctest
import re
from collections.abc import Iterator
from inspect import cleandoc, isclass, isfunction
from pathlib import Path
from typing import Any

import pytest

import softlabel as sl
from softlabel import results
from tools.docs import prose
from tools.docs.links import broken, broken_markdown
from tools.docs.prose import markdown, sections
from tools.docs.reference import GROUPS, commands, documented, pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FORMULAS = ("soft", "hard", "confident", "attenuation", "adaptive_attenuation", "plan", "compare")
WRITTEN = [path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"] + sorted(DOCS.rglob("*.md"))


def _public() -> Iterator[tuple[str, Any]]:
    for name in sl.__all__:
        one = getattr(sl, name)
        if callable(one):
            yield name, one
    for room in ("simulate", "datasets"):
        module = getattr(sl, room)
        yield from ((f"{room}.{name}", getattr(module, name)) for name in module.__all__ if name.islower())


PUBLIC = dict(_public())
FUNCTIONS = [name for name, one in PUBLIC.items() if isfunction(one)]
CLASSES = [name for name, one in PUBLIC.items() if isclass(one) and not issubclass(one, Exception)]


def _parts(one: Any) -> dict[str, str]:
    return dict(sections(one.__doc__ or ""))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_say_what_they_take_and_show_an_example(name: str) -> None:
    parts = _parts(PUBLIC[name])
    assert parts[""].split(".")[0]
    assert ">>> " in parts.get("Examples", "")
    takes = PUBLIC[name].__code__.co_argcount + PUBLIC[name].__code__.co_kwonlyargcount
    assert not takes or "Parameters" in parts or takes == 1


@pytest.mark.parametrize("name", CLASSES)
def test_classes_say_what_they_hold_and_show_an_example(name: str) -> None:
    parts = _parts(PUBLIC[name])
    assert {"Attributes", "Parameters"} & set(parts)
    assert ">>> " in parts.get("Examples", "")


@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "compare"])
def test_estimators_have_their_equation_and_source(name: str) -> None:
    assert ".. math::" in PUBLIC[name].__doc__
    assert "References" in _parts(PUBLIC[name])


@pytest.mark.parametrize("name", ["soft", "hard", "confident", "supervised", "attenuation", "adaptive_attenuation"])
def test_functions_on_arrays_state_shapes(name: str) -> None:
    assert re.search(r"^\w[\w, ]* : \(n", _parts(PUBLIC[name])["Parameters"], flags=re.MULTILINE)


@pytest.mark.parametrize("kind", [getattr(results, name) for name in results.__all__])
def test_records_and_their_methods_are_explained(kind: type) -> None:
    assert kind.__doc__ is not None
    # What the decorator writes where nobody else did is the call.
    assert not kind.__doc__.startswith(f"{kind.__name__}(")
    for name, member in vars(kind).items():
        if not name.startswith("_") and (isfunction(member) or isinstance(member, property | classmethod)):
            assert (member.__func__ if isinstance(member, classmethod) else member).__doc__, f"{kind.__name__}.{name}"


# ------------------------------------------------------------------------------------------ reference


def test_every_public_name_is_in_the_reference() -> None:
    known = {name for _, _, _, names in GROUPS for name in names}
    top = {name for name in sl.__all__ if callable(getattr(sl, name))}
    assert top <= known
    assert {f"results.{name}" for name in results.__all__} - {f"results.{name}" for name in top} <= known
    for room in ("simulate", "datasets"):
        names = {name for name in getattr(sl, room).__all__ if callable(getattr(getattr(sl, room), name))}
        assert {f"{room}.{name}" for name in names} - {"simulate.Experiment"} <= known


def test_names_are_explained_where_the_links_lead() -> None:
    pytest.importorskip("latex2mathml", reason="latex2mathml, of the extra test, is missing: make test installs it")
    written = dict(pages())
    for name, where in documented().items():
        page, _, anchor = where.partition("#")
        assert f"{{ #{anchor} }}" in written[page], name
    assert all(f"## `softlabel {command}`" in written["commands.md"] for command in commands())
    assert ".. math" not in "".join(written.values())
    assert ":math:" not in "".join(written.values())


def test_examples_of_the_tool_run() -> None:
    pytest.importorskip("latex2mathml", reason="latex2mathml, of the extra test, is missing: make test installs it")
    found = doctest.testmod(prose)
    assert found.attempted > 0
    assert found.failed == 0


def test_docstrings_become_markdown() -> None:
    text = markdown(
        cleandoc(
            """Take V* of ``x``; see `soft` and `nothing`, E[p|X] < 1.

            Parameters
            ----------
            x : (n,)
                What *it* is:
                two lines.

            Examples
            --------
            Said first:

            >>> 1 + 1
            2
            """
        ),
        {"soft": "arrays.md#soft"}.get,
    )
    assert r"Take V\* of `x`; see [`soft`](arrays.md#soft) and `nothing`, E\[p|X] &lt; 1." in text
    assert "`x` · (n,)\n:   What *it* is:\n    two lines." in text
    assert "Said first:\n\n```pycon\n>>> 1 + 1\n2\n```" in text


# ---------------------------------------------------------------------------------------------- links


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_to_files(path: Path) -> None:
    made = re.compile(r"(^|/)(reference|tutorials)/\w+\.md$")  # pages that `make docs` makes, and follows
    assert [link for link in broken_markdown(path) if not made.search(link)] == []


def test_the_menu_has_every_page() -> None:
    menu = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    tutorials = {f"tutorials/{path.stem}.md" for path in DOCS.rglob("*.ipynb")}
    reference = {f"reference/{page}.md" for page in ("index", "commands", *(group[0] for group in GROUPS))}
    assert len(menu) == len(set(menu))
    assert set(menu) == written | tutorials | reference


def test_broken_links_and_fetched_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">1</a> <a href="b.html#gone">2</a> <a href="gone.html">3</a> <a href="#me" id="me">4</a>'
        '<a href="https://example.com/x">5</a> <a href="mailto:a@example.com">6</a>'
        '<script src="https://example.com/y.js"></script><link rel="stylesheet" href="//example.com/z.css">'
        '<link rel="canonical" href="https://example.com/">',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<h1 id="there"></h1><a href="a.html?x=1#me">1</a>', encoding="utf-8")
    (tmp_path / "c.css").write_text("@import 'https://example.com/font.css';", encoding="utf-8")
    (tmp_path / "d.css").write_text("a { background: url(data:image/png;base64,x) }", encoding="utf-8")
    assert broken(tmp_path) == [
        "a.html: fetches https://example.com/y.js",
        "a.html: fetches //example.com/z.css",
        "a.html: b.html#gone: no such place on the page",
        "a.html: gone.html: no such file",
        "c.css: fetches from elsewhere",
    ]


def test_links_in_code_are_no_links(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](gone.md) [b](page.md#x) [c](https://example.com)\n```\n[d](none.md)\n```\n", encoding="utf-8")
    assert broken_markdown(page) == ["gone.md"]
