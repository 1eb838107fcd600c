"""The one core abstraction: a learner is frozen settings plus a pure update."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels.predict import dot
from thalweg.learners.live import Live
from thalweg.losses import Loss, Round
from thalweg.types import Block, FloatArray, State, Trace

S = TypeVar("S", bound=State)


class Learner(ABC, Generic[S]):
    """Settings of an algorithm. All that changes over time is in its state."""

    accepts: ClassVar[tuple[type[Loss], ...]] = (Loss,)
    """The losses this update is right for."""

    records: ClassVar[tuple[str, ...]] = ("theta",)
    """What ``run(..., record=...)`` can keep of every round."""

    plays_points: ClassVar[bool] = True
    """Whether a round's loss is that of a point θ; else that of a prediction alone."""

    counts_gaps: ClassVar[bool] = False
    """Whether a round of weight zero leaves a trace: that it has passed."""

    @abstractmethod
    def init(self, theta: Any) -> S:
        """The state before the first round, from which ``theta`` is played."""

    def play(self, state: S, x: Any = None) -> FloatArray:
        """The point for this round; ``x`` is known, y is not."""
        return state.theta

    def predict(self, state: S, x: Any = None) -> Any:
        """What is said of y before it is seen: x·θ, or θ itself without features."""
        theta = self.play(state, x)
        if x is None or np.ndim(x) > 1:
            return theta if x is None else x @ theta
        out = np.empty(theta.shape[1:] or 1, theta.dtype)
        dot(checks.check_features(x, theta), theta.reshape(len(theta), -1), out)
        return out if theta.ndim > 1 else out[0]

    @abstractmethod
    def update(self, state: S, f: Round) -> S:
        """The state after a point was played and ``f`` was revealed."""

    def run(
        self, state: S, loss: Loss, block: Block, record: Sequence[str] = (),
        blocked: bool = False,
    ) -> tuple[S, Trace]:  # fmt: skip
        """Play every round of ``block``, oldest first; ``state`` is left as it was.

        ``record`` names what to keep of every round beside prediction and loss.
        ``blocked`` plays many rounds at a time where the learner can: the same to
        rounding, but no longer to the last bit however a stream is cut.
        """
        checks.require_own_state(self, state)
        checks.require_argument_type(type(self).__name__, "blocked", blocked, bool)
        self.check_loss(loss)
        record = (record,) if isinstance(record, str) else tuple(record or ())
        for name in record:
            if name not in self.records:
                raise InvalidParameterError(
                    f"{type(self).__name__} can record {', '.join(self.records)}. "
                    f"Got {name!r} instead."
                )
        play = self._play_blocked if blocked else self._play
        return play(state, loss, checks.check_block(block, loss, state.theta), record)

    def check_loss(self, loss: Loss) -> None:
        """Raise ``UnsupportedLossError`` unless this update is right for ``loss``."""
        checks.require_accepted_loss(self, loss)

    def _play(
        self, state: S, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[S, Trace]:
        """Do the work of ``run``. Override to call a kernel; the result must agree."""
        predictions, incurred = [], np.empty(len(block), state.theta.dtype)
        recorded: dict[str, list[Any]] = {name: [] for name in record}
        for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
            f = Round(loss, x, y, weight, elapsed)
            predictions.append(self.predict(state, x))
            incurred[t] = self._incurred(state, f, predictions[-1])
            for name, kept in recorded.items():
                kept.append(self.record(state, name))
            state = self.update(state, f)
        extras = {name: np.array(kept) for name, kept in recorded.items()}
        theta = extras.pop("theta", None)
        return state, Trace(np.array(predictions), incurred, theta, extras)

    def _play_blocked(
        self, state: S, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[S, Trace]:
        """Do the work of ``run(..., blocked=True)``. Override where it is faster."""
        raise InvalidParameterError(
            f"The 'blocked' parameter must be False for {type(self).__name__}, which "
            f"plays round by round. Got True instead."
        )

    def live(self, state: S, loss: Loss, ones: int) -> Live | None:
        """The state in a form that single calls change in place; None if there is none.

        What it predicts and learns is what ``run`` does, bit by bit. The last ``ones``
        features are not given to it: they are 1.
        """
        return None

    def record(self, state: S, name: str) -> Any:
        """The part of the state that ``run(..., record=...)`` calls ``name``."""
        return getattr(state, name)

    def _incurred(self, state: S, f: Round, prediction: Any) -> float:
        if self.plays_points:
            return f.value(self.play(state, f.x))
        one = f.loss.at_prediction(np.asarray(prediction)[None], np.asarray(f.y)[None])
        return f.weight * float(one[0])
