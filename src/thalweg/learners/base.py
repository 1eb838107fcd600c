"""The base class of learners: frozen settings plus a pure update of a state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels.predict import dot, dot_rows
from thalweg.learners.feature_changes import FeatureChange, addition, removal
from thalweg.learners.finiteness import (
    limit_losses,
    require_finite_run,
    unsolvable_round,
)
from thalweg.learners.own_state import check_own_state
from thalweg.learners.recent_errors import RecentErrors
from thalweg.losses import Loss, Round
from thalweg.losses.base import CheckedRound
from thalweg.types import Block, FloatArray, LearnerState, Trace

S = TypeVar("S", bound=LearnerState)

KernelCall = Callable[[FloatArray, FloatArray, Any, float, float, bool], float]
"""``call(buffer, x, y, weight, elapsed, learning)``: see ``LiveBuffer``."""

KERNEL_METHODS = {
    "_play", "_play_blocked", "_predict_rows", "has_compiled_run", "live_buffer",
}  # fmt: skip
"""The methods by which a learner is played in kernels instead of by its ``update``."""


class RawState(NamedTuple):
    """A live buffer where thousands are written: what later rounds need, as it lies.

    A file describes each number (persistence/format.py). Here the learner alone knows
    what they are, by ``layout``: ``Learner.state_from_raw``.
    """

    layout: int  # version of the layout of ``numbers``
    features: int  # n, constant ones included
    targets: int  # k; 0: θ is (n,)
    errors: int  # how many are stored, for prediction intervals
    # One axis: those of the state, n ``unexcited_rounds``, the errors, oldest first.
    numbers: FloatArray


class LiveBatch(NamedTuple):
    """Kernels that take many live buffers of one target at once, by their addresses.

    Buffers that are neither called nor freed meanwhile, with their learner's own
    ``call``. Shapes: kernels/rls_live.py.
    """

    layout: int  # version of the layout of numbers, as in ``RawState``
    learn_rows: Any  # (addresses, starts, rows, x, y, weight, elapsed, predictions,
    # learnt): ``call`` of many rows
    measure_states: Any  # (addresses, features, errors, sizes)
    gather_states: Any  # (addresses, starts, numbers, has_nan): ``RawState.numbers``


class LiveBuffer(Protocol):
    """A learner's state in one buffer that single calls change in place.

    ``call(buffer, x, y, weight, elapsed, learning)`` gives the expected y at x (the
    loss's ``mean`` of the learner's prediction) and then, if ``learning``, learns the
    round. It returns ``REFUSAL``, which is NaN (kernels/call_header.py), and changes
    nothing, where a number is not legal, where x has not the length it should have, and
    while ``buffer[0]`` is 0, which a reader of the state sets meanwhile. Nothing checks
    the types: x must be a float64 array of one axis, and y, weight and elapsed floats.

    Where θ is (n, k), y must be a float64 array of k targets, into which predictions
    are written unless ``learning``; what is returned is then 0 or ``REFUSAL``.
    """

    buffer: FloatArray  # all that changes; its header: kernels/call_header.py
    unexcited_rounds: FloatArray  # (n,) rounds since each feature was last not zero
    call: KernelCall
    errors: RecentErrors | None  # None where they are not for prediction intervals

    def copy_state(self) -> Any:
        """A copy of the state as it is now."""

    def last_prediction(self) -> Any:
        """The prediction of the round learnt last; not valid after other calls."""


class Learner(ABC, Generic[S]):
    """Settings of an algorithm. All that changes over time is in its state."""

    accepts: ClassVar[tuple[type[Loss], ...]] = (Loss,)
    """The losses that ``update`` is correct for."""

    records: ClassVar[tuple[str, ...]] = ("theta",)
    """The names that ``run(..., record=...)`` can record in every round."""

    plays_points: ClassVar[bool] = True
    """Whether a round's loss is that of a point θ; else that of a prediction alone."""

    has_own_intercept: ClassVar[bool] = False
    """Whether predictions have a level without a constant feature."""

    advances_on_zero_weight: ClassVar[bool] = False
    """Whether a round of weight zero changes the state: it counts as time passed."""

    max_features: ClassVar[int] = 4096
    """To how many features ``add_features`` may lead. Matrices of them are n² numbers:
    a state of 4,096 takes 134 MB, and its round some 20 ms."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # ``run`` calls the methods without checks. A learner that overrides the public
        # ones, as those made elsewhere do, has these played.
        if "play" in vars(cls):
            cls._point = cls.play  # type: ignore[method-assign]
        if "predict" in vars(cls):
            cls._predict = cls.predict  # type: ignore[method-assign]
        # A kernel that it inherits would play the learner that it was derived from.
        if {"play", "predict", "update"} & vars(cls).keys():
            for name in KERNEL_METHODS - vars(cls).keys():
                setattr(cls, name, getattr(Learner, name))

    @abstractmethod
    def init(self, theta: Any) -> S:
        """The state before the first round, from which ``theta`` is played."""

    def play(self, state: S, x: Any = None) -> FloatArray:
        """The point for this round; ``x`` is known, y is not."""
        self.check_state(state)
        return self._point(state, x)

    def _point(self, state: S, x: Any) -> FloatArray:
        """``play``, for a state that was checked."""
        return state.theta

    def predict(self, state: S, x: Any = None) -> Any:
        """The prediction of y at x before y is seen: x·θ, or θ where there is no x."""
        self.check_state(state)
        if x is not None:
            x = checks.check_features(x, state.theta)
        return self._predict(state, x)

    def _predict(self, state: S, x: Any) -> Any:
        """``predict``, for a state and features that were checked."""
        theta = self._point(state, x)
        if x is None or x.ndim > 1:
            return theta if x is None else x @ theta
        out = np.empty(theta.shape[1:] or 1, theta.dtype)
        dot(x, theta.reshape(len(theta), -1), out)
        return out if theta.ndim > 1 else out[0]

    def predict_rows(self, state: S, x: Any) -> FloatArray:
        """The predictions at the rows x (T, n), all from one state: (T,) or (T, k).

        They are those of T calls of ``predict``, bit by bit.
        """
        self.check_state(state)
        return self._predict_rows(state, checks.check_feature_rows(x, state.theta))

    def _predict_rows(self, state: S, x: FloatArray) -> FloatArray:
        """``predict_rows``, for a state and features that were checked."""
        kind, theta = type(self), state.theta
        if kind._predict is not Learner._predict or kind._point is not Learner._point:
            return np.array([self._predict(state, row) for row in x])
        out = np.empty((len(x), *theta.shape[1:]), theta.dtype)
        dot_rows(x, theta.reshape(len(theta), -1), out.reshape(len(x), -1))
        return out

    @abstractmethod
    def update(self, state: S, f: Round) -> S:
        """The state after a point was played and ``f`` was revealed."""

    def add_features(self, state: S, indices: Sequence[int]) -> S:
        """The state with further features, whose θ is 0.

        ``indices`` are those that they have afterwards, so that ``remove_features`` of
        the same indices undoes it. What was learnt of the others does not change: as
        long as the new features are zero, predictions are as before. The limit of the
        number of features is ``max_features``.
        """
        self.check_state(state)
        change = addition(self, indices, len(state.theta))
        return state if change is None else self._change_features(state, change)

    def remove_features(self, state: S, indices: Sequence[int]) -> S:
        """The state without the features of these indices, as if they were zero from
        now on: what was learnt of the others does not change. The removed features are
        forgotten: features added later, in the same place or another, start from 0.
        """
        self.check_state(state)
        change = removal(self, indices, len(state.theta))
        return state if change is None else self._change_features(state, change)

    def _change_features(self, state: S, change: FeatureChange) -> S:
        """Do the work of ``add_features`` and ``remove_features``."""
        raise InvalidParameterError(
            f"The features of {type(self).__name__} are those it was started with: "
            "none can be added or removed. Got indices instead of none."
        )

    def run(
        self, state: S, loss: Loss, block: Block, record: Sequence[str] = (),
        blocked: bool = False,
    ) -> tuple[S, Trace]:  # fmt: skip
        """Play every round of ``block``, oldest first; ``state`` is left as it was.

        Every round is predicted before it is learnt from: prequential evaluation, also
        known as test-then-train. ``record`` names what the trace records of every round
        besides prediction and loss. Predictions, losses and θ are finite, or the run is
        a ``NonFiniteError``.
        ``blocked`` plays many rounds at a time where the learner can: the same to
        rounding, but no longer to the last bit however a stream is cut.
        """
        self.check_state(state)
        checks.require_argument_type(type(self).__name__, "blocked", blocked, bool)
        self.check_loss(loss)
        record = (record,) if isinstance(record, str) else tuple(record or ())
        for name in record:
            self._check_record(name)
        play = self._play_blocked if blocked else self._play
        rounds = checks.check_block(block, loss, state.theta)
        # Overflows are searched for once, at the end.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            after, trace = play(state, loss, rounds, record)
            limit_losses(trace, rounds)
        require_finite_run(self, after, trace)
        return after, trace

    def check_loss(self, loss: Loss) -> None:
        """Raise ``UnsupportedLossError`` unless this update is right for ``loss``."""
        checks.require_accepted_loss(self, loss)

    def check_state(self, state: S) -> None:
        """Raise ``InvalidParameterError`` unless the state is one of this learner's."""
        check_own_state(self, state)

    def check_round(self, state: S, f: Round) -> Round:
        """The round as ``update`` takes it; raises where it or the state is refused.

        A round that ``run`` or an outer ``update`` has checked is taken as it is.
        """
        if type(f) is CheckedRound:
            return f
        self.check_state(state)
        checks.require_argument_type(type(self).__name__, "f", f, Round)
        self.check_loss(f.loss)
        return check_round(f, state.theta)

    def _check_record(self, name: str) -> None:
        if name not in self.records:
            raise InvalidParameterError(
                f"{type(self).__name__} can record {', '.join(self.records)}. "
                f"Got {name!r} instead."
            )

    def _play(
        self, state: S, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[S, Trace]:
        """Do the work of ``run``. Override to call a kernel; the result must agree."""
        predictions, losses = [], np.empty(len(block), state.theta.dtype)
        records: dict[str, list[Any]] = {name: [] for name in record}
        for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
            f = CheckedRound(loss, x, y, weight, elapsed)
            predictions.append(self._predict(state, x))
            losses[t] = self._round_loss(state, f, predictions[-1])
            for name, values in records.items():
                values.append(self.record(state, name))
            try:
                state = self.update(state, f)
            except np.linalg.LinAlgError as error:
                raise unsolvable_round(self, t, error) from None
        extras = {name: np.array(values) for name, values in records.items()}
        theta = extras.pop("theta", None)
        return state, Trace(np.array(predictions), losses, theta, extras)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        """Whether ``run`` plays this loss in a kernel, not by one ``update`` a round.

        ``theta`` is any point of the state's shape and dtype.
        """
        return False

    def _play_blocked(
        self, state: S, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[S, Trace]:
        """Do the work of ``run(..., blocked=True)``. Override where it is faster."""
        raise InvalidParameterError(
            f"The 'blocked' parameter must be False for {type(self).__name__}, which "
            f"plays round by round. Got True instead."
        )

    def live_buffer(
        self, state: S, loss: Loss, constant_features: int
    ) -> LiveBuffer | None:
        """The state in a buffer that single calls change in place, or None.

        Its predictions and updates are those of ``run``, bit by bit. The last
        ``constant_features`` features are constants 1 that the caller leaves out of x.
        """
        return None

    raw_layout: ClassVar[int | None] = None
    """``RawState.layout`` of what live buffers give; None: they give none."""

    def state_from_raw(self, raw: RawState) -> S | None:
        """The state from its raw numbers; None where they are not of this learner.

        Nothing is computed from them, since they have not been checked yet:
        ``complete_state``.
        """
        return None

    def complete_state(self, state: S) -> S:
        """A state made by ``state_from_raw`` and found legal, as ``run`` leaves it."""
        return state

    def record(self, state: S, name: str) -> Any:
        """The part of the state that ``run(..., record=...)`` calls ``name``."""
        self._check_record(name)
        self.check_state(state)
        return getattr(state, name)

    def _round_loss(self, state: S, f: Round, prediction: Any) -> float:
        """The weighted loss of the round: that of the point, or of the prediction."""
        if self.plays_points:
            return f.value(self._point(state, f.x))
        predictions, labels = np.asarray(prediction)[None], np.asarray(f.y)[None]
        return f.weight * float(f.loss.prediction_loss(predictions, labels)[0])


def check_round(f: Round, theta: FloatArray) -> CheckedRound:
    """The round for a state of this θ; raises ``StreamError`` where it is refused.

    The rules are those of ``checks.check_block``, which decides in doubt: ordinary
    rounds are recognised in a fraction of its time.
    """
    if _is_ordinary(f, theta):
        return CheckedRound._make(f)
    x = None if f.x is None else checks.check_numbers("features", f.x)[None]
    y = checks.check_numbers("target", f.y)[None]
    block = checks.check_block(Block(x, y, [f.weight], [f.elapsed]), f.loss, theta)
    row = None if block.x is None else block.x[0]
    return CheckedRound(f.loss, row, block.y[0], float(f.weight), float(f.elapsed))


def _is_ordinary(f: Round, theta: FloatArray) -> bool:
    """Whether all is plainly legal; False where that takes a closer look."""
    loss, x, y, weight, elapsed = f
    is_plain = (
        type(x) is np.ndarray
        and x.dtype == theta.dtype
        and isinstance(y, float)
        and type(weight) is float
        and type(elapsed) is float
        and type(loss).check_rounds is Loss.check_rounds
    )
    if not is_plain or loss.shapes(theta) != (x.shape, ()):
        return False
    largest = checks.MAX_MAGNITUDE[theta.dtype]
    are_rates = 0 <= weight <= 1 and 0 <= elapsed <= largest
    return are_rates and abs(y) <= largest and checks.is_legal(x)
