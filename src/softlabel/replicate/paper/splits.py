"""One split of Adult into labelled and unlabelled rows: the paper's estimates, and ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnose import diagnose
from softlabel.nuisances import make_learner, v_star_of
from softlabel.replicate.paper.census import Census, census, slope, within
from softlabel.replicate.paper.draws import FOLDS, residuals
from softlabel.results import Diagnosis
from softlabel.scoring import score
from softlabel.scoring.ranger import ranger_forest

__all__ = ["SIZES", "THRESHOLD", "Splits"]

Floats = NDArray[np.float64]
Values = Mapping[str, float | None]

SIZES = (500, 1000, 2000)
THRESHOLD = 0.5
REJECTED = 0.05
_HALVES = {"calibrator": "isotonic", "split": "halves"}
# Trees for the other way to hand over text: what it moves is far more than what fewer trees add.
_FEWER = 5


@dataclass(frozen=True, slots=True)
class Splits:
    """One replication: for every number of labels a random split, and every estimate less its target.

    The target is the coefficient of the true group on all rows, for the outcome as it is and for one that is permuted.
    """

    trees: int = 500
    sizes: tuple[int, ...] = SIZES

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        """Return the numbers by labelled rows and name."""
        rows, values = census(), dict[str, float | None]()
        for n in self.sizes:
            split = _Split.drawn(rows, n, rng)
            found = {**split.papers(self.trees), **split.ours()}
            values |= {f"{n} {name}": value for name, value in found.items()}
        return values


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """Places of labelled and unlabelled rows, a permuted outcome with its targets, and the seed of the forests."""

    rows: Census
    labelled: NDArray[np.intp]
    unlabelled: NDArray[np.intp]
    permuted: Floats
    target: float
    target_within: float
    seed: int

    @classmethod
    def drawn(cls, rows: Census, n: int, rng: np.random.Generator) -> _Split:
        order = rng.permutation(len(rows))
        permuted = rows.permuted(rng)
        group = within(rows.cell, rows.group)
        return cls(
            rows=rows,
            labelled=np.sort(order[:n]),
            unlabelled=np.sort(order[n:]),
            permuted=permuted,
            target=slope(rows.x, rows.group, permuted),
            target_within=float(group @ permuted / (group @ group)),
            seed=int(rng.integers(2**31)),
        )

    def papers(self, trees: int) -> dict[str, float | None]:
        """Return what comes of a forest on one half of the labels, isotonic on the other, and what an audit says."""
        rows = self.rows
        p = self._scored(codes=False, model=ranger_forest(trees, self.seed), **_HALVES)
        plain, moved = self._diagnosed(p, rows.outcome, clean=False), self._diagnosed(p, self.permuted, clean=False)
        few = ranger_forest(max(1, trees // _FEWER), self.seed)
        codes = self._diagnosed(self._scored(codes=True, model=few, **_HALVES), rows.outcome, clean=False)
        return {
            "V*": plain.v_star.estimate,
            "V* boosted": self._boosted(p),
            **_errors(plain, rows.target, ("supervised", "soft")),
            "hard": _hard(plain, rows.target),
            "kappa": plain.kappa.rows[0].kappa,
            "SE soft": plain.estimate("soft", form="moment").std_error,
            "SE supervised": plain.estimate("supervised").std_error,
            "Algorithm 1": float(plain.verdict.choice == "soft"),
            **self._audited(p),
            "moved": float(np.mean(self.permuted != rows.outcome)),
            "permuted soft": _errors(moved, self.target, ("soft",))["soft"],
            "permuted hard": _hard(moved, self.target),
            "permuted soft within cells": self._within_cells(p),
            "codes soft": _errors(codes, rows.target, ("soft",))["soft"],
            "codes hard": _hard(codes, rows.target),
        }

    def ours(self) -> dict[str, float | None]:
        """Return what comes of scores by `softlabel.score` as it is, which every labelled row may audit."""
        p = self._scored(codes=False)
        values: dict[str, float | None] = {}
        for name, outcome, target in (
            ("ours", self.rows.outcome, self.rows.target),
            ("ours permuted", self.permuted, self.target),
        ):
            found = self._diagnosed(p, outcome, clean=True)
            values |= {f"{name} {key}": value for key, value in _guarded(found, target).items()}
        return values

    def _scored(self, *, codes: bool, **making: object) -> Floats:
        """Return a score of every row (n,), of models that have not seen its label where there are such."""
        table, roles = self.rows.codes if codes else self.rows.texts, self.rows.roles
        made = score(
            table.take(self.labelled),
            table.take(self.unlabelled),
            features=roles.features,
            controls=roles.controls,
            group=roles.group,
            seed=self.seed,
            threads=1,
            **making,  # type: ignore[arg-type]
        )
        p = np.empty(len(self.rows))
        p[self.labelled], p[self.unlabelled] = made.labelled, made.unlabelled
        return p

    def _diagnosed(self, p: Floats, outcome: Floats, *, clean: bool) -> Diagnosis:
        """Return the diagnosis with controls as they are; where labels are not ``clean`` none may audit."""
        group = np.full(len(self.rows), np.nan)
        group[self.labelled] = self.rows.group[self.labelled]
        age, hours, male = self.rows.x
        table = {"y": outcome, "g": group, "p": p, "age": age, "hours": hours, "male": male}
        return diagnose(
            table if clean else {**table, "audit": np.zeros(len(p))},
            outcome="y",
            group="g",
            score="p",
            controls=["age", "hours", "male"],
            audit=None if clean else "audit",
            thresholds=(THRESHOLD,),
            confident=(),
            basis="linear",
            rule="guarded" if clean else "paper",
            threads=1,
            progress=False,
        )

    def _audited(self, p: Floats) -> dict[str, float]:
        """Return c and the leak on the unlabelled rows, every one of whose labels is known here."""
        rows, at = self.rows, self.unlabelled
        a, e, outcome = residuals(rows.x[:, at], np.stack([p[at], rows.group[at], rows.outcome[at]]))
        size = float(a @ a)
        c = float(a @ e) / size
        return {"slope": c, "leak": float(a @ outcome) / size - rows.target * c}

    def _boosted(self, p: Floats) -> float:
        """Return V* with boosted trees for r, out of fold."""
        at = self.unlabelled
        fold = np.arange(len(at)) % FOLDS
        return v_star_of(make_learner("boosting", seed=0), self.rows.x[:, at], p[None, at], fold, FOLDS).v_star

    def _within_cells(self, p: Floats) -> float:
        """Return soft's error for the permuted outcome, with a mean for each cell in place of the controls."""
        at = self.unlabelled
        a = within(self.rows.cell[at], p[at])
        return float(a @ self.permuted[at] / (a @ a)) - self.target_within


def _guarded(found: Diagnosis, target: float) -> dict[str, float | None]:
    verdict, audit = found.verdict, found.audits.rows[0]
    low, high = verdict.interval or (None, None)
    rectified = found.estimate("rectified")
    exclusion = next((step for step in found.ladder.steps if step.name == "exclusion"), None)
    return {
        **_errors(found, target, ("supervised", "soft", "rectified", "instrumented", "combined")),
        "hard": _hard(found, target),
        "verdict": _less(verdict.estimate, target),
        "low": _less(low, target),
        "high": _less(high, target),
        "rectified low": _less(rectified.ci_low, target),
        "rectified high": _less(rectified.ci_high, target),
        "slope": audit.slope,
        "leak": audit.leak,
        "rejected": None if exclusion is None else float(exclusion.p_value < REJECTED),
    }


def _errors(found: Diagnosis, target: float, names: tuple[str, ...]) -> dict[str, float | None]:
    return {name: _less(found.estimate(name).estimate, target) for name in names}


def _hard(found: Diagnosis, target: float) -> float | None:
    return _less(found.estimate("hard", threshold=THRESHOLD).estimate, target)


def _less(value: float | None, target: float) -> float | None:
    return None if value is None else value - target
