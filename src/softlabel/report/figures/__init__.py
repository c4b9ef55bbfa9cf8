"""Figures of a Diagnosis: computed (`data`), laid out as marks (`shares`, `effects`), drawn by matplotlib (`axes`).

The page draws the same marks as SVG. `Diagnosis.plot` finds `plots` here by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from softlabel.report.figures.axes import draw
from softlabel.report.figures.data import FigureData
from softlabel.report.figures.effects import audit, drift, estimates, ladder
from softlabel.report.figures.marks import Drawing
from softlabel.report.figures.shares import forecast, kappa, reliability, score
from softlabel.results import Diagnosis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DRAWINGS", "FigureData", "Plots", "plots"]

DRAWINGS: Mapping[str, Callable[[Diagnosis], Drawing]] = {
    "kappa": kappa,
    "estimates": estimates,
    "reliability": reliability,
    "score": score,
    "forecast": forecast,
    "drift": drift,
    "ladder": ladder,
    "audit": audit,
}


class Plots:
    """The figures of one Diagnosis, each one column of a journal wide.

    Every method takes an ``ax`` of matplotlib, into which it draws the figure's first panel, or makes a new figure with
    all panels and returns the first one's axes; ``.figure.savefig(path)`` writes it. Without the numbers for it a
    figure says why. ``data.kappa()`` and so on return what is drawn, without matplotlib, ``caption("kappa")`` the words
    to go below it.

    Examples
    --------
    >>> import softlabel as sl
    >>> d = sl.diagnose(sl.simulate.clinic(n_unlabelled=900, n_labelled=100, seed=1), outcome="days_in_hospital",
    ...                 group="delirium", score="p_delirium", controls=["age"])
    >>> [round(row.kappa, 2) for row in d.plot.data.kappa() if row.name == "hard"][:3]
    [0.61, 0.65, 0.69]
    >>> d.plot.caption("kappa")[-24:]
    'n = 900 unlabelled rows.'
    """

    __slots__ = ("_diagnosis", "data")

    def __init__(self, diagnosis: Diagnosis) -> None:
        self._diagnosis = diagnosis
        self.data = FigureData(diagnosis)

    def caption(self, name: str) -> str:
        """Return the caption of a figure."""
        return DRAWINGS[name](self._diagnosis).caption

    def kappa(self, ax: Axes | None = None) -> Axes:
        """Draw κ(t) and κ_FM(t) with their intervals at the thresholds in use."""
        return draw(kappa(self._diagnosis), ax)

    def estimates(self, ax: Axes | None = None) -> Axes:
        """Draw the forest of all estimates, the verdict marked, rectified's interval behind them."""
        return draw(estimates(self._diagnosis), ax)

    def reliability(self, ax: Axes | None = None) -> Axes:
        """Draw how often the group is what the score says, overall and along controls, and where the scores lie."""
        return draw(reliability(self._diagnosis), ax)

    def score(self, ax: Axes | None = None) -> Axes:
        """Draw what the controls explain of the score, and what they leave."""
        return draw(score(self._diagnosis), ax)

    def forecast(self, ax: Axes | None = None) -> Axes:
        """Draw squared bias, variance and mean squared error over the threshold."""
        return draw(forecast(self._diagnosis), ax)

    def drift(self, ax: Axes | None = None) -> Axes:
        """Draw which effects are possible as the group's probability drifts off the score."""
        return draw(drift(self._diagnosis), ax)

    def ladder(self, ax: Axes | None = None) -> Axes:
        """Draw the rungs, the tests of the steps between them, and how far each was kept."""
        return draw(ladder(self._diagnosis), ax)

    def audit(self, ax: Axes | None = None) -> Axes:
        """Draw by how much soft and hard are off on the audit rows, and why."""
        return draw(audit(self._diagnosis), ax)


def plots(diagnosis: Diagnosis) -> Plots:
    """Return the figures of a Diagnosis."""
    return Plots(diagnosis)
