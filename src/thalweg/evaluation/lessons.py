"""Labels that come late: which rows are learnt when."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.kept import numbers, parts
from thalweg.types import FloatArray


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

    def resume(self, kept: Any, rounds: int) -> None:
        """Go on from what waited after so many rounds."""
        (waiting,) = parts("late labels", kept, 1)
        shape = min(rounds, self.delay), self._waiting.shape[1]
        self._waiting = numbers("late labels", waiting, shape)
