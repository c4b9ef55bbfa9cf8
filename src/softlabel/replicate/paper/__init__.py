"""The paper's tables: what it printed, what generates each, what each shows, and ours beside it."""

from softlabel.replicate.paper.cells import Cell
from softlabel.replicate.paper.command import REAL, TABLES, TableFound, TablesFound, replicate_tables
from softlabel.replicate.paper.figures import FiguresFound, replicate_figures

__all__ = [
    "REAL",
    "TABLES",
    "Cell",
    "FiguresFound",
    "TableFound",
    "TablesFound",
    "replicate_figures",
    "replicate_tables",
]
