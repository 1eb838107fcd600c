"""The trade-off between static and dynamic regret, both of one and the same run.

On one run the two regrets differ by what the moving comparator gains on the best fixed
one, whatever β is: the trade-off is between streams, not between the two curves of one.
"""

from dataclasses import dataclass

import numpy as np

from thalweg import bounds, discounts, regret
from thalweg.bounds import Problem
from thalweg.learners import DiscountedGradient
from thalweg.losses import Tracking
from thalweg.paper.experiment import DOMAIN, play
from thalweg.paper.paper_streams import coin_noise, many_jumps, path_length

BETAS = tuple(round(beta, 2) for beta in np.arange(0.1, 0.91, 0.05).tolist())


@dataclass(frozen=True)
class TradeoffCurve:
    """Theorem 6 at γ = 1 - T^-β on one kind of stream, averaged over seeds."""

    stream: str
    jumps: int
    horizon: int
    path_length: float  # V
    beta: list[float]
    static: list[float]  # of the same predictions as ``dynamic``
    dynamic: list[float]
    static_bound: list[float]
    dynamic_bound: list[float]


def measure_tradeoff(horizon: int, seeds: int) -> list[TradeoffCurve]:
    """Curves over β where the mean is constant, jumps twice, and √T/4 times."""
    few, many = 2, many_jumps(horizon)
    kinds = {"no jumps": 0, f"{few} jumps": few, f"{many} jumps": many}
    return [_curve(name, jumps, horizon, seeds) for name, jumps in kinds.items()]


def _curve(name: str, jumps: int, horizon: int, seeds: int) -> TradeoffCurve:
    rows = []
    for beta in BETAS:
        runs = [_measure(beta, jumps, horizon, seed) for seed in range(seeds)]
        rows.append(np.mean(runs, axis=0).tolist())
    columns = [list(column) for column in zip(*rows, strict=True)]
    V = path_length(coin_noise(horizon, jumps, 0))
    return TradeoffCurve(name, jumps, horizon, V, list(BETAS), *columns)


def _measure(
    beta: float, jumps: int, horizon: int, seed: int
) -> tuple[float, float, float, float]:
    """Static regret, dynamic regret and their bounds, of one trace."""
    stream, loss = coin_noise(horizon, jumps, seed), Tracking()
    gamma = discounts.from_tradeoff(beta, horizon)
    learner = DiscountedGradient(gamma, "strongly_convex", domain=DOMAIN)
    trace = play(learner, loss, stream.block)
    problem, V = Problem.from_loss(loss, DOMAIN, stream.block), path_length(stream)
    return (
        regret.static(trace, stream.block, loss, DOMAIN).total,
        regret.dynamic(trace, stream.block, loss, stream.truth).total,
        bounds.strongly_convex(problem, gamma),
        bounds.strongly_convex(problem, gamma, path_length=V),
    )
