"""Non-negativity: labels such as counts have predictions of at least 0."""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Number
from thalweg.types import FloatArray

FEW = Condition("len(waiting) <= delay", "at most as many labels as the delay")


class NonNegativitySnapshot(NamedTuple):
    """What is known of the labels."""

    lowest: Annotated[float, Number(may_be_nan=True)]  # NaN before the first
    # (≤ delay,) labels that are not known yet, oldest first
    waiting: Annotated[FloatArray, Array((None,), may_be_nan=True), FEW]


class NonNegativity(Component):
    """The lower limit of predictions: 0 or minus infinity.

    It is 0 if that is the lowest label known so far (counts, sales, rain), as for
    ``Forecaster``. The first label below 0 ends the limit.
    """

    Snapshot: ClassVar[Any] = NonNegativitySnapshot

    def __init__(self, delay: int) -> None:
        self.delay = delay  # how many rounds late the labels come
        self.lowest = float("nan")
        self.waiting: FloatArray = np.empty(0)

    def limits(self, y: FloatArray, is_round: npt.NDArray[np.bool_]) -> FloatArray:
        """The limit (T,) of each of the next rows, -inf without a limit.

        ``y`` (T,) are their labels or NaN. A row that is not a round asks only for a
        prediction and has no label.
        """
        labels = np.concatenate([self.waiting, y[is_round]])
        # The number of labels known before each row, and after the last one.
        rounds_before: npt.NDArray[np.int64] = np.cumsum(is_round) - is_round
        before = np.maximum(len(self.waiting) + rounds_before - self.delay, 0)
        known = max(len(labels) - self.delay, 0)
        lowest = np.fmin.accumulate([self.lowest, *labels[:known]])
        self.lowest, self.waiting = float(lowest[-1]), labels[known:].copy()
        return np.where(lowest[before] == 0.0, 0.0, -np.inf)
