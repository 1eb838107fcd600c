"""Rounds with gaps: filled, predicted, and learnt from or not."""

import copy
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels import call_header
from thalweg.learners import Learner
from thalweg.losses import Loss
from thalweg.models.missing import Filling, without_gaps
from thalweg.types import Block, FloatArray, Trace


class Run(NamedTuple):
    """What a run with gaps comes to."""

    state: Any
    trace: Trace
    block: Block  # without gaps
    filling: Filling  # after these rounds


class Noting(NamedTuple):
    """A kernel, and beside it the means for gaps: for rounds that have none.

    The kernel refuses a NaN, and so does this.
    """

    call: Any
    filling: Filling
    counts_gaps: bool  # whether the learner was told how long it has waited
    lock: threading.RLock

    def learn(
        self, memory: FloatArray, x: FloatArray, y: float, weight: float,
        elapsed: float, learning: bool,
    ) -> float:  # fmt: skip
        """``call``, and note what it has learnt."""
        with self.lock:  # the two are one
            waited = 0.0 if self.counts_gaps else self.filling.waited
            said: float = self.call(memory, x, y, weight, waited + elapsed, learning)
            if said == said:
                n = int(memory[call_header.N])
                first = call_header.HEADER_SIZE
                self.filling.note(memory[first : first + n])
            return said


def run_filled(
    learner: Learner[Any], state: Any, loss: Loss, block: Block, filling: Filling,
    record: Sequence[str], blocked: bool,
) -> Run:  # fmt: skip
    """``learner.run`` on rounds with gaps; the ``filling`` given stays as it is."""
    if blocked:
        raise InvalidParameterError(
            f"The 'blocked' parameter must be False where missing is "
            f"{filling.policy!r}. Got True instead."
        )
    checks.playable(without_gaps(block), loss, state.theta)
    filling = copy.deepcopy(filling)
    filled, skipped = filling.fill(block)
    if learner.counts_gaps:
        filled = _unlearnt(filled, skipped, block)
        state, trace = learner.run(state, loss, filled, record)
    else:
        state, trace = _run_cut(learner, state, loss, filled, skipped, record)
    return Run(state, trace, filled, filling)


def _run_cut(
    learner: Learner[Any], state: Any, loss: Loss, block: Block, skipped: Any,
    record: Sequence[str],
) -> tuple[Any, Trace]:  # fmt: skip
    """``learner.run``, but a skipped round leaves the state as it was and costs 0."""
    edges = [0, *(np.flatnonzero(np.diff(skipped)) + 1).tolist(), len(block)]
    traces = []
    for start, end in zip(edges, edges[1:], strict=False):
        part = block[start:end]
        if skipped[start]:
            # One round, only to see what there is to record.
            _, seen = learner.run(state, loss, part[:1], record)
            trace = _asked(learner, state, part, seen)
        else:
            state, trace = learner.run(state, loss, part, record)
        traces.append(trace)
    return state, _joined(traces)


def _unlearnt(filled: Block, skipped: Any, given: Block) -> Block:
    """The rounds as given, of no weight where skipped: for who sees them pass."""
    weight = np.ones(len(given)) if given.weight is None else given.weight
    return Block(filled.x, filled.y, np.where(skipped, 0.0, weight), given.elapsed)


def _asked(learner: Learner[Any], state: Any, block: Block, seen: Trace) -> Trace:
    """What the state says of each round by itself, at no loss."""
    said = [learner.predict(state, x) for x in np.asarray(block.x, state.theta.dtype)]
    stood = {
        name: np.repeat(kept[:1], len(block), 0) for name, kept in seen.extras.items()
    }
    theta = None if seen.theta is None else np.repeat(seen.theta[:1], len(block), 0)
    return Trace(np.array(said), np.zeros(len(block), seen.loss.dtype), theta, stood)


def _joined(traces: list[Trace]) -> Trace:
    def join(parts: list[FloatArray]) -> FloatArray:
        return np.concatenate(parts)

    theta = None
    if traces[0].theta is not None:
        theta = join([trace.theta for trace in traces if trace.theta is not None])
    extras = {
        name: join([trace.extras[name] for trace in traces])
        for name in traces[0].extras
    }
    predictions, losses = zip(*((t.prediction, t.loss) for t in traces), strict=True)
    return Trace(join(list(predictions)), join(list(losses)), theta, extras)
