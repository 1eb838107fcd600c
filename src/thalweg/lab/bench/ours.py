"""thalweg as a contender: the calls that a person types."""

from typing import Any

import numpy as np

from thalweg.lab.bench.contender import Contender, Play, Prepare, Wrap
from thalweg.lab.bench.stream import Stream
from thalweg.learners import Learner, RecursiveLeastSquares, Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block, FloatArray

CALL, RUN, LEARNER = "thalweg predict + update", "thalweg run", "thalweg learner.run"
TRACKER_CALL, TRACKER_RUN = "Tracker predict + update", "Tracker run"


def single(wrap: Wrap) -> Contender:
    """One call a round."""

    def prepare(stream: Stream, discount: float, ridge: float) -> Play:
        return calls(wrap, RecursiveLeastSquares(discount, ridge), stream)

    return Contender(CALL, prepare)


def whole(wrap: Wrap) -> tuple[Contender, ...]:
    """Whole arrays: through the model, and through the bare learner."""

    def by_model(stream: Stream, discount: float, ridge: float) -> Play:
        return run(wrap, RecursiveLeastSquares(discount, ridge), stream)

    def by_learner(stream: Stream, discount: float, ridge: float) -> Play:
        return bare(RecursiveLeastSquares(discount, ridge), stream)

    return Contender(RUN, by_model), Contender(LEARNER, by_learner)


def tracker(wrap: Wrap) -> tuple[Contender, ...]:
    """The default learner, both ways."""

    def by_call(stream: Stream, discount: float, ridge: float) -> Play:
        return calls(wrap, Tracker(), stream)

    def by_run(stream: Stream, discount: float, ridge: float) -> Play:
        return run(wrap, Tracker(), stream)

    both: tuple[tuple[str, Prepare], ...] = (
        (TRACKER_RUN, by_run),
        (TRACKER_CALL, by_call),
    )
    return tuple(Contender(name, prepare, same=False) for name, prepare in both)


def calls(wrap: Wrap, learner: Learner[Any], stream: Stream) -> Play:
    """predict, then update."""
    rows, targets = list(stream.x), stream.y.tolist()

    def play() -> FloatArray:
        out, model = np.empty(len(rows)), wrap(learner)
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = model.predict(row)
            model.update(row, y)
        return out

    return play


def run(wrap: Wrap, learner: Learner[Any], stream: Stream) -> Play:
    """One call for all rounds."""
    return lambda: wrap(learner).run(stream.x, stream.y).prediction


def bare(learner: Learner[Any], stream: Stream, **how: Any) -> Play:
    """The same without the model around it; ``how`` goes to ``run``."""
    block, loss = Block(stream.x, stream.y), SquaredError()
    start = learner.init(np.zeros(stream.x.shape[1]))
    return lambda: learner.run(start, loss, block, **how)[1].prediction
