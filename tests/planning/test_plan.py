"""plan: what it returns and refuses, from numbers and from a pilot."""

import dataclasses
import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import softlabel as sl
from softlabel import DataError, Diagnosis, InputError, Plan, StateError, diagnose, plan
from softlabel.simulate import PaperDesign
from tests.labelled import diagnosed, study

NUMBERS: dict[str, Any] = {
    "tau": 1.0,
    "noise_sd": 1.0,
    "group_variance": 0.2,
    "v_star": 0.05,
    "n_unlabelled": 20_000,
}
ROLES: dict[str, Any] = {"outcome": "y", "group": "g", "score": "p", "controls": ["x1", "x2", "x3"], "threads": 1}


@cache
def _pilot() -> Diagnosis:
    table = PaperDesign(sigma_u=0.5).sample(3000, 300, seed=1)
    return diagnose(table, **ROLES, basis="linear", thresholds=(), confident=())


def test_from_numbers() -> None:
    p = plan(target_se=0.1, **NUMBERS, n_labelled=300)
    assert p.source == "numbers"
    assert p.needs["name"] == ["supervised", "rectified", "instrumented", "combined"]
    assert p.need("supervised").labels == 500  # σ²/(V_G se²)
    assert p.need("supervised").std_error == pytest.approx((1 / (0.2 * 300)) ** 0.5)
    assert "supervised needs 500 labelled rows" in p.sentence
    assert "there are 300" in p.sentence
    assert p.half_width == pytest.approx(0.196, abs=1e-4)
    assert [row.share for row in p.richer if row.score == "as it is"] == [pytest.approx(0.25)]
    same = next(row for row in p.richer if row.score == "as it is")
    assert (same.rectified, same.instrumented, same.combined) == tuple(p.needs["labels"][1:])
    assert (same.rectified_se, same.instrumented_se, same.combined_se) == tuple(p.needs["std_error"][1:])


def test_from_a_pilot_with_its_own_rows_it_is_the_diagnosis() -> None:
    p = plan(_pilot(), target_se=0.1)
    assert p.source == "pilot"
    assert (p.n_labelled, p.n_unlabelled) == (300, 3000)
    for row in p.needs:
        # The rungs' weights at the same τ and c: the same numbers but for rounding.
        assert row.std_error == pytest.approx(_pilot().estimate(row.name).std_error, rel=1e-9)
    there = next(row for row in p.errors if row.labels == 300)
    assert there.supervised == pytest.approx(_pilot().estimate("supervised").std_error)


def test_a_richer_score_never_needs_more() -> None:
    for p in (plan(target_se=0.05, **NUMBERS), plan(_pilot(), target_se=0.05)):
        assert p.richer["share"] == sorted(p.richer["share"])
        for name in ("rectified", "instrumented", "combined"):
            labels = p.richer[name]
            assert labels == sorted(labels, reverse=True)
            assert labels[0] > labels[-1]


def test_a_stricter_target_never_needs_fewer() -> None:
    needs = [plan(_pilot(), target_se=se).needs["labels"] for se in (0.2, 0.1, 0.05, 0.02)]
    assert (np.diff(np.array(needs), axis=0) >= 0).all()


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ("tau", 3.0),
        ("noise_sd", 2.0),
        ("group_variance", 0.1),
        ("v_star", 0.1),
        ("uncertainty", 0.01),
        ("n_unlabelled", 500),
        ("n_labelled", 77),
        ("labels", [123]),
        ("richer", [0.4]),
        ("level", 0.9),
        ("target_se", 0.2),
    ],
)
def test_every_argument_matters(changed: str, value: Any) -> None:
    asked = {"target_se": 0.1, **NUMBERS}
    assert plan(**asked) != plan(**{**asked, changed: value})


def test_more_unlabelled_rows_than_the_pilots() -> None:
    few, many = plan(_pilot(), target_se=0.05), plan(_pilot(), target_se=0.05, n_unlabelled=10**6)
    assert many.n_unlabelled == 10**6
    assert few.need("supervised").labels == many.need("supervised").labels
    for name in ("rectified", "instrumented", "combined"):
        one, other = few.need(name).labels, many.need(name).labels
        assert one is not None
        assert other is not None
        assert other < one
    assert few.needs["labels_unlimited"] == many.needs["labels_unlimited"]


