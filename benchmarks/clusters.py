"""Time and memory of many clusters, and what joining too many of them costs.

    python benchmarks/clusters.py [rows [clusters]]

Each line is a process of its own: the same rows by rows, by clusters, and by clusters of which there are too many
and which are joined to 65,536. The last line lifts the limit, so that joined and exact errors stand side by side.
"""

import json
import subprocess
import sys

CODE = """
import json, resource, sys, time
import numpy as np
import softlabel as sl
from softlabel import look

rows, clusters, cluster, most = json.loads(sys.argv[1])
rng = np.random.default_rng(1)
c = rng.integers(0, clusters, rows)
x, of_score, of_outcome = rng.normal(size=rows), rng.normal(size=clusters)[c], rng.normal(size=clusters)[c]
p = 1 / (1 + np.exp(-(0.5 * x + of_score + rng.normal(size=rows))))
g = rng.random(rows) < p
y = x + g + of_outcome + rng.normal(size=rows)
table = {"y": y, "p": p, "x": x, "c": c, "g": np.where(np.arange(rows) < 1000, g, np.nan)}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if most:
    look.MOST_CLUSTERS = most
roles = dict(outcome="y", score="p", group="g", controls=["x"], basis="linear", cluster="c" if cluster else None)
start = time.perf_counter()
d = sl.diagnose(table, **roles)
seconds = time.perf_counter() - start
memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
errors = [d.estimate("soft").std_error, d.estimate("hard", threshold=0.8).std_error, d.v_star.std_error]
errors += [d.kappa.rows[3].std_error]
print(json.dumps([seconds, memory, d.sample.clusters, errors]))
"""


def main(rows: int, clusters: int) -> None:
    """Print one line per way to take the rows."""
    print(f"{rows:,} rows; seconds, MB above the table, clusters, errors of soft, hard(0.8), V*, kappa(0.8)")
    for name, count, cluster, most in (
        ("rows alone", clusters, False, 0),
        ("clusters", clusters, True, 0),
        ("120,000 clusters, joined", 120_000, True, 0),
        ("120,000 clusters, exact", 120_000, True, 10**9),
    ):
        run = subprocess.run(
            [sys.executable, "-c", CODE, json.dumps([rows, count, cluster, most])],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds, memory, found, errors = json.loads(run.stdout)
        print(f"{name:26} {seconds:6.2f} s {memory:7.0f} MB {found or 0:9,}  " + " ".join(f"{e:.3e}" for e in errors))


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given + [1_000_000, 100_000][len(given) :]))
