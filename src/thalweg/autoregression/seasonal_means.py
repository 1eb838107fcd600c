"""Means of the values at the same phase of a season: of the same hour of the week, say.

Also known as: seasonal profiles, seasonal indices, the mean of the same hour. About the
last ten values of a phase count, so that a mean follows what changes.
"""

import math
from typing import Annotated, NamedTuple, Self

import numpy as np

from thalweg.calendar.row_clock import Stamps
from thalweg.calendar.season_finder import Seasons, SeasonSearch
from thalweg.calendar.weekdays import DAY
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

MIN_SHARE = 0.1
"""Minimum share of a new value in a mean."""
FIRST_MONDAY = 4 * DAY
"""The first Monday after 1 January 1970."""
WEEKS = 52


COUNTED = Condition(
    "(season[1] >= 0).all() and (cycle[1] >= 0).all()", "means and counts"
)


class SeasonalMeans(NamedTuple):
    """The mean and the number of values at each phase of a season and of a cycle.

    A file may hold them of the seasons ``periods``.
    """

    season: Annotated[FloatArray, Array((2, "periods.season")), COUNTED]  # (2, s)
    # (2, c); c is a multiple of s
    cycle: Annotated[FloatArray, Array((2, "periods.cycle")), COUNTED]

    @classmethod
    def initial(cls, seasons: Seasons) -> Self:
        """Before any value."""
        return cls(np.zeros((2, seasons.season)), np.zeros((2, seasons.cycle)))

    def play(
        self, values: FloatArray, phases: Stamps, next_phases: Stamps
    ) -> tuple[Self, FloatArray]:
        """Learn values (T,) at phases of the cycle; after each, the mean at another.

        The mean at ``next_phases`` is that of the cycle; where that phase is new, of
        the season; where that is new too, NaN.
        """
        s = self.season.shape[1]
        season: list[float] = self.season[0].tolist()
        seen: list[float] = self.season[1].tolist()
        cycle: list[float] = self.cycle[0].tolist()
        cycle_seen: list[float] = self.cycle[1].tolist()
        means = [math.nan] * len(values)
        rows = zip(values.tolist(), phases.tolist(), next_phases.tolist(), strict=True)
        for row, (y, phase, ahead) in enumerate(rows):
            if y == y:
                _learn(season, seen, phase % s, y)
                _learn(cycle, cycle_seen, phase, y)
            if cycle_seen[ahead]:
                means[row] = cycle[ahead]
            elif seen[ahead % s]:
                means[row] = season[ahead % s]
        after = type(self)(np.array([season, seen]), np.array([cycle, cycle_seen]))
        return after, np.array(means, np.float64)


def _learn(means: list[float], counts: list[float], phase: int, y: float) -> None:
    counts[phase] += 1
    means[phase] += max(1 / counts[phase], MIN_SHARE) * (y - means[phase])


def mean_seasons(search: SeasonSearch) -> Seasons:
    """The seasons of the means. Where some weekdays have no rows, it is the week of all
    seven, for a later row may be on one of these."""
    season, _ = search.seasons
    if search.grid is not None and search.grid.weekdays:
        return Seasons(7, 7)
    return Seasons(season, search.seasons.nested_cycle)


def clock_phases(search: SeasonSearch, times: Stamps) -> Stamps:
    """The phase of each local time in the cycle of ``mean_seasons``, (T,)."""
    assert search.grid is not None
    grid, cycle = search.grid, mean_seasons(search).cycle
    stamps = times.view("datetime64[ns]")
    if grid.months:
        months = stamps.astype("datetime64[M]").astype(np.int64)
        return np.asarray(months % 12 // grid.months)
    if grid.step == 7 * DAY:
        days = stamps.astype("datetime64[D]")
        new_year = stamps.astype("datetime64[Y]").astype("datetime64[D]")
        weeks = (days - new_year).astype(np.int64) // 7
        return np.asarray(np.minimum(weeks, WEEKS - 1))
    return (times - FIRST_MONDAY + grid.step // 2) // grid.step % cycle
