"""Labels that begin at 0, such as counts: no prediction is below."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.persistence.snapshots import Array, Component, Number
from thalweg.types import FloatArray


class ZeroLimitSnapshot(NamedTuple):
    """What is known of the labels."""

    lowest: float  # NaN before the first
    waiting: FloatArray  # (≤ delay,) labels that are not known yet, oldest first


class ZeroLimit(Component):
    """The lower limit of the prediction of a round: 0 or none.

    It is 0 where 0 is among the labels known so far and nothing below it (counts,
    sales, rain), the rule of ``Forecaster``. The first label below 0 ends it.
    """

    Snapshot: ClassVar[Any] = ZeroLimitSnapshot

    def __init__(self, delay: int) -> None:
        self.delay = delay  # how many rounds late the labels come
        self.lowest = float("nan")
        self.waiting: FloatArray = np.empty(0)

    def limits(self, y: FloatArray, is_round: npt.NDArray[np.bool_]) -> FloatArray:
        """The limit (T,) of each of the next rows, -inf where there is none.

        ``y`` (T,) are their labels or NaN. A row that is no round asks for a
        prediction, and no label comes of it.
        """
        labels = np.concatenate([self.waiting, y[is_round]])
        # The first so many of them are known before each row, and after the last one.
        rounds_before: npt.NDArray[np.int64] = np.cumsum(is_round) - is_round
        before = np.maximum(len(self.waiting) + rounds_before - self.delay, 0)
        known = max(len(labels) - self.delay, 0)
        lowest = np.fmin.accumulate([self.lowest, *labels[:known]])
        self.lowest, self.waiting = float(lowest[-1]), labels[known:].copy()
        return np.where(lowest[before] == 0.0, 0.0, -np.inf)

    def rules(self, snapshot: ZeroLimitSnapshot) -> Iterator[tuple[str, Any]]:
        """No more labels wait than come late."""
        waiting = min(len(snapshot.waiting), self.delay)
        yield "lowest", Number(may_be_nan=True)
        yield "waiting", Array((waiting,), may_be_nan=True)
