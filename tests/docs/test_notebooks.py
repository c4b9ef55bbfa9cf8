"""The notebooks run, and put out what is stored in them."""

from pathlib import Path

import pytest

from tools.docs.notebooks import as_markdown, execute, outputs_of, read

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
SMALL = 64 * 1024


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["adult", "clinic"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_those_stored(path: Path) -> None:
    stored = read(path)
    assert outputs_of(execute(stored)) == outputs_of(stored)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_small_and_of_the_layout_that_jupyter_reads(path: Path) -> None:
    notebook = read(path)
    assert path.stat().st_size < SMALL
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all(cell["outputs"] for cell in code)


def test_cells_share_names_and_show_what_the_last_line_comes_to() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["x = 2\n", "print('said')\n", "x + 1"], "outputs": []},
        {"cell_type": "code", "source": ["y = x"], "outputs": []},
    ]
    done = execute({"cells": cells})
    assert outputs_of(done) == [["said\n", "3"], []]
    assert as_markdown(done).startswith("# Title\n\n```python\nx = 2\n")
    said, shown = ('<div class="output">\n<pre>' + each + "</pre>\n</div>\n" for each in ("said", "3"))
    assert f"{said}\n{shown}" in as_markdown(done)


def test_an_error_in_a_cell_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        execute({"cells": [{"cell_type": "code", "source": ["1 / 0"], "outputs": []}]})
