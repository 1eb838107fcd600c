"""Time stamps as round numbers: a grid of equal steps, so that gaps are missing rows.

Also known as: the frequency of a time index, resampling to a regular index. Steps are
durations, or calendar months where stamps fall on the same day of months of different
lengths. Of daily stamps that never fall on some weekdays, as prices on Saturdays, only
the others have a place on the grid (weekdays.py); a holiday is a missing row.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.weekdays import (
    DAY,
    WeekdayCalendar,
    find_weekdays,
    is_possible_set,
    weekday_of,
)
from thalweg.errors import StreamError
from thalweg.rules import Condition, Count, obeys

ONE_DAY, ONE_MONTH = np.timedelta64(1, "D"), np.timedelta64(1, "M")
MONTH_DAYS = {
    1: (28, 31), 2: (59, 62), 3: (89, 92), 4: (120, 123), 6: (181, 184),
    12: (365, 366),
}  # fmt: skip
"""Minimum and maximum number of days in a step, by its number of months."""
UNITS = {"day": DAY, "hour": DAY // 24, "minute": DAY // 1440, "second": 10**9}
"""Steps are expected to be multiples of these."""
ROUNDING = 0.02
"""Limit of the relative distance of the median step from a multiple of a unit."""
USUAL_STEPS = tuple(
    count * unit
    for unit, counts in (
        (10**9, (1, 2, 5, 10, 15, 20, 30)),
        (DAY // 1440, (1, 2, 5, 10, 15, 20, 30)),
        (DAY // 24, (1, 2, 3, 4, 6, 8, 12)),
        (DAY, (1, 7)),
    )
    for count in counts
)
"""Usual steps between readings: divisors of a minute, an hour, a day and a week."""
MAX_WAVER = 0.2
"""Limit of the relative distance of the median of uneven steps from a usual step."""
YEARS = (1678, 2261)
"""The first and last years that nanoseconds since 1970 reach as a whole."""
JITTER = 0.25
"""Limit of a stamp's distance from the grid, as a share of the step."""
MIN_FITTING = 0.9
"""Minimum share of stamps that have to be on a grid."""
MIN_DENSITY = 0.25
"""Minimum share of places on a grid that have a stamp."""
MAX_GAP = 100_000
"""Limit of the number of missing rows in a gap: more are a mistake in the stamps."""
LAST_TIME = 2**63 - 1
"""The last of the nanoseconds since 1970 that a time can have."""
MAX_MONTHS = 12_000
"""Limit of the number of months in a step."""
MISSING = "NaT"
"""How NumPy writes a time that is missing."""
Times = npt.NDArray[np.datetime64]


POSSIBLE_WEEKDAYS = Condition(
    "_has_possible_weekdays()",
    "0 or a set of weekdays with that of the first stamp, of steps of a day",
)


