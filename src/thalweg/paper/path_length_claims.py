"""Corollaries 2 and 3, Theorems 7 and 8: log T or √(TV), whichever is larger.

On coin noise with √T/4 jumps √(TV) is what every discounted learner pays, so that these
claims are tight in their rate; on a constant mean what is left is log T.
"""

import math

from thalweg import bounds, discounts
from thalweg.bounds import Problem
from thalweg.learners import (
    DiscountedGradient,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
)
from thalweg.losses import SquaredError, Tracking
from thalweg.paper.experiment import (
    DOMAIN,
    Experiment,
    Measurement,
    Remark,
    measure_regret,
)
from thalweg.paper.paper_streams import (
    JUMP,
    NOISE,
    coin_noise,
    expected_regret,
    many_jumps,
    means,
    newton_steps,
    path_length,
    through_signs,
)
from thalweg.streams import Stream, coin_blocks

DIMENSION = 3
MANY_JUMPS = "coins, √T/4 jumps"
NO_JUMP = "coins, no jump"
GRID = Remark(
    "The rest is the grid, up to 6 % above the best discount, and mixing.", "slower"
)
MIXING = Remark("The rest is the cost of mixing.", "slower")


def path_length_experiments() -> list[Experiment]:
    """With V known, then without, on the tight stream and where nothing moves."""
    return [
        _known_newton(),
        _known_gradient(),
        _newton_mixture(),
        _gradient_mixture(),
        _leading_history(),
        _newton_mixture_at_rest(),
        _gradient_mixture_at_rest(),
        _gradient_mixture_on_blocks(),
    ]


def best_constant(dimension: int = 1) -> float:
    """½σ√Δ: regret / √(TV) of the best discount, to leading order."""
    return NOISE / math.sqrt(dimension) * math.sqrt(JUMP) / 2


def known_path_constant(dimension: int = 1) -> float:
    """regret / √(TV) at the γ of Corollary 2 with D = 1, to leading order.

    nσ²T(1-γ)/4 + ΔV/4n(1-γ) with 1-γ = ½√(V/2T).
    """
    variance = NOISE**2 / dimension
    return dimension * variance / (8 * math.sqrt(2)) + JUMP / (dimension * math.sqrt(2))


def _regression(horizon: int, jumps: int, seed: int) -> Stream:
    return through_signs(coin_noise(horizon, jumps, seed), DIMENSION, seed)


def _known_newton() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        stream, loss = _regression(horizon, many_jumps(horizon), seed), SquaredError()
        V = path_length(stream)
        gamma = discounts.from_path_length(V, horizon, DOMAIN.radius)
        constants = loss.constants(DOMAIN, stream.block)
        learner = DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma)
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        problem = Problem.from_loss(loss, DOMAIN, stream.block)
        bound = bounds.newton_by_path_length(problem, V, case=3)
        return Measurement(measured, bound, _rate(horizon, V))

    return Experiment(
        "Cor. 2", f"Newton, V known, n = {DIMENSION}", MANY_JUMPS, "moving", measure,
        known_path_constant(DIMENSION), "nσ²/8√2 + Δ/n√2",
    )  # fmt: skip


def _known_gradient() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        stream, loss = coin_noise(horizon, many_jumps(horizon), seed), Tracking()
        V = path_length(stream)
        gamma = discounts.from_path_length(V, horizon, DOMAIN.radius)
        learner = DiscountedGradient(gamma, "strongly_convex", domain=DOMAIN)
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        problem = Problem.from_loss(loss, DOMAIN, stream.block)
        bound = bounds.strongly_convex_by_path_length(problem, V)
        return Measurement(measured, bound, _rate(horizon, V))

    def mean_regret(horizon: int) -> float:
        stream = coin_noise(horizon, many_jumps(horizon), 0)
        gamma = discounts.from_path_length(path_length(stream), horizon, DOMAIN.radius)
        steps, path = newton_steps(gamma, horizon), means(stream)[:, 0]
        return expected_regret(steps, path, NOISE)

    return Experiment(
        "Cor. 3", "strongly convex, V known", MANY_JUMPS, "moving", measure,
        known_path_constant(), "σ²/8√2 + Δ/√2", mean_regret,
    )  # fmt: skip


