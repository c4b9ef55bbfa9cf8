"""Algorithm 1: every branch on estimates written out by hand, and its advice on designs with a known answer."""

import dataclasses
import math
from typing import Any

import pytest

from softlabel import Estimate, InputError, diagnose
from softlabel.decision import check_rule, paper_rule
from softlabel.results import Attenuation, Verdict
from softlabel.results.records import estimated, not_estimated
from softlabel.simulate import PaperDesign

N = 10_000
SOFT = estimated("soft", 1.1, 0.05**2, N, form="orthogonal")
MOMENT = estimated("soft", 1.2, 0.08**2, N, form="moment")
SUPERVISED = estimated("supervised", 0.9, 0.2**2, 300, df=296)
NO_SOFT = not_estimated("soft", "the score is the same in every row", N, form="orthogonal")
NO_MOMENT = not_estimated("soft", "the score is the same in every row", N, form="moment")
NO_SUPERVISED = not_estimated("supervised", "there are no labelled rows", 0)


def _kappa(value: float | None, reach: float = 0.01, threshold: float = 0.5) -> Attenuation:
    if value is None:
        return Attenuation(threshold, None, None, None, None, N, 0, "linear", "no score is above it")
    return Attenuation(threshold, value, reach / 2, value - reach, value + reach, N, N // 2, "linear")


FAR = [_kappa(0.6), _kappa(0.7, threshold=0.8)]


def _rule(
    soft: Estimate = SOFT,
    moment: Estimate = MOMENT,
    supervised: Estimate = SUPERVISED,
    kappa: list[Attenuation] = FAR,
    **options: Any,
) -> Verdict:
    return paper_rule(soft, moment, supervised, kappa, **options)


def _codes(verdict: Verdict) -> list[str]:
    return [reason.code for reason in verdict.because]


def _check(verdict: Verdict, estimate: Estimate) -> None:
    """Compare what a verdict recommends with the estimate that it names."""
    assert verdict.choice == estimate.name
    assert verdict.estimate == estimate.estimate
    assert verdict.interval == estimate.interval
    assert verdict.rule == "paper"
    assert verdict.sentence.startswith(f"Use {estimate.name}: ")
    assert all(f"{reason.message}." in verdict.sentence for reason in verdict.because)


# --------------------------------------------------------------------------------------- by hand


def test_soft_that_is_noisier_than_supervised_gives_supervised() -> None:
    verdict = _rule(supervised=estimated("supervised", 0.9, 0.07**2, 300))
    _check(verdict, estimated("supervised", 0.9, 0.07**2, 300))
    assert _codes(verdict) == ["soft.noisier_by_formula_only"]
    (reason,) = verdict.because
    # The sample deviation divides by n - 1 where the sandwich divides by n.
    assert reason.value == pytest.approx(0.08 * math.sqrt(N / (N - 1)))
    assert reason.limit == pytest.approx(0.07)
    assert verdict.sentence == (
        "Use supervised: 0.900 (95% interval 0.763 to 1.04). The standard error of soft, "
        "0.0800 by the paper's formula, is above that of supervised, 0.0700, though the orthogonal form of soft has "
        "0.0500."
    )


def test_kappa_far_from_one_everywhere_gives_soft() -> None:
    verdict = _rule()
    _check(verdict, SOFT)
    assert _codes(verdict) == ["soft.tighter", "kappa.far_from_one"]
    assert verdict.because[1].value == 0.7
    assert verdict.because[1].limit == 0.95
    assert verdict.because[1].message == "Thresholding multiplies the effect by 0.70 at best, at 0.8"


def test_kappa_near_one_somewhere_gives_soft_too_and_says_where() -> None:
    verdict = _rule(kappa=[*FAR, _kappa(0.97, threshold=0.95)])
    _check(verdict, SOFT)
    assert _codes(verdict) == ["soft.tighter", "kappa.near_one"]
    assert "At 0.95 kappa cannot be told from one" in verdict.because[1].message


def test_it_is_the_moment_form_that_is_compared_and_the_orthogonal_that_is_reported() -> None:
    between = estimated("supervised", 0.9, 0.065**2, 300)
    assert _rule(supervised=between).choice == "supervised"
    assert _rule(supervised=between, moment=estimated("soft", 1.2, 0.06**2, N, form="moment")).choice == "soft"
    assert _rule(supervised=between, soft=dataclasses.replace(SOFT, std_error=9.0)).choice == "supervised"
    assert _rule().estimate == 1.1


def test_an_equal_standard_error_is_not_above() -> None:
    few = dataclasses.replace(MOMENT, n=2, std_error=0.1)
    at = 0.1 * math.sqrt(2)
    assert _rule(moment=few, supervised=dataclasses.replace(SUPERVISED, std_error=at)).choice == "soft"
    below = math.nextafter(at, 0)
    assert _rule(moment=few, supervised=dataclasses.replace(SUPERVISED, std_error=below)).choice == "supervised"


def test_one_row_does_not_divide_by_zero() -> None:
    assert _rule(moment=dataclasses.replace(MOMENT, n=1)).because[0].value == pytest.approx(0.08)


def test_without_supervised_the_first_step_is_passed_over() -> None:
    verdict = _rule(supervised=NO_SUPERVISED)
    _check(verdict, SOFT)
    assert _codes(verdict) == ["supervised.unavailable", "kappa.far_from_one"]
    assert "there are no labelled rows" in verdict.sentence


def test_without_soft_there_is_supervised() -> None:
    verdict = _rule(soft=NO_SOFT, moment=NO_MOMENT)
    _check(verdict, SUPERVISED)
    assert _codes(verdict) == ["soft.unavailable"]
    assert "the score is the same in every row" in verdict.sentence


def test_without_either_there_is_no_choice_and_both_reasons() -> None:
    verdict = _rule(soft=NO_SOFT, moment=NO_MOMENT, supervised=NO_SUPERVISED)
    assert (verdict.choice, verdict.estimate, verdict.interval) == (None, None, None)
    assert _codes(verdict) == ["soft.unavailable", "supervised.unavailable"]
    assert "the score is the same in every row" in verdict.because[0].message
    assert "there are no labelled rows" in verdict.because[1].message
    assert verdict.sentence.startswith("No estimate can be recommended")
    assert "there are no labelled rows" in verdict.sentence


def test_without_either_the_sentence_gives_both_reasons() -> None:
    verdict = _rule(soft=NO_SOFT, moment=NO_MOMENT, supervised=NO_SUPERVISED)
    assert "the score is the same in every row" in verdict.sentence


def test_without_the_moment_form_it_is_not_supervised_that_is_missing() -> None:
    verdict = _rule(moment=not_estimated("soft", "the numbers overflow", N, form="moment"))
    assert "None" not in verdict.sentence
    assert "the numbers overflow" in verdict.sentence


@pytest.mark.parametrize(
    ("kappa", "code"),
    [
        ([], "kappa.unknown"),
        ([_kappa(None)], "kappa.unknown"),
        ([_kappa(None), _kappa(0.6, threshold=0.8)], "kappa.far_from_one"),
        ([_kappa(None), _kappa(1.0, threshold=0.8)], "kappa.near_one"),
        ([_kappa(1.2)], "kappa.far_from_one"),
        ([_kappa(-0.2)], "kappa.far_from_one"),
        # Its interval decides, not its value: 0.60 to 1.00 reaches into 0.95 to 1.05, as 1.00 to 1.40 does.
        ([_kappa(0.8, 0.2)], "kappa.near_one"),
        ([_kappa(1.2, 0.2)], "kappa.near_one"),
        ([_kappa(0.93, 0.019)], "kappa.far_from_one"),
        ([_kappa(0.93, 0.021)], "kappa.near_one"),
    ],
)
def test_what_is_said_of_kappa_does_not_change_the_choice(kappa: list[Attenuation], code: str) -> None:
    verdict = _rule(kappa=kappa)
    _check(verdict, SOFT)
    assert verdict.because[-1].code == code


def test_the_tolerance_decides_what_is_far() -> None:
    kappa = [_kappa(0.7)]
    assert _codes(_rule(kappa=kappa, kappa_tolerance=0.28))[-1] == "kappa.far_from_one"
    assert _codes(_rule(kappa=kappa, kappa_tolerance=0.30))[-1] == "kappa.near_one"
    assert _rule(kappa=kappa, kappa_tolerance=0.2).because[-1].limit == pytest.approx(0.8)


def test_kappa_may_be_any_iterable() -> None:
    assert paper_rule(SOFT, MOMENT, SUPERVISED, iter(FAR)) == _rule()


def test_the_sentence_states_the_level() -> None:
    assert "(90% interval " in _rule(soft=estimated("soft", 1.1, 0.05**2, N, level=0.9)).sentence


@pytest.mark.parametrize(("level", "shown"), [(0.999, "99.9%"), (0.995, "99.5%"), (0.975, "97.5%")])
def test_the_sentence_states_a_level_with_decimals(level: float, shown: str) -> None:
    assert f"({shown} interval " in _rule(soft=estimated("soft", 1.1, 0.05**2, N, level=level)).sentence


def test_rules_and_tolerances_that_do_not_exist() -> None:
    for rule in ("paper", "guarded"):
        assert check_rule(rule, None, 0.05) == 0.05
    with pytest.raises(InputError, match="Did you mean 'paper'"):
        check_rule("papers", None, 0.05)
    for tolerance in (0, 1, -0.1, math.nan, "0.1", None):
        with pytest.raises(InputError, match="kappa_tolerance"):
            check_rule("paper", None, tolerance)  # type: ignore[arg-type]


def test_what_may_be_trusted() -> None:
    for trust in ("nothing", "exclusion", "calibration"):
        assert check_rule("guarded", trust, 0.05) == 0.05
        with pytest.raises(InputError, match="compares precision only"):
            check_rule("paper", trust, 0.05)
    with pytest.raises(InputError, match="Did you mean 'exclusion'"):
        check_rule("guarded", "exclusions", 0.05)


# ------------------------------------------------------------------------------------ known designs


def _verdict(sigma_u: float, n_labelled: int, seed: int = 3) -> Verdict:
    table = PaperDesign(sigma_u=sigma_u).sample(2_000, n_labelled, seed)
    return diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"], rule="paper").verdict


def test_a_score_that_knows_little_beyond_the_controls_gives_supervised() -> None:
    # V* is 0.0022: the variance of soft is 400 times that of 500 labels, so no sample comes near a tie.
    verdict = _verdict(0.1, 500)
    assert verdict.choice == "supervised"
    assert verdict.because[0].code == "soft.noisier"
    assert (verdict.because[0].value or 0) > 5 * (verdict.because[0].limit or math.inf)


def test_a_score_that_knows_much_gives_soft() -> None:
    # V* is 0.055 and 60 labels give a standard error near 0.3, twice that of soft.
    verdict = _verdict(0.5, 60)
    assert verdict.choice == "soft"
    assert [reason.code for reason in verdict.because] == ["soft.tighter", "kappa.far_from_one"]
    assert 1.5 * (verdict.because[0].value or math.inf) < (verdict.because[0].limit or 0)


def test_a_score_that_is_the_controls_gives_supervised() -> None:
    table = PaperDesign().sample(2_000, 100, 1).to_pandas()
    table["p"] = 0.5 + table["x1"] / 20
    verdict = diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2"], rule="paper").verdict
    assert verdict.choice == "supervised"
    assert verdict.because[0].code == "soft.unavailable"
    assert "the controls explain the score completely" in verdict.sentence


def test_a_score_that_is_the_group_costs_nothing_to_threshold() -> None:
    table = PaperDesign(sigma_u=0.999).sample(5_000, 50, 2)
    verdict = diagnose(table, outcome="y", group="g", score="p", controls=["x1", "x2", "x3"], rule="paper").verdict
    assert verdict.choice == "soft"
    assert verdict.because[-1].code == "kappa.near_one"
