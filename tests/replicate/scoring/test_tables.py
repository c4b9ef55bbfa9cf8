"""Every number of the tables, computed again from the runs by hand; the aims; the page; the command."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, norm

from softlabel.cli import main
from softlabel.errors import InputError
from softlabel.replicate.scoring import calibrating, command, drawing, learning
from softlabel.replicate.scoring.aims import verdicts
from softlabel.replicate.scoring.calibrating import ESTIMATORS
from softlabel.replicate.scoring.command import Runs, ScoresFound, replicate_scores, runs_of, scores_found
from softlabel.results import Table
from softlabel.simulate import MonteCarlo

Floats = NDArray[np.float64]

CALIBRATORS, SPLITS = ("platt", "conditional"), ("folds", "halves")
N = 40


def _run(columns: dict[str, Floats | list[float | None]]) -> MonteCarlo:
    rows = tuple(zip(*(map(_plain, values) for values in columns.values()), strict=True))
    return MonteCarlo("made", 3, tuple(columns), rows)


def _plain(value: Any) -> float | None:
    return None if value is None else float(value)


def _estimator(rng: np.random.Generator, name: str, spread: float, reach: float) -> dict[str, Any]:
    values = 1 + spread * rng.normal(size=N)
    return {name: values, f"{name} low": values - reach, f"{name} high": values + reach}


def _labels(seed: int) -> MonteCarlo:
    rng = np.random.default_rng(seed)
    columns = _estimator(rng, "supervised", 0.2, 0.4)
    for calibrator in CALIBRATORS:
        for split in SPLITS:
            before = f"{calibrator} {split} "
            for j, name in enumerate(ESTIMATORS):
                columns |= _estimator(rng, before + name, 0.1 + 0.02 * j, 0.15)
                if split == "halves" and name in {"rectified", "instrumented", "combined"}:
                    columns |= dict.fromkeys((before + name + part for part in ("", " low", " high")), [None] * N)
            for what in ("suspect", "calibration p", "slope"):
                values = rng.uniform(size=N) if what != "suspect" else (rng.uniform(size=N) < 0.2).astype(float)
                columns[before + what] = [None] * N if split == "halves" else values
    # A value that could not be computed.
    columns["platt folds soft"] = [None, *columns["platt folds soft"][1:]]
    columns["platt folds soft low"] = [None, *columns["platt folds soft low"][1:]]
    return _run(columns)


def _checks(seed: int) -> MonteCarlo:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for calibrator in CALIBRATORS:
        columns |= {f"{calibrator} {check}": rng.uniform(0, 0.2, N) for check in ("given_controls", "controls_only")}
        columns[f"{calibrator} slope"] = rng.normal(1, 0.1, N)
    return _run(columns)


def _noise(seed: int) -> MonteCarlo:
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {"v_star": rng.uniform(0.01, 0.03, N), "slope": rng.normal(0, 0.2, N)}
    columns["injected"] = rng.uniform(0.01, 0.02, N)
    for name in drawing.ESTIMATORS:
        columns |= _estimator(rng, name, 0.2, 0.3)
    return _run(columns)


def _learners(seed: int) -> MonteCarlo:
    rng = np.random.default_rng(seed)
    names = [f"{draw} {name}" for draw in learning.DRAWS for name in ("truth", "linear", "forest")]
    return _run({name: rng.uniform(0.01, 0.02, N) for name in names})


@pytest.fixture(scope="module")
def runs() -> Runs:
    return Runs(
        labels={200: _labels(0), 500: _labels(1)},
        fresh={(0.0, 20_000): _checks(2), (1.0, 20_000): _checks(3), (1.0, 5_000): _checks(4)},
        crossed={1.0: _checks(5)},
        noise={made.name: _noise(6 + j) for j, made in enumerate(drawing.MADE)},
        learners={200: _learners(20), 500: _learners(21)},
    )


@pytest.fixture(scope="module")
def found(runs: Runs) -> ScoresFound:
    return scores_found(runs, seed=3)


def _column(run: MonteCarlo, name: str) -> Floats:
    at = run.names.index(name)
    return np.array([math.nan if row[at] is None else row[at] for row in run.rows])


def _exact(hits: int, n: int) -> tuple[float, float]:
    """Return Clopper and Pearson's interval, by scipy's quantiles."""
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    return low, float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0


def _close(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-9)


def test_estimators(runs: Runs, found: ScoresFound) -> None:
    target = found.target
    assert target == pytest.approx(1.0, abs=1e-10)
    rows = {(row.labelled, row.calibrator, row.split, row.estimator): row for row in found.scores}
    assert len(rows) == len(found.scores) == 2 * (1 + 2 * 5 + 2 * 2)
    for (labelled, calibrator, split, name), row in rows.items():
        run = runs.labels[labelled]
        label = name if calibrator is None else f"{calibrator} {split} {name}"
        values, other = _column(run, label), _column(run, "supervised")
        known = ~np.isnan(values)
        squares, against = (values[known] - target) ** 2, (other[known] - target) ** 2
        n = len(squares)
        assert (row.n, row.missing) == (n, N - n) == ((39, 1) if label == "platt folds soft" else (40, 0))
        assert row.mse == _close(float(squares.mean()))
        assert row.bias == _close(float(values[known].mean() - target))
        assert row.bias_error == _close(float(values[known].std(ddof=1) / np.sqrt(n)))
        ratio = squares.mean() / against.mean()
        assert row.ratio == _close(float(ratio))
        away = (squares - ratio * against) / against.mean()
        assert row.ratio_error == _close(float(np.sqrt((away**2).mean() / n)))
        inside = (_column(run, f"{label} low") <= target) & (target <= _column(run, f"{label} high"))
        assert row.coverage == _close(float(inside[known].mean()))
        assert (row.coverage_low, row.coverage_high) == pytest.approx(_exact(int(inside.sum()), n), rel=1e-9)


def test_what_checks_say(runs: Runs, found: ScoresFound) -> None:
    assert len(found.settings) == 2 * 4
    for row in found.settings:
        run, before = runs.labels[row.labelled], f"{row.calibrator} {row.split} "
        if row.split == "halves":
            assert (row.suspect, row.rejected, row.rejected_low, row.slope, row.slope_error, row.n) == (*[None] * 5, 0)
            continue
        suspect, p, slope = (_column(run, before + what) for what in ("suspect", "calibration p", "slope"))
        for values, got in (
            (suspect == 1, (row.suspect, row.suspect_low, row.suspect_high)),
            (p <= 0.05, (row.rejected, row.rejected_low, row.rejected_high)),
        ):
            assert got == pytest.approx((values.mean(), *_exact(int(values.sum()), N)), rel=1e-9)
        assert (row.slope, row.slope_error) == pytest.approx((slope.mean(), slope.std(ddof=1) / np.sqrt(N)), rel=1e-9)
    rows = {(row.rows, row.shift, row.fitted, row.calibrator, row.check): row for row in found.checks}
    assert len(rows) == len(found.checks) == 4 * 2 * 2
    for (kind, shift, fitted, calibrator, check), one in rows.items():
        run = runs.crossed[shift] if kind == "crossed" else runs.fresh[shift, fitted]
        assert kind == "fresh" or fitted == 500
        rejected, slope = _column(run, f"{calibrator} {check}") <= 0.05, _column(run, f"{calibrator} slope")
        expected = (rejected.mean(), *_exact(int(rejected.sum()), N))
        assert (one.share, one.low, one.high) == pytest.approx(expected, rel=1e-9)
        assert (one.slope, one.slope_error) == pytest.approx((slope.mean(), slope.std(ddof=1) / np.sqrt(N)), rel=1e-9)


def test_noise_and_learners(runs: Runs, found: ScoresFound) -> None:
    assert len(found.noise) == 6 * 7
    for row in found.noise:
        run = runs.noise[row.score]
        values = _column(run, row.what)
        assert (row.mean, row.error) == pytest.approx((values.mean(), values.std(ddof=1) / np.sqrt(N)), rel=1e-9)
        if row.what not in drawing.ESTIMATORS:
            assert (row.coverage, row.coverage_low, row.coverage_high) == (None, None, None)
            continue
        inside = (_column(run, f"{row.what} low") <= 1) & (_column(run, f"{row.what} high") >= 1)
        expected = (inside.mean(), *_exact(int(inside.sum()), N))
        assert (row.coverage, row.coverage_low, row.coverage_high) == pytest.approx(expected, rel=1e-9)
    assert len(found.learners) == 2 * 2 * 2
    for one in found.learners:
        values = _column(runs.learners[one.labelled], f"{one.draw} {one.learner}")
        assert (one.v_star, one.error) == pytest.approx((values.mean(), values.std(ddof=1) / np.sqrt(N)), rel=1e-9)
        assert one.truth == _close(float(_column(runs.learners[one.labelled], f"{one.draw} truth").mean()))


def test_aims(found: ScoresFound) -> None:
    rows = {(row.labelled, row.calibrator, row.split, row.estimator): row for row in found.scores}
    aims = {(aim.code, aim.where): aim for aim in found.aims}
    assert len(aims) == len(found.aims)
    # From 500 labels on.
    (default,) = [aim for aim in found.aims if aim.code == "default.coverage"]
    row = rows[500, "conditional", "folds", "guarded"]
    assert (default.where, default.value, default.low) == ("500 labels", row.coverage, row.coverage_low)
    assert (default.least, default.most) == (0.93, 0.97)
    assert default.outcome == ("pass" if row.coverage_high >= 0.93 and row.coverage_low <= 0.97 else "fail")
    assert [aim.most for aim in found.aims if aim.code == "soft.undercoverage"] == [0.69] * 4
    # Of fresh rows and 20,000 labels alone.
    assert [where for code, where in aims if code == "check.size"] == ["shift 0, conditional", "shift 1, conditional"]
    assert [where for code, where in aims if code == "check.power"] == ["shift 1, platt"]
    noise = {(row.score, row.what): row for row in found.noise}
    drawn, plain = noise["X, Beta", "v_star"], noise["X", "v_star"]
    aim = aims["noise.raises_v_star", "X, Beta over X"]
    times = drawn.mean / plain.mean
    assert aim.value == _close(times)
    half = norm.ppf(0.975) * times * (drawn.error / drawn.mean + plain.error / plain.mean)
    assert (aim.low, aim.high) == pytest.approx((times - half, times + half), rel=1e-9)
    slopes = [where for code, where in aims if code == "noise.slope"]
    assert slopes == ["X, Beta", "X, bootstrap", "X, deep"]
    assert aims["noise.slope", "X, deep"].value == noise["X, deep", "slope"].mean
    assert aims["informative.soft", "X and S"].value == noise["X and S", "soft"].mean
    assert aims["noise.rectified", "X, deep"].value == noise["X, deep", "rectified"].coverage
    learnt = found.learners.rows[-1]
    assert aims["v_star.errs_upward", "500 labels, posterior, forest"].value == _close(learnt.v_star - learnt.truth)
    nothing: Any = Table(())
    assert len(verdicts(nothing, nothing, nothing, nothing)) == 0


def test_the_page_holds_the_tables(found: ScoresFound) -> None:
    page = found.summary()
    assert max(map(len, page.splitlines())) <= 96
    lines = page.splitlines()
    row = next(
        r for r in found.scores if (r.labelled, r.calibrator, r.split, r.estimator) == (200, "platt", "folds", "soft")
    )
    bias = f"{row.bias:+.3f}".replace("0.", ".", 1)
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("200 labels, folds")) + 1]
    assert table.split()[:2] == ["platt", f"{row.ratio:.2f}/{100 * row.coverage:.0f}/{bias}"]
    halves = lines[next(i for i, line in enumerate(lines) if line.startswith("200 labels, halves")) + 1]
    assert halves.split()[2:5] == ["-", "-", "-"]
    setting = next(r for r in found.settings if (r.labelled, r.calibrator) == (500, "platt"))
    assert setting.rejected is not None
    assert setting.suspect is not None
    assert f"{setting.slope:.3f}/{100 * setting.rejected:.0f}/{100 * setting.suspect:.0f}" in page
    check = found.checks.rows[0]
    assert f"{100 * check.share:.1f} {100 * check.low:.0f}-{100 * check.high:.0f}" in page
    for noise in found.noise:
        if noise.what == "v_star":
            assert f"{noise.mean:.4f} {noise.error:.4f}" in page
        if noise.what in {"soft", "instrumented", "rectified"} and noise.coverage is not None:
            assert f"{noise.mean:.2f} {noise.error:.2f}/{100 * noise.coverage:.0f}" in page
    for one in found.learners:
        assert f"{one.v_star:.4f} {one.error:.4f}" in page
    words = " ".join(page.split())
    for said in (
        "fresh rows are the honest test",
        "a large one is nothing to celebrate",
        "soft is right with the larger V* too",
        "temperature is left out",
        "default.coverage: ",
    ):
        assert said in words
    for aim in found.aims:
        assert (f"! {aim.where}: {aim.value:.3f} (" in words) == (aim.outcome == "fail")


def test_tables_become_frames_and_json(found: ScoresFound) -> None:
    for table in (found.scores, found.settings, found.checks, found.noise, found.learners, found.aims):
        assert table.to_arrow().num_rows == len(table) > 0
    written = json.loads(found.to_json(indent=2))
    assert written["scores"]["rows"][0]["mse"] == found.scores.rows[0].mse
    assert written["calibrators"] == ["platt", "conditional"]


# ------------------------------------------------------------------------------------------ the whole


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the whole small enough for a test: every part, a few of its cells."""
    monkeypatch.setattr(calibrating, "SIZES", (100,))
    monkeypatch.setattr(learning, "SIZES", (200,))
    monkeypatch.setattr(command, "Calibrating", partial(calibrating.Calibrating, rows=1_000))
    monkeypatch.setattr(command, "Learning", partial(learning.Learning, learners=("linear", "quadratic")))
    monkeypatch.setattr(command, "FRESH", (500,))
    monkeypatch.setattr(command, "usable", lambda: ("none", "platt", "conditional"))
    monkeypatch.setattr(command, "MADE", drawing.MADE[:2])


