"""The page of a check: whether the data can answer, what they hold, and what to run next."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from softlabel.checking.records import Checkup, ColumnFacts, Counts
from softlabel.report.layout import WIDTH, wrapped
from softlabel.results.text import number

__all__ = ["page"]

_NAME_WIDTH = 26
_MOST_LEVELS = 12

# Estimates from the labelled and the unlabelled rows together, all possible or none.
_OF_BOTH = ("rectified", "instrumented", "combined", "adaptive")
_FOLDS_BY = {"values": "the values of a row", "id": "the id", "cluster": "the cluster"}


def page(checkup: Checkup) -> str:
    """Return a Checkup as a page of text."""
    parts = [
        _verdict(checkup),
        _rows(checkup),
        _columns(checkup),
        _levels(checkup),
        _scores(checkup),
        _notes(checkup),
        _next(checkup),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdict(c: Checkup) -> str:
    problems = (wrapped(f"! {problem.message}.", hang="  ") for problem in c.problems)
    return "\n".join(["Verdict", wrapped(c.sentence), *problems])


def _rows(c: Checkup) -> str:
    lines = ["Rows"]
    if c.counts is None:
        return "\n".join([*lines, wrapped(f"{c.rows:,} rows in {c.source}.")])
    lines.append(wrapped(f"{c.rows:,} rows in {c.source}: {_kinds(c.counts)}."))
    if c.counts.incomplete:
        kept = c.counts.rows - c.counts.incomplete - c.counts.weightless
        lines.append(
            wrapped(
                f'{c.counts.incomplete:,} rows lack a value; missing="drop" (--missing drop) leaves '
                f"{kept:,} of {c.counts.rows:,}."
            )
        )
    if c.counts.clusters is not None and c.counts.unlabelled:
        lines.append(wrapped(_clusters(c.counts)))
    # Where values cannot be, folds and columns would be those of what happens to be left.
    if c.counts.unlabelled and c.estimators.rows:
        lines += [wrapped(_folds(c.counts)), *_design(c)]
    return "\n".join(lines)


def _kinds(s: Counts) -> str:
    zeros, ones = s.labelled_by_class
    labelled = f", {s.labelled:,} labelled ({ones:,} in the group, {zeros:,} not)" if s.labelled else ", none labelled"
    whole = "" if s.unlabelled + s.labelled == s.rows else "fit to use as they are: "
    return f"{whole}{s.unlabelled:,} unlabelled{labelled}"


def _folds(s: Counts) -> str:
    distinct = (
        "all distinct" if s.n_effective >= 0.99 * s.unlabelled else f"worth {number(s.n_effective)} distinct ones"
    )
    dealt = f"5 folds by {_FOLDS_BY[s.folds_by]}"
    if s.in_sample:
        dealt = "too few to be dealt to folds by their values, so regressions will be fitted in sample"
    return f"The unlabelled rows are {distinct}: {dealt}."


def _clusters(s: Counts) -> str:
    both = "" if s.clusters_both is None else f", {s.clusters_both:,} both"
    return f"Clusters: {s.clusters:,} have unlabelled rows, {s.clusters_labelled:,} labelled ones{both}."


def _design(c: Checkup) -> list[str]:
    s = c.counts
    if s is None or not s.columns:
        return []
    each = [
        f"{count / s.columns:,.0f} {name}" for count, name in ((s.unlabelled, "unlabelled"), (s.labelled, "labelled"))
    ]
    return [wrapped(f"The controls make {s.columns} design columns: {' and '.join(each)} rows for each.")]


def _columns(c: Checkup) -> str:
    if not c.columns.rows:
        return ""
    header = (
        "Column",
        "role" if c.counts is not None or _named(c) else "could be",
        "type",
        "missing",
        "distinct",
        "values",
    )
    named = header[1] == "role"
    lines = [
        (
            _cut(row.name, _NAME_WIDTH),
            row.role,
            _cut(row.type, 14),
            f"{row.missing:,}",
            ">1,000" if row.distinct is None else f"{row.distinct:,}",
            _values(row),
        )
        for row in c.columns
    ]
    if not named:
        # What a column could be is what a reader looks for: it has the room to the right.
        order = (0, 2, 3, 4, 5, 1)
        header, *lines = (tuple(line[i] for i in order) for line in (header, *lines))  # type: ignore[assignment]
    right = (3, 4) if named else (2, 3)
    return "\n".join(_aligned(header, lines, right=right))


def _named(c: Checkup) -> bool:
    return "diagnose" in c.command[0] or "diagnose" in c.command[1:2]


def _values(row: ColumnFacts) -> str:
    if row.low is None or row.high is None:
        return row.examples or "-"
    return f"{row.low:.4g} to {row.high:.4g}" if row.low < row.high else f"{row.low:.4g}"


def _levels(c: Checkup) -> str:
    controls = dict.fromkeys(row.control for row in c.levels)
    return "\n\n".join(_level_table(c, control) for control in controls)


def _level_table(c: Checkup, control: str) -> str:
    rows = sorted((row for row in c.levels if row.control == control), key=lambda row: -row.unlabelled)
    lines = [(_cut(row.level, _NAME_WIDTH), f"{row.unlabelled:,}", f"{row.labelled:,}") for row in rows]
    shown = lines if len(lines) <= _MOST_LEVELS else [*lines[: _MOST_LEVELS - 1]]
    header = (f"Levels of {_cut(control, _NAME_WIDTH)}", "unlabelled", "labelled")
    rest = len(lines) - len(shown)
    left = [wrapped(f"and {rest} smaller ones.")] if rest else []
    return "\n".join([*_aligned(header, shown, right=(1, 2)), *left])


def _scores(c: Checkup) -> str:
    if not c.estimators.rows or c.counts is None:
        return ""
    why = {(row.name, row.threshold): row.reason for row in c.estimators}
    rows = [
        ("supervised", f"{c.counts.labelled:,} labelled", _possible(why["supervised", None])),
        ("soft", f"{c.counts.unlabelled:,} unlabelled", _possible(why["soft", None])),
        *((name, f"{c.counts.audit:,} that audit", _yes(why[name, None])) for name in _OF_BOTH),
    ]
    unanswered = {why[name, None] for name in _OF_BOTH} - {None}
    above = [
        (
            f"t = {row.threshold:g}",
            f"{row.above:,}",
            _yes(why["hard", row.threshold]),
            _yes(why["deattenuated", row.threshold]),
        )
        for row in c.above
    ]
    within = [
        (f"t = {row.threshold:g}", f"{row.rows:,}", f"{row.above:,}", _yes(why["confident", row.threshold]))
        for row in c.confident
    ]
    parts = [
        [
            *_aligned(("Estimator", "rows", "possible"), rows, right=(1,)),
            *(wrapped(f"{', '.join(_OF_BOTH)}: {reason}.", hang="  ") for reason in unanswered),
        ],
        [
            *_aligned(("Threshold", "rows above", "hard", "de-attenuated"), above, right=(1,)),
            *_reasons(c, "hard"),
            *_reasons(c, "deattenuated"),
        ],
        [
            *_aligned(("Confident rows only", "rows kept", "above t", "confident"), within, right=(1, 2)),
            *_reasons(c, "confident"),
        ],
    ]
    settings = wrapped("All this is for the basis, the folds and the covariance that diagnose has by default.")
    return "\n\n".join(["\n".join(part) for part in parts] + [settings])


def _yes(reason: str | None) -> str:
    return "yes" if reason is None else "no"


def _possible(reason: str | None) -> str:
    return "yes" if reason is None else f"no: {reason}"


def _reasons(c: Checkup, name: str) -> list[str]:
    """Return why an estimator is not possible, one line a reason; de-attenuated leaves hard's unsaid."""
    said = {(row.threshold, row.reason) for row in c.estimators if row.name == "hard" and name == "deattenuated"}
    why: dict[str, list[str]] = {}
    for row in c.estimators:
        if row.name == name and row.reason is not None and (row.threshold, row.reason) not in said:
            # Reasons that differ in their threshold alone are one line.
            why.setdefault(row.reason.replace(f" {row.threshold:g}", " t"), []).append(f"{row.threshold:g}")
    shown = name.replace("deatt", "de-att")
    return [wrapped(f"{shown} at {', '.join(at)}: {reason}.", hang="  ") for reason, at in why.items()]


