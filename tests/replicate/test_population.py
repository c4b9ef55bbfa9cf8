"""Targets against least squares on two million rows, and scores against other packages."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from softlabel.replicate.population import DiscreteLaw, Law, Rows, intercept_for
from softlabel.replicate.sampling import Independent
from softlabel.replicate.scores import CrossFitted, Formula, isotonic, logistic

Floats = NDArray[np.float64]


def _controls(rows: Rows) -> Floats:
    """Return a constant and the controls, texts as dummies."""
    columns = [np.ones(len(rows.group))]
    for values in rows.controls.values():
        if values.dtype.kind == "U":
            columns += [(values == level).astype(np.float64) for level in np.unique(values)[1:]]
        else:
            columns.append(values.astype(np.float64))
    return np.column_stack(columns)


@pytest.mark.parametrize(
    "law",
    [
        Law(leak=0.5),
        Law(slopes=(1.2, 0.3, -0.2), leak=-0.3, intercept=0.7, tau=0.0),
        Law(intercept=-2.0, tau_slope=0.5),
        Law(intercept=intercept_for(0.02), leak=1.0, tau_slope=-1.0),
        DiscreteLaw(tau=-0.5),
    ],
    ids=["leak", "weak", "heterogeneous", "rare", "discrete"],
)
def test_the_target_is_the_coefficient_of_two_million_rows(law: Law | DiscreteLaw) -> None:
    rows = law.draw(2_000_000, np.random.default_rng(5))
    controls = _controls(rows)
    gram = controls.T @ controls
    v = rows.group - controls @ np.linalg.solve(gram, controls.T @ rows.group)
    found = float(v @ rows.outcome / (v @ rows.group))
    left = rows.outcome - found * rows.group
    left -= controls @ np.linalg.solve(gram, controls.T @ left)
    error = float(np.sqrt(np.square(v * left).sum()) / (v @ v))
    assert abs(found - law.target) < 4 * error
    # And the error is small enough to tell the target from the effect, where those differ.
    assert abs(law.target - law.tau) > 10 * error or law.target == pytest.approx(law.tau, abs=1e-12)


def test_targets_without_leak_or_variation_are_the_effect() -> None:
    for tau in (-1.0, 0.0, 1.0):
        assert Law(tau=tau, intercept=-2.0).target == pytest.approx(tau, abs=1e-12)
    # By symmetry, too, an effect that varies evenly about τ where half are in the group.
    assert Law(tau_slope=0.5).target == pytest.approx(1.0, abs=1e-9)
    assert Law(leak=0.2).target - 1 == pytest.approx(2 * (Law(leak=0.1).target - 1), rel=1e-12)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_the_intercept_gives_the_share(share: float) -> None:
    group = Law(intercept=intercept_for(share)).draw(400_000, np.random.default_rng(1)).group
    assert abs(group.mean() - share) < 4 * (share * (1 - share) / 400_000) ** 0.5


# ------------------------------------------------------------------------------------------ scores


def test_logistic_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 4))
    g = (rng.random(300) < expit(x @ [1.5, -1, 0.5, 0])).astype(np.float64)
    design = sm.add_constant(x)
    expected = sm.Logit(g, design).fit(disp=0).predict(design)
    # The ridge that keeps separable rows finite moves no probability by more.
    assert logistic(x, g)(x) == pytest.approx(expected, abs=1e-5)


def test_logistic_is_finite_where_a_line_separates() -> None:
    x = np.linspace(-1, 1, 20)[:, None]
    p = logistic(x, (x[:, 0] > 0).astype(np.float64))(x)
    assert np.isfinite(p).all()
    assert (p[:10] < 0.5).all()
    assert (p[10:] > 0.5).all()


def test_isotonic_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    x, new = rng.standard_normal((200, 1)), rng.standard_normal((500, 1)) * 2
    g = (rng.random(200) < expit(2 * x[:, 0])).astype(np.float64)
    other = IsotonicRegression(out_of_bounds="clip").fit(x[:, 0], g)
    assert isotonic(x, g)(new) == pytest.approx(other.predict(new[:, 0]), abs=1e-12)


@pytest.mark.parametrize("how", ["platt", "isotonic", "logistic"])
def test_no_labelled_row_is_scored_by_a_model_that_saw_it(how: str) -> None:
    def scores(labelled: Rows) -> Floats:
        return CrossFitted(how)(hidden, labelled, np.random.default_rng(9))[1]  # type: ignore[arg-type]

    hidden, shown, _ = Independent()(Law(), 50, 100, np.random.default_rng(2))
    before = scores(shown)
    for i in range(0, 100, 7):
        group = shown.group.copy()
        group[i] = 1 - group[i]
        after = scores(shown._replace(group=group))
        assert after[i] == before[i]
        assert not np.array_equal(after, before)


def test_unlabelled_rows_have_one_model_each_or_the_mean() -> None:
    hidden, shown, _ = Independent()(Law(), 4000, 200, np.random.default_rng(2))
    own = CrossFitted("platt")(hidden, shown, np.random.default_rng(0))[0]
    mean = CrossFitted("platt", mean=True)(hidden, shown, np.random.default_rng(0))[0]
    # The mean is one function of the logit; five models are not.
    order = np.argsort(hidden.logit)
    assert (np.diff(mean[order]) >= 0).all()
    assert (np.diff(own[order]) < 0).any()
    assert np.abs(own - mean).max() < 0.1


def test_formulas() -> None:
    hidden, shown, _ = Independent()(Law(), 10, 5, np.random.default_rng(2))
    p, q = Formula(2.0, -1.0)(hidden, shown, np.random.default_rng(0))
    assert p == pytest.approx(expit(2 * hidden.logit - hidden.x[:, 0]))
    assert len(q) == 5
