"""All that changes in a model, in the form that single calls change in place."""

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.errors import ThalwegError
from thalweg.imputer import Imputer, ImputerState, MissingPolicy
from thalweg.kernels import call_header
from thalweg.learners import Learner
from thalweg.learners.base import LiveBuffer
from thalweg.learners.tracker.pending_ring import PendingRing
from thalweg.losses import LinearLoss
from thalweg.models.clock import ClockState
from thalweg.models.imputed_run import ImputerCall
from thalweg.models.model_lock import ModelLock
from thalweg.models.waiting_rows import (
    WaitingRows,
    WaitingRowsState,
    restore_waiting_rows,
)
from thalweg.types import FloatArray

if TYPE_CHECKING:
    from thalweg.models.columns import Columns

RECENT_ROWS = 100
"""Limit of the recent rows that are read, to find features that were not zero: nearly
always these are enough."""
NO_BUFFER = np.zeros(call_header.HEADER_SIZE)
"""A buffer that is closed and never opened, for learners without a kernel."""


def refuse_call(*given: Any) -> float:
    """The kernel of a learner that has none."""
    return call_header.REFUSAL


class ModelSettings(NamedTuple):
    """The settings of its model that a live state needs; they never change."""

    learner: Learner[Any]
    loss: LinearLoss
    intercept: bool
    missing: MissingPolicy
    start: FloatArray | None = None  # θ of the first round; None: zeros
    max_waiting: int = 1024  # rows that may wait for their labels, beyond a delay


class ModelSnapshot(NamedTuple):
    """All that changes in a model, as it is at one moment."""

    state: Any = None  # of the learner; None before the first round
    rounds: int = 0  # learnt, or skipped by policy
    unexcited_rounds: Any = 0.0  # (n,) rounds since each feature was last not zero
    imputer: ImputerState | None = None  # None where missing values are refused
    # (m, k) the last errors, oldest first; None where none are known, or stored
    errors: FloatArray | None = None
    columns: "Columns | None" = None  # None where features have no names
    clock: ClockState = ClockState()
    # Rows that wait for their labels, shared with the live state; or as files have them
    waiting: WaitingRows | WaitingRowsState | None = None


def copy_mapped_arrays(part: Any) -> Any:
    """A snapshot, or a part of one, with all arrays in memory and writable.

    joblib unpickles arrays as read-only maps of a file, which kernels do not take.
    """
    if isinstance(part, np.ndarray):
        return part if type(part) is np.ndarray else np.array(part)
    if not isinstance(part, tuple):
        return part
    parts = map(copy_mapped_arrays, part)
    return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)


