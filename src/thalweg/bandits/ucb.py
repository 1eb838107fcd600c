"""UCB for K arms whose mean rewards change: discounted, and over a sliding window."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.bandits.policy import Finite, Policy, Shape, check_reward
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.kernels.lin_ucb import first_largest
from thalweg.kernels.ucb import (
    discounted_numerator,
    discounted_ucb_run,
    learn_discounted,
    learn_in_window,
    ucb_indices,
    window_numerator,
    window_ucb_run,
)
from thalweg.learners import RecursiveLeastSquares, SlidingWindow
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

COUNTED = Condition(
    "not {*arms} <= {*range(len(sums))}"  # which the rule of ``arms`` refuses
    " or [*counts] == [(arms[:rounds] == arm).sum() for arm in range(len(sums))]",
    "the plays of each arm in the window",
)


class DiscountedUCBState(NamedTuple):
    """The state of discounted UCB."""

    sums: Finite  # (K,) Σ γ^k r over the plays of each arm, k rounds old
    counts: Annotated[
        FloatArray, Array(None, 0.0, "rounds")
    ]  # (K,) Σ γ^k over the same
    rounds: int


class WindowUCBState(NamedTuple):
    """The state of sliding-window UCB: ring buffers of the last rounds."""

    sums: Finite  # (K,) of the rewards of each arm in the window
    counts: Annotated[Finite, COUNTED]  # (K,) of its plays in the window
    # (window,) the arm of each round; round t's place is t mod window. A kernel uses
    # these as indices.
    arms: Annotated[FloatArray, Array(None, 0.0, "len(sums) - 1", whole=True)]
    # (window,) its reward
    rewards: Annotated[FloatArray, Array(None, 0.0, "reward_bound")]
    rounds: int


class ArmPolicy:
    """The base class of policies for arms without features."""

    reward_bound: float

    def _check_arm(self, arm: Any, arms: int) -> int:
        """The number of an arm as an int; raises ``StreamError``."""
        value = checks.check_numbers("action", arm)
        if value.ndim or not 0 <= value < arms or value != int(value):
            raise StreamError(
                f"The action must be the number of one of {arms} arms, from 0 on. "
                f"Got {arm!r:.100} instead."
            )
        return int(value)

    def _check_no_actions(self, actions: Any, arms: int) -> None:
        """Raise unless the actions, where given, are as many as the arms."""
        if actions is not None and np.shape(actions)[:1] != (arms,):
            raise StreamError(
                f"{type(self).__name__} chooses among {arms} arms. "
                f"Got actions of shape {np.shape(actions)} instead."
            )


@dataclass(frozen=True)
class DiscountedUCB(ArmPolicy, Policy[DiscountedUCBState]):
    r"""Plays the arm with the largest discounted mean plus its confidence width.

    With N_t(i) = Σ γ^{t-s} over the rounds s in which arm i was played, X̄_t(i) the mean
    of its rewards with the same weights, and n_t = Σ_i N_t(i),

    .. math:: I_t = \arg\max_i\; \bar X_t(i) + 2B \sqrt{\xi \log n_t / N_t(i)}.

    Also known as: D-UCB. Garivier & Moulines (2011), *On Upper-Confidence Bound
    Policies for Switching Bandit Problems*. The formulas are recalled, not read; a
    public implementation (SMPyBandits) has the same with √(α log n_t / 2N_t) for
    rewards in [0, 1]. N_t and X̄_t are what RLS learns from arms as unit vectors, with
    ridge 0.

    ``discount`` is γ in (0, 1]: see ``discount_for_changes``. ``reward_bound`` is
    B > 0: rewards are in [0, B], others are refused. ``exponent`` is ξ; the bounds need
    ξ > 1/2.
    """

    State: ClassVar = DiscountedUCBState

    discount: float = 0.99
    reward_bound: float = 1.0
    exponent: float = 0.6

    def __post_init__(self) -> None:
        checks.require_interval(self, "discount", "(0, 1]")
        checks.require_interval(self, "reward_bound", "[1e-30, 1e30]")
        checks.require_interval(self, "exponent", "[0, 1e30]")

    @property
    def estimator(self) -> RecursiveLeastSquares:
        """RLS, for arms as unit vectors."""
        return RecursiveLeastSquares(self.discount, 0.0)

    def shapes(self, size: int) -> Mapping[str, Shape]:
        return {"sums": (size,), "counts": (size,)}

    def init(self, size: int) -> DiscountedUCBState:
        arms = self._check_size("size", size)
        return DiscountedUCBState(np.zeros(arms), np.zeros(arms), rounds=0)

    def indices(self, state: DiscountedUCBState) -> FloatArray:
        """The upper confidence bound of every arm, (K,)."""
        self.check_state(state)
        out = np.empty_like(state.sums)
        settings = float(self.reward_bound), float(self.exponent)
        numerator = discounted_numerator(state.counts, *settings)
        ucb_indices(state.sums, state.counts, numerator, out)
        return out

    def choose(self, state: DiscountedUCBState, actions: Any = None) -> int:
        indices = self.indices(state)
        self._check_no_actions(actions, len(indices))
        return int(first_largest(indices))

    def update(
        self, state: DiscountedUCBState, action: Any, reward: Any
    ) -> DiscountedUCBState:
        self.check_state(state)
        arm = self._check_arm(action, len(state.sums))
        reward = check_reward(reward, 0.0, self.reward_bound)
        sums, counts = state.sums.copy(), state.counts.copy()
        learn_discounted(sums, counts, float(self.discount), arm, reward)
        return DiscountedUCBState(sums, counts, state.rounds + 1)

    def play_rounds(
        self, state: DiscountedUCBState, actions: FloatArray | None, rewards: FloatArray
    ) -> tuple[DiscountedUCBState, Any]:
        sums, counts = state.sums.copy(), state.counts.copy()
        choices = np.empty(len(rewards), np.int64)
        settings = (self.discount, self.reward_bound, self.exponent)
        discounted_ucb_run(sums, counts, *map(float, settings), rewards, choices)
        return DiscountedUCBState(sums, counts, state.rounds + len(rewards)), choices


@dataclass(frozen=True)
class SlidingWindowUCB(ArmPolicy, Policy[WindowUCBState]):
    r"""Plays the arm with the largest mean over the last rounds plus its width.

    With N_t(i) the number of plays of arm i in the last τ rounds, X̄_t(i) the mean of
    their rewards,

    .. math:: I_t = \arg\max_i\; \bar X_t(i)
              + B \sqrt{\xi \log(\min(t, \tau)) / N_t(i)}.

    Also known as: SW-UCB. Garivier & Moulines (2011), as ``DiscountedUCB``; a public
    implementation (SMPyBandits) has the same. With a window as long as the run it is
    UCB without forgetting. A round costs O(K), whatever the window.

    ``window`` is τ ≥ 1, in rounds: see ``window_for_changes``. ``reward_bound`` and
    ``exponent`` are B and ξ, as in ``DiscountedUCB``.
    """

    State: ClassVar = WindowUCBState

    window: int = 1000
    reward_bound: float = 1.0
    exponent: float = 0.6

    def __post_init__(self) -> None:
        checks.require_interval(self, "window", "[1, 1e9]")
        checks.require_interval(self, "reward_bound", "[1e-30, 1e30]")
        checks.require_interval(self, "exponent", "[0, 1e30]")
        if self.window != int(self.window):
            raise InvalidParameterError(
                "The 'window' parameter of SlidingWindowUCB must be a whole number. "
                f"Got {self.window!r} instead."
            )

    @property
    def estimator(self) -> SlidingWindow:
        """Least squares over the window, for arms as unit vectors."""
        return SlidingWindow(self.window, 0.0)

    def shapes(self, size: int) -> Mapping[str, Shape]:
        window = int(self.window)
        arms, rounds = (size,), (window,)
        return {"sums": arms, "counts": arms, "arms": rounds, "rewards": rounds}

    def init(self, size: int) -> WindowUCBState:
        arms, window = self._check_size("size", size), int(self.window)
        return WindowUCBState(
            np.zeros(arms), np.zeros(arms), np.zeros(window), np.zeros(window), rounds=0
        )

    def indices(self, state: WindowUCBState) -> FloatArray:
        """The upper confidence bound of every arm, (K,)."""
        self.check_state(state)
        out = np.empty_like(state.sums)
        settings = int(self.window), float(self.reward_bound), float(self.exponent)
        numerator = window_numerator(state.rounds, *settings)
        ucb_indices(state.sums, state.counts, numerator, out)
        return out

    def choose(self, state: WindowUCBState, actions: Any = None) -> int:
        indices = self.indices(state)
        self._check_no_actions(actions, len(indices))
        return int(first_largest(indices))

    def update(self, state: WindowUCBState, action: Any, reward: Any) -> WindowUCBState:
        self.check_state(state)
        arm = self._check_arm(action, len(state.sums))
        reward = check_reward(reward, 0.0, self.reward_bound)
        arrays = [array.copy() for array in state[:4]]
        learn_in_window(*arrays, state.rounds, arm, reward)
        return WindowUCBState._make([*arrays, state.rounds + 1])

    def play_rounds(
        self, state: WindowUCBState, actions: FloatArray | None, rewards: FloatArray
    ) -> tuple[WindowUCBState, Any]:
        arrays = [array.copy() for array in state[:4]]
        choices = np.empty(len(rewards), np.int64)
        settings = float(self.reward_bound), float(self.exponent)
        window_ucb_run(*arrays, state.rounds, *settings, rewards, choices)
        return WindowUCBState._make([*arrays, state.rounds + len(rewards)]), choices
