"""The seasons of a series: by its calendar where it has one, else from its values.

``SeasonSearch`` is how they are found while a series is read. Whoever keeps a state
with seasons learns the first values again with those that a later search finds.

A *season* is the period after which values repeat themselves, a *cycle* a longer one
that the season divides or that lies above it: the day and the week of hourly values.
"""

from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from thalweg.calendar.row_clock import CLOCK_ROWS, GRID_ROWS
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY, count_weekdays, rows_of_year
from thalweg.rules import Condition, Count
from thalweg.types import FloatArray

TINY = 1e-290
"""Values that differ by no more count as equal."""
MAX_PERIOD = 2**31
"""Limit of the length of a cycle that is given."""
MAX_CYCLE = 20_160
"""Limit of a cycle's length by the calendar, in rounds: two weeks of minutes."""
CLEAR_GAIN = 0.75
"""Limit of a season's mean squared difference, in units of that of an arbitrary lag."""
NOISE_GAIN = 4.6
"""With T values, that ratio is at most 1 - 4.6/√T: with few values, some lag of noise
has as small a difference by chance."""
WANDER_GAIN = 0.9
"""Limit of the same difference in units of the largest of any shorter lag: in a random
walk some lags have smaller differences than others by chance."""
CYCLE_GAIN = 0.9
"""Limit of a cycle's difference in units of those of lags one season longer and
shorter: in random walks differences grow with the lag."""
NEIGHBOURHOOD, MAX_MULTIPLES = 0.05, 12
"""Range of lags around a season, as a share of it, that are compared with it, and limit
of the number of multiples compared."""
COMMON_PERIODS = (7, 12, 24, 48, 52, 60, 96, 144, 168, 288, 336, 365, 1440)
COMMON_MARGIN = 1.05
"""Limit of the difference of a common period, in units of the best neighbour's, for the
common period to be preferred."""
CYCLE_MULTIPLES = (7, 5, 4, 12, 24, 52)
"""The multiples of a season that are tried as cycles."""
HISTORY = 4096
"""Number of first values in which seasons are searched without a calendar."""
SEARCHES = tuple(min(int(24 * 1.5**k), HISTORY) for k in range(14))
"""Numbers of values after which seasons are searched: 24, 36, 54, … 4,096."""


class Seasons(NamedTuple):
    """The lengths of two seasons, in rounds; both the same, or 1, where there are
    fewer."""

    season: Annotated[int, Count("cycle", 1)] = 1
    cycle: Annotated[int, Count(MAX_PERIOD - 1, 1)] = 1

    @property
    def nested_cycle(self) -> int:
        """The cycle where the season divides it, as the day the week, so that it has
        means at each phase; else the season, as the week of days."""
        return self.season if self.cycle % self.season else self.cycle


OF_GRID = Condition(
    "grid_fields is None or TimeGrid.has_fields(grid_fields)"
    " and calendar_seasons(TimeGrid(*grid_fields)) == seasons",
    "the fields of a grid with these seasons",
)


class SeasonSearch(NamedTuple):
    """The seasons of a series that is read row by row, and where they come from.

    They are those of the calendar, if the grid of the first 8 rows, or of the first 24,
    has some. Else they are searched in the values, after 24, 36, 54, … rows; the search
    after 4,096 decides.
    """

    seasons: Seasons = Seasons()
    # Of the grid with these seasons; None: rows are counted.
    grid_fields: Annotated[Any, OF_GRID] = None
    is_settled: bool = False  # whether they stay whatever comes

    @property
    def grid(self) -> TimeGrid | None:
        """The grid whose seasons they are; None where rows are counted."""
        return None if self.grid_fields is None else TimeGrid(*self.grid_fields)

    def next_stop(self, rows: int, delay: int = 0) -> int:
        """After how many rows, more than ``rows``, to ``advance``; 0: never again.

        Values are known ``delay`` rows after their own.
        """
        if self.is_settled:
            return 0
        stops = (CLOCK_ROWS, GRID_ROWS, *(search + delay for search in SEARCHES))
        return min(stop for stop in stops if stop > rows)

    def advance(
        self, rows: int, grid: TimeGrid | None, values: FloatArray
    ) -> tuple[Self, bool]:
        """The search after ``rows`` rows, with all values known by then, and whether
        seasons or positions on the grid are other ones."""
        after = self.on_grid(grid, rows >= GRID_ROWS).in_values(values)
        is_same = (after.seasons, after.grid_fields) == (self.seasons, self.grid_fields)
        return after, not is_same

    def on_grid(self, grid: TimeGrid | None, is_final: bool) -> Self:
        """With the seasons of a grid; ``is_final`` where no other one will come."""
        if grid is None or calendar_seasons(grid) == Seasons():
            return type(self)() if self.grid_fields is not None else self
        return type(self)(calendar_seasons(grid), tuple(grid), is_final)

    def in_values(self, values: FloatArray) -> Self:
        """With the seasons of all values so far, where no calendar has them."""
        if self.grid_fields is not None or len(values) not in SEARCHES:
            return self
        return type(self)(find_seasons(values), None, len(values) >= HISTORY)


