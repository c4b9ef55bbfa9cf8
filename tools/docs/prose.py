"""Docstrings as Markdown: sections, parameters, formulas, examples."""

import re
from collections.abc import Callable, Iterator
from inspect import cleandoc

__all__ = ["formula", "markdown", "sections"]

_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}[ \t]*$", flags=re.MULTILINE)
_LISTED = ("Parameters", "Attributes", "Returns", "Raises", "Yields")
_DISPLAY = re.compile(r"^\.\. math::(?P<first>[^\n]*)\n(?P<rest>(?:[ \t]+[^\n]*\n|[ \t]*\n)*)", flags=re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]+)`")
_CODE = re.compile(r"``(.+?)``")
_EMPHASIS = re.compile(r"(?<!\w)\*(?=\S)([^*]+?)(?<=\S)\*(?!\w)")
_NAME = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")

# Where a name in single backticks leads, or nothing.
Finder = Callable[[str], str | None]


def sections(docstring: str) -> list[tuple[str, str]]:
    r"""Return the titled parts of a docstring in numpy's layout; the first has no title.

    >>> sections('''Add.
    ...
    ... Returns
    ... -------
    ... int
    ...     The sum.
    ... ''')
    [('', 'Add.'), ('Returns', 'int\n    The sum.')]
    """
    text = cleandoc(docstring)
    found = list(_SECTION.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    parts = [("", text[: found[0].start()] if found else text)]
    parts += [(one["title"], text[one.end() : end]) for one, end in zip(found, ends, strict=True)] if found else []
    return [(title, body.strip("\n").rstrip()) for title, body in parts]


def markdown(docstring: str, find: Finder) -> str:
    """Return a docstring as Markdown."""
    lines = []
    for title, body in sections(docstring):
        if title:
            lines.append(f"**{title}**\n")
        if title in _LISTED:
            lines.append("\n".join(_listed(body, find)))
        elif title == "Examples":
            lines.append(_examples(body, find))
        else:
            lines.append(_prose(body, find))
    return "\n".join(f"{line}\n" for line in lines)


def _listed(body: str, find: Finder) -> Iterator[str]:
    """Yield names, and below each what it is, as a list of definitions."""
    for entry in re.split(r"\n(?=\S)", body):
        head, _, rest = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        yield f"`{names.strip()}`{f' · {_escaped(kind)}' if kind else ''}"
        said = _prose(cleandoc(rest), find) or " "
        yield ":   " + said.replace("\n", "\n    ") + "\n"


def _examples(body: str, find: Finder) -> str:
    """Return examples as blocks of code, with what is said between them."""
    parts = []
    for block in re.split(r"\n\s*\n", body):
        lines = block.splitlines()
        starts = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
        said, shown = "\n".join(lines[:starts]), "\n".join(lines[starts:])
        parts += [_prose(said, find)] if said.strip() else []
        parts += [f"```pycon\n{shown}\n```"] if shown else []
    return "\n\n".join(parts)


def _prose(text: str, find: Finder) -> str:
    """Return running text with formulas set, code marked and names linked."""
    kept: list[str] = []

    def keep(html: str) -> str:
        kept.append(html)
        return f"\x00{len(kept) - 1}\x00"

    text = _DISPLAY.sub(lambda m: keep(f"\n{formula(m['first'] + m['rest'], display=True)}\n") + "\n", text + "\n")
    text = _INLINE.sub(lambda m: keep(formula(m[1])), text)
    text = _CODE.sub(lambda m: keep(f"`{m[1]}`"), text)
    text = _NAME.sub(lambda m: keep(_named(m[1], find)), text)
    text = _EMPHASIS.sub(lambda m: keep(f"*{_escaped(m[1])}*"), text)
    text = _escaped(text)
    return re.sub(r"\x00(\d+)\x00", lambda m: kept[int(m[1])], text).strip("\n")


def _named(name: str, find: Finder) -> str:
    where = find(name)
    return f"`{name}`" if where is None else f"[`{name}`]({where})"


def _escaped(text: str) -> str:
    return text.replace("*", r"\*").replace("<", "&lt;").replace("[", r"\[")


def formula(latex: str, *, display: bool = False) -> str:
    """Return a formula as MathML, which browsers draw without help.

    >>> formula("a^2")[:6]
    '<math '
    """
    from latex2mathml.converter import convert

    one_line = " ".join(latex.split())
    html = convert(one_line, display="block" if display else "inline").replace("*", "&#42;").replace("_", "&#95;")
    return f'<div class="formula">{html}</div>' if display else html
