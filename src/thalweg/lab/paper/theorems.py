"""One experiment for each theorem: what it measures, and what the theory allows.

Static regret is measured on streams that stand still but for noise, where forgetting
is pure cost; dynamic regret on streams without noise that jump, where remembering is.
There the bounds' exponents are the true ones, so that a slope can be compared.
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


class Measured(NamedTuple):
    """One run: the regret, and the bound it must not pass."""

    regret: float
    bound: float


@dataclass(frozen=True)
class Experiment:
    """A claim of the paper, run at one horizon and seed after another."""

    claim: str
    setting: str
    predicted: float  # the exponent of T in the term of the bound that is at work
    measure: Callable[[int, int], Measured]
    longest: int = 16_000  # mixtures are slower, and stop earlier
    lower: bool = False  # whether the bound is one from below
    tradeoff: float | None = None  # β, where γ = 1 - T^-β


def experiments() -> list[Experiment]:
    """Every theorem with a rate, at β = ¼, ½, ¾ where it has one."""
    found = []
    for beta in (0.25, 0.5, 0.75):
        for rule in ("newton", "tracking", "smooth", "strongly_convex"):
            found += [_static(rule, beta), _dynamic(rule, beta)]
    return [
        *found,
        _tuned(),
        _mixture(False),
        _mixture(True),
        _mixed_gradient(),
        _coins(),
    ]


CLAIMS = {
    "newton": ("Cor. 1", "Cor. 1"),
    "tracking": ("Thm. 3", "Thm. 2"),
    "smooth": ("Thm. 5", "Thm. 4"),
    "strongly_convex": ("Thm. 6", "Thm. 6"),
}


def measured_newton(beta: float, jumps: bool, horizon: int, seed: int) -> Measured:
    """Corollary 1 at one β: dynamic regret where θ jumps, static where it stays."""
    gamma, loss = discounts.from_tradeoff(beta, horizon), SquaredError()
    make = _few_jumps if jumps else _still_regression
    stream = make(horizon, seed)
    learner, problem = _player("newton", gamma, loss, stream.block)
    comparator = stream.truth if jumps else None
    found = _regret_of(learner, loss, stream.block, comparator)
    V = regret.path_length(stream.truth)
    bound = bounds.newton_by_tradeoff(problem, beta, path_length=V, case=3)
    return Measured(found, bound)


def _static(rule: str, beta: float) -> Experiment:
    def measure(horizon: int, seed: int) -> Measured:
        if rule == "newton":
            return measured_newton(beta, False, horizon, seed)
        gamma = discounts.from_tradeoff(beta, horizon)
        stream, loss = _seen(rule, _points(horizon, seed, 0, noise=0.3), seed)
        learner, problem = _player(rule, gamma, loss, stream.block)
        found = _regret_of(learner, loss, stream.block, None)
        bound = {
            "tracking": bounds.tracking_static,
            "smooth": bounds.smooth_static,
            "strongly_convex": bounds.strongly_convex,
        }[rule]
        return Measured(found, bound(problem, gamma))

    return Experiment(
        CLAIMS[rule][0], f"{_word(rule)}, static", 1 - beta, measure, tradeoff=beta
    )


def _dynamic(rule: str, beta: float) -> Experiment:
    def measure(horizon: int, seed: int) -> Measured:
        if rule == "newton":
            return measured_newton(beta, True, horizon, seed)
        gamma = discounts.from_tradeoff(beta, horizon)
        stream, loss = _seen(rule, _points(horizon, seed, JUMPS, noise=0.0), seed)
        learner, problem = _player(rule, gamma, loss, stream.block)
        found = _regret_of(learner, loss, stream.block, stream.truth)
        V = regret.path_length(stream.truth)
        right = {
            "tracking": bounds.tracking_dynamic,
            "smooth": bounds.smooth_dynamic,
            "strongly_convex": bounds.strongly_convex,
        }[rule]
        return Measured(found, right(problem, gamma, path_length=V))

    return Experiment(
        CLAIMS[rule][1], f"{_word(rule)}, dynamic", beta, measure, tradeoff=beta
    )


def _tuned() -> Experiment:
    def measure(horizon: int, seed: int) -> Measured:
        stream = _often_jumping(horizon, seed)
        V = regret.path_length(stream.truth)
        gamma = discounts.from_path_length(V, horizon, DOMAIN.radius)
        loss = SquaredError()
        learner, problem = _player("newton", gamma, loss, stream.block)
        found = _regret_of(learner, loss, stream.block, stream.truth)
        return Measured(found, bounds.newton_by_path_length(problem, V, case=3))

    return Experiment("Cor. 2", "Newton, V known and ∝ √T", 0.75, measure)


def _mixture(drifts: bool) -> Experiment:
    def measure(horizon: int, seed: int) -> Measured:
        loss = SquaredError()
        make = _often_jumping if drifts else _still_regression
        stream = make(horizon, seed)
        problem = Problem.of(loss, DOMAIN, stream.block)
        constants = loss.constants(DOMAIN, stream.block)
        learner = Experts.of_newton(constants, DOMAIN, horizon, case=3)
        V = regret.path_length(stream.truth)
        found = _regret_of(
            learner, loss, stream.block, stream.truth if drifts else None
        )
        allowed = bounds.experts_newton(
            problem, V, case=3, static=True, sharp=not drifts
        )
        return Measured(found, allowed)

    setting = "Newton mixture, V " + ("∝ √T" if drifts else "= 0")
    return Experiment("Thm. 7", setting, 0.75 if drifts else 0.0, measure, 4000)


def _mixed_gradient() -> Experiment:
    def measure(horizon: int, seed: int) -> Measured:
        loss = Tracking()
        stream = _points(horizon, seed, jumps=round(horizon**0.5 / 4), noise=0.1)
        problem = Problem.of(loss, DOMAIN, stream.block)
        learner = Experts.of_gradient(
            loss.constants(DOMAIN, stream.block), DOMAIN, horizon
        )
        V = regret.path_length(stream.truth)
        found = _regret_of(learner, loss, stream.block, stream.truth)
        return Measured(found, bounds.experts_gradient(problem, V, static=True))

    return Experiment("Thm. 8", "gradient mixture, V ∝ √T", 0.75, measure, 4000)


def _coins() -> Experiment:
    def measure(horizon: int, seed: int) -> Measured:
        V = horizon**0.75
        stream, loss = streams.coin_flips(horizon, V, seed), Tracking()
        learner = DiscountedGradient(1.0, "tracking", domain=DOMAIN)
        found = _regret_of(learner, loss, stream.block, stream.truth)
        return Measured(found, bounds.lower(horizon, V))

    return Experiment("Prop. 1", "coins, V = T^¾, from below", 0.5, measure, lower=True)


def _player(
    rule: str, gamma: float, loss: Loss, block: Block
) -> tuple[Learner[Any], Problem]:
    problem = Problem.of(loss, DOMAIN, block)
    constants = loss.constants(DOMAIN, block)
    if rule == "newton":
        return DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma), problem
    ell, u = constants.strong_convexity, constants.smoothness
    learner = DiscountedGradient(gamma, rule, ell, u, DOMAIN)  # type: ignore[arg-type]
    return learner, problem


def _regret_of(
    learner: Learner[Any], loss: Loss, block: Block, comparator: FloatArray | None
) -> float:
    n = np.shape(block.y if block.x is None else block.x)[-1]
    _, trace = learner.run(learner.init(np.zeros(n)), loss, block)
    if comparator is None:
        return regret.static(trace, block, loss, DOMAIN).total
    return regret.dynamic(trace, block, loss, comparator).total


def _seen(rule: str, points: Stream, seed: int) -> tuple[Stream, Loss]:
    """The points themselves, or for rules that need not see them, through matrices."""
    if rule == "tracking":
        return points, Tracking()
    return _mapped(points, seed), LinearMap()


def _few_jumps(horizon: int, seed: int) -> Stream:
    return streams.abrupt(horizon, 3, noise=0.0, changes=JUMPS, seed=seed)


def _still_regression(horizon: int, seed: int) -> Stream:
    return streams.stationary(horizon, 3, noise=0.3, seed=seed)


def _often_jumping(horizon: int, seed: int) -> Stream:
    return streams.abrupt(horizon, 3, changes=round(horizon**0.5 / 4), seed=seed)


def _points(horizon: int, seed: int, jumps: int, noise: float) -> Stream:
    """Points in a half ball that stay, but for noise and ``jumps`` evenly spaced."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-0.4, 0.4, size=(jumps + 1, 2))
    truth = places[np.arange(horizon) * (jumps + 1) // horizon]
    y = truth + noise * rng.uniform(-1, 1, size=truth.shape)
    return Stream(Block(None, y), truth)


def _mapped(points: Stream, seed: int) -> Stream:
    """The same points seen through well-conditioned matrices: ½‖A_tθ - A_ty_t‖²."""
    rng = np.random.default_rng(seed + 1)
    A = np.eye(2) + 0.2 * rng.uniform(-1, 1, size=(len(points.block), 2, 2))
    y = np.einsum("tmn,tn->tm", A, points.block.y)
    return Stream(Block(A, y), points.truth)


def _word(rule: str) -> str:
    return {"newton": "Newton", "strongly_convex": "strongly convex"}.get(rule, rule)
