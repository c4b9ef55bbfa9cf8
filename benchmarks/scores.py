"""Features to a verdict in one go: a million unlabelled rows of 20 features scored and diagnosed.

    python benchmarks/scores.py [rows]

2,000 labels, 15 numeric features with one value in a hundred missing, 5 of text; a Parquet table. Beside it is
what must be done in any case: the same classifiers of scikit-learn, fitted once and asked for every row, all in memory;
and the diagnosis of a score that is there already. Each runs in a process of its own, for its peak of memory.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LABELLED, NUMERIC, TEXT = 2_000, 15, 5
FEATURES = [*(f"w{j}" for j in range(NUMERIC)), *(f"c{j}" for j in range(TEXT))]
CONTROLS = ["w0", "w1", "c0"]
MODELS = ("logistic", "boosting", "forest")


def write(path: Path, rows: int) -> None:
    """Write the study: half of what tells the group is not controlled for."""
    rng = np.random.default_rng(0)
    n = rows + LABELLED
    w = rng.normal(size=(n, NUMERIC))
    c = rng.integers(0, 8, size=(n, TEXT))
    logit = w[:, :6] @ np.array([0.5, -0.3, 0.8, 0.5, -0.5, 0.3]) + 0.4 * (c[:, 1] == 2)
    group = rng.random(n) < 1 / (1 + np.exp(-logit))
    outcome = w[:, 0] + group + rng.normal(size=n)
    w[rng.random((n, NUMERIC)) < 0.01] = np.nan
    w[:, :2] = np.nan_to_num(w[:, :2])  # controls are complete
    levels = np.array([f"level {k}" for k in range(8)])
    columns = {f"w{j}": w[:, j] for j in range(NUMERIC)} | {f"c{j}": levels[c[:, j]] for j in range(TEXT)}
    known = np.arange(n) >= rows
    labels = pa.array(group.astype(np.int8), mask=~known)
    pq.write_table(pa.table({**columns, "y": outcome, "g": labels, "p": 1 / (1 + np.exp(-logit))}), path)


def ours(path: str, model: str) -> None:
    """Score and diagnose."""
    from softlabel import diagnose

    diagnose(path, outcome="y", group="g", controls=CONTROLS, features=FEATURES, model=model)


def diagnosis(path: str, _: str) -> None:
    """Diagnose a score that is there."""
    from softlabel import diagnose

    diagnose(path, outcome="y", group="g", controls=CONTROLS, score="p")


def by_hand(path: str, model: str) -> None:
    """Fit one classifier on all labels, in memory, and ask it for every row: no folds, no calibration, no errors."""
    from softlabel.scoring.layout import lay_out
    from softlabel.scoring.models import fit_model, make_model, positive

    table = pq.read_table(path)
    known = table.filter(pa.compute.is_valid(table["g"]))
    layout = lay_out(known, FEATURES, ())
    fitted = fit_model(
        make_model(model, 0), layout.matrix(known), None, layout.categorical, known["g"].to_numpy().astype(float), None
    )
    positive(model, fitted, layout.matrix(table))


PROGRAMS = {"ours": ours, "diagnosis": diagnosis, "by_hand": by_hand}


def run(program: str, path: str, model: str) -> tuple[float, float]:
    """Return seconds, and megabytes at the peak beyond the imports, of a program in a process of its own."""
    found = subprocess.run([sys.executable, __file__, program, path, model], capture_output=True, text=True, check=True)
    seconds, megabytes = found.stdout.split()
    return float(seconds), float(megabytes)


def main(rows: int) -> None:
    """Run every program once and print times, memory and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.parquet"
        write(path, rows)
        print(f"{rows:,} unlabelled rows, {LABELLED:,} labelled, {len(FEATURES)} features")
        base, memory = run("diagnosis", str(path), "-")
        print(f"  {'diagnosis of a score that is there':44} {base:7.1f} s  {memory:6.0f} MB")
        for model in MODELS:
            hand, hand_memory = run("by_hand", str(path), model)
            seconds, memory = run("ours", str(path), model)
            print(f"  {f'{model}: one fit, asked for every row':44} {hand:7.1f} s  {hand_memory:6.0f} MB")
            print(
                f"  {f'{model}: scored and diagnosed':44} {seconds:7.1f} s  {memory:6.0f} MB  "
                f"{seconds / (hand + base):5.2f} x both"
            )


def one(program: str, path: str, model: str) -> None:
    """Run one program in this process and print what it took."""
    import sklearn.ensemble  # noqa: F401  (the import is no part of what is compared)

    import softlabel  # noqa: F401

    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    PROGRAMS[program](path, model)
    print(time.perf_counter() - start, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        one(*sys.argv[1:4])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
