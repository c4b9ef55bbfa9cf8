"""Effects of a latent group that is seen only through a classifier's score.

>>> import softlabel as sl
>>> table = sl.simulate.PaperDesign().sample(n_unlabelled=3000, n_labelled=500, seed=0)
>>> d = sl.diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"])
>>> d.verdict.choice
'adaptive'
"""

import importlib
from typing import TYPE_CHECKING, Any

from softlabel.basis import Basis
from softlabel.checking import Checkup, check
from softlabel.comparing import compare
from softlabel.diagnose import diagnose
from softlabel.diagnostics import adaptive_attenuation, attenuation
from softlabel.errors import (
    DataError,
    InputError,
    SoftlabelError,
    SourceChanged,
    SourceError,
    StateError,
)
from softlabel.estimators import confident, hard, soft, supervised
from softlabel.planning import Plan, plan
from softlabel.results import Comparison, Diagnosis, Estimate, ScoreReport
from softlabel.scoring import Scores, score

if TYPE_CHECKING:
    from softlabel import datasets, simulate

__version__ = "0.1.0"

__all__ = [
    "Basis",
    "Checkup",
    "Comparison",
    "DataError",
    "Diagnosis",
    "Estimate",
    "InputError",
    "Plan",
    "ScoreReport",
    "Scores",
    "SoftlabelError",
    "SourceChanged",
    "SourceError",
    "StateError",
    "__version__",
    "adaptive_attenuation",
    "attenuation",
    "check",
    "compare",
    "confident",
    "datasets",
    "diagnose",
    "hard",
    "plan",
    "score",
    "simulate",
    "soft",
    "supervised",
]


def __getattr__(name: str) -> Any:
    # Rooms that a diagnosis does not need: `import softlabel` stays fast without them.
    if name in {"datasets", "simulate"}:
        return importlib.import_module(f"softlabel.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
