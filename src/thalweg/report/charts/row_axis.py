"""The x axis of charts over rows: their times where rows have them, else their numbers.

Times are drawn as the local clocks showed them, whatever the reader's time zone is.
"""

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from thalweg.report.time_text import TimeAxis, times_go_back
from thalweg.types import FloatArray

PIXELS_PER_TICK = 90
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
class RowAxis(TimeAxis):
    """Positions of the rows 1 to ``rounds``."""

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
    def field(self) -> str:
        """The column of the data that the x axis shows."""
        return "time" if self.has_times else "row"

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
        format = "%-d %b %Y" if self.is_daily() else "%-d %b %Y, %H:%M"
        format = self.period_format() or format
        # A unit of UTC makes Vega-Lite write the time as UTC, not as the reader's.
        unit: Any = "utcyearmonthdatehoursminutes"
        time = alt.Tooltip("time:T", timeUnit=unit, format=format, title="time")
        return [time, row]
