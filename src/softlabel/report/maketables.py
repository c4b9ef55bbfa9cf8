"""What the package maketables asks of a result to put it into a regression table beside those of other packages.

maketables looks for attributes of these names and needs no import from either side; see its page on the plug-in format.
"""

from __future__ import annotations

from typing import Any

from softlabel.report.estimates import rows_named
from softlabel.report.tidy import glance, term, tidy
from softlabel.results import Diagnosis, Table

__all__ = ["coef_table", "covariance", "labels", "stat"]

_LABELS = {
    "N": "Rows",
    "n_labelled": "Labelled rows",
    "v_star": "V*",
    "remainder": "V*/Var(p)",
    "choice": "Verdict",
    "checks_failed": "Checks that fail",
    "n_clusters": "Clusters",
    "se_type": "Std. errors",
}


def coef_table(d: Diagnosis) -> Any:
    """Return b, se, t, p and the ends of the interval as a pandas DataFrame with the estimates' names for its index.

    Without adaptive, which has no standard error of its own, and without what could not be computed: a table
    of coefficients has no place for either.
    """
    shown = {term(row) for row in rows_named(d, None) if row.std_error is not None}
    rows = tuple(row for row in tidy(d) if row.term in shown)
    frame = Table(rows).to_pandas()
    names = {"estimate": "b", "std.error": "se", "statistic": "t", "p.value": "p"}
    level = f"{100 * d.settings.level:g}"
    names |= {"conf.low": f"ci{level}l", "conf.high": f"ci{level}u", "term": "Coefficient"}
    return frame.rename(columns=names)[list(names.values())].set_index("Coefficient")


def stat(d: Diagnosis, key: str) -> Any:
    """Return a number or a word about the whole diagnosis; ``None`` for a key that it does not have."""
    (row,) = glance(d)
    known = {
        "N": row.nobs,
        "n_labelled": row.nobs_labelled,
        "v_star": row.v_star,
        "remainder": row.remainder,
        "choice": row.choice,
        "checks_failed": row.checks_failed,
        "n_clusters": d.sample.clusters,
        "se_type": d.settings.covariance,
        "df_resid": row.df_residual,
    }
    return known.get(key)


def covariance(d: Diagnosis) -> dict[str, str | None]:
    """Return the kind of the standard errors."""
    return {"vcov_type": d.settings.covariance, "clustervar": d.settings.cluster}


def labels(_: Diagnosis) -> dict[str, str]:
    """Return what the keys of `stat` are called in a table."""
    return dict(_LABELS)
