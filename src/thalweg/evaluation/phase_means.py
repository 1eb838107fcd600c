"""The mean of all values at the same position of a season, known at each row.

Also known as: seasonal mean, the mean of the same hour. The position of row t, from 0,
in a season of p rows is t modulo p. However rows are cut, means are the same to the
last bit.
"""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
MOST_SEASONS = 12
"""Seasons that a cycle may have: of many, few values are at the same position."""


def mean_period(season: int, cycle: int) -> int:
    """The season of the means: the cycle, where the season divides it (the hour of the
    week), else the season, as of days, of which a year has too many."""
    return season if cycle % season or cycle > MOST_SEASONS * season else cycle


class PhaseMeans(NamedTuple):
    """The sum and the number of known values at each position of a season."""

    totals: FloatArray  # (2, p)

    @classmethod
    def initial(cls, period: int) -> Self:
        """Before any value."""
        return cls(np.zeros((2, period)))

    @property
    def period(self) -> int:
        """The rows of the season."""
        return int(self.totals.shape[1])

    def play(
        self, y: FloatArray, first_row: int, steps: IntArray
    ) -> tuple[Self, FloatArray]:
        """The means after values y (T,), NaN where missing, from ``first_row`` on.

        Also the forecasts (T, S) that each row makes of the rows ``steps`` later: NaN
        where no value of their position is known.
        """
        p = self.period
        offset = first_row % p
        seasons = -(-(offset + len(y)) // p)
        known = np.zeros((2, seasons * p))
        known[:, offset : offset + len(y)] = np.nan_to_num(y), ~np.isnan(y)
        blocks = known.reshape(2, seasons, p)
        # The season before the first row has the totals so far.
        running = np.concatenate([self.totals[:, None], blocks], axis=1).cumsum(axis=1)
        sums, counts = running.reshape(2, -1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        # The newest row at the position of the row h steps later is -h mod p rows ago.
        newest = p + offset + np.arange(len(y))[:, None] - (-steps) % p
        return type(self)(running[:, -1].copy()), means[newest]
