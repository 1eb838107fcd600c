"""Delayed labels: a queue of rows that were predicted and whose labels are to come.

Also known as: delayed feedback, verification latency, River's
``progressive_val_score(..., delay=d)``.
"""

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.rules import Array
from thalweg.types import FloatArray


class DelayedLabelsState(NamedTuple):
    """The rows that wait for their labels, oldest first.

    In a file they are those of ``columns`` numbers after some ``rounds``.
    """

    # (w, n)
    x: Annotated[FloatArray, Array(("min(rounds, delay)", "columns"), may_be_nan=True)]
    # (w,) NaN where no label will come
    y: Annotated[FloatArray, Array(("len(x)",), may_be_nan=True)]
    # (w,) 0 where the row is not to be learnt from
    weight: Annotated[FloatArray, Array(("len(x)",), may_be_nan=True)]
    elapsed: Annotated[
        FloatArray, Array(("len(x)",))
    ]  # (w,) time since the row before it


class DueLabels(NamedTuple):
    """The row whose label becomes known after each of T predictions."""

    x: FloatArray  # (T, n) 0 where no row is due
    y: FloatArray  # (T,) NaN where no row is due or no label came
    weight: FloatArray  # (T,) 0 where no row is due
    elapsed: FloatArray  # (T,) 0 where no row is due
    learnable: npt.NDArray[np.bool_]  # (T,) whether there is a label with a weight


class DelayedLabels:
    """Maps rows to be predicted to the rows whose labels become known after each.

    Round t asks for a prediction at row t, which is made from what was learnt so far;
    then the label of row t - ``delay`` becomes known, and that row is *due*. With a
    delay of 0 each row is due right after its own prediction. A row whose label is
    missing is due as well, in its turn: nothing is learnt from it, but time passes.

    The result does not depend on how the rows are cut into calls of ``push``. The
    compiled ring behind ``Tracker(delay=d)`` is tested to be equal to this queue, as is
    what a model does with rows that wait by key (models/waiting_rows.py).

    ``state`` is all that changes, and is never changed in place; to restore a
    snapshot, assign it.
    """

    def __init__(self, delay: int, features: int) -> None:
        self.delay = delay
        empty = np.empty(0)
        self.state = DelayedLabelsState(np.empty((0, features)), empty, empty, empty)

    def push(
        self, x: FloatArray, y: FloatArray, weight: FloatArray | None = None,
        elapsed: FloatArray | None = None,
    ) -> DueLabels:  # fmt: skip
        """Add the rows x (T, n) with labels y (T,); returns what is due after each.

        ``weight`` and ``elapsed``, (T,), are 1 where they are not given.
        """
        ones = np.ones(len(y))
        new_rows = (x, y, ones if weight is None else weight,
                 ones if elapsed is None else elapsed)  # fmt: skip
        rows = [
            np.concatenate([waiting, new])
            for waiting, new in zip(self.state, new_rows, strict=True)
        ]
        count = max(len(rows[1]) - self.delay, 0)
        # Copies, because a view of the last rows would keep all of them in memory.
        self.state = DelayedLabelsState(*(part[count:].copy() for part in rows))
        early = len(y) - count  # predictions after which no label is due yet
        due_x, due_y, due_weight, due_elapsed = (
            np.concatenate([np.full((early, *part.shape[1:]), value), part[:count]])
            for part, value in zip(rows, (0.0, np.nan, 0.0, 0.0), strict=True)
        )
        learnable = (due_weight > 0) & ~np.isnan(due_y)
        return DueLabels(due_x, due_y, due_weight, due_elapsed, learnable)
