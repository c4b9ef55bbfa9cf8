"""The other demo: a census whose group is known in every row, so that hiding most of it shows what comes of hiding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from softlabel.datasets import about, load_adult
from softlabel.diagnose import diagnose
from softlabel.report.layout import wrapped
from softlabel.results import Diagnosis
from softlabel.results.text import interval_text, number

__all__ = ["LABELLED", "STORY", "demo_table", "diagnose_demo", "every_label", "outcome", "same_from"]

LABELLED = 1_500
_SEEN = "income_seen"
_THRESHOLD = 0.5
_ROLES = replace(about("adult").roles, group=_SEEN)

STORY = "\n".join(
    [
        "How many more years at school do people have who earn more than 50,000 dollars a year?",
        "",
        wrapped(
            f"The census of 1994 asked 30,162 people for both. Suppose that only {LABELLED:,} had told their income. A "
            "classifier learns from those what job, marriage, capital and the like say of income, and everyone gets a "
            "probability. Age, hours a week and sex are controlled for."
        ),
        "",
    ]
)


def demo_table(seed: int) -> pa.Table:
    """Return the census with a column that knows the income of some rows only."""
    table = load_adult(complete=True)
    seen = np.zeros(table.num_rows, dtype=np.bool_)
    seen[np.random.default_rng(seed).permutation(table.num_rows)[:LABELLED]] = True
    group = about("adult").roles.group
    known = pa.array([value if shown else None for value, shown in zip(table[group].to_pylist(), seen, strict=True)])
    return table.append_column(_SEEN, known.cast(pa.int8()))


def diagnose_demo(table: pa.Table, seed: int) -> Diagnosis:
    """Return the diagnosis of the census, from features to verdict."""
    return diagnose(
        table,
        outcome=_ROLES.outcome,
        group=_SEEN,
        controls=_ROLES.controls,
        features=_ROLES.features,
        seed=seed,
    )


def every_label(table: pa.Table) -> float:
    """Return the effect of the true group on every row, with controls as the diagnosis has them.

    Soft on a score that is the group itself is the least-squares coefficient of the group.
    """
    group = about("adult").roles.group
    rows = table.select([_ROLES.outcome, *_ROLES.controls]).append_column("p", table[group].cast(pa.float64()))
    # In sample, as least squares is.
    truth = diagnose(rows, outcome=_ROLES.outcome, score="p", controls=_ROLES.controls, folds=None, confident=())
    found = truth.estimate("soft").estimate
    assert found is not None  # noqa: S101  (the file is always the same)
    return found


def outcome(diagnosis: Diagnosis, truth: float) -> str:
    """Return what estimates say beside the truth, which is known here because every income is."""
    soft = diagnosis.estimate("soft")
    hard = diagnosis.estimate("hard", threshold=_THRESHOLD)
    audit, verdict = diagnosis.audits.rows[0], diagnosis.verdict
    kappa = dict(zip(diagnosis.kappa["threshold"], diagnosis.kappa["kappa"], strict=True))[_THRESHOLD]
    lines = [
        "What every income says",
        wrapped(
            f"With all of them the difference is {number(truth)} years. The score in place of the income gives "
            f"{number(soft.estimate)} ({interval_text(soft.interval)}): an occupation tells of schooling whatever the "
            f"income, a leak of {number(audit.leak)} by the audit of the {LABELLED:,}. Calling everyone above "
            f"{_THRESHOLD:g} a high earner gives {number(hard.estimate)} ({interval_text(hard.interval)}): kappa keeps "
            f"{number(kappa)} of the effect, and a leak of its own fills in the rest, by luck. The verdict below, "
            f"which has not seen the other incomes, says {number(verdict.estimate)} "
            f"({interval_text(verdict.interval)}). This is the whole page:"
        ),
        "",
    ]
    return "\n".join(lines)


def same_from(path: str, seed: int) -> str:
    """Return the command that diagnoses the census from its file."""
    return "\n".join(
        [
            "",
            "The same from the file",
            f"  softlabel diagnose {path} --outcome {_ROLES.outcome} --group {_SEEN} --seed {seed} \\",
            f"    --controls {' '.join(_ROLES.controls)} \\",
            f"    --features {' '.join(_ROLES.features[:6])} \\",
            f"    {' '.join(_ROLES.features[6:])}",
        ]
    )