def test_what_is_not_known_is_null_with_a_reason() -> None:
    alone = plan(target_se=0.1, noise_sd=1, group_variance=0.2)
    assert alone.needs["labels"] == [500, None, None, None]
    assert "v_star" in str(alone.need("combined").reason)
    assert len(alone.richer) == 0
    nothing = plan(target_se=0.1, **{**NUMBERS, "v_star": 0})
    assert "V* = 0" in str(nothing.need("rectified").reason)
    assert set(nothing.richer["score"]) == {""}
    unsaid = plan(target_se=0.1, **{**NUMBERS, "n_unlabelled": None})
    assert "unlabelled" in str(unsaid.need("instrumented").reason)
    assert unsaid.needs["labels_unlimited"][0] == 500
    assert None not in unsaid.needs["labels_unlimited"]
    unreached = plan(target_se=1e-8, **NUMBERS)
    assert unreached.needs["labels"] == [None] * 4
    assert "1,000,000,000,000" in str(unreached.need("supervised").reason)
    assert "No number of labelled rows" in unreached.sentence
    for p in (alone, nothing, unsaid, unreached):
        assert p.summary().isascii()


def _without_ladder() -> Diagnosis:
    table = PaperDesign(sigma_u=0.5).sample(2000, 200, seed=1)
    score = table["p"].to_numpy().copy()
    # What the controls explain completely audits nothing.
    score[:] = 0.5
    return diagnose({**{n: table[n] for n in ("x1", "x2", "x3", "y", "g")}, "p": score}, **ROLES)


def test_a_pilot_without_a_ladder_still_plans_supervised() -> None:
    p = plan(_without_ladder(), target_se=0.1)
    assert p.need("supervised").labels is not None
    assert p.needs["labels"][1:] == [None] * 3
    assert p.need("rectified").reason
    assert "supervised needs" in p.summary()


def test_a_pilot_of_clusters_says_what_it_takes_for_granted() -> None:
    table = PaperDesign(sigma_u=0.5).sample(3000, 600, seed=3)
    ward = np.random.default_rng(0).integers(0, 150, 3600)
    d = diagnose(table.append_column("ward", [ward]), **ROLES, cluster="ward", basis="linear")
    p = plan(d, target_se=0.05)
    assert "plan.clusters" in [note.code for note in p.notes]
    for row in p.needs:
        assert row.std_error == pytest.approx(d.estimate(row.name).std_error, rel=1e-9)
    labels = p.need("rectified").labels
    assert labels is not None
    near = plan(d, target_se=0.05, labels=[labels - 1, labels]).errors["rectified"]
    assert near[1] <= 0.05 < near[0]


def test_an_audit_of_some_rows_is_said() -> None:
    # 150 audit rows of each group: where they are few, the errors of the higher rungs are those of a jackknife.
    table = PaperDesign(sigma_u=0.5).sample(3000, 600, seed=3)
    clean = np.arange(3600) % 2.0
    d = diagnose(table.append_column("clean", [clean]), **ROLES, audit="clean", basis="linear")
    p = plan(d, target_se=0.05)
    assert d.ladder.n_audit == 300
    assert "plan.audit" in [note.code for note in p.notes]
    for row in p.needs:
        assert row.std_error == pytest.approx(d.estimate(row.name).std_error, rel=1e-9)


def test_small_answers_come_with_a_warning() -> None:
    codes = {note.code for note in plan(target_se=0.3, **NUMBERS).notes}
    assert {"plan.few", "plan.no_labels", "plan.assumes"} <= codes
    assert "plan.no_effect" in {note.code for note in plan(target_se=0.1, **{**NUMBERS, "tau": 0}).notes}