@pytest.mark.usefixtures("small")
def test_a_quick_run_is_what_it_was() -> None:
    found = replicate_scores(2, seed=1)
    scores = {(row.calibrator, row.split, row.estimator): row.bias for row in found.scores}
    learners = {(row.draw, row.learner): row.v_star for row in found.learners}
    noise = {(row.score, row.what): row.mean for row in found.noise}
    slopes = {(row.rows, row.shift): row.slope for row in found.checks if row.calibrator == "platt"}
    # Sums, products and Newton's method to 1e-10.
    assert scores[None, None, "supervised"] == pytest.approx(0.16717309, abs=1e-7)
    assert learners == pytest.approx(
        {
            ("deterministic", "linear"): 0.017694341,
            ("deterministic", "quadratic"): 0.006242343,
            ("posterior", "linear"): 0.036454148,
            ("posterior", "quadratic"): 0.024719477,
        },
        abs=1e-7,
    )
    # A control is made with exp, whose last digit is the machine's, and folds hang on all digits of the controls: of
    # another dealing numbers differ by a fraction of their standard error, which is 0.1 and more.
    assert scores["conditional", "folds", "guarded"] == pytest.approx(0.09716, abs=0.03)
    assert scores["platt", "mean", "soft"] == pytest.approx(0.02170, abs=0.03)
    assert scores["none", "halves", "guarded"] == scores[None, None, "supervised"]
    assert noise["X, Beta", "rectified"] == pytest.approx(0.91149, abs=0.03)
    assert noise["X, Beta", "v_star"] == pytest.approx(0.02141, abs=0.001)
    assert slopes == pytest.approx(
        {("fresh", 0.0): 0.97199, ("fresh", 1.0): 1.38344, ("crossed", 0.0): 0.97653, ("crossed", 1.0): 1.35593},
        abs=0.03,
    )


