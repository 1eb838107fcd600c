"""Frequencies of a series by the names that pandas and polars have for them.

Also known as: offset aliases. ``"h"``, ``"15min"``, ``"D"``, ``"MS"``, ``"1mo"``;
``"B"`` for Monday to Friday.
"""

import re
from typing import Any, NamedTuple

import numpy as np

from thalweg.calendar.time_grid import (
    LAST_TIME,
    TimeGrid,
    Times,
    month_grid,
)
from thalweg.calendar.weekdays import DAY, MONDAY_TO_FRIDAY, weekday_of
from thalweg.errors import InvalidParameterError

SECOND = 10**9
STEP_OF = {
    "ns": 1, "us": 10**3, "ms": 10**6, "s": SECOND, "S": SECOND,
    "m": 60 * SECOND, "min": 60 * SECOND, "T": 60 * SECOND,
    "h": 3600 * SECOND, "H": 3600 * SECOND, "d": DAY, "D": DAY, "w": 7 * DAY,
    "W": 7 * DAY,
}  # fmt: skip
"""Nanoseconds by unit; ``m`` is a minute, as in polars, and ``M`` a month."""
MONTHS_OF = {
    "mo": 1, "M": 1, "MS": 1, "ME": 1, "q": 3, "Q": 3, "QS": 3, "QE": 3,
    "y": 12, "Y": 12, "A": 12, "YS": 12, "YE": 12, "AS": 12,
}  # fmt: skip
BUSINESS_DAY = "B"
"""The unit of days from Monday to Friday."""
MONTH = 365.2425 / 12 * DAY
MAX_STEP = LAST_TIME // 4
"""Limit of a step, 73 years: times reach no further than four of them from 1970."""


class Frequency(NamedTuple):
    """The step from one row to the next: a duration, or ``months`` if that is not 0."""

    step: int  # nanoseconds, or the difference of times that are whole numbers
    months: int = 0
    weekdays: int = 0  # a set as in weekdays.py; 0: all of them

    def grid(self, times: Times) -> TimeGrid:
        """The grid of these steps from the first of the times on."""
        if self.months:
            return month_grid(times, self.step, self.months)
        first = int(times[0].astype("datetime64[ns]").astype(np.int64))
        while self.weekdays and not self.weekdays >> weekday_of(first) & 1:
            first += DAY
        return TimeGrid(first, self.step, weekdays=self.weekdays)


def parse_frequency(freq: Any, owner: str, is_whole: bool) -> Frequency:
    """The step that a user gave as ``freq``: text, or a whole number.

    ``is_whole`` says whether times are whole numbers; then ``freq`` is one as well.
    """
    is_number = isinstance(freq, int | np.integer) and not isinstance(freq, bool)
    found = None
    if is_number == is_whole:
        found = Frequency(int(freq)) if is_whole else _read_frequency(freq)
    if found is not None and 1 <= found.step <= MAX_STEP:
        return found
    rule = (
        f"a whole number from 1 to {MAX_STEP}, for times are whole numbers"
        if is_whole
        else "a fixed step or a number of months, such as 'h', '15min', 'D', 'B' or "
        "'MS', of at most 73 years"
    )
    raise InvalidParameterError(
        f"The 'freq' parameter of {owner} must be {rule}. Got {freq!r:.80} instead."
    )


def _read_frequency(freq: Any) -> Frequency | None:
    """The step that a text or an offset of pandas names; None where it names none."""
    text = str(getattr(freq, "freqstr", freq))
    match = re.fullmatch(r"(\d{0,20})([A-Za-z]+)(-[A-Z]{3})?", text)
    count = int(match[1] or 1) if match else 0
    unit = match[2] if match else ""
    if count == 1 and unit == BUSINESS_DAY:
        return Frequency(DAY, weekdays=MONDAY_TO_FRIDAY)
    if unit in STEP_OF:
        return Frequency(count * STEP_OF[unit])
    if unit in MONTHS_OF:
        months = count * MONTHS_OF[unit]
        return Frequency(round(months * MONTH), months)
    return None
