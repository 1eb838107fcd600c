"""A claim of the paper as an experiment: what is played, and what the theory allows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from thalweg import regret
from thalweg.domains import Ball
from thalweg.learners import Learner
from thalweg.losses import Loss
from thalweg.types import Block, FloatArray, Trace

DOMAIN = Ball(1.0)
HORIZONS = (1000, 4000, 16_000, 64_000, 256_000)
QUICK_HORIZONS = (1000, 4000, 16_000)
SEEDS, QUICK_SEEDS = 4, 3


class Measurement(NamedTuple):
    """One run: the regret, the bound on it, and the order that the claim states."""

    regret: float
    bound: float
    rate: float  # the claim's right-hand side without constants, at this T and V


class Remark(NamedTuple):
    """Why regret may grow unlike the theory's rate, and in which direction."""

    text: str = ""
    explains: Literal["slower", "faster", "either"] = "either"


NO_REMARK = Remark()
FIRST_ROUNDS = Remark(
    "The rest comes from the first rounds: log 1/(1-γ) in the bound.", "slower"
)


@dataclass(frozen=True)
class Experiment:
    """One claim on one stream, measured at one horizon and seed after another."""

    claim: str
    learner: str
    stream: str
    comparator: str  # "fixed", "moving", "minimisers" or "experts"
    measure: Callable[[int, int], Measurement]
    constant: float | None = None  # what regret / rate tends to on this stream
    tightness: str = ""  # the formula of that constant, or why there is none
    mean_regret: Callable[[int], float] | None = None  # E regret, computed exactly
    remark: Remark = NO_REMARK
    tradeoff: float | None = None  # β, where γ = 1 - T^-β
    is_lower_bound: bool = False
    max_horizon: int = HORIZONS[-1]
    seeds: int = SEEDS

    def horizons(self, quick: bool) -> list[int]:
        """The horizons T that are played."""
        every = QUICK_HORIZONS if quick else HORIZONS
        return [horizon for horizon in every if horizon <= self.max_horizon]

    def seed_count(self, quick: bool) -> int:
        """How many seeds are played at each horizon."""
        fewer = max(QUICK_SEEDS, self.seeds // 4)
        return min(self.seeds, fewer) if quick else self.seeds


def play(learner: Learner[Any], loss: Loss, block: Block) -> Trace:
    """The trace of a learner that starts from the origin."""
    size = np.shape(block.y if block.x is None else block.x)[-1]
    return learner.run(learner.init(np.zeros(size)), loss, block)[1]


def measure_regret(
    learner: Learner[Any], loss: Loss, block: Block, path: FloatArray | None
) -> float:
    """Regret against a path, or against the best fixed point where it is None."""
    trace = play(learner, loss, block)
    if path is None:
        return regret.static(trace, block, loss, DOMAIN).total
    return regret.dynamic(trace, block, loss, path).total
