"""The demo: a hospital study with a known truth, from table to verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from softlabel.diagnose import diagnose
from softlabel.errors import InputError
from softlabel.report.files import write_whole
from softlabel.report.layout import wrapped
from softlabel.results import Diagnosis
from softlabel.results.text import interval_text, number
from softlabel.simulate import CLINIC_TRUTH, clinic

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["STORY", "demo_table", "diagnose_demo", "outcome", "same_from", "write_demo"]

_THRESHOLD = 0.9
_OUTCOME, _GROUP, _SCORE = "days_in_hospital", "delirium", "p_delirium"
_CONTROLS = ("age", "frailty", "emergency")

STORY = "\n".join(
    [
        "How many extra days does delirium keep a patient in hospital?",
        "",
        wrapped(
            "A nurse reviewed the charts of 600 patients and knows who had delirium. For 40,000 others a classifier "
            "read the nursing notes and gave each a probability. The usual step is to call everyone above 0.9 a case."
        ),
        "",
    ]
)


def demo_table(seed: int) -> pa.Table:
    """Return the simulated patients."""
    return clinic(seed=seed)


def diagnose_demo(table: pa.Table) -> Diagnosis:
    """Return the diagnosis of the simulated patients."""
    return diagnose(table, outcome=_OUTCOME, group=_GROUP, score=_SCORE, controls=_CONTROLS)


def write_demo(table: pa.Table, path: str) -> None:
    """Write the patients to a CSV or Parquet file, by its ending."""
    if path.endswith(".parquet"):
        from pyarrow.parquet import write_table

        write_whole(path, lambda temporary: write_table(table, temporary))
    elif path.endswith(".csv"):
        from pyarrow.csv import write_csv

        write_whole(path, lambda temporary: write_csv(table, temporary))
    else:
        raise InputError(
            expected="a file that ends in .csv or .parquet",
            found=Path(path).name,
            fix="Name it for instance clinic.csv",
        )


def outcome(diagnosis: Diagnosis) -> str:
    """Return what the threshold would have cost, against the truth that only a simulation knows."""
    hard = diagnosis.estimate("hard", threshold=_THRESHOLD)
    soft = diagnosis.estimate("soft")
    kappa = dict(zip(diagnosis.kappa["threshold"], diagnosis.kappa["kappa"], strict=True))[_THRESHOLD]
    effect = CLINIC_TRUTH.effect
    predicted = "" if kappa is None else f"kappa predicted {number(kappa)} x {effect:g} = {number(kappa * effect)}"
    lines = [
        "What that would have cost",
        wrapped(
            f"The patients were simulated with an effect of {effect:g} days. Calling everyone above {_THRESHOLD:g} a "
            f"case gives {number(hard.estimate)} ({interval_text(hard.interval)}); {predicted}, before a single "
            f"outcome was looked at. The score itself gives {number(soft.estimate)} "
            f"({interval_text(soft.interval)}), if it may be trusted; the verdict below, which looks at that first, "
            f"{number(diagnosis.verdict.estimate)} ({interval_text(diagnosis.verdict.interval)}). This is the whole "
            "page:"
        ),
        "",
    ]
    return "\n".join(lines)


def same_from(path: str) -> str:
    """Return the command that diagnoses the patients from their file."""
    return "\n".join(
        [
            "",
            "The same from the file",
            f"  softlabel diagnose {path} --outcome {_OUTCOME} --group {_GROUP} --score {_SCORE} \\",
            f"    --controls {' '.join(_CONTROLS)}",
        ]
    )
