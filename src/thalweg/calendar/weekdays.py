"""The weekdays on which a daily series has rows: Monday to Friday of prices, say.

Also known as: business days, trading days, a custom business week. A set of weekdays is
a whole number; bit 0 is Monday, bit 6 is Sunday, and 0 means that every day may have a
row.
"""

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError

DAY = 86_400 * 10**9
"""Nanoseconds of a day."""
NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONDAY_TO_FRIDAY = 0b0011111
ALL = 0b1111111
EPOCH_WEEKDAY = 3
"""1 January 1970 was a Thursday."""
MIN_ABSENCES = 2
"""Minimum number of times that a weekday passes without a row before it is left out."""
MAX_CHANCE = 0.01
"""Limit of the probability that a weekday lacks rows by chance, as other days do."""
MIN_SHARE = 0.5
"""Minimum share of the other days that have a row."""
TOLERANCE = 0.25
"""Limit of the distance from the first row's time of day, as a share of a day."""
DAYS_OF_YEAR = 365.25
IntArray = npt.NDArray[np.int64]


def find_weekdays(stamps: IntArray) -> int:
    """The weekdays of rows at these times, nanoseconds in order; 0: every day.

    Weekdays that have no row are not among them, if each has passed n ≥ 2 times between
    the first and the last row and that is hardly chance: (1 - f)ⁿ < 0.01, where f is
    the share of the other days that have a row, (rows + 1) / (days + 2), and f ≥ 0.5.
    Of 15 rows from Monday to Friday that is so, with one of them missing a week later.
    A series of one weekday is weekly, and 0 is returned.
    """
    days = (stamps - stamps[0] + DAY // 2) // DAY
    if (np.abs(stamps - stamps[0] - days * DAY) > TOLERANCE * DAY).any():
        return 0
    first = weekday_of(int(stamps[0]))
    passed = np.bincount((first + np.arange(days[-1] + 1)) % 7, minlength=7)
    rows = np.bincount((first + np.unique(days)) % 7, minlength=7)
    is_used = rows > 0
    if is_used.all() or is_used.sum() < 2:
        return 0
    share = (rows.sum() + 1) / (passed[is_used].sum() + 2)
    absences = int(passed[~is_used].min())
    is_chance = (1 - share) ** absences >= MAX_CHANCE
    if absences < MIN_ABSENCES or share < MIN_SHARE or is_chance:
        return 0
    return int((1 << np.flatnonzero(is_used)).sum())


def weekday_of(stamp: int) -> int:
    """The weekday of a time in nanoseconds since 1970, 0 for Monday."""
    return (stamp // DAY + EPOCH_WEEKDAY) % 7


def weekday_list(weekdays: int) -> list[int]:
    """The weekdays of a set, in order from Monday, 0, on."""
    return [day for day in range(7) if weekdays >> day & 1]


def count_weekdays(weekdays: int) -> int:
    """The number of rows in a week."""
    return len(weekday_list(weekdays or ALL))


def rows_of_year(weekdays: int) -> int:
    """The number of rows in a year: 365, or 261 of Monday to Friday."""
    return int(DAYS_OF_YEAR * count_weekdays(weekdays) / 7 + 0.5)


def is_possible_set(weekdays: object) -> bool:
    """Whether it is 0, or a set of two to six weekdays."""
    if type(weekdays) is not int or not 0 <= weekdays < ALL:
        return False
    return weekdays == 0 or count_weekdays(weekdays) > 1


def week_sentence(weekdays: int) -> str:
    """A sentence for users on a week that has not seven rows."""
    rows = count_weekdays(weekdays)
    return f"The season is a week ({rows} rows, no {absent_weekdays(weekdays)})."


def absent_weekdays(weekdays: int) -> str:
    """The weekdays that are not of a set, in words: "Saturdays and Sundays"."""
    *others, last = [f"{NAMES[day]}s" for day in weekday_list(ALL & ~weekdays)]
    return f"{', '.join(others)} and {last}" if others else last


class WeekdayCalendar:
    """The days of a set of weekdays as numbers, 0 for the first one.

    ``first`` is a time in nanoseconds since 1970, on one of these weekdays.
    """

    def __init__(self, weekdays: int, first: int) -> None:
        start = weekday_of(first)
        offsets = sorted((day - start) % 7 for day in weekday_list(weekdays))
        if offsets[:1] != [0]:
            raise StreamError("The first time of a grid must be on one of its days.")
        self._offsets = np.array(offsets, np.int64)  # of a week from the first day on

    def positions(self, days: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """The number of each day, counted from the first; of a day that has no rows,
        the number of the next that has, and whether it is such a day."""
        weeks, rest = np.divmod(days, 7)
        at = np.searchsorted(self._offsets, rest)
        inner = np.minimum(at, len(self._offsets) - 1)
        is_off = self._offsets[inner] != rest
        return weeks * len(self._offsets) + at, np.asarray(is_off, np.bool_)

    def days(self, positions: IntArray) -> IntArray:
        """The days, counted from the first, that have these numbers."""
        weeks, rest = np.divmod(positions, len(self._offsets))
        return np.asarray(7 * weeks + self._offsets[rest], np.int64)
