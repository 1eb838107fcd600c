"""LinUCB that chooses among discounts by how well they predict: no γ is needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.bandits.lin_ucb import INTERVALS, DiscountedLinUCB, check_actions
from thalweg.bandits.policy import Finite, Policy, Shape, check_reward
from thalweg.errors import InvalidParameterError
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.adaptive_lin_ucb import adaptive_run, bank_indices, learn_in_bank
from thalweg.kernels.lin_ucb import first_largest
from thalweg.learners import RecursiveLeastSquares
from thalweg.rules import Condition
from thalweg.types import FloatArray

SUM_IS_1 = Condition(
    "abs(np.logaddexp.reduce(log_weights)) < 1e-6", "logarithms of weights"
)
UD_FACTORS = Condition(
    "(np.diagonal(factors, axis1=1, axis2=2) > 0).all()"
    " and (factors[:, len(theta) :] >= 0).all()",
    "UD factors",
)


class AdaptiveLinUCBState(NamedTuple):
    """The state of a bank of m discounted LinUCBs, shortest memory first."""

    theta: Finite  # (n,) the weighted mean of their estimates
    log_weights: Annotated[Finite, SUM_IS_1]  # (m,)
    thetas: Finite  # (m, n)
    factors: Annotated[Finite, UD_FACTORS]  # (m, n+3, n)
    squared: Finite  # (m, n, n)
    targets: Finite  # (m, n)
    rounds: int

    @property
    def weights(self) -> FloatArray:
        """(m,) how much each of the bank counts; they sum to one."""
        return np.asarray(np.exp(self.log_weights))


@dataclass(frozen=True)
class AdaptiveLinUCB(Policy[AdaptiveLinUCBState]):
    r"""Plays by a bank of ``DiscountedLinUCB``, weighted by their recent predictions.

    The bank has windows 1/(1-γ) of w, 2w, 4w, ... rounds, and one without forgetting.
    All of them learn every reward. Each is weighted by its predictions,

    .. math:: w_b \leftarrow (1 - \alpha_t) \frac{w_b e^{-(r_t - a_t \cdot
              \hat\theta_b)^2 / 2\sigma^2}}{\sum} + \frac{\alpha_t}{m}, \quad
              \alpha_t = \frac{1}{t+1},

    which is fixed share on the squared error, and the action with the largest weighted
    mean of the bank's upper confidence bounds is played. Nothing has to be known of how
    the rewards drift.

    This policy is ours, and no regret bound of it is proven: a discount is judged by
    predictions of the actions that were played, and these are not those that another
    discount would have played.

    ``shortest_window`` is w ≥ 2, in rounds, ``bank_size`` is m ≥ 2. The other settings
    are those of ``DiscountedLinUCB``; ``noise`` must be above 0.
    """

    State: ClassVar = AdaptiveLinUCBState

    ridge: float = 1.0
    noise: float = 1.0
    radius: float = 1.0
    action_bound: float = 1.0
    error_probability: float = 0.01
    exploration: float = 1.0
    shortest_window: float = 16.0
    bank_size: int = 8

    def __post_init__(self) -> None:
        checks.require_interval(self, "shortest_window", "[2, 1e9]")
        checks.require_interval(self, "bank_size", "[2, 64]")
        if self.bank_size != int(self.bank_size):
            raise InvalidParameterError(
                "The 'bank_size' parameter of AdaptiveLinUCB must be a whole number. "
                f"Got {self.bank_size!r} instead."
            )
        for name, interval in INTERVALS.items():
            checks.require_interval(self, name, interval)
        checks.require_interval(self, "noise", "[1e-30, 1e30]")

    @property
    def discounts(self) -> FloatArray:
        """(m,) the discounts of the bank, the smallest first; the last one is 1."""
        windows = self.shortest_window * 2.0 ** np.arange(self.bank_size - 1)
        return np.append(1 - 1 / windows, 1.0)

    @property
    def bank(self) -> tuple[DiscountedLinUCB, ...]:
        """The policies, each with its weight."""
        return tuple(
            DiscountedLinUCB(
                float(discount), self.ridge, self.noise, self.radius,
                self.action_bound, self.error_probability, self.exploration,
            )
            for discount in self.discounts
        )  # fmt: skip

    @property
    def estimator(self) -> RecursiveLeastSquares:
        """Leaky RLS with the shortest memory of the bank."""
        return self.bank[0].estimator

    def shapes(self, size: int) -> Mapping[str, Shape]:
        m, rows = int(self.bank_size), size + factors.EXTRA_ROWS
        return {
            "theta": (size,),
            "log_weights": (m,),
            "thetas": (m, size),
            "factors": (m, rows, size),
            "squared": (m, size, size),
            "targets": (m, size),
        }

    def init(self, size: int) -> AdaptiveLinUCBState:
        n, m = self._check_size("size", size), int(self.bank_size)
        states = [policy.init(n) for policy in self.bank]
        thetas, factor_bank, squared, targets = (
            np.array([state[k] for state in states]) for k in range(4)
        )
        log_weights = np.full(m, -np.log(m))
        return AdaptiveLinUCBState(
            np.zeros(n), log_weights, thetas, factor_bank, squared, targets, rounds=0
        )

    def indices(self, state: AdaptiveLinUCBState, actions: Any) -> FloatArray:
        """The weighted mean of the bank's upper confidence bounds, (K,)."""
        self.check_state(state)
        n = len(state.theta)
        actions = check_actions(actions, n, self.action_bound)
        out, work = np.empty((2, len(actions)))
        settings, v = self._kernel_settings, np.empty(n)
        bank_indices(state[1:6], settings, state.rounds, actions, out, work, v)
        return out

    def choose(self, state: AdaptiveLinUCBState, actions: Any = None) -> int:
        return int(first_largest(self.indices(state, actions)))

    def update(
        self, state: AdaptiveLinUCBState, action: Any, reward: Any
    ) -> AdaptiveLinUCBState:
        self.check_state(state)
        n = len(state.theta)
        action = check_actions([action], n, self.action_bound)[0]
        reward = check_reward(reward, -1e100, 1e100)
        bank = tuple(array.copy() for array in state[1:6])
        work, gain = np.empty((2, n))
        settings = self._kernel_settings
        learn_in_bank(bank, settings, action, reward, state.rounds, work, gain)
        return _with_mean(bank, state.rounds + 1)

    def play_rounds(
        self, state: AdaptiveLinUCBState, actions: FloatArray | None,
        rewards: FloatArray,
    ) -> tuple[AdaptiveLinUCBState, Any]:  # fmt: skip
        bank = tuple(array.copy() for array in state[1:6])
        choices = np.empty(len(rewards), np.int64)
        settings = self._kernel_settings
        adaptive_run(bank, settings, state.rounds, actions, rewards, choices)
        return _with_mean(bank, state.rounds + len(rewards)), choices

    @property
    def _kernel_settings(self) -> FloatArray:
        """(m, 7) the settings of each of the bank."""
        return np.array([policy.kernel_settings for policy in self.bank])


def _with_mean(bank: tuple[FloatArray, ...], rounds: int) -> AdaptiveLinUCBState:
    """The state of a bank, with the weighted mean of its estimates."""
    log_weights, thetas = bank[:2]
    return AdaptiveLinUCBState._make([np.exp(log_weights) @ thetas, *bank, rounds])
