"""The figures of the paper, drawn from the cells of its tables: P1, P3, P3-prediction, P4, P5 and P6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from softlabel.replicate.paper import adult, table1, table3, table4, table5
from softlabel.replicate.paper.command import TableFound, TablesFound, replicate_tables
from softlabel.replicate.paper.series import column, exact_of, exact_series, found_series, moved, printed_series
from softlabel.report.charts import Chart, Look, Series, write_chart
from softlabel.report.files import write_whole
from softlabel.report.layout import wrapped
from softlabel.report.style import require_matplotlib

__all__ = ["FiguresFound", "charts", "replicate_figures"]

_DRAWN = ("table1", "table3", "table4", "table5", "adult")


@dataclass(frozen=True, slots=True)
class FiguresFound:
    """Charts, and the tables they are drawn from."""

    charts: tuple[Chart, ...]
    tables: TablesFound

    def summary(self) -> str:
        """Return the captions."""
        return "\n\n".join(f"{one.name}\n{wrapped(one.caption)}" for one in self.charts) + "\n"

    def to_json(self, *, indent: int | None = None) -> str:
        """Return what is drawn as JSON."""
        text = msgspec.json.encode({"charts": self.charts})
        return (msgspec.json.format(text, indent=indent) if indent else text).decode()

    def write(self, folder: Path) -> None:
        """Write every chart as PNG and SVG, and the captions in ``figures.md``."""
        for one in self.charts:
            write_chart(one, folder)
        captions = "\n".join(f"![{one.name}]({one.name}.png)\n\n**{one.name}.** {one.caption}\n" for one in self.charts)
        write_whole(folder / "figures.md", lambda path: _write(path, captions))


def replicate_figures(
    replications: int | None = None,
    *,
    workers: int = 1,
    seed: int = 0,
    resume: str | Path | None = None,
    progress: bool | None = None,
) -> FiguresFound:
    """Run the tables that figures are drawn from; arguments are those of `replicate_tables`."""
    require_matplotlib()
    found = replicate_tables(replications, tables=_DRAWN, workers=workers, seed=seed, resume=resume, progress=progress)
    return FiguresFound(tuple(charts(found)), found)


def charts(found: TablesFound) -> Iterator[Chart]:
    """Yield the charts that these tables allow, without drawing anything."""
    by_name = {table.name: table for table in found.tables}
    drawings = {"table1": (_p1,), "table3": (_p3, _p3_prediction), "table4": (_p4,), "table5": (_p5,), "adult": (_p6,)}
    for name, several in drawings.items():
        for chart in several if name in by_name else ():
            yield chart(by_name[name])


def _p1(table: TableFound) -> Chart:
    at = tuple(table1.PRINTED)
    hard, linear = column(table, _rows_at(at), "mean hard"), column(table, _rows_at(at), "hard, orthogonal, linear")
    return Chart(
        name="P1",
        caption=(
            "What a threshold leaves of the effect. The moment form with the true m comes to the kappa that the paper "
            "prints, the orthogonal form, with linear residuals, to the kappa of those residuals, with a fraction of "
            f"the error at high thresholds. {_counts(table, table1.ROWS)} per threshold; bars are 95% intervals."
        ),
        x_label="threshold $t$",
        y_label=r"mean hard estimate / $\tau$",
        series=(
            printed_series(at, hard),
            exact_series(r"its $\kappa$", "predicted", at, hard),
            found_series("moment form (the paper's)", "paper", moved(at, -0.006), hard, joined=False),
            exact_series(r"$\kappa$, linear residuals", "ours predicted", at, linear),
            found_series("orthogonal form (ours)", "ours", moved(at, 0.006), linear, joined=False),
        ),
        x_ticks=at,
    )


def _p3(table: TableFound) -> Chart:
    at = tuple(table3.PRINTED)
    rows = _rows_at(at)
    soft = table.at("soft", "MSE").value
    squared, spread = column(table, rows, "bias2"), column(table, rows, "variance")
    return Chart(
        name="P3",
        caption=(
            "The hard label inside a confident set: squared bias and variance of the paper's estimator, and the mean "
            "squared error of least squares within the set, which has none of the former's bias at high thresholds. "
            f"The level is the mean squared error of soft. {_counts(table, table3.ROWS)}; bars are 95% intervals."
        ),
        x_label="threshold $t$",
        y_label=r"squared error ($\tau^2$)",
        series=(
            printed_series(at, [*squared]),
            printed_series(at, [*spread], label=""),
            found_series("squared bias (the paper's)", "paper", at, squared),
            found_series("variance (the paper's)", "paper 2", at, spread),
            found_series("MSE, all within C (ours)", "ours", at, column(table, rows, "within C: MSE")),
            Series("MSE of soft", "level", (at[0], at[-1]), (soft, soft)),
        ),
        x_ticks=(0.55, 0.65, 0.75, 0.85, 0.95),
        y_scale="log",
        y_limits=(4e-4, 40.0),
    )


def _p3_prediction(table: TableFound) -> Chart:
    at = tuple(table3.PRINTED)
    rows = _rows_at(at)
    kappa = [exact_of(one) - 1 for one in column(table, rows, "kappa_FM")]
    paper, ours = column(table, rows, "bias of the paper's estimator"), column(table, rows, "within C: bias")
    within = [exact_of(one) for one in ours]
    line = (min(kappa), 0.0)
    return Chart(
        name="P3-prediction",
        caption=(
            "Does kappa_FM predict the bias? Not that of the paper's estimator with the kappa_FM that it prints, whose "
            "thresholds stand beside the points; that of least squares within the confident set, with every residual "
            f"taken within it, at every threshold. {_counts(table, table3.ROWS)}; bars are 95% intervals."
        ),
        x_label=r"predicted bias, $(\kappa_\mathrm{FM} - 1)\,\tau$",
        y_label=r"bias found ($\tau$)",
        series=(
            Series("as predicted", "level", line, line),
            found_series("the paper's", "paper", kappa, paper, joined=False, names=tuple(f"{t:.2f}" for t in at)),
            found_series("all within C (ours)", "ours", within, ours, joined=False),
        ),
        x_limits=(-0.8, 0.02),
    )


def _p4(table: TableFound) -> Chart:
    deltas = table4.DELTAS
    worst = [f"worst-case, delta = {delta:.2f}" for delta in deltas]
    bound = [exact_of(one) for one in column(table, worst, "bound")]
    from_zero = (0.0, *deltas)
    shapes: tuple[tuple[str, Look], ...] = (("worst-case", "paper"), ("linear", "paper 2"), ("symmetric", "paper 3"))
    scores: list[Series] = []
    for shape, look in shapes:
        some = tuple(delta for one, delta in table4.PRINTED if one == shape)
        cells = column(table, [f"{shape}, delta = {delta:.2f}" for delta in some], "bias")
        scores += [found_series(f"score drifts: {shape}", look, some, cells), printed_series(some, cells, label="")]
    attained = "group drifts: orthogonal form, B"
    up = column(table, [f"upward, delta = {delta:.2f}" for delta in deltas], f"{attained}+")
    down = column(table, [f"downward, delta = {delta:.2f}" for delta in deltas], f"{attained}-")
    frozen = column(table, worst, "group drifts: moment form, m frozen")
    return Chart(
        name="P4",
        caption=(
            "Drift of at most delta. In the paper's simulation the score drifts, and the bound (lines) says nothing "
            "about it; where the group drifts, as in the bound's theorem, the moment form with m as it was reaches the "
            "bound but for the clip at one, and the orthogonal form with m estimated anew reaches its own, smaller "
            f"bounds B+ and B-. {_counts(table, table4.ROWS)}; bars are 95% intervals."
        ),
        x_label=r"largest drift, $\delta$",
        y_label=r"bias of soft ($\tau$)",
        series=(
            Series("printed in the paper", "printed", (), (), joined=False),
            Series("the paper's bound", "bound", from_zero, (0.0, *bound)),
            Series("", "bound", from_zero, (0.0, *(-each for each in bound))),
            *scores,
            found_series("group drifts: moment form", "ours", deltas, frozen),
            found_series("group drifts: orthogonal", "ours 2", deltas, up),
            found_series("", "ours 2", deltas, down),
        ),
        x_ticks=from_zero,
        height=3.3,
    )


def _p5(table: TableFound) -> Chart:
    at = table5.SIZES
    rows = [f"n_L = {n}" for n in at]
    by: tuple[tuple[str, str, Look], ...] = (
        ("deterministic", "quadratic r (the paper's)", "paper"),
        ("posterior-predictive", "with injected noise", "paper 2"),
        ("injected noise alone", "injected noise alone", "ours 3"),
        ("V* by linear", "linear r", "paper 3"),
        ("V* by spline", "spline r", "ours 2"),
        ("V* by boosting", "boosted r", "ours"),
    )
    columns = {name: column(table, rows, name) for name, _, _ in by}
    return Chart(
        name="P5",
        caption=(
            "V* of a score that is a function of the controls, which is 0 in truth. What is measured is how badly r "
            "follows the score, and it falls with a better learner and with more labels; injected noise adds its own "
            f"variance and nothing else. {_counts(table, table5.ROWS)} ({columns['V* by boosting'][0].n} for "
            "boosting); bars are 95% intervals."
        ),
        x_label="labelled rows $n_L$",
        y_label="estimated $V^*$",
        series=(
            printed_series(at, columns["deterministic"]),
            printed_series(at, columns["posterior-predictive"], label=""),
            *(found_series(label, look, at, columns[name]) for name, label, look in by),
        ),
        x_ticks=at,
        y_ticks=(0.001, 0.002, 0.005, 0.01, 0.02),
        x_scale="log",
        y_scale="log",
        height=3.3,
    )


def _p6(table: TableFound) -> Chart:
    at = adult.SIZES
    rows = [f"n_L = {n}" for n in at]
    by: tuple[tuple[str, str, Look], ...] = (
        ("MSE supervised", "supervised", "paper 3"),
        ("MSE soft", "soft (the paper's score)", "paper"),
        ("MSE hard", "hard (the paper's score)", "paper 2"),
        ("cross-fitted: MSE rectified", "rectified (ours)", "ours"),
        ("permuted: MSE soft", "soft, where nothing leaks", "ours 2"),
    )
    columns = {name: column(table, rows, name) for name, _, _ in by}
    beside = (0.95, 1.0, 1.0, 1.05, 1.1)
    return Chart(
        name="P6",
        caption=(
            "Adult: mean squared error against the coefficient of the true group on all 30,162 rows. Soft gets worse "
            "with more labels, for what its score tells of schooling at a given income is told better; rectified, on "
            "scores cross-fitted by default, is no worse than the labels alone. Where outcomes are permuted within "
            f"income and controls, the same soft does as well. {table.replications} random splits; bars are "
            "95% intervals."
        ),
        x_label="labelled rows $n_L$",
        y_label="mean squared error (years$^2$)",
        series=(
            *(
                printed_series(at, columns[name], label="printed in the paper" if name == "MSE soft" else "")
                for name, _, _ in by[:3]
            ),
            *(
                found_series(label, look, [n * aside for n in at], columns[name])
                for (name, label, look), aside in zip(by, beside, strict=True)
            ),
        ),
        x_ticks=at,
        y_ticks=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
        x_scale="log",
        y_scale="log",
        height=3.3,
    )


def _rows_at(thresholds: Sequence[float]) -> list[str]:
    return [f"t = {t:.2f}" for t in thresholds]


def _counts(table: TableFound, rows: int) -> str:
    return f"{rows:,} rows, {table.replications:,} replications"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
