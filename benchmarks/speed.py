"""One diagnosis against one regression, in one run and as ratios: machines differ, ratios less.

    python benchmarks/speed.py [rows]

The paper's design without labels, linear basis, 19 thresholds, every standard error, one thread; beside it one
statsmodels OLS fit with HC1 (one coefficient, no folds) and the same diagnosis by hand with scikit-learn: one
cross-fitted regression for the score, one for the outcome and one for each threshold.
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict

from softlabel import diagnose
from softlabel.simulate import PaperDesign

THRESHOLDS = tuple(k / 20 for k in range(1, 20))
CONTROLS = ["x1", "x2", "x3"]
ROUNDS = 5


def main(rows: int) -> None:
    """Time each program in turn and print medians and ratios."""
    table = PaperDesign().sample(rows, seed=1).drop_columns(["g"])
    y, p = table["y"].to_numpy(), table["p"].to_numpy()
    x = np.column_stack([table[name].to_numpy() for name in CONTROLS])

    def ours() -> None:
        diagnose(
            table,
            outcome="y",
            score="p",
            controls=CONTROLS,
            basis="linear",
            thresholds=THRESHOLDS,
            confident=(),
            threads=1,
        )

    def ours_default() -> None:
        diagnose(table, outcome="y", score="p", controls=CONTROLS)

    def ours_linear() -> None:
        diagnose(table, outcome="y", score="p", controls=CONTROLS, basis="linear")

    def ols() -> None:
        sm.OLS(y, np.column_stack([np.ones(rows), p, x])).fit(cov_type="HC1").summary2()

    def by_hand() -> None:
        folds = KFold(5, shuffle=True, random_state=0)
        for target in (p, y, *((p > t).astype(float) for t in THRESHOLDS)):
            cross_val_predict(LinearRegression(), x, target, cv=folds)

    programs: dict[str, Callable[[], None]] = {
        "softlabel, 19 thresholds, one thread": ours,
        "softlabel, linear basis": ours_linear,
        "softlabel, default settings (splines)": ours_default,
        "statsmodels OLS, HC1": ols,
        "scikit-learn by hand, no standard errors": by_hand,
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, program in programs.items():
            start = time.perf_counter()
            program()
            times[name].append(time.perf_counter() - start)
    base = statistics.median(times["statsmodels OLS, HC1"])
    print(f"{rows:,} rows, median of {ROUNDS}")
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"  {name:42} {middle:8.3f} s  {middle / rows * 1e9:7.0f} ns/row  {middle / base:6.2f} x OLS")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
