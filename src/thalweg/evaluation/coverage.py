"""How often the Tracker's intervals hold the label."""

import numpy as np

from thalweg.evaluation.contestants import LOSS
from thalweg.learners.tracker import Tracker
from thalweg.types import Block, FloatArray

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def coverages(
    block: Block, scored: FloatArray, delay: int
) -> tuple[tuple[float, float], ...]:
    """Pairs of what intervals promise and how often they held the label.

    In those of the ``scored`` rounds, whose labels are not NaN, that have an interval:
    one without a width is none, as no error has been seen yet.
    """
    found, y = [], np.asarray(block.y)
    for level in LEVELS:
        tracker = Tracker(coverage=level, delay=delay)
        start = tracker.init(np.zeros(np.shape(block.x)[1]))
        _, trace = tracker.run(start, LOSS, block, ("interval",))
        low, high = trace.extras["interval"].T
        told = (low < high) & ~np.isnan(scored)
        if told.any():
            held = (low <= y) & (y <= high)
            found.append((level, float(held[told].mean())))
    return tuple(found)
