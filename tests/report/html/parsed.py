"""A page read back by the parser of the standard library: a tree, its ids, its tables, its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

__all__ = ["Node", "parsed"]

VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Node:
    """An element with its attributes and what is in it, elements and text."""

    tag: str
    attributes: dict[str, str | None]
    inside: list[Node | str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Node]:
        """Every element in it, in the order of the page."""
        for each in self.inside:
            if isinstance(each, Node):
                yield each
                yield from each

    def all(self, *tags: str) -> list[Node]:
        """Elements of these kinds in it."""
        return [node for node in self if node.tag in tags]

    def of_id(self, name: str) -> Node:
        """The one element of that id."""
        (found,) = [node for node in self if node.attributes.get("id") == name]
        return found

    def __getitem__(self, name: str) -> str:
        value = self.attributes[name]
        assert value is not None
        return value

    @property
    def text(self) -> str:
        """The text in it."""
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    @property
    def cells(self) -> list[list[str]]:
        """The text of a table's cells, row by row."""
        return [[cell.text for cell in row.all("td", "th")] for row in self.all("tr")]


class _Parser(HTMLParser):
    """Refuses what a browser would mend: elements that are not closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Node("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        node = Node(tag, dict(attrs))
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def parsed(page: str) -> Node:
    """Return the page as a tree; every element must be closed, in turn."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    assert parser.open == [parser.root]
    return parser.root