class LiveState:
    """A model's state while it is called; a new one follows the first round and a run.

    ``predict`` and ``learn`` are the learner's kernel where it has one for single
    calls, else a function that always refuses; ``learn_alone`` is for a state that no
    other thread knows yet. While the state is suspended the kernel refuses too, so that
    readers see only whole rounds; single calls of other threads then take the checked
    path, and wait for the model's lock.

    These are for one target a round. A kernel for ``targets`` of them is called by
    ``predict_targets`` and ``learn_targets``.
    """

    __slots__ = (
        "_errors", "_imputer", "_imputer_call", "_intercept", "_learn_suspended",
        "_learn_targets", "_live", "_rounds", "_state", "_unexcited_rounds", "buffer",
        "clock", "columns", "learn", "learn_alone", "predict", "targets", "waiting",
    )  # fmt: skip

    def __init__(
        self, settings: ModelSettings, snapshot: ModelSnapshot, lock: ModelLock
    ) -> None:
        learner, loss, intercept, missing = settings[:4]
        self._intercept = int(intercept)
        self._state, self._rounds = snapshot.state, snapshot.rounds
        self._unexcited_rounds, imputer = snapshot.unexcited_rounds, snapshot.imputer
        errors = self._errors = snapshot.errors
        self.columns, self.clock = snapshot.columns, snapshot.clock
        self.waiting = _waiting_rows(learner, snapshot.waiting)
        self._imputer = None if imputer is None else Imputer(missing, imputer)
        self._imputer_call: ImputerCall | None = None
        self.buffer: FloatArray = NO_BUFFER
        self.predict: Any = refuse_call
        self.learn: Any = refuse_call
        self.learn_alone: Any = refuse_call
        self._learn_targets: Any = refuse_call
        self._learn_suspended: Any = refuse_call
        self.targets = 0  # how many there are; 0 where y is a number, or no kernel
        self._live: LiveBuffer | None = None
        if snapshot.state is not None:
            self._live = learner.live_buffer(snapshot.state, loss, int(intercept))
        if self._live is not None:
            self._state = None  # the live buffer holds it
            self._live.unexcited_rounds[:] = snapshot.unexcited_rounds
            if self._live.errors is not None and errors is not None:
                self._live.errors.fill(errors)
            self.buffer = self._live.buffer
            predict = learn = learn_alone = self._live.call
            if self._imputer is not None:
                advances = learner.advances_on_zero_weight
                call = ImputerCall(self._live, self._imputer, advances, lock)
                self._imputer_call = call
                learn, learn_alone = call.learn, call.learn_alone
            self._learn_suspended = learn_alone
            self.targets = sum(snapshot.state.theta.shape[1:])
            if self.targets:
                self._learn_targets = learn
            else:
                self.predict, self.learn, self.learn_alone = predict, learn, learn_alone
        if self.waiting.line:
            self.refuse_updates()

    def refuse_updates(self) -> None:
        """Let single updates take the checked path: rows wait in the learner's ring."""
        self.learn = self._learn_targets = refuse_call

    def predict_targets(self, x: FloatArray) -> FloatArray | None:
        """The predictions of several targets, (k,); None where the kernel refuses."""
        live = self._live
        if live is None or not self.targets:
            return None
        predictions = np.empty(self.targets)
        status = live.call(self.buffer, x, predictions, 1.0, 1.0, False)
        return predictions if status == status else None

    def learn_targets(
        self, x: FloatArray, y: Any, weight: float, elapsed: float
    ) -> bool:
        """Learn a round of several targets; False where the kernel refuses."""
        is_row = type(y) is np.ndarray and y.dtype == np.float64 and y.ndim == 1
        if not (self.targets and is_row):
            return False
        try:
            status = self._learn_targets(self.buffer, x, y, weight, elapsed, True)
        except (TypeError, OverflowError):  # an int beyond float64
            return False
        return bool(status == status)

    def predict_suspended(self, x: FloatArray) -> Any:
        """``Online.predict`` while suspended; None where the kernel refuses."""
        is_open = self.buffer[call_header.IS_OPEN]
        self.resume()
        try:
            if self.targets:
                return self.predict_targets(x)
            prediction = self.predict(self.buffer, x, 0.0, 1.0, 1.0, False)
        finally:
            self.buffer[call_header.IS_OPEN] = is_open
        return prediction if prediction == prediction else None

    def learn_suspended(
        self, x: FloatArray, y: Any, weight: float, elapsed: float
    ) -> bool:
        """Learn a round while suspended; False where the kernel refuses.

        y is a float, or a float64 array of one axis.
        """
        if (type(y) is float) == (self.targets > 0):
            return False
        is_open = self.buffer[call_header.IS_OPEN]
        self.resume()
        try:
            status = self._learn_suspended(self.buffer, x, y, weight, elapsed, True)
        except (TypeError, OverflowError):  # no number, or an int beyond float64
            return False
        finally:
            self.buffer[call_header.IS_OPEN] = is_open
        return bool(status == status)

    def set_pending_label(self, age: int, y: Any, weight: float) -> None:
        """Set the label of a round that waits for it in a Tracker with a delay.

        It was played ``age`` rounds before the last one.
        """
        if self._live is None:
            packed = self._state.packed.copy()
            self._state = self._state._replace(packed=packed)
            n = len(self._state.theta)
            rings = [PendingRing(own, n) for own in np.atleast_2d(packed)]
        else:
            rings = self._live.pending_rings  # type: ignore[attr-defined]
        for ring, label in zip(rings, np.atleast_1d(y), strict=True):
            ring.set_label(age, label, weight)

    @property
    def imputer(self) -> Imputer | None:
        """The imputer, which completes rows; to be read while suspended."""
        if self._imputer_call is not None:
            self._imputer_call.settle()
        return self._imputer

    def suspend(self) -> None:
        """Let the kernel refuse every call."""
        self.buffer[call_header.IS_OPEN] = 0

    def resume(self) -> None:
        """Let the kernel take calls again."""
        if self._live is not None:
            self.buffer[call_header.IS_OPEN] = 1

    def batch_buffer(self) -> Any:
        """The live buffer, if all that changes is in it and its learner has kernels for
        many buffers (``LiveBatch``); else None.
        """
        live = self._live
        is_all = (
            live is not None
            and self.learn is live.call  # no imputer, no row that waits
            and self.columns is None
            and self.clock == ClockState()
        )
        return live if is_all and getattr(live, "batch", None) is not None else None

    def live_buffer(self) -> LiveBuffer | None:
        """The learner's kernel and the buffer that it changes, if it has one."""
        return self._live

    def copy_state(self) -> Any:
        """The learner's state, a copy where it is live; to be read while suspended."""
        return self._state if self._live is None else self._live.copy_state()

    def copy_unexcited_rounds(self) -> Any:
        """(n,) rounds since each feature was last not zero; 0.0 before the first."""
        return (
            self._unexcited_rounds
            if self._live is None
            else self._live.unexcited_rounds + 0.0
        )

    def copy_errors(self) -> FloatArray | None:
        """(m, k) the last errors, oldest first; None where none are known."""
        if self._live is None or self._live.errors is None:
            return self._errors
        errors = self._live.errors.copy()
        return errors if len(errors) else None

    def count_rounds(self) -> int:
        """The number of rounds learnt, or skipped by policy."""
        return self._rounds + int(self.buffer[call_header.COUNT])

    def count_features(self) -> int | None:
        """The number of features, including a constant one; None: not known."""
        if self._live is not None:
            return int(self.buffer[call_header.N])
        return None if self._state is None else len(self._state.theta)

    def count_given_features(self) -> int | None:
        """The number of features in a row, without a constant one; None: not known."""
        features = self.count_features()
        return None if features is None else features - self._intercept

    def snapshot(self) -> ModelSnapshot:
        """The arguments of a live state that continues from here."""
        imputer = self.imputer
        return ModelSnapshot(
            self.copy_state(),
            self.count_rounds(),
            self.copy_unexcited_rounds(),
            None if imputer is None else imputer.state,
            self.copy_errors(),
            self.columns,
            self.clock,
            self.settled_waiting(),
        )

    def frozen_snapshot(self) -> ModelSnapshot:
        """``snapshot``, by itself: what comes later does not change it."""
        snapshot = self.snapshot()
        waiting = self.waiting.snapshot() if self.waiting.count_asked() else None
        return snapshot._replace(waiting=waiting)

    def settled_waiting(self) -> WaitingRows:
        """The rows that wait for their labels; to be read while suspended."""
        if self.waiting.change is not None:  # an interrupt ended an earlier call
            self.waiting.settle(self.count_rounds())
        return self.waiting

    def unexcited_rounds_after(self, x: FloatArray) -> FloatArray:
        """The count of each feature's unexcited rounds after the rows x (T, n)."""
        for rows in (x[-RECENT_ROWS:], x):
            excited = rows != 0
            if excited.any(axis=0).all():
                return np.asarray(excited[::-1].argmax(axis=0), np.float64)
        since, ever = excited[::-1].argmax(axis=0), excited.any(axis=0)
        before = self.copy_unexcited_rounds() + len(x)
        return np.asarray(np.where(ever, since, before), np.float64)


