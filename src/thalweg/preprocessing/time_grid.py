"""Time stamps as round numbers: a grid of equal steps, so that gaps are missing rows.

Also known as: the frequency of a time index, resampling to a regular index. Steps are
durations, or calendar months where stamps fall on the same day of months of different
lengths.
"""

from datetime import UTC
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError

DAY = 86_400 * 10**9
"""Nanoseconds of a day."""
MONTH_DAYS = {1: (28, 31), 3: (89, 92), 6: (181, 184), 12: (365, 366)}
"""How many days so many months may have."""
JITTER = 0.25
"""A stamp may be off the grid by this share of a step."""
MAX_GAP = 100_000
"""Missing rows that a gap may have: more of them are a mistake in the stamps."""
Times = npt.NDArray[np.datetime64]


class TimeGrid(NamedTuple):
    """Stamps first, first + step, …; where ``months`` is not 0, steps of so many."""

    first: int  # nanoseconds since 1970
    step: int  # nanoseconds
    months: int = 0

    def positions(self, times: Times) -> npt.NDArray[np.int64]:
        """The number of each stamp on the grid, 0 for the first; it has to be on it."""
        if self.months:
            count = _month_numbers(times) - _month_numbers(_as_times([self.first]))[0]
            positions, rest = count // self.months, count % self.months != 0
        else:
            elapsed = _nanoseconds(times) - self.first
            positions = (elapsed + self.step // 2) // self.step
            rest = np.abs(elapsed - positions * self.step) > JITTER * self.step
        if rest.any():
            raise StreamError(
                f"The time {times[int(rest.argmax())]} is not on the grid of times: "
                f"rows are {self} apart, from {_as_times([self.first])[0]} on."
            )
        return np.asarray(positions, np.int64)

    def times(self, positions: Any) -> Times:
        """The stamps at these numbers of the grid."""
        numbers = np.asarray(positions, np.int64)
        first = _as_times([self.first])[0]
        if not self.months:
            return _as_times(self.first + numbers * self.step)
        month = first.astype("datetime64[M]")
        starts = (month + self.months * numbers).astype("datetime64[D]")
        ends = (month + self.months * numbers + 1).astype("datetime64[D]")
        day = first.astype("datetime64[D]") - month.astype("datetime64[D]")
        next_month = (month + 1).astype("datetime64[D]")
        if first.astype("datetime64[D]") + 1 == next_month:  # the last day of months
            days = ends - np.timedelta64(1, "D")
        else:
            days = np.minimum(starts + day, ends - np.timedelta64(1, "D"))
        return np.asarray(
            days.astype("datetime64[ns]") + (first - first.astype("datetime64[D]"))
        )

    def __str__(self) -> str:
        if self.months:
            return f"{self.months} month{'s' * (self.months > 1)}"
        for name, length in (
            ("day", DAY),
            ("hour", DAY // 24),
            ("minute", DAY // 1440),
        ):
            if self.step % length == 0:
                count = self.step // length
                return f"{count} {name}{'s' * (count > 1)}"
        return f"{self.step / 1e9:g} seconds"


def find_grid(times: Times) -> TimeGrid | None:
    """The grid of stamps in order: the most frequent step; None for fewer than two."""
    if len(times) < 2:
        return None
    stamps = _nanoseconds(times)
    gaps = np.diff(stamps)
    require_increasing(times)
    steps, counts = np.unique(gaps, return_counts=True)
    days = np.diff(times.astype("datetime64[D]").astype(np.int64))
    for months, (least, most) in MONTH_DAYS.items():
        is_month = (days >= least) & (days <= most)
        if is_month.mean() > 0.5 and _is_same_day(times):
            return TimeGrid(int(stamps[0]), int(np.median(gaps)), months)
    return TimeGrid(int(stamps[0]), int(steps[counts.argmax()]))


def require_increasing(times: Times, latest: np.datetime64 | None = None) -> None:
    """Raise unless every stamp is later than the one before it."""
    stamps = _nanoseconds(times)
    if np.isnat(times).any():
        raise StreamError(
            f"The time of row {int(np.isnat(times).argmax())} is missing."
        )
    before = (
        stamps[:-1]
        if latest is None
        else np.append(_nanoseconds(np.asarray([latest])), stamps[:-1])
    )
    later = stamps[len(stamps) - len(before) :]
    if (later <= before).any():
        at = int((later <= before).argmax()) + len(stamps) - len(before)
        rule = (
            "twice"
            if later[(later <= before).argmax()] == before[(later <= before).argmax()]
            else "after a later one"
        )
        raise StreamError(
            f"The time {times[at]} of row {at} comes {rule}. A forecaster takes one "
            "series with rows in order of time: sort them, drop what comes twice, and "
            "give each series its own forecaster."
        )


def as_times(values: Any) -> Times:
    """Time stamps as an array of datetime64[ns]; those of a zone in UTC."""
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind == "O" and len(array):
        array = np.array([_without_zone(value) for value in array])
    if array.dtype.kind in "US":
        try:
            array = array.astype("datetime64[ns]")
        except ValueError:
            raise StreamError(
                f"A time must be a datetime or text such as 2026-11-16T18:00. "
                f"Got {array[0]!s:.80} instead."
            ) from None
    if array.dtype.kind != "M":
        raise StreamError(
            f"A time must be a datetime. Got {array[:1].tolist()!r:.80} instead."
        )
    return array.astype("datetime64[ns]")


def _without_zone(value: Any) -> Any:
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value) if hasattr(value, "isoformat") else value


def _is_same_day(times: Times) -> bool:
    """Whether all stamps fall on the same day of the month, or on the last."""
    days = times.astype("datetime64[D]")
    months = times.astype("datetime64[M]")
    of_month = (days - months.astype("datetime64[D]")).astype(np.int64)
    is_last = days + 1 == (months + 1).astype("datetime64[D]")
    return bool((of_month == of_month.max()).mean() > 0.5 or is_last.all())


def _nanoseconds(times: Times) -> npt.NDArray[np.int64]:
    return times.astype("datetime64[ns]").astype(np.int64)


def _month_numbers(times: Times) -> npt.NDArray[np.int64]:
    return times.astype("datetime64[M]").astype(np.int64)


def _as_times(nanoseconds: Any) -> Times:
    return np.asarray(nanoseconds, np.int64).astype("datetime64[ns]")
