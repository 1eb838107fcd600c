"""Change alarms, from a record of the effective memory."""

from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.types import FloatArray

DROP = 0.25
SMOOTHED = 16
"""Memory is averaged over so many rounds, geometrically: single rounds jitter. On five
changing and five still streams of 4,000 rounds that left 22 of 25 changes found, 19
rounds late on average, and 2 false alarms where unsmoothed there were 25."""


def alarms(memory: Any) -> npt.NDArray[np.int64]:
    """The rounds in which memory fell below a quarter of what it was one memory ago.

    ``memory`` is (T,), one number of rounds for each round, as ``run`` records it. Of
    rounds in a row that fulfil this only the first is named.
    """
    kept = _smooth(np.asarray(memory, np.float64))
    rounds = np.arange(len(kept))
    before = rounds - np.ceil(kept).astype(np.int64) - SMOOTHED
    fallen = (before >= 0) & (kept < DROP * kept[np.maximum(before, 0)])
    return np.flatnonzero(fallen & ~np.roll(fallen, 1))


def _smooth(memory: FloatArray) -> FloatArray:
    sums = np.cumsum(np.append(0.0, np.log(np.maximum(memory, 1.0))))
    end = np.arange(1, len(memory) + 1)
    start = np.maximum(end - SMOOTHED, 0)
    return np.asarray(np.exp((sums[end] - sums[start]) / (end - start)))
