"""Rows with a known P(G | x), for classifiers of several members."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from tests.oracle import Floats


class Made(NamedTuple):
    x: Floats
    group: Floats
    truth: Floats


def made(n: int, seed: int, k: int = 3) -> Made:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k))
    truth = np.asarray(expit(1.2 * x[:, 0] - 0.8 * x[:, 1]))
    return Made(x, (rng.random(n) < truth).astype(float), truth)
