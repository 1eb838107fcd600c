"""Change alarms, from a record of the effective memory."""

from typing import Any

import numpy as np
import numpy.typing as npt

DROP = 0.25


def alarms(memory: Any) -> npt.NDArray[np.int64]:
    """The rounds in which memory fell below a quarter of what it was one memory ago.

    ``memory`` is (T,), one number of rounds for each round, as ``run`` records it. Of
    rounds in a row that fulfil this only the first is named.
    """
    kept = np.asarray(memory, np.float64)
    rounds = np.arange(len(kept))
    before = rounds - np.ceil(kept).astype(np.int64)
    fallen = (before >= 0) & (kept < DROP * kept[np.maximum(before, 0)])
    return np.flatnonzero(fallen & ~np.roll(fallen, 1) | (fallen & (rounds == 0)))
