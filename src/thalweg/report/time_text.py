"""Times as short as they can be read: no seconds and no hours where all are zero.

Rows that are months, quarters or years apart are written 1960-12, 1960-Q4 and 1960.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self

import numpy as np

from thalweg.evaluation.classification_study import AnyStudy
from thalweg.types import FloatArray

PeriodUnit = Literal["month", "quarter", "year"]
PERIOD_FORMATS = {"month": "%Y-%m", "quarter": "%Y-Q%q", "year": "%Y"}
"""How times are written where rows are months, quarters or years."""
MIN_PERIODS = 3
"""Minimum number of times that show whether rows are months."""
DAY = 86_400.0
MAX_BACK = 7200.0, 0.1
"""Limits, in seconds and as a part of the span of all, by which times may go back on an
axis of times: clocks do where summer time ends, and a row may come a little late.
Beyond that rows are in another order than their times, and stand at their numbers."""
_MONTHS_OF: dict[PeriodUnit, int] = {"month": 1, "quarter": 3, "year": 12}


def period_unit(times: Any) -> PeriodUnit | None:
    """Whether rows at these times are months, quarters or years; None: neither.

    All are the first day of a month, or all the last, each of another month. Quarters
    begin in January, April, July and October, and years in January.
    """
    times = np.asarray(times)
    if times.dtype.kind != "M" or len(times) < 2 or np.isnat(times).any():
        return None
    days, months = times.astype("datetime64[D]"), times.astype("datetime64[M]")
    if (times != days).any() or len(np.unique(months)) < len(months):
        return None
    ends = (months + 1).astype("datetime64[D]") - 1
    is_start = bool((days == months.astype("datetime64[D]")).all())
    if not is_start and (days != ends).any():
        return None
    # The month after a period that ends is the first of the next one.
    numbers = months.astype(np.int64) + (0 if is_start else 1)
    units: tuple[PeriodUnit, ...] = ("year", "quarter", "month")
    return next(unit for unit in units if (numbers % _MONTHS_OF[unit] == 0).all())


def short_times(times: Any, earlier: Any = None) -> list[str]:
    """Times (T,) as texts of equal exactness; numbers with ten digits at most.

    ``earlier``: times of rows before, which tell with them whether rows are months.
    """
    if times.dtype.kind != "M":
        return [f"{value:.10g}" for value in times.tolist()]
    known = times if earlier is None else np.concatenate([earlier, times])
    period = period_unit(known)
    if period is not None:
        return [_period_text(time, period) for time in times]
    for unit in ("D", "m"):
        if (times == times.astype(f"datetime64[{unit}]")).all():
            break
    else:
        unit = "s"
    texts = np.datetime_as_string(times.astype(f"datetime64[{unit}]"))
    return [str(text).replace("T", " ") for text in texts]


def _period_text(time: np.datetime64, unit: PeriodUnit) -> str:
    month = time.astype("datetime64[M]")
    if unit == "month":
        return str(month)
    year = str(time.astype("datetime64[Y]"))
    quarter = int(month.astype(np.int64)) % 12 // 3 + 1
    return year if unit == "year" else f"{year}-Q{quarter}"


@dataclass(frozen=True, eq=False)
class TimeAxis:
    """The times of the rows 1 to ``rounds``, where they have any."""

    rounds: int
    ends: FloatArray  # (m,) rows whose times are known
    seconds: FloatArray  # (m,) those times since 1970; empty where rows have none

    @classmethod
    def from_study(cls, study: AnyStudy) -> Self:
        """The times of the study's rows; times that are missing are interpolated.

        There are none where those of the rows go back.
        """
        times = study.times
        if times is None or not np.isfinite(times.high).any():
            return cls(study.rounds, np.empty(0), np.empty(0))
        known = np.isfinite(times.high)
        if times_go_back(times.low[known], times.high[known]):
            return cls(study.rounds, np.empty(0), np.empty(0))
        ends = times.last_round[known].astype(np.float64)
        seconds = np.maximum.accumulate(times.high[known])
        first = float(times.low[known][0])
        if ends[0] > 1 and first <= seconds[0]:
            ends, seconds = np.insert(ends, 0, 1.0), np.insert(seconds, 0, first)
        return cls(study.rounds, ends, seconds)

    @property
    def has_times(self) -> bool:
        """Whether the rows have times."""
        return len(self.seconds) > 0

    def times(self, rows: Any) -> FloatArray:
        """The times of the rows in seconds since 1970."""
        known = np.interp(np.asarray(rows, float), self.ends, self.seconds)
        return np.asarray(known)

    def label(self, row: int) -> str:
        """The time of the row as people write it, or its number."""
        if not self.has_times:
            return f"row {row:,}"
        seconds = float(self.times([row])[0])
        return self._period(seconds) or format_time(seconds, self.is_daily())

    def date_label(self, row: int, time: str | None = None) -> str:
        """The day of the row as people write it, or its number.

        ``time`` is that of the row in ISO 8601, where it is known; else it is that of
        its place on the axis.
        """
        seconds = None if time is None else _seconds_of(time)
        if seconds is None and not self.has_times:
            return f"row {row:,}"
        if seconds is None:
            seconds = float(self.times([row])[0])
        return self._period(seconds) or format_time(seconds, date_only=True)

    def _period(self, seconds: float) -> str | None:
        """A time as that of a month, a quarter or a year; None: rows are neither."""
        format = self.period_format()
        if format is None:
            return None
        time = datetime.fromtimestamp(round(seconds), UTC)
        quarter = str((time.month + 2) // 3)
        return time.strftime(format.replace("%q", quarter))

    def period_format(self) -> str | None:
        """How the times of rows that are months, quarters or years are written.

        Of rows in between, whose times are not known, all may be months.
        """
        if len(self.seconds) < MIN_PERIODS:
            return None
        unit = period_unit(np.round(self.seconds).astype("datetime64[s]"))
        is_complete = bool((np.diff(self.ends) == 1).all())
        return (
            None if unit is None else PERIOD_FORMATS[unit if is_complete else "month"]
        )

    def is_daily(self) -> bool:
        """Whether all times are at midnight."""
        return bool((np.round(self.seconds) % DAY == 0).all())


def times_go_back(low: FloatArray, high: FloatArray) -> bool:
    """Whether times in seconds go back by more than clocks do, from bucket to bucket;
    ``low`` and ``high`` are the least and the largest of each."""
    if len(low) < 2:
        return False
    back = np.maximum.accumulate(high)[:-1] - low[1:]
    seconds, part = MAX_BACK
    span = float(high.max() - low.min())
    return bool(back.max() > min(seconds, part * span))


def _seconds_of(time: str) -> float | None:
    """The seconds since 1970 of a time in ISO 8601, by its local clock; None: it is
    none, as where times are numbers."""
    try:
        return datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def format_time(seconds: float, date_only: bool = False) -> str:
    """A time since 1970 as in "14 March 2014", with the hour unless ``date_only``."""
    time = datetime.fromtimestamp(round(seconds), UTC)
    day = f"{time.day} {time:%B %Y}"
    return day if date_only else f"{day}, {time:%H:%M}"
