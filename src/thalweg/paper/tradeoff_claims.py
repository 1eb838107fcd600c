"""Corollary 1 and Theorems 2 to 6: what a memory of T^β rounds costs.

Forgetting costs about T^(1-β) where there is noise, remembering T^β V where the
comparator moves. Corollary 1 and Theorem 6 have both terms, so their streams have both
noise and jumps. Theorems 2 and 4 compare with the minimiser of every round, which noise
would move in every round: their streams jump without noise.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg import bounds, discounts, regret
from thalweg.bounds import Problem
from thalweg.learners import DiscountedGradient, DiscountedNewton, Learner
from thalweg.losses import Loss, SquaredError, Tracking
from thalweg.paper.experiment import (
    DOMAIN,
    FIRST_ROUNDS,
    SEEDS,
    Experiment,
    Measurement,
    Remark,
    measure_regret,
    play,
)
from thalweg.paper.paper_streams import (
    FEW_JUMPS,
    JUMP,
    NOISE,
    UNIT_FEATURES,
    FeatureMoments,
    FeatureSizes,
    coin_noise,
    expected_regret,
    many_jumps,
    means,
    newton_steps,
    noiseless_jumps,
    path_length,
    smooth_steps,
    through_signs,
    through_sizes,
)
from thalweg.streams import Stream
from thalweg.types import Block, FloatArray

TRADEOFFS = (0.25, 0.5, 0.75)
SIZES = FeatureSizes()
RULE_NAMES = {
    "newton": "Newton",
    "tracking": "tracking",
    "smooth": "smooth",
    "strongly_convex": "strongly convex",
}
RIDGE = 1.0
SHORT_MEMORY = Remark("At small T the memory is a few rounds, and 1-γ not small.")
LONG_MEMORY = Remark(
    "At small T a jump comes before the one before is forgotten.", "faster"
)


def tradeoff_experiments() -> list[Experiment]:
    """Static and dynamic regret of the four step rules, at β = ¼, ½, ¾."""
    experiments = []
    for beta in TRADEOFFS:
        for rule in RULE_NAMES:
            experiments += [_static(rule, beta), _dynamic(rule, beta)]
    return experiments


def _static(rule: str, beta: float) -> Experiment:
    def measure(horizon: int, seed: int) -> Measurement:
        stream, loss = _observe(rule, coin_noise(horizon, 0, seed), seed)
        gamma = discounts.from_tradeoff(beta, horizon)
        learner, problem = _learner_and_problem(rule, gamma, loss, stream.block)
        measured = measure_regret(learner, loss, stream.block, None)
        bound = _static_bound(rule, problem, gamma, beta)
        return Measurement(measured, bound, math.pow(horizon, 1 - beta))

    def mean_regret(horizon: int) -> float:
        path, steps = means(coin_noise(horizon, 0, 0)), _steps(rule, beta, horizon)
        return expected_regret(steps, path[:, 0], NOISE, _moments(rule), fixed=True)

    claim = {"newton": "Cor. 1", "tracking": "Thm. 3", "smooth": "Thm. 5"}
    return Experiment(
        claim.get(rule, "Thm. 6"), RULE_NAMES[rule], "coins, no jump", "fixed",
        measure, _noise_cost(rule), _noise_formula(rule), mean_regret,
        SHORT_MEMORY if beta < 0.5 else FIRST_ROUNDS,
        tradeoff=beta,
    )  # fmt: skip


def _dynamic(rule: str, beta: float) -> Experiment:
    noisy = rule in ("newton", "strongly_convex")

    def points(horizon: int, seed: int) -> Stream:
        if noisy:
            return coin_noise(horizon, FEW_JUMPS, seed)
        return noiseless_jumps(horizon, FEW_JUMPS)

    def measure(horizon: int, seed: int) -> Measurement:
        stream, loss = _observe(rule, points(horizon, seed), seed)
        gamma = discounts.from_tradeoff(beta, horizon)
        learner, problem = _learner_and_problem(rule, gamma, loss, stream.block)
        measured = measure_regret(learner, loss, stream.block, stream.truth)
        V = path_length(stream)
        rate = _dynamic_rate(horizon, V, beta, noisy)
        bound = _dynamic_bound(rule, problem, gamma, beta, V)
        return Measurement(measured, bound, rate)

    def mean_regret(horizon: int) -> float:
        path, steps = means(points(horizon, 0)), _steps(rule, beta, horizon)
        noise = NOISE if noisy else 0.0
        return expected_regret(steps, path[:, 0], noise, _moments(rule))

    claim = {"newton": "Cor. 1", "tracking": "Thm. 2", "smooth": "Thm. 4"}
    constant, formula = _dynamic_constant(rule, beta, noisy)
    return Experiment(
        claim.get(rule, "Thm. 6"), RULE_NAMES[rule],
        f"{'coins, ' if noisy else ''}{FEW_JUMPS} jumps",
        "moving" if noisy else "minimisers", measure, constant, formula, mean_regret,
        LONG_MEMORY if beta > 0.5 else SHORT_MEMORY, tradeoff=beta,
        seeds=1 if rule == "tracking" else SEEDS,
    )  # fmt: skip


def _static_bound(rule: str, problem: Problem, gamma: float, beta: float) -> float:
    if rule == "newton":
        return bounds.newton_by_tradeoff(problem, beta, case=3)
    if rule == "tracking":
        return bounds.tracking_static(problem, gamma)
    if rule == "smooth":
        return bounds.smooth_static(problem, gamma)
    return bounds.strongly_convex(problem, gamma)


def _dynamic_bound(
    rule: str, problem: Problem, gamma: float, beta: float, V: float
) -> float:
    if rule == "newton":
        return bounds.newton_by_tradeoff(problem, beta, path_length=V, case=3)
    if rule == "strongly_convex":
        return bounds.strongly_convex(problem, gamma, path_length=V)
    bound = bounds.tracking_dynamic if rule == "tracking" else bounds.smooth_dynamic
    return bound(problem, gamma, path_length=V, start_distance=1.0)


def _dynamic_rate(horizon: int, V: float, beta: float, noisy: bool) -> float:
    """The larger term of T^(1-β) + T^β V, or T^β(1 + V*) for Theorems 2 and 4."""
    memory = math.pow(horizon, beta)
    return max(horizon / memory, memory * V) if noisy else memory * (1 + V)


def _noise_cost(rule: str) -> float:
    """What regret / T^(1-β) tends to: a step of (1-γ)/ℓ leaves variance in θ."""
    convexity = SIZES.strong_convexity if rule == "smooth" else 1.0
    return _moments(rule).fourth / convexity * NOISE**2 / 4


def _noise_formula(rule: str) -> str:
    return "¼σ²E x⁴/ℓ" if rule == "smooth" else "¼σ²"


def _dynamic_constant(rule: str, beta: float, noisy: bool) -> tuple[float, str]:
    """What regret / rate tends to, and its formula.

    A jump of size Δ is forgotten at the rate (1-γ)E x²/ℓ: it costs ¼ℓΔ²/(1-γ).
    """
    if not noisy:
        convexity = SIZES.strong_convexity if rule == "smooth" else 1.0
        V = 2.0 * FEW_JUMPS
        formula = "½ℓV/(1+V)" if rule == "smooth" else "½V/(1+V)"
        return convexity * V / 2 / (1 + V), formula
    V = JUMP * FEW_JUMPS
    if beta < 0.5:
        return NOISE**2 / 4, "¼σ²"
    if beta > 0.5:
        return JUMP / 4, "¼Δ"
    return (NOISE**2 / V + JUMP) / 4, "¼(σ²/V + Δ)"


def _moments(rule: str) -> FeatureMoments:
    return SIZES.moments if rule == "smooth" else UNIT_FEATURES


def _steps(rule: str, beta: float, horizon: int) -> FloatArray:
    gamma = discounts.from_tradeoff(beta, horizon)
    if rule == "smooth":
        return smooth_steps(gamma, horizon, *SIZES)
    return newton_steps(gamma, horizon, RIDGE if rule == "newton" else 0.0)


def _observe(rule: str, points: Stream, seed: int) -> tuple[Stream, Loss]:
    """The points themselves, or products of them with features."""
    if rule == "newton":
        return through_signs(points, 1, seed), SquaredError()
    if rule == "smooth":
        return through_sizes(points, SIZES, seed), SquaredError()
    return points, Tracking()


def _learner_and_problem(
    rule: str, gamma: float, loss: Loss, block: Block
) -> tuple[Learner[Any], Problem]:
    problem = Problem.from_loss(loss, DOMAIN, block)
    constants = loss.constants(DOMAIN, block)
    if rule == "newton":
        newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma, RIDGE)
        return newton, problem
    ell, u = constants.strong_convexity, constants.smoothness
    learner = DiscountedGradient(gamma, rule, ell, u, DOMAIN)  # type: ignore[arg-type]
    return learner, problem


BETAS = tuple(round(beta, 2) for beta in np.arange(0.1, 0.91, 0.05).tolist())


@dataclass(frozen=True)
class TradeoffCurve:
    """Theorem 6 at γ = 1 - T^-β on one kind of stream, averaged over seeds.

    Both regrets are of the same run. There they differ by what the moving comparator
    gains on the best fixed one, whatever β is: the trade-off is between streams.
    """

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
