"""The x axis of charts over rows: their times where rows have them, else their numbers.

Times are drawn as the local clocks showed them, whatever the reader's time zone is.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import altair as alt
import numpy as np

from thalweg.evaluation.classification_study import AnyStudy
from thalweg.report.time_text import period_unit
from thalweg.types import FloatArray

PIXELS_PER_TICK = 90
PERIOD_FORMATS = {"month": "%Y-%m", "quarter": "%Y-Q%q", "year": "%Y"}
"""How times are written where rows are months, quarters or years."""
MIN_PERIODS = 3
"""Times from which it is told whether rows are months."""
DAY = 86_400.0
MAX_BACK = 7200.0, 0.1
"""By so many seconds, and so much of the span of all, times may go back on an axis of
times: clocks do where summer time ends, and a row may come a little late. Beyond that
rows are in another order than their times, and stand at their numbers."""
START, END = "window_start", "window_end"
"""The signals of a chart that can be zoomed: the rows or times at both of its ends."""
NUMBER_LABEL = (
    "format(datum.value, abs(datum.value) >= 1e15 ? '.3~e' : "
    "abs(datum.value) >= 1e6 ? '~s' : abs(datum.value) >= 1000 ? ',' : '~g')"
)
"""This shows 1500 as 1,500, two million as 2M, five billion as 5G and 0.001 as it is,
not as 1m. Beyond T, the last prefix that many readers know, there is an exponent."""
# Two lines for each tick: the second has the day or the year, where it is new.
_SPAN_DAYS = f"(({END} - {START}) / 86400000)"
_IS_FIRST = "datum.index == 0"
_IS_MIDNIGHT = "utcFormat(datum.value, '%H:%M') == '00:00'"
TIME_LABEL = (
    f"{_SPAN_DAYS} > 1500 && utcFormat(datum.value, '%m') == '01' ? "
    "utcFormat(datum.value, '%Y') : "
    f"{_SPAN_DAYS} > 60 ? [utcFormat(datum.value, '%-d') == '1' ? "
    "utcFormat(datum.value, '%b') : utcFormat(datum.value, '%-d %b'), "
    f"{_IS_FIRST} || utcFormat(datum.value, '%m') == '01' ? "
    "utcFormat(datum.value, '%Y') : ''] : "
    f"{_SPAN_DAYS} > 4 && {_IS_MIDNIGHT} ? [utcFormat(datum.value, '%-d %b'), "
    f"{_IS_FIRST} ? utcFormat(datum.value, '%Y') : ''] : "
    "[utcFormat(datum.value, '%H:%M'), "
    f"{_IS_FIRST} || {_IS_MIDNIGHT} ? utcFormat(datum.value, '%-d %b %Y') : '']"
)


@dataclass(frozen=True, eq=False)
class RowAxis:
    """Positions of the rows 1 to ``rounds``."""

    rounds: int
    ends: FloatArray  # (m,) rows whose times are known
    seconds: FloatArray  # (m,) those times since 1970; empty where rows have none

    @classmethod
    def from_study(cls, study: AnyStudy) -> "RowAxis":
        """The axis of the study's rows; times that are missing are interpolated.

        It has no times where those of the rows go back.
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

    @classmethod
    def from_rows(cls, rows: Any) -> "RowAxis":
        """The axis of rows that have no times."""
        return cls(int(rows[-1]), np.empty(0), np.empty(0))

    @classmethod
    def from_times(cls, rows: Any, seconds: FloatArray | None) -> "RowAxis":
        """The axis of consecutive rows, at their own times if all are known and in
        order."""
        if seconds is None or not np.isfinite(seconds).all():
            return cls.from_rows(rows)
        if times_go_back(seconds, seconds):
            return cls.from_rows(rows)
        return cls(int(rows[-1]), np.asarray(rows, np.float64), seconds)

    @property
    def has_times(self) -> bool:
        """Whether the rows have times."""
        return len(self.seconds) > 0

    @property
    def field(self) -> str:
        """The column of the data that the x axis shows."""
        return "time" if self.has_times else "row"

    def times(self, rows: Any) -> FloatArray:
        """The times of the rows in seconds since 1970."""
        known = np.interp(np.asarray(rows, float), self.ends, self.seconds)
        return np.asarray(known)

    def columns(self, rows: Any, seconds: FloatArray | None = None) -> dict[str, Any]:
        """The columns of rows, and of their times in milliseconds if they have any."""
        if not self.has_times:
            return {"row": np.asarray(rows)}
        known = self.times(rows) if seconds is None else seconds
        milliseconds = np.round(1000 * known).astype(np.int64)
        return {"row": np.asarray(rows), "time": milliseconds}

    def limits(self, first: int, last: int) -> tuple[float, float]:
        """The positions of two rows on the axis."""
        if not self.has_times:
            return float(first), float(last)
        start, end = 1000 * self.times([first, last])
        return float(start), float(max(end, start + 1))

    def params(self, first: int = 1) -> list[Any]:
        """The signals of both ends of the axis, for ``add_params``."""
        ends = self.limits(first, max(self.rounds, first + 1))
        return [
            alt.param(name=name, value=value)
            for name, value in zip((START, END), ends, strict=True)
        ]

    def zoom_meta(self, *values: str) -> dict[str, Any]:
        """What the page needs to know to zoom a chart.

        ``values`` are the columns with the least and the largest values, if the y axis
        is to follow what is visible.
        """
        return {"zoom": {"x": self.field, "y": list(values)}}

    def x(self) -> Any:
        """The channel of the x axis; the chart needs ``params`` as well."""
        limits = [alt.expr(START), alt.expr(END)]
        ticks = alt.expr(f"ceil(width / {PIXELS_PER_TICK})")
        if not self.has_times:
            return (
                alt.X("row:Q", title="row")
                .scale(nice=False, zero=False, domain=limits)
                .axis(labelExpr=NUMBER_LABEL, tickCount=ticks, grid=False)
            )
        return (
            alt.X("time:T", title=None)
            .scale(type="utc", nice=False, domain=limits)
            .axis(labelExpr=TIME_LABEL, tickCount=ticks, grid=False)
        )

    def tooltips(self) -> list[Any]:
        """The lines of a tooltip that say which row it is of."""
        row = alt.Tooltip("row:Q", title="at row", format=",")
        if not self.has_times:
            return [row]
        format = "%-d %b %Y" if self._is_daily() else "%-d %b %Y, %H:%M"
        format = self._period_format() or format
        # A unit of UTC makes Vega-Lite write the time as UTC, not as the reader's.
        unit: Any = "utcyearmonthdatehoursminutes"
        time = alt.Tooltip("time:T", timeUnit=unit, format=format, title="time")
        return [time, row]

    def label(self, row: int) -> str:
        """The time of the row as people write it, or its number."""
        if not self.has_times:
            return f"row {row:,}"
        seconds = float(self.times([row])[0])
        return self._period(seconds) or format_time(seconds, self._is_daily())

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
        format = self._period_format()
        if format is None:
            return None
        time = datetime.fromtimestamp(round(seconds), UTC)
        quarter = str((time.month + 2) // 3)
        return time.strftime(format.replace("%q", quarter))

    def _period_format(self) -> str | None:
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

    def _is_daily(self) -> bool:
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
