"""Bandit environments that drift, with known mean rewards.

A round's actions and rewards depend on the seed and the number of the round only, so
that a simulation may be cut anywhere, and policies are compared on the same rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray

BLOCK_ROUNDS = 1024
"""Number of rounds that are drawn together, from a generator of their own."""
CHANGES = (1000, 2000, 3000)
TURNS = (0.5, -0.25, 0.5)
"""The rounds after which θ turns, and the share of a full turn: from (1, 0) to
(-1, 0), (0, 1) and (0, -1). They are those of the public code of Russac, Vernade &
Cappé (2019), with T = 6,000, d = 2, 50 actions and noise 1."""


class RoundTable(NamedTuple):
    """All that could happen in consecutive rounds."""

    actions: FloatArray | None  # (T, K, n), or None where arms have only a number
    means: FloatArray  # (T, K) the mean reward of every action
    rewards: FloatArray  # (T, K) its reward


@dataclass(frozen=True, eq=False)
class LinearEnvironment:
    """Rewards a·θ_t plus Gaussian noise, with fresh actions a in every round.

    ``theta`` (T, n) is θ_t, of norm at most 1. In each round ``arms`` actions are drawn
    uniformly from the cube [-1, 1]ⁿ, and those outside of the unit ball are scaled to
    it, as in the public code of Russac, Vernade & Cappé (2019). With ``axes`` the
    actions are the n unit vectors instead, in every round. ``noise`` is σ.
    """

    theta: FloatArray
    arms: int = 50
    noise: float = 1.0
    axes: bool = False

    def __post_init__(self) -> None:
        checks.require_interval(self, "arms", "[1, inf)")
        checks.require_interval(self, "noise", "[0, inf)")
        checks.require_choice(self, "axes", (False, True))
        theta = checks.check_array(self, "theta", 2)
        if not (np.linalg.norm(theta, axis=1) <= 1 + 1e-9).all():
            raise InvalidParameterError(
                "The 'theta' parameter of LinearEnvironment must have rows of norm at "
                f"most 1. Got one of {np.linalg.norm(theta, axis=1).max():g} instead."
            )
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "arms", int(self.arms))

    def __len__(self) -> int:
        return len(self.theta)

    @property
    def size(self) -> int:
        """The number of features of an action."""
        return int(self.theta.shape[1])

    @property
    def path_length(self) -> float:
        """B_T = Σ ‖θ_{t+1} - θ_t‖, the variation budget."""
        return float(np.linalg.norm(np.diff(self.theta, axis=0), axis=1).sum())

    @property
    def changes(self) -> int:
        """The number of rounds in which θ is not that of the round before."""
        return int((np.diff(self.theta, axis=0) != 0).any(axis=1).sum())

    def block(self, number: int, seed: int) -> RoundTable:
        """Block ``number`` of ``BLOCK_ROUNDS`` rounds; the last one is shorter."""
        theta = self.theta[number * BLOCK_ROUNDS : (number + 1) * BLOCK_ROUNDS]
        rng = _generator(seed, number)
        shape = (BLOCK_ROUNDS, self.arms, self.size)
        if self.axes:
            actions = np.broadcast_to(np.eye(self.size), (len(theta), *shape[2:] * 2))
        else:
            actions = rng.uniform(-1.0, 1.0, shape)[: len(theta)]
            norms = np.linalg.norm(actions, axis=2, keepdims=True)
            actions = actions / np.maximum(norms, 1.0)
        means = np.einsum("tkn,tn->tk", actions, theta)
        errors = self.noise * rng.standard_normal(BLOCK_ROUNDS)[: len(theta)]
        return RoundTable(np.ascontiguousarray(actions), means, means + errors[:, None])


@dataclass(frozen=True, eq=False)
class ArmEnvironment:
    """Rewards 0 or 1 of K arms, 1 with probability ``means[t, k]`` (T, K)."""

    means: FloatArray

    def __post_init__(self) -> None:
        means = checks.check_array(self, "means", 2)
        if not ((means >= 0) & (means <= 1)).all():
            raise InvalidParameterError(
                "The 'means' parameter of ArmEnvironment must hold probabilities. "
                f"Got numbers from {means.min():g} to {means.max():g} instead."
            )
        object.__setattr__(self, "means", means)

    def __len__(self) -> int:
        return len(self.means)

    @property
    def size(self) -> int:
        """The number of arms."""
        return int(self.means.shape[1])

    @property
    def changes(self) -> int:
        """Υ_T, the number of rounds in which a mean is not that of the round before."""
        return int((np.diff(self.means, axis=0) != 0).any(axis=1).sum())

    @property
    def gaps(self) -> FloatArray:
        """(T, K) by how much each arm is worse than the best one."""
        return np.asarray(self.means.max(axis=1, keepdims=True) - self.means)

    @property
    def smallest_gaps(self) -> FloatArray:
        """(K,) the least gap above 0 of each arm; 0 if it is always the best."""
        gaps = self.gaps
        least = np.where(gaps > 0, gaps, np.inf).min(axis=0)
        return np.where(np.isfinite(least), least, 0.0)

    @property
    def largest_gaps(self) -> FloatArray:
        """(K,) the largest gap of each arm."""
        return np.asarray(self.gaps.max(axis=0))

    def block(self, number: int, seed: int) -> RoundTable:
        """Block ``number`` of ``BLOCK_ROUNDS`` rounds; the last one is shorter."""
        means = self.means[number * BLOCK_ROUNDS : (number + 1) * BLOCK_ROUNDS]
        chance = _generator(seed, number).uniform(size=(BLOCK_ROUNDS, 1))[: len(means)]
        return RoundTable(None, means, np.ascontiguousarray(1.0 * (chance < means)))


Environment = LinearEnvironment | ArmEnvironment


def abrupt_environment(
    rounds: int = 6000,
    changes: Sequence[int] = CHANGES,
    turns: Sequence[float] = TURNS,
    arms: int = 50,
    noise: float = 1.0,
) -> LinearEnvironment:
    """θ on the unit circle that turns at once, after the rounds ``changes``.

    ``turns`` are parts of a full turn, by default half, quarter and half a turn.
    """
    checks.require_argument("abrupt_environment", "rounds", rounds, "[1, inf)")
    if len(changes) != len(turns):
        raise InvalidParameterError(
            "The 'turns' parameter of abrupt_environment must be as many as 'changes'. "
            f"Got {len(turns)} and {len(changes)} instead."
        )
    angle = np.zeros(rounds)
    for change, turn in zip(changes, turns, strict=True):
        angle[change:] += turn
    return LinearEnvironment(_on_circle(angle), arms, noise)


def rotating_environment(
    rounds: int = 6000, turn: float = 0.25, arms: int = 50, noise: float = 1.0
) -> LinearEnvironment:
    """θ on the unit circle that turns slowly, by the part ``turn`` of a full turn."""
    checks.require_argument("rotating_environment", "rounds", rounds, "[1, inf)")
    return LinearEnvironment(_on_circle(np.linspace(0.0, turn, rounds)), arms, noise)


def switching_arms(
    rounds: int = 10_000,
    changes: Sequence[int] = (3000, 6000),
    means: Sequence[Sequence[float]] = (
        (0.9, 0.5, 0.1),
        (0.1, 0.9, 0.5),
        (0.5, 0.1, 0.9),
    ),
) -> ArmEnvironment:
    """Arms whose probabilities of a reward 1 change at once, after these rounds.

    By default three arms that take turns. The numbers are ours.
    """
    checks.require_argument("switching_arms", "rounds", rounds, "[1, inf)")
    if len(means) != len(changes) + 1:
        raise InvalidParameterError(
            "The 'means' parameter of switching_arms must be one row more than "
            f"'changes'. Got {len(means)} and {len(changes)} instead."
        )
    phase = np.searchsorted(np.asarray(changes), np.arange(rounds), side="right")
    return ArmEnvironment(np.asarray(means, np.float64)[phase])


def _on_circle(turns: FloatArray) -> FloatArray:
    """(cos, sin) of an angle in full turns; quarter turns without rounding errors."""
    quarter, rest = np.divmod(4 * turns + 0.5, 1.0)
    rest = (rest - 0.5) * np.pi / 2
    cos, sin = np.cos(rest), np.sin(rest)
    kind = quarter.astype(np.int64) % 4
    x = np.choose(kind, [cos, -sin, -cos, sin])
    return np.column_stack([x, np.choose(kind, [sin, cos, -sin, -cos])]) + 0.0


def _generator(seed: int, number: int) -> Any:
    return np.random.default_rng([seed, number])
