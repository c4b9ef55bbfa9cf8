"""Clusters through diagnose: against statsmodels and the dense reference, and how they are dealt to folds."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm

from softlabel import Basis, DataError, Diagnosis, InputError, diagnose, look
from softlabel.diagnostics.notes import _shared_covariance
from softlabel.estimators.supervised import fit_supervised
from softlabel.folds import deal
from softlabel.hashing import hash_ids
from tests.diagnosed import beside, cluster_folds, drawn, numbers, rows_of, unlabelled
from tests.oracle import Floats

THRESHOLDS, CONFIDENT = (0.4, 0.7), (0.6, 0.8)
ROLES: dict[str, Any] = {
    "outcome": "y",
    "group": "g",
    "score": "p",
    "controls": ["age", "frailty"],
    "basis": "linear",
    "thresholds": THRESHOLDS,
    "confident": CONFIDENT,
    "cluster": "clinic",
    "threads": 1,
}
TABLE = drawn()
HIDDEN = unlabelled(TABLE)
CLINIC = np.unique(np.asarray(TABLE["clinic"]), return_inverse=True)[1]
X = np.column_stack([TABLE["age"], TABLE["frailty"]])

# Two roundings of 1e-16 each, times the condition of a design of a few well-spread controls: below 1e4.
SAME = 1e-9

# Estimates that weigh others by their errors.
CLIMBED = ("rectified", "instrumented", "combined", "adaptive")


def _diagnose(table: Any = None, **options: Any) -> Diagnosis:
    return diagnose(TABLE if table is None else table, **{**ROLES, **options})


# ------------------------------------------------------------------------------------- other packages


def _slope(dependent: Floats, first: Floats, rows: Any, weights: Floats | None) -> tuple[float, float, float, float]:
    """A slope with the error and interval that a diagnosis claims: CR0 times G/(G − 1), and t(G − 1)."""
    design = np.column_stack([first, X, np.ones(len(X))])[rows]
    w = np.ones(len(X)) if weights is None else weights
    groups = CLINIC[rows]
    fit = sm.WLS(dependent[rows], design, weights=w[rows]).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False, "df_correction": False}
    )
    count = len(np.unique(groups))
    error = float(fit.bse[0]) * math.sqrt(count / (count - 1))
    from scipy.stats import t as student

    reach = float(student.ppf(0.975, count - 1)) * error
    return float(fit.params[0]), error, float(fit.params[0]) - reach, float(fit.params[0]) + reach


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("t", [None, *THRESHOLDS])
def test_soft_and_hard_are_statsmodels_slopes(t: float | None, weights: str | None) -> None:
    first = TABLE["p"] if t is None else (TABLE["p"] > t).astype(float)
    row = _diagnose(folds=None, weights=weights).estimate("soft" if t is None else "hard", threshold=t)
    expected = _slope(TABLE["y"], first, HIDDEN, None if weights is None else TABLE[weights])
    assert (row.estimate, row.std_error, row.ci_low, row.ci_high) == pytest.approx(expected, rel=SAME)
    assert row.df == len(np.unique(CLINIC[HIDDEN])) - 1 == 39


@pytest.mark.parametrize("t", THRESHOLDS)
def test_kappa_is_the_slope_of_the_score_on_the_label(t: float) -> None:
    (row,) = [row for row in _diagnose(folds=None).kappa if row.threshold == t]
    expected = _slope(TABLE["p"], (TABLE["p"] > t).astype(float), HIDDEN, None)
    assert (row.kappa, row.std_error, row.ci_low, row.ci_high) == pytest.approx(expected, rel=SAME)


def test_confident_counts_the_clusters_of_its_own_set() -> None:
    # Three clinics have no row that is confident at 0.8, so there G and the degrees of freedom are theirs.
    timid = np.isin(CLINIC, [0, 1, 2])
    p = np.where(timid, 0.5 + 0.2 * (TABLE["p"] - 0.5), TABLE["p"])
    d = _diagnose({**TABLE, "p": p}, folds=None)
    for t, clusters in zip(CONFIDENT, (None, 37), strict=True):
        inside, h = HIDDEN & (np.maximum(p, 1 - p) > t), (p > t).astype(float)
        expected = _slope(TABLE["y"], h, inside, None)
        row = d.estimate("confident", threshold=t)
        assert (row.estimate, row.std_error, row.ci_low, row.ci_high) == pytest.approx(expected, rel=SAME)
        assert row.df == len(np.unique(CLINIC[inside])) - 1
        assert clusters is None or row.df == clusters - 1
        (kappa,) = [row for row in d.kappa_confident if row.threshold == t]
        expected = _slope(p, h, inside, None)
        assert (kappa.kappa, kappa.std_error, kappa.ci_low, kappa.ci_high) == pytest.approx(expected, rel=SAME)


@pytest.mark.parametrize("covariance", ["HC0", "HC1"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_supervised_is_statsmodels(weights: str | None, covariance: str) -> None:
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    shown = ~HIDDEN
    design = np.column_stack([g, X, np.ones(len(X))])[shown]
    w = (np.ones(len(X)) if weights is None else TABLE[weights])[shown]
    # HC1 with clusters is statsmodels' default: G/(G − 1) · (n − 1)/(n − k).
    options = {"groups": CLINIC[shown], "use_correction": covariance == "HC1"}
    fit = sm.WLS(TABLE["y"][shown], design, weights=w).fit(cov_type="cluster", cov_kwds=options, use_t=True)
    row = _diagnose(covariance=covariance, weights=weights).estimate("supervised")
    found = (row.estimate, row.std_error, row.ci_low, row.ci_high, row.df)
    clusters = len(np.unique(CLINIC[shown]))
    assert found == pytest.approx((fit.params[0], fit.bse[0], *fit.conf_int()[0], clusters - 1), rel=SAME)


@pytest.mark.parametrize("power", [0.5, 1.0], ids=["HC2", "HC3"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_supervised_is_bell_and_mccaffreys(weights: str | None, power: float) -> None:
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    shown = ~HIDDEN
    root = np.sqrt(np.ones(len(X)) if weights is None else TABLE[weights])[shown]
    z = root[:, None] * np.column_stack([g, X, np.ones(len(X))])[shown]
    v = root * TABLE["y"][shown]
    bread = np.linalg.inv(z.T @ z)
    beta = bread @ z.T @ v
    meat = np.zeros((4, 4))
    for clinic in np.unique(CLINIC[shown]):
        inside = CLINIC[shown] == clinic
        values, vectors = np.linalg.eigh(np.eye(inside.sum()) - z[inside] @ bread @ z[inside].T)
        e = vectors @ (values**-power * (vectors.T @ (v - z @ beta)[inside]))
        meat += np.outer(z[inside].T @ e, z[inside].T @ e)
    row = _diagnose(covariance={0.5: "HC2", 1.0: "HC3"}[power], weights=weights).estimate("supervised")
    error = math.sqrt((bread @ meat @ bread)[0, 0])
    assert (row.estimate, row.std_error) == pytest.approx((beta[0], error), rel=SAME)


# ------------------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("folds", [None, 4])
def test_every_number_is_the_references(folds: int | None, weights: str | None) -> None:
    fold = None if folds is None else cluster_folds(TABLE, "clinic", folds, seed=3)
    d = _diagnose(folds=folds, weights=weights, seed=3)
    pairs = beside(d, rows_of(TABLE, X, weights=weights, cluster="clinic", fold=fold))
    assert len(pairs) == 3 + 4 * len(THRESHOLDS) + 2 * len(CONFIDENT)
    for name, (estimate, std_error), expected in pairs:
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


def test_a_cluster_for_every_row_is_hc0_times_n_over_n_less_one() -> None:
    # By id and by cluster rows come to other folds, so in sample.
    alone, plain = _diagnose(cluster="visit", folds=None), _diagnose(cluster=None, folds=None)
    n = int(HIDDEN.sum())
    for row, other in zip(alone.estimates, plain.estimates, strict=True):
        if row.name in CLIMBED:
            # Weighed by the errors, which differ by that factor alone.
            assert row.estimate == pytest.approx(other.estimate, rel=2 / n)
            # A jackknife over forty groups has an error of 1/√80 of itself. Its groups are of clusters here and of
            # rows there: three times the error of a difference of two, in an interval of two standard errors.
            ends, within = (other.ci_low, other.ci_high), 2 * 3 * math.sqrt(2 / 80) * (other.std_error or 0)
            jackknifed = row.name in ("instrumented", "combined")
            assert (row.ci_low, row.ci_high) == (
                pytest.approx(ends, abs=within) if jackknifed else pytest.approx(ends, rel=2 / n)
            )
            assert row.df == alone.estimate("supervised").df
            continue
        assert row.estimate == pytest.approx(other.estimate, rel=SAME)
        # HC3 has no factor: clusters of one give it as it is, though t has G − 1 degrees of freedom.
        count = {"supervised": math.inf}.get(row.name, row.n)
        factor = math.sqrt(count / (count - 1)) if math.isfinite(count) else 1.0
        assert row.std_error == pytest.approx((other.std_error or 0) * factor, rel=SAME), row.name
        assert row.df == row.n - 1
    assert alone.ladder.moments == pytest.approx(plain.ladder.moments, rel=SAME)
    # In the order of the moments: supervised, soft_L, soft_U, c_L.
    factors = np.array([1, 1, math.sqrt(n / (n - 1)), 1])
    expected = np.array(plain.ladder.covariance) * np.outer(factors, factors)
    assert np.array(alone.ladder.covariance) == pytest.approx(expected, rel=SAME)
    assert alone.audits["bias_error"] == pytest.approx(plain.audits["bias_error"], rel=SAME)
    assert alone.v_star.std_error == pytest.approx((plain.v_star.std_error or 0) * math.sqrt(n / (n - 1)), rel=SAME)
    assert (alone.sample.clusters, alone.sample.clusters_labelled) == (n, len(X) - n)


def test_clusters_move_every_error_and_no_estimate_in_sample() -> None:
    clustered, plain = _diagnose(folds=None), _diagnose(cluster=None, folds=None)
    assert clustered.ladder.moments == pytest.approx(plain.ladder.moments, rel=SAME)
    joint, apart = np.array(clustered.ladder.covariance), np.array(plain.ladder.covariance)
    # Clinics hold rows of both kinds, so that soft_U goes with what is of labelled rows.
    assert (apart[2, [0, 1, 3]] == 0).all()
    assert (np.abs(joint - apart) > 1e-3 * np.abs(joint)).all()
    for audit, plainly in zip(clustered.audits, plain.audits, strict=True):
        assert (audit.slope, audit.leak, audit.bias) == pytest.approx(
            (plainly.slope, plainly.leak, plainly.bias), rel=SAME
        )
        for name in ("slope_error", "leak_error", "bias_error"):
            assert abs(getattr(audit, name) / getattr(plainly, name) - 1) > 1e-3, name
    for one, other in (
        *zip(clustered.estimates, plain.estimates, strict=True),
        (clustered.v_star, plain.v_star),
    ):
        if one.name == "adaptive":
            continue
        # What is weighed by errors moves with them.
        assert one.name in CLIMBED or one.estimate == pytest.approx(other.estimate, rel=SAME)
        # Far beyond rounding, though a shock in the outcome moves some errors by a percent only.
        assert abs((one.std_error or 0) / (other.std_error or 1) - 1) > 1e-3, one
    for one, other in zip(
        (*clustered.kappa, *clustered.kappa_confident), (*plain.kappa, *plain.kappa_confident), strict=True
    ):
        assert one.kappa == pytest.approx(other.kappa, rel=SAME)
        assert abs((one.std_error or 0) / (other.std_error or 1) - 1) > 1e-3, one
    for ours, theirs in zip(clustered.label_equivalents, plain.label_equivalents, strict=True):
        assert ours.labels != pytest.approx(theirs.labels, rel=1e-3)


def test_no_thresholds_at_all() -> None:
    d = _diagnose(thresholds=(), confident=())
    assert (len(d.kappa), len(d.kappa_confident)) == (0, 0)
    found, expected = d.estimate("soft"), _diagnose().estimate("soft")
    assert (found.estimate, found.std_error) == pytest.approx((expected.estimate, expected.std_error), rel=1e-12)


# --------------------------------------------------------------------------------------------- dealing


def _dealing(ids: Any, folds: int, seed: int = 0) -> look.Dealing:
    return look.Dealing.of(look.Clusters.of(hash_ids(pa.array(ids))), folds, seed)


@pytest.mark.parametrize("clusters", [5, 23, 40, 101])
@pytest.mark.parametrize("folds", [2, 5])
def test_folds_hold_as_many_clusters_each(folds: int, clusters: int) -> None:
    for seed in (0, 1, 2**70):
        sizes = np.bincount(_dealing(np.arange(clusters), folds, seed).fold, minlength=folds)
        assert sizes.sum() == clusters
        assert sizes.max() - sizes.min() <= 1


def test_folds_depend_on_the_seed_and_on_nothing_else() -> None:
    one, other = (_dealing(np.arange(200), 5, seed).fold for seed in (0, 1))
    # Two independent dealings agree on a fifth of 200 clusters, give or take 3 %: 0.4 is seven errors away.
    assert (one == other).mean() < 0.4
    np.testing.assert_array_equal(one, _dealing(np.arange(200)[::-1], 5).fold)
    # Dealing clusters in turn is not dealing each by itself, which leaves folds of unequal size.
    alone = deal(hash_ids(pa.array(np.arange(200))), 5, 0)
    assert len(np.unique(np.bincount(alone))) > 1


def test_fewer_clusters_than_folds_are_refused() -> None:
    with pytest.raises(DataError, match=r"at least as many clusters with unlabelled rows as folds \(5\).*4"):
        _diagnose({**TABLE, "four": CLINIC % 4}, cluster="four")
    assert _diagnose({**TABLE, "four": CLINIC % 4}, cluster="four", folds=None).sample.clusters == 4
    assert _diagnose({**TABLE, "five": CLINIC % 5}, cluster="five").sample.clusters == 5


def test_a_cluster_without_unlabelled_rows_takes_no_fold() -> None:
    # Clinic 7 has labelled rows alone.
    kept = HIDDEN & (CLINIC == 7)
    table = pa.table(TABLE).filter(pa.array(~kept))
    d = _diagnose(table)
    assert (d.sample.clusters, d.sample.clusters_labelled) == (39, len(np.unique(CLINIC[~HIDDEN])))
    X_left = X[~kept]
    fold = cluster_folds({name: table[name].combine_chunks() for name in table.column_names}, "clinic", 5)
    parts = {
        name: table[name].to_numpy() if name in "yp" else table[name].combine_chunks() for name in table.column_names
    }
    for name, (estimate, std_error), expected in beside(d, rows_of(parts, X_left, cluster="clinic", fold=fold)):
        assert estimate == pytest.approx(expected.value, rel=SAME), name
        assert std_error == pytest.approx(expected.std_error, rel=SAME), name


def test_one_cluster_gives_reasons_and_no_errors() -> None:
    d = _diagnose({**TABLE, "all": np.zeros(len(X))}, cluster="all", folds=None)
    for row in (*d.estimates, d.v_star, *d.kappa, *d.kappa_confident):
        assert "one cluster" in (row.reason or ""), row
        assert row.std_error is None
    assert d.verdict.choice is None


@pytest.mark.parametrize("kind", ["text", "dictionary", "int", "float", "int16"])
def test_what_clusters_are_called_says_nothing(kind: str) -> None:
    names: pa.Array = {
        "text": pa.array([f"{i}" for i in CLINIC]),
        "dictionary": pa.array([f"{i}" for i in CLINIC]).dictionary_encode(),
        "int": pa.array(CLINIC),
        "float": pa.array(CLINIC.astype(float)),
        "int16": pa.array(CLINIC.astype(np.int16)),
    }[kind]
    # In sample, for names decide the folds; numbers of any type decide the same ones.
    expected, found = _diagnose(folds=None), _diagnose({**TABLE, "clinic": names}, folds=None)
    assert found.estimate("soft").std_error == pytest.approx(expected.estimate("soft").std_error, rel=1e-12)
    if kind not in ("text", "dictionary"):
        by_number = _diagnose({**TABLE, "clinic": pa.array(CLINIC)})
        assert _diagnose({**TABLE, "clinic": names}).estimates == by_number.estimates


def test_a_control_may_be_the_cluster_too() -> None:
    d = _diagnose({**TABLE, "ward": TABLE["clinic"]}, controls=["age", "clinic"], basis=Basis("linear"), folds=None)
    assert len(d.sample.columns) == 1 + 39
    dummies = np.eye(40)[CLINIC][:, 1:]
    pairs = beside(d, rows_of(TABLE, np.column_stack([TABLE["age"], dummies]), cluster="clinic"))
    for name, (estimate, std_error), expected in pairs:
        # Forty dummies of a few rows each in the confident sets: a digit more is lost.
        assert estimate == pytest.approx(expected.value, rel=1e-8), name
        assert std_error == pytest.approx(expected.std_error, rel=1e-8), name


def test_missing_clusters_are_counted_or_refused() -> None:
    holes = pa.array([None if i % 50 == 0 else name for i, name in enumerate(TABLE["clinic"].to_pylist())])
    with pytest.raises(DataError, match=r"null or NaN in 'clinic' \(21\)"):
        _diagnose({**TABLE, "clinic": holes})
    dropped = _diagnose({**TABLE, "clinic": holes}, missing="drop")
    without = _diagnose(pa.table(TABLE).filter(pa.array(np.arange(len(X)) % 50 != 0)))
    for row, other in zip(dropped.estimates, without.estimates, strict=True):
        ends = (other.estimate, other.ci_low, other.ci_high)
        # The rungs solve systems in the covariance of the moments: a digit is lost.
        assert (row.estimate, row.ci_low, row.ci_high) == pytest.approx(ends, rel=1e-10)
    assert dropped.sample.dropped == 21


def test_folds_by_id_and_by_cluster_at_once_are_refused() -> None:
    with pytest.raises(InputError, match="one column to decide folds"):
        _diagnose(id="visit")


# ------------------------------------------------------------------- clusters with rows of both kinds


@pytest.mark.parametrize("weight", [None, ("w", "sampling"), ("times", "frequency")])
def test_shared_clusters_correlate_soft_with_supervised(
    weight: tuple[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def spy(*arguments: Any) -> float:
        seen.append(_shared_covariance(*arguments))
        return seen[-1]

    monkeypatch.setattr("softlabel.diagnostics.notes._shared_covariance", spy)
    options = {} if weight is None else {"weights": weight[0], "weight_type": weight[1]}
    d = _diagnose(folds=None, covariance="HC0", **options)
    # By hand: influence of each row on either error, summed within clinics, multiplied and summed.
    w = np.ones(len(X)) if weight is None else np.asarray(TABLE[weight[0]], dtype=float)
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    total = np.zeros((2, 40))
    for i, (first, rows) in enumerate([(TABLE["p"], HIDDEN), (g, ~HIDDEN)]):
        design = np.column_stack([np.ones(len(X)), X])[rows]
        root = np.sqrt(w[rows])
        a, r = (
            v[rows] - design @ np.linalg.lstsq(root[:, None] * design, root * v[rows], rcond=None)[0]
            for v in (first, TABLE["y"])
        )
        bread = (w[rows] * a * a).sum()
        slope = (w[rows] * a * r).sum() / bread
        np.add.at(total[i], CLINIC[rows], w[rows] * a * (r - slope * a) / bread)
    assert seen == [pytest.approx(float(total[0] @ total[1]), rel=1e-8)]
    errors = [d.estimate(name).std_error or 0.0 for name in ("soft", "supervised")]
    assert abs(seen[0]) > 0.01 * errors[0] * errors[1]


def test_influence_of_supervised_squares_to_its_variance() -> None:
    shown = ~HIDDEN
    g = np.asarray(TABLE["g"].fill_null(0)).astype(float)
    for covariance in ("HC0", "HC1", "HC2", "HC3"):
        fit = fit_supervised(
            TABLE["y"][shown],
            g[shown],
            X[shown].T,
            weight=TABLE["w"][shown],
            cluster=CLINIC[shown].astype(np.uint64),
            covariance=covariance,
            level=0.95,
        )
        assert fit.influence is not None
        sums = np.bincount(CLINIC[shown], fit.influence)
        assert fit.estimate.std_error == pytest.approx(math.sqrt(float(sums @ sums)), rel=SAME)


# ------------------------------------------------------------------------------------- too many clusters


def _many(clusters: int = 3_000, size: int = 3) -> dict[str, Any]:
    """Small clusters with a strong shock: errors of rows alone would be far too small."""
    rng = np.random.default_rng(12)
    n = clusters * size
    c = np.repeat(np.arange(clusters), size)
    x, of_score, of_outcome = rng.normal(size=n), rng.normal(size=clusters)[c], rng.normal(size=clusters)[c]
    p = 1 / (1 + np.exp(-(0.5 * x + of_score + 0.5 * rng.normal(size=n))))
    group = rng.random(n) < p
    y = x + group + of_outcome + 0.5 * rng.normal(size=n)
    order = rng.permutation(n)
    g = np.where(np.arange(n) < n - 600, np.nan, group[order])
    return {"y": y[order], "p": p[order], "x": x[order], "c": c[order], "g": g}


def test_too_many_clusters_are_joined_to_super_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _many()
    options: dict[str, Any] = {"controls": ["x"], "cluster": "c", "thresholds": (0.5,), "confident": ()}
    exact = _diagnose(table, **options)
    rows = _diagnose(table, **{**options, "cluster": None})
    # 64 and 512 super-clusters in the place of 3,000 clusters.
    for bits in (6, 9):
        monkeypatch.setattr(look, "MOST_CLUSTERS", 2_000)
        monkeypatch.setattr(look, "_SUPER_BITS", bits)
        joined = _diagnose(table, **options)
        # With six clusters each on average one or two of 512 stay empty.
        assert 2**bits - 5 <= (joined.sample.clusters or 0) <= 2**bits
        assert any(note.code == "clusters.joined" for note in joined.notes)
        for one, other, apart in zip(joined.estimates, exact.estimates, rows.estimates, strict=True):
            # An error learnt from G sums is off by 1/√(2G) of itself: four times that, 0.35 and 0.13. Other folds
            # move an estimate by far less than its error. Without clusters it is a fifth too small.
            tolerance = 4 / math.sqrt(2 * 2**bits)
            width, expected = ((row.ci_high or 0) - (row.ci_low or 0) for row in (one, other))
            assert width == pytest.approx(expected, rel=tolerance), one
            # What is weighed by errors moves by as much of one as they are off.
            off = max(0.2, tolerance) if one.name in CLIMBED else 0.2
            assert abs((one.estimate or 0) - (other.estimate or 0)) < off * expected / 4
            if one.name in ("soft", "hard") and one.form == "orthogonal":
                assert (apart.std_error or 0) < 0.8 * (other.std_error or 0)


def test_joined_clusters_do_not_depend_on_where_the_limit_is_crossed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "MOST_CLUSTERS", 2_000)
    monkeypatch.setattr(look, "_SUPER_BITS", 9)
    table = pa.table(_many())
    options: dict[str, Any] = {"controls": ["x"], "cluster": "c"}
    whole = numbers(_diagnose(table, **options))
    order = np.random.default_rng(1).permutation(len(table))
    for other in (table.take(order), pa.Table.from_batches(table.take(order[::-1]).to_batches(max_chunksize=700))):
        for path, value in numbers(_diagnose(other, **options)).items():
            assert value == (pytest.approx(whole[path], rel=1e-9) if isinstance(value, float) else whole[path]), path
