"""What is known of a dataset: where it comes from, which column is what, what the true group's effect is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Dataset", "Effects", "Roles"]


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what; each is a column of the table that loading returns.

    Attributes
    ----------
    outcome, group, controls
        Y, G (0 or 1, known in every row) and X.
    features
        W: the columns a classifier of the group may see.
    text
        A column of text that may go to the classifier too.
    score
        A ready-made score, where there is one.
    categories
        Controls that are written as numbers and mean categories: ``Basis(categories=...)`` takes them.
    """

    outcome: str
    group: str
    controls: tuple[str, ...]
    features: tuple[str, ...]
    text: str | None = None
    score: str | None = None
    categories: tuple[str, ...] = ()

    def columns(self) -> tuple[str, ...]:
        """Return every column with a role, each once.

        Examples
        --------
        >>> Roles("y", "g", controls=("a",), features=("a", "b"), score="p").columns()
        ('y', 'g', 'a', 'b', 'p')
        """
        ready = tuple(name for name in (self.text, self.score) if name is not None)
        return tuple(dict.fromkeys((self.outcome, self.group, *self.controls, *self.features, *ready)))


@dataclass(frozen=True, slots=True)
class Effects:
    """The partial effect of the true group on the complete rows, Σ (Y − μ)(G − m) / Σ (G − m)².

    Attributes
    ----------
    linear
        μ and m by least squares: numeric controls linear, text and ``Roles.categories`` as dummies. This is the
        coefficient of G in the regression of Y on G and the controls.
    cells
        μ and m the means of rows whose controls are all equal: no form is assumed.
    """

    linear: float
    cells: float


@dataclass(frozen=True, slots=True)
class Dataset:
    """One dataset, and what is known of it.

    Attributes
    ----------
    name, title, description
        The description says what the outcome and the group are.
    rows, complete_rows
        All rows, and those without a missing value in any column that has a role.
    source, doi, licence
        Who made it and where it is found. ``doi`` is ``None`` where there is none; a ``licence`` of ``None`` is
        not stated by its source.
    ships
        Whether it comes with the package; else `read_study` reads it from a folder.
    file, sha256
        Name of the file, and the checksum of its bytes: for a dataset that does not ship, of the text that the
        gzipped file holds, so that packing it anew changes nothing.
    roles
        Which column is what.
    effects
        What a regression that sees the true group finds.
    exclusion
        Whether the score tells anything of the outcome beyond group and controls: an assumption of soft.
    """

    name: str
    title: str
    description: str
    rows: int
    complete_rows: int
    source: str
    doi: str | None
    licence: str | None
    ships: bool
    file: str
    sha256: str
    roles: Roles
    effects: Effects
    exclusion: str
