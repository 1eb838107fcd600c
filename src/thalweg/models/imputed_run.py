"""Runs and single calls of a model over rows with missing values."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels import call_header
from thalweg.learners import Learner
from thalweg.losses import Loss
from thalweg.preprocessing.imputer import Imputer, without_missing
from thalweg.types import Block, FloatArray, Trace


class ImputedRun(NamedTuple):
    """The result of a run over rows with missing values."""

    state: Any  # of the learner
    trace: Trace
    block: Block  # the rows as they were learnt, without missing values
    imputer: Imputer  # after these rows


class ImputerCall(NamedTuple):
    """A learner's kernel for single calls that keeps the imputer's means in step.

    It is for rows without missing values: the kernel refuses NaN, and so does this.
    """

    call: Any  # the kernel: see learners/base.py
    imputer: Imputer
    advances_on_zero_weight: bool  # whether the learner has seen the skipped rows pass
    lock: threading.RLock

    def learn(
        self, buffer: FloatArray, x: FloatArray, y: float, weight: float,
        elapsed: float, learning: bool,
    ) -> float:  # fmt: skip
        """Call the kernel, and take what it has learnt into the means."""
        with self.lock:  # kernel and imputer change together
            waited = 0.0 if self.advances_on_zero_weight else self.imputer.state.waited
            prediction: float = self.call(
                buffer, x, y, weight, waited + elapsed, learning
            )
            if prediction == prediction:
                n = int(buffer[call_header.N])
                first = call_header.HEADER_SIZE
                self.imputer.observe(buffer[first : first + n])
            return prediction


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
        imputed = _weightless(imputed, learnable, block)
        state, trace = learner.run(state, loss, imputed, record)
    else:
        state, trace = _run_learnable(learner, state, loss, imputed, learnable, record)
    return ImputedRun(state, trace, imputed, imputer)


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


def _weightless(imputed: Block, learnable: Any, given: Block) -> Block:
    """Weight 0 for skipped rows, for learners that see such rows pass.

    These learners get the rows' own times, which ``impute_block`` has moved.
    """
    weight = np.ones(len(given)) if given.weight is None else given.weight
    return Block(imputed.x, imputed.y, np.where(learnable, weight, 0.0), given.elapsed)


def _predict_rows(
    learner: Learner[Any], state: Any, block: Block, first: Trace
) -> Trace:  # fmt: skip
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
