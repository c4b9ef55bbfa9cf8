"""The reference: a page for each kind of public name, made of signatures and docstrings."""

import contextlib
import inspect
import io
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import softlabel as sl
from softlabel import results
from softlabel.cli import main
from tools.docs.prose import markdown

__all__ = ["GROUPS", "commands", "documented", "pages"]

_TOP = "softlabel"

_WIDE = 100

# Records that a caller makes; the others come out of calls.
_MADE = ("Basis", "simulate.PaperDesign", "simulate.Diagnosing")

# Pages of the reference, in the order of the site: file, title, what it opens with, names.
GROUPS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "diagnose",
        "A table in, a verdict out",
        "What the data can answer, what the effect is, and several answers side by side.",
        ("diagnose", "check", "compare", "Diagnosis", "Checkup", "Comparison", "Estimate", "Basis"),
    ),
    (
        "scores",
        "Features in, scores out",
        "From what a classifier may see to a probability one may regress on.",
        ("score", "Scores", "ScoreReport"),
    ),
    ("plan", "Labels to buy", "How many labelled rows a standard error costs.", ("plan", "Plan")),
    (
        "arrays",
        "Estimators on arrays",
        "The estimators one by one, on plain arrays and without a table.",
        ("soft", "hard", "confident", "supervised", "attenuation", "adaptive_attenuation"),
    ),
    (
        "results",
        "Parts of a Diagnosis",
        "Frozen records, all in `softlabel.results`. Those that come several at once come in a `Table`.",
        tuple(f"results.{name}" for name in results.__all__ if name not in sl.__all__),
    ),
    (
        "simulate",
        "Simulated studies",
        "Designs whose truth is known, and a runner for many samples of them: `softlabel.simulate`.",
        tuple(f"simulate.{name}" for name in sl.simulate.__all__ if name not in ("CLINIC_TRUTH", "Experiment")),
    ),
    (
        "datasets",
        "Real data",
        "Data with the true group in every row: `softlabel.datasets`.",
        tuple(f"datasets.{name}" for name in sl.datasets.__all__ if name != "NAMES"),
    ),
    (
        "errors",
        "Errors",
        "One tree; every message says what was expected, what came and what to do.",
        ("SoftlabelError", "InputError", "DataError", "SourceError", "SourceChanged", "StateError"),
    ),
)


def documented() -> dict[str, str]:
    """Return where each name is explained: page and anchor."""
    found = {}
    for page, _, _, names in GROUPS:
        for name in names:
            found[name] = found[f"{_TOP}.{name}"] = f"{page}.md#{_anchor(name)}"
            found.setdefault(name.rpartition(".")[2], found[name])
    return found


def pages() -> Iterator[tuple[str, str]]:
    """Yield file names and texts of the whole reference."""
    where = documented()
    yield "index.md", _index(where)
    for page, title, opening, names in GROUPS:
        body = "\n".join(_entry(name, where) for name in names)
        yield f"{page}.md", f"# {title}\n\n{opening}\n\n{body}"
    yield "commands.md", _commands_page()


def _index(where: dict[str, str]) -> str:
    lines = ["# Reference", "", "Every public name, from its docstring. Examples run in the tests.", ""]
    for page, title, _, names in GROUPS:
        lines += [f"## [{title}]({page}.md)", "", "| name | what it is |", "|---|---|"]
        lines += [f"| [`{name}`]({where[name]}) | {_first(_object(name))} |" for name in names]
        lines.append("")
    lines += ["## [The command line](commands.md)", "", "What `softlabel --help` and the help of each command say."]
    return "\n".join(lines) + "\n"


def _object(name: str) -> Any:
    found: Any = sl
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _first(one: Any) -> str:
    """Return the first sentence of a docstring."""
    first = inspect.cleandoc(one.__doc__ or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
    return first.replace("|", "\\|").replace("*", "\\*")


def _entry(name: str, where: dict[str, str]) -> str:
    """Return one name: heading, signature, docstring, and the methods of a class."""
    one = _object(name)
    lines = [f"## `{name}` {{ #{_anchor(name)} }}", ""]
    if not _is_error(one) and (name in _MADE or not is_dataclass(one)):
        lines += [f"```python\n{_signature(name, one)}\n```", ""]
    elif is_dataclass(one):
        lines += [f"```python\n{_held(one)}\n```", ""]
    lines.append(markdown(one.__doc__ or "", where.get))
    if inspect.isclass(one) and not _is_error(one):
        for method, member in _members(one):
            kind = "" if isinstance(member, property) else _signature(method, member)
            lines += [f"### `{name}.{method}`", "", *([f"```python\n{kind}\n```", ""] if kind else [])]
            lines.append(markdown(member.__doc__ or "", where.get))
    return "\n".join(lines)


def _held(one: Any) -> str:
    """Return what a record holds, a field to the line."""
    return "\n".join([f"class {one.__name__}:", *(f"    {each.name}: {_kind(each.type)}" for each in fields(one))])


def _is_error(one: Any) -> bool:
    return inspect.isclass(one) and issubclass(one, Exception)


def _members(one: type) -> Iterator[tuple[str, Any]]:
    """Yield public methods and properties of a class, in the order they are written."""
    for name, member in vars(one).items():
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if not name.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
            yield name, plain


def _signature(name: str, one: Any) -> str:
    """Return a signature, an argument to the line where it is long, without what is there only to be refused."""
    signature = inspect.signature(one)
    arguments = [each for each in signature.parameters.values() if each.name != "self"]
    said = [_argument(each) for each in arguments if each.kind is not each.VAR_KEYWORD]
    named = [each.kind is each.KEYWORD_ONLY for each in arguments]
    if True in named:
        said.insert(named.index(True), "*")
    back = (
        ""
        if signature.return_annotation in (signature.empty, None, "None")
        else f" -> {_kind(signature.return_annotation)}"
    )
    short = f"{name}({', '.join(said)}){back}"
    return short if len(short) <= _WIDE else "\n".join([f"{name}(", *(f"    {each}," for each in said), f"){back}"])


def _argument(each: inspect.Parameter) -> str:
    text = each.name if each.annotation is each.empty else f"{each.name}: {_kind(each.annotation)}"
    return text if each.default is each.empty else f"{text} = {each.default!r}"


def _kind(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _anchor(name: str) -> str:
    return name.replace(".", "-").lower()


def commands() -> tuple[str, ...]:
    """Return the names of the commands."""
    from softlabel.cli.parser import build

    return tuple(build(lambda _: None)[1])


def _commands_page() -> str:
    lines = ["# The command line", "", f"```text\n{_help()}\n```", ""]
    for command in commands():
        lines += [f"## `softlabel {command}`", "", f"```text\n{_help(command)}\n```", ""]
    return "\n".join(lines)


def _help(*command: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return said.getvalue().rstrip()
