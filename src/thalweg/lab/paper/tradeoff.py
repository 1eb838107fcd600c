"""Corollary 1's trade-off: what a memory of T^β costs with and without drift."""

from dataclasses import dataclass

import numpy as np

from thalweg.lab.paper.theorems import Measured, measured_newton


@dataclass(frozen=True)
class Tradeoff:
    """Regret of Newton steps with γ = 1 - T^-β, averaged over seeds."""

    horizon: int
    beta: list[float]
    static: list[float]  # on a stream that stands still, with noise
    static_bound: list[float]
    dynamic: list[float]  # on a stream that jumps, without noise
    dynamic_bound: list[float]


def tradeoff(horizon: int, seeds: int) -> Tradeoff:
    """The curve over β from 0.1 to 0.9."""
    betas = [round(beta, 2) for beta in np.arange(0.1, 0.91, 0.05).tolist()]
    columns = []
    for beta in betas:
        still = [measured_newton(beta, False, horizon, seed) for seed in range(seeds)]
        jumps = [measured_newton(beta, True, horizon, seed) for seed in range(seeds)]
        columns.append((*_mean(still), *_mean(jumps)))
    return Tradeoff(horizon, betas, *(list(c) for c in zip(*columns, strict=True)))


def _mean(found: list[Measured]) -> tuple[float, float]:
    regret, bound = np.mean(found, axis=0)
    return float(regret), float(bound)
