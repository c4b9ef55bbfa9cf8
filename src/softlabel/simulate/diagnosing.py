"""The whole of diagnose as an experiment: draw a table from a design, diagnose it, return every number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlabel.diagnose import diagnose
from softlabel.results import Diagnosis
from softlabel.simulate.paper import PaperDesign

__all__ = ["Diagnosing"]


@dataclass(frozen=True, slots=True)
class Diagnosing:
    """An experiment for `run`: one draw of a design, diagnosed.

    Every estimate comes as four values, under its label alone and with " se", " low" and " high" after it.
    Labels are the name, then the form if it is "moment", then the threshold: "soft", "soft moment",
    "hard 0.9", "kappa 0.9", "kappa_confident 0.75", "v_star".

    Parameters
    ----------
    design
        What to draw from.
    n_unlabelled, n_labelled
        Rows of each kind.
    options
        Further arguments of `diagnose`.

    Examples
    --------
    >>> import softlabel as sl
    >>> experiment = sl.simulate.Diagnosing(sl.simulate.PaperDesign(), 2000, 200)
    >>> runs = sl.simulate.run(experiment, replications=20, seed=1)
    >>> runs.replications, bool(abs(runs.mean("kappa 0.5") - 0.257) < 0.01)
    (20, True)
    """

    design: PaperDesign
    n_unlabelled: int
    n_labelled: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        """Return every number of one replication by label."""
        table = self.design.sample(self.n_unlabelled, self.n_labelled, seed=rng)
        d = diagnose(
            table,
            outcome="y",
            group="g",
            score="p",
            controls=[f"x{j + 1}" for j in range(len(self.design.beta_r))],
            threads=1,
            **self.options,
        )
        values: dict[str, float | None] = {}
        for label, numbers in _labelled(d):
            for part, number in zip(("", " se", " low", " high"), numbers, strict=True):
                values[label + part] = number
        return values


_Numbers = tuple[float | None, float | None, float | None, float | None]


def _labelled(d: Diagnosis) -> Iterator[tuple[str, _Numbers]]:
    for row in (*d.estimates, d.v_star):
        words = [row.name, "moment" if row.form == "moment" else None, row.threshold]
        label = " ".join(f"{word:g}" if isinstance(word, float) else word for word in words if word is not None)
        yield label, (row.estimate, row.std_error, row.ci_low, row.ci_high)
    for name, table in (("kappa", d.kappa), ("kappa_confident", d.kappa_confident)):
        for factor in table:
            yield (
                f"{name} {factor.threshold:g}",
                (
                    factor.kappa,
                    factor.std_error,
                    factor.ci_low,
                    factor.ci_high,
                ),
            )