@pytest.mark.usefixtures("small")
def test_it_goes_on_where_it_stopped(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ["replicate", "scores", "--seed", "5", "--resume", str(tmp_path / "kept"), "--json", "-"]
    assert main([*asked, "--reps", "2"]) == 0
    capsys.readouterr()
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names == [
        *("crossed-0.jsonl", "crossed-1.jsonl", "fresh-0-500.jsonl", "fresh-1-500.jsonl", "labels-100.jsonl"),
        *("learners-200.jsonl", "noise-0.jsonl", "noise-1.jsonl"),
    ]
    lines = (tmp_path / "kept" / "labels-100.jsonl").read_text().splitlines()
    assert main([*asked, "--reps", "3"]) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "kept" / "labels-100.jsonl").read_text().splitlines()[:3] == lines
    assert json.loads(out) == json.loads(replicate_scores(3, seed=5).to_json())


@pytest.mark.usefixtures("small")
def test_noise_and_learners_take_a_share_of_the_replications(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[str, int] = {}

    def run(experiment: Any, replications: int, **_: Any) -> MonteCarlo:
        taken[type(experiment).__name__] = replications
        return MonteCarlo("none", 0, (), ())

    monkeypatch.setattr(command, "run", run)
    runs_of(101)
    assert taken == {"Calibrating": 101, "Auditing": 101, "CrossFitting": 101, "Drawing": 21, "Learning": 5}
    runs_of(2)
    assert set(taken.values()) == {2}


def test_one_replication_has_no_error() -> None:
    with pytest.raises(InputError, match="replications"):
        replicate_scores(1)