class TimeGrid(NamedTuple):
    """Stamps first, first + step, …; steps of ``months`` if that is not 0.

    Where ``weekdays`` is not 0 the step is a day, and other weekdays have no stamps.
    """

    first: Annotated[int, Count(LAST_TIME, -LAST_TIME)]  # nanoseconds since 1970
    step: Annotated[int, Count(LAST_TIME, 1)]  # nanoseconds
    months: Annotated[int, Count(MAX_MONTHS)] = 0
    # Of the month; 31: the last one; 0: that of the first stamp.
    day: Annotated[int, Count(31)] = 0
    # A set as in weekdays.py, in which the first is; 0: all of them.
    weekdays: Annotated[int, POSSIBLE_WEEKDAYS] = 0

    def positions(self, times: Times) -> npt.NDArray[np.int64]:
        """The number of each stamp on the grid, 0 for the first; it has to be on it."""
        positions, rest = self.nearest_positions(times)
        if rest.any():
            raise StreamError(
                f"The time {times[int(rest.argmax())]} is not on the grid of times: "
                f"rows are {self} apart, from {_as_times([self.first])[0]} on. "
                "Resample them, or leave the times out."
            )
        return positions

    def nearest_positions(
        self, times: Times
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """The nearest number of each stamp, and whether it is too far from the grid.

        On a weekday that is not of the grid it is the number of the next day that is.
        """
        if self.months:
            count = _month_numbers(times) - _month_numbers(_as_times([self.first]))[0]
            positions, rest = count // self.months, count % self.months != 0
        else:
            elapsed = _nanoseconds(times) - self.first
            positions = (elapsed + self.step // 2) // self.step
            rest = np.abs(elapsed - positions * self.step) > JITTER * self.step
        if self.weekdays:
            positions, is_off = self._calendar().positions(positions)
            rest |= is_off
        return np.asarray(positions, np.int64), np.asarray(rest, np.bool_)

    def times(self, positions: Any) -> Times:
        """The stamps at these numbers of the grid; it has to reach so far."""
        numbers = np.asarray(positions, np.int64)
        self._require_times(int(numbers.max(initial=0)))
        first = _as_times([self.first])[0]
        if self.weekdays:
            numbers = self._calendar().days(numbers)
        if not self.months:
            return _as_times(self.first + numbers * self.step)
        passed = (self.months * numbers).astype("timedelta64[M]")
        month = first.astype("datetime64[M]") + passed
        starts, day = month.astype("datetime64[D]"), self.day or _month_day(first)
        lasts = (month + ONE_MONTH).astype("datetime64[D]") - ONE_DAY
        time_of_day = first - first.astype("datetime64[D]")
        days = np.minimum(starts + (day - 1) * ONE_DAY, lasts)
        return np.asarray(days.astype("datetime64[ns]") + time_of_day)

    def is_absent_weekday(self, times: Times) -> npt.NDArray[np.bool_]:
        """Whether each stamp is on a weekday that is not of the grid."""
        if not self.weekdays:
            return np.zeros(len(times), np.bool_)
        days = self._replace(weekdays=0).nearest_positions(times)[0]
        return self._calendar().positions(days)[1]

    @classmethod
    def has_fields(cls, fields: Any) -> bool:
        """Whether they are the fields of a grid, as read from a file."""
        is_tuple = type(fields) is tuple and len(fields) == len(cls._fields)
        return is_tuple and obeys(cls, cls(*fields))

    def _has_possible_weekdays(self) -> bool:
        """Whether its weekdays are all, or a set with that of the first stamp."""
        if self.weekdays == 0:
            return True
        is_daily = self.step == DAY and not self.months
        is_set = is_daily and is_possible_set(self.weekdays)
        return is_set and bool(self.weekdays >> weekday_of(self.first) & 1)

    def _require_times(self, position: int) -> None:
        """Raise where the stamp of a position is later than times can be."""
        if self.months:
            month = int(_month_numbers(_as_times([self.first]))[0])
            is_late = 1970 + (month + self.months * position) // 12 > YEARS[1]
        else:
            days = position
            if self.weekdays:
                days = int(self._calendar().days(np.array([position]))[0])
            is_late = self.first + days * self.step > LAST_TIME
        if is_late:
            raise StreamError(
                f"Row {position} of rows that are {self} apart, counted from "
                f"{_as_times([self.first])[0]}, is later than a time can be: after the "
                f"year {YEARS[1]}. Leave the times out, or forecast fewer rows."
            )

    def _calendar(self) -> WeekdayCalendar:
        return WeekdayCalendar(self.weekdays, self.first)

    def __str__(self) -> str:
        if self.months:
            return f"{self.months} month{'s' * (self.months > 1)}"
        for name, length in UNITS.items():
            if self.step % length == 0:
                count = self.step // length
                return f"{count} {name}{'s' * (count > 1)}"
        return f"{self.step / 1e9:g} seconds"


def find_grid(times: Times) -> TimeGrid | None:
    """The grid of stamps in order; None for fewer than two.

    Its step is a number of months where stamps fall into different, evenly spaced
    months; else the most frequent step. Where no step is that of most stamps, or many
    are not on its grid (of Mondays, Wednesdays and Fridays), it is the greatest common
    divisor of all, if that leaves not too many places without a stamp; else the usual
    step around which they vary (26, 34, 33 and 27 minutes: half an hour), or else their
    median, rounded to days, hours, minutes or seconds. If it is less than a week,
    weekdays without any stamp are left out by the rule of ``find_weekdays``.
    """
    if len(times) < 2:
        return None
    require_increasing(times)
    stamps = _nanoseconds(times)
    gaps = np.diff(stamps)
    months = _month_step(times)
    if months:
        return month_grid(times, int(np.median(gaps)), months)
    steps, counts = np.unique(gaps, return_counts=True)
    step = int(steps[counts.argmax()])
    is_usual = counts.max() > len(gaps) // 2
    is_off = TimeGrid(int(stamps[0]), step).nearest_positions(times)[1]
    if not is_usual or is_off.mean() > 1 - MIN_FITTING:
        divisor, median = int(np.gcd.reduce(steps)), int(np.median(gaps))
        places = int(stamps[-1] - stamps[0]) // divisor + 1
        if len(times) >= MIN_DENSITY * places:
            step = divisor
        elif not is_usual:
            step = _wavering_step(stamps, median) or _rounded_step(median)
    weekdays = find_weekdays(stamps) if DAY <= step < 7 * DAY else 0
    return TimeGrid(int(stamps[0]), DAY if weekdays else step, weekdays=weekdays)


def month_grid(times: Times, step: int, months: int) -> TimeGrid:
    """The grid of steps of ``months`` from the first stamp on. Day and time of day are
    those of most stamps, so that one stamp off the grid does not move it."""
    clock = _nanoseconds(times) - _nanoseconds(times.astype("datetime64[D]"))
    clocks, counts = np.unique(clock, return_counts=True)
    grid = TimeGrid(int(_nanoseconds(times[:1])[0]), step, months, _month_day(times))
    first = grid.times([0])[0].astype("datetime64[D]").astype("datetime64[ns]")
    return grid._replace(first=int(first.astype(np.int64) + clocks[counts.argmax()]))


def require_increasing(times: Times, latest: np.datetime64 | None = None) -> None:
    """Raise unless every stamp is later than the one before it, and than ``latest``."""
    if np.isnat(times).any():
        raise StreamError(
            f"The time of row {int(np.isnat(times).argmax())} (counted from 0) is "
            "missing."
        )
    first = times[:1] - np.timedelta64(1, "ns") if latest is None else [latest]
    steps = np.diff(_nanoseconds(np.append(first, times)))
    if (steps <= 0).any():
        at = int((steps <= 0).argmax())
        rule = "twice" if steps[at] == 0 else "after a later one"
        raise StreamError(
            f"The time {times[at]} of row {at} (counted from 0) comes {rule}. A "
            "forecaster takes one "
            "series with rows in order of time: sort them, drop what comes twice, and "
            "give each series its own forecaster."
        )


def as_times(values: Any) -> Times:
    """Time stamps as an array of datetime64[ns]; those of a zone in UTC."""
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind in "US":
        array = _parse_times(array)
    elif array.dtype.kind == "O" and len(array):
        if all(_is_missing(v) or _is_text_or_time(v) for v in array):
            array = np.array(["NaT" if _is_missing(v) else v for v in array], object)
        array = _parse_times(np.array([_without_zone(value) for value in array]))
    if array.dtype.kind != "M":
        raise StreamError(
            f"A time must be a datetime. Got {array[:1].tolist()!r:.80} instead."
        )
    years = array.astype("datetime64[Y]").astype(np.int64) + 1970
    is_beyond = ~np.isnat(array) & ((years < YEARS[0]) | (years > YEARS[1]))
    if is_beyond.any():
        raise StreamError(
            f"The year of a time must be from {YEARS[0]} to {YEARS[1]}. "
            f"Got {array[int(is_beyond.argmax())]} instead."
        )
    return array.astype("datetime64[ns]")


def as_whole_times(numbers: npt.NDArray[Any]) -> Times:
    """Whole numbers k as times of k nanoseconds."""
    if numbers.dtype.kind == "u" and (numbers > LAST_TIME).any():
        raise StreamError(
            f"A time that is a whole number must be at most {LAST_TIME}. "
            f"Got {numbers.max()} instead."
        )
    return numbers.astype(np.int64).astype("datetime64[ns]")


def _parse_times(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Text as times; what is no text is returned as it is."""
    if array.dtype.kind not in "US":
        return array
    texts = [str(text) for text in array.astype(str)]
    try:
        if not any(has_offset(text) for text in texts):
            # NumPy finds the unit in the texts, but a missing one has none.
            known = [text for text in texts if text != MISSING]
            kind = np.array(known, "datetime64").dtype if known else "datetime64[ns]"
            return np.array(texts, kind)
        return np.array([_without_zone(datetime.fromisoformat(t)) for t in texts])
    except ValueError:
        row = next((k for k, text in enumerate(texts) if not _is_time(text)), 0)
        raise StreamError(
            "A time must be a datetime or text such as 2026-11-16T18:00. Got "
            f"{texts[row]:.80} in row {row} (counted from 0) instead."
        ) from None


def has_offset(text: str) -> bool:
    """Whether the text of a time ends with its difference to UTC."""
    return re.search(r"(Z|[+-]\d\d:?\d\d)$", text[10:]) is not None


def _is_text_or_time(value: Any) -> bool:
    return isinstance(value, str | np.datetime64) or hasattr(value, "isoformat")


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN or NaT."""
    return value is None or bool(value != value)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return text == "NaT"
    return True


def _without_zone(value: Any) -> Any:
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value) if hasattr(value, "isoformat") else value


def _month_step(times: Times) -> int:
    """The number of months between stamps; 0 where they are a duration apart.

    Stamps of one day of the month, or of the last, are months apart, also where some
    months lack one; others are where steps differ, but each falls into another month,
    as of the last working day.
    """
    days = np.diff(times.astype("datetime64[D]").astype(np.int64))
    numbers = np.diff(_month_numbers(times))
    for months, (least, most) in MONTH_DAYS.items():
        usual = days[(days >= least) & (days <= most)]
        is_usual = len(usual) > len(days) / 2
        if is_usual and (numbers > 0).all() and (numbers % months == 0).all():
            is_uneven = len(usual) > 2 and usual.min() < usual.max()
            return months if is_uneven or _is_same_day(times) else 0
    months = int(np.gcd.reduce(numbers))
    is_dense = len(times) * months >= MIN_DENSITY * (numbers.sum() + months)
    is_step = months in MONTH_DAYS and is_dense and (numbers > 0).all()
    return months if is_step and _is_same_day(times) else 0


def _is_same_day(times: Times) -> bool:
    """Whether all stamps fall on the same day of their months, or on the last where
    months are too short."""
    grid = TimeGrid(int(_nanoseconds(times)[0]), 1, 1, _month_day(times))
    numbers = _month_numbers(times)
    expected = grid.times(numbers - numbers[0]).astype("datetime64[D]")
    return bool((expected == times.astype("datetime64[D]")).all())


def _month_day(times: Any) -> int:
    """The day of the month that most stamps fall on, or the last day where a month is
    too short for it; of several the latest, so 31 where all are the last ones."""
    days = np.atleast_1d(times).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    starts, ends = (
        months.astype("datetime64[D]"),
        (months + ONE_MONTH).astype("datetime64[D]"),
    )
    nexts = days + ONE_DAY
    numbers, lengths = ((part - starts).astype(np.int64) for part in (nexts, ends))
    counts = [(np.minimum(day, lengths) == numbers).sum() for day in range(31, 0, -1)]
    return 31 - int(np.argmax(counts))


def _wavering_step(stamps: npt.NDArray[np.int64], median: int) -> int:
    """The usual step nearest to the median of steps, if each stamp has a place of its
    own on that grid; else 0."""
    near = [step for step in USUAL_STEPS if abs(step - median) <= MAX_WAVER * step]
    for step in sorted(near, key=lambda step: abs(step - median)):
        grid = TimeGrid(int(stamps[0]), step)
        positions, is_off = grid.nearest_positions(_as_times(stamps))
        if not is_off.any() and (np.diff(positions) > 0).all():
            return step
    return 0


def _rounded_step(step: int) -> int:
    """The step, as a multiple of the longest unit that it is about a multiple of."""
    for unit in UNITS.values():
        rounded = max(round(step / unit), 1) * unit
        if abs(rounded - step) <= ROUNDING * step:
            return rounded
    return step


def _nanoseconds(times: Times) -> npt.NDArray[np.int64]:
    return times.astype("datetime64[ns]").astype(np.int64)


def _month_numbers(times: Times) -> npt.NDArray[np.int64]:
    return times.astype("datetime64[M]").astype(np.int64)


def _as_times(nanoseconds: Any) -> Times:
    return np.asarray(nanoseconds, np.int64).astype("datetime64[ns]")
