"""A run in which some rounds are predicted, and not learnt from."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.learners import Learner
from thalweg.losses import Loss
from thalweg.types import Block, FloatArray, Trace


def run_with_gaps(
    learner: Learner[Any], state: Any, loss: Loss, block: Block, skipped: Any,
    record: Sequence[str],
) -> tuple[Any, Trace]:  # fmt: skip
    """As ``learner.run``, but a skipped round leaves the state as it was and costs 0.

    The time it took is added to that of the next round that is learnt.
    """
    block = _with_time(block, skipped)
    edges = [0, *(np.flatnonzero(np.diff(skipped)) + 1).tolist(), len(block)]
    traces = []
    for start, end in zip(edges, edges[1:], strict=False):
        before = state
        state, trace = learner.run(state, loss, block[start:end], record)
        if skipped[start]:
            trace = _asked(learner, before, block[start:end], trace)
            state = before
        traces.append(trace)
    return state, _joined(traces)


def _asked(learner: Learner[Any], state: Any, block: Block, learnt: Trace) -> Trace:
    """What the state says of each round by itself, at no loss."""
    said = [learner.predict(state, x) for x in np.asarray(block.x, state.theta.dtype)]
    stood = {
        name: np.repeat(kept[:1], len(block), 0) for name, kept in learnt.extras.items()
    }
    theta = None if learnt.theta is None else np.repeat(learnt.theta[:1], len(block), 0)
    return Trace(np.array(said), np.zeros_like(learnt.loss), theta, stood)


def _with_time(block: Block, skipped: Any) -> Block:
    elapsed = np.ones(len(block)) if block.elapsed is None else np.array(block.elapsed)
    waited = 0.0
    for t in range(len(block)):
        if skipped[t]:
            waited += elapsed[t]
        else:
            elapsed[t], waited = elapsed[t] + waited, 0.0
    return Block(block.x, block.y, block.weight, elapsed)


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
