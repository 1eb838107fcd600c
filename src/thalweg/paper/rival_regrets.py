"""Dynamic regret of the paper's mixture, the best single discount and rivals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg import bounds, discounts, regret, streams
from thalweg.bounds import Problem
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
TIE = 0.02
"""Regrets that differ by less than this part are a tie: no learner beats the other."""
MIXTURE = "mixture"
"""The paper's mixture of Newton experts: Theorem 7."""


@dataclass(frozen=True)
class RivalRegrets:
    """Dynamic regret against the truth, averaged over seeds, and each one's bound."""

    horizon: int
    kinds: list[str]
    learners: list[str]
    regret: list[list[float]]  # one row a kind of stream, one column a learner
    # The same for bounds; None where a learner has no bound against moving comparators.
    bound: list[list[float | None]]
    best_discount: list[float]  # γ of the first column

    def ratios_to_mixture(self, kind: str) -> dict[str, float]:
        """Each rival's regret over that of the paper's mixture, on one stream."""
        row, column = self.regret[self.kinds.index(kind)], self.learners.index(MIXTURE)
        rivals = zip(self.learners[column + 1 :], row[column + 1 :], strict=True)
        return {name: value / row[column] for name, value in rivals}

    def sentences(self) -> list[str]:
        """The rule, then one plain sentence on every kind of stream: who beats whom."""
        rule = (
            "A rival beats the paper's mixture where its regret is at least "
            f"{100 * TIE:g} % less; within that on either side is a tie."
        )
        return [rule, *map(self._sentence, self.kinds)]

    def _sentence(self, kind: str) -> str:
        ratios = self.ratios_to_mixture(kind)
        winners = [name for name in ratios if ratios[name] <= 1 - TIE]
        ties = [name for name in ratios if abs(ratios[name] - 1) < TIE]
        if winners:
            verb = "beats" if len(winners) == 1 else "beat"
            start = f"{_listing(winners, ratios)} {verb} the paper's mixture"
        else:
            start = "no rival beats the paper's mixture"
        end = f"; a tie: {_listing(ties, ratios)}" if ties else ""
        return f"On the {kind} stream {start}{end}."


def _listing(names: list[str], ratios: dict[str, float]) -> str:
    parts = [f"{name} ({ratios[name]:.2f} of its regret)" for name in names]
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), parts[-1]])


def compare_rivals(
    horizon: int, seeds: int, advance: Callable[[str], None]
) -> RivalRegrets:
    """The regret of every learner on every kind of stream."""
    rows, limits, best, names = [], [], [], list[str]()
    for kind, make in STREAM_KINDS.items():
        runs, allowed = [], []
        for seed in range(seeds):
            stream = make(horizon, 3, seed=seed)
            learners = _learners(stream.block)
            runs.append({name: _regret(learner, stream) for name, learner in learners})
            allowed.append(_bounds(stream))
        mean = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        fixed = {name: value for name, value in mean.items() if name.startswith("γ = ")}
        winner = min(fixed, key=fixed.__getitem__)
        others = {name: value for name, value in mean.items() if name not in fixed}
        names = ["best γ", *others]
        rows.append([fixed[winner], *others.values()])
        limits.append([_mean_bound(allowed, name) for name in names])
        best.append(float(winner.removeprefix("γ = ")))
        advance(f"rivals, {kind}")
    return RivalRegrets(horizon, list(STREAM_KINDS), names, rows, limits, best)


def _learners(block: Block) -> Iterator[tuple[str, Learner[Any]]]:
    constants, T = LOSS.constants(DOMAIN, block), len(block)
    alpha, G = constants.exp_concavity, constants.gradient_bound
    for gamma in discounts.grid(T, DOMAIN.radius):
        newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, gamma)
        yield f"γ = {gamma}", newton
    yield MIXTURE, Experts.from_newton_grid(constants, DOMAIN, T, case=3)
    newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, 1.0)
    yield "FLH", FollowTheLeadingHistory(newton, alpha)
    yield "ONS", OnlineNewtonStep(G, alpha, DOMAIN)
    yield "OGD", OnlineGradientDescent(2 * DOMAIN.radius / G, DOMAIN)
    yield "Ader", Ader(T, G, DOMAIN)


def _bounds(stream: Stream) -> dict[str, float]:
    """Each learner's own bound; ONS and OGD have one where nothing moves."""
    problem = Problem.from_loss(LOSS, DOMAIN, stream.block)
    V = regret.path_length(stream.truth)

    def newton_on_interval(length: int) -> float:
        return bounds.newton(problem, 1.0, length, case=3, sharp=True)

    limits = {
        MIXTURE: bounds.experts_newton(problem, V, case=3, sharp=True),
        "FLH": bounds.leading_history(problem, V, newton_on_interval),
        "Ader": bounds.ader(problem, V),
    }
    if V == 0:
        limits["ONS"] = bounds.online_newton_step(problem)
        limits["OGD"] = bounds.online_gradient_descent(problem)
    return limits


def _mean_bound(bounds_by_seed: list[dict[str, float]], name: str) -> float | None:
    if name not in bounds_by_seed[0]:
        return None
    return float(np.mean([limits[name] for limits in bounds_by_seed]))


def _regret(learner: Learner[Any], stream: Stream) -> float:
    start = learner.init(np.zeros(np.shape(stream.block.x)[1]))
    _, trace = learner.run(start, LOSS, stream.block)
    return regret.dynamic(trace, stream.block, LOSS, stream.truth).total
