"""The guarded rule: every branch on records written out by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from softlabel import Estimate
from softlabel.decision import guarded_rule
from softlabel.decision.changes import labels_for
from softlabel.results import Attenuation, Check, Ladder, Reason, Rung, StepTest, Table, Verdict
from softlabel.results.records import estimated, not_estimated
from softlabel.results.text import number

SUPERVISED = estimated("supervised", 1.23, 0.2**2, 300, df=296)
SOFT = estimated("soft", 1.55, 0.05**2, 10_000, form="orthogonal")
ADAPTIVE = Estimate("adaptive", None, None, 1.34, None, 0.91, 1.69, None, 10_300, "it adapts")
NO_SUPERVISED = not_estimated("supervised", "there are no labelled rows", 0)
NO_SOFT = not_estimated("soft", "the score is the same in every row", 10_000)
NO_LADDER = Ladder(Table(()), Table(()), reason="there are no labelled rows")

RUNGS = (
    Rung(0, "rectified", "a", 1.30, 0.20, 0.91, 1.69),
    Rung(1, "instrumented", "b", 1.42, 0.10, 1.22, 1.62),
    Rung(2, "combined", "c", 1.50, 0.05, 1.40, 1.60),
)
STEPS = (
    StepTest("exclusion", -0.12, 0.17, 0.5, 0.481, 0.0),
    StepTest("calibration", -0.08, 0.04, 4.0, 0.0455, 0.5),
)
OMEGA = ((0.04, 0.0, 0.0, 0.0), (0.0, 0.09, 0.0, 0.0), (0.0, 0.0, 0.0025, 0.0), (0.0, 0.0, 0.0, 0.01))
LADDER = Ladder(
    Table(RUNGS),
    Table(STEPS),
    covariance=OMEGA,
    guarantee=1.44,
    n_labelled=300,
    n_audit=300,
    n_unlabelled=10_000,
    df=296,
)
FAR = (Attenuation(0.5, 0.6, 0.005, 0.59, 0.61, 10_000, 5_000, "linear"),)
FREE = (Attenuation(0.8, 1.0, 0.005, 0.99, 1.01, 10_000, 900, "linear"),)


def check(code: str, p: float | None = 0.4, outcome: Any = "pass") -> Check:
    return Check(code, f"Title of {code}", outcome, 1.0, 1, p, None, f"Message of {code}", "Advice")


CHECKS = [check("exclusion", 0.3), check("samples.score", 0.2), check("score.hard", None)]


def rule(
    supervised: Estimate = SUPERVISED,
    soft: Estimate = SOFT,
    ladder: Ladder = LADDER,
    checks: Sequence[Check] = CHECKS,
    kappa: Sequence[Attenuation] = FAR,
    **options: Any,
) -> Verdict:
    return guarded_rule(supervised, soft, ADAPTIVE, ladder, checks, kappa, **options)


def because(verdict: Verdict) -> dict[str, Reason]:
    return {reason.code: reason for reason in verdict.because}


def changes(verdict: Verdict) -> dict[str, Reason]:
    return {reason.code: reason for reason in verdict.would_change}


# --------------------------------------------------------------------------------------- with a ladder


def test_nothing_trusted_gives_adaptive_with_the_interval_of_rectified() -> None:
    verdict = rule()
    assert (verdict.choice, verdict.estimate, verdict.interval) == ("adaptive", 1.34, (0.91, 1.69))
    assert (verdict.rule, verdict.trust) == ("guarded", None)
    for shown in ("Use adaptive: 1.34", "0.910 to 1.69", "95%", "rectified"):
        assert shown in verdict.sentence
    # Both steps are told with how far they move the estimate, whether the labels object, and how much is taken.
    for step, taken in zip(STEPS, ("100%", "50%"), strict=True):
        reason = because(verdict)[f"step.{step.name}"]
        assert (reason.value, reason.limit) == (1 - step.kept, step.p_value)
        assert f"by {number(-step.distance)} (p = {number(step.p_value, 2)})" in reason.message
        assert f"of that step {taken} is taken" in reason.message
        assert f"{reason.message}." in verdict.sentence


def test_the_guarantee_is_told() -> None:
    reason = because(rule())["adaptive.guarantee"]
    assert reason.value == 1.44
    assert "at most 1.44 times rectified's" in reason.message


def test_a_step_that_is_kept_whole_is_not_taken() -> None:
    steps = (replace(STEPS[0], kept=1.0), STEPS[1])
    assert (
        "the step is not taken" in because(rule(ladder=replace(LADDER, steps=Table(steps))))["step.exclusion"].message
    )


@pytest.mark.parametrize(
    ("trust", "place", "choice", "steps"),
    [
        ("nothing", 0, "rectified", []),
        ("exclusion", 1, "instrumented", ["step.exclusion"]),
        ("calibration", 2, "combined", ["step.exclusion", "step.calibration"]),
    ],
)
def test_what_the_caller_trusts_is_taken_whole(trust: str, place: int, choice: str, steps: list[str]) -> None:
    verdict = rule(trust=trust)
    rung = RUNGS[place]
    assert (verdict.choice, verdict.estimate, verdict.trust) == (choice, rung.estimate, trust)
    assert verdict.interval == (rung.ci_low, rung.ci_high)
    # The labels object to calibration, at a p-value of 0.0455.
    assert ("The labels object" in verdict.sentence) == (trust == "calibration")
    for shown in (f"Use {choice}, as you trust {trust}", number(rung.estimate), number(rung.ci_high)):
        assert shown in verdict.sentence
    # The test of each step that was taken stands beside it; nothing is said of a share, for it is taken whole.
    assert [code for code in because(verdict) if code.startswith("step.")] == steps
    assert "% is taken" not in verdict.sentence
    assert "adaptive.guarantee" not in because(verdict)


def test_another_population_gives_supervised() -> None:
    strange = [*CHECKS, check("samples.controls", 1e-7, "fail")]
    verdict = rule(checks=strange)
    assert (verdict.choice, verdict.estimate, verdict.interval) == ("supervised", 1.23, SUPERVISED.interval)
    assert "another population" in verdict.sentence
    assert number(1.23) in verdict.sentence
    assert because(verdict)["check.samples.controls"].limit == 1e-7
    # The caller's word counts for more, and the check is still named.
    trusting = rule(checks=strange, trust="nothing")
    assert trusting.choice == "rectified"
    assert "another population" in trusting.sentence
    assert "check.samples.controls" in because(trusting)
    # Nobody is offered more trust, and without a supervised estimate there is nothing to go back to.
    assert "trust.exclusion" not in changes(verdict)
    none = rule(supervised=not_estimated("supervised", "leverage 1", 300), checks=strange)
    assert none.choice == "adaptive"
    assert "another population" in none.sentence


def test_labels_that_trained_the_score_give_supervised() -> None:
    trained = [*CHECKS, check("audit.clean", None, "fail")]
    verdict = rule(checks=trained)
    assert verdict.choice == "supervised"
    assert "seem to have trained the score" in verdict.sentence
    # Errors that are small by chance, or because the score is unsure, are no such proof.
    assert rule(checks=[*CHECKS, check("audit.clean", 1e-9, "fail")]).choice == "adaptive"


def test_trust_is_not_offered_where_the_labels_object() -> None:
    assert "trust.exclusion" not in changes(rule(checks=[check("exclusion", 0.02, "warn")]))
    objected = (replace(STEPS[0], p_value=0.01), STEPS[1])
    assert "trust.exclusion" not in changes(rule(ladder=replace(LADDER, steps=Table(objected))))
    # With checks that fail none is the nearest to failing.
    assert not [
        code for code in changes(rule(checks=[*CHECKS, check("effect.varies", 0.001, "fail")])) if "check" in code
    ]


def test_trust_that_cannot_be_used_is_said() -> None:
    nothing = rule(supervised=NO_SUPERVISED, ladder=NO_LADDER, trust="nothing")
    assert (nothing.choice, nothing.estimate) == (None, None)
    assert "you trust nothing of the score" in nothing.sentence
    assert "cannot be used" in rule(ladder=replace(NO_LADDER, reason="too few"), trust="exclusion").sentence


def test_labels_for_a_standard_error_are_those_of_rectified() -> None:
    omega = ((0.04, 0.03, 0, 0), (0.03, 0.09, 0, 0), (0, 0, 0.0025, 0), (0, 0, 0, 0.01))
    wanted = labels_for(replace(LADDER, covariance=omega), 0.1)
    assert wanted is not None
    share = 300 / wanted
    gap = 0.09 * share + 0.0025
    assert 0.04 * share - (0.03 * share) ** 2 / gap == pytest.approx(0.01, rel=1e-9)
    assert labels_for(LADDER, 0.3) is None
    # In units so small that a product of variances is zero nothing is known.
    tiny = tuple(tuple(value * 1e-200 for value in row) for row in omega)
    assert labels_for(replace(LADDER, covariance=tiny), 1e-100) is None


@pytest.mark.parametrize("p", [0.009, 0.02, 0.2])
def test_a_comparison_that_chance_may_explain_does_not(p: float) -> None:
    strange = [*CHECKS, check("samples.controls", p, "fail" if p < 0.01 else "warn")]
    assert rule(checks=strange).choice == "adaptive"


def test_checks_that_fail_are_reasons_once_each() -> None:
    failing = [check("exclusion", 0.001, "fail"), check("calibration.control", 0.002, "fail")]
    verdict = rule(checks=[*failing, failing[1], check("effect.varies", 0.02, "warn")])
    assert verdict.choice == "adaptive"
    found = [code for code in because(verdict) if code.startswith("check.")]
    assert sorted(found) == ["check.calibration.control", "check.exclusion"]
    assert len(verdict.because) == len(because(verdict))


# --------------------------------------------------------------------------------------- what else is said


def test_a_threshold_near_one_is_free() -> None:
    assert "0.8" in because(rule(kappa=FREE))["threshold.free"].message
    assert "threshold.free" not in because(rule(kappa=FAR))
    assert "kappa.far_from_one" in because(rule(kappa=FAR))
    # The interval decides, not the number, and the tolerance is the caller's.
    wide = (replace(FREE[0], ci_low=0.9, ci_high=1.1),)
    assert "threshold.free" not in because(rule(kappa=wide))
    assert "threshold.free" in because(rule(kappa=wide, kappa_tolerance=0.2))


def test_what_would_change_it() -> None:
    found = changes(rule())
    # Four times the rows for half the standard error: 900 more than 300.
    assert found["labels.more"].value == pytest.approx(900)
    assert "900 more labelled rows" in found["labels.more"].message
    assert found["trust.exclusion"].value == 1.42
    assert "1.22 to 1.62" in found["trust.exclusion"].message
    # Of the checks that pass, that of the smallest p-value.
    assert found["check.samples.score"].value == 0.2
    assert set(changes(rule(trust="calibration"))) == {"check.samples.score"}


def test_no_labels_are_asked_for_where_trusting_gains_nothing() -> None:
    rungs = (RUNGS[0], replace(RUNGS[1], std_error=0.2), RUNGS[2])
    assert "labels.more" not in changes(rule(ladder=replace(LADDER, rungs=Table(rungs))))
    zero = (RUNGS[0], replace(RUNGS[1], std_error=0.0), RUNGS[2])
    assert "labels.more" not in changes(rule(ladder=replace(LADDER, rungs=Table(zero))))


# --------------------------------------------------------------------------------------- without


@pytest.mark.parametrize("trust", [None, "exclusion"])
def test_without_labels_what_is_not_tested_is_said_first(trust: str | None) -> None:
    verdict = rule(supervised=NO_SUPERVISED, ladder=NO_LADDER, trust=trust)
    assert (verdict.choice, verdict.estimate, verdict.interval) == ("soft", 1.55, SOFT.interval)
    assert verdict.sentence.startswith("Neither calibration nor exclusion can be tested: there are no labelled rows.")
    assert "use soft: 1.55 (95% interval 1.45 to 1.65)" in verdict.sentence
    assert set(changes(verdict)) == {"labels.audit"}


def test_labels_that_cannot_audit_give_supervised() -> None:
    verdict = rule(ladder=replace(NO_LADDER, reason="5 labelled rows are too few"))
    assert (verdict.choice, verdict.estimate, verdict.interval) == ("supervised", 1.23, SUPERVISED.interval)
    assert "cannot audit the score: 5 labelled rows are too few." in verdict.sentence
    assert "assumptions.untested" in because(verdict)
    assert set(changes(verdict)) == {"labels.audit"}


def test_nothing_at_all_says_why() -> None:
    verdict = rule(supervised=NO_SUPERVISED, soft=NO_SOFT, ladder=NO_LADDER)
    assert (verdict.choice, verdict.estimate, verdict.interval) == (None, None, None)
    assert verdict.sentence.startswith("No estimate can be recommended.")
    for said in ("there are no labelled rows", "the score is the same in every row"):
        assert said in verdict.sentence
    assert set(because(verdict)) == {"assumptions.untested", "supervised.unavailable", "soft.unavailable"}
