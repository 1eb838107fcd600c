"""Who is compared on a stream, each set as its own theory asks."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from thalweg import discounts
from thalweg.domains import Ball
from thalweg.evaluation.fixed_bank import DISCOUNTS, NAMES, RIDGE
from thalweg.evaluation.scores import Player
from thalweg.learners import (
    Ader,
    AggregatingExperts,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
    Learner,
    OnlineGradientDescent,
    OnlineNewtonStep,
    RecursiveLeastSquares,
    RestartExperts,
    SlidingWindow,
)
from thalweg.losses import SquaredError
from thalweg.preprocessing.delayed_labels import DelayedLabels
from thalweg.types import Block, FloatArray

LOSS = SquaredError()
WINDOW = 100
PAPER = Player("paper's mixture, Theorem 7", "paper")


class Contestant(NamedTuple):
    """A player, and how it forecasts a block."""

    player: Player
    # (T,) from the labels of all rounds before, but for so many that are not known yet
    forecast: Callable[[Block, int], FloatArray]


def contestants(block: Block, domain: Ball) -> Iterator[Contestant]:
    """All but the Tracker and persistence, for a standardised block with a constant.

    They are told what the Tracker is not: the number of rounds, the largest label,
    and a ball that holds the comparators with all constants of the loss on it.
    """
    for name, gamma in zip(NAMES, DISCOUNTS, strict=True):
        yield _of(Player(name, "fixed", gamma), _least_squares(gamma))
    constants, T = LOSS.constants(domain, block), len(block)
    alpha, G = constants.exp_concavity, constants.gradient_bound
    largest = float(np.abs(block.y).max())
    yield _of(PAPER, Experts.of_newton(constants, domain, T, case=3))
    bank = tuple(map(_least_squares, discounts.grid(T, domain.radius)))
    newton = DiscountedNewton.from_theorem(3, constants, domain, 1.0)
    rivals: dict[str, Learner[Any]] = {
        "aggregating mixture": AggregatingExperts(bank, largest),
        f"sliding window of {WINDOW} rounds": SlidingWindow(WINDOW, ridge=RIDGE),
        "restarted least squares": RestartExperts(largest, ridge=RIDGE),
        "leading history (FLH)": FollowTheLeadingHistory(newton, alpha),
        "online Newton step (ONS)": OnlineNewtonStep(G, alpha, domain),
        "gradient descent (OGD)": OnlineGradientDescent(2 * domain.radius / G, domain),
        "gradient mixture (Ader)": Ader(T, G, domain),
    }
    for name, learner in rivals.items():
        yield _of(Player(name, "rival"), learner)
    if find_spec("river"):
        peers = import_module("thalweg.evaluation.peers")
        for name, forecast in peers.forecasters().items():
            yield Contestant(Player(name, "peer"), forecast)


def names() -> list[str]:
    """Who will take part, whatever the block."""
    block = Block(np.ones((3, 1)), np.arange(3.0))
    return [player.name for player, _ in contestants(block, Ball(1.0))]


def _least_squares(gamma: float) -> RecursiveLeastSquares:
    return RecursiveLeastSquares(gamma, ridge=RIDGE, floor=RIDGE, leaky=True)


def _of(player: Player, learner: Learner[Any]) -> Contestant:
    def forecast(block: Block, delay: int) -> FloatArray:
        start = learner.init(np.zeros(np.shape(block.x)[1]))
        if delay:
            return _late(learner, start, block, delay)
        return learner.run(start, LOSS, block)[1].prediction

    return Contestant(player, forecast)


def _late(learner: Learner[Any], state: Any, block: Block, delay: int) -> FloatArray:
    """Forecasts of one who learns a round only ``delay`` rounds after it was asked."""
    prediction = np.empty(len(block))
    due = DelayedLabels(delay, block.x.shape[1]).push(block.x, block.y)
    for t in range(len(block)):
        prediction[t] = learner.predict(state, block.x[t])
        if due.learnable[t]:
            known = Block(due.x[t : t + 1], due.y[t : t + 1])
            state, _ = learner.run(state, LOSS, known)
    return prediction
