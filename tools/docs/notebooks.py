"""Notebooks: run without a kernel, stored with their outputs, and shown as pages.

A cell is Python and nothing else; what it prints, and what its last line comes to, is its output. A table or a
Diagnosis shows its HTML beside its text.
"""

import ast
import contextlib
import io
import json
import re
from html import escape
from pathlib import Path
from typing import Any

__all__ = ["as_markdown", "execute", "outputs_of", "read", "write"]

Notebook = dict[str, Any]


def read(path: Path) -> Notebook:
    """Return a notebook."""
    found: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(path: Path, notebook: Notebook) -> None:
    """Store a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def execute(notebook: Notebook) -> Notebook:
    """Return the notebook with the outputs of its cells, run in order in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
            continue
        count += 1
        cells.append({**cell, "execution_count": count, "outputs": _run("".join(cell["source"]), names, count)})
    return {**notebook, "cells": cells}


def _run(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the outputs of one cell."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    value = None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        if isinstance(last, ast.Expr):
            body = ast.Module(tree.body[:-1], type_ignores=[])
            exec(compile(body, f"cell {count}", "exec"), names)  # noqa: S102 -- its purpose
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)  # noqa: S307
        else:
            exec(compile(tree, f"cell {count}", "exec"), names)  # noqa: S102
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(str(value) if hasattr(value, "_repr_html_") else repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), "text/plain": [f"<{type(value).__name__}>"]}
        shown = {"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"}
        outputs.append(shown)
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def outputs_of(notebook: Notebook) -> list[list[str]]:
    """Return what the cells of code put out, as text."""
    return [
        [
            "".join(one.get("text") or one["data"].get("text/html") or one["data"]["text/plain"])
            for one in cell["outputs"]
        ]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def as_markdown(notebook: Notebook) -> str:
    """Return a notebook as a page: its text, its code, and below each cell what it put out."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for one in cell["outputs"]:
            html = one.get("data", {}).get("text/html")
            text = "".join(html or one.get("text") or one["data"]["text/plain"]).rstrip()
            plain = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL) if html else f"<pre>{escape(text)}</pre>"
            parts.append(f'<div class="output">\n{plain}\n</div>')
    return "\n\n".join(parts) + "\n"