@pytest.mark.parametrize(
    ("broken", "codes"),
    [
        ({}, set()),
        ({"sharp": 0.3}, {"plan.calibration_rejected"}),
        # A score that knows of the outcome more than the group: no step then stands.
        ({"leak": 1.0}, {"plan.exclusion_rejected", "plan.calibration_rejected"}),
    ],
)
def test_what_the_pilot_rejects_is_said(broken: dict[str, float], codes: set[str]) -> None:
    d = diagnosed(study(np.random.default_rng(3), labelled=400, **broken))  # type: ignore[arg-type]
    p = plan(d, target_se=0.05)
    said = {note.code: note.message for note in p.notes if note.code.endswith("_rejected")}
    assert set(said) == codes
    for step in d.ladder.steps:
        assert (step.p_value < 0.05) == (f"plan.{step.name}_rejected" in codes)
    for code, message in said.items():
        step_name = code.removeprefix("plan.").removesuffix("_rejected")
        assert message.startswith(f"The pilot's labels reject {step_name} (p = ")
        assert message.split(":")[0].split("(")[0] in " ".join(p.summary().split())
    labels = dict(zip(p.needs["name"], p.needs["labels"], strict=True))
    if broken == {"leak": 1.0}:
        assert labels["combined"] > labels["instrumented"]


def test_a_target_that_is_reached_already_is_said() -> None:
    labels = plan(target_se=0.1, **NUMBERS).need("supervised").labels
    assert labels == 500
    there = "A standard error of 0.100 is reached already: supervised has it with the 500 labelled rows there are."
    assert plan(target_se=0.1, **NUMBERS, n_labelled=500).sentence == there
    assert "needs 500 labelled rows" in plan(target_se=0.1, **NUMBERS, n_labelled=499).sentence
    # What only a rung reaches is still a number of labels: it stands on more.
    assert "instrumented 189" in plan(target_se=0.1, **NUMBERS, n_labelled=200).sentence


