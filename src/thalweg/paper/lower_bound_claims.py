"""Proposition 1: no learner does better, in both of its branches."""

import math
from typing import Any

from thalweg import bounds, discounts, streams
from thalweg.learners import DiscountedGradient, DiscountedNewton, Learner
from thalweg.losses import SquaredError, Tracking
from thalweg.paper.experiment import (
    DOMAIN,
    Experiment,
    Measurement,
    Remark,
    measure_regret,
)
from thalweg.paper.paper_streams import through_signs

PATH_EXPONENT = 0.75
"""V = T^¾, at which ¾V²/T is ¾√T."""
MANY_SEEDS = 64
"""Seeds: a lower bound holds in expectation, not in every run."""
PRIOR = 4.0
"""The ridge at which Newton with γ = 1 plays the posterior mean of biased coins."""
TRACKING = Remark("Tracking coins adds (1-γ)/(1+γ) to the ¾.", "slower")


def lower_bound_experiments() -> list[Experiment]:
    """Coins of size V/T against their halves, and coins of unknown bias."""
    return [_coins("running mean", False), _coins("tracking, V known", True), _bias()]


def _coins(name: str, knows_path: bool) -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        V = horizon**PATH_EXPONENT
        stream, loss = streams.coin_flips(horizon, V, seed), Tracking()
        gamma = discounts.from_path_length(V, horizon, DOMAIN.radius)
        learner: Learner[Any] = DiscountedGradient(
            gamma if knows_path else 1.0, "tracking", domain=DOMAIN
        )
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        bound = bounds.lower_bound(horizon, V)
        return Measurement(measured, bound, V * V / horizon)

    return Experiment(
        "Prop. 1", name, "coins ±V/T, V = T^¾", "moving", measure, 0.75,
        "¾, that of the bound", remark=TRACKING,
        is_lower_bound=True, seeds=MANY_SEEDS,
    )  # fmt: skip


def _bias() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        points, loss = streams.biased_coins(horizon, seed), SquaredError()
        stream = through_signs(points, 1, seed)
        learner = DiscountedNewton(1.0, 1.0, PRIOR, "hessian", DOMAIN)
        measured = measure_regret(learner, loss, stream.block, None)
        bound = bounds.static_lower_bound(horizon)
        return Measurement(measured, bound, math.log(horizon))

    return Experiment(
        "Prop. 1", "posterior mean", "coins of unknown bias", "fixed", measure,
        2 / 3, "⅔, that of the bound", is_lower_bound=True, seeds=128,
        max_horizon=64_000,
    )  # fmt: skip
