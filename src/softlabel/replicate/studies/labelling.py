"""One choice of labelled rows of a case: its score, its diagnosis, and what every label together says of the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from softlabel.basis import Basis
from softlabel.diagnose import diagnose
from softlabel.replicate.studies.cases import Case, case
from softlabel.results import Diagnosis, Estimate
from softlabel.scoring import score

__all__ = ["LABELLED", "THRESHOLD", "Labelling"]

Floats = NDArray[np.float64]

LABELLED = 2000
THRESHOLD = 0.5
REJECTED = 0.05
_ESTIMATES = ("supervised", "soft", "deattenuated", "rectified", "instrumented", "combined")


@dataclass(frozen=True, slots=True)
class Labelling:
    """One replication: some rows of a case keep their label, and the rest of the work is the package's own."""

    name: str
    folder: str | None = None
    labelled: int = LABELLED

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        """Return estimates, audits, tests and verdicts by name."""
        rows = case(self.name, self.folder)
        order = rng.permutation(len(rows))
        shown, hidden = np.sort(order[: self.labelled]), np.sort(order[self.labelled :])
        p = rows.score if rows.score is not None else _scored(rows, shown, hidden, int(rng.integers(2**31)))
        guarded, paper = (_diagnosed(rows, p, shown, rule) for rule in ("guarded", "paper"))
        audit, verdict = guarded.audits.rows[0], guarded.verdict
        step = next((one for one in guarded.ladder.steps if one.name == "exclusion"), None)
        return {
            **{name: _of(guarded, name).estimate for name in _ESTIMATES},
            "hard": _of(guarded, "hard").estimate,
            "SE soft": _of(guarded, "soft").std_error,
            "SE supervised": _of(guarded, "supervised").std_error,
            "V*": guarded.v_star.estimate,
            "kappa": guarded.kappa.rows[0].kappa,
            "slope": audit.slope,
            "leak": audit.leak,
            "exclusion": None if step is None else float(step.p_value < REJECTED),
            "verdict": verdict.estimate,
            "covers": None if verdict.interval is None else float(_holds(verdict.interval, rows.target)),
            "algorithm 1": float(paper.verdict.choice == "soft"),
            **_every_label(rows, p, hidden),
        }


def _scored(rows: Case, shown: NDArray[np.intp], hidden: NDArray[np.intp], seed: int) -> Floats:
    made = score(
        rows.table.take(pa.array(shown)),
        rows.table.take(pa.array(hidden)),
        features=rows.roles.features,
        controls=rows.roles.controls,
        group=rows.roles.group,
        categories=rows.roles.categories,
        model=rows.known.model,
        seed=seed,
        threads=1,
    )
    p = np.empty(len(rows))
    p[shown], p[hidden] = made.labelled, made.unlabelled
    return p


def _diagnosed(rows: Case, p: Floats, shown: NDArray[np.intp], rule: str) -> Diagnosis:
    group = np.full(len(rows), np.nan)
    group[shown] = rows.group[shown]
    columns = {name: rows.table[name] for name in rows.roles.controls}
    return diagnose(
        pa.table({**columns, "Y": pa.array(rows.outcome), "G": pa.array(group, from_pandas=True), "P": pa.array(p)}),
        outcome="Y",
        group="G",
        score="P",
        controls=rows.roles.controls,
        basis=Basis("linear", categories=rows.roles.categories),
        thresholds=(THRESHOLD,),
        confident=(),
        # Some dummies have a single labelled row, which leaves HC3 no residual to go by.
        covariance="HC1",
        rule=rule,  # type: ignore[arg-type]
        threads=1,
        progress=False,
    )


def _every_label(rows: Case, p: Floats, hidden: NDArray[np.intp]) -> dict[str, float]:
    """Return slope and leak of soft and of hard on the rows whose labels were hidden."""
    basis = rows.basis[hidden]
    found: dict[str, float] = {}
    for name, x in (("soft", p[hidden]), ("hard", (p[hidden] > THRESHOLD).astype(np.float64))):
        left = x - basis @ np.linalg.solve(basis.T @ basis, basis.T @ x)
        size = float(left @ left)
        c = float(left @ rows.group[hidden]) / size
        found |= {f"{name} slope": c, f"{name} leak": float(left @ rows.outcome[hidden]) / size - c * rows.target}
    return found


def _of(found: Diagnosis, name: str) -> Estimate:
    return found.estimate(name, threshold=THRESHOLD if name in {"hard", "deattenuated"} else None)


def _holds(interval: tuple[float, float], value: float) -> bool:
    return interval[0] <= value <= interval[1]
