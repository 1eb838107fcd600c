"""Lemma 3: what mixing costs beyond the best expert."""

import numpy as np

from thalweg import bounds, discounts
from thalweg.domains import Ball
from thalweg.learners import DiscountedGradient, Experts
from thalweg.losses import Tracking
from thalweg.paper.experiment import Experiment, Measurement, play
from thalweg.streams import coin_noise_jumps

SMALL_DOMAIN = Ball(0.1)
"""Losses are hardly more than exp-concave here: residuals are 0.9 to 1.1."""
PERIOD = 3
"""Rounds between jumps: short enough that experts which forget fastest win.

Period and radius were searched for the largest ratio to the bound (26 pairs).
"""
GRID_HORIZON = 1000
"""The experts are the same at every T."""


def mixture_experiments() -> list[Experiment]:
    """Labels ±1 that a domain of radius 0.1 can never come near to."""
    return [
        Experiment(
            "Lemma 3", "gradient mixture", f"a jump every {PERIOD} rounds",
            "experts", _measure, 1.0, "the bound itself",
            seeds=1,
        )
    ]  # fmt: skip


def _measure(horizon: int, seed: int) -> Measurement:
    """The loss beyond that of the best expert, and the bound for that expert."""
    stream = coin_noise_jumps(horizon, horizon // PERIOD - 1, 1.0, 0.0, seed)
    loss, block = Tracking(), stream.block
    alpha = loss.constants(SMALL_DOMAIN, block).exp_concavity
    grid = discounts.grid(GRID_HORIZON, SMALL_DOMAIN.radius)
    experts = [
        DiscountedGradient(gamma, "strongly_convex", domain=SMALL_DOMAIN)
        for gamma in grid
    ]
    totals = [float(play(expert, loss, block).loss.sum()) for expert in experts]
    mixture = Experts(tuple(experts), alpha)
    total = float(play(mixture, loss, block).loss.sum())
    best = int(np.argmin(totals))
    bound = bounds.mixing_cost(alpha, best + 1, len(grid))
    return Measurement(total - totals[best], bound, bound)
