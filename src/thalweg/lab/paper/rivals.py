"""Dynamic regret of the meta-algorithm, the best single discount and rivals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

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
STREAM_KINDS: dict[str, Callable[..., Stream]] = {
    "stationary": streams.stationary,
    "abrupt": streams.abrupt,
    "gradual": streams.gradual,
    "random walk": streams.random_walk,
    "rotating": streams.rotating,
    "mixed": streams.mixed,
}


@dataclass(frozen=True)
class RivalRegrets:
    """Dynamic regret against the truth, averaged over seeds."""

    horizon: int
    kinds: list[str]
    learners: list[str]
    regret: list[list[float]]  # one row a kind of stream, one column a learner
    best_discount: list[float]  # γ of the first column


def compare_rivals(
    horizon: int, seeds: int, advance: Callable[[str], None]
) -> RivalRegrets:
    """The regret of every learner on every kind of stream."""
    rows, best, names = [], [], list[str]()
    for kind, make in STREAM_KINDS.items():
        runs = []
        for seed in range(seeds):
            stream = make(horizon, 3, seed=seed)
            learners = _learners(stream.block)
            runs.append({name: _regret(learner, stream) for name, learner in learners})
        mean = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        fixed = {name: value for name, value in mean.items() if name.startswith("γ = ")}
        winner = min(fixed, key=fixed.__getitem__)
        others = {name: value for name, value in mean.items() if name not in fixed}
        names = ["best γ", *others]
        rows.append([fixed[winner], *others.values()])
        best.append(float(winner.removeprefix("γ = ")))
        advance(f"rivals, {kind}")
    return RivalRegrets(horizon, list(STREAM_KINDS), names, rows, best)


def _learners(block: Block) -> Iterator[tuple[str, Learner[Any]]]:
    constants, T = LOSS.constants(DOMAIN, block), len(block)
    alpha, G = constants.exp_concavity, constants.gradient_bound
    for gamma in discounts.grid(T, DOMAIN.radius):
        newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma)
        yield f"γ = {gamma}", newton
    yield "meta", Experts.from_newton_grid(constants, DOMAIN, T, case=3)
    newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, 1.0)
    yield "FLH", FollowTheLeadingHistory(newton, alpha)
    yield "ONS", OnlineNewtonStep(G, alpha, DOMAIN)
    yield "OGD", OnlineGradientDescent(2 * DOMAIN.radius / G, DOMAIN)
    yield "Ader", Ader(T, G, DOMAIN)


def _regret(learner: Learner[Any], stream: Stream) -> float:
    start = learner.init(np.zeros(np.shape(stream.block.x)[1]))
    _, trace = learner.run(start, LOSS, stream.block)
    return regret.dynamic(trace, stream.block, LOSS, stream.truth).total
