"""Links: each leads somewhere, and nothing that a page shows is fetched from elsewhere."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken", "broken_markdown"]

# Elements and attributes whose target a browser fetches to show the page.
_FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
_FETCHED_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "manifest"}
_IN_STYLE = re.compile(r"@import\s+[\"']?(https?:|//)|url\(\s*[\"']?(https?:|//)")
_MARKDOWN_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)


@dataclass
class _Page(HTMLParser):
    """What a page offers and what it asks for."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, links and what is fetched."""
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and set(given.get("rel", "").split()) & _FETCHED_RELATIONS:
            self.fetched.append(given.get("href", ""))
        if tag in _FETCHED and given.get(_FETCHED[tag]):
            self.fetched.append(given[_FETCHED[tag]])


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(site: Path) -> list[str]:
    """Return every link of a built site that leads nowhere, and everything that it would fetch from elsewhere."""
    pages = {path.resolve(): _read(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        # The page for what is not there is shown at any address, so its links begin at the root.
        if name == "404.html":
            continue
        found += [f"{name}: fetches {link}" for link in page.fetched if _elsewhere(link)]
        for link in (*page.links, *page.fetched):
            if not _elsewhere(link) and (why := _missing(path, link, pages)):
                found.append(f"{name}: {link}: {why}")
    for style in sorted(site.rglob("*.css")):
        if _IN_STYLE.search(style.read_text(encoding="utf-8")):
            found.append(f"{style.relative_to(site).as_posix()}: fetches from elsewhere")
    return found


def _elsewhere(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in ("", "file")


def _missing(path: Path, link: str, pages: dict[Path, _Page]) -> str | None:
    """Say why a link from a page leads nowhere, or return nothing."""
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return "no such place on the page"
    return None


def broken_markdown(document: Path) -> list[str]:
    """Return the links of a Markdown file that lead to no file beside it; web addresses are not followed."""
    text = _FENCED.sub("", document.read_text(encoding="utf-8"))
    links = [urlsplit(link) for link in _MARKDOWN_LINK.findall(text)]
    inside = [unquote(one.path) for one in links if not one.scheme and not one.netloc and one.path]
    return [path for path in inside if not (document.parent / path).exists()]
