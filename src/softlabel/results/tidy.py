"""Results under the column names of broom, as people who come from R know them."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Glance", "Tidy"]


def _column(name: str) -> dict[str, str]:
    return {"column": name}


@dataclass(frozen=True, slots=True)
class Tidy:
    """One estimate: broom's columns first, then what tells estimates apart.

    As columns of a table: term, estimate, std.error, statistic, p.value, conf.low, conf.high, estimator, threshold,
    form, nobs, df, reason. ``statistic`` is the estimate over its standard error; ``df`` is null for the normal.
    """

    term: str
    estimate: float | None
    std_error: float | None = field(metadata=_column("std.error"))
    statistic: float | None
    p_value: float | None = field(metadata=_column("p.value"))
    conf_low: float | None = field(metadata=_column("conf.low"))
    conf_high: float | None = field(metadata=_column("conf.high"))
    estimator: str
    threshold: float | None
    form: str | None
    nobs: int
    df: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Glance:
    """One diagnosis in a row.

    As columns of a table: nobs, nobs.labelled, nobs.unlabelled, choice, estimate, conf.low, conf.high, conf.level,
    rule, v.star, v.star.std.error, remainder, checks.failed, checks.doubtful, df.residual. ``remainder`` is V*/Var(p),
    the share of the score that the controls leave; ``df.residual`` belongs to the regression on the labelled rows.
    """

    nobs: int
    nobs_labelled: int = field(metadata=_column("nobs.labelled"))
    nobs_unlabelled: int = field(metadata=_column("nobs.unlabelled"))
    choice: str | None
    estimate: float | None
    conf_low: float | None = field(metadata=_column("conf.low"))
    conf_high: float | None = field(metadata=_column("conf.high"))
    conf_level: float = field(metadata=_column("conf.level"))
    rule: str
    v_star: float | None = field(metadata=_column("v.star"))
    v_star_std_error: float | None = field(metadata=_column("v.star.std.error"))
    remainder: float | None
    checks_failed: int = field(metadata=_column("checks.failed"))
    checks_doubtful: int = field(metadata=_column("checks.doubtful"))
    df_residual: int | None = field(metadata=_column("df.residual"))
