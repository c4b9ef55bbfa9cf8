"""The page of a plan: labels needed, standard errors on the way there, and what a richer score would buy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from softlabel.planning.records import Plan
from softlabel.report.layout import WIDTH, wrapped
from softlabel.results.text import number, percent

__all__ = ["page"]

_RUNGS = ("rectified", "instrumented", "combined")


def page(plan: Plan) -> str:
    """Return a Plan as a page of text."""
    parts = [_answer(plan), _basis(plan), _needs(plan), _errors(plan), _richer(plan), _notes(plan)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _answer(p: Plan) -> str:
    reach = f"A {percent(p.level)} interval then reaches {number(p.half_width)} to either side."
    return "\n".join(["Plan", wrapped(f"{p.sentence} {reach}")])


def _basis(p: Plan) -> str:
    a = p.assumed
    rows = [
        f"{count:,} {kind} rows"
        for count, kind in ((p.n_labelled, "labelled"), (p.n_unlabelled, "unlabelled"))
        if count is not None
    ]
    said = [
        f"{name} {number(value)}"
        for name, value in (
            ("effect", a.tau),
            ("standard deviation of the outcome given group and controls", a.noise_sd),
            ("variance of the group given the controls", a.group_variance),
            ("V*, what the score explains of it,", a.v_star),
            ("slope of the group on the score", a.slope if p.source == "pilot" else None),
        )
        if value is not None
    ]
    start = "From a pilot" if p.source == "pilot" else "From numbers alone"
    listed = "; ".join(part for part in (" and ".join(rows), ", ".join(said)) if part)
    return "\n".join(["Rests on", wrapped(f"{start}: {listed}." if listed else f"{start}.")])


def _needs(p: Plan) -> str:
    header = ["Labels needed", "labelled rows", "given endless unlabelled", "std. error now"]
    rows = [[n.name, _count(n.labels), _count(n.labels_unlimited), number(n.std_error)] for n in p.needs]
    why = dict.fromkeys(n.reason for n in p.needs if n.reason is not None)
    missing = [
        wrapped(f"{', '.join(n.name for n in p.needs if n.reason == reason)}: {reason}.", hang="  ") for reason in why
    ]
    trusts = wrapped(
        "supervised trusts nothing; rectified that labelled and unlabelled rows are of one population; instrumented, "
        "besides, that what the classifier saw matters for the outcome only through the group; combined, besides, that "
        "the score is calibrated given the controls. Endless unlabelled: the labels needed however many "
        "rows are scored."
    )
    return "\n".join([*_aligned(header, rows), *missing, trusts])


def _errors(p: Plan) -> str:
    header = ["Standard error with", "supervised", *_RUNGS]
    rows = [
        [f"{row.labels:,} labelled rows", number(row.supervised), *(number(getattr(row, name)) for name in _RUNGS)]
        for row in p.errors
    ]
    return "\n".join(_aligned(header, rows)) if rows else ""


def _richer(p: Plan) -> str:
    if not p.richer.rows:
        return ""
    errors = p.n_labelled is not None
    header = ["Score that knows", "V*", *_RUNGS, *(["instr. std. error"] if errors else [])]
    rows = [
        [
            f"{100 * row.share:.3g}%" + (" (as it is)" if row.score == "as it is" else ""),
            number(row.v_star),
            *(_count(getattr(row, name)) for name in _RUNGS),
            *([number(row.instrumented_se)] if errors else []),
        ]
        for row in p.richer
    ]
    said = "Labelled rows needed with a score that knows so much of what the controls leave of the group."
    if errors:
        said += f" Last: the standard error of instrumented with the {p.n_labelled:,} there are."
    return "\n".join([*_aligned(header, rows), wrapped(said)])


def _notes(p: Plan) -> str:
    return "\n".join(["Notes", *(wrapped(f"- {note.message}.", hang="  ") for note in p.notes)]) if p.notes else ""


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a header and its rows in columns, the first to the left; rows are indented below the header."""
    lines = [header, *(["  " + row[0], *row[1:]] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    gap = "   " if sum(widths) + 3 * len(widths[1:]) <= WIDTH else " "
    for line in lines:
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        yield gap.join([line[0].ljust(widths[0]), *rest]).rstrip()
