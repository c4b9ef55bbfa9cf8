"""How long `import softlabel` takes in a fresh interpreter; exits with 1 above the limit.

The time of an interpreter that imports nothing is measured in turn with it and taken off, and so is the
time of `import numpy, pyarrow`, which no care of ours can shorten. Run on a machine that does nothing else.
"""

import statistics
import subprocess
import sys
import time

LIMIT = 0.4
ROUNDS = 15
PROGRAMS = {
    "nothing": "pass",
    "numpy, pyarrow": "import numpy, pyarrow",
    "softlabel": "import softlabel",
}


def seconds(program: str) -> float:
    """Return the wall time of one fresh interpreter that runs `program`."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter() - start


def main() -> int:
    """Measure, print a line for each program, and compare with the limit."""
    for program in PROGRAMS.values():
        seconds(program)  # fill the disk cache and write the bytecode
    runs: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(ROUNDS):
        for name, program in PROGRAMS.items():
            runs[name].append(seconds(program))
    baseline = statistics.median(runs["nothing"])
    for name, times in runs.items():
        if name == "nothing":
            continue
        low, middle, high = min(times), statistics.median(times), max(times)
        print(
            f"import {name:15} {middle - baseline:.3f} s  (median of {ROUNDS}; from {low - baseline:.3f} to "
            f"{high - baseline:.3f}; the interpreter's own {baseline:.3f} s taken off)"
        )
    taken = statistics.median(runs["softlabel"]) - baseline
    print(f"limit {LIMIT:.1f} s: {'kept' if taken < LIMIT else 'broken'}")
    return 0 if taken < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
