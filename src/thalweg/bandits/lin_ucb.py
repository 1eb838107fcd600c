"""Discounted LinUCB: optimism on discounted least squares. Undiscounted at γ = 1."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.bandits.policy import UD_FACTOR, Finite, Policy, Shape, check_reward
from thalweg.errors import StreamError
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.lin_ucb import (
    confidence_width,
    first_largest,
    learn_reward,
    lin_ucb_indices,
    lin_ucb_run,
)
from thalweg.learners import RecursiveLeastSquares
from thalweg.rules import Condition
from thalweg.types import FloatArray

NORM_ROUNDING = 1e-9
"""Limit of the relative excess of ‖a‖ over L, as actions scaled to L are rounded."""

INTERVALS = {
    "ridge": "[1e-30, 1e30]",
    "noise": "[0, 1e30]",
    "radius": "[0, 1e30]",
    "action_bound": "[1e-30, 1e30]",
    "error_probability": "(0, 1)",
    "exploration": "[0, 1e30]",
}
"""The settings beside the discount, and their ranges."""


POSITIVE = Condition("(np.diagonal(squared) > 0).all()", "of a positive diagonal")


class LinUCBState(NamedTuple):
    """The state of discounted LinUCB."""

    theta: Finite  # (n,) θ̂, the estimate of the rewards' parameter
    # (n+3, n) the factors of V, packed: kernels/ud_factor.py
    factor: Annotated[Finite, UD_FACTOR]
    # (n, n) Ṽ, in which an action k rounds old weighs γ^2k
    squared: Annotated[Finite, POSITIVE]
    target: Finite  # (n,) b = Vθ̂
    rounds: int  # how many rewards were learnt

    @property
    def information(self) -> FloatArray:
        """V, shape (n, n)."""
        return np.asarray(factors.information(self.factor))


@dataclass(frozen=True)
class DiscountedLinUCB(Policy[LinUCBState]):
    r"""Plays the action with the largest upper confidence bound of its reward.

    The reward of action a in round t is a·θ_t plus noise. With V and Ṽ the sums of aaᵀ
    over the past actions, weighted γ^k and γ^2k for an action k rounds old, plus λI,

    .. math:: a_t = \arg\max_a\; a \cdot \hat\theta
              + \beta_t \|a\|_{V^{-1} \tilde V V^{-1}}, \quad
              \hat\theta = V^{-1} \sum_s \gamma^{t-1-s} r_s a_s,

    .. math:: \beta_t = \sqrt\lambda S + \sigma \sqrt{2 \log \tfrac1\delta
              + d \log\Big(1 + \tfrac{L^2 (1-\gamma^{2(t-1)})}
              {\lambda d (1-\gamma^2)}\Big)}.

    Also known as: D-LinUCB. Russac, Vernade & Cappé (2019), *Weighted Linear Bandits
    for Non-Stationary Environments*; the formulas are those of their public code, but
    for its Ṽ, which discounts V instead of Ṽ. With ``discount`` 1 it is LinUCB, also
    known as OFUL: Abbasi-Yadkori, Pál & Szepesvári (2011). θ̂ is leaky RLS with a ridge
    that is restored in full in every round: O(d³), as the indices of d actions.

    ``discount`` is γ in (0, 1]: see ``discount_for_drift``. ``ridge`` is λ > 0,
    ``noise`` σ ≥ 0 such that the noise is σ-subgaussian, ``radius`` S ≥ ‖θ_t‖,
    ``action_bound`` L > 0: an action with ‖a‖ > L is refused. ``error_probability`` is
    δ in (0, 1): the probability that θ lies outside the ellipsoid in a round without
    drift. ``exploration`` multiplies β; 1 is the theory's.
    Theory: ``regret_bounds``.
    """

    State: ClassVar = LinUCBState

    discount: float = 0.99
    ridge: float = 1.0
    noise: float = 1.0
    radius: float = 1.0
    action_bound: float = 1.0
    error_probability: float = 0.01
    exploration: float = 1.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "discount", "(0, 1]")
        for name, interval in INTERVALS.items():
            checks.require_interval(self, name, interval)

    @property
    def estimator(self) -> RecursiveLeastSquares:
        """Leaky RLS, which restores its ridge less exactly."""
        return RecursiveLeastSquares(self.discount, self.ridge, self.ridge, True)

    def shapes(self, size: int) -> Mapping[str, Shape]:
        return lin_ucb_shapes(size)

    def init(self, size: int) -> LinUCBState:
        n = self._check_size("size", size)
        start = np.zeros(n)
        factor = factors.prior(self.ridge, start)
        return LinUCBState(start, factor, self.ridge * np.eye(n), np.zeros(n), rounds=0)

    def indices(self, state: LinUCBState, actions: Any) -> FloatArray:
        """The upper confidence bound of every action, (K,)."""
        self.check_state(state)
        actions = check_actions(actions, len(state.theta), self.action_bound)
        width = confidence_width(state.rounds, len(state.theta), self.kernel_settings)
        out, work = np.empty(len(actions)), np.empty(len(state.theta))
        lin_ucb_indices(*state[:3], width, actions, out, work)
        return out

    def choose(self, state: LinUCBState, actions: Any = None) -> int:
        return int(first_largest(self.indices(state, actions)))

    def update(self, state: LinUCBState, action: Any, reward: Any) -> LinUCBState:
        self.check_state(state)
        n = len(state.theta)
        action = check_actions([action], n, self.action_bound)[0]
        reward = check_reward(reward, -1e100, 1e100)
        arrays = [array.copy() for array in state[:4]]
        work, gain = np.empty((2, n))
        discount, ridge = self.kernel_settings[:2]
        learn_reward(*arrays, discount, ridge, action, reward, work, gain)
        return LinUCBState._make([*arrays, state.rounds + 1])

    def play_rounds(
        self, state: LinUCBState, actions: FloatArray | None, rewards: FloatArray
    ) -> tuple[LinUCBState, Any]:
        arrays = [array.copy() for array in state[:4]]
        choices = np.empty(len(rewards), np.int64)
        settings = self.kernel_settings
        lin_ucb_run(*arrays, state.rounds, settings, actions, rewards, choices)
        return LinUCBState._make([*arrays, state.rounds + len(rewards)]), choices

    @property
    def kernel_settings(self) -> tuple[float, ...]:
        """All settings in the order of ``kernels.lin_ucb.confidence_width``."""
        return (
            float(self.discount),
            float(self.ridge),
            float(self.noise),
            float(self.radius),
            float(self.action_bound),
            -math.log(self.error_probability),
            float(self.exploration),
        )


def lin_ucb_shapes(size: int) -> dict[str, Shape]:
    """The shapes of θ̂, the factor of V, Ṽ and b."""
    return {
        "theta": (size,),
        "factor": (size + factors.EXTRA_ROWS, size),
        "squared": (size, size),
        "target": (size,),
    }


def check_actions(actions: Any, size: int, bound: float) -> FloatArray:
    """The actions as an array (K, n) of norms up to ``bound``; raises StreamError."""
    array = checks.check_numbers("actions", actions)
    if array.ndim != 2 or array.shape[1] != size or len(array) == 0:
        raise StreamError(
            f"The actions must be rows of {size} features. "
            f"Got shape {array.shape} instead."
        )
    rows = np.require(array, np.float64, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE"])
    largest = np.abs(rows).max(axis=1, initial=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.where(largest > bound, largest, np.linalg.norm(rows, axis=1))
    if not (norms <= bound * (1 + NORM_ROUNDING)).all():
        worst = int((~(norms <= bound * (1 + NORM_ROUNDING))).argmax())
        raise StreamError(
            f"The norm of an action must be at most its 'action_bound' {bound:g}. "
            f"Got {norms[worst]:g} for action {worst} instead."
        )
    return rows
