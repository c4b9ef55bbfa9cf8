"""The samples: whether labelled and unlabelled rows are of one population."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from softlabel.diagnostics.checks.registry import Context, Finding, check, judged
from softlabel.estimators.wald import Wald, gap_test
from softlabel.results.text import number

__all__: list[str] = []

Floats = NDArray[np.float64]

_ADVICE = (
    "Label rows drawn at random; or give weights= that undo how they were chosen; or stay with supervised, which needs "
    "that, given group and controls, the choice had nothing to do with the outcome (a choice by the score does where "
    "exclusion fails)"
)

_MOST_BINS, _ROWS_PER_BIN = 10, 15


@check("samples.score", "Labelled and unlabelled rows have like scores")
def score(context: Context) -> Finding:
    """Test an equal mean of p and equal shares of rows in bins of it: who is asked for labels may depend on either."""
    evidence, analysis = context.audited, context.run.analysis
    moments, place = analysis.fit.moments, analysis.design.d
    sums = moments.sums.sum(axis=0)
    by_code, p = sums[:, 0] / sums[:, 0].sum(), sums[:, place] / sums[:, 0].sum()
    wanted = int(np.clip(evidence.n // _ROWS_PER_BIN, 2, _MOST_BINS))
    bins = np.minimum(((np.cumsum(by_code) - by_code / 2) * wanted).astype(int), wanted - 1)
    # Of each bin but the first, which the others imply; a bin without rows tells nothing.
    which = (bins[None] == np.unique(bins[by_code > 0])[1:, None]).astype(np.float64)
    shares, with_p = which @ by_code, which @ p
    spread = np.empty((len(which) + 1, len(which) + 1))
    spread[0, 0] = float(analysis.points.score_variance[0, 0])
    spread[0, 1:] = spread[1:, 0] = with_p - shares * p.sum()
    spread[1:, 1:] = np.diag(shares) - np.outer(shares, shares)
    scores = evidence.rows.score
    here = np.vstack([scores, which[:, analysis.design.partition.codes(scores)]])
    there = np.append(analysis.points.score_mean[:1], shares)
    test = gap_test(here, there, spread, _worth(context), evidence.rows)
    share = here[1:] @ evidence.weight / evidence.weight.sum()
    largest = float(np.abs(share - shares).max(initial=0.0))
    return judged(
        test,
        f"Shares of rows in bins of the score differ by at most {number(100 * largest, 2)} points: chance explains it",
        f"Shares of rows in bins of the score differ by up to {number(100 * largest, 2)} points, more than chance "
        "explains: the labelled rows are not a random part of the population, or their scores come about otherwise",
        _ADVICE,
    )


@check("samples.controls", "Labelled and unlabelled rows have like controls")
def controls(context: Context) -> Finding:
    """Test equal means of every design column, or of what a learner predicts from the controls."""
    if not context.run.basis.columns:
        return Finding("not_applicable", "There are no controls")
    learnt = context.run.learner is not None
    return _compared(context, "controls", lambda d, q, _: np.arange(1, q + 2 if learnt else d))


@check("samples.outcome", "Labelled and unlabelled rows have like outcomes")
def outcome(context: Context) -> Finding:
    """Test equal means of Y."""
    return _compared(context, "outcome", lambda _, __, width: np.array([width - 1]))


@check("samples.soft", "Soft is the same on labelled and unlabelled rows")
def soft(context: Context) -> Finding:
    """Test soft_L = soft_U: the premise of rectified."""
    evidence = context.audited
    if context.ladder.comparable is None:
        return Finding("skipped", f"Not tested: {context.ladder.reason}")
    statistic, p = context.ladder.comparable
    difference = float(evidence.g[2] - evidence.g[1])
    return judged(
        Wald(statistic, 1, p),
        f"It differs by {number(difference)}, which chance explains; where labelling depended on the group this test "
        "sees little",
        f"It differs by {number(difference)}, more than chance explains: the labelled rows are another population, so "
        "rectified and all that builds on it may be off, or the effect varies with controls that differ",
        _ADVICE,
        effect=difference,
    )


def _compared(context: Context, what: str, places: Callable[[int, int, int], NDArray[np.intp]]) -> Finding:
    """Compare means of some entries of z = (1, B, p, Y), of which the moments know mean and covariance."""
    evidence, analysis = context.audited, context.run.analysis
    design, moments = analysis.design, analysis.fit.moments
    at = places(design.d, design.q, design.width)
    gram = moments.grams.sum(axis=(0, 1))
    mean = gram[0] / gram[0, 0]
    spread = gram / gram[0, 0] - np.outer(mean, mean)
    clean = context.run.labelled_read.take(evidence.clean)
    z = np.empty((design.width, len(clean)))
    z[0] = 1.0
    design.basis.fill(clean.controls, z[1 : design.d])
    z[design.d : -1], z[-1] = clean.score, clean.outcome
    there = mean + moments.shift
    test = gap_test(z[at], there[at], spread[np.ix_(at, at)], _worth(context), evidence.rows)
    weight = evidence.weight
    gaps = (z[at] @ weight / weight.sum() - there[at]) / np.sqrt(np.maximum(np.diagonal(spread)[at], 1e-300))
    varies = np.diagonal(spread)[at] > 0
    largest = float(np.abs(gaps[varies]).max(initial=0.0))
    return judged(
        test,
        f"Means of the {what} differ by at most {number(largest, 2)} standard deviations, which chance explains",
        f"Means of the {what} differ by up to {number(largest, 2)} standard deviations, more than chance explains: the "
        "labelled rows are not a random part of the population",
        _ADVICE,
    )


def _worth(context: Context) -> float:
    """Return how many equal independent rows the unlabelled ones are worth for a mean."""
    analysis = context.run.analysis
    shares = analysis.sums["shares"]
    if shares.clusters is not None or not len(shares.moment):
        return float(analysis.n)
    return float(shares.effective[0])
