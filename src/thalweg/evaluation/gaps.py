"""Features that are missing, filled with their means so far."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.kept import finite, parts, whole
from thalweg.preprocessing.imputer import Missing, fill
from thalweg.types import FloatArray


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
        self.sums: FloatArray = np.zeros(features)  # of what was seen of each
        self.counts: FloatArray = np.zeros(features)  # how often it was seen

    def fill(self, x: FloatArray) -> Filled:
        """The next rows, each gap filled with the mean of what came before it."""
        if self.policy == "refuse":
            return Filled(x, np.ones(len(x), np.bool_))
        missing = np.isnan(x)
        self.filled += int(missing.sum())
        x, self.sums, self.counts = fill(x, self.sums, self.counts)
        whole_rows = ~missing.any(axis=1)
        return Filled(x, np.asarray(whole_rows | (self.policy == "impute")))

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        return self.filled, self.sums, self.counts

    def resume(self, kept: tuple[Any, ...]) -> None:
        """Go on from what was kept."""
        filled, sums, counts = parts("gaps", kept, 3)
        self.filled = whole("gaps", filled)
        self.sums = finite("means", sums, self.sums.shape)
        self.counts = finite("means", counts, self.counts.shape)
