"""MC dropout in PyTorch: one network, and thinned copies of it as draws from an approximate posterior."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from softlabel.errors import InputError
from softlabel.nuisances.learners import first_line
from softlabel.scoring.ensembles import MemberClassifier, Training, training_rows
from softlabel.scoring.forward import Layers, network

__all__ = ["DropoutClassifier"]

Floats = NDArray[np.float64]

_RATE_OF_LEARNING = 0.01


class DropoutClassifier(MemberClassifier):
    r"""A network trained and used with dropout, as approximate Bayesian inference (Gal & Ghahramani 2016).

    Each step drops each hidden unit of each row with probability ``rate``; what stays is multiplied by 1/(1 − rate).
    With weights w and all parameters θ it minimises, by Adam on all rows at once,

    .. math:: \sum_i w_i \, \ell(g_i, f_\theta(x_i)) / \sum_i w_i + \frac{\lambda}{2 \sum_i w_i} \lVert \theta \rVert^2

    so λ is the precision of a normal prior. Afterwards a member is the network with one draw of units left out of it,
    the same for all rows: a function of x, so that a row's score depends neither on its batch nor on when it came.
    Predictions take NumPy alone.

    Parameters
    ----------
    hidden
        Units of each hidden layer.
    rate
        The probability that a unit is dropped.
    draws
        How many members.
    epochs
        Steps of Adam, each on all rows.
    penalty
        The prior's precision λ. Set, with the epochs, on the designs of `DeepEnsemble`: for 200 rows 1 is too little
        and 20 too much.
    random_state
        Seeds the start, the dropping and the draws; PyTorch's own generator is left alone.
    """

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        rate: float = 0.2,
        draws: int = 50,
        epochs: int = 100,
        penalty: float = 10.0,
        random_state: int = 0,
    ) -> None:
        self.hidden = hidden
        self.rate = rate
        self.draws = draws
        self.epochs = epochs
        self.penalty = penalty
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows X (n, k) of classes y (n,), with weights (n,) if there are any, and draw the members."""
        if not 0 <= self.rate < 1:
            raise InputError(expected="rate to be from 0 up to 1", found=str(self.rate), fix="Drop 0.1 to 0.5 of units")
        if self.draws < 1:
            raise InputError(expected="draws to be at least 1", found=str(self.draws), fix="Use 50")
        torch = _torch()
        rows = training_rows(X, y, sample_weight)
        generator = torch.Generator().manual_seed(int(self.random_state))
        with _one_thread(torch):
            layers = _trained(torch, rows, self, generator)
            kept = [torch.rand(self.draws, int(units), generator=generator).numpy() for units in self.hidden]
        self.members_: list[Layers] = [
            _thinned(layers, [(of_layer[m] >= self.rate) / (1 - self.rate) for of_layer in kept])
            for m in range(self.draws)
        ]
        self._seen(rows)
        return self

    def _members(self, x: Floats) -> Floats:
        return np.stack([np.asarray(expit(network(x, layers))) for layers in self.members_])


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise InputError(
            expected="PyTorch for dropout",
            found=f"that it cannot be imported ({first_line(error)})",
            fix="Install it with: pip install 'softlabel[torch]'; a deep ensemble needs no PyTorch",
        ) from error
    return torch


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Hold PyTorch to one thread: several add up in the order in which they finish, and gain little."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _trained(torch: Any, rows: Training, chosen: DropoutClassifier, generator: Any) -> Layers:
    """Return the slopes (k, h) and levels (h,) of each layer after training, for units that are not dropped."""
    x, target = torch.from_numpy(rows.x), torch.from_numpy(rows.y.astype(np.float64))
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    total, share = float(weight.sum()), torch.from_numpy(weight / weight.sum())
    layers = _started(torch, [rows.x.shape[1], *map(int, chosen.hidden), 1], generator)
    parameters = [values for layer in layers for values in layer]
    adam = torch.optim.Adam(parameters, lr=_RATE_OF_LEARNING)
    for _ in range(chosen.epochs):
        value = x
        for slopes, level in layers[:-1]:
            unit = torch.relu(value @ slopes + level)
            kept = torch.rand(unit.shape, generator=generator, dtype=unit.dtype) >= chosen.rate
            value = unit * kept / (1 - chosen.rate)
        slopes, level = layers[-1]
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            (value @ slopes + level)[:, 0], target, reduction="none"
        )
        prior = sum(torch.square(values).sum() for values in parameters)
        loss = (share * losses).sum() + chosen.penalty / (2 * total) * prior
        adam.zero_grad()
        loss.backward()
        adam.step()
    return [(slopes.detach().numpy(), level.detach().numpy()) for slopes, level in layers]


def _started(torch: Any, sizes: Sequence[int], generator: Any) -> list[tuple[Any, Any]]:
    """Return layers at random, of variance 2 over the units before them (He et al. 2015), and levels of zero."""
    return [
        (
            (torch.randn(k, h, generator=generator, dtype=torch.float64) * (2 / k) ** 0.5).requires_grad_(),
            torch.zeros(h, dtype=torch.float64).requires_grad_(),
        )
        for k, h in pairwise(sizes)
    ]


def _thinned(layers: Layers, factors: Sequence[Floats]) -> Layers:
    """Return the layers with each hidden unit multiplied by its factor, put into the slopes that follow it."""
    first, *rest = layers
    return [first, *((factor[:, None] * slopes, level) for factor, (slopes, level) in zip(factors, rest, strict=True))]