def _notes(c: Checkup) -> str:
    return "\n".join(["Notes", *(wrapped(f"- {note.message}.", hang="  ") for note in c.notes)]) if c.notes else ""


def _next(c: Checkup) -> str:
    incomplete = bool(c.problems) and {note.code for note in c.problems} <= {"values.missing"}
    title = "Next" if c.ready or not _named(c) else "Once that is mended"
    title = (
        "Next, to leave incomplete rows out"
        if incomplete and any(row.reason is None for row in c.estimators)
        else title
    )
    return "\n".join([title, *_broken(c.command, shell=c.shell)])


def _broken(words: Sequence[str], *, shell: bool) -> Iterator[str]:
    """Yield a command in lines of the page, before an option where that is possible."""
    end, line = " \\" if shell else "", "  "
    for group in _groups(words, shell=shell):
        for word in group if len(" ".join(group)) > WIDTH - 6 else [" ".join(group)]:
            if line.strip() and len(line) + len(word) + len(end) >= WIDTH:
                yield line.rstrip() + end
                line = "    "
            line += word + " "
    yield line.rstrip()


def _groups(words: Iterable[str], *, shell: bool) -> list[list[str]]:
    """Return the words with each option beside its values."""
    groups: list[list[str]] = []
    for word in words:
        starts = word.startswith("--") if shell else bool(re.match(r"\w+=", word))
        if starts or not groups:
            groups.append([])
        groups[-1].append(word)
    return groups


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> Iterator[str]:
    """Yield a header and its rows in columns, some of them to the right; the last is wrapped where it is too wide."""
    lines = [tuple(header), *(("  " + row[0], *row[1:]) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        start = "   ".join(cells[:-1]) + "   "
        last = cells[-1] if len(cells) - 1 in right else line[-1]
        if not last:
            yield start.rstrip()
            continue
        yield from _beside(start, last)


def _beside(start: str, text: str) -> list[str]:
    """Return a text to the right of the start of its line, in as many lines as it takes."""
    room = WIDTH - len(start)
    lines = textwrap.wrap(text, room) if len(text) > room > 0 else [text]
    return [f"{start if i == 0 else ' ' * len(start)}{part}" for i, part in enumerate(lines)]
