"""Diagnoses to draw and to write as pages: an ordinary one, and those that lack something or are named to do harm."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from softlabel import Diagnosis, diagnose
from softlabel.simulate import clinic

__all__ = ["CASES", "EVIL", "case"]

CASES = ("clinic", "unlabelled", "one threshold", "no threshold", "nulls", "clusters", "evil", "scored")
CONTROLS = ["age", "frailty", "emergency"]

# What may be in a name: markup, an end of the script that holds the data, quotes, mathematics, line separators.
EVIL = {
    "outcome": "<script>alert(1)</script>",
    "group": '"><img src=x onerror=alert(2)> $a^{$',
    "score": "</script><!--\u2028 & 'p'",
    "control": "\x01{x} </style>\\",
}


@cache
def case(name: str) -> Diagnosis:
    """Return the diagnosis of that name."""
    table: Any = clinic(n_unlabelled=3_000, n_labelled=300, seed=3)
    asked: dict[str, Any] = {
        "outcome": "days_in_hospital",
        "group": "delirium",
        "score": "p_delirium",
        "controls": CONTROLS,
    }
    match name:
        case "unlabelled":
            asked["group"] = None
        case "one threshold":
            asked |= {"thresholds": [0.9], "confident": []}
        case "no threshold":
            asked |= {"thresholds": [], "confident": []}
        case "nulls":
            table, asked = _narrow(), {"outcome": "y", "group": "g", "score": "p", "controls": []}
        case "clusters":
            table = table.append_column("ward", [[f"ward {i % 30}" for i in range(table.num_rows)]])
            asked |= {"controls": "age + C(emergency) + age:emergency", "cluster": "ward"}
        case "evil":
            table, asked = _evil(), {**EVIL, "controls": [EVIL["control"]]}
            del asked["control"]
        case "scored":
            asked |= {"score": None, "features": ["age", "frailty", "p_delirium"]}
    return diagnose(table, **asked)


def _narrow() -> dict[str, Any]:
    """Scores in a narrow band, which leave most thresholds without a number, and few labels."""
    rng = np.random.default_rng(0)
    p = 0.5 + 0.1 * np.tanh(rng.normal(size=1_500))
    g = (rng.random(1_500) < p).astype(float)
    return {"y": g + rng.normal(size=1_500), "p": p, "g": pa.array(g, mask=rng.random(1_500) > 0.02)}


def _evil() -> pa.Table:
    rng = np.random.default_rng(0)
    n = 1_500
    levels = ["a<b>", "</script><script>alert(3)</script>", "c & d"]
    x, p = rng.choice(levels, n), rng.uniform(size=n) ** 2
    g = (rng.random(n) < p).astype(float)
    columns = (g + rng.normal(size=n), pa.array(g, mask=rng.random(n) > 0.2), p, pa.array(x))
    return pa.table(dict(zip(EVIL.values(), columns, strict=True)))