def _newton_mixture() -> Experiment:
    return Experiment(
        "Thm. 7", f"Newton mixture, n = {DIMENSION}", MANY_JUMPS, "moving",
        lambda horizon, seed: _mix_newton(horizon, many_jumps(horizon), seed),
        best_constant(DIMENSION), "½σ√Δ", remark=GRID, seeds=8,
    )  # fmt: skip


def _newton_mixture_at_rest() -> Experiment:
    return Experiment(
        "Thm. 7", f"Newton mixture, n = {DIMENSION}", NO_JUMP, "fixed",
        lambda horizon, seed: _mix_newton(horizon, 0, seed),
        NOISE**2 / 2, "½nσ²", remark=MIXING, seeds=16,
    )  # fmt: skip


def _mix_newton(horizon: int, jumps: int, seed: int) -> Measurement:
    stream, loss = _regression(horizon, jumps, seed), SquaredError()
    constants = loss.constants(DOMAIN, stream.block)
    learner = Experts.from_newton_grid(constants, DOMAIN, horizon, case=3)
    path = stream.truth if jumps else None
    measured = measure_regret(learner, loss, stream.block, path)
    problem, V = Problem.from_loss(loss, DOMAIN, stream.block), path_length(stream)
    bound = bounds.experts_newton(problem, V, case=3, sharp=True)
    return Measurement(measured, bound, _rate(horizon, V))


def _gradient_mixture() -> Experiment:
    return Experiment(
        "Thm. 8", "gradient mixture", MANY_JUMPS, "moving",
        lambda horizon, seed: mix_gradient(
            coin_noise(horizon, many_jumps(horizon), seed)
        ),
        best_constant(), "½σ√Δ", remark=GRID, seeds=8,
    )  # fmt: skip


def _gradient_mixture_at_rest() -> Experiment:
    return Experiment(
        "Thm. 8", "gradient mixture", NO_JUMP, "fixed",
        lambda horizon, seed: mix_gradient(coin_noise(horizon, 0, seed), fixed=True),
        NOISE**2 / 2, "½σ²", remark=MIXING, seeds=16,
    )  # fmt: skip


def mix_gradient(stream: Stream, *, fixed: bool = False) -> Measurement:
    """Theorem 8's mixture on points, against ``truth`` or the best fixed point."""
    loss, horizon = Tracking(), len(stream.block)
    constants = loss.constants(DOMAIN, stream.block)
    learner = Experts.from_gradient_grid(constants, DOMAIN, horizon)
    path = None if fixed else stream.truth
    measured = measure_regret(learner, loss, stream.block, path)
    problem, V = Problem.from_loss(loss, DOMAIN, stream.block), path_length(stream)
    bound = bounds.experts_gradient(problem, V, sharp=True)
    return Measurement(measured, bound, _rate(horizon, V))


def _gradient_mixture_on_blocks() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        V = math.sqrt(horizon)
        measured = mix_gradient(coin_blocks(horizon, V, seed))
        return measured._replace(rate=bounds.minimax_rate(horizon, V))

    return Experiment(
        "minimax", "gradient mixture", "blocks of coins", "moving", measure, 1 / 8,
        "⅛, the cost of γ = 1", remark=MIXING,
    )  # fmt: skip


def _leading_history() -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        stream, loss = coin_noise(horizon, many_jumps(horizon), seed), Tracking()
        alpha = loss.constants(DOMAIN, stream.block).exp_concavity
        expert = DiscountedGradient(1.0, "tracking", domain=DOMAIN)
        learner = FollowTheLeadingHistory(expert, alpha)
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        problem, V = Problem.from_loss(loss, DOMAIN, stream.block), path_length(stream)

        def on_interval(length: int) -> float:
            return bounds.tracking_static(problem, 1.0, length, sharp=True)

        bound = bounds.leading_history(problem, V, on_interval)
        return Measurement(measured, bound, _rate(horizon, V))

    return Experiment(
        "FLH", "FLH of running means", MANY_JUMPS, "moving", measure,
        tightness="none known",
    )  # fmt: skip


def _rate(horizon: int, V: float) -> float:
    return max(math.log(horizon), math.sqrt(horizon * V))
