"""LinUCB whose discount and noise are those of the Tracker: neither has to be known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.bandits.lin_ucb import INTERVALS, check_actions, lin_ucb_shapes
from thalweg.bandits.policy import UD_FACTOR, Finite, Policy, Shape, check_reward
from thalweg.errors import ThalwegError
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.lin_ucb import (
    first_largest,
    learn_reward,
    lin_ucb_indices,
    weighted_width,
)
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import TrackerState
from thalweg.learners.tracker.workspace import EMPTY, TrackerWorkspace
from thalweg.persistence.state_check import check_state
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

TRACKER = Tracker("features")
"""The features of its experts are those of the action, without earlier rewards."""
COVERAGE = 0.9
HALF_WIDTH = 1.6448536269514722
"""Half the width of a Gaussian interval of that coverage, in units of σ."""
MIN_MEMORY = 2.0
"""Minimum memory of the Tracker, so that γ is at least 1/2."""


class TrackerLinUCBState(NamedTuple):
    """The state of LinUCB with the Tracker's discount and noise."""

    theta: Finite  # (n,) θ̂
    # (n+3, n) the factors of V: kernels/ud_factor.py
    factor: Annotated[Finite, UD_FACTOR]
    squared: Finite  # (n, n) Ṽ
    target: Finite  # (n,) b = Vθ̂
    # The state of the Tracker: kernels/tracker/tracker_layout.py.
    packed: Annotated[FloatArray, Condition("has_legal_tracker()", "a Tracker's state")]
    # (3,) γ and σ by now, and the sum of all squared weights
    rates: Annotated[
        FloatArray,
        Array((3,), 0.0, 1e200),
        Condition("0 < rates[0] <= 1", "a discount and two sums"),
    ]
    rounds: int

    def has_legal_tracker(self) -> bool:
        """Whether a Tracker could have the packed state."""
        try:
            check_state(TRACKER, TrackerState(self.theta, self.packed))
        except ThalwegError:
            return False
        return True

    @property
    def discount(self) -> float:
        """γ with which the last round was learnt."""
        return float(self.rates[0])


@dataclass(frozen=True)
class TrackerLinUCB(Policy[TrackerLinUCBState]):
    """Plays as ``DiscountedLinUCB`` with what a ``Tracker`` learns from the rewards.

    A Tracker predicts the reward of every action that is played. In each round
    γ = 1 - 1/memory, its effective memory in rounds, and σ is half the width of its
    90 % prediction interval, over 1.645; 0 at first, and as before where that interval
    is infinite. V, Ṽ, b and the index are those of ``DiscountedLinUCB``; a past round
    weighs the product of the discounts since then. So neither the drift nor the noise
    has to be known.

    This policy is ours, and no regret bound of it is proven: the Tracker's memory is a
    mean over its experts that suits its forecasts, and γ and σ depend on the rewards.
    Between two rounds of a simulation it returns to Python, unlike the others: some
    20 µs a round for small n.

    The settings are those of ``DiscountedLinUCB``.
    """

    State: ClassVar = TrackerLinUCBState

    ridge: float = 1.0
    radius: float = 1.0
    action_bound: float = 1.0
    error_probability: float = 0.01
    exploration: float = 1.0

    def __post_init__(self) -> None:
        for name, interval in INTERVALS.items():
            if name != "noise":
                checks.require_interval(self, name, interval)

    @property
    def estimator(self) -> Tracker:
        """The Tracker that is asked for its memory and its intervals."""
        return TRACKER

    def shapes(self, size: int) -> Mapping[str, Shape]:
        own = {"packed": (layout.state_size(size, 0),), "rates": (3,)}
        return lin_ucb_shapes(size) | own

    def init(self, size: int) -> TrackerLinUCBState:
        n = self._check_size("size", size)
        start = np.zeros(n)
        factor = factors.prior(self.ridge, start)
        packed = TRACKER.init(start).packed
        return TrackerLinUCBState(
            start, factor, self.ridge * np.eye(n), np.zeros(n), packed,
            np.array([1.0, 0.0, 0.0]), rounds=0,
        )  # fmt: skip

    def indices(self, state: TrackerLinUCBState, actions: Any) -> FloatArray:
        """The upper confidence bound of every action, (K,)."""
        self.check_state(state)
        actions = check_actions(actions, len(state.theta), self.action_bound)
        out, work = np.empty(len(actions)), np.empty(len(state.theta))
        width = self._width(state.rates, len(state.theta))
        lin_ucb_indices(*state[:3], width, actions, out, work)
        return out

    def choose(self, state: TrackerLinUCBState, actions: Any = None) -> int:
        return int(first_largest(self.indices(state, actions)))

    def update(
        self, state: TrackerLinUCBState, action: Any, reward: Any
    ) -> TrackerLinUCBState:
        self.check_state(state)
        actions = check_actions([action], len(state.theta), self.action_bound)
        rewards = np.array([[check_reward(reward, -1e100, 1e100)]])
        return self.play_rounds(state, actions[None], rewards)[0]

    def play_rounds(
        self, state: TrackerLinUCBState, actions: FloatArray | None, rewards: FloatArray
    ) -> tuple[TrackerLinUCBState, Any]:
        assert actions is not None
        theta, factor, squared, target, rates = (
            array.copy() for array in (*state[:4], state.rates)
        )
        n, choices = len(theta), np.empty(len(rewards), np.int64)
        records = ("forecast", "memory", "interval")
        workspace = TrackerWorkspace(state.packed, n, 0, 1, records, COVERAGE)
        out, (work, gain) = np.empty(rewards.shape[1]), np.empty((2, n))
        ridge = float(self.ridge)
        for t, arms in enumerate(actions):
            width = self._width(rates, n)
            lin_ucb_indices(theta, factor, squared, width, arms, out, work)
            k = choices[t] = first_largest(out)
            row, reward = arms[k : k + 1], rewards[t, k : k + 1]
            played = workspace.play(row, reward, EMPTY, EMPTY)
            _renew_rates(rates, float(played["memory"][0]), played["interval"][0])
            arrays = (theta, factor, squared, target)
            learn_reward(*arrays, float(rates[0]), ridge, row[0], reward[0], work, gain)
        after = (theta, factor, squared, target, workspace.packed.copy(), rates)
        rounds = state.rounds + len(rewards)
        return TrackerLinUCBState._make([*after, rounds]), choices

    def _width(self, rates: FloatArray, n: int) -> float:
        _, noise, weight = rates.tolist()
        log_inverse = -math.log(self.error_probability)
        settings = (
            1.0, self.ridge, noise, self.radius, self.action_bound, log_inverse,
            self.exploration,
        )  # fmt: skip
        return float(weighted_width(weight, n, settings))


def _renew_rates(rates: FloatArray, memory: float, interval: FloatArray) -> None:
    """γ and σ by the Tracker's memory and interval, and the sum of squared weights.

    σ stays as it was where the Tracker knows no error, and its interval is infinite.
    """
    gamma = 1 - 1 / max(memory, MIN_MEMORY)
    low, high = interval.tolist()
    width = high - low
    noise = min(width / 2 / HALF_WIDTH, 1e100) if width < math.inf else rates[1]
    rates[:] = gamma, noise, gamma * gamma * rates[2] + 1
