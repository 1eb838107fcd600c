"""The learners that ``thalweg compare`` plays beside the Tracker.

To add a rival: its name and its settings in ``rivals`` of ``compared_learners``. One
that is no ``Learner`` has a function that makes it, as River's models have: whatever
``predictions`` of prequential.py takes. All may depend on the block but the names,
which are announced before any block is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from thalweg import discounts
from thalweg.domains import Ball
from thalweg.evaluation.fixed_discounts import (
    DISCOUNTS,
    NAMES,
    RIDGE,
    least_squares,
    scale_units,
)
from thalweg.evaluation.prequential import predictions
from thalweg.evaluation.scoring import LearnerInfo
from thalweg.learners import (
    Ader,
    AggregatingExperts,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
    Learner,
    OnlineGradientDescent,
    OnlineNewtonStep,
    RestartExperts,
    SlidingWindow,
)
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

LOSS = SquaredError()
WINDOW = 100
SMOOTHING = 0.99
"""Smoothing of River's Bayesian regression: it forgets as least squares at this
discount does."""
PAPER = LearnerInfo("paper's mixture, Theorem 7", "paper")


class ComparedLearner(NamedTuple):
    """A learner that others are compared with, and how it predicts a block."""

    info: LearnerInfo
    # (T,) from the labels of all rounds before, but for the last ones under a delay
    forecast: Callable[[Block, int], FloatArray]


def compared_learners(block: Block, domain: Ball) -> Iterator[ComparedLearner]:
    """All for a standardised block with a constant; the simple methods are elsewhere
    (simple_baselines.py).

    They are given what the Tracker is not: the number of rounds, the largest label,
    and a ball that holds the comparators with all constants of the loss on it.
    """
    for name, gamma in zip(NAMES, DISCOUNTS, strict=True):
        yield _learner(LearnerInfo(name, "fixed", gamma), least_squares(gamma))
    constants, T = LOSS.constants(domain, block), len(block)
    alpha, G = constants.exp_concavity, constants.gradient_bound
    largest = float(np.abs(block.y).max())
    yield _learner(PAPER, Experts.from_newton_grid(constants, domain, T, case=3))
    bank = tuple(map(least_squares, discounts.grid(T, domain.radius)))
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
        yield _learner(LearnerInfo(name, "rival"), learner)
    for name, make in _river_models().items():
        yield ComparedLearner(LearnerInfo(name, "peer"), _forecast_function(make))


def compared_names() -> list[str]:
    """The names of all, which do not depend on the block."""
    block = Block(np.ones((3, 1)), np.arange(3.0))
    return [info.name for info, _ in compared_learners(block, Ball(1.0))]


def _river_models() -> dict[str, Callable[[], Any]]:
    """River's linear regressions, where it is installed."""
    if not find_spec("river"):
        return {}
    linear, optim = map(import_module, ("river.linear_model", "river.optim"))
    return {
        "River linear": linear.LinearRegression,
        "River linear, AdaGrad": lambda: linear.LinearRegression(
            optim.AdaGrad(0.1), intercept_lr=0.1
        ),
        "River Bayesian": lambda: linear.BayesianLinearRegression(smoothing=SMOOTHING),
    }


def _learner(info: LearnerInfo, learner: Learner[Any]) -> ComparedLearner:
    return ComparedLearner(info, _forecast_function(lambda: learner))


def _forecast_function(make: Callable[[], Any]) -> Callable[[Block, int], FloatArray]:
    """The predictions of a new model for every block."""

    def forecast(block: Block, delay: int) -> FloatArray:
        return predictions(make(), block, delay)

    return forecast


@dataclass(frozen=True, eq=False)
class StandardisedStream:
    """A stream in units of its own mean and deviation, with a constant feature.

    Learners whose theory asks for constants of the loss get the stream in this form.
    """

    block: Block
    mean: float
    deviation: float
    delay: int

    @classmethod
    def from_rounds(
        cls, x: FloatArray, y: FloatArray, delay: int
    ) -> "StandardisedStream":
        """The stream (x, y), whose labels come ``delay`` rounds late."""
        mean, deviation = float(y.mean()), float(y.std())
        scaled = (x - x.mean(axis=0)) / scale_units(x)
        rows = np.column_stack([scaled, np.ones(len(y))])
        return cls(Block(rows, (y - mean) / deviation), mean, deviation, delay)

    def standardise(self, forecasts: FloatArray) -> FloatArray:
        """Forecasts (T,) in the stream's units; the mean before a label is known."""
        first = self.delay + 1
        scaled = (forecasts[first:] - self.mean) / self.deviation
        return np.append(np.zeros(first), scaled)

    def restore_units(self, forecasts: FloatArray) -> FloatArray:
        """Forecasts in the target's own units."""
        return self.mean + self.deviation * forecasts
