"""Charts: files that hold what was asked for, the same for the same numbers, and matplotlib left as it was."""

import re
import struct
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from softlabel.report.charts import LOOKS, Chart, Series, write_chart
from softlabel.report.style import COLOURS

CHART = Chart(
    name="toy",
    caption="A toy.",
    x_label="places",
    y_label="values",
    series=tuple(
        Series(
            f"look {at}", look, (1.0, 2.0, 4.0), (at + 1.0, at + 2.0, at + 1.5), (0.1, 0.2, 0.3), names=("a", "b", "c")
        )
        for at, look in enumerate(LOOKS)
    ),
    x_ticks=(1.0, 2.0, 4.0),
    x_scale="log",
)


def _pixels(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.asarray(mpl.image.imread(path))


def test_png_and_svg_are_whole_and_as_wide_as_a_column(tmp_path: Path) -> None:
    write_chart(CHART, tmp_path)
    png = (tmp_path / "toy.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (3.4 * 400, 3.0 * 400)
    svg = (tmp_path / "toy.svg").read_text(encoding="utf-8")
    # 3.4 inches are 244.8 points.
    assert re.search(r'<svg [^>]*width="244\.8pt" height="216pt"', svg)
    assert svg.rstrip().endswith("</svg>")


def test_something_is_drawn_inside_the_frame(tmp_path: Path) -> None:
    import matplotlib.image  # noqa: F401  (for _pixels)

    write_chart(CHART, tmp_path)
    full = _pixels(tmp_path / "toy.png")[..., :3]
    write_chart(replace(CHART, name="empty", series=(replace(CHART.series[0], y=(9.0, 9.0, 9.0)),)), tmp_path)
    assert np.ptp(full) == 1.0
    # Every colour of the looks, on more pixels than a legend's marker has.
    for style in LOOKS.values():
        colour = np.array([int(COLOURS[style.colour][at : at + 2], 16) for at in (1, 3, 5)]) / 255
        assert np.count_nonzero(np.abs(full - colour).max(axis=-1) < 0.01) > 500
    assert (tmp_path / "empty.png").stat().st_size < (tmp_path / "toy.png").stat().st_size


def test_looks_differ_in_grey_as_well() -> None:
    seen = [(style.marker, style.line, style.filled) for style in LOOKS.values()]
    assert len(set(seen)) == len(seen)


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        write_chart(CHART, folder)
    for ending in ("png", "svg"):
        assert (one / f"toy.{ending}").read_bytes() == (two / f"toy.{ending}").read_bytes()


def test_matplotlib_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mpl.rc_context({"font.size": 23.0, "axes.labelsize": 31.0}):
        before = dict(mpl.rcParams)
        write_chart(CHART, tmp_path)
        large = (tmp_path / "toy.png").read_bytes()
        assert dict(mpl.rcParams) == before
    write_chart(CHART, tmp_path)
    # And its user's settings change nothing.
    assert (tmp_path / "toy.png").read_bytes() == large
    # pyplot chooses a window system and keeps every figure: it must not be needed.
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    write_chart(CHART, tmp_path)


def test_limits_scales_and_lines_arrive(tmp_path: Path) -> None:
    variants = {
        "as it is": CHART,
        "limits": replace(CHART, y_limits=(0.0, 40.0)),
        "wider": replace(CHART, x_limits=(0.5, 9.0)),
        "log": replace(CHART, y_scale="log"),
        "ticks": replace(CHART, y_ticks=(1.0, 3.0)),
        "points": replace(CHART, series=tuple(replace(one, joined=False) for one in CHART.series)),
        "bare": replace(CHART, series=tuple(replace(one, reach=(), names=()) for one in CHART.series)),
        "higher": replace(CHART, height=4.0),
    }
    drawings = []
    for chart in variants.values():
        write_chart(chart, tmp_path)
        drawings.append((tmp_path / "toy.svg").read_bytes())
    assert len(set(drawings)) == len(variants)
