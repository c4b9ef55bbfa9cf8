"""What is to be seen in a case, in words with its numbers in them."""

from __future__ import annotations

from collections.abc import Mapping

from softlabel.results.text import number

__all__ = ["says"]

# Soft is called right where it is within a tenth of the effect, and a threshold free where it keeps 95% of it.
_RIGHT = 0.1
_FREE = 0.95


def says(target: float, found: Mapping[str, float | None]) -> str:
    """Return whether soft is right and why, what a threshold costs, and what the verdicts make of it.

    ``found`` are means by the names of `MEASURES`.

    Examples
    --------
    >>> found = {"soft": 1.0, "every label: slope, soft": 1.0, "every label: leak, soft": 0.02, "kappa": 0.45,
    ...          "hard": 0.46, "its interval covers": 1.0, "Algorithm 1 takes soft": 1.0, "exclusion rejected": 0.0}
    >>> print(says(0.98, found).split(". ")[0])
    Soft is right: 1.00 where every label says 0.980, for it aims at 1.00 times the effect plus 0.0200
    """
    return ". ".join((_soft(target, found), _threshold(target, found), _verdicts(found))) + "."


def _soft(target: float, found: Mapping[str, float | None]) -> str:
    soft, slope, leak = (found[name] for name in ("soft", "every label: slope, soft", "every label: leak, soft"))
    if soft is None or slope is None or leak is None:
        return "Soft cannot be computed"
    right = abs(soft - target) <= _RIGHT * abs(target)
    why = f"for it aims at {number(slope)} times the effect {'plus' if leak >= 0 else 'minus'} {number(abs(leak))}"
    return f"Soft is {'right' if right else 'wrong'}: {number(soft)} where every label says {number(target)}, {why}"


def _threshold(target: float, found: Mapping[str, float | None]) -> str:
    kappa, hard = found["kappa"], found["hard"]
    if kappa is None or hard is None:
        return "No score is on one side of the threshold"
    cost = "is nearly free" if kappa >= _FREE else f"takes {1 - kappa:.0%} of what soft finds"
    return f"A threshold {cost}: kappa is {number(kappa)}, hard {number(hard)}, {number(hard / target)} of the effect"


def _verdicts(found: Mapping[str, float | None]) -> str:
    covers, paper, rejected = (
        found[name] for name in ("its interval covers", "Algorithm 1 takes soft", "exclusion rejected")
    )
    parts = [
        text.format(value)
        for value, text in (
            (rejected, "the labels reject exclusion in {:.0%} of the choices"),
            (covers, "the interval of guarded holds the effect in {:.0%}"),
            (paper, "Algorithm 1 takes soft in {:.0%}"),
        )
        if value is not None
    ]
    told = ", ".join(parts)
    return told[:1].upper() + told[1:]