@pytest.mark.parametrize("noise_sd", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("tau", [-1e20, 0, 1e-20, 1e20])
@pytest.mark.parametrize("target_se", [1e-20, 1e20])
@pytest.mark.parametrize("v_star", [1e-9, 0.05, 0.2])
def test_numbers_of_any_size_are_finite(noise_sd: float, tau: float, target_se: float, v_star: float) -> None:
    p = plan(**{**NUMBERS, "noise_sd": noise_sd, "tau": tau, "target_se": target_se, "v_star": v_star}, n_labelled=200)
    # Neither NaN nor infinity can be written: they would come back as null.
    assert Plan.from_json(p.to_json()) == p
    assert None not in p.needs["std_error"]
    assert all(np.isfinite(p.needs["std_error"]))
    assert p.summary()


# ------------------------------------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"target_se": 0}, ["target_se to be a number above 0", "found 0"]),
        ({"target_se": -1}, ["target_se"]),
        ({"target_se": float("nan")}, ["target_se"]),
        ({"target_se": "0.1"}, ["found '0.1'"]),
        ({"target_se": 1e-200}, ["between 1e-20 and 1e+20"]),
        ({"noise_sd": 0}, ["noise_sd"]),
        ({"noise_sd": None}, ["no noise_sd", "Diagnosis of a pilot"]),
        ({"tau": None}, ["no tau"]),
        ({"tau": float("inf")}, ["tau to be a number"]),
        ({"group_variance": 0.3}, ["at most 0.25", "q(1 - q)"]),
        ({"group_variance": 0}, ["group_variance"]),
        ({"v_star": 0.21}, ["v_star to be at most group_variance", "0.21"]),
        ({"v_star": -0.1}, ["v_star"]),
        ({"uncertainty": 0.3}, ["uncertainty"]),
        ({"uncertainty": 0.1, "v_star": None}, ["uncertainty beside a v_star"]),
        ({"n_unlabelled": 0}, ["n_unlabelled"]),
        ({"n_unlabelled": 10.5}, ["whole number"]),
        ({"n_labelled": True}, ["n_labelled"]),
        ({"labels": [0]}, ["every entry of labels"]),
        ({"labels": 100}, ["labels to be a list", "labels=[100]"]),
        ({"richer": [1.5]}, ["every entry of richer", "share"]),
        ({"richer": [0.5], "tau": None, "v_star": None}, ["to compare scores", "tau"]),
        ({"richer": [0.5], "n_unlabelled": None}, ["to compare scores", "n_unlabelled"]),
        ({"level": 95}, ["level"]),
    ],
)
def test_a_wrong_call(changes: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        plan(**{"target_se": 0.1, **NUMBERS, **changes})
    assert [part for part in parts if part not in str(caught.value)] == []


def test_nothing_at_all_is_told_what_to_give() -> None:
    with pytest.raises(InputError, match="a pilot, or the numbers"):
        plan(target_se=0.1)


def test_a_pilot_and_numbers() -> None:
    with pytest.raises(InputError, match="a pilot and tau="):
        plan(_pilot(), target_se=0.1, tau=1)


def test_a_pilot_that_is_none() -> None:
    with pytest.raises(InputError, match=r"Diagnosis\.from_json"):
        plan("diagnosis.json", target_se=0.1)  # type: ignore[arg-type]


def test_a_pilot_without_labels_says_what_to_give_instead() -> None:
    table = PaperDesign(sigma_u=0.5).sample(2000, 0, seed=1)
    asked = {**ROLES, "group": None}
    with pytest.raises(DataError) as caught:
        plan(diagnose(table.drop_columns(["g"]), **asked), target_se=0.1)
    message = str(caught.value)
    assert "there are no labelled rows" in message
    assert "Give numbers in its place: tau=, noise_sd=, group_variance=, v_star=0.05" in message
    assert "n_unlabelled=2000" in message


# ------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize("source", ["pilot", "numbers"])
def test_json_there_and_back(source: str) -> None:
    p = plan(_pilot(), target_se=0.1) if source == "pilot" else plan(target_se=0.1, **NUMBERS)
    for text in (p.to_json(), p.to_json(indent=2)):
        again = Plan.from_json(text)
        assert again == p
        assert again.summary() == p.summary()
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.level = 0.9  # type: ignore[misc]


def test_json_of_something_else() -> None:
    for text in ("", "{}", _pilot().to_json()):
        with pytest.raises(StateError, match="JSON written by Plan"):
            Plan.from_json(text)
    tree = json.loads(plan(target_se=0.1, **NUMBERS).to_json())
    with pytest.raises(StateError, match="schema version 1"):
        Plan.from_json(json.dumps({**tree, "schema_version": 2}))


def test_tables_go_to_frames() -> None:
    p = plan(target_se=0.1, noise_sd=1, group_variance=0.2)
    assert p.needs.to_pandas()["labels"].isna().tolist() == [False, True, True, True]
    assert plan(target_se=0.1, **NUMBERS).richer.to_polars().height == 8


def test_the_page_fits_its_width() -> None:
    for p in (plan(_pilot(), target_se=0.1), plan(target_se=1e-6, **{**NUMBERS, "noise_sd": 1e6}, n_labelled=10**9)):
        page = p.summary()
        assert max(map(len, page.splitlines())) <= 96
        assert page.isascii()
        assert page.startswith("Plan\n")
        assert "Labels needed" in page


# ------------------------------------------------------------------------------------------- Var(G|X) of the pilot


@pytest.mark.parametrize("weight_type", [None, "frequency", "sampling"])
def test_the_variance_of_the_group_by_least_squares(weight_type: str | None) -> None:
    table = PaperDesign(sigma_u=0.5).sample(1000, 80, seed=2)
    weight = np.random.default_rng(0).integers(1, 4, 1080)
    options: dict[str, Any] = {} if weight_type is None else {"weights": "w", "weight_type": weight_type}
    d = diagnose(table.append_column("w", [weight]), **ROLES, basis="linear", **options)
    w = weight[1000:] if weight_type else np.ones(80)
    g = table["g"].to_numpy()[1000:]
    x = np.column_stack([np.ones(80), *(table[f"x{j}"].to_numpy()[1000:] for j in (1, 2, 3))])
    root = np.sqrt(w)
    left = g - x @ np.linalg.lstsq(x * root[:, None], g * root, rcond=None)[0]
    n = w.sum() if weight_type == "frequency" else 80
    assert d.ladder.group_variance == pytest.approx(np.average(left**2, weights=w) * n / (n - 4), rel=1e-10)


def test_plan_is_public() -> None:
    assert sl.plan is plan
