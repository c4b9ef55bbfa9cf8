"""Figures as matplotlib draws them: whole, in the frame, in one column, legible in grey, and nothing left behind."""

import io
import itertools
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest

from softlabel.report.figures import DRAWINGS
from softlabel.report.figures.marks import LOOKS
from softlabel.report.style import COLOURS
from tests.report.cases import case

mpl.use("Agg")
FIGURES = tuple(DRAWINGS)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("which", ["clinic", "unlabelled", "evil"])
def test_a_new_figure_is_one_column_wide_and_nothing_leaves_it(name: str, which: str) -> None:
    axes = getattr(case(which).plot, name)()
    figure = axes.figure
    assert figure.get_size_inches()[0] == pytest.approx(3.4)
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    renderer = figure.canvas.get_renderer()
    shown = [text for text in figure.findobj(mpl.text.Text) if text.get_text() and text.get_visible()]
    for text in shown:
        box = text.get_window_extent(renderer)
        # Half a pixel is rounding.
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= width + 0.5, text
        assert box.y1 <= height + 0.5, text
    for each in figure.axes:
        assert each.get_xlabel() or not each.axison


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("which", ["unlabelled", "nulls", "evil", "no threshold"])
def test_a_figure_is_drawn_whatever_is_lacking(name: str, which: str) -> None:
    axes = getattr(case(which).plot, name)()
    axes.figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("name", FIGURES)
def test_axes_that_are_given_are_drawn_into_and_given_back(name: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert getattr(case("clinic").plot, name)(ax=right) is right
    assert len(figure.axes) == 2
    assert right.has_data()
    assert not left.has_data()


def test_matplotlib_is_left_as_it_was() -> None:
    with mpl.rc_context({"font.size": 23.0, "axes.labelsize": 31.0}):
        before = dict(mpl.rcParams)
        axes = case("clinic").plot.kappa()
        assert dict(mpl.rcParams) == before
        assert axes.xaxis.label.get_fontsize() == 8.0


def test_the_numbers_are_where_they_are_drawn() -> None:
    d = case("clinic")
    kappa = d.plot.kappa()
    drawn = [np.asarray(line.get_xydata()) for line in kappa.get_lines() if line.get_marker() == "o"]
    expected = np.array([(row.threshold, row.kappa) for row in d.kappa])
    assert any(found.shape == expected.shape and np.allclose(found, expected, rtol=1e-12) for found in drawn)
    forest = d.plot.estimates()
    (chosen,) = [np.asarray(line.get_xydata()) for line in forest.get_lines() if line.get_marker() == "D"]
    assert chosen[0, 0] == d.verdict.estimate
    names = [text.get_text() for text in forest.get_yticklabels()]
    assert names[int(-chosen[0, 1])] == d.verdict.choice


def test_looks_differ_without_colour_and_by_colour_in_grey() -> None:
    series = ("first", "second", "third", "fourth", "fifth", "sixth")
    forms = [(LOOKS[name].marker, LOOKS[name].line) for name in series]
    assert len(set(forms)) == len(forms)
    # The three that are drawn most often differ in the grey that print makes of them (Rec. 709).
    weights = np.array([0.2126, 0.7152, 0.0722])
    grey = {
        colour: weights @ [int(COLOURS[colour][at : at + 2], 16) / 255 for at in (1, 3, 5)]
        for colour in ("blue", "green", "red")
    }
    assert min(abs(grey[a] - grey[b]) for a, b in itertools.combinations(grey, 2)) > 0.02


def test_dollars_are_no_mathematics() -> None:
    axes = case("evil").plot.estimates()
    assert "alert(1)" in axes.get_xlabel()
    axes.figure.canvas.draw()
