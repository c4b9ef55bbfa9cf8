"""Experiments where rows are not alike, in a module that the workers of a Monte Carlo run can import."""

from functools import cache
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, ndtri

import softlabel as sl

__all__ = ["EFFECT", "ROLES", "Clustered", "Weighted", "values"]

EFFECT = 1.0
ROLES: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "threads": 1, "confident": ()}


def values(d: sl.Diagnosis, name: str = "") -> dict[str, float | None]:
    """Estimates, errors and intervals of a diagnosis, each under its name and that of the diagnosis."""
    labelled = [("soft", d.estimate("soft")), ("supervised", d.estimate("supervised")), ("v_star", d.v_star)]
    labelled += [(f"hard {r.threshold:g}", r) for r in d.estimates if (r.name, r.form) == ("hard", "orthogonal")]
    values = [(label, (row.estimate, row.std_error, row.ci_low, row.ci_high)) for label, row in labelled]
    values += [(f"kappa {k.threshold:g}", (k.kappa, k.std_error, k.ci_low, k.ci_high)) for k in d.kappa]
    parts = ("", " se", " low", " high")
    start = f"{name} " if name else ""
    return {f"{start}{label}{part}": x for label, four in values for part, x in zip(parts, four, strict=True)}


class Clustered:
    """Forty clusters with a share of 0.2 of the variance of score and of outcome each; ten have no labels."""

    def __init__(self, cluster: str | None, n: int = 2_000, labelled: int = 400, clusters: int = 40) -> None:
        self.cluster, self.n, self.labelled, self.clusters = cluster, n, labelled, clusters

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        table = self.draw(self.n, self.labelled, self.clusters, rng)
        options: dict[str, Any] = {"controls": ["x"], "basis": "linear", "thresholds": (0.5, 0.8)}
        return values(sl.diagnose(table, cluster=self.cluster, **options, **ROLES))

    @staticmethod
    def draw(n: int, labelled: int, clusters: int, rng: np.random.Generator) -> dict[str, Any]:
        """Rows of clusters; the labelled ones are of the first three quarters of the clusters."""
        c = np.concatenate([rng.integers(0, clusters, n), rng.integers(0, 3 * clusters // 4, labelled)])
        rows = n + labelled
        x = rng.normal(size=rows)
        of_score, of_outcome = rng.normal(size=(2, clusters))
        p = expit(0.5 * x + 1.5 * (np.sqrt(0.2) * of_score[c] + np.sqrt(0.8) * rng.normal(size=rows)))
        g = rng.random(rows) < p
        y = x + EFFECT * g + np.sqrt(0.2) * of_outcome[c] + np.sqrt(0.8) * rng.normal(size=rows)
        return {"x": x, "p": p, "g": np.where(np.arange(rows) < n, np.nan, g), "y": y, "c": c}

    @classmethod
    @cache
    def truth(cls) -> dict[str, float]:
        """V* and κ of the linear regression in the population, by quadrature over x and the score's noise."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(200)
        weights /= weights.sum()
        x, w = nodes[:, None], weights[:, None] * weights
        found = {}
        p = expit(0.5 * x + 1.5 * nodes)
        a = p - (w * p).sum() - (w * p * x).sum() * x
        found["v_star"] = float((w * a * a).sum())
        # h is a step, so its moments are taken over the noise exactly: of a, on a fine grid of the noise.
        grid = (np.arange(20_000) + 0.5) / 20_000
        noise = ndtri(grid)
        p = expit(0.5 * x + 1.5 * noise)
        w = weights[:, None] / len(grid)
        a = p - (w * p).sum() - (w * p * x).sum() * x
        for t in (0.5, 0.8):
            h = (p > t).astype(float)
            b = h - (w * h).sum() - (w * h * x).sum() * x
            found[f"kappa {t:g}"] = float((w * a * b).sum() / (w * b * b).sum())
            found[f"hard {t:g}"] = EFFECT * found[f"kappa {t:g}"]
        return {**found, "soft": EFFECT, "supervised": EFFECT}


class Weighted:
    """Rows sampled more often where the effect is larger, with weights that undo it.

    The effect is 1 + x, with Var(p|x) constant and Var(G|x) even in x: both aim at the mean effect, one.
    """

    # Of the population, by hand: E[ab|x] = (0.09 − 0.04x²)/1.2 and E[b²|x] = 1/4 − x²/9 over x uniform in (−1, 1).
    TRUTH: ClassVar[dict[str, float]] = {
        "soft": EFFECT,
        "supervised": EFFECT,
        "v_star": 0.03,
        "kappa 0.5": 0.3,
        "hard 0.5": 0.3 * EFFECT,
    }

    def __init__(self, weights: str | None, n: int = 2_000, labelled: int = 400) -> None:
        self.weights, self.n, self.labelled = weights, n, labelled

    def __call__(self, rng: np.random.Generator) -> dict[str, float | None]:
        table = self.draw(self.n, self.labelled, rng)
        return values(sl.diagnose(table, controls=["x"], weights=self.weights, thresholds=(0.5,), **ROLES))

    @staticmethod
    def draw(n: int, labelled: int, rng: np.random.Generator) -> dict[str, Any]:
        """Rows that were sampled with probability expit(2x)."""
        rows = n + labelled
        x = rng.uniform(-1, 1, 10 * rows)
        x = x[rng.random(len(x)) < expit(2 * x)][:rows]
        p = 0.5 + 0.2 * x + rng.uniform(-0.3, 0.3, rows)
        g = rng.random(rows) < p
        y = np.sin(2 * x) + (1 + x) * g + rng.normal(size=rows)
        return {"x": x, "p": p, "g": np.where(np.arange(rows) < n, np.nan, g), "y": y, "w": 1 / expit(2 * x)}
