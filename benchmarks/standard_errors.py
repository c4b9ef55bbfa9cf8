"""Reported standard errors over the spread of the estimates, for everything a diagnosis reports.

    python benchmarks/standard_errors.py [rows [replications]]

The paper's design at three strengths of the score, seeded. One is right; each ratio is known to about 1.6% with
2,000 replications. The moment forms, which the paper uses, are beside ours: theirs is the error they would have
if the nuisances were known.
"""

import sys

from softlabel.simulate import Diagnosing, PaperDesign, run

STRENGTHS = (0.2, 0.3, 0.5)
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CONFIDENT = (0.55, 0.65, 0.75, 0.85, 0.9, 0.95)
NAMES = (
    "soft",
    "soft moment",
    "v_star",
    *(f"{name} {t:g}" for name in ("hard", "hard moment", "deattenuated", "kappa") for t in THRESHOLDS),
    *(f"{name} {t:g}" for name in ("confident", "kappa_confident") for t in CONFIDENT),
)


def main(rows: int, replications: int) -> None:
    """Simulate and print one line per estimate, one column per strength: the ratio, and coverage of its own mean."""
    runs = [
        run(
            Diagnosing(PaperDesign(sigma_u=s), rows, options={"basis": "linear"}),
            replications,
            seed=11,
            workers=2,
            progress=False,
        )
        for s in STRENGTHS
    ]
    print(
        f"{rows:,} unlabelled rows, {replications:,} replications; standard error / Monte Carlo deviation (null rows)"
    )
    print(f"{'':22}" + "".join(f"  sigma_u = {s:<10}" for s in STRENGTHS))
    for name in NAMES:
        cells = []
        for monte_carlo in runs:
            missing = monte_carlo.missing(name)
            if replications - missing < replications / 2:
                cells.append("-")
                continue
            ratio = monte_carlo.se_ratio(f"{name} se", name)
            cells.append(f"{ratio.estimate:.3f}" + (f" ({missing})" if missing else ""))
        print(f"{name:22}" + "".join(f"  {cell:<20}" for cell in cells).rstrip())


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given + [2_000, 2_000][len(given) :]))
