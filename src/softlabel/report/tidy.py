"""A Diagnosis under broom's column names: a row for each estimate, or all of it in one."""

from __future__ import annotations

from softlabel.results import Diagnosis, Estimate, Glance, Table, Tidy

__all__ = ["glance", "term", "tidy"]


def term(row: Estimate) -> str:
    """Return a name that no other estimate of a diagnosis has.

    Examples
    --------
    >>> from softlabel.results.records import not_estimated
    >>> term(not_estimated("hard", "-", 0, threshold=0.9, form="orthogonal"))
    'hard(0.9)'
    >>> term(not_estimated("soft", "-", 0, form="moment"))
    'soft, moment form'
    """
    at = "" if row.threshold is None else f"({row.threshold:g})"
    return f"{row.name}{at}{', moment form' if row.form == 'moment' else ''}"


def tidy(d: Diagnosis) -> Table[Tidy]:
    """Return every estimate under broom's names."""
    return Table(tuple(map(_tidy, d.estimates)))


def _tidy(row: Estimate) -> Tidy:
    known = row.estimate is not None and row.std_error is not None and row.std_error > 0
    return Tidy(
        term=term(row),
        estimate=row.estimate,
        std_error=row.std_error,
        statistic=row.estimate / row.std_error if known else None,  # type: ignore[operator]
        p_value=row.p_value,
        conf_low=row.ci_low,
        conf_high=row.ci_high,
        estimator=row.name,
        threshold=row.threshold,
        form=row.form,
        nobs=row.n,
        df=row.df,
        reason=row.reason,
    )


def glance(d: Diagnosis) -> Table[Glance]:
    """Return a table of one row."""
    low, high = d.verdict.interval or (None, None)
    v_star = d.v_star.estimate
    outcomes = [one.outcome for one in d.checks]
    return Table(
        (
            Glance(
                nobs=d.sample.used,
                nobs_labelled=d.sample.labelled,
                nobs_unlabelled=d.sample.unlabelled,
                choice=d.verdict.choice,
                estimate=d.verdict.estimate,
                conf_low=low,
                conf_high=high,
                conf_level=d.settings.level,
                rule=d.verdict.rule,
                v_star=v_star,
                v_star_std_error=d.v_star.std_error,
                remainder=v_star / d.score_variance if v_star is not None and d.score_variance > 0 else None,
                checks_failed=outcomes.count("fail"),
                checks_doubtful=outcomes.count("warn"),
                df_residual=d.estimate("supervised").df,
            ),
        )
    )
