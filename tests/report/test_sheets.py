"""Sheets: one table of numbers in four dresses."""

import csv
import io

from softlabel.report.sheets import Number, Sheet, to_csv, to_latex, to_markdown, to_text

SHEET = Sheet(
    name="toy",
    title="A toy",
    caption="Two & two_thirds are 100% of {it}.",
    header=("row", "column", "value", "outcome"),
    rows=(
        ("one", "a|b", Number.of(1 / 3), "agree"),
        ("one", "c_d", Number.of(-2.5e-7), "agree"),
        ("two", "a, b", Number.of(None), "-"),
        ("two", "e^2 ~ \\x", Number.fixed(12345.678, 1), "differs"),
    ),
    notes=("One differs.",),
)


def test_csv_reads_back_with_every_digit() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(SHEET))))
    assert rows[0] == list(SHEET.header)
    assert [row[2] for row in rows[1:]] == [repr(1 / 3), "-2.5e-07", "", "12345.678"]
    assert float(rows[1][2]) == 1 / 3
    assert rows[4][1] == "e^2 ~ \\x"


def test_markdown_escapes_its_own_signs_and_aligns_numbers() -> None:
    lines = to_markdown(SHEET).splitlines()
    assert lines[5] == "|---|---|--:|---|"
    assert lines[6] == "| one | a\\|b | 0.3333 | agree |"
    assert lines[-1] == "* One differs."


def test_latex_escapes_its_own_signs() -> None:
    text = to_latex(SHEET)
    assert r"\caption{A toy. Two \& two\_thirds are 100\% of \{it\}. One differs.}" in text
    assert r"\begin{tabular}{llrl}" in text
    assert r"one & c\_d & $-2.500e-07$ & agree \\" in text
    assert r"two & e\textasciicircum{}2 \textasciitilde{} \textbackslash{}x & 12345.7 & differs \\" in text


def test_text_says_a_row_once() -> None:
    assert to_text(SHEET).splitlines() == [
        "A toy",
        "  Two & two_thirds are 100% of {it}.",
        "",
        "                   value  outcome",
        "  one",
        "    a|b           0.3333    agree",
        "    c_d       -2.500e-07    agree",
        "  two",
        "    a, b               -        -",
        "    e^2 ~ \\x     12345.7  differs",
        "  One differs.",
    ]
