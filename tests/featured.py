"""One made-up study: what a classifier sees, what is controlled for, and who is labelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

N_UNLABELLED, N_LABELLED = 3_000, 300

ROLES: dict[str, Any] = {"features": ["x", "w", "site"], "controls": ["x"], "group": "g"}


__all__ = ["N_LABELLED", "N_UNLABELLED", "ROLES", "made"]


def made(seed: int = 0, n_unlabelled: int = N_UNLABELLED, n_labelled: int = N_LABELLED) -> pa.Table:
    """Return a table whose first rows are unlabelled: w tells the group, and lacks a value now and then."""
    rng = np.random.default_rng(seed)
    n = n_unlabelled + n_labelled
    x, w = rng.normal(size=(2, n))
    site = rng.integers(0, 3, size=n)
    group = (rng.random(n) < 1 / (1 + np.exp(-(x + 1.5 * w + 0.5 * (site == 1) - 0.5)))).astype(int)
    outcome = x + 1.0 * group + rng.normal(size=n)
    return pa.table(
        {
            "y": outcome,
            "x": x,
            "w": pa.array([None if gone else value for value, gone in zip(w, rng.random(n) < 0.05, strict=True)]),
            "site": np.array(["north", "south", "east"])[site],
            "g": pa.array([None] * n_unlabelled + group[n_unlabelled:].tolist(), pa.int64()),
            "truth": group,
            "ward": rng.integers(0, 40, size=n),
            "v": rng.uniform(0.5, 2.0, size=n),
        }
    )
