"""Every example of the documents runs and prints what it says.

In README.md and below docs/, each block fenced as `python`, `pycon` or `console` is run, in the order of the
document and in one empty directory, so that a block may use the names and the files of those before it:

* `python`: runs. Where it holds `>>>` prompts, the output must be the one shown.
* `pycon`: the same, always with prompts.
* `console`: each `$ softlabel ...` or `$ python ...` line runs through the shell, must end with exit code 0
  and print, on either stream, what is shown below it. Where it shall fail: `$ softlabel ...; echo $?`.
  Other commands (`$ make test`) are not run.

Outputs may differ in white space, and `...` stands for any text. What is not to be run is fenced as `text` or
`sh`.
"""

import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(ROOT.glob("README.md")) + sorted(ROOT.glob("docs/**/*.md"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```[ \t]*$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def _blocks(document: str) -> list[Block]:
    return [
        Block(language=found[1], text=found[2], line=document.count("\n", 0, found.start(2)) + 1)
        for found in FENCE.finditer(document)
    ]


def _commands(block: Block) -> list[tuple[str, str]]:
    """Split a console block into commands and the output shown for each."""
    joined = block.text.replace("\\\n", "")
    pairs: list[tuple[str, str]] = []
    for line in joined.splitlines(keepends=True):
        if line.startswith("$ "):
            pairs.append((line[2:].strip(), ""))
        elif pairs:
            command, shown = pairs[-1]
            pairs[-1] = (command, shown + line)
        elif line.strip():
            pytest.fail(f"line {block.line}: output before the first command of a console block")
    return pairs


def _run_console(block: Block) -> None:
    programs = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": programs + os.pathsep + os.environ.get("PATH", ""),
        "COLUMNS": "100",
        "MPLBACKEND": "Agg",
    }
    for command, shown in _commands(block):
        if command.split(maxsplit=1)[0] not in {"softlabel", "python"}:
            continue
        run = subprocess.run(  # noqa: S602 -- a reader types it into a shell as well
            command,
            shell=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        where = f"line {block.line}: $ {command}"
        assert run.returncode == 0, f"{where}\nended with exit code {run.returncode}:\n{run.stdout}"
        if shown.strip():
            same = doctest.OutputChecker().check_output(shown, run.stdout, FLAGS)
            assert same, f"{where}\nshown:\n{shown}\nprinted:\n{run.stdout}"


def _run_python(block: Block, names: dict[str, object], title: str) -> None:
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, title, "exec"), names)  # noqa: S102 -- its purpose
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, title, title, block.line - 1)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)  # the parser copied them
    assert not said, "".join(said)


def _run_document(document: str, title: str) -> int:
    """Run the blocks of a document in the current directory and return how many were run."""
    names: dict[str, object] = {"__name__": "__main__"}
    blocks = [block for block in _blocks(document) if block.language in {"python", "pycon", "console"}]
    for block in blocks:
        if block.language == "console":
            _run_console(block)
        else:
            _run_python(block, names, title)
    return len(blocks)


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_of(path: Path) -> None:
    ran = _run_document(path.read_text(encoding="utf-8"), path.name)
    if path.name == "README.md":
        assert ran > 0, "README.md shows no example that runs"


GOOD = """
```python
from pathlib import Path
word = "soft"
Path("word.txt").write_text(word)
```
Then:
```pycon
>>> word + "label"
'softlabel'
```
```console
$ python -c "import pathlib; print(pathlib.Path('word.txt').read_text()); \\
    print('one', 'two')"
soft
one   ...
$ a-command-that-is-not-run
```
```text
>>> 1 / 0
```
"""


def test_the_runner_runs_what_it_says() -> None:
    assert _run_document(GOOD, "good.md") == 3


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("```pycon\n>>> 1 + 1\n3\n```\n", "Expected:"),
        ("```python\n>>> 1 / 0\n```\n", "ZeroDivisionError"),
        ("```console\n$ python -c 'print(2)'\n3\n```\n", "printed:"),
        ("```console\n$ python -c 'raise SystemExit(2)'\n```\n", "exit code 2"),
    ],
)
def test_the_runner_sees_what_is_wrong(block: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        _run_document(block, "bad.md")


def test_the_runner_lets_errors_of_plain_blocks_through() -> None:
    with pytest.raises(ZeroDivisionError):
        _run_document("```python\n1 / 0\n```\n", "bad.md")
