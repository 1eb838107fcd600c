"""A run in which some rounds are predicted, and not seen from."""

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


def unlearnt(filled: Block, skipped: Any, given: Block) -> Block:
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
