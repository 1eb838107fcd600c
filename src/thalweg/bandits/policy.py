"""The base class of bandit policies: frozen settings plus a pure update of a state.

In each round a policy sees the actions that can be played, chooses one, and sees the
reward of that one alone (bandit feedback). Policies relate to ``Agent`` as learners do
to ``Online``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.learners import Learner
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

S = TypeVar("S", bound=tuple[Any, ...])
Shape = tuple[int, ...]


Finite = Annotated[FloatArray, Array(None)]
"""A field of a state whose shape ``Policy.shapes`` says."""
UD_FACTOR = Condition(
    "(np.diagonal(factor) > 0).all() and (factor[len(theta) :] >= 0).all()",
    "a UD factor",
)


class Policy(ABC, Generic[S]):
    """Settings of a bandit algorithm. All that changes over time is in its state."""

    State: ClassVar[Any]
    """The NamedTuple class of its states: arrays of float64, and ``rounds``."""

    @property
    @abstractmethod
    def estimator(self) -> Learner[Any]:
        """The learner whose estimate of the rewards this policy plays by."""

    @abstractmethod
    def shapes(self, size: int) -> Mapping[str, Shape]:
        """The shape of every array of a state for ``size`` features, or arms."""

    @abstractmethod
    def init(self, size: int) -> S:
        """The state before the first round: n features of an action, or K arms."""

    @abstractmethod
    def choose(self, state: S, actions: Any = None) -> int:
        """The number of the action to play, the first of those with the best index."""

    @abstractmethod
    def update(self, state: S, action: Any, reward: Any) -> S:
        """The state after ``action`` was played and its reward was seen."""

    @abstractmethod
    def play_rounds(
        self, state: S, actions: FloatArray | None, rewards: FloatArray
    ) -> tuple[S, Any]:
        """Choose and update, round by round; the state after it, and the choices (T,).

        ``rewards`` (T, K) are those of every action; only that of the chosen one is
        read. ``actions`` is (T, K, n), or None where arms have only a number. It is
        called by ``simulate``, and checks nothing.
        """

    def size_of(self, state: S) -> int:
        """The number of features, or of arms, of the state."""
        return len(state[0])

    def check_state(self, state: S) -> None:
        """Raise ``InvalidParameterError`` unless the state is one of this policy's."""
        name = type(self).__name__
        if type(state) is not self.State:
            raise InvalidParameterError(
                f"{name} plays from a state that its init gave. Got {state!r:.100} of "
                f"type {type(state).__name__} instead."
            )
        size = np.size(state[0])
        for field, shape in self.shapes(size).items():
            array = getattr(state, field)
            is_array = type(array) is np.ndarray and array.dtype == np.float64
            if not is_array or array.shape != shape:
                raise InvalidParameterError(
                    f"{name} plays from a state that its init gave, here with "
                    f"{field} of shape {shape} and float64. Got {array!r:.100} instead."
                )
        rounds = getattr(state, "rounds", None)
        if type(rounds) is not int or rounds < 0:
            raise InvalidParameterError(
                f"The rounds of a state of {name} must be a whole number. "
                f"Got {rounds!r:.100} instead."
            )

    def _check_size(self, name: str, size: Any) -> int:
        """``size`` as the int that ``init`` takes, called ``name`` where refused."""
        owner = f"{type(self).__name__}.init"
        checks.require_argument(owner, name, size, "[1, inf)")
        if size != int(size):
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must be a whole number. "
                f"Got {size!r} instead."
            )
        return int(size)


def check_reward(reward: Any, low: float, high: float) -> float:
    """The reward as a float from ``low`` to ``high``; raises ``StreamError``."""
    value = checks.check_numbers("reward", reward)
    if value.ndim or not low <= value <= high:
        raise StreamError(
            f"The reward must be one number from {low:g} to {high:g}. "
            f"Got {reward!r:.100} instead."
        )
    return float(value)
