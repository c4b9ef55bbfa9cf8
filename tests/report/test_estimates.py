"""Tables for papers: their digits, their escapes, and broom's names."""

import csv
import dataclasses
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from softlabel import Diagnosis, InputError
from softlabel.report.sheets import Number, Sheet, to_html, to_latex, to_markdown
from softlabel.report.tidy import term
from softlabel.results import Note, Table
from softlabel.results.tidy import Tidy

HERE = Path(__file__).parent
STORED = Diagnosis.from_json((HERE.parent / "results" / "schema_1.json").read_bytes())
EVIL = "<script>alert(1)</script> & a|b_c 100%\nnext"
BROOM = ["term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high"]


def _named(name: str) -> Diagnosis:
    return dataclasses.replace(STORED, settings=dataclasses.replace(STORED.settings, outcome=name, score=name))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.cells.append(data.strip())


def _read(html: str) -> _Tags:
    found = _Tags()
    found.feed(html)
    return found


@pytest.mark.parametrize(("kind", "ending"), [("markdown", "md"), ("latex", "tex")])
def test_the_whole_table(kind: str, ending: str) -> None:
    written = getattr(STORED, f"to_{kind}")()
    assert written == (HERE / f"estimates.{ending}").read_text(encoding="utf-8")


def test_rows_of_the_names_asked_for_in_their_order() -> None:
    lines = STORED.to_markdown(("hard", "soft")).splitlines()
    assert [line.split(" | ")[0] for line in lines if line.startswith("| ")][1:] == [
        "| hard(0.5)",
        "| hard(0.9)",
        "| soft",
    ]
    assert "* hard and confident estimate the effect times kappa." in lines
    assert "* hard(0.9): not computed, no score is above 0.9." in lines
    assert STORED.to_markdown("soft") == STORED.to_markdown(("soft",))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match="Did you mean"):
        STORED.to_latex(["sofft"])


def test_names_of_columns_do_no_harm() -> None:
    d = _named(EVIL)
    assert "script" not in _read(d._repr_html_()).tags
    assert "<script" not in d.to_markdown().replace("\\<script", "")
    assert r"\& a|b\_c 100\% next" in d.to_latex()
    table = Table((Note(EVIL, "plain"),))
    read = _read(table._repr_html_())
    assert read.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert EVIL in "".join(read.cells)


def test_no_cell_breaks_its_row() -> None:
    evil = Sheet("t", "T", "C", ("a\nb", "n"), ((EVIL, Number.of(1.0)),))
    assert len(to_markdown(evil).splitlines()) == 7
    assert to_latex(evil).count("\\\\\n") == 2
    assert _read(to_html(evil)).tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}


def test_a_notebook_shows_the_verdict_once_and_every_estimate() -> None:
    said = STORED._repr_html_()
    assert said.count(STORED.verdict.sentence) == 1
    cells = _read(said).cells
    assert cells[0] == STORED.verdict.sentence
    assert {"supervised", "rectified", "instrumented", "combined", "adaptive", "soft"} <= set(cells)


def test_a_table_in_a_notebook_has_all_its_columns_and_rows() -> None:
    read = _read(STORED.kappa._repr_html_())
    assert read.cells[: len(STORED.kappa.columns)] == STORED.kappa.columns
    assert len(read.cells) == len(STORED.kappa.columns) * (1 + len(STORED.kappa))
    assert _read(Table(())._repr_html_()).cells == []


# ---------------------------------------------------------------------------------------------- broom


def test_tidy_has_brooms_columns_first_and_the_numbers_of_the_estimates() -> None:
    tidy = STORED.tidy()
    assert tidy.columns[:7] == BROOM
    assert len(tidy) == len(STORED.estimates)
    for row, source in zip(tidy, STORED.estimates, strict=True):
        assert isinstance(row, Tidy)
        assert (row.estimate, row.std_error, row.p_value) == (source.estimate, source.std_error, source.p_value)
        assert (row.conf_low, row.conf_high, row.nobs) == (source.ci_low, source.ci_high, source.n)
        if row.statistic is not None:
            assert source.std_error is not None
            # A quotient and a product of the same two doubles differ by a rounding each.
            assert row.statistic * source.std_error == pytest.approx(source.estimate, rel=1e-15)


def test_terms_are_unique() -> None:
    terms = STORED.tidy()["term"]
    assert len(set(terms)) == len(terms)
    assert "hard(0.5)" in terms
    assert terms == [term(row) for row in STORED.estimates]


def test_tidy_goes_to_arrow_and_csv_under_the_same_names() -> None:
    from pyarrow import csv as arrow_csv

    arrow = STORED.tidy().to_arrow()
    assert arrow.column_names[:7] == BROOM
    assert [str(arrow.schema.field(name).type) for name in BROOM] == ["string", *["double"] * 6]
    buffer = io.BytesIO()
    arrow_csv.write_csv(arrow, buffer)
    first = next(csv.reader(io.StringIO(buffer.getvalue().decode())))
    assert first[:7] == BROOM
    assert list(STORED.tidy().to_polars().columns)[:7] == BROOM


def test_a_column_is_found_by_its_broom_name_only() -> None:
    assert STORED.tidy()["std.error"] == STORED.estimates["std_error"]
    with pytest.raises(InputError, match=re.escape("std.error")):
        STORED.tidy()["std_error"]


def test_glance_is_one_row() -> None:
    (row,) = STORED.glance()
    assert STORED.glance().columns[:3] == ["nobs", "nobs.labelled", "nobs.unlabelled"]
    assert (row.nobs, row.nobs_labelled) == (STORED.sample.used, STORED.sample.labelled)
    assert (row.estimate, row.conf_low, row.conf_high) == (STORED.verdict.estimate, *(STORED.verdict.interval or ()))
    assert row.v_star is not None
    assert row.remainder == row.v_star / STORED.score_variance
    outcomes = [one.outcome for one in STORED.checks]
    assert (row.checks_failed, row.checks_doubtful) == (outcomes.count("fail"), outcomes.count("warn"))
    assert row.df_residual == STORED.estimate("supervised").df


# ----------------------------------------------------------------------------------------- maketables


def test_maketables_finds_what_its_plug_in_format_asks_for() -> None:
    """The attributes that maketables 0.2 reads, of the kinds it checks; it would bring thirty other packages."""
    import pandas as pd

    table = STORED.__maketables_coef_table__
    assert isinstance(table, pd.DataFrame)
    assert table.index.name == "Coefficient"
    assert list(table.columns) == ["b", "se", "t", "p", "ci95l", "ci95u"]
    assert not table.isna().to_numpy().any()
    assert list(table.index) == ["supervised", "soft", "rectified", "instrumented", "combined"]
    soft = STORED.estimate("soft")
    assert tuple(table.loc["soft", ["b", "se", "ci95l"]]) == (soft.estimate, soft.std_error, soft.ci_low)
    assert STORED.__maketables_depvar__ == STORED.settings.outcome
    assert STORED.__maketables_vcov_info__ == {"vcov_type": STORED.settings.covariance, "clustervar": None}
    for key in STORED.__maketables_default_stat_keys__:
        assert STORED.__maketables_stat__(key) is not None
        assert key in STORED.__maketables_stat_labels__
    assert STORED.__maketables_stat__("N") == STORED.sample.used
    assert STORED.__maketables_stat__("r2") is None


def test_the_level_names_the_columns_of_the_interval() -> None:
    other = dataclasses.replace(STORED, settings=dataclasses.replace(STORED.settings, level=0.9))
    assert list(other.__maketables_coef_table__.columns)[-2:] == ["ci90l", "ci90u"]
