"""Build the documentation: `make docs`. `python -m tools.docs notebooks` runs the notebooks and stores their outputs.

Pages are gathered in build/docs: those of docs/ as they are, notebooks as pages, the reference from the docstrings.
Zensical turns them into site/, strictly; then every link is followed within it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from tools.docs.links import broken
from tools.docs.notebooks import as_markdown, execute, read, write
from tools.docs.reference import pages

ROOT = Path(__file__).parents[2]
SOURCE, STAGED, SITE = ROOT / "docs", ROOT / "build" / "docs", ROOT / "site"
NOTEBOOKS = SOURCE / "notebooks"


def stage() -> None:
    """Gather every page below build/docs."""
    shutil.rmtree(STAGED, ignore_errors=True)
    shutil.copytree(SOURCE, STAGED, ignore=shutil.ignore_patterns("*.ipynb"))
    for path in STAGED.rglob("*.md"):
        # An empty line of output, as examples that run must write it.
        path.write_text(path.read_text(encoding="utf-8").replace("<BLANKLINE>\n", "\n"), encoding="utf-8")
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        target = STAGED / "tutorials" / f"{path.stem}.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(as_markdown(read(path)), encoding="utf-8")
    reference = STAGED / "reference"
    reference.mkdir()
    for name, text in pages():
        (reference / name).write_text(text.replace("<BLANKLINE>\n", "\n"), encoding="utf-8")


def build() -> int:
    """Build the site and return 0, or how many links are broken."""
    stage()
    shutil.rmtree(SITE, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--strict",
        "--clean",
        "--config-file",
        str(ROOT / "mkdocs.yml"),
    ]
    if subprocess.run(command, check=False, cwd=ROOT).returncode:
        return 1
    wrong = broken(SITE)
    for line in wrong:
        print(f"broken: {line}", file=sys.stderr)
    count = len(list(SITE.rglob("*.html")))
    print(f"{count} pages in {SITE.name}/; open its index.html, or serve it for the search")
    return len(wrong)


def store() -> int:
    """Run every notebook and store it with its outputs."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        write(path, execute(read(path)))
    return 0


if __name__ == "__main__":
    sys.exit(min(1, store() if sys.argv[1:] == ["notebooks"] else build()))