def calendar_seasons(grid: TimeGrid) -> Seasons:
    """The seasons of rows by the step of their grid.

    Less than a day: the day and the week (the hour and the day, where a week has more
    than 20,160 rows); days: the week and the year, of 7 and 365 rows, or 5 and 261
    where rows are on Monday to Friday only; weeks, months and quarters: the year.
    """
    if grid.months:
        year = 12 // grid.months if 12 % grid.months == 0 else 1
        return Seasons(year, year)
    step = grid.step
    for season in (DAY, DAY // 24):
        cycle = 7 * DAY if season == DAY else DAY
        if step < season and season % step == 0 and cycle // step <= MAX_CYCLE:
            return Seasons(season // step, cycle // step)
    if step == DAY:
        return Seasons(count_weekdays(grid.weekdays), rows_of_year(grid.weekdays))
    return Seasons(52, 52) if step == 7 * DAY else Seasons()


def find_seasons(values: FloatArray) -> Seasons:
    """The seasons that the values (T,), NaN where missing, show.

    With d_l the mean of (y_t - y_{t-l})², trends taken out by differences of second
    order over a lag, the season is the lag with the least d_l that is a local minimum,
    seen at least four times, and clearly lower than the median of all d_l; of several
    about as low the shortest. Lags next to it are compared by their multiples, which
    are further apart: of days of 48 rows, d_47 may be less than d_48, but not d_329
    than d_336. The cycle is the best multiple of it, where d_l is lower than one season
    before and after. Both are 1 where nothing repeats.
    """
    values = np.asarray(values, np.float64)
    if np.isnan(values).all():
        return Seasons()
    # In units of their own, so that squares are neither zero nor infinite.
    centred = values - np.nanmedian(values)
    unit = np.nanmax(np.abs(centred))
    differences = _lag_differences(centred / unit if unit > TINY else 0 * centred)
    if len(differences) < 4:
        return Seasons()
    inner = differences[1:-1]
    is_low = (inner <= differences[:-2]) & (inner < differences[2:])
    candidates = np.flatnonzero(is_low) + 2  # lags
    typical = float(np.median(differences))
    if not len(candidates) or not typical > 0:
        return Seasons()
    # Series that wander are as far apart at long lags as they ever were at short ones.
    highest = np.maximum.accumulate(differences)[candidates - 1]
    by_chance = 1 - NOISE_GAIN / np.sqrt(len(values))
    found, gain = differences[candidates - 1], min(CLEAR_GAIN, by_chance)
    if not (found < gain * np.minimum(typical, WANDER_GAIN * highest)).any():
        return Seasons()
    # The multiples of a season are about as good as the season itself.
    limit = found.min() + 0.15 * (typical - found.min())
    season = _refine_season(differences, int(candidates[found <= limit][0]))
    return Seasons(season, _find_cycle(differences, season, by_chance))


def _refine_season(differences: FloatArray, season: int) -> int:
    """The lag near the season whose multiples leave the least; a common one of those
    that leave about as little."""
    reach = int(NEIGHBOURHOOD * season + 0.5)
    lags = [lag for lag in range(season - reach, season + reach + 1) if lag > 1]
    count = min(len(differences) // max(lags), MAX_MULTIPLES)
    if reach == 0 or count < 2:
        return season
    multiples = np.arange(1, count + 1)
    left = {lag: float(differences[lag * multiples - 1].mean()) for lag in lags}
    best = min(lags, key=lambda lag: left[lag])
    common = [lag for lag in lags if lag in COMMON_PERIODS]
    common.sort(key=lambda lag: left[lag])
    is_close = common and left[common[0]] <= COMMON_MARGIN * left[best]
    return common[0] if is_close else best


def _find_cycle(differences: FloatArray, season: int, by_chance: float) -> int:
    """The multiple of the season that stands out most, and more than by chance; else
    the season."""
    best, cycle = min(CYCLE_GAIN, by_chance), season
    for multiple in CYCLE_MULTIPLES:
        lag = multiple * season
        if lag + season > len(differences):
            continue
        beside = differences[lag - season - 1 : lag + season : 2 * season]
        left = float(differences[lag - 1])
        if left < best * float(beside.mean()):
            best, cycle = left / float(beside.mean()), lag
    return cycle


def _lag_differences(values: FloatArray) -> FloatArray:
    """d_l for l = 1 … T/4: the mean square of y_t - y_{t-l}, less its mean."""
    count = len(values) // 4
    differences = np.full(count, np.inf)
    for lag in range(1, count + 1):
        change = values[lag:] - values[:-lag]
        change = change[~np.isnan(change)]
        if len(change) > 1:
            differences[lag - 1] = change.var()
    return differences
