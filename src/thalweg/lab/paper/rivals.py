"""The meta-algorithm against the best single discount and against the rivals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import discounts, regret, streams
from thalweg.domains import Ball
from thalweg.learners import (
    Ader,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
    Learner,
    OnlineGradientDescent,
    OnlineNewtonStep,
)
from thalweg.losses import SquaredError
from thalweg.streams import Stream
from thalweg.types import Block

DOMAIN, LOSS = Ball(1.0), SquaredError()
MAKERS: dict[str, Callable[..., Stream]] = {
    "stationary": streams.stationary,
    "abrupt": streams.abrupt,
    "gradual": streams.gradual,
    "random walk": streams.random_walk,
    "rotating": streams.rotating,
    "mixed": streams.mixed,
}


@dataclass(frozen=True)
class Contest:
    """Dynamic regret against the truth, averaged over seeds."""

    KINDS: ClassVar[int] = len(MAKERS)
    horizon: int
    kinds: list[str]
    learners: list[str]
    regret: list[list[float]]  # one row a kind of stream, one column a learner
    best_discount: list[float]  # γ of the first column


def contest(horizon: int, seeds: int, advance: Callable[[str], None]) -> Contest:
    """Every learner on every kind of stream."""
    rows, best, names = [], [], list[str]()
    for kind, make in MAKERS.items():
        found = []
        for seed in range(seeds):
            stream = make(horizon, 3, seed=seed)
            found.append({name: _regret(a, stream) for name, a in _field(stream.block)})
        mean = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
        fixed = {name: value for name, value in mean.items() if name.startswith("γ = ")}
        winner = min(fixed, key=fixed.__getitem__)
        others = {name: value for name, value in mean.items() if name not in fixed}
        names = ["best γ", *others]
        rows.append([fixed[winner], *others.values()])
        best.append(float(winner.removeprefix("γ = ")))
        advance(f"rivals, {kind}")
    return Contest(horizon, list(MAKERS), names, rows, best)


def _field(block: Block) -> Iterator[tuple[str, Learner[Any]]]:
    constants, T = LOSS.constants(DOMAIN, block), len(block)
    alpha, G = constants.exp_concavity, constants.gradient_bound
    for gamma in discounts.grid(T, DOMAIN.radius):
        newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma)
        yield f"γ = {gamma}", newton
    yield "meta", Experts.of_newton(constants, DOMAIN, T, case=3)
    newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, 1.0)
    yield "FLH", FollowTheLeadingHistory(newton, alpha)
    yield "ONS", OnlineNewtonStep(G, alpha, DOMAIN)
    yield "OGD", OnlineGradientDescent(2 * DOMAIN.radius / G, DOMAIN)
    yield "Ader", Ader(T, G, DOMAIN)


def _regret(learner: Learner[Any], stream: Stream) -> float:
    start = learner.init(np.zeros(np.shape(stream.block.x)[1]))
    _, trace = learner.run(start, LOSS, stream.block)
    return regret.dynamic(trace, stream.block, LOSS, stream.truth).total
