"""One experiment for each theorem: the regret it measures, and the bound in theory.

Static regret is measured on stationary streams with noise, where forgetting is pure
cost; dynamic regret on streams without noise whose θ jumps, where remembering is
the cost. There the exponents of the bounds are the true ones, so that a fitted slope
can be compared with them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg import bounds, discounts, regret, streams
from thalweg.bounds import Problem
from thalweg.domains import Ball
from thalweg.learners import DiscountedGradient, DiscountedNewton, Experts, Learner
from thalweg.losses import LinearMap, Loss, SquaredError, Tracking
from thalweg.streams import Stream
from thalweg.types import Block, FloatArray

DOMAIN = Ball(1.0)
JUMPS = 4
"""Jumps of the dynamic experiments, whatever T: V does not grow with it."""


class RegretMeasurement(NamedTuple):
    """One run: the regret, and the bound it must not pass."""

    regret: float
    bound: float


@dataclass(frozen=True)
class TheoremExperiment:
    """A claim of the paper, run at one horizon and seed after another."""

    claim: str
    setting: str
    predicted: float  # the exponent of T in the term of the bound that dominates
    measure: Callable[[int, int], RegretMeasurement]
    max_horizon: int = 16_000  # mixtures are slower, and stop earlier
    is_lower_bound: bool = False
    tradeoff: float | None = None  # β, where γ = 1 - T^-β


def experiments() -> list[TheoremExperiment]:
    """Every theorem with a rate, at β = ¼, ½, ¾ where it has one."""
    by_tradeoff = []
    for beta in (0.25, 0.5, 0.75):
        for rule in ("newton", "tracking", "smooth", "strongly_convex"):
            by_tradeoff += [
                _static_experiment(rule, beta),
                _dynamic_experiment(rule, beta),
            ]
    return [
        *by_tradeoff,
        _known_path_length_experiment(),
        _newton_mixture(False),
        _newton_mixture(True),
        _gradient_mixture(),
        _lower_bound(),
    ]


CLAIMS = {
    "newton": ("Cor. 1", "Cor. 1"),
    "tracking": ("Thm. 3", "Thm. 2"),
    "smooth": ("Thm. 5", "Thm. 4"),
    "strongly_convex": ("Thm. 6", "Thm. 6"),
}


def measure_newton(
    beta: float, jumps: bool, horizon: int, seed: int
) -> RegretMeasurement:
    """Corollary 1 at one β: dynamic regret where θ jumps, static where it does not."""
    gamma, loss = discounts.from_tradeoff(beta, horizon), SquaredError()
    make = _few_jumps if jumps else _stationary_regression
    stream = make(horizon, seed)
    learner, problem = _learner_and_problem("newton", gamma, loss, stream.block)
    comparator = stream.truth if jumps else None
    measured = _regret(learner, loss, stream.block, comparator)
    V = regret.path_length(stream.truth)
    bound = bounds.newton_by_tradeoff(problem, beta, path_length=V, case=3)
    return RegretMeasurement(measured, bound)


def _static_experiment(rule: str, beta: float) -> TheoremExperiment:
    def measure(horizon: int, seed: int) -> RegretMeasurement:
        if rule == "newton":
            return measure_newton(beta, False, horizon, seed)
        gamma = discounts.from_tradeoff(beta, horizon)
        stream, loss = _observations(rule, _points(horizon, seed, 0, noise=0.3), seed)
        learner, problem = _learner_and_problem(rule, gamma, loss, stream.block)
        measured = _regret(learner, loss, stream.block, None)
        bound = {
            "tracking": bounds.tracking_static,
            "smooth": bounds.smooth_static,
            "strongly_convex": bounds.strongly_convex,
        }[rule]
        return RegretMeasurement(measured, bound(problem, gamma))

    return TheoremExperiment(
        CLAIMS[rule][0], f"{_rule_name(rule)}, static", 1 - beta, measure, tradeoff=beta
    )


def _dynamic_experiment(rule: str, beta: float) -> TheoremExperiment:
    def measure(horizon: int, seed: int) -> RegretMeasurement:
        if rule == "newton":
            return measure_newton(beta, True, horizon, seed)
        gamma = discounts.from_tradeoff(beta, horizon)
        stream, loss = _observations(
            rule, _points(horizon, seed, JUMPS, noise=0.0), seed
        )
        learner, problem = _learner_and_problem(rule, gamma, loss, stream.block)
        measured = _regret(learner, loss, stream.block, stream.truth)
        V = regret.path_length(stream.truth)
        bound = {
            "tracking": bounds.tracking_dynamic,
            "smooth": bounds.smooth_dynamic,
            "strongly_convex": bounds.strongly_convex,
        }[rule]
        return RegretMeasurement(measured, bound(problem, gamma, path_length=V))

    return TheoremExperiment(
        CLAIMS[rule][1], f"{_rule_name(rule)}, dynamic", beta, measure, tradeoff=beta
    )


def _known_path_length_experiment() -> TheoremExperiment:
    def measure(horizon: int, seed: int) -> RegretMeasurement:
        stream = _many_jumps(horizon, seed)
        V = regret.path_length(stream.truth)
        gamma = discounts.from_path_length(V, horizon, DOMAIN.radius)
        loss = SquaredError()
        learner, problem = _learner_and_problem("newton", gamma, loss, stream.block)
        measured = _regret(learner, loss, stream.block, stream.truth)
        return RegretMeasurement(
            measured, bounds.newton_by_path_length(problem, V, case=3)
        )

    return TheoremExperiment("Cor. 2", "Newton, V known and ∝ √T", 0.75, measure)


def _newton_mixture(drifts: bool) -> TheoremExperiment:
    def measure(horizon: int, seed: int) -> RegretMeasurement:
        loss = SquaredError()
        make = _many_jumps if drifts else _stationary_regression
        stream = make(horizon, seed)
        problem = Problem.from_loss(loss, DOMAIN, stream.block)
        constants = loss.constants(DOMAIN, stream.block)
        learner = Experts.from_newton_grid(constants, DOMAIN, horizon, case=3)
        V = regret.path_length(stream.truth)
        measured = _regret(
            learner, loss, stream.block, stream.truth if drifts else None
        )
        bound = bounds.experts_newton(problem, V, case=3, static=True, sharp=not drifts)
        return RegretMeasurement(measured, bound)

    setting = "Newton mixture, V " + ("∝ √T" if drifts else "= 0")
    return TheoremExperiment("Thm. 7", setting, 0.75 if drifts else 0.0, measure, 4000)


def _gradient_mixture() -> TheoremExperiment:
    def measure(horizon: int, seed: int) -> RegretMeasurement:
        loss = Tracking()
        stream = _points(horizon, seed, jumps=round(horizon**0.5 / 4), noise=0.1)
        problem = Problem.from_loss(loss, DOMAIN, stream.block)
        learner = Experts.from_gradient_grid(
            loss.constants(DOMAIN, stream.block), DOMAIN, horizon
        )
        V = regret.path_length(stream.truth)
        measured = _regret(learner, loss, stream.block, stream.truth)
        return RegretMeasurement(
            measured, bounds.experts_gradient(problem, V, static=True)
        )

    return TheoremExperiment("Thm. 8", "gradient mixture, V ∝ √T", 0.75, measure, 4000)


def _lower_bound() -> TheoremExperiment:
    def measure(horizon: int, seed: int) -> RegretMeasurement:
        V = horizon**0.75
        stream, loss = streams.coin_flips(horizon, V, seed), Tracking()
        learner = DiscountedGradient(1.0, "tracking", domain=DOMAIN)
        measured = _regret(learner, loss, stream.block, stream.truth)
        return RegretMeasurement(measured, bounds.lower_bound(horizon, V))

    return TheoremExperiment(
        "Prop. 1", "coins, V = T^¾, from below", 0.5, measure, is_lower_bound=True
    )


def _learner_and_problem(
    rule: str, gamma: float, loss: Loss, block: Block
) -> tuple[Learner[Any], Problem]:
    problem = Problem.from_loss(loss, DOMAIN, block)
    constants = loss.constants(DOMAIN, block)
    if rule == "newton":
        return DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma), problem
    ell, u = constants.strong_convexity, constants.smoothness
    learner = DiscountedGradient(gamma, rule, ell, u, DOMAIN)  # type: ignore[arg-type]
    return learner, problem


def _regret(
    learner: Learner[Any], loss: Loss, block: Block, comparator: FloatArray | None
) -> float:
    n = np.shape(block.y if block.x is None else block.x)[-1]
    _, trace = learner.run(learner.init(np.zeros(n)), loss, block)
    if comparator is None:
        return regret.static(trace, block, loss, DOMAIN).total
    return regret.dynamic(trace, block, loss, comparator).total


def _observations(rule: str, points: Stream, seed: int) -> tuple[Stream, Loss]:
    """The points themselves, or linear maps of them for rules that allow it."""
    if rule == "tracking":
        return points, Tracking()
    return _linear_observations(points, seed), LinearMap()


def _few_jumps(horizon: int, seed: int) -> Stream:
    return streams.abrupt(horizon, 3, noise=0.0, changes=JUMPS, seed=seed)


def _stationary_regression(horizon: int, seed: int) -> Stream:
    return streams.stationary(horizon, 3, noise=0.3, seed=seed)


def _many_jumps(horizon: int, seed: int) -> Stream:
    return streams.abrupt(horizon, 3, changes=round(horizon**0.5 / 4), seed=seed)


def _points(horizon: int, seed: int, jumps: int, noise: float) -> Stream:
    """Points in a half ball that are constant but for noise and evenly spaced jumps."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-0.4, 0.4, size=(jumps + 1, 2))
    truth = centres[np.arange(horizon) * (jumps + 1) // horizon]
    y = truth + noise * rng.uniform(-1, 1, size=truth.shape)
    return Stream(Block(None, y), truth)


def _linear_observations(points: Stream, seed: int) -> Stream:
    """The same points observed through well-conditioned matrices: ½‖A_tθ - A_ty_t‖²."""
    rng = np.random.default_rng(seed + 1)
    A = np.eye(2) + 0.2 * rng.uniform(-1, 1, size=(len(points.block), 2, 2))
    y = np.einsum("tmn,tn->tm", A, points.block.y)
    return Stream(Block(A, y), points.truth)


def _rule_name(rule: str) -> str:
    return {"newton": "Newton", "strongly_convex": "strongly convex"}.get(rule, rule)
