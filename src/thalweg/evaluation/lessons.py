"""Labels that come late: which rows are learnt when."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.types import Block, FloatArray


class Due(NamedTuple):
    """The lesson that follows each of T questions, one row each."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T,) NaN where no label comes
    taught: npt.NDArray[np.bool_]  # (T,) whether there is something to learn
    passed: FloatArray  # (T,) the time it takes: 0 where no lesson is due yet


class Lessons:
    """A queue of rows whose labels are still to come.

    Round t is a question, row t, answered from what was learnt so far; then a lesson:
    row t - ``delay`` with its label. A row whose label is missing teaches nothing,
    but time passes.
    """

    def __init__(self, delay: int, features: int) -> None:
        self.delay = delay
        # Features, label, and whether the row is to be learnt from.
        self._waiting: FloatArray = np.empty((0, features + 2))

    def due(self, x: FloatArray, y: FloatArray, teaches: npt.NDArray[np.bool_]) -> Due:
        """The lessons that follow the next questions ``x``, whose labels are ``y``."""
        rows = np.vstack([self._waiting, np.column_stack([x, y, teaches])])
        ready = max(len(rows) - self.delay, 0)
        self._waiting = rows[ready:].copy()
        none = len(y) - ready
        early = np.zeros((none, rows.shape[1]))
        early[:, -2] = np.nan
        lessons = np.vstack([early, rows[:ready]])
        taught = (lessons[:, -1] > 0) & ~np.isnan(lessons[:, -2])
        passed = np.append(np.zeros(none), np.ones(ready))
        return Due(lessons[:, :-2], lessons[:, -2], taught, passed)

    @property
    def kept(self) -> tuple[Any, ...]:
        """What waits, for a file."""
        return (self._waiting,)

    def resume(self, kept: tuple[Any, ...]) -> None:
        """Go on from what waited."""
        (self._waiting,) = kept


def asked_and_told(x: FloatArray, due: Due, delay: int) -> Block:
    """Questions and lessons as one block; row t's question is round t, or 2t if late.

    A question is a round of weight zero that takes no time. Where labels come at once
    it is one with its lesson, as every round is predicted before it is learnt.
    """
    weight, y = due.taught.astype(np.float64), np.nan_to_num(due.y)
    if not delay:
        return Block(x, y, weight, due.passed)
    rows = np.empty((2 * len(x), x.shape[1]))
    rows[::2], rows[1::2] = x, due.x
    late = [np.zeros(2 * len(x)) for _ in range(3)]
    for column, lesson in zip(late, (y, weight, due.passed), strict=True):
        column[1::2] = lesson
    return Block(rows, *late)
