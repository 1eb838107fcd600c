"""``Agent``: a bandit policy together with its state, to call round by round."""

import os
from dataclasses import asdict
from typing import Any, NamedTuple

from thalweg import checks, persistence
from thalweg.bandits.adaptive_lin_ucb import AdaptiveLinUCB
from thalweg.bandits.lin_ucb import DiscountedLinUCB
from thalweg.bandits.policy import Policy
from thalweg.bandits.tracker_lin_ucb import TrackerLinUCB
from thalweg.bandits.ucb import DiscountedUCB, SlidingWindowUCB
from thalweg.errors import PersistenceError, ThalwegError
from thalweg.losses import SquaredError
from thalweg.rules import Array, restore_snapshot, validate_snapshot

POLICIES: dict[str, type[Policy[Any]]] = {
    kind.__name__: kind
    for kind in (
        AdaptiveLinUCB,
        DiscountedLinUCB,
        DiscountedUCB,
        SlidingWindowUCB,
        TrackerLinUCB,
    )
}
"""The policies that a file may name."""


class AgentRecord(NamedTuple):
    """An agent in a file's ``extra``."""

    policy: str  # the name of its class
    settings: Any  # their values by name
    state: Any  # its fields by name


class Agent:
    """Chooses actions and learns their rewards.

    >>> agent = Agent(DiscountedLinUCB(discount=0.99), size=2)
    >>> actions = [[1.0, 0.0], [0.0, 1.0]]
    >>> k = agent.choose(actions)
    >>> agent.update(actions[k], reward=0.5)

    ``size`` is the number of features of an action, or of arms where an arm has nothing
    but a number: there ``choose`` takes no actions, and ``update`` the number. What is
    refused leaves the agent as it was. Threads must not share one.
    """

    def __init__(self, policy: Policy[Any], size: int) -> None:
        self.policy = policy
        checks.require_type(self, "policy", Policy)
        self._state = policy.init(size)

    def __repr__(self) -> str:
        return f"Agent({self.policy!r}, size={self.size})"

    @property
    def size(self) -> int:
        """The number of features of an action, or of arms."""
        return self.policy.size_of(self._state)

    @property
    def rounds(self) -> int:
        """The number of rewards learnt."""
        return int(self._state.rounds)

    @property
    def state(self) -> Any:
        """The state, which is never changed in place."""
        return self._state

    def choose(self, actions: Any = None) -> int:
        """The number of the action to play next; nothing is learnt."""
        return self.policy.choose(self._state, actions)

    def update(self, action: Any, reward: Any) -> None:
        """Learn the reward of the action that was played."""
        self._state = self.policy.update(self._state, action, reward)

    def replace_state(self, state: Any) -> None:
        """Go on from another state of the same policy."""
        self.policy.check_state(state)
        self._state = state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent to a file; a failed write leaves the old file as it was."""
        policy = self.policy
        name = type(policy).__name__
        if POLICIES.get(name) is not type(policy):
            raise PersistenceError(
                f"{name} is not one of thalweg's own policies and cannot be saved: a "
                "file holds numbers, never code."
            )
        try:
            _require_legal(policy, self._state)
        except PersistenceError as error:
            raise PersistenceError(f"The agent cannot be saved: {error}.") from None
        record = AgentRecord(name, asdict(policy), self._state)  # type: ignore[call-overload]
        saved = persistence.SavedModel(
            policy.estimator, SquaredError(), None, {"agent": record}
        )
        persistence.save(path, saved)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Agent":
        """The agent in a file, which continues to the last bit."""
        extra = persistence.load(path).extra
        if "agent" not in extra:
            kind = "an Online" if "intercept" in extra else "a learner"
            raise PersistenceError(f"{path} holds {kind}, but no Agent.")
        try:
            policy, state = _restore(extra["agent"])
        except PersistenceError as error:
            raise PersistenceError(f"{path} cannot be loaded: {error}.") from None
        agent = cls.__new__(cls)
        agent.policy, agent._state = policy, state
        return agent


def _restore(value: Any) -> tuple[Policy[Any], Any]:
    """The policy and the state that a file holds; ``PersistenceError`` if wrong."""
    record = restore_snapshot(AgentRecord, value, "agent")
    kind = POLICIES.get(record.policy)
    if kind is None:
        raise PersistenceError(f"this version has no policy called {record.policy!r}")
    try:
        policy = kind(**record.settings)
    except (TypeError, ThalwegError) as error:
        raise PersistenceError(f"{record.policy} refuses: {error}") from None
    state = restore_snapshot(kind.State, record.state, "state")
    if state[0].ndim != 1 or len(state[0]) == 0:
        raise PersistenceError(f"its 'state.{state._fields[0]}' has no entries")
    _require_legal(policy, state)
    return policy, state


def _require_legal(policy: Policy[Any], state: Any) -> None:
    """Raise ``PersistenceError`` unless the policy could have such a state."""
    for name, shape in policy.shapes(policy.size_of(state)).items():
        rule = Array(shape, may_be_nan=True)
        rule.validate(getattr(state, name), f"state.{name}")
    validate_snapshot(type(state), state, "state", (policy,))
