"""What a table of the paper is made of: simulations, and cells made of what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from softlabel.replicate.paper.cells import Cell
from softlabel.simulate import Experiment, MonteCarlo

__all__ = ["Group", "PaperTable"]


@dataclass(frozen=True, slots=True)
class Group:
    """One simulation: cells that share it have one file of finished replications.

    ``seconds`` is what a replication takes, roughly: where all take less than processes do to start, none are started.
    """

    name: str
    experiment: Experiment
    replications: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table of the paper.

    Attributes
    ----------
    name, title
        How it is called, on the command line and on a page.
    replications
        The paper's, and how many there are where none are asked for.
    groups
        From replications to its simulations.
    cells
        From what came of them, by name, to its cells.
    about
        What generates it: a caption.
    """

    name: str
    title: str
    replications: int
    groups: Callable[[int], tuple[Group, ...]]
    cells: Callable[[Mapping[str, MonteCarlo]], Iterable[Cell]]
    about: str