def _waiting_rows(
    learner: Learner[Any], waiting: WaitingRows | WaitingRowsState | None
) -> WaitingRows:
    if isinstance(waiting, WaitingRows):
        return waiting
    delay = int(getattr(learner, "delay", 0))
    return (
        WaitingRows(delay) if waiting is None else restore_waiting_rows(waiting, delay)
    )


class Suspension:
    """One call that has a model's live state for itself; it counts refusals meanwhile.

    An interrupt may end it anywhere, in ``__enter__`` and ``__exit__`` too, and needs
    no undoing: the lock is then free (``ModelLock``), and a live state that was left
    suspended refuses single calls until the next of them, on its checked path, has
    suspended and resumed it.
    """

    __slots__ = ("_is_nested", "_live", "_model", "_to_learn")
    _live: LiveState

    def __init__(self, model: Any, to_learn: bool) -> None:
        self._model, self._to_learn = model, to_learn

    def __enter__(self) -> LiveState:
        model, frame = self._model, sys._getframe(1)
        self._is_nested = model._lock.acquire(frame)
        if self._is_nested and self._to_learn:
            model.refusals += 1
            model._lock.release(frame)
            raise ThalwegError(
                "Online cannot learn a round while it is in the middle of another "
                "call: a signal handler or an argument has called it."
            )
        self._live = model._live
        self._live.suspend()
        return self._live

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        model = self._model
        if kind is not None and issubclass(kind, ThalwegError):
            model.refusals += 1
        # A run has replaced the live state; an outer call still needs it suspended.
        if self._live is model._live and not self._is_nested:
            self._live.resume()
        model._lock.release(sys._getframe(1))
