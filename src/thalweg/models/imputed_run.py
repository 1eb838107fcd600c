"""Runs and single calls of a model over rows with missing values."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.imputer import (
    Imputer,
    ImputerState,
    add_elapsed,
    learning_weights,
    without_missing,
)
from thalweg.kernels import call_header
from thalweg.learners import Learner
from thalweg.learners.base import LiveBuffer
from thalweg.losses import Loss
from thalweg.models.model_lock import ModelLock
from thalweg.types import Block, FloatArray, Trace


class ImputedRun(NamedTuple):
    """The result of a run over rows with missing values."""

    state: Any  # of the learner
    trace: Trace
    block: Block  # the rows as they were learnt, without missing values
    imputer: Imputer  # after these rows
    learnable: npt.NDArray[np.bool_]  # (T,) whether each row was learnt


class ImputerCall:
    """A learner's kernel for single calls that keeps the imputer's means in step.

    It is for rows without missing values: the kernel refuses NaN, and so does this.
    Kernel and imputer change one after the other. An interrupt may come in between: so
    the next means are noted before the kernel is called, and a reader of the means
    calls ``settle`` first, which sees by the buffer's count whether the row was learnt.
    """

    def __init__(
        self, live: LiveBuffer, imputer: Imputer, advances: bool, lock: ModelLock
    ) -> None:
        self._call, self._buffer, self._imputer = live.call, live.buffer, imputer
        # Whether the learner has seen the skipped rows pass.
        self._advances, self._lock = advances, lock
        # Constant features, and how many others there are.
        self._ones = np.ones(int(live.buffer[call_header.N]))
        self._n_given = int(live.buffer[call_header.N_GIVEN])
        # Of the row that is about to be learnt: the rounds in the buffer and the state
        # of the imputer before it, and its features.
        self._step: tuple[float, ImputerState, FloatArray] | None = None

    def learn(
        self, buffer: FloatArray, x: FloatArray, y: float, weight: float,
        elapsed: float, learning: bool,
    ) -> float:  # fmt: skip
        """Call the kernel, and take what it has learnt into the means."""
        frame = sys._getframe()
        try:
            if self._lock.acquire(frame):  # in the middle of another call
                return call_header.REFUSAL
            return self.learn_alone(buffer, x, y, weight, elapsed, learning)
        finally:
            self._lock.release(frame)
            del frame  # a cycle, which would keep x until garbage is collected

    def learn_alone(
        self, buffer: FloatArray, x: FloatArray, y: float, weight: float,
        elapsed: float, learning: bool,
    ) -> float:  # fmt: skip
        """``learn``, for a caller who holds the lock or is the only one to know it."""
        if x.size != self._n_given:
            return call_header.REFUSAL
        if self._step is not None:
            self.settle()
        row, before = self._ones.copy(), self._imputer.state
        row[: self._n_given] = x
        if before.waited and not self._advances:
            elapsed = add_elapsed(before.waited, elapsed)
        self._step = (buffer[call_header.COUNT], before, row)
        prediction: float = self._call(buffer, x, y, weight, elapsed, learning)
        if prediction == prediction:
            self._imputer.state = before.after_row(row, self._ones)
        self._step = None
        return prediction

    def settle(self) -> None:
        """Take the last row into the means, if it was learnt and is not in them."""
        if self._step is not None:
            rounds, before, row = self._step
            if self._buffer[call_header.COUNT] > rounds:
                self._imputer.state = before.after_row(row, self._ones)
            self._step = None


def run_with_missing(
    learner: Learner[Any], state: Any, loss: Loss, block: Block, imputer: Imputer,
    record: Sequence[str], blocked: bool,
) -> ImputedRun:  # fmt: skip
    """``learner.run`` over rows with missing values; ``imputer`` is left as it was."""
    if blocked:
        raise InvalidParameterError(
            f"The 'blocked' parameter must be False where missing is "
            f"{imputer.policy!r}. Got True instead."
        )
    checks.check_block(without_missing(block), loss, state.theta)
    imputer = imputer.copy()
    imputed, learnable = imputer.impute_block(block)
    if learner.advances_on_zero_weight:
        imputed = _with_weights(imputed, learnable, block)
        state, trace = learner.run(state, loss, imputed, record)
        trace = replace(trace, loss=np.where(learnable, trace.loss, 0.0))
    else:
        state, trace = _run_learnable(learner, state, loss, imputed, learnable, record)
    return ImputedRun(state, trace, imputed, imputer, learnable)


def _run_learnable(
    learner: Learner[Any], state: Any, loss: Loss, block: Block, learnable: Any,
    record: Sequence[str],
) -> tuple[Any, Trace]:  # fmt: skip
    """``learner.run``, where a skipped row leaves the state as it was and costs 0."""
    edges = [0, *(np.flatnonzero(np.diff(learnable)) + 1).tolist(), len(block)]
    traces = []
    for start, end in zip(edges, edges[1:], strict=False):
        rows = block[start:end]
        if learnable[start]:
            state, trace = learner.run(state, loss, rows, record)
        else:
            # One row is run, and its state dropped, only to see what is recorded.
            _, first = learner.run(state, loss, rows[:1], record)
            trace = _predict_rows(learner, state, rows, first)
        traces.append(trace)
    return state, _concatenate(traces)


def _with_weights(imputed: Block, learnable: Any, given: Block) -> Block:
    """A tiny weight for skipped rows, for learners that advance on such rows.

    These learners get the rows' own times, which ``impute_block`` has moved.
    """
    weight = np.ones(len(given)) if given.weight is None else given.weight
    weight = weight * learning_weights(learnable, np.asarray(given.y, np.float64))
    return Block(imputed.x, imputed.y, weight, given.elapsed)


def _predict_rows(
    learner: Learner[Any], state: Any, block: Block, first: Trace
) -> Trace:
    """Predictions of each row from one state, at no loss; all else as in ``first``."""
    rows, count = np.asarray(block.x, state.theta.dtype), len(block)
    predictions = np.array([learner.predict(state, x) for x in rows])
    extras = {
        name: np.repeat(values[:1], count, 0) for name, values in first.extras.items()
    }
    theta = None if first.theta is None else np.repeat(first.theta[:1], count, 0)
    return Trace(predictions, np.zeros(count, first.loss.dtype), theta, extras)


def _concatenate(traces: list[Trace]) -> Trace:
    theta = None
    if traces[0].theta is not None:
        points = [trace.theta for trace in traces if trace.theta is not None]
        theta = np.concatenate(points)
    extras = {
        name: np.concatenate([trace.extras[name] for trace in traces])
        for name in traces[0].extras
    }
    predictions, losses = zip(*((t.prediction, t.loss) for t in traces), strict=True)
    return Trace(np.concatenate(predictions), np.concatenate(losses), theta, extras)
