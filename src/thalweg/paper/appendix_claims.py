"""Theorems 9 and 10, least squares on matrices; and gradient steps of constant size."""

import math

import numpy as np

from thalweg import bounds, discounts, regret
from thalweg.bounds import Problem
from thalweg.domains import Everywhere
from thalweg.learners import ConstantStepGradient, GeneralLeastSquares
from thalweg.losses import Constants, LinearMap, SquaredError
from thalweg.paper.experiment import (
    DOMAIN,
    FIRST_ROUNDS,
    Experiment,
    Measurement,
    Remark,
    measure_regret,
    play,
)
from thalweg.paper.paper_streams import (
    NOISE,
    FeatureSizes,
    coin_noise,
    many_jumps,
    means,
    noiseless_jumps,
    path_length,
    through_matrices,
    through_sizes,
)
from thalweg.types import FloatArray

DIMENSION = 2
JUMP = 2 * math.sqrt(DIMENSION)
"""Δ, from (1, 1) to (-1, -1)."""
CONDITION = 1.2
"""δ = u/ℓ, at which Theorem 9 allows γ below 0.897."""
DISCOUNT = 0.5
TRADEOFF = 0.5
AVERAGING = 0.1
SIZES = FeatureSizes()
START = Remark(
    "The start is half a jump, and counts in 1 + V* as one and a half.", "faster"
)


def appendix_experiments() -> list[Experiment]:
    """Each with a path of minimisers, or noise, that makes its terms count."""
    return [_general_dynamic(), _general_static(), _constant_step()]


def _general_dynamic() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        points = noiseless_jumps(horizon, many_jumps(horizon))
        stream, loss = through_matrices(points, CONDITION, seed), LinearMap()
        constants = loss.constants(Everywhere(), stream.block)
        learner = GeneralLeastSquares.from_theorem(9, constants, DISCOUNT)
        trace = play(learner, loss, stream.block)
        measured = regret.dynamic(trace, stream.block, loss, stream.truth).total
        problem = _problem(horizon, constants)
        V, start = path_length(stream), float(np.linalg.norm(means(stream)[0]))
        bound = bounds.general_dynamic(
            problem, DISCOUNT, _target_bound(stream.block.y), path_length=V,
            start_distance=start,
        )  # fmt: skip
        return Measurement(measured, bound, 1 + V)

    return Experiment(
        "Thm. 9", f"least squares, γ = {DISCOUNT}", "√T/4 jumps",
        "minimisers", measure, (1 + CONDITION) / 2 * JUMP / 2 / (1 - DISCOUNT**2),
        "¼(ℓ+u)Δ/(1-γ²)", remark=START,
    )  # fmt: skip


def _general_static() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        points = coin_noise(horizon, 0, seed)
        stream, loss = through_matrices(points, CONDITION, seed), LinearMap()
        gamma = discounts.from_tradeoff(TRADEOFF, horizon)
        constants = loss.constants(Everywhere(), stream.block)
        learner = GeneralLeastSquares.from_theorem(10, constants, gamma)
        trace = play(learner, loss, stream.block)
        measured = regret.static(trace, stream.block, loss).total
        problem = _problem(horizon, constants)
        bound = bounds.general_static(problem, gamma, _target_bound(stream.block.y))
        return Measurement(measured, bound, horizon ** (1 - TRADEOFF))

    return Experiment(
        "Thm. 10", "least squares", "coins, no jump", "fixed", measure,
        DIMENSION * NOISE**2 * (1 + CONDITION**2) / (1 + CONDITION) / 4,
        "¼nσ²(ℓ²+u²)/(ℓ+u)",
        remark=FIRST_ROUNDS, tradeoff=TRADEOFF,
    )  # fmt: skip


def _constant_step() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        points = noiseless_jumps(horizon, many_jumps(horizon))
        stream, loss = through_sizes(points, SIZES, seed), SquaredError()
        learner = ConstantStepGradient(SIZES.smoothness, AVERAGING, DOMAIN)
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        problem, V = Problem.from_loss(loss, DOMAIN, stream.block), path_length(stream)
        bound = bounds.constant_step(
            problem, V, averaging=AVERAGING, start_distance=1.0
        )
        return Measurement(measured, bound, 1 + V)

    second, fourth = SIZES.moments
    shrink = AVERAGING * (2 - AVERAGING * fourth / second)
    return Experiment(
        "Mokhtari", "constant step", "√T/4 jumps",
        "minimisers", measure, 1 / shrink, "1/(2h - h²E x⁴/E x²)", remark=START,
        max_horizon=16_000,
    )  # fmt: skip


def _problem(horizon: int, constants: Constants) -> Problem:
    """The constants of A_t without a domain, of which the appendix uses ℓ and u."""
    return Problem(horizon, DIMENSION, math.inf, *constants)


def _target_bound(y: FloatArray) -> float:
    """Y ≥ ‖y_t‖."""
    return float(np.linalg.norm(y, axis=1).max())
