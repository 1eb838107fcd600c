"""Features that are missing, filled with their means so far."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.types import FloatArray

Missing = Literal["refuse", "skip", "impute"]


class Filled(NamedTuple):
    """Rows without gaps."""

    x: FloatArray  # (T, n)
    teaches: npt.NDArray[np.bool_]  # (T,) whether the row is to be learnt from


class Gaps:
    """Fills NaN in features by the policy of ``Online``.

    Under ``"skip"`` a row with a gap is predicted and not learnt from, under
    ``"impute"`` it is learnt as filled; ``"refuse"`` leaves it to others to complain.
    """

    def __init__(self, policy: Missing, features: int) -> None:
        self.policy = policy
        self.filled = 0  # how many numbers were filled in
        self._sum: FloatArray = np.zeros(features)
        self._count: FloatArray = np.zeros(features)

    def fill(self, x: FloatArray) -> Filled:
        """The next rows, each gap filled with the mean of what came before it."""
        missing = np.isnan(x)
        if self.policy == "refuse":
            return Filled(x, np.ones(len(x), np.bool_))
        # One running sum from the first row on, so that rows may be cut anywhere.
        sums = np.cumsum(np.vstack([self._sum, np.where(missing, 0.0, x)]), axis=0)
        counts = np.cumsum(np.vstack([self._count, ~missing]), axis=0)
        self._sum, self._count = sums[-1], counts[-1]
        self.filled += int(missing.sum())
        means = sums[:-1] / np.maximum(counts[:-1], 1.0)
        whole = np.asarray(~missing.any(axis=1) | (self.policy == "impute"))
        return Filled(np.where(missing, means, x), whole)

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        return self.filled, self._sum, self._count

    def resume(self, kept: tuple[Any, ...]) -> None:
        """Go on from what was kept."""
        self.filled, self._sum, self._count = kept
