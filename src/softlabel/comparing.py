"""compare: several diagnoses in, one Comparison out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from softlabel.errors import InputError
from softlabel.results import Compared, ComparedStudy, Comparison, Diagnosis, Note, Table

__all__ = ["compare"]


def compare(studies: Mapping[str, Diagnosis]) -> Comparison:
    """Put diagnoses side by side: several scores, settings or samples.

    Nothing is computed anew, and nothing is tested: two estimates from the same rows depend on each other, so that the
    difference of two columns has no standard error here.

    Parameters
    ----------
    studies
        Diagnoses by the names they are to be called by, in the order they are to be shown.

    Returns
    -------
    Comparison
        ``studies`` and ``estimates`` are tables; ``to_markdown``, ``to_latex`` and ``to_html`` show estimates in rows
        and studies in columns.

    Raises
    ------
    InputError
        If there is nothing to compare, or something else than a Diagnosis among it.

    Examples
    --------
    >>> import softlabel as sl
    >>> table = sl.simulate.PaperDesign().sample(n_unlabelled=3000, n_labelled=500, seed=0)
    >>> asked = {"outcome": "y", "group": "g", "score": "p", "controls": ["x1", "x2", "x3"]}
    >>> curves, lines = sl.diagnose(table, **asked), sl.diagnose(table, **asked, basis="linear")
    >>> found = sl.compare({"curves": curves, "lines": lines})
    >>> found.studies["study"], found.studies["choice"]
    (['curves', 'lines'], ['adaptive', 'adaptive'])
    """
    if not isinstance(studies, Mapping) or not studies:
        raise InputError(
            expected="diagnoses by name",
            found="none" if isinstance(studies, Mapping) else type(studies).__name__,
            fix='Pass for instance {"model A": first, "model B": second}',
        )
    for name, each in studies.items():
        if not isinstance(name, str):
            raise InputError(
                expected="names to call the diagnoses by",
                found=repr(name),
                fix='Use texts, as in {"model A": first}',
            )
        if not isinstance(each, Diagnosis):
            raise InputError(
                expected=f"a Diagnosis as {name!r}",
                found=type(each).__name__,
                fix="Pass what softlabel.diagnose returned, or Diagnosis.from_json of its JSON",
            )
    return Comparison(
        studies=Table(tuple(_study(name, each) for name, each in studies.items())),
        estimates=Table(tuple(row for name, each in studies.items() for row in _estimates(name, each))),
        notes=tuple(_notes(studies)),
    )


def _study(name: str, d: Diagnosis) -> ComparedStudy:
    v_star = d.v_star.estimate
    low, high = d.verdict.interval or (None, None)
    return ComparedStudy(
        study=name,
        outcome=d.settings.outcome,
        group=d.settings.group,
        score=d.settings.score,
        controls=d.settings.controls,
        labelled=d.sample.labelled,
        unlabelled=d.sample.unlabelled,
        v_star=v_star,
        v_star_error=d.v_star.std_error,
        remainder=v_star / d.score_variance if v_star is not None and d.score_variance > 0 else None,
        rule=d.verdict.rule,
        choice=d.verdict.choice,
        estimate=d.verdict.estimate,
        ci_low=low,
        ci_high=high,
        level=d.settings.level,
        failed=_codes(d, "fail"),
        doubtful=_codes(d, "warn"),
    )


def _codes(d: Diagnosis, outcome: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.code for one in d.checks if one.outcome == outcome))


def _estimates(name: str, d: Diagnosis) -> Iterator[Compared]:
    for row in d.estimates:
        yield Compared(
            study=name,
            name=row.name,
            threshold=row.threshold,
            form=row.form,
            estimate=row.estimate,
            std_error=row.std_error,
            ci_low=row.ci_low,
            ci_high=row.ci_high,
            p_value=row.p_value,
            n=row.n,
            reason=row.reason,
        )


# What has to be the same for two effects to be one, and what else moves numbers.
_DIFFER = {
    "outcome": ("outcome", "so the effects are in other units"),
    "controls": ("controls", "so the effects are not one number: each is given its own controls"),
    "level": ("level", "so the intervals cannot be compared"),
    "weights": ("weights", "so the effects are averages over other populations"),
}


def _notes(studies: Mapping[str, Diagnosis]) -> Iterator[Note]:
    for setting, (name, meaning) in _DIFFER.items():
        if len({getattr(each.settings, setting) for each in studies.values()}) > 1:
            yield Note(f"compare.{setting}", f"Not all have the same {name}, {meaning}")
