"""Sections of the page about the effect and what may be trusted: from the verdict to the drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from softlabel.report.figures import DRAWINGS, FigureData
from softlabel.report.figures.words import named
from softlabel.report.html.elements import Markup, details, listed, paragraph, records, section, table, term, text
from softlabel.report.html.live import Slider
from softlabel.report.html.svg import svg
from softlabel.report.trust import MEANING, RULES, SHOWN, URGENT, how
from softlabel.results import Check, Diagnosis
from softlabel.results.text import interval_text, number, percent, whole

__all__ = ["checks", "drift", "estimates", "figure", "score", "thresholds", "verdict"]

_OUTCOMES = {
    "fail": "fails",
    "warn": "doubtful",
    "pass": "holds up",
    "not_applicable": "does not arise",
    "skipped": "not tested",
}


def figure(d: Diagnosis, name: str) -> Markup:
    """Return a figure with its caption and its numbers."""
    drawing = DRAWINGS[name](d)
    title = f'<strong id="figure-{name}">{text(drawing.title)}.</strong>'
    if not drawing.rows:
        return Markup(f'<p class="missing">{title} {text(drawing.reason)}</p>')
    moved = any(panel.slider for row in drawing.rows for panel in row)
    follows = '<span class="follows"> The short-dashed line follows the slider.</span>' if moved else ""
    # The slider has the drift's: as a table they would be hundreds of rows.
    numbers = (
        Markup("") if name == "drift" else records(f"{drawing.title}: the numbers", getattr(FigureData(d), name)())
    )
    return Markup(
        f"<figure>{svg(drawing)}<figcaption>{title} {text(drawing.caption)}{follows}</figcaption>"
        f"{details('The numbers', numbers) if numbers else ''}</figure>"
    )


def verdict(d: Diagnosis) -> Markup:
    """Return the verdict: the sentence first, then the number, what bears on it and what would change it."""
    v = d.verdict
    parts = [paragraph(v.sentence, kind="lead")]
    if v.estimate is not None:
        level = percent(d.settings.level)
        parts.append(
            Markup(
                f'<p class="answer"><strong>{text(number(v.estimate))}</strong> '
                f"<span>{level} {term('interval')} {text(interval_text(v.interval))}, "
                f"in units of {text(d.settings.outcome)}</span></p>"
            )
        )
    if v.rule == "paper":
        parts.append(paragraph("This rule compares precision only: it cannot see bias.", kind="warning"))
    said = [f"{note.message}." for note in d.notes if note.code in URGENT]
    failing = [f"{one.title}: fails. {one.message}." for one in d.checks if one.outcome == "fail"]
    parts.append(listed([*said, *failing], kind="warnings"))
    parts.append(listed([f"{reason.message}." for reason in v.would_change], kind="change"))
    parts.append(paragraph(f"The rule: {v.rule}, which {_rule(v.rule)}.", kind="quiet"))
    return section("verdict", "Verdict", *parts)


def _rule(name: str) -> str:
    return RULES[name] if name == "guarded" else f"is {RULES[name]}"


def estimates(d: Diagnosis) -> Markup:
    """Return the estimates without a threshold, by what they trust, and the forest of all."""
    worth = {row.name: row.labels for row in d.label_equivalents if row.threshold is None}
    known = {row.name for row in d.estimates}
    rows = []
    for row in (d.estimate(name) for name in SHOWN if name in known):
        name = term(row.name)
        if row.name == d.verdict.choice:
            name = Markup(f"{name} <span class='mark'>verdict</span>")
        counted = row.n if row.name == "supervised" else worth.get(row.name)
        rows.append(
            [
                name,
                number(row.estimate),
                number(row.std_error),
                interval_text(row.interval),
                _p(row.p_value),
                "-" if counted is None or row.estimate is None else whole(counted),
                MEANING[row.name].format(how=how(d))
                if row.estimate is not None
                else f"not computed: {row.reason}",
            ]
        )  # fmt: skip
    header = [
        "estimate",
        "effect",
        term("std_error"),
        Markup(f"{percent(d.settings.level)} {term('interval')}"),
        term("p_value"),
        term("worth"),
        "what it is",
    ]
    caption = f"The effect of {d.settings.group or 'the group'} on {d.settings.outcome}, by what each estimate trusts"
    return section(
        "estimates",
        "Estimates",
        table(caption, header, rows, words=(6,), stacked=True),
        _figures(figure(d, "estimates"), figure(d, "ladder")),
        details("Every estimate, in every form", records("Every estimate", d.estimates)),
    )


def thresholds(d: Diagnosis, slider: Slider) -> Markup:
    """Return what a threshold costs, with its slider."""
    said = paragraph(
        Markup(
            f"Calling every row above a threshold t a case multiplies the effect by {term('kappa')}, which needs no "
            f"outcome and no label to be known. {term('deattenuated', 'De-attenuated')} divides by it, and trusts what "
            f"{term('soft')} does."
        )
    )
    header = [
        "label",
        "estimate",
        f"{percent(d.settings.level)} interval",
        Markup(f"keeps ({term('kappa')})"),
        "rows used",
        "squared error to expect (soft: 1)",
    ]
    control = _control(
        "threshold", Markup("Threshold t of the score"), slider, header, "What the threshold keeps and gives"
    )
    return section(
        "thresholds",
        "What a threshold costs",
        said,
        control or paragraph("No threshold was asked for.", kind="missing"),
        _figures(figure(d, "kappa"), figure(d, "forecast")),
    )


def checks(d: Diagnosis) -> Markup:
    """Return every check, failures first."""
    order = list(_OUTCOMES)
    rows = [_check(one) for one in sorted(d.checks, key=lambda one: order.index(one.outcome))]
    looked = table(
        "What the estimates trust, looked at",
        ["assumption", "outcome", term("p_value"), "what was found", "what to do"],
        rows,
        words=(1, 3, 4),
        stacked=True,
    )
    return section(
        "assumptions",
        "Assumptions",
        paragraph(
            Markup(
                f"{term('soft', 'Soft')} is right under {term('calibration')} given the controls and under "
                f"{term('exclusion')}."
            )
        ),
        looked if rows else paragraph("There are no checks.", kind="missing"),
    )


def _check(one: Check) -> list[object]:
    shown = Markup(f'<span class="outcome {one.outcome}">{_OUTCOMES[one.outcome]}</span>')
    advice = "-" if one.advice in {"", "Nothing to do"} else f"{one.advice}."
    return [one.title, shown, _p(one.p_value), f"{one.message}.", advice]


def _p(value: float | None) -> str:
    return "< 0.001" if value is not None and value < 1e-3 else number(value, 2)


def drift(d: Diagnosis, slider: Slider) -> Markup:
    """Return what a drift of the score could do, with its slider."""
    header = ["estimate", "with sampling error", "possible effects", "bias, as a share of the effect"]
    control = _control("drift", term("drift", "Drift δ"), slider, header, "What a drift of this size could do")
    return section(
        "drift",
        "If the score drifts",
        paragraph(
            Markup(
                f"Suppose the group's probability is off the score by up to {term('drift', 'δ')} anywhere, in whatever "
                "way is worst, and nothing leaks. Which effects are then possible?"
            )
        ),
        paragraph(*_drift_facts(d)),
        control or paragraph("No bound can be computed.", kind="missing"),
        _figures(figure(d, "drift")),
    )


def _drift_facts(d: Diagnosis) -> Iterator[Markup | str]:
    broken = d.breakdown.rows[0] if len(d.breakdown) else None
    if broken is not None and broken.breakdown is not None:
        yield Markup(f"The {term('breakdown')} of soft is δ = {number(broken.breakdown, 2)}.")
    elif broken is not None and broken.reason:
        yield f"Soft has no breakdown: {broken.reason}."
    seen = d.drift_curves.supported
    if seen.delta_hat is not None and seen.delta_upper is not None:
        yield (
            f"On {seen.n:,} labelled rows the score is off by {number(seen.delta_hat, 2)} in root mean square, by "
            f"{number(seen.delta_upper, 2)} at most."
        )


def score(d: Diagnosis) -> Markup:
    """Return what the controls leave of the score, and what the audit rows say of it."""
    v = d.v_star
    left = f"V* cannot be computed: {v.reason}." if v.estimate is None else ""
    if v.estimate is not None and d.score_variance > 0:
        left = (
            f"The controls leave {term('v_star')} = {number(v.estimate)} (standard error {number(v.std_error)}) of the "
            f"variance of the score, {v.estimate / d.score_variance:.0%}: all that soft can work with."
        )
    audited = Markup(
        f"The {term('audit')} show the {term('slope')} and the {term('leak')} of soft, and so its {term('bias')}."
    )
    stack = Markup(f'<div class="stack">{figure(d, "audit")}{figure(d, "score")}</div>')
    return section("score", "The score", paragraph(Markup(left), audited), _figures(stack, figure(d, "reliability")))


def _figures(*figures: Markup) -> Markup:
    return Markup(f'<div class="figures">{"".join(figures)}</div>')


def _control(name: str, label: Markup, slider: Slider, header: Sequence[object], caption: str) -> Markup:
    """Return a slider with the place it starts at: a page whose script does not run shows that one."""
    if not slider.places:
        return Markup("")
    first = slider.places[slider.first]
    rows = [
        [named(row, threshold) if threshold is not None else term(row), *cells]
        for (row, threshold), cells in zip(slider.rows, first.cells, strict=True)
    ]
    most = len(slider.places) - 1
    fixed = "" if most else " disabled"
    return Markup(
        f'<div class="live" data-slider="{name}"><label for="{name}-slider">{label}: '
        f'<output for="{name}-slider" id="{name}-value">{text(first.shown)}</output></label>'
        f'<input type="range" id="{name}-slider" min="0" max="{most}" step="1" value="{slider.first}"'
        f' aria-valuetext="{text(first.shown)}"{fixed}>'
        f'<p id="{name}-said" role="status" aria-live="polite">{text(first.said)}</p>'
        f"{table(caption, header, rows, name=f'{name}-table')}</div>"
    )
