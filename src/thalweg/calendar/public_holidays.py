"""Facts about days that are known in advance: weekday, holidays, the year's end.

The dates are those of the package ``holidays``. Which country a series belongs to is
found out by the forecaster (kernels/forecaster/holiday_effects.py): of countries whose
week-end has a Sunday, those below, national holidays only.
"""

from datetime import date, timedelta
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY

IntArray = npt.NDArray[np.int64]

COUNTRY_NAMES = {
    "US": "the United States", "CA": "Canada", "GB": "the United Kingdom",
    "IE": "Ireland", "FR": "France", "DE": "Germany", "IT": "Italy", "ES": "Spain",
    "PT": "Portugal", "NL": "the Netherlands", "BE": "Belgium", "AT": "Austria",
    "CH": "Switzerland", "SE": "Sweden", "NO": "Norway", "DK": "Denmark",
    "FI": "Finland", "PL": "Poland", "CZ": "Czechia", "HU": "Hungary", "GR": "Greece",
    "RO": "Romania", "AU": "Australia", "NZ": "New Zealand", "JP": "Japan",
    "KR": "South Korea", "BR": "Brazil", "MX": "Mexico", "AR": "Argentina",
    "CL": "Chile", "CO": "Colombia", "ZA": "South Africa",
}  # fmt: skip
"""ISO 3166 codes, and English names as they stand in a sentence after "of". The order
is that of the bits, and part of saved states. A country more is one more in COUNTRIES
of kernels/forecaster/forecaster_layout.py, and a new version of its layout."""
COUNTRIES = tuple(COUNTRY_NAMES)
YEAR_END_DATES = ((12, 24), (12, 25), (12, 26), (12, 31), (1, 1))
"""Month and day of the dates that have effects of their own."""
YEARS = range(1950, 2101)
"""Years whose holidays are known; others have none."""
MAX_DAY_ROWS = 288
"""Limit of the number of rows in a day: every five minutes."""
EPOCH = date(1970, 1, 1)


class DayGrid(NamedTuple):
    """Where days begin among the rounds of a series."""

    rows: int  # of a day
    first_row: int  # the row of its day that is round 0, from 0
    first_day: int  # the day of round 0, in days since 1970


def find_day_grid(grid: TimeGrid, offset: int = 0) -> DayGrid | None:
    """The days of rows on a grid, None where it does not divide days evenly or lacks
    some weekdays. ``offset`` is added to times, in nanoseconds."""
    if grid.months or grid.weekdays or DAY % grid.step:
        return None
    rows = DAY // grid.step
    if rows > MAX_DAY_ROWS:
        return None
    day, time_of_day = divmod(grid.first + offset, DAY)
    return DayGrid(rows, time_of_day // grid.step, day)


def day_marks(first_day: int, count: int) -> IntArray:
    """Facts about ``count`` days from ``first_day`` on, in days since 1970.

    Shape (count, 3): the weekday, 0 for Monday; countries with a holiday, as bits; the
    number among ``YEAR_END_DATES``, or -1.
    """
    days = first_day + np.arange(count)
    marks = np.column_stack([(days + 3) % 7, np.zeros_like(days), np.full(count, -1)])
    dates = days.astype("datetime64[D]")
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    for year in np.unique(years).tolist():
        if year in YEARS:
            start = (date(year, 1, 1) - EPOCH).days
            rows = np.flatnonzero(years == year)
            marks[rows, 1:] = _year_marks(year)[days[rows] - start]
    return marks


@lru_cache(maxsize=16)
def _year_marks(year: int) -> IntArray:
    """Countries and date of each day of a year, (366, 2)."""
    marks = np.zeros((366, 2), np.int64)
    marks[:, 1] = -1
    country_holidays = import_module("holidays").country_holidays
    first = date(year, 1, 1)
    for bit, country in enumerate(COUNTRIES):
        for day in country_holidays(country, years=year):
            if day.year == year:
                marks[(day - first).days, 0] |= 1 << bit
    for number, (month, day_of_month) in enumerate(YEAR_END_DATES):
        marks[(date(year, month, day_of_month) - first) // timedelta(1), 1] = number
    return marks
